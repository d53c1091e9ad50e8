//! Effects: encoded changes to one key. The format is frozen: `docs/formats/effect.md`.
//!
//! ```text
//! | number : u8 | table id : varint | key : bytes | fields of that number |      bytes = length varint, then they
//! ```
//!
//! A frame's payload is a sequence of these. Times are absolute; random choices are recorded as results. [`apply`] is
//! the only way state changes, for guards and for replay.

pub(crate) mod event;
pub(crate) mod extras;
mod hash;
mod items;
mod list;
mod log;
mod queue;
mod set;
mod sorted;
mod stream;
mod tagged;

pub use hash::HashChange;
pub use items::Items;
pub(crate) use list::put_runs;
pub use list::{ListChange, RunWriter};
pub use log::{Log, Named, Payload};
pub use queue::{MessageIds, QueueChange};
pub use set::SetChange;
pub use sorted::SortedChange;
pub use stream::{Counting, Ids, StreamChange};
pub use tagged::TaggedChange;

use crate::TableId;
use crate::guard::Whole;
use crate::section::Section;
use base::limits::BULK_BYTES_MAX;
use base::{Ms, varint};
use extras::{put_extras, take_extras};
use table::{Extras, Fields};
use values::{Queue, Value, ValueType};

/// One change to one key (or, for [`Effect::MapPut`], to the map of databases).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect<'a> {
    /// 1. Removes the key.
    Remove,
    /// 2 without, 3 with a deadline. Sets the key to this text, replacing any value.
    StringPut {
        /// Expiry time, absolute.
        expires_at_ms: Option<Ms>,
        /// The text.
        bytes: &'a [u8],
    },
    /// 4. Replaces the text, keeping the deadline.
    StringReplace(&'a [u8]),
    /// 5. Appends bytes; a missing key counts as empty.
    StringAppend(&'a [u8]),
    /// 6. Overwrites bytes from an offset on, zero-filling a gap.
    StringOverwrite {
        /// Offset in bytes.
        offset: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// 7. Sets the key's deadline.
    ExpiryPut(Ms),
    /// 8. Clears the key's deadline.
    ExpiryClear,
    /// 9 to 16. A change to a list.
    List(ListChange<'a>),
    /// 40 to 46. A change to a hash.
    Hash(HashChange<'a>),
    /// 50 to 52. A change to a set.
    Set(SetChange<'a>),
    /// 55 to 58. A change to a sorted set.
    Sorted(SortedChange<'a>),
    /// 70 to 82. A change to a stream.
    Stream(StreamChange<'a>),
    /// 90 to 96. A change to a tagged list.
    Tagged(TaggedChange<'a>),
    /// 100 to 113. A change to a queue, or of a list into one and back.
    Queue(QueueChange<'a>),
    /// 32 without, 33 with a deadline. Sets the key to this value, replacing any value.
    ValuePut {
        /// Expiry time, absolute.
        expires_at_ms: Option<Ms>,
        /// Its type.
        kind: ValueType,
        /// As written by [`Value::encode`].
        encoded: &'a [u8],
    },
    /// 120 without, 121 with a deadline. Sets the key to this text with these extras, replacing any value.
    ItemPut {
        /// Expiry time, absolute.
        expires_at_ms: Option<Ms>,
        /// The extras of memcached's protocol.
        extras: Extras,
        /// The text.
        bytes: &'a [u8],
    },
    /// 122. Sets the extras of the text, which stays as it is.
    ExtrasPut(Extras),
    /// 64. Assigns this table to a database. Key and table of the record are empty and 0.
    MapPut {
        /// The database.
        database: u32,
        /// Its table.
        table: TableId,
    },
}

/// An effect with the key it names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// The table of the key.
    pub table: TableId,
    /// The key.
    pub key: &'a [u8],
    /// The change to it.
    pub effect: Effect<'a>,
}

/// Bytes that are not an effect of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The record ends early or a field is out of range.
    #[error("an effect is truncated or has a field out of range")]
    Malformed,
    /// A number that this version does not know.
    #[error("effect number {0} is not known to this version")]
    UnknownNumber(u8),
    /// The effect does not fit the state it is applied to.
    #[error("an effect does not fit the value of its key")]
    Misfit,
}

impl<'a> Record<'a> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.effect.number());
        varint::put(out, u64::from(self.table));
        varint::put_bytes(out, self.key);
        self.effect.encode_fields(out);
    }

    /// Decodes one record from the front of `input`.
    ///
    /// # Errors
    /// If the bytes are not a record; `input` must not be used further then.
    pub fn decode(input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        let (number, table, key) = take_name(input)?;
        let effect = Effect::decode_fields(number, input)?;
        if matches!(effect, Effect::MapPut { .. }) && (table != 0 || !key.is_empty()) {
            return Err(DecodeError::Malformed);
        }
        Ok(Self { table, key, effect })
    }
}

/// Appends the record that sets `key` to `whole`, up to the value itself, which follows as written by
/// [`Value::encode`]: an [`Effect::StringPut`], [`Effect::ItemPut`] or [`Effect::ValuePut`] without building one.
pub(crate) fn put_whole_head(out: &mut Vec<u8>, table: TableId, key: &[u8], whole: &Whole) {
    let kind = whole.value.value_type();
    let number = match (kind, whole.extras) {
        (ValueType::String, None) => 2,
        (ValueType::String, Some(_)) => 120,
        _ => 32,
    };
    out.push(number + u8::from(whole.expires_at_ms.is_some()));
    varint::put(out, u64::from(table));
    varint::put_bytes(out, key);
    put_time(out, whole.expires_at_ms);
    whole.extras.iter().for_each(|extras| put_extras(out, extras));
    if kind != ValueType::String {
        out.push(kind.number());
        varint::put(out, whole.value.encoded_bytes());
    }
}

impl<'a> Effect<'a> {
    fn number(&self) -> u8 {
        match self {
            Self::Remove => 1,
            Self::StringPut { expires_at_ms: None, .. } => 2,
            Self::StringPut { expires_at_ms: Some(_), .. } => 3,
            Self::StringReplace(_) => 4,
            Self::StringAppend(_) => 5,
            Self::StringOverwrite { .. } => 6,
            Self::ExpiryPut(_) => 7,
            Self::ExpiryClear => 8,
            Self::List(change) => change.number(),
            Self::Hash(change) => change.number(),
            Self::Set(change) => change.number(),
            Self::Sorted(change) => change.number(),
            Self::Stream(change) => change.number(),
            Self::Tagged(change) => change.number(),
            Self::Queue(change) => change.number(),
            Self::ValuePut { expires_at_ms: None, .. } => 32,
            Self::ValuePut { expires_at_ms: Some(_), .. } => 33,
            Self::ItemPut { expires_at_ms: None, .. } => 120,
            Self::ItemPut { expires_at_ms: Some(_), .. } => 121,
            Self::ExtrasPut(_) => 122,
            Self::MapPut { .. } => 64,
        }
    }

    fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Remove | Self::ExpiryClear => {}
            Self::StringPut { expires_at_ms, bytes } => {
                put_time(out, expires_at_ms);
                varint::put_bytes(out, bytes);
            }
            Self::StringReplace(bytes) | Self::StringAppend(bytes) => varint::put_bytes(out, bytes),
            Self::StringOverwrite { offset, bytes } => {
                varint::put(out, offset);
                varint::put_bytes(out, bytes);
            }
            Self::ExpiryPut(at_ms) => varint::put(out, at_ms),
            Self::List(change) => change.encode_fields(out),
            Self::Hash(change) => change.encode_fields(out),
            Self::Set(change) => change.encode_fields(out),
            Self::Sorted(change) => change.encode_fields(out),
            Self::Stream(change) => change.encode_fields(out),
            Self::Tagged(change) => change.encode_fields(out),
            Self::Queue(change) => change.encode_fields(out),
            Self::ValuePut { expires_at_ms, kind, encoded } => {
                put_time(out, expires_at_ms);
                out.push(kind.number());
                varint::put_bytes(out, encoded);
            }
            Self::ItemPut { expires_at_ms, extras, bytes } => {
                put_time(out, expires_at_ms);
                put_extras(out, &extras);
                varint::put_bytes(out, bytes);
            }
            Self::ExtrasPut(extras) => put_extras(out, &extras),
            Self::MapPut { database, table } => {
                varint::put(out, u64::from(database));
                varint::put(out, u64::from(table));
            }
        }
    }

    fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            1 => Self::Remove,
            2 => Self::StringPut { expires_at_ms: None, bytes: take_bytes(input)? },
            3 => Self::StringPut { expires_at_ms: Some(take(input)?), bytes: take_bytes(input)? },
            4 => Self::StringReplace(take_bytes(input)?),
            5 => Self::StringAppend(take_bytes(input)?),
            6 => Self::StringOverwrite { offset: take(input)?, bytes: take_bytes(input)? },
            7 => Self::ExpiryPut(take(input)?),
            8 => Self::ExpiryClear,
            9..=16 => Self::List(ListChange::decode_fields(number, input)?),
            40..=46 => Self::Hash(HashChange::decode_fields(number, input)?),
            50..=52 => Self::Set(SetChange::decode_fields(number, input)?),
            55..=58 => Self::Sorted(SortedChange::decode_fields(number, input)?),
            70..=82 => Self::Stream(StreamChange::decode_fields(number, input)?),
            90..=96 => Self::Tagged(TaggedChange::decode_fields(number, input)?),
            100..=114 => Self::Queue(QueueChange::decode_fields(number, input)?),
            32 | 33 => {
                let expires_at_ms = if number == 33 { Some(take(input)?) } else { None };
                let (&kind, rest) = input.split_first().ok_or(DecodeError::Malformed)?;
                *input = rest;
                let kind = ValueType::of_number(kind).ok_or(DecodeError::Malformed)?;
                Self::ValuePut { expires_at_ms, kind, encoded: take_bytes(input)? }
            }
            120 | 121 => {
                let expires_at_ms = if number == 121 { Some(take(input)?) } else { None };
                Self::ItemPut { expires_at_ms, extras: take_extras(input)?, bytes: take_bytes(input)? }
            }
            122 => Self::ExtrasPut(take_extras(input)?),
            64 => Self::MapPut { database: take_u32(input)?, table: take_u32(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }
}

/// Applies an effect to the section of its table. O(log n) and the bytes it carries.
///
/// # Errors
/// [`DecodeError::Misfit`] if the effect cannot have been recorded on this state; then nothing changed.
pub(crate) fn apply(section: &mut Section, hash: u64, key: &[u8], effect: &Effect<'_>) -> Result<(), DecodeError> {
    match *effect {
        Effect::Remove => section.remove(hash, key),
        Effect::StringPut { expires_at_ms, bytes } => section.put_text(hash, key, bytes, expires_at_ms),
        Effect::StringReplace(bytes) => {
            let fields = section.find(hash, key).map(|entry| entry.fields()).unwrap_or_default();
            section.put_text(hash, key, bytes, Fields { extras: fields.extras.map(extras::altered), ..fields });
        }
        Effect::StringAppend(bytes) => section.append_text(hash, key, bytes).ok_or(DecodeError::Misfit)?,
        Effect::StringOverwrite { offset, bytes } => {
            let offset =
                usize::try_from(offset).ok().filter(|offset| offset.saturating_add(bytes.len()) <= BULK_BYTES_MAX);
            section.overwrite_text(hash, key, offset.ok_or(DecodeError::Misfit)?, bytes).ok_or(DecodeError::Misfit)?;
        }
        Effect::ExpiryPut(at_ms) => misfit_unless(section.set_expiry(hash, key, Some(at_ms)))?,
        Effect::ExpiryClear => misfit_unless(section.set_expiry(hash, key, None))?,
        Effect::List(ref change) => {
            section.change(hash, key, |list| change.apply(list)).ok_or(DecodeError::Misfit)??;
        }
        Effect::Hash(ref change) => {
            section.change(hash, key, |fields| change.apply(fields)).ok_or(DecodeError::Misfit)??;
        }
        Effect::Set(ref change) => {
            section.change(hash, key, |set| change.apply(set)).ok_or(DecodeError::Misfit)??;
        }
        Effect::Sorted(ref change) => {
            section.change(hash, key, |sorted| change.apply(sorted)).ok_or(DecodeError::Misfit)??;
        }
        Effect::Stream(ref change) => {
            let gone = section.change(hash, key, |stream| change.apply(stream)).ok_or(DecodeError::Misfit)??;
            section.let_go(Value::List(gone));
        }
        Effect::Tagged(ref change) => {
            section.change(hash, key, |list| change.apply(list)).ok_or(DecodeError::Misfit)??;
        }
        Effect::Queue(QueueChange::Turn { at_ms }) => {
            let turned = section.turn(hash, key, |value| match value {
                Value::List(list) => Some(Value::Queue(Queue::of_plain(list.clone(), at_ms))),
                _ => None,
            });
            misfit_unless(turned)?;
        }
        Effect::Queue(QueueChange::TurnBack { count }) => {
            let turned = section.turn(hash, key, |value| match value {
                Value::Queue(queue) if queue.ready_len() == count && count > 0 => {
                    queue.to_plain().ok().map(Value::List)
                }
                _ => None,
            });
            misfit_unless(turned)?;
        }
        Effect::Queue(ref change) => {
            section.change(hash, key, |queue| change.apply(queue)).ok_or(DecodeError::Misfit)??;
        }
        Effect::ValuePut { expires_at_ms, kind, mut encoded } => {
            let value =
                Value::decode(kind, &mut encoded).filter(|_| encoded.is_empty()).ok_or(DecodeError::Malformed)?;
            section.put_value(hash, key, value, expires_at_ms);
        }
        Effect::ItemPut { expires_at_ms, extras, bytes } => {
            section.put_text(hash, key, bytes, Fields { expires_at_ms, extras: Some(extras) });
        }
        Effect::ExtrasPut(extras) => misfit_unless(section.set_extras(hash, key, extras))?,
        Effect::MapPut { .. } => return Err(DecodeError::Misfit),
    }
    Ok(())
}

/// Applies the effect that sets `key` to `whole`, sharing its blocks. O(1), except for short texts.
pub(crate) fn apply_whole(section: &mut Section, hash: u64, key: &[u8], whole: &Whole) {
    let fields = Fields { expires_at_ms: whole.expires_at_ms, extras: whole.extras };
    section.put_value(hash, key, whole.value.clone(), fields);
}

fn misfit_unless(fits: bool) -> Result<(), DecodeError> {
    if fits { Ok(()) } else { Err(DecodeError::Misfit) }
}

pub(crate) fn put_time(out: &mut Vec<u8>, at_ms: Option<Ms>) {
    if let Some(at_ms) = at_ms {
        varint::put(out, at_ms);
    }
}

/// Decodes the start of every record: number, table, key.
pub(crate) fn take_name<'a>(input: &mut &'a [u8]) -> Result<(u8, TableId, &'a [u8]), DecodeError> {
    let (&number, rest) = input.split_first().ok_or(DecodeError::Malformed)?;
    *input = rest;
    Ok((number, take_u32(input)?, take_bytes(input)?))
}

pub(crate) fn take(input: &mut &[u8]) -> Result<u64, DecodeError> {
    varint::take(input).ok_or(DecodeError::Malformed)
}

fn take_u32(input: &mut &[u8]) -> Result<u32, DecodeError> {
    u32::try_from(take(input)?).map_err(|_| DecodeError::Malformed)
}

pub(crate) fn take_bytes<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    varint::take_bytes(input).ok_or(DecodeError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blocks::End;
    use values::queue::State;
    use values::set::SetForm;
    use values::stream::StreamId;

    /// Returns every effect, with its permanent number.
    fn all() -> Vec<(u8, Effect<'static>)> {
        let items = Items::Encoded { count: 2, bytes: &[1, b'a', 2, b'b', b'c'] };
        let scored = Items::Encoded { count: 2, bytes: &[3, 1, 14, b'a', 2, 0, b'b'] };
        let (group, consumer) = (&b"group"[..], &b"consumer"[..]);
        let (id, counting) = (StreamId { ms: 1_700_000_000_000, seq: 3 }, Counting::Exactly(2));
        let ids = Ids::Encoded { count: 2, bytes: &[7, 0, 8, 1] };
        let message_ids = MessageIds::Slice(&[-3, 1, 300]);
        vec![
            (1, Effect::Remove),
            (2, Effect::StringPut { expires_at_ms: None, bytes: b"text" }),
            (3, Effect::StringPut { expires_at_ms: Some(1_700_000_000_000), bytes: b"" }),
            (4, Effect::StringReplace(b"12")),
            (5, Effect::StringAppend(b"more")),
            (6, Effect::StringOverwrite { offset: 500, bytes: b"x" }),
            (7, Effect::ExpiryPut(1)),
            (8, Effect::ExpiryClear),
            (9, Effect::List(ListChange::Push { end: End::Head, items })),
            (10, Effect::List(ListChange::Push { end: End::Tail, items })),
            (11, Effect::List(ListChange::Pop { end: End::Head, count: 3 })),
            (12, Effect::List(ListChange::Pop { end: End::Tail, count: 1 })),
            (13, Effect::List(ListChange::Put { index: 7, item: b"new" })),
            (14, Effect::List(ListChange::Insert { index: 0, item: b"" })),
            (15, Effect::List(ListChange::Remove { index: 9, count: 300 })),
            (16, Effect::List(ListChange::RemoveMany { count: 4, runs: &[2, 1, 2, 3] })),
            (40, Effect::Hash(HashChange::Put { pairs: items })),
            (41, Effect::Hash(HashChange::PutKeeping { pairs: items, place: None })),
            (42, Effect::Hash(HashChange::Remove { fields: items })),
            (43, Effect::Hash(HashChange::Expire { count: 3 })),
            (44, Effect::Hash(HashChange::ExpiryPut { expires_at_ms: 1_700_000_000_000, fields: items })),
            (45, Effect::Hash(HashChange::ExpiryClear { fields: items })),
            (46, Effect::Hash(HashChange::Grow)),
            (50, Effect::Set(SetChange::Add { form: SetForm::Listed, members: items })),
            (51, Effect::Set(SetChange::Remove { members: items })),
            (52, Effect::Set(SetChange::RemoveAt { count: 4, runs: &[2, 1, 2, 3] })),
            (55, Effect::Sorted(SortedChange::Put { items: scored, place: None })),
            (56, Effect::Sorted(SortedChange::Remove { members: items })),
            (57, Effect::Sorted(SortedChange::RemoveRange { rank: 7, count: 300 })),
            (58, Effect::Sorted(SortedChange::Grow)),
            (70, Effect::Stream(StreamChange::Add { id, fields: items, opens: false })),
            (71, Effect::Stream(StreamChange::Add { id, fields: items, opens: true })),
            (72, Effect::Stream(StreamChange::Delete { ids })),
            (73, Effect::Stream(StreamChange::Trim { count: 300 })),
            (74, Effect::Stream(StreamChange::Set { last_id: id, deleted_id: StreamId::MIN, added: 9 })),
            (75, Effect::Stream(StreamChange::GroupPut { group, last_id: id, entries_read: Some(7) })),
            (76, Effect::Stream(StreamChange::GroupRemove { group })),
            (77, Effect::Stream(StreamChange::ConsumerMake { group, consumer, seen_ms: 5, active_ms: None })),
            (78, Effect::Stream(StreamChange::ConsumerRemove { group, consumer })),
            (
                79,
                Effect::Stream(StreamChange::Deliver { group, consumer, to: id, entries_read: None, delivered_ms: 5 }),
            ),
            (80, Effect::Stream(StreamChange::Claim { group, consumer, delivered_ms: 5, counting, ids })),
            (81, Effect::Stream(StreamChange::Drop { group, ids })),
            (82, Effect::Stream(StreamChange::ConsumerSeen { group, consumer, seen_ms: 5, active_ms: Some(4) })),
            (90, Effect::Tagged(TaggedChange::Make { schema: b"\x01\0\0\0\0", items })),
            (91, Effect::Tagged(TaggedChange::Grow { schema: b"\x01\0\0\0\0" })),
            (92, Effect::Tagged(TaggedChange::Insert { at: 7, items })),
            (93, Effect::Tagged(TaggedChange::Remove { count: 4, runs: &[2, 1, 2, 3] })),
            (94, Effect::Tagged(TaggedChange::Move { from: 300, to: 0 })),
            (95, Effect::Tagged(TaggedChange::Put { at: 7, tags: &[3, 5] })),
            (96, Effect::Tagged(TaggedChange::Keep { schema: b"\x01\0\0\0\0" })),
            (100, Effect::Queue(QueueChange::Turn { at_ms: 1_700_000_000_000 })),
            (101, Effect::Queue(QueueChange::TurnBack { count: 300 })),
            (102, Effect::Queue(QueueChange::Push { end: End::Tail, at_ms: 5, messages: items })),
            (103, Effect::Queue(QueueChange::Push { end: End::Head, at_ms: 5, messages: items })),
            (104, Effect::Queue(QueueChange::PushOne { at_ms: 5, due_ms: 300, dedup: b"id", message: b"work" })),
            (105, Effect::Queue(QueueChange::Reserve { count: 2, due_ms: 300 })),
            (106, Effect::Queue(QueueChange::Pop { end: End::Head, count: 2 })),
            (107, Effect::Queue(QueueChange::Pop { end: End::Tail, count: 2 })),
            (108, Effect::Queue(QueueChange::Remove { are_acked: true, ids: message_ids })),
            (109, Effect::Queue(QueueChange::Remove { are_acked: false, ids: message_ids })),
            (110, Effect::Queue(QueueChange::Release { ids: message_ids })),
            (111, Effect::Queue(QueueChange::SetState { state: State::Buried, due_ms: 0, ids: message_ids })),
            (112, Effect::Queue(QueueChange::Expire { count: 7, ids: message_ids })),
            (113, Effect::Queue(QueueChange::Limit { at_ms: 5, limits: b"\0\0\0\0" })),
            (114, Effect::Queue(QueueChange::Base { base: 300 })),
            (32, Effect::ValuePut { expires_at_ms: None, kind: ValueType::String, encoded: b"\x01z" }),
            (33, Effect::ValuePut { expires_at_ms: Some(9), kind: ValueType::List, encoded: b"" }),
            (120, Effect::ItemPut { expires_at_ms: None, extras: Extras { flags: 5, cas: 0, signs: 0 }, bytes: b"hi" }),
            (
                121,
                Effect::ItemPut { expires_at_ms: Some(9), extras: Extras { flags: 0, cas: 300, signs: 6 }, bytes: b"" },
            ),
            (122, Effect::ExtrasPut(Extras { flags: u32::MAX, cas: u64::MAX, signs: 2 })),
            (64, Effect::MapPut { database: 3, table: 70_000 }),
        ]
    }

    #[test]
    fn effect_numbers_are_frozen_and_every_effect_round_trips() {
        for (number, effect) in all() {
            let record = match effect {
                Effect::MapPut { .. } => Record { table: 0, key: b"", effect },
                _ => Record { table: 5, key: b"key", effect },
            };
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            assert_eq!(bytes[0], number, "{effect:?}");
            let mut input = &bytes[..];
            assert_eq!(Record::decode(&mut input), Ok(record));
            assert!(input.is_empty());
            for cut in 0..bytes.len() {
                assert_eq!(Record::decode(&mut &bytes[..cut]), Err(DecodeError::Malformed), "{effect:?} cut at {cut}");
            }
        }
    }
}
