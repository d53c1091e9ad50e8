//! The location of a stored leaf.

use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use std::num::NonZeroU64;

/// The location of a leaf's bytes, in terms of the store; this crate only compares and keeps places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub NonZeroU64);

impl Place {
    /// Creates the place of that number; `None` for 0.
    pub fn of_number(number: u64) -> Option<Place> {
        NonZeroU64::new(number).map(Place)
    }

    /// Returns its number.
    pub fn number(self) -> u64 {
        self.0.get()
    }
}

/// The optional place that a node keeps beside each leaf: set if the leaf is stored in its present state.
///
/// Atomic, since it is set in nodes that clones share. It describes bytes that never change and orders nothing else, so
/// it needs no memory ordering of its own.
#[derive(Default)]
pub(crate) struct PlaceCell(AtomicU64);

impl PlaceCell {
    pub(crate) fn of(place: Place) -> PlaceCell {
        PlaceCell(AtomicU64::new(place.number()))
    }

    pub(crate) fn get(&self) -> Option<Place> {
        Place::of_number(self.0.load(Relaxed))
    }

    pub(crate) fn note(&self, place: Place) {
        self.0.store(place.number(), Relaxed);
    }

    pub(crate) fn clear(&mut self) {
        *self.0.get_mut() = 0;
    }
}

impl Clone for PlaceCell {
    fn clone(&self) -> PlaceCell {
        PlaceCell(AtomicU64::new(self.0.load(Relaxed)))
    }
}
