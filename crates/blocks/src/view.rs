//! Reading items that lie back to back: a leaf, a part of one, or a single item from outside.
//!
//! A view is what the rest of the crate sees of a block. The `match` over [`Codec`] in [`Node::view`] is the only
//! place that knows how a block keeps its items; packed codecs join there.
//!
//! ```text
//!   bytes:   | item 0 | item 1 | item 2 |            back to back, in order
//!   lengths: fixed: one width for all
//!            narrow, wide: | length 2 | length 1 | length 0 |   one or two bytes each, in *reverse*,
//!            so that bytes and lengths grow towards each other while a list is pushed at its tail
//! ```

use crate::node::Node;

/// How a block keeps its items. The numbers are part of the block format.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// All items have one length; nothing is kept per item.
    Fixed = 1,
    /// One byte of length per item.
    Narrow = 2,
    /// Two bytes of length per item, lower byte first.
    Wide = 3,
}

impl Codec {
    pub(crate) fn from_byte(byte: u8) -> Option<Codec> {
        [Codec::Fixed, Codec::Narrow, Codec::Wide].into_iter().find(|codec| *codec as u8 == byte)
    }

    /// Bytes kept per item.
    pub(crate) fn column_width(self) -> usize {
        match self {
            Codec::Fixed => 0,
            Codec::Narrow => 1,
            Codec::Wide => 2,
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

impl Node {
    /// The items of a leaf.
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
        }
    }
}

impl<'a> View<'a> {
    /// One item from outside.
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

    /// Where item `index` begins in `bytes`; `index == count` gives their end. Sums the shorter side, so it costs
    /// at most a few dozen nanoseconds in a full block.
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

    pub(crate) fn item(&self, index: usize) -> &'a [u8] {
        let offset = self.offset(index);
        &self.bytes[offset..offset + self.length(index)]
    }

    /// The items `from..to`.
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

    /// The one length all items have, if there is one.
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

    /// Sum of the lengths: equal to `bytes.len()` in every sound view.
    pub(crate) fn lengths_sum(&self) -> usize {
        match self.lengths {
            Lengths::Fixed(width) => width * self.count,
            Lengths::Narrow(column) => sum_narrow(column),
            Lengths::Wide(column) => sum_wide(column),
        }
    }

    /// The column of lengths as it lies in memory.
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
    // At most 4,080 lengths below 256: a u32 holds it, and vectorises.
    column.iter().map(|&length| u32::from(length)).sum::<u32>() as usize
}

fn sum_wide(column: &[u8]) -> usize {
    column.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).sum::<u32>() as usize
}
