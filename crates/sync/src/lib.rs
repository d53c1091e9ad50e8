//! Shard locks that park, the gate, and the hand-over of frames to the journal.

pub mod primitives;
