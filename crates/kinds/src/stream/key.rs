//! What an item of a stream's list begins with: its tag, and that by which items of one tag are ordered.

use super::id::{ID_BYTES, StreamId};

/// The number of a group, by its name.
pub(super) const GROUP_NAME: u8 = 1;
/// A group, by its number.
pub(super) const GROUP: u8 = 2;
/// The number of a consumer, by group and name.
pub(super) const CONSUMER_NAME: u8 = 3;
/// A consumer, by group and number.
pub(super) const CONSUMER: u8 = 4;
/// What was delivered and not acknowledged, by group and id.
pub(super) const PENDING: u8 = 5;
/// The same, by group, consumer and id.
pub(super) const OWNED: u8 = 6;
/// Some entries, by the first of them.
pub(super) const CHUNK: u8 = 7;
/// The last item.
pub(super) const FOOT: u8 = 8;

/// Bytes before a name, in items that are found by one: the tag, and whose name it is.
const NAME_HEAD_BYTES: usize = 5;
/// Bytes of the number behind them, which is found.
const NUMBER_BYTES: usize = 4;

/// A place in the order of items.
pub(super) struct Key {
    head: Vec<u8>,
    name: Vec<u8>,
}

impl Key {
    /// Of all items of a tag.
    pub(super) fn tag(tag: u8) -> Self {
        Self { head: vec![tag], name: Vec::new() }
    }

    /// Behind it, a number.
    pub(super) fn number(mut self, number: u32) -> Self {
        self.head.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Behind it, an id.
    pub(super) fn id(mut self, id: StreamId) -> Self {
        self.head.extend_from_slice(&id.to_bytes());
        self
    }

    /// Behind it, a name; of an item that is found by one.
    pub(super) fn name(mut self, name: &[u8]) -> Self {
        self.name = name.to_vec();
        self
    }

    /// That which no item has that begins with this one, and all behind it have passed.
    pub(super) fn behind(mut self) -> Self {
        while self.head.last() == Some(&u8::MAX) {
            self.head.pop();
        }
        *self.head.last_mut().expect("no tag is that high") += 1;
        self
    }

    /// The bytes of an item that is found by this key, up to what it says.
    pub(super) fn into_item(self) -> Vec<u8> {
        self.head
    }

    /// Whether an item belongs before it.
    pub(super) fn is_behind(&self, item: &[u8]) -> bool {
        order(item) < (&self.head, &self.name)
    }
}

/// By what an item is ordered.
fn order(item: &[u8]) -> (&[u8], &[u8]) {
    match item.first() {
        Some(&(GROUP_NAME | CONSUMER_NAME)) => {
            let head_bytes = NAME_HEAD_BYTES.min(item.len());
            (&item[..head_bytes], item.get(NAME_HEAD_BYTES + NUMBER_BYTES..).unwrap_or_default())
        }
        _ => (item, &[]),
    }
}

/// Whether two neighbours are in order.
pub(super) fn rise(item: &[u8], next: &[u8]) -> bool {
    order(item) < order(next)
}

/// The item that has a number be found by a name, within `of`.
pub(super) fn name_item(tag: u8, of: u32, name: &[u8], number: u32) -> Vec<u8> {
    [&[tag][..], &of.to_be_bytes(), &number.to_be_bytes(), name].concat()
}

/// Takes such an item apart: within what, the number, the name.
pub(super) fn named(item: &[u8]) -> Option<(u32, u32, &[u8])> {
    let mut rest = item.get(1..)?;
    Some((take_number(&mut rest)?, take_number(&mut rest)?, rest))
}

/// Takes a number off the front.
pub(super) fn take_number(input: &mut &[u8]) -> Option<u32> {
    let (bytes, rest) = input.split_first_chunk::<4>()?;
    *input = rest;
    Some(u32::from_be_bytes(*bytes))
}

/// Bytes of the key of an item of [`PENDING`].
pub(super) const PENDING_KEY_BYTES: usize = 1 + NUMBER_BYTES + ID_BYTES;
