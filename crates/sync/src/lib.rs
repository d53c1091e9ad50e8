//! Shard locks that park, the gate, and the hand-over of frames to the journal.

pub mod bell;
pub mod gate;
pub mod lane;
pub mod lock;
pub mod primitives;
