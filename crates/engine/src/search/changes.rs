//! The rows that a transaction has changed.

use super::live_index::{FeedEntry, LiveIndex};
use super::registry::LiveIndexes;
use base::Position;
use base::primitives::atomic::Ordering::Relaxed;
use keyspace::{ChangedPart, Effect, IndexDeclarations, TableId, Tx};
use search::Row;
use std::sync::Arc;

/// The changes of a transaction that concern indexes, gathered under its locks.
pub(crate) struct RowChanges {
    /// Rows, by index.
    pub(super) fed: Vec<(Arc<LiveIndex>, FeedEntry)>,
    /// The declarations, if it has changed them.
    pub(super) declared: Option<IndexDeclarations>,
    /// The table of database 0, if the transaction has changed the map of databases.
    pub(super) table: Option<TableId>,
}

impl RowChanges {
    /// Gathers the rows that `tx` has changed.
    pub(super) fn of(indexes: &LiveIndexes, tx: &mut Tx<'_>) -> Self {
        let (table, now) = (tx.keyspace().map().table(0), tx.now());
        let part = |key: &[u8], effect: Option<&Effect<'_>>| indexes.part(key, effect);
        let keys = tx.changed_keys(table, part);
        let mut fed: Vec<(Arc<LiveIndex>, FeedEntry)> = Vec::new();
        for (key, part) in keys {
            let found = tx.raw_hash(table, &key);
            if let (ChangedPart::OtherFields(count), Some((hash, _))) = (part, &found)
                && hash.len() > count
                && hash.next_due().is_none()
            {
                // It has a field that is older and stays: its row was there before, and is the same.
                continue;
            }
            for index in indexes.list.iter().filter(|index| index.table == table && index.definition.admits(&key)) {
                let row =
                    found.and_then(|(hash, expires_at_ms)| Row::of_hash(&index.definition, &key, hash, expires_at_ms));
                let at = fed.iter().position(|(of, _)| Arc::ptr_eq(of, index)).unwrap_or_else(|| {
                    fed.push((index.clone(), FeedEntry::default()));
                    fed.len() - 1
                });
                fed[at].1.push(key.clone(), row);
                index.used_ms.store(now, Relaxed);
            }
        }
        let table = tx.map_changed().then_some(table);
        Self { fed, declared: tx.has_changed_indexes().then(|| tx.index_declarations()), table }
    }

    /// Feeds the indexes. The transaction has taken `position`, and still holds its shards. Returns true if an index is
    /// behind.
    pub(super) fn feed(&mut self, position: Position) -> bool {
        let mut is_behind = false;
        for (index, mut entry) in self.fed.drain(..) {
            entry.position = position;
            index.push(entry);
            is_behind |= index.is_behind();
        }
        is_behind
    }
}
