//! A reference-counted pointer to a node, and the sixteen-byte head of every node.
//!
//! ```text
//!   0         4       5       6       8          10      12    14    16
//!   | refs    | level | codec | items | capacity | start | low | high | leaf: slack, bytes, gap, column, slack
//! ```
//!
//! `level` 0 is a leaf; the fields after it belong to leaves (see `leaf`, and `pack` for packed leaves). An inner node
//! uses only `refs` and `level` and continues as in `inner`. The count is our own rather than `Arc`'s so that a
//! uniqueness check is one load and the head stays at sixteen bytes.

use base::primitives::atomic::{AtomicU32, Ordering, fence};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::End;
use crate::inner::Inner;
use crate::leaf::DATA_BYTES_MAX;
use crate::retired;
use crate::view::{Codec, Leaf};

/// Bytes of a [`Head`].
pub(crate) const HEAD_BYTES: usize = size_of::<Head>();

/// Number of cache lines prefetched of a leaf: usually all columns of a columnar chunk.
const PREFETCHED_LINES: usize = 7;

/// Counts beyond this indicate a leak, far before the counter wraps.
const REFS_MAX: u32 = u32::MAX / 2;

#[repr(C)]
pub(crate) struct Head {
    refs: AtomicU32,
    pub(crate) level: u8,
    pub(crate) codec: Codec,
    /// Number of items in the leaf.
    pub(crate) items: u16,
    /// Bytes after the head; 0 when a single item exceeds a block: then the item's length determines them.
    pub(crate) capacity: u16,
    /// Start of the item bytes, from the end of the head. Packed: 1 once settled.
    pub(crate) start: u16,
    /// Fixed: the lower half of the item width. Mixed: item bytes in use. Packed: bytes in use.
    pub(crate) low: u16,
    /// Fixed: the upper half of the item width. Mixed: end of the column of lengths. Packed: bytes of the items
    /// unpacked.
    pub(crate) high: u16,
}

const _: () = assert!(HEAD_BYTES == 16);

impl Head {
    pub(crate) fn new(level: u8, codec: Codec) -> Head {
        Head { refs: AtomicU32::new(1), level, codec, items: 0, capacity: 0, start: 0, low: 0, high: 0 }
    }

    /// Creates the head of a leaf without items.
    fn of_leaf(data_bytes: usize, codec: Codec, width: usize) -> Head {
        let mut head = Head::new(0, codec);
        head.capacity = if data_bytes <= DATA_BYTES_MAX { data_bytes as u16 } else { 0 };
        head.set_width(width);
        assert!(head.data_bytes() == data_bytes);
        head
    }

    /// Returns the item width of a fixed leaf.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.low) | usize::from(self.high) << 16
    }

    pub(crate) fn set_width(&mut self, width: usize) {
        self.low = width as u16;
        self.high = (width >> 16) as u16;
    }

    /// Returns the bytes after the head.
    pub(crate) fn data_bytes(&self) -> usize {
        if self.capacity == 0 { self.width().next_multiple_of(16) } else { usize::from(self.capacity) }
    }
}

/// Totals that a node reports to its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) items: u64,
    /// Item bytes.
    pub(crate) content: u64,
    /// Bytes allocated.
    pub(crate) heap: u64,
    /// Bytes of the encoded leaves.
    pub(crate) encoded: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: Totals) {
        self.items += other.items;
        self.content += other.content;
        self.heap += other.heap;
        self.encoded += other.encoded;
    }

    pub(crate) fn subtract(&mut self, other: Totals) {
        self.items -= other.items;
        self.content -= other.content;
        self.heap -= other.heap;
        self.encoded -= other.encoded;
    }
}

/// A reference-counted shared node: a leaf or an inner node.
pub(crate) struct Node(NonNull<Head>);

// SAFETY: a node is read only through `&self`, and written only through `&mut self` when its count is one; the
// count itself is atomic, and the last drop synchronises with all others.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

