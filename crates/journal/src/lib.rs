//! The append-only log: frames, segments, group commit, recovery. A frame is opaque bytes, kept whole or lost whole.
//!
//! ```text
//!   worker threads                         the writer                          disk
//!   try_admit  room in ring and segments
//!   take       position (one atomic add)
//!   hand_over ---- log buffer (ring) -------+
//!   hand_over ---- log buffer (ring) -------+--> in order of positions --> write --> NNNNNNNNNN.log
//!   hand_over ---- log buffer (ring) -------+    durable := .. <---------- sync
//!        ^                                 |                         ^
//!        +---------------- notifiers <---------+     the preallocator: spares ahead of need
//! ```
//!
//! Positions count frame bytes, head and payload. Everything below `written` is in files, everything below `durable` is
//! synced. The writer never passes a gap: a frame handed over out of order waits for the one before.
//!
//! **Segments are preallocated**, and a frame is admitted only when its room is already claimed on the disk, so a full
//! disk refuses a frame before anything changes. They grow with use: each is four times as long as the one before, up
//! to a maximum, so that a journal of a few frames takes little. Under [`Policy::Always`] a spare is filled with zeros
//! and synced, since the first write into merely allocated room makes the file system update its metadata at every
//! sync. Under the other policies nobody waits for a sync, so allocating is enough: it claims the same room without
//! writing everything twice.
//!
//! **Segments are released** once everything below a position is kept elsewhere (`segment_list.rs`); some become
//! spares. So a journal may begin at any position, and start-up says from where to read.
//!
//! This crate knows nothing of a frame's meaning, shards, or replies. It accesses the outside only through a `Disk`;
//! time comes in through functions.

#![forbid(unsafe_code)]

mod error;
mod evidence;
mod format;
mod identity;
mod journal;
mod pace;
mod preallocator;
mod recovery;
mod room;
mod run;
mod scan;
mod seal;
mod segment_list;
mod signal;
mod statistics;
mod syncer;
mod writer;

pub use error::{OpenError, Refusal};
pub use format::{
    HEAD_BYTES, History, Kind, MARK_BYTES, PAYLOAD_BYTES_MAX, Record, RecordHead, SEGMENT_HEAD_BYTES, SegmentHead,
};
pub use identity::{Identity, REMEDY as IDENTITY_REMEDY};
pub use journal::{FrameSlot, Journal, LogBuffer, Purpose, Reached, Reservation};
pub use pace::PaceTag;
pub use preallocator::Preallocator;
pub use recovery::{Loss, Opened, Prepared, Recovery, TornTail, open, prepare, read};
pub use run::Running;
pub use scan::{Frame, Replay, scan_bytes};
pub use seal::Seal;
pub use segment_list::SegmentHold;
pub use signal::Alert;
pub use statistics::Statistics;
pub use sync::notifier::Level;
pub use sync::ring::Late;
pub use syncer::Syncer;
pub use writer::{Step, Writer};

use base::Ms;
use std::sync::Arc;

/// When frames are synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Each frame, before its reply is sent.
    Always = 0,
    /// Once a second.
    EverySec = 1,
    /// Only on request and at a clean stop; otherwise the operating system decides.
    Never = 2,
}

/// Returns microseconds since an arbitrary instant, monotonic: drives the writer's timers.
pub type ElapsedUs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Options of a journal.
#[derive(Clone)]
pub struct Options {
    /// The sync policy; may be changed later.
    pub policy: Policy,
    /// File size of the first segment; later ones grow.
    pub segment_bytes_first: u64,
    /// Maximum file size of a segment.
    pub segment_bytes_max: u64,
    /// Disk space reserved for the store that keeps the data of frames: this many bytes, plus the bytes of all frames.
    /// Frames that grow data are refused before they use it. `None` without a store.
    pub kept_free_bytes: Option<u64>,
    /// Admission stops while more bytes than this are not yet durable (under [`Policy::Never`]: not yet written). Twice
    /// as many bounds the memory of frames that wait outside the log buffers' rings.
    pub undurable_bytes_max: u64,
    /// Bytes of each thread's log-buffer ring: a power of two.
    pub log_buffer_bytes: usize,
    /// Number of shards, for the identity of a new journal.
    pub shards: u32,
    /// Format version of the blocks in frames, for the identity of a new journal.
    pub blocks: u32,
    /// Wall-clock time at start-up.
    pub now_ms: Ms,
    /// Clock of the writer's timers.
    pub elapsed_us: ElapsedUs,
    /// Random bits: the hash key of a new journal, bits that make histories distinct, and the seal key of a journal
    /// that has none.
    pub drawn: [[u8; 16]; 3],
}

impl Options {
    /// Creates options with default sizes, and the system's clock and random source.
    pub fn new(policy: Policy, now_ms: Ms) -> Self {
        let begun = std::time::Instant::now();
        Self {
            policy,
            segment_bytes_first: 1 << 20,
            segment_bytes_max: 8 << 20,
            kept_free_bytes: None,
            undurable_bytes_max: 64 << 20,
            log_buffer_bytes: 4 << 20,
            shards: base::limits::SHARDS as u32,
            blocks: base::limits::BLOCK_FORMAT,
            now_ms,
            elapsed_us: Arc::new(move || begun.elapsed().as_micros() as u64),
            drawn: [(); 3].map(|()| base::hash::KeyHasher::random().key()),
        }
    }
}
