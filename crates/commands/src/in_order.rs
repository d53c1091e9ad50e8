//! An incremental sort of very many items, in short steps.
//!
//! ```text
//! push --> current run, up to 1,024   --full: sorted-->   runs   <-- a heap of their least items <-- next
//! ```
//!
//! Items with equal keys keep their order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::vec::IntoIter;

/// The maximum length of a run: sorted in at most about 200 µs.
const RUN_MAX: usize = 1024;

/// Keyed items, returned in ascending order.
pub(crate) struct InOrder<K, T> {
    at_hand: Vec<(K, T)>,
    runs: Vec<IntoIter<(K, T)>>,
    /// The first item of each run.
    heads: BinaryHeap<Reverse<Head<K, T>>>,
    len: usize,
}

struct Head<K, T> {
    key: K,
    thing: T,
    run: usize,
}

impl<K: Ord, T> InOrder<K, T> {
    pub(crate) fn new() -> Self {
        Self { at_hand: Vec::new(), runs: Vec::new(), heads: BinaryHeap::new(), len: 0 }
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds an item; not to be called after [`InOrder::next`].
    pub(crate) fn push(&mut self, key: K, thing: T) {
        self.len += 1;
        self.at_hand.push((key, thing));
        if self.at_hand.len() == RUN_MAX {
            self.end_run();
        }
    }

    /// Removes and returns the least item left.
    pub(crate) fn next(&mut self) -> Option<(K, T)> {
        if !self.at_hand.is_empty() {
            self.end_run();
        }
        let Reverse(Head { key, thing, run }) = self.heads.pop()?;
        self.len -= 1;
        self.show_head(run);
        Some((key, thing))
    }

    fn end_run(&mut self) {
        let mut things = std::mem::take(&mut self.at_hand);
        things.sort_by(|(key, _), (other, _)| key.cmp(other));
        self.runs.push(things.into_iter());
        self.show_head(self.runs.len() - 1);
    }

    fn show_head(&mut self, run: usize) {
        if let Some((key, thing)) = self.runs[run].next() {
            self.heads.push(Reverse(Head { key, thing, run }));
        }
    }
}

impl<K: Ord, T> Ord for Head<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.run.cmp(&other.run))
    }
}

impl<K: Ord, T> PartialOrd for Head<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for Head<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, T> Eq for Head<K, T> {}

/// A comparable number; no NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl Eq for Number {}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn in_order_sorts_stably(keys in prop::collection::vec(0u8..50, 0..5_000)) {
            let mut in_order = InOrder::new();
            keys.iter().enumerate().for_each(|(at, key)| in_order.push(*key, at));
            let mut expected: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            expected.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(in_order.len(), expected.len());
            let found: Vec<(u8, usize)> = std::iter::from_fn(|| in_order.next()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
