//! Reads items that are back to back: a leaf, a part of one, or a single item from outside.
//!
//! The rest of the crate sees a raw block through a view. A packed one ([`Leaf::Packed`]) is unpacked as far as needed,
//! and the copy is viewed.
//!
//! ```text
//!   bytes:   | item 0 | item 1 | item 2 |            back to back, in order
//!   lengths: fixed: one width for all
//!            narrow, wide: | length 2 | length 1 | length 0 |   one or two bytes each, in *reverse*,
//!            so that bytes and lengths grow towards each other while a list is pushed at its tail
//! ```

use crate::Direction;
use crate::node::Node;
use crate::ordered::Seeking;
use crate::pack::{Form, Packed, Run};

/// The layout of a block's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// All items have one length; nothing is kept per item.
    Fixed,
    /// One byte of length per item.
    Narrow,
    /// Two bytes of length per item, lower byte first.
    Wide,
    /// Packed in this form.
    Packed(Form),
}

const _: () = assert!(size_of::<Codec>() == 1);

impl Codec {
    /// Returns the number in the block format.
    pub(crate) fn number(self) -> u8 {
        match self {
            Codec::Fixed => 1,
            Codec::Narrow => 2,
            Codec::Wide => 3,
            Codec::Packed(form) => form as u8,
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<Codec> {
        match number {
            1 => Some(Codec::Fixed),
            2 => Some(Codec::Narrow),
            3 => Some(Codec::Wide),
            _ => Form::from_byte(number).map(Codec::Packed),
        }
    }

    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Codec::Packed(_))
    }

    /// Returns the bytes of length per item in a raw block.
    pub(crate) fn column_width(self) -> usize {
        match self {
            Codec::Narrow => 1,
            Codec::Wide => 2,
            _ => 0,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Lengths<'a> {
    Fixed(usize),
    Narrow(&'a [u8]),
    Wide(&'a [u8]),
}

/// A run of items.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) count: usize,
    pub(crate) lengths: Lengths<'a>,
    pub(crate) bytes: &'a [u8],
}

/// The items of a leaf in their stored layout.
#[derive(Clone, Copy)]
pub(crate) enum Leaf<'a> {
    Raw(View<'a>),
    Packed(Packed<'a>),
}

/// Items ready to view, unpacked if necessary.
pub(crate) enum Opened<'a> {
    Raw(View<'a>),
    Unpacked(Run),
}

impl Opened<'_> {
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Opened::Raw(view) => *view,
            Opened::Unpacked(run) => run.view(),
        }
    }
}

impl<'a> Leaf<'a> {
    /// Opens the items `from..to`.
    pub(crate) fn open(&self, from: usize, to: usize) -> Opened<'a> {
        match self {
            Leaf::Raw(view) => Opened::Raw(view.range(from, to)),
            Leaf::Packed(packed) => Opened::Unpacked(packed.unpack(from, to)),
        }
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            Leaf::Raw(view) => view.count,
            Leaf::Packed(packed) => packed.count(),
        }
    }

    /// Passes one item to `visit`.
    pub(crate) fn item<R>(&self, index: usize, visit: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Leaf::Raw(view) => visit(view.item(index)),
            Leaf::Packed(packed) => visit(packed.unpack(index, index + 1).view().bytes),
        }
    }

    /// Returns the first of the items `from..to` for which `is_before` does not hold, or `to`; also `visit` of the item
    /// there, if it is one of them.
    pub(crate) fn point<R>(
        &self,
        (from, to): (usize, usize),
        mut seeking: Seeking<'_, impl FnMut(&[u8]) -> bool>,
        visit: &mut Option<impl FnOnce(&[u8]) -> R>,
    ) -> (usize, Option<R>) {
        let mut visit = |item: &[u8]| visit.take().map(|visit| visit(item));
        match self {
            Leaf::Raw(view) => {
                let (at, begin) = view.point(from, to, &mut seeking);
                let seen = if at < to { visit(&view.bytes[begin..begin + view.length(at)]) } else { None };
                (at, seen)
            }
            Leaf::Packed(_) => {
                let look = |seeking: &mut Seeking<'_, _>, at| self.item(at, |item| seeking.is_before(item));
                let at = seeking.seek(from, to, look);
                let seen = if at < to { self.item(at, visit) } else { None };
                (at, seen)
            }
        }
    }

    /// Returns the nearest index from `from` on, inclusive, in this direction, whose item equals `needle`.
    pub(crate) fn find(&self, needle: &[u8], from: usize, direction: Direction) -> Option<usize> {
        let (start, end) = match direction {
            Direction::Forward => (from, self.count()),
            Direction::Backward => (0, from + 1),
        };
        match self {
            Leaf::Raw(view) => view.range(start, end).find(needle, direction).map(|index| start + index),
            Leaf::Packed(packed) => packed.find(needle, start, end, direction),
        }
    }
}

