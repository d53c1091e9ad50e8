//! Builds values piece by piece.
//!
//! When a value is small or large follows Redis: packed encodings are small up to a number of elements, others up to a
//! maximum element length too.

use crate::Fault;
use crate::feed::Piece;
use crate::types;
use base::Ms;
use blocks::End;
use values::hash::{PAIR_BYTES_MAX, Pair};
use values::set::{SetForm, SetLimits};
use values::{Hash, List, LongString, Set, Sorted, Value, limits};

/// Bytes of a long string copied per step.
const TEXT_STEP_BYTES: usize = 64 << 10;

/// The latest deadline of a field, as in Redis.
const DEADLINE_MAX: Ms = (1 << 48) - 2;

/// A value being built.
pub(crate) enum Building {
    /// The part of a string copied so far.
    Text(LongString),
    List(List),
    Set(SetBuilding),
    Hash(HashBuilding),
    Sorted(SortedBuilding),
}

pub(crate) struct SetBuilding {
    set: Set,
    /// The form it has from the start.
    form: SetForm,
    limits: SetLimits,
}

#[derive(Default)]
pub(crate) struct HashBuilding {
    hash: Hash,
    is_packed: bool,
    /// The order of its pieces.
    order: &'static [HashPart],
    next: usize,
    field: Vec<u8>,
    value: Vec<u8>,
    expires_at_ms: Option<Ms>,
    must_grow: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HashPart {
    Field,
    Value,
    Deadline,
}

#[derive(Default)]
pub(crate) struct SortedBuilding {
    sorted: Sorted,
    is_packed: bool,
    member: Option<Vec<u8>>,
    must_grow: bool,
}

impl Building {
    /// Starts a value of this type, with the number of elements if known.
    pub(crate) fn new(kind: u8, elements: u64) -> Self {
        let is_many = |max: &limits::Limit| elements > max.get();
        match kind {
            types::TEXT => Self::Text(LongString::default()),
            types::SET | types::SET_INTSET | types::SET_LISTPACK => {
                let limits = SetLimits::now();
                let form = match kind {
                    types::SET if elements > limits.intset_entries => SetForm::Hashed,
                    types::SET_LISTPACK => SetForm::Listed,
                    _ => SetForm::Integers,
                };
                Self::Set(SetBuilding { set: Set::new(), form, limits })
            }
            types::HASH | types::HASH_TIMED => {
                let order: &[HashPart] = match kind {
                    types::HASH => &[HashPart::Field, HashPart::Value],
                    _ => &[HashPart::Deadline, HashPart::Field, HashPart::Value],
                };
                let must_grow = is_many(&limits::HASH_ENTRIES);
                Self::Hash(HashBuilding { order, must_grow, ..HashBuilding::default() })
            }
            types::HASH_ZIPMAP | types::HASH_ZIPLIST | types::HASH_LISTPACK | types::HASH_TIMED_LISTPACK => {
                let order: &[HashPart] = match kind {
                    types::HASH_TIMED_LISTPACK => &[HashPart::Field, HashPart::Value, HashPart::Deadline],
                    _ => &[HashPart::Field, HashPart::Value],
                };
                Self::Hash(HashBuilding { order, is_packed: true, ..HashBuilding::default() })
            }
            types::SORTED | types::SORTED_SPELLED => {
                let must_grow = is_many(&limits::SORTED_ENTRIES);
                Self::Sorted(SortedBuilding { must_grow, ..SortedBuilding::default() })
            }
            types::SORTED_ZIPLIST | types::SORTED_LISTPACK => {
                Self::Sorted(SortedBuilding { is_packed: true, ..SortedBuilding::default() })
            }
            _ => Self::List(List::default()),
        }
    }

