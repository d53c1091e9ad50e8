//! Changes to a tagged list. The first change carries the schema, so that a replay needs no look-ups.

use super::items::Items;
use super::list::{RunReader, check_runs};
use super::{DecodeError, take, take_bytes};
use base::varint;
use std::sync::Arc;
use values::Tagged;
use values::tagged::{Schema, TaggedItem, Tags, decode_item, take_tags};

/// A change to the tagged list under a key. Removing the last item is recorded as an [`super::Effect::Remove`] instead,
/// unless the list is kept when empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaggedChange<'a> {
    /// 90. Creates a list with this schema and these items; the key was absent.
    Make {
        /// As written by [`Schema::encode`].
        schema: &'a [u8],
        /// As written by [`TaggedItem::encode`].
        items: Items<'a>,
    },
    /// 91. Gives the list a schema with more attributes than its own.
    Grow {
        /// As written by [`Schema::encode`].
        schema: &'a [u8],
    },
    /// 92. Inserts items before the one at a position, or at the end.
    Insert {
        /// The position.
        at: u64,
        /// As written by [`TaggedItem::encode`].
        items: Items<'a>,
    },
    /// 93. Removes items by position; some remain, or the list is kept when empty.
    Remove {
        /// Number of items.
        count: u64,
        /// Their positions, as written by [`super::RunWriter`].
        runs: &'a [u8],
    },
    /// 94. Takes an item out and reinserts it at a position of the rest.
    Move {
        /// Old position.
        from: u64,
        /// New position.
        to: u64,
    },
    /// 95. Sets an item's tags.
    Put {
        /// Its position.
        at: u64,
        /// As written by [`values::tagged::encode_tags`].
        tags: &'a [u8],
    },
    /// 96. Keeps the list from now on when it is empty; creates it with this schema if absent.
    Keep {
        /// As written by [`Schema::encode`].
        schema: &'a [u8],
    },
}

impl<'a> TaggedChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Make { .. } => 90,
            Self::Grow { .. } => 91,
            Self::Insert { .. } => 92,
            Self::Remove { .. } => 93,
            Self::Move { .. } => 94,
            Self::Put { .. } => 95,
            Self::Keep { .. } => 96,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Make { schema, items } => {
                varint::put_bytes(out, schema);
                items.encode(out);
            }
            Self::Grow { schema } | Self::Keep { schema } => varint::put_bytes(out, schema),
            Self::Insert { at, items } => {
                varint::put(out, at);
                items.encode(out);
            }
            Self::Remove { count, runs } => {
                varint::put(out, count);
                varint::put_bytes(out, runs);
            }
            Self::Move { from, to } => {
                varint::put(out, from);
                varint::put(out, to);
            }
            Self::Put { at, tags } => {
                varint::put(out, at);
                varint::put_bytes(out, tags);
            }
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            90 => Self::Make { schema: take_bytes(input)?, items: take_items(input)? },
            91 => Self::Grow { schema: take_bytes(input)? },
            92 => Self::Insert { at: take(input)?, items: take_items(input)? },
            93 => Self::Remove { count: take(input)?, runs: take_bytes(input)? },
            94 => Self::Move { from: take(input)?, to: take(input)? },
            95 => Self::Put { at: take(input)?, tags: take_bytes(input)? },
            96 => Self::Keep { schema: take_bytes(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Changes `list`; a change that does not fit it is a misfit and changes nothing.
    pub(super) fn apply(&self, list: &mut Tagged) -> Result<(), DecodeError> {
        if let Self::Make { schema, items } = *self {
            let schema = Schema::decode(schema).filter(|_| list.list().is_empty()).ok_or(DecodeError::Misfit)?;
            let mut made = Tagged::new(Arc::new(schema));
            insert(&mut made, 0, items)?;
            *list = made;
            return Ok(());
        }
        let is_there = !list.list().is_empty();
        if let Self::Keep { schema } = *self {
            if !is_there {
                *list = Tagged::new(Arc::new(Schema::decode(schema).ok_or(DecodeError::Misfit)?));
            }
            list.set_lasting();
            return Ok(());
        }
        // An absent key has nothing to change.
        if !is_there {
            return Err(DecodeError::Misfit);
        }
        let len = list.len();
        match *self {
            Self::Make { .. } | Self::Keep { .. } => unreachable!("done above"),
            Self::Grow { schema } => {
                let schema = Schema::decode(schema).filter(|schema| schema.extends(list.schema()));
                list.grow(Arc::new(schema.ok_or(DecodeError::Misfit)?));
            }
            Self::Insert { at, items } => insert(list, at, items)?,
            Self::Remove { count, runs } => {
                if check_runs(runs, count)? > len || count > len || (count == len && !list.is_lasting()) {
                    return Err(DecodeError::Misfit);
                }
                list.remove_runs(RunReader::new(runs).collect::<Vec<_>>().into_iter());
            }
            Self::Move { from, to } => {
                if from >= len || to >= len {
                    return Err(DecodeError::Misfit);
                }
                list.move_item(from, to);
            }
            Self::Put { at, tags: mut bytes } => {
                let tags = take_tags(&mut bytes).filter(|_| bytes.is_empty() && at < len);
                let tags = tags.filter(|tags| list.schema().takes_tags(&tags.attributes));
                list.set_tags(at, &tags.ok_or(DecodeError::Misfit)?);
            }
        }
        Ok(())
    }
}

fn insert(list: &mut Tagged, at: u64, items: Items<'_>) -> Result<(), DecodeError> {
    let schema = list.schema();
    let is_sound = |(tags, value): &(Tags, &[u8])| schema.takes_tags(&tags.attributes) && schema.takes_value(value);
    let items: Option<Vec<_>> = items.iter().map(|item| decode_item(item).filter(is_sound)).collect();
    let items = items.filter(|_| at <= list.len()).ok_or(DecodeError::Misfit)?;
    let items: Vec<TaggedItem<'_>> = items.iter().map(|(tags, value)| tags.with(value)).collect();
    list.insert(at, &items);
    Ok(())
}

fn take_items<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    Items::decode(input).ok().filter(|items| items.count() > 0).ok_or(DecodeError::Malformed)
}
