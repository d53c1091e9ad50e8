//! Removes items at many positions, a part of the list at a time.
//!
//! ```text
//!   kept: the items before, without removed ones | a part of some leaves | rest
//!                                      ^--- append -----' `--- split off ---^
//! ```
//!
//! Leaves without removed items move over unchanged, shared with other holders.

use crate::BlockList;
use crate::node::Kind;
use crate::search::weight;

/// A removal in progress. On a clone it does not affect the original, so a long one blocks nobody.
pub struct Removal {
    kept: BlockList,
    rest: BlockList,
    /// Index in the list at which `rest` began.
    at: u64,
    /// The rest of the current run.
    run: Option<(u64, u64)>,
}

impl Removal {
    /// Begins with all of `list`.
    pub fn new(list: BlockList) -> Removal {
        Removal { kept: BlockList::new(), rest: list, at: 0, run: None }
    }

    /// Processes about `bytes_max` of leaves with removed items, at least one leaf. Returns true when done. `next`
    /// returns runs, as first index in the list and count, ascending and non-overlapping.
    ///
    /// # Panics
    /// If a run exceeds the list or precedes the one before it: the caller's bug.
    pub fn step(&mut self, bytes_max: u64, next: &mut impl FnMut() -> Option<(u64, u64)>) -> bool {
        self.run = self.run.take().or_else(&mut *next);
        let Some((start, _)) = self.run else {
            self.kept.append(std::mem::take(&mut self.rest));
            return true;
        };
        let gap = start.checked_sub(self.at).expect("runs ascend");
        assert!(gap < self.rest.len());
        if gap >= leading_items(&self.rest, bytes_max) {
            let whole = self.take(leaf_start(&self.rest, gap));
            self.kept.append(whole);
        }
        let (from, items) = (self.at, leading_items(&self.rest, bytes_max));
        let mut part = self.take(items);
        let mut positions = Vec::new();
        while let Some((start, count)) = self.run.filter(|(start, _)| *start < from + items) {
            assert!(count > 0);
            assert!(start >= positions.last().map_or(from, |last| from + last + 1));
            let end = start.checked_add(count).expect("a run within the list");
            positions.extend(start - from..end.min(from + items) - from);
            self.run = if end > from + items { Some((from + items, end - from - items)) } else { next() };
        }
        part.remove_many(&positions);
        self.kept.append(part);
        false
    }

    /// Takes the list after the removal, which must be done.
    pub fn take_list(&mut self) -> BlockList {
        assert!(self.rest.is_empty());
        std::mem::take(&mut self.kept)
    }

    fn take(&mut self, items: u64) -> BlockList {
        let rest = self.rest.split_off(items);
        self.at += items;
        std::mem::replace(&mut self.rest, rest)
    }
}

/// Returns the number of items in the leading leaves of about `bytes_max`, at least one leaf. The list is non-empty.
fn leading_items(list: &BlockList, bytes_max: u64) -> u64 {
    let mut node = list.root.as_ref().expect("a list that has items");
    let (mut items, mut left) = (0, bytes_max);
    'down: while let Kind::Inner(inner) = node.kind() {
        for (here, child) in inner.children() {
            let bytes = weight(child);
            if bytes > left {
                node = child;
                continue 'down;
            }
            left -= bytes;
            items += here;
        }
        return items;
    }
    if items == 0 { node.items() } else { items }
}

/// Returns the start of the leaf that holds `index`.
fn leaf_start(list: &BlockList, index: u64) -> u64 {
    let mut node = list.root.as_ref().expect("a list that has items");
    let mut rest = index;
    while let Kind::Inner(inner) = node.kind() {
        let (child, within) = inner.seek(rest);
        (node, rest) = (inner.child(child), within);
    }
    index - rest
}
