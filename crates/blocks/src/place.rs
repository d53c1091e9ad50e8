//! Where a stored leaf lies.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where the bytes of a leaf lie, in terms of whoever stores them; this crate compares places and keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub NonZeroU64);

impl Place {
    /// The place of that number; `None` for 0.
    pub fn of_number(number: u64) -> Option<Place> {
        NonZeroU64::new(number).map(Place)
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0.get()
    }
}

/// What a node of leaves keeps beside each: where it is stored as it is now, if it is.
///
/// Atomic, since it is noted in nodes that clones share. It says something about bytes that never change and orders
/// nothing else, so it needs no ordering of its own.
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
