//! A list of byte strings: the public interface of the tree.

use std::fmt;
use std::mem;
use std::ops::ControlFlow;

use crate::cursor::Cursor;
use crate::inner::Inner;
use crate::leaf::{ITEM_BYTES_MAX, Lean};
use crate::node::{Kind, Node, Totals};
use crate::removal::Removal;
use crate::tree::{self, Change};
use crate::walk::{self, Visit};
use crate::{Direction, End};

/// An ordered list of byte strings, packed into blocks.
///
/// Eight bytes; a clone is O(1) and shares every block until one side writes, which copies only the path written.
/// Indices and counts out of range are the caller's bug and panic. An item has at most [`ITEM_BYTES_MAX`] bytes.
///
/// Dropping the last reference to a list is O(blocks); hand large ones to a background thread.
#[derive(Clone, Default)]
pub struct BlockList {
    pub(crate) root: Option<Node>,
}

const _: () = assert!(size_of::<BlockList>() == 8);

/// Bytes of a list processed at a time by a removal of many runs.
const PART_BYTES: u64 = 64 << 10;

impl BlockList {
    /// Creates an empty list; allocates nothing.
    pub const fn new() -> BlockList {
        BlockList { root: None }
    }

    /// Returns the number of items. O(1).
    pub fn len(&self) -> u64 {
        self.root.as_ref().map_or(0, Node::items)
    }

