//! Shard locks that park, the gate, the hand-over of frames to the journal, and code that rests half-way.

pub mod fiber;
pub mod gate;
pub mod lock;
pub mod notifier;
mod overflow;
pub mod primitives;
pub mod ring;
