//! Searches lists ordered by their owner: finds an item's position, or its insertion point, with few probes.
//!
//! ```text
//!   before: | yes yes yes | yes yes  no | no  no  no |        a binary search over the first items of the children,
//!                              ▲     ▲                        then the same among the items of one leaf
//! ```
//!
//! If a number decides most comparisons, the numbers of the children's first items are kept beside the children. For
//! evenly distributed numbers, such as hashes, the first probes interpolate between the numbers at the ends.

use crate::cursor::Cursor;
use crate::inner::Inner;
use crate::node::{Kind, Node};
use crate::{BlockList, End};
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
        self.index_of(self.find_cursor(range, None, is_before, |_| ()).0)
    }

    /// As [`BlockList::partition_point_within`], where `is_before` holds for all items with a key less than the
    /// guide's, and for none with a greater one. Looks into few blocks.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn guided_point(&self, range: Range<u64>, guide: Guide, is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        self.index_of(self.find_cursor(range, Some(guide), is_before, |_| ()).0)
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
        let (cursor, seen) = self.find_cursor(range, Some(guide), is_before, visit);
        (self.index_of(cursor), seen)
    }

    /// Prefetches the block in which a guided search will end, as far as the numbers alone tell: a caller that is to
    /// search for several items need not wait for one block after the other. Of blocks that begin with the number it
    /// is the one before the first. A list of one block is left alone. O(log n + blocks whose numbers are not known).
    pub fn prefetch(&self, guide: Guide) {
        let Some(mut node) = self.root.as_ref() else { return };
        while let Kind::Inner(inner) = node.kind() {
            node = inner.child(inner.seek_guide(1, inner.len(), guide.key.max(1), guide.key_of) - 1);
            if inner.is_above_leaves() {
                return node.prefetch_leaf();
            }
        }
    }

    /// As [`BlockList::guided_look`], for a change there, and with or without a guide.
    ///
    /// # Panics
    /// If the range exceeds the list.
    pub fn find_cursor<R>(
        &self,
        range: Range<u64>,
        guide: Option<Guide>,
        mut is_before: impl FnMut(&[u8]) -> bool,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> (Cursor, Option<R>) {
        assert!(range.start <= range.end);
        assert!(range.end <= self.len());
        base::cost::count(base::cost::Work::Elements, 1);
        let Some(root) = &self.root else { return (Cursor::default(), None) };
        if range.is_empty() {
            return (Cursor::of_index(root, range.start), None);
        }
        let mut visit = Some(visit);
        let (cursor, seen) = find_point(root, range.clone(), guide, &mut is_before, &mut visit);
        match visit {
            // It may be the first item of a leaf that was not searched.
            Some(visit) if cursor.within() as u64 == cursor.leaf(root).items() => {
                let is_inside = |next: &Cursor| range.end == root.items() || next.index(root) < range.end;
                let next = cursor.next_leaf(root).filter(is_inside);
                next.map_or((cursor, None), |next| (next, Some(next.leaf(root).end(End::Head, visit))))
            }
            _ => (cursor, seen),
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

    /// Returns the first of the children `from..to` that does not begin before the point, or `to`.
    fn seek_child(&mut self, inner: &Inner, mut from: usize, mut to: usize) -> usize {
        if let Some(Guess { guide, least, most, .. }) = &mut self.guess {
            let (key, key_of) = (guide.key.max(1), guide.key_of);
            let (first, end) = (from, to);
            from = inner.seek_guide(from, to, key, key_of);
            if from > first {
                *least = inner.guide(from - 1, key_of);
            }
            if from == end || inner.guide(from, key_of) > key {
                if from < end {
                    *most = inner.guide(from, key_of);
                }
                return from;
            }
            // Numbers that are equal decide nothing.
            to = key.checked_add(1).map_or(to, |next| inner.seek_guide(from, to, next, key_of));
        }
        self.seek(from, to, |seeking, at| inner.child(at).end(End::Head, &mut *seeking.is_before))
    }

    /// Returns about which part of the items to come is before the point, in 256 parts.
    fn share(&self) -> u64 {
        match &self.guess {
            Some(Guess { guide, least, most, .. }) if guide.is_even && least < most => {
                (guide.key.saturating_sub(*least) / (((most - least) >> 8) + 1)).min(255)
            }
            _ => 128,
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

    /// Returns true if the probed item of a leaf is before the point. By its number, where the next probe depends on
    /// that.
    #[inline]
    pub(crate) fn is_before(&mut self, item: &[u8]) -> bool {
        let Some(guess) = self.guess.as_mut().filter(|guess| guess.looks_left > 0) else {
            return (self.is_before)(item);
        };
        let (key, sought) = ((guess.guide.key_of)(item), guess.guide.key);
        let is_before = if key == sought { (self.is_before)(item) } else { key < sought };
        *(if is_before { &mut guess.least } else { &mut guess.most }) = key;
        guess.looks_left -= 1;
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
) -> (Cursor, Option<R>) {
    let (mut node, Range { mut start, mut end }) = (root, range);
    let mut cursor = Cursor::default();
    let mut seeking = Seeking::new(guide, is_before);
    loop {
        match node.kind() {
            Kind::Leaf(leaf) => {
                seeking.enter();
                let (at, seen) = leaf.point((start as usize, end as usize), seeking, visit);
                cursor.enter_leaf(at);
                return (cursor, seen);
            }
            Kind::Inner(inner) => {
                // The point is in the last child that begins before it, or at its end; the first child needs no probe.
                let (first_at, first_start) = if start == 0 { (0, 0) } else { inner.seek(start) };
                let (last_at, last_end) = if end == inner.items() {
                    (inner.len() - 1, None)
                } else {
                    let (at, last) = inner.seek(end - 1);
                    (at, Some(last + 1))
                };
                let at = seeking.seek_child(inner, first_at + 1, last_at + 1) - 1;
                start = if at == first_at { first_start } else { 0 };
                end = last_end.filter(|_| at == last_at).unwrap_or_else(|| inner.items_of(at));
                cursor.enter(node.level(), at);
                node = inner.child(at);
                if inner.is_above_leaves() {
                    node.prefetch_items(seeking.share() * inner.leaf_bytes(at) / 256);
                }
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
        for turn in 0..9_000 {
            let sought = draw(200_000);
            let guide = Guide { key: sought / 3, key_of, is_even: turn % 2 == 0 };
            let at = list.guided_point(0..list.len(), guide, |item| number(item) < sought);
            assert_eq!(at, list.partition_point(|item| number(item) < sought), "turn {turn}");
            let (cursor, seen) = list.find_cursor(0..list.len(), Some(guide), |item| number(item) < sought, number);
            assert_eq!((list.index_of(cursor), seen), (at, list.get(at, number)), "turn {turn}");
            match draw(14) {
                9 | 10 if seen.is_some() => list.remove_at(cursor),
                11 if list.len() > 1_000 => drop(list.pop(if turn % 2 == 0 { End::Head } else { End::Tail }, |_| {})),
                12 if list.len() > 1_000 => list.trim(draw(3), list.len() - 5),
                13 if at + 90 < list.len() => list.remove_many(&[at, at + 1, at + 30, at + 89]),
                0..=2 => list.insert_at(cursor, &sought.to_be_bytes()),
                8 if seen.is_some() => list.set_at(cursor, &sought.to_be_bytes()),
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
        let is_before = &mut |item: &[u8]| key_of(item) < key;
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
