//! A leaf: one allocation with items back to back, and slack where the list grows.
//!
//! ```text
//!   fixed  | head 16 | slack | item | item | item | ...                                        slack |
//!   mixed  | head 16 | slack | item | item | ... | gap | lengths, one or two bytes each, reversed | slack |
//!          0         16                                                                      at most 4,096
//! ```
//!
//! Everything except a push with room, a removal at an end, or a change within fixed items is one function: [`build`]
//! makes a new leaf of *pieces* (parts of leaves, single items) and chooses its codec and size. Growing, inserting
//! among mixed lengths, splitting and merging differ only in their pieces.
//!
//! Leaf sizes go in steps of a quarter of a power of two, as in allocators, so a small list is a small block. An item
//! too large for a block has a leaf to itself, sized to it.

use base::varint;

use crate::End;
use crate::node::{HEAD_BYTES, Head, Node, Totals};
use crate::pack::Form;
use crate::view::{Codec, Lengths, View};

/// Maximum bytes of a leaf, head included, unless a single item is larger.
pub const LEAF_BYTES_MAX: usize = 4096;

/// Maximum bytes of one item.
pub const ITEM_BYTES_MAX: usize = (u32::MAX - 4096) as usize;

/// Maximum bytes after a leaf's head.
pub(crate) const DATA_BYTES_MAX: usize = LEAF_BYTES_MAX - HEAD_BYTES;

/// Maximum items of a leaf, as many as the shortest mixed items allow; it also bounds leaves of empty items.
pub(crate) const ITEMS_MAX: usize = DATA_BYTES_MAX;

/// Initial bytes of a leaf opened at the end of a tree: more items will be pushed to it.
const OPENING_BYTES: usize = 1024;

/// Minimum free bytes for which moving the slack of a full-size leaf to its other end pays.
const SLIDE_BYTES_MIN: usize = LEAF_BYTES_MAX / 16;

/// Value of `start` in a packed leaf that is settled.
const SETTLED: u16 = 1;

const _: () = assert!(ITEMS_MAX <= u16::MAX as usize);

/// Distribution of the slack in a new leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lean {
    /// All at this end: the leaf is at that end of a tree.
    All(End),
    /// An eighth at the other end: alternating pushes at both ends then rarely move the items.
    Mostly(End),
}

impl Lean {
    /// Returns how much of `free` bytes goes before the items.
    fn at_head(self, free: usize) -> usize {
        match self {
            Self::All(End::Head) => free,
            Self::All(End::Tail) => 0,
            Self::Mostly(End::Head) => free - free / 8,
            Self::Mostly(End::Tail) => free / 8,
        }
    }
}

/// The measures of a leaf built of some pieces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure {
    pub(crate) count: usize,
    bytes: usize,
    codec: Codec,
    width: usize,
}