    /// Returns true if there are no items. O(1).
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Returns the total bytes of all items. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.totals().content
    }

    /// Returns the bytes allocated; blocks shared with a clone count in each. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.totals().heap
    }

    pub(crate) fn totals(&self) -> Totals {
        self.root.as_ref().map_or(Totals::default(), Node::totals)
    }

    /// Returns true if both are clones, neither changed since. O(1).
    pub fn shares_root_with(&self, other: &BlockList) -> bool {
        match (&self.root, &other.root) {
            (Some(mine), Some(theirs)) => mine.same_as(theirs),
            (mine, theirs) => mine.is_none() && theirs.is_none(),
        }
    }

    /// Pushes an item at an end. O(log n), nearly always in place.
    pub fn push(&mut self, end: End, item: &[u8]) {
        assert!(item.len() <= ITEM_BYTES_MAX);
        let Some(root) = &mut self.root else {
            self.root = Some(Node::leaf_alone(end, item));
            return;
        };
        let Some(extra) = tree::push(root, end, item, Lean::Mostly(end)) else { return };
        self.raise(|root| match end {
            End::Head => vec![extra, root],
            End::Tail => vec![root, extra],
        });
    }

    /// Passes the item at an end to `visit` and removes it; returns false, without a call, if there is none. O(log n).
    pub fn pop(&mut self, end: End, visit: impl FnOnce(&[u8])) -> bool {
        let Some(root) = &mut self.root else { return false };
        root.end(end, visit);
        if root.items() == 1 {
            self.root = None;
        } else {
            let nodes = tree::pop(root, end);
            self.follow(nodes);
        }
        true
    }

    /// Passes up to `count` items, outermost first, to `visit` and removes all of them, seen or not; returns how many
    /// were removed. O(log n + count).
    pub fn pop_many(&mut self, end: End, count: u64, visit: &mut impl Visit) -> u64 {
        let count = count.min(self.len());
        let _ = match end {
            End::Head => self.walk(0, count, Direction::Forward, visit),
            End::Tail => self.walk(self.len() - count, count, Direction::Backward, visit),
        };
        self.discard(end, count);
        count
    }

    /// Returns `visit` of the item at `index`; `None` if there is none. O(log n).
    pub fn get<R>(&self, index: u64, visit: impl FnOnce(&[u8]) -> R) -> Option<R> {
        if index >= self.len() {
            return None;
        }
        let mut node = self.root.as_ref()?;
        if index == 0 || index == self.len() - 1 {
            return Some(node.end(if index == 0 { End::Head } else { End::Tail }, visit));
        }
        let mut rest = index;
        loop {
            match node.kind() {
                Kind::Leaf(leaf) => return Some(leaf.item(rest as usize, visit)),
                Kind::Inner(inner) => {
                    let (at, within) = inner.seek(rest);
                    node = inner.child(at);
                    rest = within;
                }
            }
        }
    }

    /// Returns the index of a position. O(log n).
    pub fn index_of(&self, cursor: Cursor) -> u64 {
        self.root.as_ref().map_or(0, |root| cursor.index(root))
    }

    /// Returns the position of the item at `index`, or of the end if that is the length. O(log n).
    pub fn cursor(&self, index: u64) -> Cursor {
        assert!(index <= self.len());
        self.root.as_ref().map_or(Cursor::default(), |root| Cursor::of_index(root, index))
    }

    /// Replaces the item at a position. O(log n).
    pub fn set_at(&mut self, cursor: Cursor, item: &[u8]) {
        self.splice(&cursor, 1, Some(item));
    }

    /// Inserts an item before the one at a position, or at the end. O(log n).
    pub fn insert_at(&mut self, cursor: Cursor, item: &[u8]) {
        match &self.root {
            None => self.push(End::Tail, item),
            Some(root) if cursor.is_end(root) => self.push(End::Tail, item),
            Some(root) if cursor.is_first_below(root.level() + 1) => self.push(End::Head, item),
            Some(_) => self.splice(&cursor, 0, Some(item)),
        }
    }

    /// Removes the item at a position. O(log n).
    pub fn remove_at(&mut self, cursor: Cursor) {
        self.splice(&cursor, 1, None);
    }

    /// Replaces the item at `index`. O(log n).
    pub fn set(&mut self, index: u64, item: &[u8]) {
        assert!(index < self.len());
        self.set_at(self.cursor(index), item);
    }

    /// Inserts an item before the one at `index`, or at the end if `index` is the length. O(log n).
    pub fn insert(&mut self, index: u64, item: &[u8]) {
        self.insert_at(self.cursor(index), item);
    }

    /// Removes the item at `index`. O(log n).
    pub fn remove(&mut self, index: u64) {
        assert!(index < self.len());
        self.remove_at(self.cursor(index));
    }

    /// Removes the items at these strictly ascending positions. Each affected leaf is rewritten once: O(leaves met +
    /// log n).
    pub fn remove_many(&mut self, positions: &[u64]) {
        assert!(positions.is_sorted_by(|a, b| a < b));
        let (Some(root), Some(&last)) = (&mut self.root, positions.last()) else {
            assert!(positions.is_empty());
            return;
        };
        assert!(last < root.items());
        let change = tree::remove_many(root, positions, 0);
        self.follow_change(change);
    }

    /// Removes the items of these runs, given as first index and count, ascending and non-overlapping. As
    /// [`BlockList::remove_many`], but needs no list of all positions.
    pub fn remove_runs(&mut self, mut runs: impl Iterator<Item = (u64, u64)>) {
        let mut removal = Removal::new(mem::take(self));
        while !removal.step(PART_BYTES, &mut || runs.next()) {}
        *self = removal.take_list();
    }

    /// Keeps the `count` items from `start` and drops all others. O(log n + blocks freed).
    pub fn trim(&mut self, start: u64, count: u64) {
        let len = self.len();
        assert!(start <= len);
        assert!(count <= len - start);
        let behind = len - start - count;
        // Cuts the larger part first, which copies less of shared nodes.
        let ends = if start > behind {
            [(End::Head, start), (End::Tail, behind)]
        } else {
            [(End::Tail, behind), (End::Head, start)]
        };
        ends.into_iter().for_each(|(end, dropped)| self.discard(end, dropped));
    }

    /// Splits off and returns the items from `at` on. O(log n).
    pub fn split_off(&mut self, at: u64) -> BlockList {
        let len = self.len();
        assert!(at <= len);
        if at == 0 {
            return mem::take(self);
        }
        if at == len {
            return BlockList::new();
        }
        let root = self.root.take().expect("it has items");
        let (left, right) = tree::split(root, at);
        *self = BlockList::of(left);
        BlockList::of(right)
    }

    /// Appends the items of `other`. O(log n).
    pub fn append(&mut self, other: BlockList) {
        let (left, right) = match (self.root.take(), other.root) {
            (Some(left), Some(right)) => (left, right),
            (left, right) => {
                self.root = left.or(right);
                return;
            }
        };
        let (joined, extra) = tree::join(left, right);
        self.root = Some(joined);
        if let Some(extra) = extra {
            self.raise(|root| vec![root, extra]);
        }
        self.lower();
    }

    /// Passes the `count` items from `start` to `visit`: forward from `start` on, backward from the last of them.
    /// Breaks when `visit` does. O(log n + count); a long walk can be done in steps over a clone.
    pub fn walk(&self, start: u64, count: u64, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()> {
        let len = self.len();
        assert!(start <= len);
        assert!(count <= len - start);
        match &self.root {
            Some(root) if count > 0 => walk::walk(root, start, count, direction, visit),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Returns the nearest index from `from` on, inclusive, in this direction, whose item equals `needle`. A `from`
    /// beyond the list finds nothing forward, and starts at the last item backward. O(items passed).
    pub fn find(&self, needle: &[u8], from: u64, direction: Direction) -> Option<u64> {
        let root = self.root.as_ref()?;
        let last = root.items() - 1;
        match direction {
            Direction::Forward if from > last => None,
            _ => walk::find(root, needle, from.min(last), direction),
        }
    }

    /// Creates a list of these nodes, at least one, all on one level.
    fn of(nodes: Vec<Node>) -> BlockList {
        let mut list = BlockList { root: Some(Node::inner(Inner::of(nodes))) };
        list.lower();
        list
    }

    fn discard(&mut self, end: End, count: u64) {
        let Some(root) = &mut self.root else { return };
        if count == root.items() {
            self.root = None;
        } else {
            let nodes = tree::discard(root, end, count);
            self.follow(nodes);
        }
    }

    fn splice(&mut self, cursor: &Cursor, removed: usize, item: Option<&[u8]>) {
        assert!(item.is_none_or(|item| item.len() <= ITEM_BYTES_MAX));
        let root = self.root.as_mut().expect("a position in a list that has items");
        let change = tree::splice(root, cursor, removed, item);
        self.follow_change(change);
    }

    fn follow_change(&mut self, change: Change) {
        match change {
            Change::Kept => self.lower(),
            Change::Emptied => self.root = None,
            Change::Grew(nodes) => self.follow(nodes),
        }
    }

    /// Adopts the nodes that follow the root after a change; without any, removes roots with a single child.
    fn follow(&mut self, nodes: Vec<Node>) {
        if nodes.is_empty() {
            self.lower();
        } else {
            self.raise(|root| std::iter::once(root).chain(nodes).collect());
        }
    }

    /// Puts a new root above the old one and its new siblings.
    fn raise(&mut self, children: impl FnOnce(Node) -> Vec<Node>) {
        let root = self.root.take().expect("siblings of a root");
        self.root = Some(Node::inner(Inner::of(children(root))));
    }

    /// Removes roots with a single child.
    fn lower(&mut self) {
        while let Some(root) = &mut self.root
            && !root.is_leaf()
            && root.as_inner().len() == 1
        {
            *root = root.inner_mut().take(0);
        }
    }
}

impl fmt::Debug for BlockList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.totals();
        write!(formatter, "BlockList({} items, {} bytes, {} on the heap)", totals.items, totals.content, totals.heap)
    }
}
