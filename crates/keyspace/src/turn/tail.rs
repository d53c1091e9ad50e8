//! The tail of the journal: what the store lacks of each shard and of the map, and which tables are alive at its end.
//!
//! A start goes over it once: [`Tail::split`] does what becomes of the map and sorts the other effects by shard, to be
//! applied when the last map is known. Who cannot keep them all goes over it twice: [`Tail::note`] finds out what becomes
//! of the map; then [`Keyspace::replay_tail`] applies what lies at or behind a shard's position and in a table that
//! somebody will name.

use crate::effect::{self, DecodeError, Effect, Record};
use crate::map::DatabaseMap;
use crate::{Keyspace, TableId, shard_of};
use base::Position;
use base::limits::{DATABASES_MAX, SHARDS};
use std::collections::{BTreeMap, BTreeSet};

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

/// Where the tail begins for each shard and for the map, and what it makes of the map.
pub struct Tail {
    shards_from: Box<[Position]>,
    map_from: Position,
    /// Of databases that were given another table than their first.
    tables: BTreeMap<u32, TableId>,
    /// These tables.
    alive: BTreeSet<TableId>,
}

impl Tail {
    /// Without a store: all of the journal.
    pub fn whole(map: &DatabaseMap) -> Self {
        Self::new(&map.state(), 0, vec![0; SHARDS])
    }

    /// Behind a store that knows the map as `map` at `map_from`, and each shard at its position.
    ///
    /// # Panics
    /// If there are not [`SHARDS`] positions.
    pub fn new(map: &MapState, map_from: Position, shards_from: Vec<Position>) -> Self {
        assert_eq!(shards_from.len(), SHARDS);
        let tables: BTreeMap<_, _> = map.changed.iter().copied().collect();
        let alive = tables.values().copied().collect();
        Self { shards_from: shards_from.into(), map_from, tables, alive }
    }

    /// Where it begins.
    pub fn from(&self) -> Position {
        self.shards_from.iter().copied().fold(self.map_from, Position::min)
    }

    /// Takes from the frame that begins at `begin` what it does to the map; all frames in order, before any is replayed.
    ///
    /// # Errors
    /// If the bytes are no frame of this version.
    pub fn note(&mut self, begin: Position, payload: &[u8]) -> Result<(), DecodeError> {
        let mut input = payload;
        let mut is_moved = false;
        while begin >= self.map_from && !input.is_empty() {
            if let Effect::MapPut { database, table } = Record::decode(&mut input)?.effect {
                self.tables.insert(database, table);
                is_moved = true;
            }
        }
        if is_moved {
            self.alive = self.tables.values().copied().collect();
        }
        Ok(())
    }

    /// Takes in the frame that begins at `begin`, all frames in order: what it does to the map is noted, and done in
    /// `keyspace`; each other effect that the store lacks goes to `visit` with its shard.
    ///
    /// # Errors
    /// If the bytes are no frame of this version.
    pub fn split(
        &mut self,
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
                    self.tables.insert(database, table);
                    self.alive = self.tables.values().copied().collect();
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

    /// Whether any database names `table` at the end.
    pub fn is_alive(&self, table: TableId) -> bool {
        let is_first = table < DATABASES_MAX && !self.tables.contains_key(&table);
        is_first || self.alive.contains(&table)
    }

    /// Where the tail of `shard` begins.
    pub fn shard_from(&self, shard: usize) -> Position {
        self.shards_from[shard]
    }
}

impl Keyspace {
    /// Applies the effects of the frame that begins at `begin`, as far as the store lacks them: a part of recovery.
    /// Nobody else may hold a shard.
    ///
    /// # Errors
    /// If the bytes are no frame of this version; effects before the faulty one are applied.
    pub fn replay_tail(&self, tail: &Tail, begin: Position, payload: &[u8]) -> Result<(), DecodeError> {
        self.replay_where(payload, |shard, table| match shard {
            Some(shard) => begin >= tail.shard_from(shard) && tail.is_alive(table),
            None => begin >= tail.map_from,
        })
    }

    /// Applies those effects of a frame that `is_wanted` by their shard (none: a change of the map) and table.
    pub(crate) fn replay_where(
        &self,
        payload: &[u8],
        is_wanted: impl Fn(Option<usize>, TableId) -> bool,
    ) -> Result<(), DecodeError> {
        let mut input = payload;
        while !input.is_empty() {
            let Record { table, key, effect } = Record::decode(&mut input)?;
            if let Effect::MapPut { database, table } = effect {
                if is_wanted(None, table) {
                    self.map().put(database, table);
                }
                continue;
            }
            let hash = self.hash(key);
            if is_wanted(Some(shard_of(hash)), table) {
                let mut shard = self.shard(shard_of(hash)).try_write().expect("recovery is alone with the keyspace");
                let section = shard.section_mut(table);
                effect::apply(section, hash, key, &effect)?;
                section.take_garbage();
            }
        }
        Ok(())
    }
}
