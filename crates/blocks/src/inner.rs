//! An inner node: children with their item counts, and sums over them.
//!
//! ```text
//!   slots    | tally                          | child | place | ...        above leaves
//!            | items 32 | encoded bytes 32    |       |       |
//!            | items 64                       |       | 0     |            above inner nodes
//!   guides   | number | number | ...                                        of the slots, in step with them
//! ```
//!
//! A child's count is stored beside its pointer, so finding a position touches one node per level. The other sums (item
//! bytes, heap bytes, encoded bytes) are kept once per node: a change of a child adds the difference.
//!
//! A stored leaf has its place beside it, and so its stored length is known. Any change or replacement of a child
//! clears its place: a place means that the leaf is unchanged since it was stored. So slots are private to this file.
//!
//! The same holds for a guide, the number that a list's owner derives from a child's first item: a search in an ordered
//! list compares numbers that lie side by side instead of looking into each child (a sorted set of a million: see
//! `lab/records`), by a binary search without branches to mispredict.

use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use std::hint::select_unpredictable;
use std::ops::Range;

use crate::End;
use crate::cursor::LEVELS_MAX;
use crate::leaf::ITEM_BYTES_MAX;
use crate::node::{Head, Node, Totals};
use crate::place::{Place, PlaceCell};
use crate::summary::Digests;
use crate::view::Codec;

/// Maximum children of an inner node.
pub(crate) const CHILDREN_MAX: usize = 64;

/// Bits of the item count in a tally above leaves.
const ITEMS_BITS: u32 = 32;

// The longest encoded leaf: codec, count, width and one item. It has fewer items than bytes.
const _: () = assert!(ITEM_BYTES_MAX + 7 <= u32::MAX as usize);

struct Slot {
    tally: u64,
    node: Node,
    place: PlaceCell,
}

impl Slot {
    fn of(node: Node) -> Slot {
        let tally = tally(node.is_leaf(), node.totals());
        Slot { tally, node, place: PlaceCell::default() }
    }

    /// Copies the child with its place, for another node.
    fn copy(&self) -> Slot {
        Slot { tally: self.tally, node: self.node.clone(), place: self.place.clone() }
    }

    /// Returns the child for a change: clears its place.
    fn node_mut(&mut self) -> &mut Node {
        self.place.clear();
        &mut self.node
    }
}

fn copy_guide(guide: &AtomicU64) -> AtomicU64 {
    AtomicU64::new(guide.load(Relaxed))
}

/// Returns the tally of a child, or of a change to it: above leaves a sum of tallies is the tally of the sums.
fn tally(is_leaf: bool, totals: Totals) -> u64 {
    if is_leaf { totals.items | totals.encoded << ITEMS_BITS } else { totals.items }
}

#[repr(C)]
pub(crate) struct Inner {
    head: Head,
    /// Sums over the children, without this node's own bytes.
    sums: Totals,
    slots: Vec<Slot>,
    /// The guide keys of the children's first items; 0 if unknown.
    guides: Vec<AtomicU64>,
    /// Cached digests of each child; a child that may change is cleared, and all are when slots move.
    digests: Digests,
}

impl Inner {
    /// Creates a node above these children, which are on one level.
    pub(crate) fn of(children: impl IntoIterator<Item = Node>) -> Inner {
        Inner::of_slots(children.into_iter().map(Slot::of).collect())
    }

    /// Creates a node above these stored leaves, each with its place.
    pub(crate) fn of_stored(leaves: impl IntoIterator<Item = (Node, Place)>) -> Inner {
        let slot = |(node, place)| Slot { place: PlaceCell::of(place), ..Slot::of(node) };
        Inner::of_slots(leaves.into_iter().map(slot).collect())
    }

    fn of_slots(slots: Vec<Slot>) -> Inner {
        let guides = slots.iter().map(|_| AtomicU64::new(0)).collect();
        Inner::of_guided(slots, guides)
    }

    fn of_guided(slots: Vec<Slot>, guides: Vec<AtomicU64>) -> Inner {
        let level = slots.first().expect("an inner node has children").node.level() + 1;
        assert!(usize::from(level) <= LEVELS_MAX);
        let mut sums = Totals::default();
        for slot in &slots {
            sums.add(slot.node.totals());
        }
        Inner { head: Head::new(level, Codec::Fixed), sums, slots, guides, digests: Digests::default() }
    }

    /// Creates another node with the same children and places.
    pub(crate) fn copy(&self) -> Inner {
        let slots = self.slots.iter().map(Slot::copy).collect();
        let guides = self.guides.iter().map(copy_guide).collect();
        let digests = self.digests.clone();
        Inner { head: Head::new(self.head.level, Codec::Fixed), sums: self.sums, slots, guides, digests }
    }

    /// Returns the number of children.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if there is a guide beside each child.
    pub(crate) fn is_in_step(&self) -> bool {
        self.guides.len() == self.slots.len()
    }

    pub(crate) fn child(&self, at: usize) -> &Node {
        &self.slots[at].node
    }

    /// Returns the items of a child, without touching it.
    pub(crate) fn items_of(&self, at: usize) -> u64 {
        self.items_in(self.slots[at].tally)
    }

