//! Lists whose leaves are stored one by one, each at its place: writes leaves not yet stored, and reads lists back.
//!
//! ```text
//!   first time    leaf a  leaf b  leaf c              write a, b, c       form: a b c
//!   SET in b      place   -       place               write b'            form: a b' c
//!                 `--- unchanged since it was stored: kept, unless the store refuses to keep it
//! ```
//!
//! The stored form names the leaves; it is drawn in `docs/formats/block.md`. Named leaves never change, so a clone, or
//! a copy under another key, may name them too. A list of one leaf has no node to keep a place in: it is written again
//! each time, and is better encoded whole.

use base::varint;
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

use crate::codec::{decode_alone, encode_leaf, tree_of};
use crate::inner::{CHILDREN_MAX, Inner};
use crate::leaf::{ITEM_BYTES_MAX, ITEMS_MAX};
use crate::node::{Kind, Node};
use crate::{BlockList, DecodeError, Place};

/// Maximum encoded leaf: codec, count and extent before its single item.
const LEAF_ENCODED_MAX: u64 = ITEM_BYTES_MAX as u64 + 7;

/// Cost of passing a kept leaf in a step, in bytes.
const KEPT_BYTES: u64 = 64;

/// Larger gaps between places are jumps: the leaves after them are as far apart as those before.
const GAP_MAX: u64 = 1 << 16;

/// The storage of leaves.
pub trait LeafStore {
    /// The error of a failed write.
    type Error;

    /// Returns true if the leaf of `bytes` encoded bytes at `place` may stay there. If so, the form names it there.
    fn keeps(&mut self, place: Place, bytes: u64) -> bool;

    /// Writes an encoded leaf, which the form then names, and returns its place.
    ///
    /// # Errors
    /// The store's own.
    fn write(&mut self, leaf: &[u8]) -> Result<Place, Self::Error>;
}

/// A leaf as named by the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredLeaf {
    /// Its location.
    pub place: Place,
    /// Its encoded bytes.
    pub bytes: u64,
    /// Its items.
    pub items: u64,
    /// Total bytes of its items.
    pub content_bytes: u64,
}

/// The reason why a stored list cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StoredError<E> {
    /// The stored form itself is malformed.
    #[error("the stored form of a list: {0}")]
    Form(DecodeError),
    /// The bytes at a place are not the leaf named by the form.
    #[error("the block at place {at:#x}: {1}", at = .0.number())]
    Leaf(Place, DecodeError),
    /// A leaf could not be read.
    #[error(transparent)]
    Read(E),
}

/// A list being stored, leaf by leaf. Holds a clone; places are noted for all lists that share its nodes.
pub struct Storing {
    list: BlockList,
    /// First item of the next leaf.
    at: u64,
    row: Row,
    /// Address and place of the previous leaf: in a long string, zeros are one leaf many times.
    before: Option<(usize, Place)>,
}

impl Storing {
    /// Begins with the first leaf; writes the head of the stored form.
    pub fn new(list: BlockList, form: &mut Vec<u8>) -> Storing {
        varint::put(form, list.len());
        Storing { list, at: 0, row: Row::default(), before: None }
    }

    /// Processes the next leaves until about `bytes_max` have been written, at least one leaf, and appends their names
    /// to `form`. Returns true when done.
    ///
    /// # Errors
    /// The store's, at the first leaf that it rejects; the next step retries that leaf.
    pub fn step<S: LeafStore>(&mut self, bytes_max: u64, store: &mut S, form: &mut Vec<u8>) -> Result<bool, S::Error> {
        let (list, mut bytes, mut scratch) = (self.list.clone(), 0, Vec::new());
        let Some(root) = &list.root else { return Ok(true) };
        while bytes < bytes_max.max(1) && self.at < root.items() {
            let Some((inner, first)) = above_leaf(root, self.at) else {
                self.store_leaf(root, None, store, &mut scratch, form)?;
                break;
            };
            for at in first..inner.len() {
                let known = inner.place(at);
                let (place, cost) = self.store_leaf(inner.child(at), known, store, &mut scratch, form)?;
                if known != Some(place) {
                    inner.note_place(at, place);
                }
                bytes += cost;
                if bytes >= bytes_max {
                    break;
                }
            }
        }
        Ok(self.at == root.items())
    }

