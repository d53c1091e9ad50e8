//! Lists whose items are in an order that their owner knows: finding where an item is, or belongs, by looking at few.
//!
//! ```text
//!   before: | yes yes yes | yes yes  no | no  no  no |        one look at the first item of a child for each halving,
//!                              ▲     ▲                        then the same among the items of one leaf
//! ```

use crate::BlockList;
use crate::node::{Kind, Node};
use std::ops::Range;

impl BlockList {
    /// How many items `is_before` holds for, which must be those at the head: as [`slice::partition_point`]. Looks at
    /// O(log n) items.
    pub fn partition_point(&self, is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        self.partition_point_within(0..self.len(), is_before)
    }

    /// As [`BlockList::partition_point`] among the items of `range` alone: the first index for whose item `is_before`
    /// does not hold, or the range's end.
    ///
    /// # Panics
    /// If the range leaves the list.
    pub fn partition_point_within(&self, range: Range<u64>, mut is_before: impl FnMut(&[u8]) -> bool) -> u64 {
        assert!(range.start <= range.end);
        assert!(range.end <= self.len());
        match &self.root {
            Some(root) if !range.is_empty() => partition_point(root, range, &mut is_before),
            _ => range.start,
        }
    }
}

/// The range has items and lies within those of `root`.
fn partition_point(root: &Node, range: Range<u64>, is_before: &mut impl FnMut(&[u8]) -> bool) -> u64 {
    let (mut node, mut base, Range { mut start, mut end }) = (root, 0, range);
    loop {
        match node.kind() {
            Kind::Leaf(leaf) => {
                let look = |index| leaf.item(index, &mut *is_before);
                return base + halve(start as usize, end as usize, look) as u64;
            }
            Kind::Inner(inner) => {
                // The point is in the last child that begins before it, or at its end; the first one is not looked at.
                let (first_at, last_at) = (inner.seek(start).0, inner.seek(end - 1).0);
                let at = halve(first_at + 1, last_at + 1, |at| first(inner.child(at), &mut *is_before)) - 1;
                let passed = (0..at).map(|before| inner.items_of(before)).sum::<u64>();
                base += passed;
                start = start.saturating_sub(passed);
                end = (end - passed).min(inner.items_of(at));
                node = inner.child(at);
            }
        }
    }
}

/// The first index of `from..to` for which `is_before` does not hold.
fn halve(mut from: usize, mut to: usize, mut is_before: impl FnMut(usize) -> bool) -> usize {
    while from < to {
        let middle = from + (to - from) / 2;
        if is_before(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// What `look` says of a node's first item.
fn first(node: &Node, look: impl FnOnce(&[u8]) -> bool) -> bool {
    let mut node = node;
    loop {
        match node.kind() {
            Kind::Leaf(leaf) => return leaf.item(0, look),
            Kind::Inner(inner) => node = inner.child(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    #[test]
    fn every_point_is_found_in_lists_of_every_height() {
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
    fn a_point_is_found_within_a_range_of_which_alone_is_asked() {
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

    #[test]
    fn few_items_are_looked_at() {
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
