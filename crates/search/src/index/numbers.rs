//! The numbers of a field in order, each with its row: a ranking of one term.
//!
//! Places on the Earth are numbers too: those of the cells of the finest grid (`values::geo`).

use super::dictionary::TermNumber;
use super::postings::RowNumber;
use super::rankings::Rankings;
use blocks::Direction;
use std::ops::{Bound, ControlFlow, Range};

/// The term of all entries.
const TERM: TermNumber = TermNumber::MAX;

/// Numbers with their rows.
#[derive(Clone)]
pub(crate) struct Numbers {
    entries: Rankings,
    len: u64,
}

impl Numbers {
    /// Creates one without numbers.
    pub(super) fn new() -> Self {
        Self { entries: Rankings::of_last_term(), len: 0 }
    }

    /// Returns how many they are. O(1).
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.entries.heap_bytes()
    }

    /// Prefetches what adding or removing a number reads, unless too many rows have it. O(log n).
    pub(super) fn prefetch(&self, number: f64, row: RowNumber) {
        self.entries.prefetch(TERM, (ordered(number), row));
    }

    /// Adds a number; it is not NaN. O(log n).
    pub(crate) fn add(&mut self, number: f64, row: RowNumber) {
        self.len += u64::from(self.entries.add(TERM, (ordered(number), row)));
    }

    /// Removes a number. O(log n).
    pub(crate) fn remove(&mut self, number: f64, row: RowNumber) {
        self.len -= u64::from(self.entries.remove(TERM, (ordered(number), row)));
    }

    /// Returns the positions of the numbers in a range. O(log n + items changed or not yet counted).
    pub(crate) fn range(&self, from: Bound<f64>, to: Bound<f64>) -> Range<u64> {
        // No number is the greatest integer, so each has a next one.
        let below = |number| self.entries.rank(TERM, (number, 0));
        let begin = match from {
            Bound::Unbounded => 0,
            Bound::Included(number) => below(ordered(number)),
            Bound::Excluded(number) => below(ordered(number) + 1),
        };
        let end = match to {
            Bound::Unbounded => self.len,
            Bound::Included(number) => below(ordered(number) + 1),
            Bound::Excluded(number) => below(ordered(number)),
        };
        begin..end.max(begin)
    }

    /// Passes the rows of numbers to `visit`, until it breaks. O(log n + numbers + items changed or not yet counted).
    pub(crate) fn walk(
        &self,
        range: Range<u64>,
        direction: Direction,
        mut visit: impl FnMut(RowNumber) -> ControlFlow<()>,
    ) {
        let skip = match direction {
            Direction::Forward => range.start,
            Direction::Backward => self.len - range.end,
        };
        let mut rest = range.end - range.start;
        if rest == 0 {
            return;
        }
        self.entries.walk(TERM, skip, direction, |row| {
            rest -= 1;
            visit(row)?;
            if rest == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

/// Returns an integer that compares as the number does; both zeros are one. NaN has none.
pub(super) fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}
