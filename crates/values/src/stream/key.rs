//! What an item of a stream's list begins with: its tag, and that by which items of one tag are ordered.

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
#[derive(Debug)]
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

    /// What tells most items from it, without a look at them.
    pub(super) fn guide(&self) -> Guide {
        Guide { key: place(&self.head), key_of: |item| place(order(item).0), is_even: false }
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

/// A number for each item, in their order: of its tag, and of as much of the rest as there is room for. A part that its
/// bits do not hold, or just hold, is all ones, and zeros follow it.
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
        // What a key does not say is zero.
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

/// Bytes of an item of [`OWNED`], which is all key.
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
        /// Else a search would miss what it looks for.
        #[test]
        fn places_rise_with_keys(one in key(), other in key()) {
            let (low, high) = if one <= other { (one, other) } else { (other, one) };
            prop_assert!(place(&low) <= place(&high), "{low:?} {high:?}");
        }
    }
}