    /// Returns the children with their item counts.
    pub(crate) fn children(&self) -> impl DoubleEndedIterator<Item = (u64, &Node)> + ExactSizeIterator {
        self.slots.iter().map(|slot| (self.items_in(slot.tally), &slot.node))
    }

    /// Returns true if the children are leaves.
    pub(crate) fn is_above_leaves(&self) -> bool {
        self.head.level == 1
    }

    fn items_in(&self, tally: u64) -> u64 {
        if self.is_above_leaves() { low(tally) } else { tally }
    }

    /// Returns the encoded bytes of a leaf, without touching it.
    pub(crate) fn leaf_bytes(&self, at: usize) -> u64 {
        debug_assert!(self.is_above_leaves());
        self.slots[at].tally >> ITEMS_BITS
    }

    /// Returns `key_of` of a child's first item, at least 1. Computed once: the number is kept while that item is
    /// unchanged, so it must be the same function each time.
    #[inline]
    pub(crate) fn guide(&self, at: usize, key_of: fn(&[u8]) -> u64) -> u64 {
        match self.guides[at].load(Relaxed) {
            0 => self.find_guide(at, key_of),
            known => {
                debug_assert!(known == self.first_key(at, key_of), "a child changed under its guide");
                known
            }
        }
    }

    #[cold]
    fn find_guide(&self, at: usize, key_of: fn(&[u8]) -> u64) -> u64 {
        let key = self.first_key(at, key_of);
        self.guides[at].store(key, Relaxed);
        key
    }

    fn first_key(&self, at: usize, key_of: fn(&[u8]) -> u64) -> u64 {
        self.child(at).end(End::Head, key_of).max(1)
    }

    /// Returns the first of the children `from..to` whose guide is not less than `key`, or `to`.
    #[inline]
    pub(crate) fn seek_guide(&self, from: usize, to: usize, key: u64, key_of: fn(&[u8]) -> u64) -> usize {
        let (mut base, mut left) = (from, to - from);
        while left > 1 {
            let half = left / 2;
            let is_before = self.guide(base + half - 1, key_of) < key;
            base = select_unpredictable(is_before, base + half, base);
            left -= half;
        }
        if left == 1 && self.guide(base, key_of) < key { base + 1 } else { base }
    }

    /// Returns the cached digests of the children.
    pub(crate) fn digests(&self) -> &Digests {
        &self.digests
    }

    /// Returns the place of a leaf, if it is stored in its present state.
    pub(crate) fn place(&self, at: usize) -> Option<Place> {
        self.slots[at].place.get()
    }

    /// Sets the place of a leaf in its present state.
    pub(crate) fn note_place(&self, at: usize, place: Place) {
        assert!(self.is_above_leaves());
        self.slots[at].place.note(place);
    }

    pub(crate) fn items(&self) -> u64 {
        self.sums.items
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals { heap: self.sums.heap + self.own_bytes(), ..self.sums }
    }

    /// Returns the bytes allocated for this node without its children.
    pub(crate) fn own_bytes(&self) -> u64 {
        let bytes = size_of::<Inner>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.guides.capacity() * size_of::<AtomicU64>();
        bytes as u64
    }

    /// Returns the child that holds item `index`, and the index within it.
    pub(crate) fn seek(&self, index: u64) -> (usize, u64) {
        debug_assert!(index < self.items());
        let tallies = self.slots.iter().map(|slot| slot.tally);
        if self.is_above_leaves() { seek(index, tallies.map(low)) } else { seek(index, tallies) }
    }

    pub(crate) fn end_index(&self, end: End) -> usize {
        match end {
            End::Head => 0,
            End::Tail => self.slots.len() - 1,
        }
    }

    /// Returns the child at an end, for a change to be reported to `count_push` or `count_pop`. Clears its place.
    pub(crate) fn end_mut(&mut self, end: End) -> &mut Node {
        let at = self.end_index(end);
        self.digests.forget(at);
        if end == End::Head {
            *self.guides[at].get_mut() = 0;
        }
        self.slots[at].node_mut()
    }

    /// Counts an item pushed into the child at an end, whose allocation is unchanged.
    pub(crate) fn count_push(&mut self, end: End, content: u64, encoded: u64) {
        let at = self.end_index(end);
        let growth = Totals { items: 1, content, heap: 0, encoded };
        self.slots[at].tally += tally(self.is_above_leaves(), growth);
        self.sums.add(growth);
    }

    /// Counts an item popped from the child at an end, whose allocation is unchanged.
    pub(crate) fn count_pop(&mut self, end: End, content: u64, encoded: u64) {
        let at = self.end_index(end);
        let loss = Totals { items: 1, content, heap: 0, encoded };
        self.slots[at].tally -= tally(self.is_above_leaves(), loss);
        self.sums.subtract(loss);
    }

    /// Runs `change` on a child, clears its place, and updates count and sums.
    pub(crate) fn with_child<R>(&mut self, at: usize, change: impl FnOnce(&mut Node) -> R) -> R {
        self.with_child_from(at, true, change)
    }

