//! Speculation: a command that touches very much runs ahead of time on clones of its keys, without locks.
//!
//! ```text
//!   shards held:        tx.expect_work -- much --> abandoned; Snapshot: clones of the keys' values
//!                                                               |
//!   nothing held:       Snapshot::run: the unchanged handler, in a tx on a keyspace of its own
//!                                                               |
//!   shards held again:  are the values unchanged? --yes--> Tx::commit: the values are exchanged for the results, and
//!                                                          the log of the speculative run becomes the tx's own
//! ```
//!
//! Effects and reply reflect the instant of the commit, except for the clock, which has advanced since the clones were
//! taken. So a speculative run also fails if a deadline has passed since.

use crate::effect::Log;
use crate::held::Plan;
use crate::notes::Note;
use crate::pins::RetiredBytes;
use crate::section::{Entry, OwnedEntry, is_live, next_due};
use crate::transients::Transients;
use crate::tx::{Reads, Tx};
use crate::{Keyspace, Named, OF_SERVER, SCHEMAS, TableId, shard_of};
use base::Ms;
use base::hash::KeyHasher;
use std::collections::BTreeSet;
use std::sync::Arc;
use table::Content;

/// Clones of a command's keys, for a speculative run. O(1) per key, except for short texts.
pub struct Snapshot {
    hasher: KeyHasher,
    databases: u32,
    /// Databases that have moved from their first table.
    tables: Vec<(u32, TableId)>,
    retired_bytes: Arc<RetiredBytes>,
    transients: Transients,
    /// No key of their shards has had a greater CAS number.
    cas: u64,
    reported_ids_end: u64,
    database: u32,
    now: Ms,
    keys: Vec<KeySnapshot>,
    /// The schemas of tagged lists, if the command holds them.
    schemas: Option<OwnedEntry>,
}

/// A key of a speculative command.
struct KeySnapshot {
    key: Box<[u8]>,
    /// Its entry before, expired or not.
    before: Option<OwnedEntry>,
    /// Its entry after, if the command changes it.
    after: Option<Option<OwnedEntry>>,
}

/// A command that ran speculatively.
pub struct Speculation {
    database: u32,
    table: TableId,
    now: Ms,
    keys: Vec<KeySnapshot>,
    schemas: Option<OwnedEntry>,
    log: Log,
    notes: Vec<Note>,
    touched: Vec<Box<[u8]>>,
    reads: Reads,
    expired: u32,
    look_again_ms: Option<Ms>,
    reported_ids_end: u64,
}

impl Snapshot {
    /// Creates it from the keys in `copies`; the tx holds their shards, which have assigned no CAS number above `cas`.
    pub(crate) fn of(
        tx: &Tx<'_>,
        keyspace: &Keyspace,
        copies: Vec<(Box<[u8]>, Option<OwnedEntry>)>,
        schemas: Option<OwnedEntry>,
        cas: u64,
    ) -> Self {
        let keys = copies.into_iter().map(|(key, before)| KeySnapshot { key, before, after: None }).collect();
        Self {
            hasher: *keyspace.hasher(),
            databases: keyspace.map().databases(),
            tables: keyspace.map().changed(),
            retired_bytes: keyspace.retired_bytes.clone(),
            transients: keyspace.transients.clone(),
            cas,
            reported_ids_end: keyspace.reported_ids_end(),
            database: tx.database(),
            now: tx.now(),
            keys,
            schemas,
        }
    }

