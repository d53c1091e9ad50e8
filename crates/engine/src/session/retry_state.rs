//! The state of a request from one attempt to the next.

use super::element_wait::ElementWait;
use super::gathered_keys::GatheredKeys;
use crate::watchdog::room_wait::RoomWait;
use commands::Outcome;
use keyspace::{OffLockJobs, PrebuiltStrings, Snapshot, Sources, Speculation};
use std::cell::Cell;
use std::time::Duration;
use wire::Output;

/// The requirements that earlier attempts lacked.
#[derive(Default)]
pub(crate) struct RetryState {
    /// Journal room for at least this many bytes.
    pub(super) room_bytes: u64,
    /// More shards, exclusively.
    pub(super) shards: Vec<usize>,
    /// Long strings that it may store, split into pieces.
    pub(super) cuts: PrebuiltStrings,
    /// Its work off the lock.
    pub(super) off_lock: OffLockState,
    /// Its position in the queues of its keys, if it waits there and retries by itself.
    pub(super) wait: Option<ElementWait>,
    /// Its wait for journal room.
    pub(super) room_wait: Option<RoomWait>,
}

/// Work to be done off the lock before the next attempt.
pub(crate) enum OffLock {
    /// On clones of these values.
    Compute(Box<Sources>),
    /// The command itself, on this snapshot of its keys.
    Speculate(Box<Snapshot>),
    /// Look-ups of very many keys.
    Gather,
}

/// The work that a request has done off the lock.
#[derive(Default)]
pub(crate) struct OffLockState {
    /// Computations on clones, which its handlers ask for.
    pub(super) jobs: OffLockJobs,
    /// The result of a speculative run, to be committed.
    pub(super) speculated: Cell<Option<Box<SpeculativeResult>>>,
    /// Number of speculative runs so far.
    pub(super) speculations: u32,
    /// Its look-ups, to be validated.
    pub(super) gathered: Cell<Option<Box<GatheredKeys>>>,
}

impl OffLockState {
    /// Returns true if dropping it is dear: clones may turn out to be the last reference to much memory.
    pub(super) fn is_large(&mut self) -> bool {
        !self.jobs.is_empty() || self.speculations > 0 || self.gathered.get_mut().is_some()
    }
}

/// The result of a speculative run.
pub(crate) struct SpeculativeResult {
    pub(super) speculation: Speculation,
    pub(super) outcome: Outcome,
    pub(super) reply: Output,
    pub(super) took: Duration,
}
