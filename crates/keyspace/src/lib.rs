//! The keyspace: shards, expiry, and the [`Tx`] through which one command sees and changes it.
//!
//! ```text
//! Keyspace -- 1,024 shards, each under its own lock
//!    |          `- one section per table id: entries in hash order, deadlines
//!    |- map: database number -> table id (changes only under the gate); one more table is the server's own
//!    |- order: the names of each table in byte order, while this index is on
//!    `- hasher: key name -> 64 bits; the top ten are the shard number
//!
//! Tx = the shards one command holds + what it has changed, recorded as effects in a log
//!        guard.change(effect) { log.record(effect); apply(effect) }      one motion
//! ```
//!
//! Invariant: only [`effect::apply`] changes state, called by guards and by replay alike; so state equals the replay of
//! its effects by construction. Invariant: this crate is independent of threads, sockets, files and clients.

#![forbid(unsafe_code)]

mod cut;
mod deadlines;
pub mod effect;
pub mod guard;
mod held;
mod key_index;
mod map;
mod notes;
mod off_lock;
mod pins;
mod prebuilt;
mod search;
mod section;
mod shard;
mod speculation;
mod transients;
mod tx;
mod undo;

pub use cut::{Alive, CutTail, LoadError, Loading, MapState, Merge, Unread, named_by};
pub use cut::{
    Batch, BlockSink, BlockSource, CutStep, Inline, STEP_ENTRIES, TableCount, TurnMemory, Turned, ValueChange,
    WHOLE_BYTES_MAX,
};
pub use effect::extras::{BINARY_KEY, CLAIMED, FETCHED, STALE};
pub use effect::{Counting, DecodeError, Effect, Log, Named, Payload, Record};
pub use guard::{
    Absent, Ending, Expiry, FieldExpiry, HashMut, ListLike, ListLikeMut, ListMut, QueueMut, Reader, Redelivery, SetMut,
    SortedMut, StreamMut, StringMut, TaggedMut, Whole,
};
pub use held::{Held, Plan, RetainedLock};
pub use key_index::{CatchUp, Found, IndexState, IndexStep, KeyOrder, OrderTurn, Page, Span};
pub use map::{DatabaseMap, INDEXES, LIBRARIES, OF_SERVER, SCHEMAS};
pub use notes::{Classes, Deed, Note};
pub use off_lock::{Computation, Computed, OFF_LOCK_TRIES_MAX, OfWhen, OffLockJob, OffLockJobs, Sources};
pub use pins::{Garbage, Pin};
pub use prebuilt::PrebuiltStrings;
pub use search::{Finding, Search, SearchQuery};
pub use section::{
    Entry, OwnedEntry, Section, hash_of, kind_of, list_of, queue_of, set_of, sorted_of, stream_of, string_of,
    tagged_of, value_of,
};
pub use shard::{KeysSummary, ShardState};
pub use speculation::{RetiredKeys, Snapshot, Speculation};
pub use table::Extras;
pub use transients::{Transient, Transients};
pub use tx::{Abandon, ChangedPart, IndexDeclarations, MemoryGrant, PREFIX_BYTES_MAX, Reads, Tx, Version, WrongType};

use base::hash::KeyHasher;
use base::limits::SHARDS;
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use pins::RetiredBytes;
use std::sync::Arc;
use sync::lock::ShardLock;

/// A table's permanent id: FLUSH gives a database a new one, SWAPDB exchanges two.
pub type TableId = u32;

/// All keys of all databases.
pub struct Keyspace {
    shards: Box<[ShardLock<ShardState>]>,
    hasher: KeyHasher,
    map: DatabaseMap,
    retired_bytes: Arc<RetiredBytes>,
    transients: Transients,
    order: KeyOrder,
    /// Exclusive upper bound of the message ids reported for queues created since start-up.
    reported_ids_end: AtomicU64,
}

impl Keyspace {
    /// Creates an empty keyspace of `databases` databases under `hasher`.
    pub fn new(hasher: KeyHasher, databases: u32) -> Self {
        let shards = (0..SHARDS).map(|_| ShardLock::new(ShardState::default())).collect();
        let map = DatabaseMap::new(databases);
        Self {
            shards,
            hasher,
            map,
            retired_bytes: RetiredBytes::new(),
            transients: Transients::default(),
            order: KeyOrder::default(),
            reported_ids_end: AtomicU64::new(0),
        }
    }

    /// Returns the exclusive upper bound of the message ids reported since start-up, for queues created since then.
    pub(crate) fn reported_ids_end(&self) -> u64 {
        self.reported_ids_end.load(Relaxed)
    }

    /// Notes that ids below `end` were reported.
    pub(crate) fn note_reported_ids(&self, end: u64) {
        if self.reported_ids_end() < end {
            self.reported_ids_end.fetch_max(end, Relaxed);
        }
    }

    /// Returns the keyed hash of a key name.
    pub fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash(key)
    }

    /// Returns the hasher, whose key is stored with the data.
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// Returns the lock of shard `index`.
    pub fn shard(&self, index: usize) -> &ShardLock<ShardState> {
        &self.shards[index]
    }

    /// Returns what is known of shard `index` without its lock. A change is known once its shard is released; one of
    /// several shards, before the first of them is.
    #[inline]
    pub fn keys_summary(&self, index: usize) -> KeysSummary {
        KeysSummary::new(self.shards[index].published())
    }

    /// Returns the map from database number to table id.
    pub fn map(&self) -> &DatabaseMap {
        &self.map
    }

    /// Applies the effects of one frame, as recovery does. No shard may be held.
    ///
    /// # Errors
    /// If the bytes are not a frame of this version; effects before the faulty one are applied.
    pub fn replay(&self, payload: &[u8]) -> Result<(), DecodeError> {
        let mut input = payload;
        while !input.is_empty() {
            let Record { table, key, effect } = Record::decode(&mut input)?;
            if let Effect::MapPut { database, table } = effect {
                self.map.put(database, table);
                continue;
            }
            let hash = self.hash(key);
            let mut shard = self.shard(shard_of(hash)).try_write().expect("recovery is alone with the keyspace");
            let section = shard.section_mut(table);
            effect::apply(section, hash, key, &effect)?;
            section.take_garbage();
        }
        Ok(())
    }

    /// Returns an empty keyspace with as many databases and the same hasher.
    pub fn empty_like(&self) -> Self {
        Self::new(KeyHasher::new(self.hasher.key()), self.map.databases())
    }

    /// Exchanges all keys and the map with `other`; positions seen are kept. The caller holds the gate.
    pub fn exchange(&self, other: &Self) {
        for (mine, theirs) in self.shards.iter().zip(&other.shards) {
            let mut mine = mine.try_write().expect("nobody else is inside while the gate is up");
            mine.exchange(&mut theirs.try_write().expect("nobody else knows of it"));
        }
        self.map.exchange(&other.map);
        self.order.restart();
    }

    /// Removes the tables of shard `index` that no database names any more, to be dropped elsewhere. `None` if the
    /// shard is held: try again.
    pub fn take_dead_sections(&self, index: usize) -> Option<Garbage<Vec<Section>>> {
        let mut shard = self.shards[index].try_write()?;
        let dead = shard.take_sections(|table| !self.map.names(table));
        Some(Garbage::new(dead, index, &self.retired_bytes))
    }
}

/// Returns the shard of a hash: its top ten bits.
pub fn shard_of(hash: u64) -> usize {
    (hash >> (64 - SHARDS.trailing_zeros())) as usize
}