    /// Runs a handler as `commit` does, in a tx that may touch the keys that `plan` adds.
    ///
    /// # Panics
    /// If the handler needs something for which an ordinary tx would be abandoned.
    pub fn speculate<R>(
        self,
        plan: impl FnOnce(&Keyspace, &mut Plan),
        run: impl FnOnce(&mut Tx<'_>) -> R,
    ) -> (R, Speculation) {
        let Self {
            hasher,
            databases,
            tables,
            retired_bytes,
            transients,
            cas,
            reported_ids_end,
            database,
            now,
            mut keys,
            schemas,
        } = self;
        let keyspace = Keyspace { retired_bytes, transients, ..Keyspace::new(hasher, databases) };
        keyspace.note_reported_ids(reported_ids_end);
        tables.into_iter().for_each(|(database, table)| keyspace.map().put(database, table));
        let table = keyspace.map().table(database);
        for KeySnapshot { key, before, .. } in &keys {
            let hash = keyspace.hash(key);
            let mut shard = keyspace.shard(shard_of(hash)).try_write().expect("nobody else knows of it");
            shard.note_cas(cas);
            shard.section_mut(table).put_copy(hash, key, before.as_ref());
        }
        if let Some(schemas) = &schemas {
            let hash = keyspace.hash(SCHEMAS);
            let mut shard = keyspace.shard(shard_of(hash)).try_write().expect("nobody else knows of it");
            shard.section_mut(OF_SERVER).put_copy(hash, SCHEMAS, Some(schemas));
        }
        let (mut wanted, mut log) = (Plan::default(), Log::default());
        plan(&keyspace, &mut wanted);
        wanted.seal();
        let held = wanted.try_hold(&keyspace).unwrap_or_else(|_| panic!("nobody else knows of it"));
        let mut tx = Tx::new(&keyspace, held, database, now, &mut log, u64::MAX);
        tx.set_speculation();
        tx.take_notes();
        let result = run(&mut tx);
        let (notes, reads, expired) = (tx.notes().to_vec(), tx.reads, tx.expired);
        let (look_again_ms, touched) = (tx.looks_again_at(), tx.take_touched());
        tx.end();
        let changed: BTreeSet<&[u8]> = log
            .named_from(0)
            .map(|named| match named {
                Named::Key(of, key) => {
                    assert_eq!(of, table, "a speculative command stays within its database");
                    key
                }
                Named::Database(_) => panic!("a speculative command changes keys alone"),
            })
            .collect();
        for KeySnapshot { key, after, .. } in keys.iter_mut().filter(|one| changed.contains(&*one.key)) {
            let hash = keyspace.hash(key);
            let shard = keyspace.shard(shard_of(hash)).try_read().expect("nobody else knows of it");
            *after = Some(shard.section(table).and_then(|section| section.copy(hash, key)));
        }
        drop(changed);
        (
            result,
            Speculation {
                database,
                table,
                now,
                keys,
                schemas,
                log,
                notes,
                touched,
                reads,
                expired,
                look_again_ms,
                reported_ids_end: keyspace.reported_ids_end(),
            },
        )
    }
}

impl Speculation {
    /// Returns the bytes of its record. O(values stored separately).
    pub fn payload_bytes(&self) -> u64 {
        self.log.payload_bytes()
    }

    /// Returns its reads.
    pub fn reads(&self) -> Reads {
        self.reads
    }

    /// Returns true if its inputs match the keyspace as seen by the tx, which holds the shards of all keys.
    pub fn is_true(&self, tx: &mut Tx<'_>) -> bool {
        let (then, now) = (self.now, tx.now());
        let is_of_table = tx.database() == self.database && tx.table() == self.table;
        let is_same_schemas = match (&self.schemas, tx.copy_of_schemas()) {
            (None, None) => true,
            (Some(then), Some(now)) => is_same(then.read(), now.read()),
            _ => false,
        };
        is_of_table
            && is_same_schemas
            && self.keys.iter().all(|one| match (&one.before, tx.raw_entry(&one.key)) {
                (None, None) => true,
                (Some(before), Some(entry)) => is_same(before.read(), entry) && is_as_of(entry, then, now),
                _ => false,
            })
    }
}

/// Returns true if both entries of a key hold the same value, unchanged on either side since the copy. O(1), except for
/// short texts.
fn is_same(one: Entry<'_>, other: Entry<'_>) -> bool {
    let is_same_content = match (one.content(), other.content()) {
        (Content::Int(one), Content::Int(other)) => one == other,
        (Content::Bytes(one), Content::Bytes(other)) => one == other,
        (Content::Value(one), Content::Value(other)) => one.shares_root_with(other),
        _ => false,
    };
    is_same_content && one.fields() == other.fields()
}

/// Returns true if an entry looks the same at `now` as it did at `then`.
fn is_as_of(entry: Entry<'_>, then: Ms, now: Ms) -> bool {
    let was_live = is_live(entry, then);
    now == then || !was_live || (is_live(entry, now) && next_due(entry).is_none_or(|due_ms| due_ms > now))
}

/// The remains of a committed speculative run: may hold the last references to much memory.
pub struct RetiredKeys {
    _keys: Vec<KeySnapshot>,
}

impl Tx<'_> {
    /// Commits the speculative run, which must satisfy [`Speculation::is_true`]; call before any other change.
    pub fn commit(&mut self, speculation: Speculation) -> RetiredKeys {
        let Speculation { keys, mut log, notes, touched, reads, expired, look_again_ms, reported_ids_end, .. } =
            speculation;
        self.keyspace().note_reported_ids(reported_ids_end);
        for one in &keys {
            if let Some(after) = &one.after {
                self.exchange_entry(&one.key, after.as_ref());
            }
        }
        self.adopt(&mut log, notes);
        touched.iter().for_each(|key| self.mark_touched(key));
        look_again_ms.into_iter().for_each(|at_ms| self.look_again(at_ms));
        self.reads.add(reads);
        self.expired += expired;
        RetiredKeys { _keys: keys }
    }
}
