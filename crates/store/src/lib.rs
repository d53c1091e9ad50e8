//! What each shard holds as of a journal position. Records and blocks are opaque bytes; a commit is one synced record.
//!
//! ```text
//! store/
//!   manifest-0000000003    what is committed: the whole state first, then one record for each commit
//!   0000000012.runs        run segment of one commit: pages of records
//!   0000000013.blocks      block segment of one commit
//!   reserve                room for a commit on a full disk
//!
//!   begin --> block, begin_run .. record .. end_run, put_shard --> finish
//!               |  segments of new numbers                          |
//!               v                                                   v
//!            written, memory constant          segments synced, folder synced, one record appended to the manifest
//!                                              and synced: THE COMMIT.  Then segments nobody names are removed.
//! ```
//!
//! A segment is written once, by one commit, and never changed. Which of its bytes are alive is not counted anywhere:
//! it is the sum over the shards of what their records name. Nothing is ever moved from one segment to another here;
//! whoever commits writes a shard anew, and the segment that no shard names goes.
//!
//! **Torn or damaged.** The manifest's last record may be torn: the power went before its sync came back. It is taken
//! for damaged as soon as anything proves that it was synced once: a mark, which follows each commit's sync; a segment
//! begun after that commit; a segment that the state before it names and that is gone. So nothing is removed before
//! the commit that lets go of it is durable, and nothing at all while it is in doubt whether a commit is.
//!
//! **A failed sync of the manifest** leaves in doubt whether the commit will be there after a crash. So its files are
//! kept, and the next commit writes a manifest of a higher number instead of appending to this one.
//!
//! **Readers** hold what they knew when they were made: a segment that a later commit lets go of is removed once the
//! last reader that knows it is gone. So take one for a load, not for ever.
//!
//! Absent from here: what a record means, keys, values, the journal, threads, clocks.

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
mod state;
mod store;
mod survey;
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

/// How a store is kept.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Shards of the keyspace. A store of another number is refused.
    pub shards: u32,
    /// Format version of the blocks. A store of another version is refused.
    pub blocks_format: u32,
    /// Of which data folder this is the store, in any 64 bits. A store of another one is refused.
    pub identity: u64,
    /// A segment that has grown so long, in bytes, gets no further run or block.
    pub segment_bytes_max: u64,
    /// Below this a manifest is not written anew, in bytes.
    pub manifest_bytes_min: u64,
    /// Room kept for a commit on a full disk, in bytes, once as much is stored; 0 for none.
    pub reserve_bytes: u64,
    /// Wall time.
    pub now_ms: Ms,
}

impl Options {
    /// The usual sizes.
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
