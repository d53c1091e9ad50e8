//! The checker of invariants, for tests: O(n).

use std::collections::BTreeSet;

use crate::BlockList;
use crate::inner::{CHILDREN_MAX, Inner};
use crate::leaf::{DATA_BYTES_MAX, ITEM_BYTES_MAX, ITEMS_MAX, LEAF_BYTES_MAX};
use crate::node::{Head, Kind, Node, Totals};
use crate::pack::{self, Packed};
use crate::view::{Codec, Leaf, View};

impl BlockList {
    /// Panics unless counts, sums, levels and layouts are as they must be.
    #[doc(hidden)]
    pub fn check(&self) {
        let Some(root) = &self.root else { return };
        if let Kind::Inner(inner) = root.kind() {
            assert!(inner.slots().len() > 1, "a root with one child should have been taken away");
        }
        check_node(root);
    }

    /// Bytes of the nodes of this list that are none of `other`'s.
    #[doc(hidden)]
    pub fn bytes_apart_from(&self, other: &BlockList) -> u64 {
        let mut theirs = BTreeSet::new();
        other.root.iter().for_each(|root| note_all(root, &mut theirs));
        self.root.as_ref().map_or(0, |root| bytes_apart(root, &theirs))
    }
}

fn note_all(node: &Node, noted: &mut BTreeSet<*const Head>) {
    noted.insert(std::ptr::from_ref(node.head()));
    if let Kind::Inner(inner) = node.kind() {
        inner.slots().iter().for_each(|slot| note_all(&slot.node, noted));
    }
}

fn bytes_apart(node: &Node, theirs: &BTreeSet<*const Head>) -> u64 {
    if theirs.contains(&std::ptr::from_ref(node.head())) {
        return 0;
    }
    match node.kind() {
        Kind::Leaf(_) => node.totals().heap,
        Kind::Inner(inner) => {
            inner.own_bytes() + inner.slots().iter().map(|slot| bytes_apart(&slot.node, theirs)).sum::<u64>()
        }
    }
}

fn check_node(node: &Node) {
    match node.kind() {
        Kind::Leaf(Leaf::Raw(view)) => check_leaf(node, &view),
        Kind::Leaf(Leaf::Packed(packed)) => check_packed(node, &packed),
        Kind::Inner(inner) => check_inner(node, inner),
    }
}

fn check_inner(node: &Node, inner: &Inner) {
    assert!(!inner.slots().is_empty());
    assert!(inner.slots().len() <= CHILDREN_MAX);
    let mut sums = Totals::default();
    for slot in inner.slots() {
        assert_eq!(slot.node.level() + 1, node.level(), "all leaves lie at one depth");
        assert_eq!(slot.items, slot.node.items());
        check_node(&slot.node);
        sums.add(slot.node.totals());
    }
    let own = node.totals().heap - sums.heap;
    assert!(own < 4096, "an inner node's own bytes are bounded");
    sums.heap = node.totals().heap;
    assert_eq!(sums, node.totals());
}

fn check_leaf(node: &Node, view: &View<'_>) {
    let head = node.head();
    let data_bytes = head.data_bytes();
    assert!(view.count > 0);
    assert!(view.count <= ITEMS_MAX);
    assert!(view.longest() <= ITEM_BYTES_MAX);
    assert_eq!(view.lengths_sum(), view.bytes.len());
    assert!(usize::from(head.start) + node.live_bytes() <= data_bytes);
    if data_bytes > DATA_BYTES_MAX {
        assert_eq!(view.count, 1, "a leaf beyond {LEAF_BYTES_MAX} bytes holds one item");
        assert!(view.bytes.len() > DATA_BYTES_MAX);
        assert_eq!(head.codec, Codec::Fixed);
    }
    if head.codec != Codec::Fixed {
        let column_start = usize::from(head.high) - view.count * head.codec.column_width();
        assert!(usize::from(head.start) + view.bytes.len() <= column_start);
        assert!(usize::from(head.high) <= data_bytes);
    }
}

fn check_packed(node: &Node, packed: &Packed<'_>) {
    let head = node.head();
    assert!(head.start <= 1);
    assert!(node.live_bytes() <= head.data_bytes());
    assert!(head.data_bytes() <= DATA_BYTES_MAX);
    let Codec::Packed(form) = head.codec else { panic!("a packed leaf says so") };
    let (_, content_bytes) = Packed::check(form, packed.count(), node.packed_bytes()).expect("what we packed is sound");
    assert_eq!(content_bytes, usize::from(head.high));
    assert!(content_bytes <= pack::CONTENT_BYTES_MAX);
    assert_eq!(node.open().view().lengths_sum(), content_bytes);
}
