//! Changes to a hash.

use super::items::Items;
use super::{DecodeError, take};
use base::{Ms, varint};
use values::Hash;
use values::hash::{FieldPlace, PAIR_BYTES_MAX, Pair};

/// A change to the hash under a key. Removing the last field is recorded as an [`super::Effect::Remove`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashChange<'a> {
    /// 40. Sets fields to these values, without deadlines. Creates the hash if absent.
    Put {
        /// Field, value, field, value.
        pairs: Items<'a>,
    },
    /// 41. Sets fields to these values, keeping their deadlines. Creates the hash if absent.
    PutKeeping {
        /// Field, value, field, value.
        pairs: Items<'a>,
        /// Where the only field is in the present hash, if that is known. Not recorded.
        place: Option<&'a FieldPlace>,
    },
    /// 42. Removes fields.
    Remove {
        /// The fields.
        fields: Items<'a>,
    },
    /// 43. Removes the fields with the earliest deadlines.
    Expire {
        /// Number of fields.
        count: u64,
    },
    /// 44. Sets the deadline of fields.
    ExpiryPut {
        /// Expiry time, absolute.
        expires_at_ms: Ms,
        /// The fields.
        fields: Items<'a>,
    },
    /// 45. Clears the deadline of fields.
    ExpiryClear {
        /// The fields.
        fields: Items<'a>,
    },
    /// 46. Turns a small hash into a large one.
    Grow,
}

impl<'a> HashChange<'a> {
    /// Returns how many fields it puts, if it changes none for which `is_named` returns true.
    pub fn puts_beside(&self, is_named: impl Fn(&[u8]) -> bool) -> Option<u64> {
        match *self {
            Self::Put { pairs } | Self::PutKeeping { pairs, .. } => {
                let mut fields = pairs.iter().step_by(2);
                (!fields.any(is_named)).then(|| pairs.count() / 2)
            }
            Self::Remove { fields } => (!fields.iter().any(is_named)).then_some(0),
            // The hash itself ends with its last field.
            Self::Expire { .. } | Self::ExpiryPut { .. } | Self::ExpiryClear { .. } => None,
            Self::Grow => Some(0),
        }
    }

    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Put { .. } => 40,
            Self::PutKeeping { .. } => 41,
            Self::Remove { .. } => 42,
            Self::Expire { .. } => 43,
            Self::ExpiryPut { .. } => 44,
            Self::ExpiryClear { .. } => 45,
            Self::Grow => 46,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Put { pairs: items } | Self::PutKeeping { pairs: items, .. } => items.encode(out),
            Self::Remove { fields: items } | Self::ExpiryClear { fields: items } => items.encode(out),
            Self::Expire { count } => varint::put(out, count),
            Self::ExpiryPut { expires_at_ms, fields } => {
                varint::put(out, expires_at_ms);
                fields.encode(out);
            }
            Self::Grow => {}
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            40 => Self::Put { pairs: take_pairs(input)? },
            41 => Self::PutKeeping { pairs: take_pairs(input)?, place: None },
            42 => Self::Remove { fields: take_fields(input)? },
            43 => Self::Expire { count: take(input)? },
            44 => Self::ExpiryPut { expires_at_ms: take(input)?, fields: take_fields(input)? },
            45 => Self::ExpiryClear { fields: take_fields(input)? },
            46 => Self::Grow,
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Changes `hash`; a change that does not fit its fields is a misfit and changes nothing.
    pub(super) fn apply(&self, hash: &mut Hash) -> Result<(), DecodeError> {
        match *self {
            Self::Put { pairs } => {
                for_each_pair(pairs, |field, value| {
                    hash.put(Pair { field, value, expires_at_ms: None });
                });
            }
            Self::PutKeeping { pairs, place } => for_each_pair(pairs, |field, value| {
                match place {
                    Some(place) => hash.put_keeping_at(field, value, place),
                    None => hash.put_keeping(field, value),
                };
            }),
            Self::Remove { fields } => {
                check_fields(hash, fields)?;
                for field in fields.iter() {
                    hash.remove(field);
                }
            }
            Self::Expire { count } => {
                if !hash.expire(count) {
                    return Err(DecodeError::Misfit);
                }
            }
            Self::ExpiryPut { expires_at_ms, fields } => {
                check_fields(hash, fields)?;
                for field in fields.iter() {
                    hash.set_expiry(field, Some(expires_at_ms));
                }
            }
            Self::ExpiryClear { fields } => {
                check_fields(hash, fields)?;
                for field in fields.iter() {
                    hash.set_expiry(field, None);
                }
            }
            Self::Grow if hash.is_empty() => return Err(DecodeError::Misfit),
            Self::Grow => hash.grow(),
        }
        Ok(())
    }
}

fn for_each_pair<'a>(pairs: Items<'a>, mut visit: impl FnMut(&'a [u8], &'a [u8])) {
    let mut items = pairs.iter();
    while let (Some(field), Some(value)) = (items.next(), items.next()) {
        visit(field, value);
    }
}

fn check_fields(hash: &Hash, fields: Items<'_>) -> Result<(), DecodeError> {
    let are_there = fields.iter().all(|field| hash.expires_at_ms(field).is_some());
    if are_there { Ok(()) } else { Err(DecodeError::Misfit) }
}

fn take_fields<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    Items::decode(input).ok().filter(|fields| fields.count() > 0).ok_or(DecodeError::Malformed)
}

fn take_pairs<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    let pairs = take_fields(input)?;
    let mut fit = pairs.count() % 2 == 0;
    for_each_pair(pairs, |field, value| fit &= field.len() + value.len() <= PAIR_BYTES_MAX);
    if fit { Ok(pairs) } else { Err(DecodeError::Malformed) }
}
