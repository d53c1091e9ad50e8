//! A quantile of numbers that come one by one, exactly.
//!
//! ```text
//!   low, the greatest on top: a share of all numbers | high, the least on top: the others
//! ```
//!
//! The quantile is the top of `low`. A number costs O(log n), the result O(1).

use crate::value::OrderedNumber;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The excess of a product of share and count that rounding may cause.
const ROUNDING: f64 = 1e-9;

/// Numbers around a quantile.
#[derive(Debug)]
pub(super) struct RunningQuantile {
    share: f64,
    low: BinaryHeap<OrderedNumber>,
    high: BinaryHeap<Reverse<OrderedNumber>>,
}

impl RunningQuantile {
    pub(super) fn new(share: f64) -> Self {
        Self { share, low: BinaryHeap::new(), high: BinaryHeap::new() }
    }

    pub(super) fn add(&mut self, number: f64) {
        let number = OrderedNumber(number);
        if self.low.peek().is_some_and(|top| number < *top) {
            self.low.push(number);
        } else {
            self.high.push(Reverse(number));
        }
        let low_count = low_count(self.share, self.low.len() + self.high.len());
        if self.low.len() > low_count {
            self.high.extend(self.low.pop().map(Reverse));
        } else if self.low.len() < low_count {
            self.low.extend(self.high.pop().map(|Reverse(number)| number));
        }
    }

    /// Returns the quantile, NaN of no numbers.
    pub(super) fn result(&self) -> f64 {
        self.low.peek().map_or(f64::NAN, |number| number.0)
    }

    /// Returns the bytes that it occupies. O(1)
    pub(super) fn heap_bytes(&self) -> usize {
        (self.low.capacity() + self.high.capacity()) * size_of::<f64>()
    }
}

/// Returns how many of so many numbers the quantile is not less than: the nearest rank.
pub(super) fn low_count(share: f64, count: usize) -> usize {
    ((share * count as f64 - ROUNDING).ceil().max(1.0) as usize).min(count)
}
