//! The block segments that hold a shard's stored values: summed over the newest record of each key.

use blocks::Place as LeafPlace;
use keyspace::{DecodeError, TableId, named_by};
use std::collections::{BTreeMap, HashMap};
use store::{Place, Share, block_bytes};

/// The bytes of each value in blocks, by segment. Some hundred bytes of memory each.
#[derive(Clone, Default)]
pub struct Usage {
    values: HashMap<(TableId, Box<[u8]>), Vec<Share>>,
}

impl Usage {
    /// Applies a record; call it in the order in which records are applied.
    ///
    /// # Errors
    /// Fails if the bytes are no record.
    pub fn apply(&mut self, record: &[u8]) -> Result<(), DecodeError> {
        let mut shares = BTreeMap::<u32, u64>::new();
        let (table, key) = named_by(record, |leaf| {
            *shares.entry(place_of(leaf.place).segment()).or_default() += block_bytes(leaf.bytes as usize);
        })?;
        if !shares.is_empty() {
            self.values.insert((table, key.into()), shares_of(shares));
        } else if !self.values.is_empty() {
            self.values.remove(&(table, key.into()));
        }
        Ok(())
    }

    /// Returns the usage without dead tables: they get no more records.
    pub(super) fn of_alive(&self, is_alive: impl Fn(TableId) -> bool) -> Self {
        let alive = self.values.iter().filter(|((table, _), _)| is_alive(*table));
        Self { values: alive.map(|(name, shares)| (name.clone(), shares.clone())).collect() }
    }

    /// Returns the tables and keys of values with blocks in one of `segments`, which are in order. O(values).
    pub(super) fn lying_in(&self, segments: &[u32]) -> Vec<(TableId, Box<[u8]>)> {
        let lies = |share: &Share| segments.binary_search(&share.segment).is_ok();
        let values = self.values.iter().filter(|(_, shares)| shares.iter().any(lies));
        values.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the usage of all values of live tables.
    pub(super) fn shares(&self, is_alive: impl Fn(TableId) -> bool) -> Vec<Share> {
        let mut sum = BTreeMap::<u32, u64>::new();
        let alive = self.values.iter().filter(|((table, _), _)| is_alive(*table));
        for share in alive.flat_map(|(_, shares)| shares) {
            *sum.entry(share.segment).or_default() += share.bytes;
        }
        shares_of(sum)
    }
}

fn shares_of(sum: BTreeMap<u32, u64>) -> Vec<Share> {
    sum.into_iter().map(|(segment, bytes)| Share { segment, bytes }).collect()
}

/// Returns the location of a leaf in the store. A record that names segment 0, which does not exist, is refused when
/// loaded.
pub(super) fn place_of(place: LeafPlace) -> Place {
    Place::of_number(place.number()).unwrap_or_else(|| Place::new(u32::MAX, 0).expect("a segment"))
}
