//! Looks for keys that count as reads: as hits or misses.

use super::Tx;

/// The reads of a tx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// Those that found a key.
    pub hits: u32,
    /// Those that found none.
    pub misses: u32,
    /// So many more looks count.
    left: u32,
}

impl Default for Reads {
    fn default() -> Self {
        Self { hits: 0, misses: 0, left: u32::MAX }
    }
}

impl Reads {
    /// Counts a look; whether it is a read.
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
    /// Says how many looks for keys count as reads from here on; all do unless told otherwise.
    #[inline]
    pub fn count_reads(&mut self, looks: u32) {
        self.reads.left = looks;
    }
}
