//! The journal tail: what the store lacks of each shard and of the map, and which tables are alive.
//!
//! Start-up passes over it once: [`CutTail::split`] applies changes of the map and sorts the other effects by shard.
//! These are applied when the shard is loaded, if their table is [`Alive`] by then.

use crate::effect::{DecodeError, Effect, Record};
use crate::map::{DatabaseMap, OF_SERVER};
use crate::{Keyspace, TableId, shard_of};
use base::Position;
use base::limits::{DATABASES_MAX, SHARDS};
use std::collections::BTreeSet;

/// The map of databases, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapState {
    /// Every database that has moved from its first table, with its table.
    pub changed: Vec<(u32, TableId)>,
    /// The lowest id never assigned.
    pub next: TableId,
}

impl DatabaseMap {
    /// Returns the current state. The caller is inside the gate, so that it cannot change meanwhile.
    pub fn state(&self) -> MapState {
        MapState { changed: self.changed(), next: self.fresh() }
    }

    /// Restores a saved state. Only at start-up, before all else.
    pub fn restore(&self, state: &MapState) {
        state.changed.iter().for_each(|(database, table)| self.put(*database, *table));
        self.skip_to(state.next);
    }
}

/// Tables that some database names. A table that none names is never named again, so it may be skipped.
#[derive(Clone, Debug, Default)]
pub struct Alive {
    /// Databases that have moved from their first table.
    moved: BTreeSet<u32>,
    /// The present tables of those databases.
    tables: BTreeSet<TableId>,
}

impl DatabaseMap {
    /// Returns which tables are alive. The caller is inside the gate, or alone.
    pub fn alive(&self) -> Alive {
        let (moved, tables) = self.changed().into_iter().unzip();
        Alive { moved, tables }
    }
}

impl Alive {
    /// Returns true if any database, even one beyond the configured ones, or the server names `table`.
    pub fn contains(&self, table: TableId) -> bool {
        let is_first = table < DATABASES_MAX && !self.moved.contains(&table);
        is_first || table == OF_SERVER || self.tables.contains(&table)
    }
}

/// The start of the tail for each shard and for the map.
pub struct CutTail {
    shards_from: Box<[Position]>,
    map_from: Position,
}

impl CutTail {
    /// Creates the tail after a store that has the map as of `map_from`, and each shard as of its position.
    ///
    /// # Panics
    /// If there are not [`SHARDS`] positions.
    pub fn new(map_from: Position, shards_from: Vec<Position>) -> Self {
        assert_eq!(shards_from.len(), SHARDS);
        Self { shards_from: shards_from.into(), map_from }
    }

    /// Processes the frame that begins at `begin`; frames come in order. Applies its map changes to `keyspace`; passes
    /// each other effect that the store lacks to `visit` with its shard.
    ///
    /// # Errors
    /// If the bytes are not a frame of this version.
    pub fn split(
        &self,
        keyspace: &Keyspace,
        begin: Position,
        payload: &[u8],
        mut visit: impl FnMut(usize, &[u8]),
    ) -> Result<(), DecodeError> {
        let mut input = payload;
        while !input.is_empty() {
            let before = input;
            let Record { key, effect, .. } = Record::decode(&mut input)?;
            if let Effect::MapPut { database, table } = effect {
                if begin >= self.map_from {
                    keyspace.map().put(database, table);
                }
                continue;
            }
            let shard = shard_of(keyspace.hash(key));
            if begin >= self.shards_from[shard] {
                visit(shard, &before[..before.len() - input.len()]);
            }
        }
        Ok(())
    }
}
