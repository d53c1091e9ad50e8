//! The map from database number to table id.
//!
//! This is journaled state of its own. It changes only under the gate (or in recovery), so readers, who are all
//! "inside", see it as constant.

use crate::TableId;
use base::Position;
use base::limits::DATABASES_MAX;
use base::primitives::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use base::primitives::{Mutex, MutexGuard};
use std::collections::BTreeMap;

/// The server's own table, which belongs to no database: always named, never exchanged.
pub const OF_SERVER: TableId = TableId::MAX;
/// The key in [`OF_SERVER`] of the function libraries: a hash from name to source.
pub const LIBRARIES: &[u8] = b"libraries";
/// The key in [`OF_SERVER`] of the tagged-list schemas: a hash from name prefix to definition.
pub const SCHEMAS: &[u8] = b"schemas";
/// The key in [`OF_SERVER`] of the indexes of searches and their other names.
pub const INDEXES: &[u8] = b"indexes";

/// Database number -> table id.
pub struct DatabaseMap {
    tables: Box<[AtomicU32]>,
    /// Databases beyond the configured ones, from an earlier start with more, that have moved from their first table.
    unseen: Mutex<BTreeMap<u32, TableId>>,
    next: AtomicU32,
    last: AtomicU64,
}

impl DatabaseMap {
    /// Creates the map: database `n` begins with table `n`, whether or not it is configured at this start.
    pub fn new(databases: u32) -> Self {
        let tables = (0..databases).map(AtomicU32::new).collect();
        Self { tables, unseen: Mutex::default(), next: AtomicU32::new(DATABASES_MAX), last: AtomicU64::new(0) }
    }

    /// Returns the number of databases.
    pub fn databases(&self) -> u32 {
        self.tables.len() as u32
    }

    /// Returns the table of `database`.
    pub fn table(&self, database: u32) -> TableId {
        self.tables[database as usize].load(Relaxed)
    }

    /// Returns true if any database, even one beyond the configured ones, or the server has `table`.
    pub fn names(&self, table: TableId) -> bool {
        let is_seen = self.tables.iter().any(|named| named.load(Relaxed) == table);
        is_seen || table == OF_SERVER || self.names_unseen(table)
    }

    #[cold]
    fn names_unseen(&self, table: TableId) -> bool {
        let unseen = self.unseen();
        let is_first = (self.databases()..DATABASES_MAX).contains(&table) && !unseen.contains_key(&table);
        is_first || unseen.values().any(|named| *named == table)
    }

    /// Returns every database that has moved from its first table, with its table.
    pub fn changed(&self) -> Vec<(u32, TableId)> {
        let seen = (0..self.databases()).map(|database| (database, self.table(database)));
        let unseen = self.unseen();
        seen.chain(unseen.iter().map(|(database, table)| (*database, *table)))
            .filter(|(database, table)| database != table)
            .collect()
    }

    /// Returns an id that was never used. The caller holds the gate.
    pub fn fresh(&self) -> TableId {
        self.next.load(Relaxed)
    }

    /// Assigns `table` to `database`. The caller holds the gate or is recovery. A database beyond the configured ones
    /// keeps its data, hidden.
    pub fn put(&self, database: u32, table: TableId) {
        match self.tables.get(database as usize) {
            Some(slot) => slot.store(table, Relaxed),
            None => drop(self.unseen().insert(database, table)),
        }
        self.next.fetch_max(table.saturating_add(1), Relaxed);
    }

    /// Stops ids below `next` from being assigned.
    pub(crate) fn skip_to(&self, next: TableId) {
        self.next.fetch_max(next, Relaxed);
    }

    /// Exchanges all tables with `other`; ids assigned in either stay used in both. The caller holds the gate.
    pub(crate) fn exchange(&self, other: &Self) {
        for (mine, theirs) in self.tables.iter().zip(&other.tables) {
            theirs.store(mine.swap(theirs.load(Relaxed), Relaxed), Relaxed);
        }
        std::mem::swap(&mut *self.unseen(), &mut *other.unseen());
        let next = self.next.fetch_max(other.next.load(Relaxed), Relaxed);
        other.next.fetch_max(next, Relaxed);
    }

    /// Returns the position after the last frame that changed the map: a reader of any shard depends on it.
    pub fn last(&self) -> Position {
        self.last.load(Relaxed)
    }

    /// Notes the position after a frame that changed the map.
    pub fn stamp(&self, end: Position) {
        self.last.fetch_max(end, Relaxed);
    }

    fn unseen(&self) -> MutexGuard<'_, BTreeMap<u32, TableId>> {
        self.unseen.lock().expect("no holder panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_beyond_the_configured_ones_keeps_its_table() {
        let map = DatabaseMap::new(2);
        assert!(map.names(1) && map.names(7), "database 7 may have keys of another start");
        map.put(7, 70_000);
        map.put(0, 70_001);
        assert!(map.names(70_000) && map.names(70_001) && !map.names(7) && !map.names(0));
        assert_eq!(map.changed(), [(0, 70_001), (7, 70_000)]);
        let more = DatabaseMap::new(8);
        map.changed().into_iter().for_each(|(database, table)| more.put(database, table));
        assert_eq!((more.table(7), more.table(0), more.table(6)), (70_000, 70_001, 6));
        assert_eq!(more.fresh(), 70_002);
    }

    #[test]
    fn the_table_of_the_server_is_always_in_use() {
        let map = DatabaseMap::new(2);
        map.put(0, map.fresh());
        assert!(map.names(OF_SERVER) && map.alive().contains(OF_SERVER) && map.fresh() < OF_SERVER);
    }

    #[test]
    fn fresh_tables_begin_after_the_databases_initial_ones() {
        assert_eq!(DatabaseMap::new(4).fresh(), DATABASES_MAX);
    }
}
