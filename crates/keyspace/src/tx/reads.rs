//! Look-ups of keys that count as reads: hits and misses.

use super::Tx;

/// The reads of a tx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Reads that found a key.
    pub hits: u32,
    /// Reads that found none.
    pub misses: u32,
    /// Number of further look-ups that count.
    left: u32,
}

impl Default for Reads {
    fn default() -> Self {
        Self { hits: 0, misses: 0, left: u32::MAX }
    }
}

impl Reads {
    /// Counts a look-up. Returns true if it is a read.
    #[inline]
    pub(super) fn note(&mut self, is_found: bool) -> bool {
        let read = u32::from(self.left > 0);
        self.left -= read;
        if is_found {
            self.hits += read;
        } else {
            self.misses += read;
        }
        read > 0
    }

    pub(crate) fn add(&mut self, other: Self) {
        (self.hits, self.misses) = (self.hits + other.hits, self.misses + other.misses);
    }
}

impl Tx<'_> {
    /// Sets how many of the following look-ups count as reads; the default is all.
    #[inline]
    pub fn count_reads(&mut self, looks: u32) {
        self.reads.left = looks;
    }
}
