//! An invariant checker for tests: O(n).

use std::collections::BTreeSet;

use crate::codec::encode_leaf;
use crate::inner::{CHILDREN_MAX, Inner};
use crate::leaf::{DATA_BYTES_MAX, ITEM_BYTES_MAX, ITEMS_MAX, LEAF_BYTES_MAX};
use crate::node::{Head, Kind, Node, Totals};
use crate::pack::{self, Packed};
use crate::view::{Codec, Leaf, View};
use crate::{BlockList, Place};

impl BlockList {
    /// Panics unless counts, sums, levels and layouts are consistent.
    #[doc(hidden)]
    pub fn check(&self) {
        let Some(root) = &self.root else { return };
        if let Kind::Inner(inner) = root.kind() {
            assert!(inner.len() > 1, "a root with one child should have been taken away");
        }
        check_node(root);
    }

    /// Panics unless each leaf that has a place equals what `read` returns for that place.
    #[doc(hidden)]
    pub fn check_places(&self, read: &mut impl FnMut(Place) -> Vec<u8>) {
        self.root.iter().for_each(|root| check_places(root, read));
    }

    /// Returns the bytes of this list's nodes that are not shared with `other`.
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
        inner.children().for_each(|(_, child)| note_all(child, noted));
    }
}

fn bytes_apart(node: &Node, theirs: &BTreeSet<*const Head>) -> u64 {
    if theirs.contains(&std::ptr::from_ref(node.head())) {
        return 0;
    }
    match node.kind() {
        Kind::Leaf(_) => node.totals().heap,
        Kind::Inner(inner) => {
            inner.own_bytes() + inner.children().map(|(_, child)| bytes_apart(child, theirs)).sum::<u64>()
        }
    }
}

fn check_places(node: &Node, read: &mut impl FnMut(Place) -> Vec<u8>) {
    let Kind::Inner(inner) = node.kind() else { return };
    for (at, (_, child)) in inner.children().enumerate() {
        if let Some(place) = inner.place(at) {
            let mut bytes = Vec::new();
            encode_leaf(child, &mut bytes);
            assert_eq!(bytes, read(place), "a leaf that has changed has no place");
        }
        check_places(child, read);
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
    assert!(inner.len() > 0);
    assert!(inner.len() <= CHILDREN_MAX);
    assert!(inner.is_in_step(), "a guide beside each child");
    let mut sums = Totals::default();
    for (at, (items, child)) in inner.children().enumerate() {
        assert_eq!(child.level() + 1, node.level(), "all leaves lie at one depth");
        assert_eq!(items, child.items());
        if child.is_leaf() {
            assert_eq!(inner.leaf_bytes(at), child.totals().encoded);
        } else {
            assert_eq!(inner.place(at), None, "leaves alone have places");
        }
        check_node(child);
        sums.add(child.totals());
    }
    let own = node.totals().heap - sums.heap;
    assert!(own < 5000, "an inner node's own bytes are bounded");
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
    let Codec::Packed(form) = head.codec else { panic!("a packed leaf has a packed codec") };
    let (_, content_bytes) = Packed::check(form, packed.count(), node.packed_bytes()).expect("what we packed is sound");
    assert_eq!(content_bytes, usize::from(head.high));
    assert!(content_bytes <= pack::CONTENT_BYTES_MAX);
    assert_eq!(node.open().view().lengths_sum(), content_bytes);
}
