//! A position in a list, kept as the way down to it: a search finds it, and a change follows it.
//!
//! ```text
//!   root      | ● ● ● ● |            level 2: child 1
//!                ▼
//!   inner     | ● ● ● |              level 1: child 2
//!                  ▼
//!   leaf      | item | item |        within: 1
//! ```
//!
//! An index would have to be counted on the way down by the search, and sought again on the way down by the change.

use crate::node::{Kind, Node};

/// Maximum levels above the leaves. A level is put on top only when there are more than 64 children below it.
pub(crate) const LEVELS_MAX: usize = 32;

/// A position in a list. Valid until the list changes; with another list it is the caller's bug, and may panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The child at each level above the leaves, level 1 first.
    path: [u8; LEVELS_MAX],
    /// The index in the leaf; the leaf's count means after its last item.
    within: u32,
}

impl Cursor {
    /// Returns the position of item `index` below `root`, or of their end.
    pub(crate) fn of_index(root: &Node, index: u64) -> Cursor {
        let (mut cursor, mut node) = (Cursor::default(), root);
        let is_end = index == root.items();
        let mut rest = if is_end { index - 1 } else { index };
        while let Kind::Inner(inner) = node.kind() {
            let (at, within) = inner.seek(rest);
            cursor.enter(node.level(), at);
            (node, rest) = (inner.child(at), within);
        }
        cursor.within = (rest + u64::from(is_end)) as u32;
        cursor
    }

    /// Takes child `at` of a node on this level.
    pub(crate) fn enter(&mut self, level: u8, at: usize) {
        self.path[usize::from(level) - 1] = at as u8;
    }

    /// Takes an item of the leaf, or its end.
    pub(crate) fn enter_leaf(&mut self, within: usize) {
        self.within = within as u32;
    }

    /// Returns the child to take in a node on this level.
    pub(crate) fn child(&self, level: u8) -> usize {
        usize::from(self.path[usize::from(level) - 1])
    }

    /// Returns the index in the leaf.
    pub(crate) fn within(&self) -> usize {
        self.within as usize
    }

    /// Returns true if it is the first item below the child taken on this level.
    pub(crate) fn is_first_below(&self, level: u8) -> bool {
        self.within == 0 && self.path[..usize::from(level) - 1].iter().all(|at| *at == 0)
    }

    /// Returns true if it is the end of the list.
    pub(crate) fn is_end(&self, root: &Node) -> bool {
        let mut node = root;
        while let Kind::Inner(inner) = node.kind() {
            let at = self.child(node.level());
            if at + 1 < inner.len() {
                return false;
            }
            node = inner.child(at);
        }
        u64::from(self.within) == node.items()
    }

    /// Returns its leaf.
    pub(crate) fn leaf<'a>(&self, root: &'a Node) -> &'a Node {
        let mut node = root;
        while !node.is_leaf() {
            node = node.as_inner().child(self.child(node.level()));
        }
        node
    }

    /// Returns its index below `root`.
    pub(crate) fn index(&self, root: &Node) -> u64 {
        let (mut node, mut index) = (root, 0);
        while let Kind::Inner(inner) = node.kind() {
            let at = self.child(node.level());
            index += (0..at).map(|before| inner.items_of(before)).sum::<u64>();
            node = inner.child(at);
        }
        index + u64::from(self.within)
    }

    /// Returns the first item of the next leaf.
    pub(crate) fn next_leaf(mut self, root: &Node) -> Option<Cursor> {
        let (mut node, mut turn) = (root, None);
        while let Kind::Inner(inner) = node.kind() {
            let at = self.child(node.level());
            if at + 1 < inner.len() {
                turn = Some(usize::from(node.level()));
            }
            node = inner.child(at);
        }
        let turn = turn?;
        self.path[turn - 1] += 1;
        self.path[..turn - 1].fill(0);
        self.within = 0;
        Some(self)
    }
}
