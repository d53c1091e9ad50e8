//! Shard locks that park, the gate, handing frames over to the journal, and fibers.

pub mod fiber;
pub mod gate;
pub mod lock;
pub mod notifier;
mod overflow;
pub mod primitives;
pub mod ring;