impl Node {
    /// Returns the items of a leaf in their stored layout.
    pub(crate) fn contents(&self) -> Leaf<'_> {
        let head = self.head();
        match head.codec {
            Codec::Packed(form) => Leaf::Packed(Packed::of(form, usize::from(head.items), self.packed_bytes())),
            _ => Leaf::Raw(self.view()),
        }
    }

    /// Opens all items of a leaf.
    pub(crate) fn open(&self) -> Opened<'_> {
        self.contents().open(0, usize::from(self.head().items))
    }

    pub(crate) fn is_packed(&self) -> bool {
        self.is_leaf() && self.head().codec.is_packed()
    }

    /// Views the items of a raw leaf.
    pub(crate) fn view(&self) -> View<'_> {
        let head = self.head();
        let data = self.data();
        let count = usize::from(head.items);
        let start = usize::from(head.start);
        let mixed = |column_width: usize| {
            let end = usize::from(head.high);
            (&data[end - count * column_width..end], &data[start..start + usize::from(head.low)])
        };
        match head.codec {
            Codec::Fixed => {
                let width = head.width();
                View { count, lengths: Lengths::Fixed(width), bytes: &data[start..start + count * width] }
            }
            Codec::Narrow => {
                let (column, bytes) = mixed(1);
                View { count, lengths: Lengths::Narrow(column), bytes }
            }
            Codec::Wide => {
                let (column, bytes) = mixed(2);
                View { count, lengths: Lengths::Wide(column), bytes }
            }
            _ => unreachable!("a packed leaf is seen unpacked"),
        }
    }
}

impl<'a> View<'a> {
    /// Views one item from outside.
    pub(crate) fn item_alone(item: &'a [u8]) -> View<'a> {
        View { count: 1, lengths: Lengths::Fixed(item.len()), bytes: item }
    }

    pub(crate) fn length(&self, index: usize) -> usize {
        debug_assert!(index < self.count);
        match self.lengths {
            Lengths::Fixed(width) => width,
            Lengths::Narrow(column) => usize::from(column[self.count - 1 - index]),
            Lengths::Wide(column) => wide(column, self.count - 1 - index),
        }
    }

    /// Returns the offset of item `index` in `bytes`; `index == count` gives their end. Sums the shorter side, so it
    /// costs at most a few dozen nanoseconds in a full block.
    pub(crate) fn offset(&self, index: usize) -> usize {
        debug_assert!(index <= self.count);
        let behind = self.count - index;
        let near_head = index <= behind;
        match self.lengths {
            Lengths::Fixed(width) => index * width,
            Lengths::Narrow(column) if near_head => sum_narrow(&column[behind..]),
            Lengths::Narrow(column) => self.bytes.len() - sum_narrow(&column[..behind]),
            Lengths::Wide(column) if near_head => sum_wide(&column[2 * behind..]),
            Lengths::Wide(column) => self.bytes.len() - sum_wide(&column[..2 * behind]),
        }
    }

    /// Returns the bytes of the items `from..to`.
    fn bytes_between(&self, from: usize, to: usize) -> usize {
        let (first, end) = (self.count - to, self.count - from);
        match self.lengths {
            Lengths::Fixed(width) => (to - from) * width,
            Lengths::Narrow(column) => sum_narrow(&column[first..end]),
            Lengths::Wide(column) => sum_wide(&column[2 * first..2 * end]),
        }
    }

    /// Returns the first of the items `from..to` for which `is_before` does not hold, or `to`; also its offset in
    /// `bytes`. Sums each length about once.
    fn point(
        &self,
        mut from: usize,
        mut to: usize,
        seeking: &mut Seeking<'_, impl FnMut(&[u8]) -> bool>,
    ) -> (usize, usize) {
        let mut begin = self.offset(from);
        while from < to {
            let middle = seeking.next(from, to);
            let at = begin + self.bytes_between(from, middle);
            let end = at + self.length(middle);
            if seeking.is_before(&self.bytes[at..end]) {
                (from, begin) = (middle + 1, end);
            } else {
                to = middle;
            }
        }
        (from, begin)
    }

    /// Returns how many leading items have at most `bytes_max` bytes together; at least one, if there is one.
    pub(crate) fn count_within(&self, bytes_max: usize) -> usize {
        if self.bytes.len() <= bytes_max {
            return self.count;
        }
        let mut bytes = 0;
        let is_beyond = |&index: &usize| {
            bytes += self.length(index);
            index > 0 && bytes > bytes_max
        };
        (0..self.count).find(is_beyond).unwrap_or(self.count)
    }

    pub(crate) fn item(&self, index: usize) -> &'a [u8] {
        let offset = self.offset(index);
        &self.bytes[offset..offset + self.length(index)]
    }

