//! Changes to a sorted set.

use super::items::Items;
use super::{DecodeError, take};
use base::varint;
use values::Sorted;
use values::sorted::{MemberPlace, checked_item};

/// A change to the sorted set under a key. Removing the last member is recorded as an [`super::Effect::Remove`]
/// instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SortedChange<'a> {
    /// 55. Sets the scores of members. Creates the sorted set if absent.
    Put {
        /// Each an encoded score and the member: [`values::sorted::item`].
        items: Items<'a>,
        /// Where the only member is in the present sorted set, if that is known. Not recorded.
        place: Option<&'a MemberPlace>,
    },
    /// 56. Removes members.
    Remove {
        /// The members.
        members: Items<'a>,
    },
    /// 57. Removes a range of adjacent members.
    RemoveRange {
        /// Rank of the first.
        rank: u64,
        /// Number of members.
        count: u64,
    },
    /// 58. Turns a small sorted set into a large one.
    Grow,
}

impl<'a> SortedChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Put { .. } => 55,
            Self::Remove { .. } => 56,
            Self::RemoveRange { .. } => 57,
            Self::Grow => 58,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Put { items, .. } | Self::Remove { members: items } => items.encode(out),
            Self::RemoveRange { rank, count } => {
                varint::put(out, rank);
                varint::put(out, count);
            }
            Self::Grow => {}
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            55 => {
                let items = take_some(input)?;
                let are_sound = items.iter().all(|item| checked_item(item).is_some());
                if !are_sound {
                    return Err(DecodeError::Malformed);
                }
                Self::Put { items, place: None }
            }
            56 => Self::Remove { members: take_some(input)? },
            57 => Self::RemoveRange { rank: take(input)?, count: take(input)? },
            58 => Self::Grow,
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Changes `sorted`; a change that does not fit its members is a misfit and changes nothing.
    pub(super) fn apply(&self, sorted: &mut Sorted) -> Result<(), DecodeError> {
        match *self {
            Self::Put { items, place } => items.iter().for_each(|item| {
                let (score, member) = checked_item(item).expect("made by a guard, or checked when decoded");
                match place {
                    Some(place) => sorted.put_at(score, member, place),
                    None => sorted.put(score, member),
                };
            }),
            Self::Remove { members } => {
                let are_there = members.iter().all(|member| sorted.score(member).is_some());
                misfit_unless(are_there)?;
                members.iter().for_each(|member| {
                    sorted.remove(member);
                });
            }
            Self::RemoveRange { rank, count } => {
                misfit_unless(rank.checked_add(count).is_some_and(|end| end <= sorted.len()))?;
                sorted.remove_range(rank, count);
            }
            Self::Grow => {
                misfit_unless(!sorted.is_empty())?;
                sorted.grow();
            }
        }
        Ok(())
    }
}

fn misfit_unless(fits: bool) -> Result<(), DecodeError> {
    if fits { Ok(()) } else { Err(DecodeError::Misfit) }
}

fn take_some<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    Items::decode(input).ok().filter(|items| items.count() > 0).ok_or(DecodeError::Malformed)
}
