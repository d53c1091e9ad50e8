//! Encodes a list: its leaves as in memory, preceded by their counts. Drawn in `docs/formats/block.md`.

use base::varint;
use thiserror::Error;

use crate::BlockList;
use crate::inner::{CHILDREN_MAX, Inner};
use crate::leaf::{DATA_BYTES_MAX, ITEM_BYTES_MAX, ITEMS_MAX, build_as};
use crate::node::{Kind, Node};
use crate::pack::Packed;
use crate::view::{Codec, Leaf, Lengths, View};

/// The reason why bytes are not a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The list is cut short, or a number is not canonical.
    #[error("the list is truncated or a number in it is malformed")]
    Malformed,
    /// A block's codec is unknown to this version.
    #[error("a block has the unknown codec {0}")]
    UnknownCodec(u8),
    /// A block's counts, lengths and sizes contradict each other.
    #[error("a block's counts and lengths contradict each other")]
    Inconsistent,
}

impl BlockList {
    /// Appends the list to `out`, in [`BlockList::encoded_bytes`] bytes. O(blocks).
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(self.encoded_bytes() as usize);
        varint::put(out, self.len());
        if let Some(root) = &self.root {
            encode_node(root, out);
        }
    }

    /// Returns the exact size of the output of [`BlockList::encode`]. O(1).
    pub fn encoded_bytes(&self) -> u64 {
        self.totals().encoded + varint::encoded_bytes(self.len()) as u64
    }

    /// Decodes a list from the front of `input`; trusts nothing in the bytes, and keeps memory in proportion to them.
    /// On an error `input` is somewhere within the list.
    ///
    /// # Errors
    ///
    /// See [`DecodeError`].
    pub fn decode(input: &mut &[u8]) -> Result<BlockList, DecodeError> {
        let mut rest = varint::take(input).ok_or(DecodeError::Malformed)?;
        let mut leaves = Vec::new();
        while rest > 0 {
            let leaf = decode_leaf(input)?;
            rest = rest.checked_sub(leaf.items()).ok_or(DecodeError::Inconsistent)?;
            leaves.push(leaf);
        }
        Ok(BlockList { root: tree_of(leaves) })
    }
}

fn encode_node(node: &Node, out: &mut Vec<u8>) {
    match node.kind() {
        Kind::Leaf(_) => encode_leaf(node, out),
        Kind::Inner(inner) => inner.children().for_each(|(_, child)| encode_node(child, out)),
    }
}

pub(crate) fn encode_leaf(leaf: &Node, out: &mut Vec<u8>) {
    match leaf.contents() {
        Leaf::Raw(view) => encode_raw(leaf.head().codec, &view, out),
        Leaf::Packed(_) => encode_packed(leaf, out),
    }
}

fn encode_packed(node: &Node, out: &mut Vec<u8>) {
    out.push(node.head().codec.number());
    varint::put(out, node.items());
    varint::put_bytes(out, node.packed_bytes());
}

fn encode_raw(codec: Codec, view: &View<'_>, out: &mut Vec<u8>) {
    out.push(codec.number());
    varint::put(out, view.count as u64);
    let extent = match view.lengths {
        Lengths::Fixed(width) => width,
        Lengths::Narrow(_) | Lengths::Wide(_) => view.bytes.len(),
    };
    varint::put(out, extent as u64);
    out.extend_from_slice(view.bytes);
    out.extend_from_slice(view.column());
}

/// Decodes a leaf that fills these bytes.
pub(crate) fn decode_alone(mut bytes: &[u8]) -> Result<Node, DecodeError> {
    let leaf = decode_leaf(&mut bytes)?;
    if bytes.is_empty() { Ok(leaf) } else { Err(DecodeError::Inconsistent) }
}

/// Decodes a leaf and keeps its codec, so that encoding it again gives the same bytes.
fn decode_leaf(input: &mut &[u8]) -> Result<Node, DecodeError> {
    let (&[byte], rest) = input.split_first_chunk().ok_or(DecodeError::Malformed)?;
    *input = rest;
    let codec = Codec::of_number(byte).ok_or(DecodeError::UnknownCodec(byte))?;
    let count = take_usize(input)?;
    let extent = take_usize(input)?;
    if count == 0 || count > ITEMS_MAX || extent > ITEM_BYTES_MAX {
        return Err(DecodeError::Inconsistent);
    }
    if let Codec::Packed(form) = codec {
        if extent > DATA_BYTES_MAX {
            return Err(DecodeError::Inconsistent);
        }
        let bytes = take_slice(input, extent)?;
        let (_, content_bytes) = Packed::check(form, count, bytes)?;
        return Ok(Node::packed(form, count, content_bytes, bytes));
    }
    let bytes_count = if codec == Codec::Fixed { count * extent } else { extent };
    let column_bytes = count * codec.column_width();
    let outgrows = bytes_count + column_bytes > DATA_BYTES_MAX;
    if outgrows && !(count == 1 && codec == Codec::Fixed) {
        return Err(DecodeError::Inconsistent);
    }
    let bytes = take_slice(input, bytes_count)?;
    let column = take_slice(input, column_bytes)?;
    let lengths = match codec {
        Codec::Narrow => Lengths::Narrow(column),
        Codec::Wide => Lengths::Wide(column),
        _ => Lengths::Fixed(extent),
    };
    let view = View { count, lengths, bytes };
    if view.lengths_sum() != bytes.len() {
        return Err(DecodeError::Inconsistent);
    }
    Ok(build_as(codec, &view))
}

fn take_usize(input: &mut &[u8]) -> Result<usize, DecodeError> {
    varint::take(input).and_then(|value| usize::try_from(value).ok()).ok_or(DecodeError::Malformed)
}

fn take_slice<'a>(input: &mut &'a [u8], bytes: usize) -> Result<&'a [u8], DecodeError> {
    let (taken, rest) = input.split_at_checked(bytes).ok_or(DecodeError::Malformed)?;
    *input = rest;
    Ok(taken)
}

/// Builds a tree above these nodes, level by level.
pub(crate) fn tree_of(mut nodes: Vec<Node>) -> Option<Node> {
    while nodes.len() > 1 {
        let mut above = Vec::with_capacity(nodes.len().div_ceil(CHILDREN_MAX));
        let mut children = nodes.into_iter().peekable();
        while children.peek().is_some() {
            above.push(Node::inner(Inner::of(children.by_ref().take(CHILDREN_MAX))));
        }
        nodes = above;
    }
    nodes.pop()
}