    /// Returns the items `from..to`.
    pub(crate) fn range(&self, from: usize, to: usize) -> View<'a> {
        assert!(from <= to);
        assert!(to <= self.count);
        let column = |column: &'a [u8], width: usize| &column[(self.count - to) * width..(self.count - from) * width];
        let lengths = match self.lengths {
            Lengths::Fixed(width) => Lengths::Fixed(width),
            Lengths::Narrow(all) => Lengths::Narrow(column(all, 1)),
            Lengths::Wide(all) => Lengths::Wide(column(all, 2)),
        };
        View { count: to - from, lengths, bytes: &self.bytes[self.offset(from)..self.offset(to)] }
    }

    /// Returns the common length of all items, if there is one.
    pub(crate) fn common_length(&self) -> Option<usize> {
        let first = if self.count == 0 { return None } else { self.length(0) };
        let same = match self.lengths {
            Lengths::Fixed(_) => true,
            Lengths::Narrow(column) => column.iter().all(|&length| usize::from(length) == first),
            Lengths::Wide(_) => (1..self.count).all(|index| self.length(index) == first),
        };
        same.then_some(first)
    }

    pub(crate) fn longest(&self) -> usize {
        match self.lengths {
            Lengths::Fixed(width) => width,
            Lengths::Narrow(column) => column.iter().copied().max().map_or(0, usize::from),
            Lengths::Wide(_) => (0..self.count).map(|index| self.length(index)).max().unwrap_or(0),
        }
    }

    /// Returns the sum of the lengths: equal to `bytes.len()` in every valid view.
    pub(crate) fn lengths_sum(&self) -> usize {
        match self.lengths {
            Lengths::Fixed(width) => width * self.count,
            Lengths::Narrow(column) => sum_narrow(column),
            Lengths::Wide(column) => sum_wide(column),
        }
    }

    /// Returns the column of lengths as in memory.
    pub(crate) fn column(&self) -> &'a [u8] {
        match self.lengths {
            Lengths::Fixed(_) => &[],
            Lengths::Narrow(column) | Lengths::Wide(column) => column,
        }
    }
}

fn wide(column: &[u8], place: usize) -> usize {
    usize::from(u16::from_le_bytes([column[2 * place], column[2 * place + 1]]))
}

fn sum_narrow(column: &[u8]) -> usize {
    // Four lanes of sixteen bits, each of which takes two lengths of eight: 128 times two are below 2^16, of which the
    // last is for the rest.
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    const EVEN_LANES: u64 = 0x0000_ffff_0000_ffff;
    const LANES_FULL: usize = 8 * 127;
    let mut sum = 0;
    for part in column.chunks(LANES_FULL) {
        let (eights, rest) = part.as_chunks::<8>();
        let add = |lanes: u64, eight: u64| lanes + (eight & EVEN) + (eight >> 8 & EVEN);
        let lanes = eights.iter().fold(0, |lanes, eight| add(lanes, u64::from_le_bytes(*eight)));
        let lanes = match part.last_chunk::<8>() {
            // Of the last eight, those that are summed already are shifted out.
            Some(last) if !rest.is_empty() => add(lanes, u64::from_le_bytes(*last) >> (8 * (8 - rest.len()))),
            Some(_) => lanes,
            None => rest.iter().fold(lanes, |lanes, length| lanes + u64::from(*length)),
        };
        let halves = (lanes & EVEN_LANES) + (lanes >> 16 & EVEN_LANES);
        sum += (halves as u32 as usize) + (halves >> 32) as usize;
    }
    sum
}

fn sum_wide(column: &[u8]) -> usize {
    column.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).sum::<u32>() as usize
}
