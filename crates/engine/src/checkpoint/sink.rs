//! Where the leaves of big values go: into the block segments of the commit under way, those not stored yet.

use super::usage::place_of;
use keyspace::BlockSink;
use kinds::Value;
use std::cell::RefCell;
use store::{Commit, StoreError};

/// Bytes of leaves between two looks at how much there is to do.
const STEP_BYTES: u64 = 1 << 20;

/// The blocks of a commit.
pub(super) struct Sink<'a, 's> {
    pub(super) commit: &'a RefCell<Commit<'s>>,
    /// Segments that are to become empty, in order.
    pub(super) drained: &'a [u32],
}

impl BlockSink for Sink<'_, '_> {
    type Error = StoreError;

    fn put(&mut self, value: &Value, form: &mut Vec<u8>) -> Result<bool, StoreError> {
        if value.is_one_leaf() {
            return Ok(false);
        }
        let mut storing = value.storing(form);
        while !storing.step(STEP_BYTES, self, form)? {}
        Ok(true)
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
