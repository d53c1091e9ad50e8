//! Changes to a tagged list. What it holds of its schema comes with the first, so that a replay looks nothing up.

use super::items::Items;
use super::list::{RunReader, check_runs};
use super::{DecodeError, take, take_bytes};
use base::varint;
use std::sync::Arc;
use values::Tagged;
use values::tagged::{Schema, TaggedItem, Tags, decode_item, take_tags};

/// A change to the tagged list under a key. What would take the last item of
/// one away that does not stay without is an [`super::Effect::Remove`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaggedChange<'a> {
    /// 90. A list comes, of this schema and these items; no key was there.
    Make {
        /// As [`Schema::encode`] writes it.
        schema: &'a [u8],
        /// As [`TaggedItem::encode`] writes them.
        items: Items<'a>,
    },
    /// 91. The list takes over a schema that has more attributes than its own.
    Grow {
        /// As [`Schema::encode`] writes it.
        schema: &'a [u8],
    },
    /// 92. Items come before the one at a position, or last.
    Insert {
        /// Which position.
        at: u64,
        /// As [`TaggedItem::encode`] writes them.
        items: Items<'a>,
    },
    /// 93. Items go by their positions; some are left, or the list stays without.
    Remove {
        /// How many.
        count: u64,
        /// Which positions, as a [`super::RunWriter`] writes them.
        runs: &'a [u8],
    },
    /// 94. An item is taken out, and put in again at a position of what is left.
    Move {
        /// Where it was.
        from: u64,
        /// Where it is then.
        to: u64,
    },
    /// 95. An item has these tags.
    Put {
        /// Its position.
        at: u64,
        /// As [`values::tagged::encode_tags`] writes them.
        tags: &'a [u8],
    },
    /// 96. The list stays from now on when it has no items; it is made, of this schema, if it is not there.
    Keep {
        /// As [`Schema::encode`] writes it.
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

    /// Changes `list`; a change that it does not allow is a misfit and changes nothing.
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
        // Of no key there is nothing to change.
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
