//! Shard locks that park, the gate, the hand-over of frames to the journal, and code that rests half-way.

pub mod bell;
pub mod fiber;
pub mod gate;
pub mod lane;
pub mod lock;
mod overflow;
pub mod primitives;
