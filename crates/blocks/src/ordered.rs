//! Searches lists ordered by their owner: finds an item's position, or its insertion point, with few probes.
//!
//! ```text
//!   before: | yes yes yes | yes yes  no | no  no  no |        a binary search over the first items of the children,
//!                              ▲     ▲                        then the same among the items of one leaf
//! ```
//!
//! If a number decides most comparisons, the numbers of the children's first items are kept beside the children. For
//! evenly distributed numbers, such as hashes, the first probes interpolate between the numbers at the ends.

use crate::node::{Kind, Node};
use crate::{BlockList, End};
use std::cmp::Ordering;
use std::ops::Range;

/// A number that distinguishes most items from the target, without looking at them.
#[derive(Clone, Copy, Debug)]
pub struct Guide {
    /// The number of the target.
    pub key: u64,
    /// Returns the number of an item: never less than the number of an earlier item. Every search of a list and its
    /// clones must use the same function, whatever part of the list it orders.
    pub key_of: fn(&[u8]) -> u64,
    /// True if the numbers are evenly distributed, like hashes: then the first probes interpolate.
    pub is_even: bool,
}

impl BlockList {
    /// Returns the number of leading items for which `is_before` holds, as [`slice::partition_point`]. Looks at O(log
    /// n) items.
    pub fn partition_point(&self, is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        self.partition_point_within(0..self.len(), is_before)
    }

    /// As [`BlockList::partition_point`] among the items of `range` alone: returns the first index for whose item
    /// `is_before` does not hold, or the range's end.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn partition_point_within(&self, range: Range<u64>, is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        self.find_point(range, None, is_before, |_| ()).0
    }

    /// As [`BlockList::partition_point_within`], where `is_before` holds for all items with a key less than the
    /// guide's, and for none with a greater one. Looks into few blocks.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn guided_point(&self, range: Range<u64>, guide: Guide, is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        self.find_point(range, Some(guide), is_before, |_| ()).0
    }

    /// As [`BlockList::guided_point`]; also returns `visit` of the item there, if it is within the range.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn guided_look<R>(
        &self,
        range: Range<u64>,
        guide: Guide,
        is_before: impl FnMut(&[u8]) -> bool,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> (u64, Option<R>) {
        self.find_point(range, Some(guide), is_before, visit)
    }

    /// Prefetches the block in which a guided search will end, as far as the numbers alone tell: a caller that is to
    /// search for several items need not wait for one block after the other. Of blocks that begin with the number it
    /// is the one before the first. A list of one block is left alone. O(log n + blocks whose numbers are not known).
    pub fn prefetch(&self, guide: Guide) {
        let Some(mut node) = self.root.as_ref() else { return };
        let mut is_before = |_: &[u8]| false;
        let mut seeking = Seeking::new(Some(guide), &mut is_before);
        while let Kind::Inner(inner) = node.kind() {
            seeking.enter();
            let begins_before =
                |seeking: &mut Seeking<'_, _>, at| seeking.decide(|key_of| inner.guide(at, key_of), |_| false);
            node = inner.child(seeking.seek(1, inner.len(), begins_before) - 1);
            if inner.is_above_leaves() {
                return node.prefetch_leaf();
            }
        }
    }

    fn find_point<R>(
        &self,
        range: Range<u64>,
        guide: Option<Guide>,
        mut is_before: impl FnMut(&[u8]) -> bool,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> (u64, Option<R>) {
        assert!(range.start <= range.end);
        assert!(range.end <= self.len());
        base::cost::count(base::cost::Work::Elements, 1);
        let mut visit = Some(visit);
        let (at, seen) = match &self.root {
            Some(root) if !range.is_empty() => find_point(root, range.clone(), guide, &mut is_before, &mut visit),
            _ => (range.start, None),
        };
        match visit {
            // It is the first item of a leaf that was not searched.
            Some(visit) if at < range.end => (at, self.get(at, visit)),
            _ => (at, seen),
        }
    }
}

/// A search for a point: in each node on the way down, and among the items of a leaf.
pub(crate) struct Seeking<'f, F> {
    is_before: &'f mut F,
    guess: Option<Guess>,
}

/// Interpolation from numbers, for a limited number of probes.
struct Guess {
    guide: Guide,
    /// Bounds of the numbers of the remaining candidates.
    least: u64,
    most: u64,
    looks_left: u32,
}

/// Probes per node after which the numbers count as uneven.
const GUESSES_MAX: u32 = 3;

