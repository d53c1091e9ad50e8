//! Searches a list without blocking anybody: in steps over a clone, then again in the list as changed since.
//!
//! ```text
//!   clone   [ searched, nodes noted by address .......... | a step | not yet ]
//!   now     [ a node of the clone: skipped | a new leaf: searched | a node of the clone: skipped ]
//! ```
//!
//! The clone keeps its nodes alive and unchanged, so a node of another list at an address noted here *is* the clone's
//! node. The matches below it are valid in the other list too, shifted to the node's present index.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::node::{Kind, Node};
use crate::{BlockList, Direction, Runs, walk};

/// A search for all items equal to a needle, or for the first of them from an end.
pub struct Search {
    list: BlockList,
    needle: Vec<u8>,
    direction: Direction,
    limit: u64,
    /// The index at which the search continues; `None` once done.
    from: Option<u64>,
    found: Arc<Runs>,
    /// First indices of completely searched nodes, by address; `None` if not needed.
    noted: Option<BTreeMap<usize, u64>>,
}

impl Search {
    /// Searches `list` for up to `limit` items that equal `needle`, forward from the head or backward from the tail.
    pub fn new(list: BlockList, needle: &[u8], direction: Direction, limit: u64) -> Search {
        let from = match direction {
            Direction::Forward => (!list.is_empty()).then_some(0),
            Direction::Backward => list.len().checked_sub(1),
        };
        let from = from.filter(|_| limit > 0);
        Search { list, needle: needle.to_vec(), direction, limit, from, found: Arc::default(), noted: None }
    }

    /// Keeps what [`Search::again`] needs; call before the first step.
    #[must_use]
    pub fn repeatable(self) -> Search {
        Search { noted: Some(BTreeMap::new()), ..self }
    }

    /// Returns the list searched.
    pub fn list(&self) -> &BlockList {
        &self.list
    }

    /// Searches about `bytes_max` more, at least a leaf. Returns true when done.
    pub fn step(&mut self, bytes_max: u64) -> bool {
        let mut bytes = 0;
        while let Some(at) = self.from
            && bytes < bytes_max
        {
            bytes += self.search_leaf(at);
        }
        self.from.is_none()
    }

    /// Returns the indices found so far, in search order: ascending forward, descending backward.
    pub fn found(&self) -> &Arc<Runs> {
        &self.found
    }

    /// Returns what this search, which is done and [`Search::repeatable`], finds in a list that has changed since.
    /// Reads only nodes that are not the clone's, and those that the search never reached. O(changes · log n + found).
    pub fn again(&self, now: &BlockList) -> Runs {
        assert!(self.from.is_none());
        let mut found = Runs::default();
        if let Some(root) = &now.root {
            self.search_anew(root, 0, &mut found);
        }
        found
    }

    /// Searches the leaf that holds `at`; returns its cost in bytes.
    fn search_leaf(&mut self, at: u64) -> u64 {
        let Search { list, needle, direction, limit, found, noted, .. } = self;
        let found = Arc::make_mut(found);
        let mut node = list.root.as_ref().expect("an index of a list that has items");
        let mut start = 0;
        let mut path = Vec::new();
        loop {
            if noted.is_some() {
                path.push((node.address(), start, node.items()));
            }
            let Kind::Inner(inner) = node.kind() else { break };
            let (child, rest) = inner.seek(at - start);
            start = at - rest;
            node = inner.child(child);
        }
        find_all(node, start, needle, *direction, *limit, found);
        let end = start + node.items();
        if found.items() == *limit {
            self.from = None;
            return weight(node);
        }
        if let Some(noted) = noted {
            let is_over = |from: u64, items: u64| match direction {
                Direction::Forward => from + items == end,
                Direction::Backward => from == start,
            };
            let over = path.iter().filter(|(_, from, items)| is_over(*from, *items));
            noted.extend(over.map(|(address, from, _)| (*address, *from)));
        }
        self.from = match direction {
            Direction::Forward => (end < list.len()).then_some(end),
            Direction::Backward => start.checked_sub(1),
        };
        weight(node)
    }

    fn search_anew(&self, node: &Node, start: u64, found: &mut Runs) {
        if found.items() == self.limit {
            return;
        }
        let noted = self.noted.as_ref().expect("`repeatable` was called before the first step");
        if let Some(&was) = noted.get(&node.address()) {
            return self.move_found(was, node.items(), start, found);
        }
        let Kind::Inner(inner) = node.kind() else {
            return find_all(node, start, &self.needle, self.direction, self.limit, found);
        };
        match self.direction {
            Direction::Forward => {
                let mut start = start;
                for (items, child) in inner.children() {
                    self.search_anew(child, start, found);
                    start += items;
                }
            }
            Direction::Backward => {
                let mut end = start + inner.items();
                for (items, child) in inner.children().rev() {
                    end -= items;
                    self.search_anew(child, end, found);
                }
            }
        }
    }

    /// Adds the matches among the `items` from `was` on, which now begin at `start`.
    fn move_found(&self, was: u64, items: u64, start: u64, found: &mut Runs) {
        let end = was + items;
        let is_before = |&(from, count): &(u64, u64)| match self.direction {
            Direction::Forward => from + count <= was,
            Direction::Backward => from >= end,
        };
        let first = self.found.partition_point(is_before);
        for (from, count) in (first..self.found.runs()).map(|at| self.found.run(at)) {
            let (from, to) = (from.max(was), (from + count).min(end));
            if from >= to {
                break;
            }
            add(found, from - was + start, to - from, self.direction, self.limit);
        }
    }
}

impl BlockList {
    /// Returns the indices of up to `limit` items that equal `needle`, in search order. O(items passed).
    pub fn find_all(&self, needle: &[u8], direction: Direction, limit: u64) -> Arc<Runs> {
        let mut search = Search::new(self.clone(), needle, direction, limit);
        while !search.step(u64::MAX) {}
        search.found
    }
}

/// Adds the items of a leaf that equal `needle`.
fn find_all(leaf: &Node, start: u64, needle: &[u8], direction: Direction, limit: u64, found: &mut Runs) {
    let items = leaf.items();
    let from = if direction == Direction::Forward { 0 } else { items - 1 };
    let Some(first) = walk::find(leaf, needle, from, direction) else { return };
    add(found, start + first, 1, direction, limit);
    // Most leaves have no match; a leaf with matches is read once, however many it has.
    let mut at = first;
    let mut visit = |item: &[u8]| {
        at = if direction == Direction::Forward { at + 1 } else { at - 1 };
        if item == needle {
            add(found, start + at, 1, direction, limit);
        }
        if found.items() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (rest, count) = match direction {
        Direction::Forward => (first + 1, items - first - 1),
        Direction::Backward => (0, first),
    };
    if count > 0 {
        let _ = walk::walk(leaf, rest, count, direction, &mut visit);
    }
}

/// Adds a run, or the part of it within the limit, in search order.
fn add(found: &mut Runs, start: u64, count: u64, direction: Direction, limit: u64) {
    let taken = count.min(limit - found.items());
    let start = if direction == Direction::Forward { start } else { start + count - taken };
    if taken > 0 {
        found.add(start, taken);
    }
}

/// Returns the approximate cost of passing a node, in bytes: empty items cost too.
pub(crate) fn weight(node: &Node) -> u64 {
    let totals = node.totals();
    totals.content + totals.items
}
