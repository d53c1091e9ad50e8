//! Changes to a list.

use super::{DecodeError, take, take_bytes};
use base::varint;
use blocks::{End, ITEM_BYTES_MAX};
use kinds::List;

/// A change to the list under a key, which is made if absent and goes when its last item leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange<'a> {
    /// 9 at the head, 10 at the tail. Items in the order in which they are pushed.
    Push {
        /// Where.
        end: End,
        /// What.
        items: Items<'a>,
    },
    /// 11 at the head, 12 at the tail. Items leave.
    Pop {
        /// Where.
        end: End,
        /// How many.
        count: u64,
    },
    /// 13. The item at an index becomes another.
    Put {
        /// From the head, 0 the first.
        index: u64,
        /// The new item.
        item: &'a [u8],
    },
    /// 14. An item comes before the one at an index.
    Insert {
        /// From the head; the length means behind the last.
        index: u64,
        /// The new item.
        item: &'a [u8],
    },
    /// 15. A run of items leaves.
    Remove {
        /// Of the first, from the head.
        index: u64,
        /// How many.
        count: u64,
    },
}

/// Items of one push: borrowed from a request, or as they lie in a record.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// As a handler has them.
    Slices(&'a [&'a [u8]]),
    /// As a record holds them: each behind its length.
    Encoded {
        /// How many.
        count: u64,
        /// Their bytes.
        bytes: &'a [u8],
    },
}

impl PartialEq for Items<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        self.encode(&mut ours);
        other.encode(&mut theirs);
        ours == theirs
    }
}

impl Eq for Items<'_> {}

impl<'a> Items<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Slices(slices) => {
                varint::put(out, slices.len() as u64);
                for item in slices {
                    varint::put_bytes(out, item);
                }
            }
            Self::Encoded { count, bytes } => {
                varint::put(out, count);
                out.extend_from_slice(bytes);
            }
        }
    }

    fn decode(input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let count = take(input)?;
        let start = *input;
        for _ in 0..count {
            take_item(input)?;
        }
        Ok(Self::Encoded { count, bytes: &start[..start.len() - input.len()] })
    }

    fn count(&self) -> u64 {
        match *self {
            Self::Slices(slices) => slices.len() as u64,
            Self::Encoded { count, .. } => count,
        }
    }

    fn for_each(&self, mut visit: impl FnMut(&[u8])) {
        match *self {
            Self::Slices(slices) => slices.iter().for_each(|item| visit(item)),
            Self::Encoded { count, mut bytes } => {
                for _ in 0..count {
                    visit(varint::take_bytes(&mut bytes).expect("checked when decoded"));
                }
            }
        }
    }
}

impl<'a> ListChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Push { end: End::Head, .. } => 9,
            Self::Push { end: End::Tail, .. } => 10,
            Self::Pop { end: End::Head, .. } => 11,
            Self::Pop { end: End::Tail, .. } => 12,
            Self::Put { .. } => 13,
            Self::Insert { .. } => 14,
            Self::Remove { .. } => 15,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Push { items, .. } => items.encode(out),
            Self::Pop { count, .. } => varint::put(out, count),
            Self::Put { index, item } | Self::Insert { index, item } => {
                varint::put(out, index);
                varint::put_bytes(out, item);
            }
            Self::Remove { index, count } => {
                varint::put(out, index);
                varint::put(out, count);
            }
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            9 => Self::Push { end: End::Head, items: Items::decode(input)? },
            10 => Self::Push { end: End::Tail, items: Items::decode(input)? },
            11 => Self::Pop { end: End::Head, count: take(input)? },
            12 => Self::Pop { end: End::Tail, count: take(input)? },
            13 => Self::Put { index: take(input)?, item: take_item(input)? },
            14 => Self::Insert { index: take(input)?, item: take_item(input)? },
            15 => Self::Remove { index: take(input)?, count: take(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// How many items a list of `len` has after this.
    pub(crate) fn len_after(&self, len: u64) -> u64 {
        match *self {
            Self::Push { items, .. } => len + items.count(),
            Self::Pop { count, .. } | Self::Remove { count, .. } => len - count,
            Self::Put { .. } => len,
            Self::Insert { .. } => len + 1,
        }
    }

    /// Changes `list`; a change that its length does not allow is a misfit and changes nothing.
    pub(super) fn apply(&self, list: &mut List) -> Result<(), DecodeError> {
        let len = list.len();
        let fits = match *self {
            Self::Push { .. } => true,
            Self::Pop { count, .. } => count <= len,
            Self::Put { index, .. } => index < len,
            Self::Insert { index, .. } => index <= len,
            Self::Remove { index, count } => index.checked_add(count).is_some_and(|end| end <= len),
        };
        if !fits {
            return Err(DecodeError::Misfit);
        }
        match *self {
            Self::Push { end, items } => items.for_each(|item| list.push(end, item)),
            Self::Pop { end: End::Head, count } => list.trim(count, len - count),
            Self::Pop { end: End::Tail, count } => list.trim(0, len - count),
            Self::Put { index, item } => list.set(index, item),
            Self::Insert { index, item } => list.insert(index, item),
            Self::Remove { index, count: 1 } => list.remove(index),
            Self::Remove { index, count } => {
                let mut rest = list.split_off(index);
                rest.trim(count, rest.len() - count);
                list.append(rest);
            }
        }
        Ok(())
    }
}

/// An item as long as a list can hold: a frame has room for a longer one.
fn take_item<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    take_bytes(input).ok().filter(|item| item.len() <= ITEM_BYTES_MAX).ok_or(DecodeError::Malformed)
}
