//! The numbers of a field in order, each with its row.
//!
//! ```text
//! item   | number, so that bytes compare as numbers do : u64 | row : u32 |      big-endian
//! ```
//!
//! Places on the Earth are numbers too: those of the cells of the finest grid (`values::geo`).

use super::postings::RowNumber;
use blocks::{BlockList, Direction, Guide};
use std::ops::{Bound, ControlFlow, Range};

/// Numbers with their rows.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    items: BlockList,
}

impl Numbers {
    pub(crate) fn len(&self) -> u64 {
        self.items.len()
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.items.heap_bytes()
    }

    /// Adds a number; it is not NaN. O(log n).
    pub(crate) fn add(&mut self, number: f64, row: RowNumber) {
        let (at, is_there) = self.look(number, row);
        if !is_there {
            self.items.insert(at, &item(number, row));
        }
    }

    /// Removes a number. O(log n).
    pub(crate) fn remove(&mut self, number: f64, row: RowNumber) {
        let (at, is_there) = self.look(number, row);
        if is_there {
            self.items.remove(at);
        }
    }

    /// Returns the positions of the numbers in a range. O(log n).
    pub(crate) fn range(&self, from: Bound<f64>, to: Bound<f64>) -> Range<u64> {
        let begin = match from {
            Bound::Unbounded => 0,
            Bound::Included(number) => self.point(number, |at, key| at < key),
            Bound::Excluded(number) => self.point(number, |at, key| at <= key),
        };
        let end = match to {
            Bound::Unbounded => self.items.len(),
            Bound::Included(number) => self.point(number, |at, key| at <= key),
            Bound::Excluded(number) => self.point(number, |at, key| at < key),
        };
        begin..end.max(begin)
    }

    /// Passes numbers and rows to `visit`, until it breaks. O(log n + items).
    pub(crate) fn walk(
        &self,
        range: Range<u64>,
        direction: Direction,
        mut visit: impl FnMut(f64, RowNumber) -> ControlFlow<()>,
    ) {
        let _ = self.items.walk(range.start, range.end - range.start, direction, &mut |item: &[u8]| {
            visit(number_in(item), row_in(item))
        });
    }

    fn look(&self, number: f64, row: RowNumber) -> (u64, bool) {
        let key = item(number, row);
        let (at, seen) =
            self.items.guided_look(0..self.items.len(), guide(number), |item| *item < key[..], |item| *item == key[..]);
        (at, seen == Some(true))
    }

    fn point(&self, number: f64, is_before: fn(u64, u64) -> bool) -> u64 {
        let key = ordered(number);
        self.items.guided_point(0..self.items.len(), guide(number), |item| is_before(key_in(item), key))
    }
}

/// Returns an integer that compares as the number does; both zeros are one.
pub(super) fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn item(number: f64, row: RowNumber) -> [u8; 12] {
    let mut item = [0; 12];
    item[..8].copy_from_slice(&ordered(number).to_be_bytes());
    item[8..].copy_from_slice(&row.to_be_bytes());
    item
}

fn key_in(item: &[u8]) -> u64 {
    u64::from_be_bytes(item[..8].try_into().expect("an item has twelve bytes"))
}

fn number_in(item: &[u8]) -> f64 {
    let key = key_in(item);
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

fn row_in(item: &[u8]) -> RowNumber {
    RowNumber::from_be_bytes(item[8..].try_into().expect("an item has twelve bytes"))
}

fn guide(number: f64) -> Guide {
    Guide { key: ordered(number), key_of: key_in, is_even: false }
}
