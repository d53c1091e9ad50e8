//! The store: each shard's contents as of a journal position. Records and blocks are opaque bytes; a commit is one
//! synced record.
//!
//! ```text
//! store/
//!   manifest-0000000003    the committed state: first the whole state, then one record for each commit
//!   0000000012.runs        run segment of one commit: pages of records
//!   0000000013.blocks      block segment of one commit
//!   reserve                room for a commit on a full disk
//!
//!   begin --> block, begin_run .. record .. end_run, put_shard --> finish
//!               |  segments of new numbers                          |
//!               v                                                   v
//!            written, memory constant          segments synced, folder synced, one record appended to the manifest
//!                                              and synced: THE COMMIT.  Then unnamed segments are removed.
//! ```
//!
//! A segment is written once, by one commit, and never changed. Live bytes are not counted anywhere: they are the sum
//! over the shards of what their records name. The store never moves data between segments; the committer rewrites
//! shards, and a segment that no shard names is removed.
//!
//! **Torn or damaged.** The manifest's last record may be torn by a power cut before its sync returned. It counts as
//! damaged if anything proves that it was synced: a mark, which follows each commit's sync; a segment begun after that
//! commit; or the absence of a segment that the state before it names. So nothing is removed before the commit that
//! releases it is durable, and nothing at all while that is in doubt.
//!
//! **A failed sync of the manifest** leaves in doubt whether the commit survives a crash. So its files are kept, and
//! the next commit writes a manifest with a higher number instead of appending to this one.
//!
//! **Readers** hold the segments they knew when created: a segment released by a later commit is removed only after the
//! last reader that knows it is dropped. So take a reader for one load, not for good.
//!
//! This crate knows nothing of the meaning of records, keys, values, the journal, threads, or clocks.

#![forbid(unsafe_code)]

mod check;
mod commit;
mod error;
mod manifest;
mod names;
mod page;
mod reader;
mod repair;
mod reserve;
mod segment;
mod segment_scan;
mod state;
mod store;
mod window;

pub use check::{Damage, Report, check};
pub use commit::Commit;
pub use error::StoreError;
pub use manifest::scan_bytes as scan_manifest;
pub use page::{BLOCK_HEAD_BYTES, PAGE_BYTES, block_bytes};
pub use reader::{Alive, Reader};
pub use repair::repair;
pub use segment::scan_bytes as scan_segment;
pub use state::{Keys, MapRecord, Place, Run, SegmentKind, ShardRecord, Share};
pub use store::{Opening, SegmentState, Statistics, Store, Torn};

use base::Ms;

/// Options of a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of shards. A store with another number is refused.
    pub shards: u32,
    /// Format version of the blocks. A store of another version is refused.
    pub blocks_format: u32,
    /// Any 64 bits that identify the data folder. A store of another folder is refused.
    pub identity: u64,
    /// Segment size in bytes beyond which no further run or block is added.
    pub segment_bytes_max: u64,
    /// Manifests smaller than this, in bytes, are not rewritten.
    pub manifest_bytes_min: u64,
    /// Maximum reserve for a commit on a full disk, in bytes, reached once enough is stored; 0 for none.
    pub reserve_bytes: u64,
    /// Wall-clock time.
    pub now_ms: Ms,
}

impl Options {
    /// Creates options with default sizes.
    pub fn new(identity: u64, now_ms: Ms) -> Self {
        Self {
            shards: base::limits::SHARDS as u32,
            blocks_format: base::limits::BLOCK_FORMAT,
            identity,
            segment_bytes_max: 256 << 20,
            manifest_bytes_min: 4 << 20,
            reserve_bytes: 4 << 20,
            now_ms,
        }
    }
}