impl Measure {
    pub(crate) fn of(pieces: &[View<'_>]) -> Measure {
        let mut measure = Measure { count: 0, bytes: 0, codec: Codec::Fixed, width: 0 };
        for piece in pieces.iter().filter(|piece| piece.count > 0) {
            match piece.common_length() {
                Some(width) if measure.count == 0 => measure.width = width,
                Some(width) if width == measure.width => {}
                _ => measure.codec = Codec::Narrow,
            }
            measure.count += piece.count;
            measure.bytes += piece.bytes.len();
        }
        if measure.codec == Codec::Narrow && pieces.iter().any(|piece| piece.longest() > usize::from(u8::MAX)) {
            measure.codec = Codec::Wide;
        }
        measure
    }

    /// Returns the bytes in use after the head.
    pub(crate) fn live_bytes(&self) -> usize {
        self.bytes + self.count * self.codec.column_width()
    }

    /// Returns the bytes of length per item.
    pub(crate) fn column_width(&self) -> usize {
        self.codec.column_width()
    }

    /// Returns true if it fits one leaf.
    pub(crate) fn fits(&self) -> bool {
        self.count == 1 || (self.live_bytes() <= DATA_BYTES_MAX && self.count <= ITEMS_MAX)
    }
}

/// Builds the smallest possible leaf of these pieces.
pub(crate) fn build(pieces: &[View<'_>]) -> Node {
    build_with_room(pieces, 0, Lean::Mostly(End::Tail))
}

/// Builds a leaf of these pieces with an eighth to spare: insertions into a leaf tend to be repeated.
pub(crate) fn build_roomy(pieces: &[View<'_>]) -> Node {
    let leaf_bytes = (HEAD_BYTES + Measure::of(pieces).live_bytes()) * 9 / 8;
    build_with_room(pieces, leaf_bytes.min(LEAF_BYTES_MAX), Lean::Mostly(End::Tail))
}

/// Builds a leaf of these pieces, of at least `leaf_bytes`, head included.
///
/// The pieces must fit one leaf and hold at least one item.
fn build_with_room(pieces: &[View<'_>], leaf_bytes: usize, lean: Lean) -> Node {
    build_measured(&Measure::of(pieces), pieces, leaf_bytes, lean)
}

/// Builds the smallest possible leaf of these items with the given codec, even if another one were better.
pub(crate) fn build_as(codec: Codec, view: &View<'_>) -> Node {
    let width = if let Lengths::Fixed(width) = view.lengths { width } else { 0 };
    let measure = Measure { count: view.count, bytes: view.bytes.len(), codec, width };
    build_measured(&measure, &[*view], 0, Lean::Mostly(End::Tail))
}

fn build_measured(measure: &Measure, pieces: &[View<'_>], leaf_bytes: usize, lean: Lean) -> Node {
    assert!(measure.count > 0);
    assert!(measure.fits());
    let live = measure.live_bytes();
    let data_bytes = if live > DATA_BYTES_MAX {
        live.next_multiple_of(16)
    } else {
        step_up(leaf_bytes.max(HEAD_BYTES + live)) - HEAD_BYTES
    };
    let free_at_head = if live > DATA_BYTES_MAX { 0 } else { lean.at_head(data_bytes - live) };
    if let ([piece], Codec::Fixed) = (pieces, measure.codec) {
        return Node::leaf_fixed(data_bytes, measure.width, piece.count, free_at_head, piece.bytes);
    }
    let mut node = Node::leaf(data_bytes, measure.codec, if measure.codec == Codec::Fixed { measure.width } else { 0 });
    place(&mut node, measure, free_at_head);
    copy_pieces(&mut node, pieces);
    node
}

/// Sets the head of an empty leaf: the places of bytes and lengths.
fn place(node: &mut Node, measure: &Measure, free_at_head: usize) {
    let (head, data) = node.leaf_mut();
    head.items = measure.count as u16;
    let column_width = measure.codec.column_width();
    if column_width == 0 {
        head.start = free_at_head as u16;
        return;
    }
    // Head slack is divided in the present ratio of item bytes to lengths.
    let per_item = (measure.bytes / measure.count + column_width).max(1);
    let column_slack = free_at_head / per_item * column_width;
    head.start = (free_at_head - column_slack) as u16;
    head.low = measure.bytes as u16;
    head.high = (data.len() - column_slack) as u16;
}

fn copy_pieces(node: &mut Node, pieces: &[View<'_>]) {
    let (head, data) = node.leaf_mut();
    let mut at = usize::from(head.start);
    let mut column_at = usize::from(head.high);
    for piece in pieces {
        data[at..at + piece.bytes.len()].copy_from_slice(piece.bytes);
        at += piece.bytes.len();
        let column_width = head.codec.column_width();
        if column_width > 0 {
            column_at -= piece.count * column_width;
            write_column(&mut data[column_at..column_at + piece.count * column_width], head.codec, piece);
        }
    }
}

fn write_column(column: &mut [u8], codec: Codec, piece: &View<'_>) {
    match (codec, piece.lengths) {
        (Codec::Narrow, Lengths::Narrow(lengths)) | (Codec::Wide, Lengths::Wide(lengths)) => {
            column.copy_from_slice(lengths);
        }
        (Codec::Narrow, Lengths::Fixed(width)) => column.fill(width as u8),
        _ => {
            for index in 0..piece.count {
                write_length(column, codec, piece.count - 1 - index, piece.length(index));
            }
        }
    }
}

fn write_length(column: &mut [u8], codec: Codec, place: usize, length: usize) {
    match codec {
        Codec::Narrow => column[place] = length as u8,
        Codec::Wide => column[2 * place..2 * place + 2].copy_from_slice(&(length as u16).to_le_bytes()),
        _ => {}
    }
}

/// Returns the next allocation size: multiples of 16 up to 128, then four steps per doubling.
fn step_up(bytes: usize) -> usize {
    let step = if bytes <= 128 { 16 } else { bytes.next_power_of_two() / 8 };
    bytes.next_multiple_of(step)
}

impl Node {
    /// Creates a leaf of one item at the end of a tree, with room for more on that side.
    pub(crate) fn leaf_opened(end: End, item: &[u8]) -> Node {
        build_with_room(&[View::item_alone(item)], OPENING_BYTES, Lean::All(end))
    }

    /// Creates a leaf of one item that is a whole list.
    pub(crate) fn leaf_alone(end: End, item: &[u8]) -> Node {
        build_with_room(&[View::item_alone(item)], 0, Lean::Mostly(end))
    }

    /// Returns the bytes in use after the head.
    pub(crate) fn live_bytes(&self) -> usize {
        let head = self.head();
        let count = usize::from(head.items);
        match head.codec {
            Codec::Fixed => count * head.width(),
            _ => usize::from(head.low) + count * head.codec.column_width(),
        }
    }

    pub(crate) fn leaf_totals(&self) -> Totals {
        let head = self.head();
        let count = u64::from(head.items);
        let content = match head.codec {
            Codec::Fixed => count * head.width() as u64,
            Codec::Narrow | Codec::Wide => u64::from(head.low),
            _ => u64::from(head.high),
        };
        Totals {
            items: count,
            content,
            heap: (HEAD_BYTES + head.data_bytes()) as u64,
            encoded: (encoded_heads(head) + self.live_bytes()) as u64,
        }
    }

    /// Pushes into an unshared leaf, if it has room; returns the growth of its encoded bytes.
    pub(crate) fn leaf_push_in_place(&mut self, end: End, item: &[u8]) -> Option<u64> {
        if self.head().codec.is_packed() {
            return None;
        }
        let (head, data) = self.leaf_mut();
        let before = encoded_heads(head);
        if !push_in_place(head, data, end, item) {
            return None;
        }
        let column_width = head.codec.column_width();
        Some((item.len() + column_width + encoded_heads(head) - before) as u64)
    }

    /// Pushes into a leaf that is shared or has no room; returns false if it is full (or better left as it is) and a
    /// new leaf should be opened.
    pub(crate) fn leaf_push(&mut self, end: End, item: &[u8], lean: Lean) -> bool {
        if self.is_packed() {
            return false;
        }
        let view = self.view();
        let live = self.live_bytes();
        let odd = matches!(view.lengths, Lengths::Fixed(width) if width != item.len());
        if odd && live >= DATA_BYTES_MAX / 2 {
            return false;
        }
        let alone = View::item_alone(item);
        let pieces = match end {
            End::Head => [alone, view],
            End::Tail => [view, alone],
        };
        let measure = Measure::of(&pieces);
        if !measure.fits() {
            return false;
        }
        let (now, after) = (HEAD_BYTES + self.head().data_bytes(), HEAD_BYTES + measure.live_bytes());
        let slides = self.is_unique() && !odd;
        if slides && now == LEAF_BYTES_MAX && LEAF_BYTES_MAX - after < SLIDE_BYTES_MIN {
            return false;
        }
        let keeps_size = 2 * after <= now || (!slides && after <= now);
        let wanted = if keeps_size { now } else { (2 * now).clamp(after, LEAF_BYTES_MAX) };
        let node = build_with_room(&pieces, wanted, lean);
        *self = node;
        true
    }

    /// Returns the packed bytes of a packed leaf.
    pub(crate) fn packed_bytes(&self) -> &[u8] {
        &self.data()[..usize::from(self.head().low)]
    }

    /// Creates a settled packed leaf of these bytes.
    pub(crate) fn packed(form: Form, count: usize, content_bytes: usize, data: &[u8]) -> Node {
        let mut node = Node::leaf_to_pack(form, count, content_bytes, data.len());
        node.leaf_mut().1[..data.len()].copy_from_slice(data);
        node.set_settled();
        node
    }

    /// Creates a packed leaf whose `bytes` are yet to be written.
    pub(crate) fn leaf_to_pack(form: Form, count: usize, content_bytes: usize, bytes: usize) -> Node {
        let mut node = Node::leaf(step_up(HEAD_BYTES + bytes) - HEAD_BYTES, Codec::Packed(form), 0);
        let (head, _) = node.leaf_mut();
        head.items = count as u16;
        head.low = bytes as u16;
        head.high = content_bytes as u16;
        node
    }

    /// Returns true if this packed leaf is settled.
    pub(crate) fn is_settled(&self) -> bool {
        self.head().start == SETTLED
    }

    /// Marks it as settled, unless it is shared: then it may be packed again, which does no harm.
    pub(crate) fn set_settled(&mut self) {
        if self.is_unique() {
            self.leaf_mut().0.start = SETTLED;
        }
    }

    /// Returns true if a smaller allocation would hold this leaf.
    pub(crate) fn is_roomy(&self) -> bool {
        step_up(HEAD_BYTES + self.live_bytes()) < HEAD_BYTES + self.head().data_bytes()
    }

    /// Removes `count` items from an end of a raw leaf, which keeps at least one.
    pub(crate) fn leaf_discard(&mut self, end: End, count: usize) {
        let items = usize::from(self.head().items);
        assert!(count < items);
        let (from, to) = match end {
            End::Head => (count, items),
            End::Tail => (0, items - count),
        };
        if self.is_unique() {
            let bytes = self.view().range(from, to).bytes.len();
            let offset = self.view().offset(from);
            let (head, _) = self.leaf_mut();
            head.items = (to - from) as u16;
            head.start += offset as u16;
            if head.codec != Codec::Fixed {
                head.low = bytes as u16;
                head.high -= (from * head.codec.column_width()) as u16;
            }
            self.leaf_shrink();
        } else {
            let node = build(&[self.view().range(from, to)]);
            *self = node;
        }
    }

    /// Releases memory when three quarters are unused.
    fn leaf_shrink(&mut self) {
        let (live, data_bytes) = (self.live_bytes(), self.head().data_bytes());
        if wastes(live, data_bytes) {
            let node = build_with_room(&[self.view()], HEAD_BYTES + 2 * live, Lean::Mostly(End::Tail));
            *self = node;
        }
    }

    /// Replaces `removed` (0 or 1) items at `index` by `item` in place, if the leaf is unshared, its codec can hold the item,
    /// and the gap has room. The leaf keeps at least one item.
    pub(crate) fn leaf_splice_in_place(&mut self, index: usize, removed: usize, item: Option<&[u8]>) -> bool {
        let inserted = usize::from(item.is_some());
        if self.is_packed() || !self.is_unique() {
            return false;
        }
        let view = self.view();
        let count = view.count - removed + inserted;
        if count == 0 || count > ITEMS_MAX {
            return false;
        }
        let at = view.offset(index);
        let old_bytes = if removed == 0 { 0 } else { view.length(index) };
        let new_bytes = item.map_or(0, <[u8]>::len);
        let used = view.bytes.len();
        let (head, data) = self.leaf_mut();
        let (column_width, column_end) = (head.codec.column_width(), column_end(head, data.len()));
        let start = usize::from(head.start);
        let end = start + used - old_bytes + new_bytes;
        if item.is_some_and(|item| !takes(head, item)) || end + count * column_width > column_end {
            return false;
        }
        if old_bytes != new_bytes {
            data.copy_within(start + at + old_bytes..start + used, start + at + new_bytes);
        }
        if let Some(item) = item {
            data[start + at..start + at + new_bytes].copy_from_slice(item);
        }
        if column_width > 0 {
            let behind = (usize::from(head.items) - index - removed) * column_width;
            let from = column_end - usize::from(head.items) * column_width;
            let to = column_end - count * column_width;
            if from != to {
                data.copy_within(from..from + behind, to);
            }
            if item.is_some() {
                write_length(&mut data[to + behind..], head.codec, 0, new_bytes);
            }
            head.low = (end - start) as u16;
        }
        head.items = count as u16;
        self.leaf_shrink();
        true
    }

    /// Pops one item from an end of an unshared leaf, if the leaf then needs no other change; returns the item's bytes
    /// and the reduction of the encoded bytes.
    pub(crate) fn leaf_pop_in_place(&mut self, end: End) -> Option<(u64, u64)> {
        if self.head().codec.is_packed() {
            return None;
        }
        let live = self.live_bytes();
        let (head, data) = self.leaf_mut();
        let (column_width, count) = (head.codec.column_width(), usize::from(head.items));
        let place = column_end(head, data.len()) - if end == End::Head { column_width } else { count * column_width };
        let length = match head.codec {
            Codec::Fixed => head.width(),
            Codec::Narrow => usize::from(data[place]),
            _ => usize::from(u16::from_le_bytes([data[place], data[place + 1]])),
        };
        let shed = length + column_width;
        if count == 1 || wastes(live - shed, data.len()) {
            return None;
        }
        let before = encoded_heads(head);
        head.items -= 1;
        if end == End::Head {
            head.start += length as u16;
        }
        if column_width > 0 {
            head.low -= length as u16;
            if end == End::Head {
                head.high -= column_width as u16;
            }
        }
        Some((length as u64, (shed + before - encoded_heads(head)) as u64))
    }
}

/// Returns true if a leaf should release memory: three quarters of it are unused.
fn wastes(live_bytes: usize, data_bytes: usize) -> bool {
    live_bytes * 4 < data_bytes && data_bytes > 64
}

/// Returns true if the leaf's codec can hold this item.
fn takes(head: &Head, item: &[u8]) -> bool {
    match head.codec {
        Codec::Fixed => item.len() == head.width(),
        Codec::Narrow => item.len() <= usize::from(u8::MAX),
        Codec::Wide => item.len() <= DATA_BYTES_MAX,
        _ => false,
    }
}

/// Returns the end of the column of lengths; a fixed leaf has an empty one at the very end.
fn column_end(head: &Head, data_bytes: usize) -> usize {
    if head.codec == Codec::Fixed { data_bytes } else { usize::from(head.high) }
}

/// Returns the bytes before the items in an encoded leaf: codec, count, width or bytes in use.
fn encoded_heads(head: &Head) -> usize {
    let extent = match head.codec {
        Codec::Fixed => head.width() as u64,
        _ => u64::from(head.low),
    };
    1 + varint::encoded_bytes(u64::from(head.items)) + varint::encoded_bytes(extent)
}

fn push_in_place(head: &mut Head, data: &mut [u8], end: End, item: &[u8]) -> bool {
    let (count, start) = (usize::from(head.items), usize::from(head.start));
    if count == ITEMS_MAX {
        return false;
    }
    let column_width = head.codec.column_width();
    let bytes = if head.codec == Codec::Fixed { count * head.width() } else { usize::from(head.low) };
    let column_end = column_end(head, data.len());
    let column_start = column_end - count * column_width;
    let has_room = match end {
        End::Head => start >= item.len() && data.len() - column_end >= column_width,
        End::Tail => start + bytes + item.len() + column_width <= column_start,
    };
    if !takes(head, item) || !has_room {
        return false;
    }
    let (at, column_at) = match end {
        End::Head => (start - item.len(), column_end),
        End::Tail => (start + bytes, column_start - column_width),
    };
    data[at..at + item.len()].copy_from_slice(item);
    head.items += 1;
    if end == End::Head {
        head.start = at as u16;
    }
    if column_width > 0 {
        write_length(&mut data[column_at..column_at + column_width], head.codec, 0, item.len());
        head.low += item.len() as u16;
        if end == End::Head {
            head.high += column_width as u16;
        }
    }
    true
}
