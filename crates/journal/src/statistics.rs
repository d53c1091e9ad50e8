//! Counters of the writer and the preallocator.

use crate::journal::Journal;
use sync::primitives::atomic::{AtomicU64, Ordering};
use sync::primitives::lock;

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) frames: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) worker_syncs: AtomicU64,
    pub(crate) sync_us_last: AtomicU64,
    pub(crate) sync_us_max: AtomicU64,
    pub(crate) durable_wait_us_max: AtomicU64,
    pub(crate) recycled: AtomicU64,
    pub(crate) removed: AtomicU64,
    pub(crate) last_write_us: AtomicU64,
    pub(crate) last_roll_us: AtomicU64,
}

/// Activity of the journal since it was opened, and its present size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Frames written.
    pub frames: u64,
    /// Bytes of these frames, heads included.
    pub bytes: u64,
    /// Write calls, each of any number of frames.
    pub writes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Syncs, of these, by a worker that waited for one ([`Journal::sync_here`]).
    pub worker_syncs: u64,
    /// Duration of the last sync, in microseconds.
    pub sync_us_last: u64,
    /// Duration of the longest sync, in microseconds.
    pub sync_us_max: u64,
    /// Longest time from the writer's taking a frame to its being durable, under [`crate::Policy::Always`] or when
    /// somebody waited for it, in microseconds.
    pub longest_durable_wait_us: u64,
    /// Segments on disk, including the one being written.
    pub segments: u64,
    /// Preallocated segments.
    pub spares: u64,
    /// Bytes of the files of segments and spares.
    pub file_bytes: u64,
    /// Bytes of frames beyond the released position.
    pub tail_bytes: u64,
    /// Released segments that became spares.
    pub recycled: u64,
    /// Released segments that were removed.
    pub removed: u64,
    /// The last attempt to make a spare failed.
    pub full: bool,
    /// Why a write or sync failed, if one did.
    pub poisoned: Option<String>,
}

impl Journal {
    /// Returns counters since the journal was opened, and present sizes. O(segments).
    pub fn statistics(&self) -> Statistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let (spares, spare_bytes) = lock(&self.spare_pool).sums();
        let segment_list = lock(&self.segment_list);
        let (segments, segment_bytes) = (segment_list.segments_count(), segment_list.file_bytes());
        drop(segment_list);
        Statistics {
            frames: count(&counters.frames),
            bytes: count(&counters.bytes),
            writes: count(&counters.writes),
            syncs: count(&counters.syncs),
            worker_syncs: count(&counters.worker_syncs),
            sync_us_last: count(&counters.sync_us_last),
            sync_us_max: count(&counters.sync_us_max),
            longest_durable_wait_us: count(&counters.durable_wait_us_max),
            segments,
            spares,
            file_bytes: segment_bytes + spare_bytes,
            tail_bytes: self.tail_bytes(self.released()),
            recycled: count(&counters.recycled),
            removed: count(&counters.removed),
            full: self.full.load(Ordering::Relaxed),
            poisoned: self.poison_reason(),
        }
    }
}