    /// As [`Inner::with_child`], where it is known whether the child's first item changes.
    pub(crate) fn with_child_from<R>(&mut self, at: usize, is_first: bool, change: impl FnOnce(&mut Node) -> R) -> R {
        self.digests.forget(at);
        let slot = &mut self.slots[at];
        let before = slot.node.totals();
        let result = change(slot.node_mut());
        if is_first {
            *self.guides[at].get_mut() = 0;
        }
        let after = slot.node.totals();
        slot.tally = tally(slot.node.is_leaf(), after);
        self.sums.add(after);
        self.sums.subtract(before);
        result
    }

    /// Inserts one or two children at `at`; returns the right half as another node when there are too many.
    pub(crate) fn put(&mut self, at: usize, nodes: Vec<Node>) -> Option<Node> {
        if self.slots.len() + nodes.len() <= CHILDREN_MAX {
            self.insert_all(at, nodes);
            return None;
        }
        let half = self.slots.len() / 2;
        let mut right = self.split_right(half);
        if at <= half {
            self.insert_all(at, nodes);
        } else {
            right.insert_all(at - half, nodes);
        }
        Some(Node::inner(right))
    }

    fn insert_all(&mut self, at: usize, nodes: Vec<Node>) {
        for (nth, node) in nodes.into_iter().enumerate() {
            self.insert(at + nth, node);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.slots.len() == CHILDREN_MAX
    }

    pub(crate) fn insert(&mut self, at: usize, node: Node) {
        assert!(self.slots.len() < CHILDREN_MAX);
        self.digests.clear();
        self.sums.add(node.totals());
        self.slots.insert(at, Slot::of(node));
        self.guides.insert(at, AtomicU64::new(0));
    }

    /// Removes a child and its place.
    pub(crate) fn take(&mut self, at: usize) -> Node {
        self.digests.clear();
        self.guides.remove(at);
        let slot = self.slots.remove(at);
        self.sums.subtract(slot.node.totals());
        slot.node
    }

    /// Drops whole children from an end while they hold no more than `count` items; returns how many items remain to be
    /// dropped from the next child.
    pub(crate) fn drop_children(&mut self, end: End, count: u64) -> u64 {
        let (whole, rest) = self.whole_children(end, count);
        self.digests.clear();
        self.guides.drain(whole.clone());
        for slot in self.slots.drain(whole) {
            self.sums.subtract(slot.node.totals());
        }
        self.shrink();
        rest
    }

    /// As [`Inner::drop_children`], but on a copy: touches only the children that stay, and keeps their places.
    pub(crate) fn copy_without(&self, end: End, count: u64) -> (Inner, u64) {
        let (whole, rest) = self.whole_children(end, count);
        let kept = match end {
            End::Head => whole.end..self.slots.len(),
            End::Tail => 0..whole.start,
        };
        let slots = self.slots[kept.clone()].iter().map(Slot::copy).collect();
        (Inner::of_guided(slots, self.guides[kept].iter().map(copy_guide).collect()), rest)
    }

    /// Returns the children at an end that together hold no more than `count` items, and how much of `count` is left
    /// over.
    fn whole_children(&self, end: End, mut count: u64) -> (Range<usize>, u64) {
        let is_whole = |slot: &&Slot| {
            let items = self.items_in(slot.tally);
            let whole = items <= count;
            if whole {
                count -= items;
            }
            whole
        };
        let len = self.slots.len();
        let range = match end {
            End::Head => 0..self.slots.iter().take_while(is_whole).count(),
            End::Tail => len - self.slots.iter().rev().take_while(is_whole).count()..len,
        };
        (range, count)
    }

    /// Releases memory when three quarters are unused.
    fn shrink(&mut self) {
        if self.slots.len() * 4 < self.slots.capacity() {
            self.slots.shrink_to(self.slots.len() * 2);
            self.guides.shrink_to(self.slots.len() * 2);
        }
    }

    /// Moves the children from `at` on to another node.
    pub(crate) fn split_right(&mut self, at: usize) -> Inner {
        self.digests.clear();
        let right = Inner::of_guided(self.slots.split_off(at), self.guides.split_off(at));
        self.sums.subtract(right.sums);
        self.shrink();
        right
    }

    /// Takes all children of a right neighbour, which will be discarded.
    pub(crate) fn absorb(&mut self, right: &mut Inner) {
        assert!(self.head.level == right.head.level);
        assert!(self.slots.len() + right.slots.len() <= CHILDREN_MAX);
        self.digests.clear();
        self.slots.append(&mut right.slots);
        self.guides.append(&mut right.guides);
        self.sums.add(std::mem::take(&mut right.sums));
    }
}

/// Returns the items in a tally above leaves.
fn low(tally: u64) -> u64 {
    u64::from(tally as u32)
}

fn seek(index: u64, items: impl Iterator<Item = u64>) -> (usize, u64) {
    let mut rest = index;
    for (at, items) in items.enumerate() {
        if rest < items {
            return (at, rest);
        }
        rest -= items;
    }
    unreachable!("the counts of the children add up to the node's")
}