impl<'f, F: FnMut(&[u8]) -> bool> Seeking<'f, F> {
    fn new(guide: Option<Guide>, is_before: &'f mut F) -> Self {
        Self { is_before, guess: guide.map(|guide| Guess { guide, least: 0, most: u64::MAX, looks_left: 0 }) }
    }

    /// Enters another node; known bounds of the numbers remain.
    fn enter(&mut self) {
        if let Some(guess) = &mut self.guess {
            guess.looks_left = if guess.guide.is_even { GUESSES_MAX } else { 0 };
        }
    }

    /// Returns the first of `from..to` for which `is_before` does not hold, or `to`.
    pub(crate) fn seek(
        &mut self,
        mut from: usize,
        mut to: usize,
        mut is_before: impl FnMut(&mut Self, usize) -> bool,
    ) -> usize {
        while from < to {
            let middle = self.next(from, to);
            if is_before(self, middle) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Returns which of the non-empty `from..to` to look at.
    pub(crate) fn next(&self, from: usize, to: usize) -> usize {
        match &self.guess {
            Some(Guess { guide, least, most, looks_left: 1.. }) if least < most => {
                let part = guide.key.saturating_sub(*least) as f64 / (most - least) as f64;
                (from + (part * (to - from) as f64) as usize).min(to - 1)
            }
            _ => from + (to - from) / 2,
        }
    }

    /// Returns true if the probed item is before the point.
    pub(crate) fn is_before(&mut self, item: &[u8]) -> bool {
        self.decide(|key_of| key_of(item), |is_before| is_before(item))
    }

    /// Decides the same by its number, at least 1; looks at the item if the number does not decide.
    fn decide(&mut self, key: impl FnOnce(fn(&[u8]) -> u64) -> u64, look: impl FnOnce(&mut F) -> bool) -> bool {
        let Some(guess) = &mut self.guess else { return look(self.is_before) };
        let key = key(guess.guide.key_of).max(1);
        let is_before = match key.cmp(&guess.guide.key.max(1)) {
            Ordering::Less => true,
            Ordering::Equal => look(self.is_before),
            Ordering::Greater => false,
        };
        *(if is_before { &mut guess.least } else { &mut guess.most }) = key;
        guess.looks_left = guess.looks_left.saturating_sub(1);
        is_before
    }
}

/// Finds the point. The range is non-empty and within `root`. Visits the item there if it is in the leaf where the
/// search ends.
fn find_point<R>(
    root: &Node,
    range: Range<u64>,
    guide: Option<Guide>,
    is_before: &mut impl FnMut(&[u8]) -> bool,
    visit: &mut Option<impl FnOnce(&[u8]) -> R>,
) -> (u64, Option<R>) {
    let (mut node, mut base, Range { mut start, mut end }) = (root, 0, range);
    let mut seeking = Seeking::new(guide, is_before);
    loop {
        seeking.enter();
        match node.kind() {
            Kind::Leaf(leaf) => {
                let (at, seen) = leaf.point((start as usize, end as usize), seeking, visit);
                return (base + at as u64, seen);
            }
            Kind::Inner(inner) => {
                // The point is in the last child that begins before it, or at its end; the first child needs no probe.
                let first_at = if start == 0 { 0 } else { inner.seek(start).0 };
                let last_at = if end == inner.items() { inner.len() - 1 } else { inner.seek(end - 1).0 };
                let begins_before = |seeking: &mut Seeking<'_, _>, at| {
                    seeking
                        .decide(|key_of| inner.guide(at, key_of), |is_before| inner.child(at).end(End::Head, is_before))
                };
                let at = seeking.seek(first_at + 1, last_at + 1, begins_before) - 1;
                let passed = (0..at).map(|before| inner.items_of(before)).sum::<u64>();
                base += passed;
                start = start.saturating_sub(passed);
                end = (end - passed).min(inner.items_of(at));
                node = inner.child(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_points_are_found_at_every_tree_height() {
        for count in [0u64, 1, 2, 300, 2_000, 50_000] {
            let mut list = BlockList::new();
            (0..count).for_each(|number| list.push(End::Tail, &(2 * number).to_be_bytes()));
            for point in (0..=count).step_by(1.max(count as usize / 500)).chain([count]) {
                let key = (2 * point).saturating_sub(1).to_be_bytes();
                assert_eq!(list.partition_point(|item| *item < key[..]), point, "of {count}");
            }
        }
    }

    #[test]
    fn a_search_within_a_range_probes_only_that_range() {
        for count in [1u64, 2, 300, 2_000, 50_000] {
            let mut list = BlockList::new();
            (0..count).for_each(|number| list.push(End::Tail, &number.to_be_bytes()));
            let edges = [0, 1, count / 3, count / 2, count - 1, count].map(|edge| edge.min(count));
            for range in edges.iter().flat_map(|start| edges.map(|end| *start..end)).filter(|it| it.start <= it.end) {
                for point in [range.start, range.end, range.start + (range.end - range.start) / 2] {
                    let found = list.partition_point_within(range.clone(), |item| {
                        let number = u64::from_be_bytes(item.try_into().expect("eight bytes"));
                        assert!(range.contains(&number), "{number} is not in {range:?}");
                        number < point
                    });
                    assert_eq!(found, point, "of {range:?} of {count}");
                }
            }
        }
    }

    /// Guides stay correct through any change of the list; an assertion in `Inner::guide` would also find a stale one.
    #[test]
    fn guided_searches_stay_correct_after_any_change() {
        fn key_of(item: &[u8]) -> u64 {
            u64::from_be_bytes(item[..8].try_into().expect("eight bytes")) / 3
        }
        let number = |item: &[u8]| u64::from_be_bytes(item[..8].try_into().expect("eight bytes"));
        let mut list = BlockList::new();
        (0..20_000u64).for_each(|nth| list.push(End::Tail, &(10 * nth).to_be_bytes()));
        let mut dice = 1u64;
        let mut draw = |below: u64| {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) % below
        };
        let mut clones = Vec::new();
        for turn in 0..6_000 {
            let sought = draw(200_000);
            let guide = Guide { key: sought / 3, key_of, is_even: turn % 2 == 0 };
            let at = list.guided_point(0..list.len(), guide, |item| number(item) < sought);
            assert_eq!(at, list.partition_point(|item| number(item) < sought), "turn {turn}");
            match draw(8) {
                0..=2 => list.insert(at, &sought.to_be_bytes()),
                3 if at < list.len() => list.remove(at),
                4 if at + 40 < list.len() => {
                    let mut cut = list.split_off(at);
                    let rest = cut.split_off(draw(40));
                    list.append(rest);
                }
                5 => list.push(End::Head, &0u64.to_be_bytes()),
                6 => {
                    clones.push(list.clone());
                    clones.truncate(3);
                }
                _ => {}
            }
            for clone in &clones {
                let at = clone.guided_point(0..clone.len(), guide, |item| number(item) < sought);
                assert_eq!(at, clone.partition_point(|item| number(item) < sought), "a clone in turn {turn}");
            }
        }
    }

    /// Returns the insertion point of `key` among items with these numbers, and the number of probes.
    fn seek(keys: &[u64], key: u64) -> (usize, usize) {
        fn key_of(item: &[u8]) -> u64 {
            u64::from_be_bytes(item.try_into().expect("eight bytes"))
        }
        let is_before = &mut |_: &[u8]| false;
        let mut seeking = Seeking::new(Some(Guide { key, key_of, is_even: true }), is_before);
        seeking.enter();
        let guess = seeking.guess.as_mut().expect("it has a guide");
        (guess.least, guess.most) = (keys[0], keys[keys.len() - 1]);
        let mut looks = 0;
        let at = seeking.seek(0, keys.len(), |seeking, at| {
            looks += 1;
            seeking.is_before(&keys[at].to_be_bytes())
        });
        (at, looks)
    }

    #[test]
    fn interpolation_needs_few_probes_and_degrades_to_binary_search() {
        let mut random: Vec<u64> = (1..=300u64).map(|nth| base::hash::order(&nth.to_be_bytes())).collect();
        random.sort_unstable();
        let doubled: Vec<u64> = (0..300).map(|nth| 1 << (nth / 5)).collect();
        for (keys, looks_mean, looks_max) in [(random, 5, 11), (doubled, 11, 12), (vec![7; 300], 9, 9)] {
            let mut sum = 0;
            for key in keys.iter().flat_map(|key| [key - 1, *key, key + 1]) {
                let (at, looks) = seek(&keys, key);
                assert_eq!(at, keys.partition_point(|other| *other < key), "{key} in {keys:?}");
                assert!(looks <= looks_max, "{looks} looks");
                sum += looks;
            }
            assert!(sum / (3 * keys.len()) <= looks_mean, "{sum} looks");
        }
    }

    #[test]
    fn a_search_of_a_million_items_takes_few_probes() {
        let mut list = BlockList::new();
        (0..1_000_000u64).for_each(|number| list.push(End::Tail, &number.to_be_bytes()));
        let mut looks = 0;
        list.partition_point(|item| {
            looks += 1;
            *item < 777_777u64.to_be_bytes()[..]
        });
        assert!(looks <= 24, "{looks} looks");
    }
}
