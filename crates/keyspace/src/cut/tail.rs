//! The tail of the journal: what the store lacks of each shard and of the map, and which tables are alive.
//!
//! A start goes over it once: [`CutTail::split`] does what becomes of the map and sorts the other effects by shard, to be
//! applied to a shard when that is loaded, if their table is [`Alive`] by then.

use crate::effect::{DecodeError, Effect, Record};
use crate::map::{DatabaseMap, OF_SERVER};
use crate::{Keyspace, TableId, shard_of};
use base::Position;
use base::limits::{DATABASES_MAX, SHARDS};
use std::collections::BTreeSet;

/// The map of databases, as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapState {
    /// Every database that has another table than its first, with that table.
    pub changed: Vec<(u32, TableId)>,
    /// The least id that was never given.
    pub next: TableId,
}

impl DatabaseMap {
    /// As it is. Whoever asks is inside the gate, so that it cannot change meanwhile.
    pub fn state(&self) -> MapState {
        MapState { changed: self.changed(), next: self.fresh() }
    }

    /// Becomes what it was. Only at a start, before all else.
    pub fn restore(&self, state: &MapState) {
        state.changed.iter().for_each(|(database, table)| self.put(*database, *table));
        self.skip_to(state.next);
    }
}

/// Which tables some database names. What no database names is never named again, so it may be passed over.
#[derive(Clone, Debug, Default)]
pub struct Alive {
    /// Databases that have another table than their first.
    moved: BTreeSet<u32>,
    /// These tables.
    tables: BTreeSet<TableId>,
}

impl DatabaseMap {
    /// Which tables are alive. Whoever asks is inside the gate, or alone.
    pub fn alive(&self) -> Alive {
        let (moved, tables) = self.changed().into_iter().unzip();
        Alive { moved, tables }
    }
}

impl Alive {
    /// Whether any database names `table`, be it one beyond the configured ones, or the server does.
    pub fn contains(&self, table: TableId) -> bool {
        let is_first = table < DATABASES_MAX && !self.moved.contains(&table);
        is_first || table == OF_SERVER || self.tables.contains(&table)
    }
}

/// Where the tail begins for each shard and for the map.
pub struct CutTail {
    shards_from: Box<[Position]>,
    map_from: Position,
}

impl CutTail {
    /// Behind a store that knows the map at `map_from`, and each shard at its position.
    ///
    /// # Panics
    /// If there are not [`SHARDS`] positions.
    pub fn new(map_from: Position, shards_from: Vec<Position>) -> Self {
        assert_eq!(shards_from.len(), SHARDS);
        Self { shards_from: shards_from.into(), map_from }
    }

    /// Takes in the frame that begins at `begin`, all frames in order: what it does to the map is done in `keyspace`; each
    /// other effect that the store lacks goes to `visit` with its shard.
    ///
    /// # Errors
    /// If the bytes are no frame of this version.
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
