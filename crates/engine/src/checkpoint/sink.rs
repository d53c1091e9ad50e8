//! The sink for the leaves of big values: it writes those not stored yet into block segments of the current commit.

use super::usage::place_of;
use blocks::Storing;
use keyspace::{BlockSink, TableId, ValueChange};
use std::cell::RefCell;
use store::{Commit, StoreError};
use values::Value;

/// Bytes of leaves written before others go first.
const STEP_BYTES: u64 = 256 << 10;

/// The blocks of a commit.
pub(super) struct Sink<'a, 's> {
    commit: &'a RefCell<Commit<'s>>,
    /// Segments to be emptied, in order.
    drained: &'a [u32],
    /// The value being written.
    storing: Option<Storing>,
    /// Written values with their keys.
    pub(super) done: Vec<StoredValue>,
}

/// A value whose leaves are in the commit: `key`'s in `table` at the turn.
pub(super) struct StoredValue {
    pub(super) table: TableId,
    pub(super) key: Box<[u8]>,
    pub(super) value: Value,
}

impl<'a, 's> Sink<'a, 's> {
    pub(super) fn new(commit: &'a RefCell<Commit<'s>>, drained: &'a [u32]) -> Self {
        Self { commit, drained, storing: None, done: Vec::new() }
    }
}

impl BlockSink for Sink<'_, '_> {
    type Error = StoreError;

    fn put(&mut self, value: &Value, form: &mut Vec<u8>) -> Result<ValueChange, StoreError> {
        if value.is_one_leaf() {
            return Ok(ValueChange::Inline);
        }
        let mut storing = self.storing.take().unwrap_or_else(|| value.storing(form));
        if storing.step(STEP_BYTES, self, form)? {
            return Ok(ValueChange::All);
        }
        self.storing = Some(storing);
        Ok(ValueChange::Part)
    }

    fn has_put(&mut self, table: TableId, key: &[u8], value: &Value) {
        self.done.push(StoredValue { table, key: key.into(), value: value.clone() });
    }
}

impl blocks::LeafStore for Sink<'_, '_> {
    type Error = StoreError;

    fn keeps(&mut self, place: blocks::Place, _: u64) -> bool {
        let segment = place_of(place).segment();
        self.drained.binary_search(&segment).is_err() && self.commit.borrow().alive().contains(segment)
    }

    fn write(&mut self, leaf: &[u8]) -> Result<blocks::Place, StoreError> {
        self.commit.borrow_mut().block(leaf).map(|place| blocks::Place(place.number()))
    }
}
