//! The start of an item in a stream's list: its tag, and the sort key within the tag.

use super::id::{ID_BYTES, StreamId};
use blocks::Guide;

/// The number of a group, by its name.
pub(super) const GROUP_NAME: u8 = 1;
/// A group, by its number.
pub(super) const GROUP: u8 = 2;
/// The number of a consumer, by group and name.
pub(super) const CONSUMER_NAME: u8 = 3;
/// A consumer, by group and number.
pub(super) const CONSUMER: u8 = 4;
/// A pending delivery, by group and id.
pub(super) const PENDING: u8 = 5;
/// The same, by group, consumer and id.
pub(super) const OWNED: u8 = 6;
/// A chunk of entries, by the first of them.
pub(super) const CHUNK: u8 = 7;
/// The last item.
pub(super) const FOOT: u8 = 8;

/// Bytes before a name, in items keyed by name: the tag and the parent's number.
const NAME_HEAD_BYTES: usize = 5;
/// Bytes of the number after them, which is the result.
const NUMBER_BYTES: usize = 4;

/// A position in the order of items.
#[derive(Debug)]
pub(super) struct Key {
    head: Vec<u8>,
    name: Vec<u8>,
}

impl Key {
    /// The start of all items with a tag.
    pub(super) fn tag(tag: u8) -> Self {
        Self { head: vec![tag], name: Vec::new() }
    }

    /// Appends a number.
    pub(super) fn number(mut self, number: u32) -> Self {
        self.head.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Appends an id.
    pub(super) fn id(mut self, id: StreamId) -> Self {
        self.head.extend_from_slice(&id.to_bytes());
        self
    }

    /// Appends a name; for items keyed by name.
    pub(super) fn name(mut self, name: &[u8]) -> Self {
        self.name = name.to_vec();
        self
    }

    /// Returns the key right after all items that begin with this one.
    pub(super) fn behind(mut self) -> Self {
        while self.head.last() == Some(&u8::MAX) {
            self.head.pop();
        }
        *self.head.last_mut().expect("no tag is that high") += 1;
        self
    }

    /// Returns the first bytes of an item with this key.
    pub(super) fn into_item(self) -> Vec<u8> {
        self.head
    }

    /// Returns a filter that rejects most items without reading them.
    pub(super) fn guide(&self) -> Guide {
        Guide { key: place(&self.head), key_of: |item| place(order(item).0), is_even: false }
    }

    /// Returns true if an item sorts before it.
    pub(super) fn is_behind(&self, item: &[u8]) -> bool {
        order(item) < (&self.head, &self.name)
    }
}

/// Returns an item's sort key.
fn order(item: &[u8]) -> (&[u8], &[u8]) {
    match item.first() {
        Some(&(GROUP_NAME | CONSUMER_NAME)) => {
            let head_bytes = NAME_HEAD_BYTES.min(item.len());
            (&item[..head_bytes], item.get(NAME_HEAD_BYTES + NUMBER_BYTES..).unwrap_or_default())
        }
        _ => (item, &[]),
    }
}

/// Maps items to numbers in the same order: the tag, and as much of the rest as fits. A part that overflows or just
/// fills its bits is all ones, followed by zeros.
///
/// ```text
/// pending   | 4 tag | 12 group | 48 ms |
/// owned     | 4 tag |  4 group | 12 consumer | 44 ms |
/// chunk     | 4 tag | 60 ms |
/// others    | 4 tag | 28 group | 32 consumer |
/// ```
fn place(head: &[u8]) -> u64 {
    let Some((&tag, rest)) = head.split_first() else { return 0 };
    let parts: &[(usize, u32)] = match tag {
        CHUNK => &[(8, 60)],
        PENDING => &[(4, 12), (8, 48)],
        OWNED => &[(4, 4), (4, 12), (8, 44)],
        _ => &[(4, 28), (4, 32)],
    };
    let (mut place, mut bits_left, mut rest) = (u64::from(tag) << 60, 60, rest);
    for &(bytes, bits) in parts {
        // Missing bytes of a key are zero.
        let said = (0..bytes).map(|at| rest.get(at).copied().unwrap_or_default());
        let part = said.fold(0_u64, |part, byte| part << 8 | u64::from(byte));
        let most = (1 << bits) - 1;
        bits_left -= bits;
        place |= part.min(most) << bits_left;
        if part >= most {
            break;
        }
        rest = rest.get(bytes..).unwrap_or_default();
    }
    place
}

/// Returns true if two neighbours are in order.
pub(super) fn rise(item: &[u8], next: &[u8]) -> bool {
    order(item) < order(next)
}

/// Returns the item that maps a name within `of` to a number.
pub(super) fn name_item(tag: u8, of: u32, name: &[u8], number: u32) -> Vec<u8> {
    [&[tag][..], &of.to_be_bytes(), &number.to_be_bytes(), name].concat()
}

/// Splits such an item into parent, number and name.
pub(super) fn named(item: &[u8]) -> Option<(u32, u32, &[u8])> {
    let mut rest = item.get(1..)?;
    Some((take_number(&mut rest)?, take_number(&mut rest)?, rest))
}

/// Reads a number from the front.
pub(super) fn take_number(input: &mut &[u8]) -> Option<u32> {
    let (bytes, rest) = input.split_first_chunk::<4>()?;
    *input = rest;
    Some(u32::from_be_bytes(*bytes))
}

/// The length of the key of a [`PENDING`] item.
pub(super) const PENDING_KEY_BYTES: usize = 1 + NUMBER_BYTES + ID_BYTES;

/// The length of an [`OWNED`] item, which is all key.
pub(super) const OWNED_KEY_BYTES: usize = 1 + 2 * NUMBER_BYTES + ID_BYTES;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..4, 14u32..18, 4_090u32..4_100, Just(1 << 28), Just(u32::MAX), any::<u32>()]
    }

    fn id() -> impl Strategy<Value = StreamId> {
        let ms = prop_oneof![0u64..4, Just(1 << 44), Just((1 << 48) - 1), Just(1 << 60), Just(u64::MAX), any::<u64>()];
        (ms, 0u64..3).prop_map(|(ms, seq)| StreamId { ms, seq })
    }

    fn key() -> impl Strategy<Value = Vec<u8>> {
        let whole = prop_oneof![
            number().prop_map(|group| Key::tag(GROUP_NAME).number(group)),
            number().prop_map(|group| Key::tag(GROUP).number(group)),
            (number(), number()).prop_map(|(group, consumer)| Key::tag(CONSUMER).number(group).number(consumer)),
            (number(), id()).prop_map(|(group, id)| Key::tag(PENDING).number(group).id(id)),
            (number(), number(), id()).prop_map(|(group, own, id)| Key::tag(OWNED).number(group).number(own).id(id)),
            id().prop_map(|id| Key::tag(CHUNK).id(id)),
            (1u8..9).prop_map(Key::tag),
            Just(FOOT).prop_map(Key::tag),
        ];
        (whole, any::<bool>()).prop_map(|(key, is_behind)| if is_behind { key.behind().head } else { key.head })
    }

    proptest! {
        /// Otherwise searches would miss items.
        #[test]
        fn places_ascend_with_keys(one in key(), other in key()) {
            let (low, high) = if one <= other { (one, other) } else { (other, one) };
            prop_assert!(place(&low) <= place(&high), "{low:?} {high:?}");
        }
    }
}
