//! The map from database number to table id.
//!
//! Journaled state of its own. It changes only under the gate (or in recovery), so readers, who are all "inside",
//! see it as constant.

use crate::TableId;
use base::Position;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Database number -> table id.
pub struct DatabaseMap {
    tables: Box<[AtomicU32]>,
    next: AtomicU32,
    last: AtomicU64,
}

impl DatabaseMap {
    /// Database `n` begins with table `n`.
    pub fn new(databases: u32) -> Self {
        let tables = (0..databases).map(AtomicU32::new).collect();
        Self { tables, next: AtomicU32::new(databases), last: AtomicU64::new(0) }
    }

    /// How many databases there are.
    pub fn databases(&self) -> u32 {
        self.tables.len() as u32
    }

    /// The table of `database`.
    pub fn table(&self, database: u32) -> TableId {
        self.tables[database as usize].load(Relaxed)
    }

    /// Whether any database has `table`.
    pub fn names(&self, table: TableId) -> bool {
        self.tables.iter().any(|named| named.load(Relaxed) == table)
    }

    /// An id that was never used. The caller holds the gate.
    pub fn fresh(&self) -> TableId {
        self.next.load(Relaxed)
    }

    /// Gives `database` the table `table`. The caller holds the gate or is recovery. A database beyond the
    /// configured ones keeps its data unseen.
    pub fn put(&self, database: u32, table: TableId) {
        if let Some(slot) = self.tables.get(database as usize) {
            slot.store(table, Relaxed);
        }
        self.next.fetch_max(table.saturating_add(1), Relaxed);
    }

    /// Exchanges all tables with `other`; ids that were given stay given in both. The caller holds the gate.
    pub(crate) fn exchange(&self, other: &Self) {
        for (mine, theirs) in self.tables.iter().zip(&other.tables) {
            theirs.store(mine.swap(theirs.load(Relaxed), Relaxed), Relaxed);
        }
        let next = self.next.fetch_max(other.next.load(Relaxed), Relaxed);
        other.next.fetch_max(next, Relaxed);
    }

    /// Position after the last frame that changed the map: whoever reads any shard has seen it.
    pub fn last(&self) -> Position {
        self.last.load(Relaxed)
    }

    /// Notes the position after a frame that changed the map.
    pub fn stamp(&self, end: Position) {
        self.last.fetch_max(end, Relaxed);
    }
}
