//! Admission: journal room and memory are there before anything is locked or changed.

use super::Executor;
use commands::Access;
use journal::{Purpose, Refusal, Reservation};

/// Frames up to this length take twice their bytes of memory: entries, nodes and a copy on its way to the journal. The
/// data of longer ones is already in memory when they are admitted.
const DOUBLED_BYTES_MAX: u64 = 1 << 20;
/// Bytes of the remaining memory that a thread takes at once.
const CREDIT_BYTES: u64 = 64 << 10;
/// The credit of each thread once it has found that memory has no limit.
const UNLIMITED: u64 = u64::MAX;

/// The journal room and memory that a transaction needs before it begins.
#[derive(Clone, Copy)]
pub(crate) struct Demand {
    /// A bound for its frame.
    pub(crate) bytes: u64,
    pub(crate) purpose: Purpose,
    /// Memory for a frame that grows is taken as well; the commands of a script take theirs one by one.
    pub(crate) takes_memory: bool,
}

impl Demand {
    /// Returns the demand of a command that changes keys.
    pub(crate) fn new(bytes: u64, purpose: Purpose) -> Self {
        Self { bytes, purpose, takes_memory: true }
    }
}

/// Why a transaction is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// The journal refuses such a frame.
    Journal(Refusal),
    /// There is no memory for what it adds.
    OutOfMemory,
}

/// Returns the purpose of a command's journal room: one that only removes is not refused when the disk is full.
pub(crate) fn purpose_of(access: Access) -> Purpose {
    match access {
        Access::Write { grows: true } => Purpose::Grow,
        _ => Purpose::Shrink,
    }
}

impl keyspace::MemoryGrant for Executor {
    fn grants(&self, bytes: u64) -> bool {
        self.may_grow(bytes)
    }
}

impl Executor {
    /// Reserves journal room, and takes memory for a frame that grows. Returns no reservation without a journal.
    #[inline]
    pub(super) fn admit(&self, demand: &Demand) -> Result<Option<Reservation>, NotAdmitted> {
        let log_buffer = self.log_buffer.borrow();
        let claim = log_buffer
            .as_ref()
            .map(|log_buffer| log_buffer.try_admit(demand.bytes, demand.purpose))
            .transpose()
            .map_err(NotAdmitted::Journal)?;
        // After the journal check, which a request may repeat: each repetition would take memory again.
        if demand.takes_memory && demand.purpose == Purpose::Grow && !self.may_grow(demand.bytes) {
            return Err(NotAdmitted::OutOfMemory);
        }
        Ok(claim)
    }

    /// Returns true if every demand is met: there is neither a journal nor a limit of memory.
    #[inline]
    pub(super) fn admits_all(&self) -> bool {
        self.credit_bytes.get() == UNLIMITED && self.engine.journal.is_none()
    }

    /// Takes memory for a frame of `bytes` and the data it adds. Returns false if not enough is left.
    #[inline]
    pub(crate) fn may_grow(&self, bytes: u64) -> bool {
        if self.credit_bytes.get() == UNLIMITED {
            return true;
        }
        let bytes = bytes.saturating_add(bytes.min(DOUBLED_BYTES_MAX));
        match self.credit_bytes.get().checked_sub(bytes) {
            Some(left) => {
                self.credit_bytes.set(left);
                true
            }
            None => self.ask_memory(bytes),
        }
    }

    #[cold]
    fn ask_memory(&self, bytes: u64) -> bool {
        let memory = &self.engine.memory;
        if !memory.is_limited() {
            self.credit_bytes.set(UNLIMITED);
            return true;
        }
        let credit_bytes = self.credit_bytes.get();
        if bytes <= CREDIT_BYTES && memory.take(CREDIT_BYTES) {
            self.credit_bytes.set(credit_bytes + CREDIT_BYTES - bytes);
            return true;
        }
        let is_granted = memory.take(bytes);
        if !is_granted {
            // From now on smaller ones are refused too.
            self.credit_bytes.set(0);
            memory.note_refusal();
        }
        is_granted
    }
}
