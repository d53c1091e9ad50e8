//! Shard locks that park, the gate, and the hand-over of frames to the journal.

pub mod gate;
pub mod lock;
pub mod primitives;