    /// Names a leaf, writing it if necessary; returns its place and the cost.
    fn store_leaf<S: LeafStore>(
        &mut self,
        leaf: &Node,
        known: Option<Place>,
        store: &mut S,
        scratch: &mut Vec<u8>,
        form: &mut Vec<u8>,
    ) -> Result<(Place, u64), S::Error> {
        let (address, totals) = (leaf.address(), leaf.totals());
        let before = self.before.filter(|(before, _)| *before == address).map(|(_, place)| place);
        let (place, cost) = match before.or(known).filter(|place| store.keeps(*place, totals.encoded)) {
            Some(place) => (place, KEPT_BYTES),
            None => {
                scratch.clear();
                encode_leaf(leaf, scratch);
                (store.write(scratch)?, totals.encoded)
            }
        };
        self.before = Some((address, place));
        self.at += totals.items;
        let row = StoredLeaf { place, bytes: totals.encoded, items: totals.items, content_bytes: totals.content };
        self.row.put(&row, form);
        Ok((place, cost))
    }
}

/// Returns the node of leaves above `index`, and which of its children holds it; `None` if `node` is a leaf.
fn above_leaf(node: &Node, index: u64) -> Option<(&Inner, usize)> {
    let (mut node, mut rest) = (node, index);
    while let Kind::Inner(inner) = node.kind() {
        let (at, within) = inner.seek(rest);
        if inner.is_above_leaves() {
            return Some((inner, at));
        }
        (node, rest) = (inner.child(at), within);
    }
    None
}

/// A walk over the leaves that a stored form names.
pub struct StoredLeaves {
    items_left: u64,
    row: Row,
}

impl StoredLeaves {
    /// Decodes the head of a stored form from the front of `input`.
    ///
    /// # Errors
    /// If it is malformed.
    pub fn of(input: &mut &[u8]) -> Result<StoredLeaves, DecodeError> {
        let items_left = varint::take(input).ok_or(DecodeError::Malformed)?;
        Ok(StoredLeaves { items_left, row: Row::default() })
    }

    /// Decodes the next leaf's name from the front of `input`, which continues where the last call left it; returns
    /// `None` and consumes nothing at the end.
    ///
    /// # Errors
    /// If the name is impossible.
    pub fn take(&mut self, input: &mut &[u8]) -> Result<Option<StoredLeaf>, DecodeError> {
        if self.items_left == 0 {
            return Ok(None);
        }
        let leaf = self.row.take(input)?;
        self.items_left = self.items_left.checked_sub(leaf.items).ok_or(DecodeError::Inconsistent)?;
        Ok(Some(leaf))
    }
}

/// The last leaf named; the next one is encoded as a difference from the values that this one predicts.
#[derive(Default)]
struct Row {
    place: u64,
    bytes: u64,
    items: u64,
    content_bytes: u64,
    /// Gap between the end of a leaf and the place of the next, when in a row.
    gap: u64,
}

impl Row {
    fn put(&mut self, leaf: &StoredLeaf, form: &mut Vec<u8>) {
        let place = leaf.place.number();
        let step = place.wrapping_sub(self.place_expected());
        let steps = [
            step,
            leaf.bytes.wrapping_sub(self.bytes),
            leaf.items.wrapping_sub(self.items),
            leaf.content_bytes.wrapping_sub(self.content_expected(leaf.items)),
        ];
        steps.iter().for_each(|step| varint::put(form, zigzag(*step)));
        self.follow(leaf, step);
    }

    fn take(&mut self, input: &mut &[u8]) -> Result<StoredLeaf, DecodeError> {
        let mut after = |before: u64| {
            let step = varint::take(input).map(unzigzag).ok_or(DecodeError::Malformed)?;
            Ok(before.wrapping_add(step))
        };
        let expected = self.place_expected();
        let place = after(expected)?;
        let (bytes, items) = (after(self.bytes)?, after(self.items)?);
        // Invalid item counts are refused below.
        let content_bytes = after(self.content_expected(items.min(ITEMS_MAX as u64)))?;
        let is_sound = (1..=LEAF_ENCODED_MAX).contains(&bytes)
            && (1..=ITEMS_MAX as u64).contains(&items)
            && content_bytes <= ITEM_BYTES_MAX as u64;
        let place_found = Place::of_number(place).filter(|_| is_sound).ok_or(DecodeError::Inconsistent)?;
        let leaf = StoredLeaf { place: place_found, bytes, items, content_bytes };
        self.follow(&leaf, place.wrapping_sub(expected));
        Ok(leaf)
    }

    fn place_expected(&self) -> u64 {
        self.place.wrapping_add(self.bytes).wrapping_add(self.gap)
    }

    /// Returns the bytes of `items` items of the last leaf's mean length.
    fn content_expected(&self, items: u64) -> u64 {
        items * self.content_bytes / self.items.max(1)
    }

    fn follow(&mut self, leaf: &StoredLeaf, step: u64) {
        let gap = if zigzag(step) < GAP_MAX { self.gap.wrapping_add(step) } else { self.gap };
        let StoredLeaf { place, bytes, items, content_bytes } = *leaf;
        *self = Row { place: place.number(), bytes, items, content_bytes, gap };
    }
}

/// Maps small differences of either sign to small numbers.
fn zigzag(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64) >> 63) as u64
}

fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Returns the number of items, and their bytes, of exactly one encoded leaf.
///
/// # Errors
/// See [`DecodeError`].
pub fn leaf_counts(bytes: &[u8]) -> Result<(u64, u64), DecodeError> {
    decode_alone(bytes).map(|leaf| (leaf.items(), leaf.totals().content))
}

impl BlockList {
    /// Returns true if the list is empty or one leaf: then it is best encoded whole. O(1).
    pub fn is_one_leaf(&self) -> bool {
        self.root.as_ref().is_none_or(Node::is_leaf)
    }

    /// Passes every place and the encoded bytes of its leaf to `visit`, in order, once per use. Reads no leaf.
    /// O(leaves).
    pub fn visit_places(&self, visit: &mut impl FnMut(Place, u64)) {
        self.root.iter().for_each(|root| visit_places(root, visit));
    }

    /// Copies places of common leaves from `other`, another version of this list: a change copies the nodes above a
    /// leaf, so a place set later is known in one version only. Sets them for all lists that share nodes with this one.
    /// O(nodes above leaves, and leaves below those that only one has).
    pub fn learn_places(&self, other: &BlockList) {
        let (Some(root), Some(other)) = (&self.root, &other.root) else { return };
        let (mut own, mut known) = (BTreeMap::new(), HashMap::new());
        visit_above_leaves(root, &mut |node| own.extend([(node.address(), node)]));
        visit_above_leaves(other, &mut |node| {
            if own.remove(&node.address()).is_none() {
                let inner = node.as_inner();
                let places = (0..inner.len()).filter_map(|at| Some((inner.child(at).address(), inner.place(at)?)));
                known.extend(places);
            }
        });
        for inner in own.into_values().map(Node::as_inner) {
            for at in 0..inner.len() {
                if let Some(place) = known.get(&inner.child(at).address()) {
                    inner.note_place(at, *place);
                }
            }
        }
    }

    /// Decodes a stored form from the front of `input` into a list; `read` returns the given number of bytes at a
    /// place. Each leaf then has its place. Trusts neither the form nor what is read. O(leaves).
    ///
    /// # Errors
    /// See [`StoredError`]. `input` is somewhere within the form then.
    pub fn of_stored<B: AsRef<[u8]>, E>(
        input: &mut &[u8],
        read: &mut impl FnMut(Place, usize) -> Result<B, E>,
    ) -> Result<BlockList, StoredError<E>> {
        let mut names = StoredLeaves::of(input).map_err(StoredError::Form)?;
        let (mut above, mut leaves) = (Vec::new(), Vec::<(Node, Place)>::with_capacity(CHILDREN_MAX));
        while let Some(name) = names.take(input).map_err(StoredError::Form)? {
            let before = leaves.last().filter(|(leaf, place)| *place == name.place && is_named(leaf, &name));
            let leaf = match before {
                Some((leaf, _)) => leaf.clone(),
                None => {
                    let bytes = read(name.place, name.bytes as usize).map_err(StoredError::Read)?;
                    let leaf = decode_alone(bytes.as_ref()).map_err(|error| StoredError::Leaf(name.place, error))?;
                    if !is_named(&leaf, &name) {
                        return Err(StoredError::Leaf(name.place, DecodeError::Inconsistent));
                    }
                    leaf
                }
            };
            if leaves.len() == CHILDREN_MAX {
                above.push(Node::inner(Inner::of_stored(leaves.drain(..))));
            }
            leaves.push((leaf, name.place));
        }
        if above.is_empty() && leaves.len() < 2 {
            return Ok(BlockList { root: leaves.pop().map(|(leaf, _)| leaf) });
        }
        above.push(Node::inner(Inner::of_stored(leaves)));
        Ok(BlockList { root: tree_of(above) })
    }
}

fn is_named(leaf: &Node, name: &StoredLeaf) -> bool {
    let totals = leaf.totals();
    (totals.encoded, totals.items, totals.content) == (name.bytes, name.items, name.content_bytes)
}

fn visit_places(node: &Node, visit: &mut impl FnMut(Place, u64)) {
    visit_above_leaves(node, &mut |node| {
        let inner = node.as_inner();
        for at in 0..inner.len() {
            if let Some(place) = inner.place(at) {
                visit(place, inner.leaf_bytes(at));
            }
        }
    });
}

/// Visits the nodes directly above leaves, in order.
fn visit_above_leaves<'a>(node: &'a Node, visit: &mut impl FnMut(&'a Node)) {
    match node.kind() {
        Kind::Inner(inner) if inner.is_above_leaves() => visit(node),
        Kind::Inner(inner) => inner.children().for_each(|(_, child)| visit_above_leaves(child, visit)),
        Kind::Leaf(..) => {}
    }
}
