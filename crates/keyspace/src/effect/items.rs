//! The items of an effect: all items of one command share one record.

use super::{DecodeError, take, take_bytes};
use base::varint;
use blocks::ITEM_BYTES_MAX;

/// The items of one effect: borrowed from a request, or encoded in a record.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// As in a handler.
    Slices(&'a [&'a [u8]]),
    /// As in a record: each length-prefixed.
    Encoded {
        /// Number of items.
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
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
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

    pub(super) fn decode(input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let count = take(input)?;
        let start = *input;
        for _ in 0..count {
            take_item(input)?;
        }
        Ok(Self::Encoded { count, bytes: &start[..start.len() - input.len()] })
    }

    pub(super) fn count(&self) -> u64 {
        match *self {
            Self::Slices(slices) => slices.len() as u64,
            Self::Encoded { count, .. } => count,
        }
    }

    /// Returns all items, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        let (slices, count, mut bytes) = match *self {
            Self::Slices(slices) => (slices, 0, &[][..]),
            Self::Encoded { count, bytes } => (&[][..], count, bytes),
        };
        let encoded = (0..count).map(move |_| varint::take_bytes(&mut bytes).expect("checked when decoded"));
        slices.iter().copied().chain(encoded)
    }
}

/// Takes an item no longer than a list can hold; a frame has room for longer ones.
pub(super) fn take_item<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    take_bytes(input).ok().filter(|item| item.len() <= ITEM_BYTES_MAX).ok_or(DecodeError::Malformed)
}
