//! The append-only log: frames, segments, group commit, recovery. A frame is opaque bytes that stay whole or are gone.
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
//! Positions count frame bytes, head and payload. Everything below `written` lies in files, everything below
//! `durable` is synced. The writer never passes a gap: frames handed over out of order wait for the one before.
//!
//! **Segments are made ahead of need**, and a frame is admitted only when its room is already claimed on the disk, so
//! a full disk refuses a frame before anything changed. They grow with use: the one
//! after the first is four times as long, and so on up to a largest size, so that a journal of a few frames takes little.
//! Under [`Policy::Always`] a spare is filled with zeros and
//! synced, since the first write into room that was only allocated costs the file system a change of its own books at
//! every sync. Under the other policies nobody waits for a sync, and allocating, which claims the same room, is enough
//! and does not write everything twice.
//!
//! **Segments are given back** once somebody keeps elsewhere what lies below a position (`segment_list.rs`), as spares for
//! reuse while some are wanted. A journal so begins anywhere, and a start says from where on it is read.
//!
//! Absent from here: what a frame means, shards, replies. A `Disk` is all this crate knows of the world; time comes in
//! by functions.

#![forbid(unsafe_code)]

mod error;
mod evidence;
mod format;
mod identity;
mod journal;
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
    /// Every frame, before its reply leaves.
    Always = 0,
    /// Once a second.
    EverySec = 1,
    /// Only when somebody asks, and at a clean stop; else the operating system decides.
    Never = 2,
}

/// Microseconds since any instant, never backwards: the source of the writer's timers.
pub type ElapsedUs = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How a journal is run.
#[derive(Clone)]
pub struct Options {
    /// When frames are synced; may be changed later.
    pub policy: Policy,
    /// Bytes of the file of the first segment, after which they grow.
    pub segment_bytes_first: u64,
    /// Bytes of a segment's file, at most.
    pub segment_bytes_max: u64,
    /// Of the disk's room, so many bytes are left to whoever keeps elsewhere what frames say, beside as many as the frames
    /// have: frames that grow are refused before. `None` where nobody does.
    pub kept_free_bytes: Option<u64>,
    /// No frame is admitted while more bytes than this are not yet durable (under [`Policy::Never`]: written).
    pub undurable_bytes_max: u64,
    /// Bytes of the ring by which a thread hands its frames over: a power of two.
    pub log_buffer_bytes: usize,
    /// Shards of the keyspace, for the identity of a new journal.
    pub shards: u32,
    /// Format version of the blocks in frames, for the identity of a new journal.
    pub blocks: u32,
    /// Wall time at start.
    pub now_ms: Ms,
    /// The writer's timers.
    pub elapsed_us: ElapsedUs,
    /// Random bits: the first part becomes the hash key of a new journal, the second tells histories apart, the third
    /// becomes the key of seals of a journal that has none.
    pub drawn: [[u8; 16]; 3],
}

impl Options {
    /// The usual sizes, the system's timer and random bits.
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
