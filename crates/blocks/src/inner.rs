//! An inner node: children with their item counts, and sums over them.
//!
//! A child's count lies beside its pointer, so finding a position touches one node a level. The other sums (item
//! bytes, heap bytes, encoded bytes) are kept once per node: whoever changes a child adds the difference.

use crate::End;
use crate::node::{Head, Node, Totals};
use crate::view::Codec;

/// Most children of an inner node.
pub(crate) const CHILDREN_MAX: usize = 64;

pub(crate) struct Slot {
    pub(crate) items: u64,
    pub(crate) node: Node,
}

#[repr(C)]
pub(crate) struct Inner {
    head: Head,
    /// Sums over the children, without this node's own bytes.
    sums: Totals,
    slots: Vec<Slot>,
}

impl Inner {
    /// A node above these children, which are of one level.
    pub(crate) fn of(children: impl IntoIterator<Item = Node>) -> Inner {
        let slots: Vec<Slot> = children.into_iter().map(|node| Slot { items: node.items(), node }).collect();
        Inner::of_slots(slots)
    }

    fn of_slots(slots: Vec<Slot>) -> Inner {
        let level = slots.first().expect("an inner node has children").node.level() + 1;
        let mut sums = Totals::default();
        for slot in &slots {
            sums.add(slot.node.totals());
        }
        Inner { head: Head::new(level, Codec::Fixed), sums, slots }
    }

    /// The same children under a node of its own.
    pub(crate) fn copy(&self) -> Inner {
        let slots = self.slots.iter().map(|slot| Slot { items: slot.items, node: slot.node.clone() }).collect();
        Inner { head: Head::new(self.head.level, Codec::Fixed), sums: self.sums, slots }
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub(crate) fn items(&self) -> u64 {
        self.sums.items
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals { heap: self.sums.heap + self.own_bytes(), ..self.sums }
    }

    /// Bytes asked of the allocator for this node without its children.
    pub(crate) fn own_bytes(&self) -> u64 {
        (size_of::<Inner>() + self.slots.capacity() * size_of::<Slot>()) as u64
    }

    /// The child that holds item `index`, and the index within it.
    pub(crate) fn seek(&self, index: u64) -> (usize, u64) {
        debug_assert!(index < self.items());
        let mut rest = index;
        for (at, slot) in self.slots.iter().enumerate() {
            if rest < slot.items {
                return (at, rest);
            }
            rest -= slot.items;
        }
        unreachable!("the counts of the children add up to the node's")
    }

    pub(crate) fn end_index(&self, end: End) -> usize {
        match end {
            End::Head => 0,
            End::Tail => self.slots.len() - 1,
        }
    }

    /// The child at an end, for a change that `count_push` or `count_pop` is told of.
    pub(crate) fn end_mut(&mut self, end: End) -> &mut Node {
        let at = self.end_index(end);
        &mut self.slots[at].node
    }

    /// Counts an item pushed into the child at an end, whose allocation stayed as it was.
    pub(crate) fn count_push(&mut self, end: End, content: u64, encoded: u64) {
        let at = self.end_index(end);
        self.slots[at].items += 1;
        self.sums.add(Totals { items: 1, content, heap: 0, encoded });
    }

    /// Counts an item taken off the child at an end, whose allocation stayed as it was.
    pub(crate) fn count_pop(&mut self, end: End, content: u64, encoded: u64) {
        let at = self.end_index(end);
        self.slots[at].items -= 1;
        self.sums.subtract(Totals { items: 1, content, heap: 0, encoded });
    }

    /// Lets `change` have a child, and keeps count and sums right.
    pub(crate) fn with_child<R>(&mut self, at: usize, change: impl FnOnce(&mut Node) -> R) -> R {
        let slot = &mut self.slots[at];
        let before = slot.node.totals();
        let result = change(&mut slot.node);
        let after = slot.node.totals();
        slot.items = after.items;
        self.sums.add(after);
        self.sums.subtract(before);
        result
    }

    /// Puts one or two children in at `at`; returns the right half as a node of its own when there are too many.
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
        let totals = node.totals();
        self.slots.insert(at, Slot { items: totals.items, node });
        self.sums.add(totals);
    }

    pub(crate) fn take(&mut self, at: usize) -> Node {
        let slot = self.slots.remove(at);
        self.sums.subtract(slot.node.totals());
        slot.node
    }

    /// Drops whole children off an end while they hold no more than `count` items; returns how many items of the
    /// next child remain to be dropped.
    pub(crate) fn drop_children(&mut self, end: End, mut count: u64) -> u64 {
        let is_whole = |slot: &&Slot| {
            let whole = slot.items <= count;
            if whole {
                count -= slot.items;
                self.sums.subtract(slot.node.totals());
            }
            whole
        };
        let children = match end {
            End::Head => self.slots.iter().take_while(is_whole).count(),
            End::Tail => self.slots.iter().rev().take_while(is_whole).count(),
        };
        match end {
            End::Head => drop(self.slots.drain(..children)),
            End::Tail => self.slots.truncate(self.slots.len() - children),
        }
        self.shrink();
        count
    }

    /// Gives memory back when three quarters are unused.
    fn shrink(&mut self) {
        if self.slots.len() * 4 < self.slots.capacity() {
            self.slots.shrink_to(self.slots.len() * 2);
        }
    }

    /// Moves the children from `at` on to a new node.
    pub(crate) fn split_right(&mut self, at: usize) -> Inner {
        let right = Inner::of_slots(self.slots.split_off(at));
        self.sums.subtract(right.sums);
        self.shrink();
        right
    }

    /// Takes all children of a right neighbour, which is to be thrown away.
    pub(crate) fn absorb(&mut self, right: &mut Inner) {
        assert!(self.head.level == right.head.level);
        assert!(self.slots.len() + right.slots.len() <= CHILDREN_MAX);
        self.slots.append(&mut right.slots);
        self.sums.add(std::mem::take(&mut right.sums));
    }
}