pub(crate) enum Kind<'a> {
    Leaf(Leaf<'a>),
    Inner(&'a Inner),
}

impl Node {
    /// Creates an empty leaf with `data_bytes` zeros after its head. A fixed leaf gets its item width here, since
    /// beyond the block size that width determines the leaf's size.
    pub(crate) fn leaf(data_bytes: usize, codec: Codec, width: usize) -> Node {
        let layout = leaf_layout(data_bytes);
        // SAFETY: the layout holds at least a head, so its size is not zero. Zeros, since slack is exposed as
        // plain bytes.
        let pointer = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(pointer) else { handle_alloc_error(layout) };
        // SAFETY: fresh memory of this layout, aligned for a head.
        unsafe { pointer.cast::<Head>().write(Head::of_leaf(data_bytes, codec, width)) };
        Node(pointer.cast())
    }

    /// Creates a fixed leaf of `count` items of `width` in `bytes`, placed from `start` on. Zeroes only the rest: with
    /// large items every byte counts.
    pub(crate) fn leaf_fixed(data_bytes: usize, width: usize, count: usize, start: usize, bytes: &[u8]) -> Node {
        let end = start + bytes.len();
        assert!(end <= data_bytes);
        let layout = leaf_layout(data_bytes);
        let mut head = Head::of_leaf(data_bytes, Codec::Fixed, width);
        head.items = count as u16;
        head.start = start as u16;
        // SAFETY: the layout holds at least a head, so its size is not zero.
        let pointer = unsafe { alloc(layout) };
        let Some(pointer) = NonNull::new(pointer) else { handle_alloc_error(layout) };
        // SAFETY: fresh memory of this layout, aligned for a head, with `data_bytes` after it. The three writes
        // meet at `start` and `end`, neither beyond `data_bytes` (asserted), so they leave no byte unwritten; and
        // `bytes` cannot overlap what has just been allocated.
        unsafe {
            pointer.cast::<Head>().write(head);
            let data = pointer.as_ptr().add(HEAD_BYTES);
            data.write_bytes(0, start);
            data.add(start).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            data.add(end).write_bytes(0, data_bytes - end);
        }
        Node(pointer.cast())
    }

    pub(crate) fn inner(inner: Inner) -> Node {
        Node(NonNull::from(Box::leak(Box::new(inner))).cast())
    }

    pub(crate) fn head(&self) -> &Head {
        // SAFETY: the pointer is valid while a count is held, and nobody writes while `&self` lives.
        unsafe { self.0.as_ref() }
    }

    pub(crate) fn level(&self) -> u8 {
        self.head().level
    }

    pub(crate) fn is_leaf(&self) -> bool {
        self.level() == 0
    }

    /// Returns true if the node is unshared: only then may it be changed in place.
    pub(crate) fn is_unique(&self) -> bool {
        self.head().refs.load(Ordering::Acquire) == 1
    }

    pub(crate) fn same_as(&self, other: &Node) -> bool {
        self.0 == other.0
    }

    /// Returns the node's address, unique while the node is alive.
    pub(crate) fn address(&self) -> usize {
        self.0.addr().get()
    }

    pub(crate) fn kind(&self) -> Kind<'_> {
        if self.is_leaf() { Kind::Leaf(self.contents()) } else { Kind::Inner(self.as_inner()) }
    }

    pub(crate) fn as_inner(&self) -> &Inner {
        assert!(!self.is_leaf());
        // SAFETY: a node above level 0 was made by `Node::inner`, so the pointer is to an `Inner`.
        unsafe { self.0.cast::<Inner>().as_ref() }
    }

    /// Returns the inner node for writing, copied first if shared.
    pub(crate) fn inner_mut(&mut self) -> &mut Inner {
        if !self.is_unique() {
            let inner = self.as_inner();
            let (own_bytes, copy) = (inner.own_bytes(), Node::inner(inner.copy()));
            // The children are carried over.
            retired::counted_as(own_bytes, || *self = copy);
        }
        assert!(!self.is_leaf());
        // SAFETY: an inner node (asserted) held by us alone, borrowed mutably.
        unsafe { self.0.cast::<Inner>().as_mut() }
    }

    /// Runs [`Inner::drop_children`] on this inner node, or on a copy in its place if shared.
    pub(crate) fn drop_children(&mut self, end: End, count: u64) -> u64 {
        if self.is_unique() {
            return self.inner_mut().drop_children(end, count);
        }
        let inner = self.as_inner();
        let (copy, rest) = inner.copy_without(end, count);
        // The children that stay are carried over.
        let shed_bytes = inner.totals().heap - (copy.totals().heap - copy.own_bytes());
        let copy = Node::inner(copy);
        retired::counted_as(shed_bytes, || *self = copy);
        rest
    }

    /// Returns the bytes after a leaf's head.
    pub(crate) fn data(&self) -> &[u8] {
        assert!(self.is_leaf());
        let bytes = self.head().data_bytes();
        // SAFETY: `Node::leaf` or `Node::leaf_fixed` allocated and wrote that many bytes after the head.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast::<u8>().add(HEAD_BYTES), bytes) }
    }

    /// Returns head and data of an unshared leaf.
    pub(crate) fn leaf_mut(&mut self) -> (&mut Head, &mut [u8]) {
        assert!(self.is_leaf());
        assert!(self.is_unique());
        let bytes = self.head().data_bytes();
        // SAFETY: held by us alone and borrowed mutably; head and data do not overlap, the data was allocated
        // and written by `Node::leaf` or `Node::leaf_fixed`.
        unsafe {
            let data = std::slice::from_raw_parts_mut(self.0.as_ptr().cast::<u8>().add(HEAD_BYTES), bytes);
            (self.0.as_mut(), data)
        }
    }

    /// Prefetches the beginning of a node that is read next.
    pub(crate) fn prefetch(&self) {
        self.prefetch_lines(0..PREFETCHED_LINES);
    }

    /// Prefetches the beginning and the end of a leaf of full size, and the items that a search looks at first.
    pub(crate) fn prefetch_leaf(&self) {
        self.prefetch_lines([0, 1, 16, 17, 32, 33, 48, 49, 62, 63]);
    }

    /// Prefetches the head of a leaf, and the lines about so many bytes after it.
    pub(crate) fn prefetch_items(&self, bytes: u64) {
        let line = (bytes as usize).min(DATA_BYTES_MAX) / 64;
        self.prefetch_lines([0, line.saturating_sub(1), line, line + 1, line + 2]);
    }

    #[cfg_attr(any(not(target_arch = "x86_64"), miri), expect(unused_variables))]
    fn prefetch_lines(&self, lines: impl IntoIterator<Item = usize>) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        for line in lines {
            let at = self.0.as_ptr().cast::<i8>().wrapping_add(64 * line);
            // SAFETY: a prefetch is a hint: it reads nothing, and an unmapped address does no harm.
            unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at) }
        }
    }

    /// Returns `look` of the item at an end. O(height).
    pub(crate) fn end<R>(&self, end: End, look: impl FnOnce(&[u8]) -> R) -> R {
        let mut node = self;
        loop {
            match node.kind() {
                Kind::Leaf(leaf) => return leaf.item(if end == End::Head { 0 } else { leaf.count() - 1 }, look),
                Kind::Inner(inner) => node = inner.child(inner.end_index(end)),
            }
        }
    }

    pub(crate) fn items(&self) -> u64 {
        match self.level() {
            0 => u64::from(self.head().items),
            _ => self.as_inner().items(),
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        match self.level() {
            0 => self.leaf_totals(),
            _ => self.as_inner().totals(),
        }
    }

    #[cold]
    fn free(&mut self) {
        if self.is_leaf() {
            let layout = leaf_layout(self.head().data_bytes());
            // SAFETY: the last holder; allocated as a leaf with this very layout, since `data_bytes` never
            // changes in a leaf's life.
            unsafe { dealloc(self.0.as_ptr().cast(), layout) }
        } else {
            // SAFETY: the last holder of what `Node::inner` leaked from a box.
            drop(unsafe { Box::from_raw(self.0.cast::<Inner>().as_ptr()) });
        }
    }
}

impl Clone for Node {
    fn clone(&self) -> Node {
        let before = self.head().refs.fetch_add(1, Ordering::Relaxed);
        assert!(before < REFS_MAX, "a block has too many references");
        Node(self.0)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if !self.is_unique() {
            let bytes = self.totals().heap;
            if self.head().refs.fetch_sub(1, Ordering::Release) != 1 {
                return retired::note(bytes);
            }
            fence(Ordering::Acquire);
        }
        self.free();
    }
}

fn leaf_layout(data_bytes: usize) -> Layout {
    Layout::from_size_align(HEAD_BYTES + data_bytes, align_of::<Head>()).expect("a block's size is bounded")
}