    /// Adds a piece. Returns false if only part of a long string was copied and the piece is needed again.
    pub(crate) fn add(&mut self, piece: Piece<'_>) -> Result<bool, Fault> {
        match self {
            Self::Text(text) => {
                return piece.with_text(|bytes| {
                    let rest = &bytes[text.bytes_count()..];
                    text.append(&rest[..rest.len().min(TEXT_STEP_BYTES)]);
                    text.bytes_count() == bytes.len()
                });
            }
            Self::List(list) => piece.with_text(|item| list.push(End::Tail, item))?,
            Self::Set(building) => building.add(piece)?,
            Self::Hash(building) => building.add(piece)?,
            Self::Sorted(building) => building.add(piece)?,
        }
        Ok(true)
    }

    /// Returns the value, once all pieces are added. Only a string may be empty.
    pub(crate) fn finish(&self) -> Result<Value, Fault> {
        let (value, is_cut) = match self {
            Self::Text(text) => return Ok(Value::Text(text.clone())),
            Self::List(list) => (Value::List(list.clone()), false),
            Self::Set(building) => (Value::Set(building.set.clone()), false),
            Self::Hash(building) => (Value::Hash(building.hash.clone()), building.next > 0),
            Self::Sorted(building) => (Value::Sorted(building.sorted.clone()), building.member.is_some()),
        };
        if is_cut || value.is_empty() { Err(Fault::Malformed) } else { Ok(value) }
    }
}

impl SetBuilding {
    fn add(&mut self, piece: Piece<'_>) -> Result<(), Fault> {
        piece.with_text(|member| {
            let form = match self.form {
                SetForm::Listed if self.set.len() < self.limits.listpack_entries => SetForm::Listed,
                SetForm::Integers => self.set.form_with(member, 1, self.limits),
                _ => SetForm::Hashed,
            };
            if self.set.add(member, form) { Ok(()) } else { Err(Fault::Malformed) }
        })?
    }
}

impl HashBuilding {
    fn add(&mut self, piece: Piece<'_>) -> Result<(), Fault> {
        match self.order[self.next] {
            HashPart::Field => keep(piece, &mut self.field)?,
            HashPart::Value => keep(piece, &mut self.value)?,
            HashPart::Deadline => {
                let at_ms = Some(piece.to_deadline()?).filter(|at_ms| *at_ms <= DEADLINE_MAX);
                self.expires_at_ms = Some(at_ms.ok_or(Fault::Malformed)?).filter(|at_ms| *at_ms > 0);
            }
        }
        self.next += 1;
        if self.next == self.order.len() {
            self.next = 0;
            self.put()?;
        }
        Ok(())
    }

    fn put(&mut self) -> Result<(), Fault> {
        let Self { hash, field, value, .. } = self;
        if field.len() + value.len() > PAIR_BYTES_MAX {
            return Err(Fault::Malformed);
        }
        let is_new = hash.put(Pair { field, value, expires_at_ms: self.expires_at_ms });
        let is_long = field.len().max(value.len()) as u64 > limits::HASH_VALUE_BYTES.get();
        self.must_grow |= hash.len() > limits::HASH_ENTRIES.get() || is_long && !self.is_packed;
        if self.must_grow {
            // Has an effect only once.
            self.hash.grow();
        }
        if is_new { Ok(()) } else { Err(Fault::Malformed) }
    }
}

impl SortedBuilding {
    fn add(&mut self, piece: Piece<'_>) -> Result<(), Fault> {
        let Some(member) = self.member.take() else {
            self.member = Some(piece.with_text(<[u8]>::to_vec)?);
            return Ok(());
        };
        let before = self.sorted.put(piece.to_score()?, &member);
        let is_long = member.len() as u64 > limits::SORTED_MEMBER_BYTES.get();
        self.must_grow |= self.sorted.len() > limits::SORTED_ENTRIES.get() || is_long && !self.is_packed;
        if self.must_grow {
            self.sorted.grow();
        }
        if before.is_none() { Ok(()) } else { Err(Fault::Malformed) }
    }
}

fn keep(piece: Piece<'_>, into: &mut Vec<u8>) -> Result<(), Fault> {
    into.clear();
    piece.with_text(|text| into.extend_from_slice(text))
}
