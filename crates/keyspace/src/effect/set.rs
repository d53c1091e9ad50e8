//! Changes to a set.

use super::items::Items;
use super::list::{RunReader, check_runs};
use super::{DecodeError, take, take_bytes};
use base::varint;
use values::Set;
use values::set::SetForm;

/// A change to the set under a key. Removing the last member is recorded as an [`super::Effect::Remove`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetChange<'a> {
    /// 50. Gives the set, created if absent, this form if it is a larger one, and adds the members that are absent.
    Add {
        /// The form, which determines the order of members.
        form: SetForm,
        /// The members.
        members: Items<'a>,
    },
    /// 51. Removes the members that are present.
    Remove {
        /// The members.
        members: Items<'a>,
    },
    /// 52. Removes members by their places in the set's order; some remain.
    RemoveAt {
        /// Number of members.
        count: u64,
        /// Their places, as written by [`super::RunWriter`].
        runs: &'a [u8],
    },
}

impl<'a> SetChange<'a> {
    pub(super) fn number(&self) -> u8 {
        match self {
            Self::Add { .. } => 50,
            Self::Remove { .. } => 51,
            Self::RemoveAt { .. } => 52,
        }
    }

    pub(super) fn encode_fields(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Add { form, members } => {
                out.push(form.number());
                members.encode(out);
            }
            Self::Remove { members } => members.encode(out),
            Self::RemoveAt { count, runs } => {
                varint::put(out, count);
                varint::put_bytes(out, runs);
            }
        }
    }

    pub(super) fn decode_fields(number: u8, input: &mut &'a [u8]) -> Result<Self, DecodeError> {
        Ok(match number {
            50 => {
                let (&form, rest) = input.split_first().ok_or(DecodeError::Malformed)?;
                *input = rest;
                let form = SetForm::of_number(form).ok_or(DecodeError::Malformed)?;
                Self::Add { form, members: take_members(input)? }
            }
            51 => Self::Remove { members: take_members(input)? },
            52 => Self::RemoveAt { count: take(input)?, runs: take_bytes(input)? },
            unknown => return Err(DecodeError::UnknownNumber(unknown)),
        })
    }

    /// Changes `set`; a change that does not fit it is a misfit and changes nothing.
    pub(super) fn apply(&self, set: &mut Set) -> Result<(), DecodeError> {
        match *self {
            Self::Add { form, members } => {
                if !members.iter().all(|member| set.takes(member, form)) {
                    return Err(DecodeError::Misfit);
                }
                for member in members.iter() {
                    set.add(member, form);
                }
            }
            Self::Remove { .. } if set.is_empty() => return Err(DecodeError::Misfit),
            Self::Remove { members } => {
                for member in members.iter() {
                    set.remove(member);
                }
            }
            Self::RemoveAt { count, runs } => {
                if check_runs(runs, count)? > set.len() || count >= set.len() {
                    return Err(DecodeError::Misfit);
                }
                set.remove_runs(RunReader::new(runs));
            }
        }
        Ok(())
    }
}

fn take_members<'a>(input: &mut &'a [u8]) -> Result<Items<'a>, DecodeError> {
    Items::decode(input).ok().filter(|members| members.count() > 0).ok_or(DecodeError::Malformed)
}
