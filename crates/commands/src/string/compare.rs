//! DIGEST DELEX, and the conditions of DELEX, SET and MSETEX on a key's current value.
//!
//! A digest is the XXH3 of a string as 16 hexadecimal digits. Long strings are hashed and compared without locks:
//! DIGEST uses a clone, and commands that change keys run speculatively.

use crate::prelude::*;
use base::hash::{self, Digest};
use keyspace::Pin;
use values::string::DIGITS_MAX;
use values::{LongString, StringValue, ValueType, long_string};
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[DELEX, DIGEST];

const DELEX: CommandSpec = CommandSpec {
    name: "DELEX",
    syntax: "key [IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW DELETE VARIABLE_FLAGS").varying(Varies::IfReadsOld {
        from: 2,
        reads: "RW ACCESS DELETE",
        blind: "RM DELETE",
    })],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::String,
    cost: "O(n), n the bytes compared or digested",
    since: "8.4.0",
    brief: "Deletes a key, or only if it holds a certain string.",
    answer: "int: 1 if the key was removed, 0 if it is absent or the condition does not hold",
    run: Run::Local(delex),
};

const DIGEST: CommandSpec = CommandSpec {
    name: "DIGEST",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::String,
    cost: "O(n), n the bytes of the string",
    since: "8.4.0",
    brief: "Returns a digest of a key's string.",
    answer: "bulk: 16 digits of base 16; null: the key is absent",
    run: Run::Local(digest),
};

/// The number of digits of a digest.
const DIGEST_DIGITS: usize = 16;
/// Bytes hashed under the lock, and per step without it: some ten microseconds.
const HASHED_AT_ONCE: usize = 128 << 10;
/// Bytes compared or hashed in about the time of changing one element.
const BYTES_AN_ELEMENT: usize = 4096;

/// The condition's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Absent,
    There,
    Equal,
    Different,
    DigestEqual,
    DigestDifferent,
}

const WORDS: [(&str, What); 6] = [
    ("NX", What::Absent),
    ("XX", What::There),
    ("IFEQ", What::Equal),
    ("IFNE", What::Different),
    ("IFDEQ", What::DigestEqual),
    ("IFDNE", What::DigestDifferent),
];

/// A condition on a key's value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueCondition<'a> {
    what: What,
    /// The value compared with; empty if only the key's presence counts.
    value: &'a [u8],
}

impl<'a> ValueCondition<'a> {
    /// Reads the condition at argument `at`, if there is a complete one.
    pub(super) fn at(args: &Args<'a>, at: usize) -> Option<Self> {
        let (_, what) = *WORDS.iter().find(|(word, _)| parse::is(args.get(at), word))?;
        let compares = !matches!(what, What::Absent | What::There);
        let value = if compares { args.from(at + 1).iter().next()? } else { b"" };
        Some(Self { what, value })
    }

    /// Returns true if it compares a string.
    pub(super) fn compares(&self) -> bool {
        !matches!(self.what, What::Absent | What::There)
    }

    /// Returns the number of arguments it takes.
    pub(super) fn words_count(&self) -> usize {
        1 + usize::from(self.compares())
    }

    /// Returns true if one may follow the other: the last one then applies.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.what == other.what
    }

    /// Returns true if `key` fulfills it. An absent key differs from every string.
    pub(super) fn holds(&self, tx: &mut Tx, key: &[u8]) -> Result<bool, Failure> {
        let (is_of_digest, wants_equal) = match self.what {
            What::Absent => return Ok(!tx.exists(key)),
            What::There => return Ok(tx.exists(key)),
            What::Equal => (false, true),
            What::Different => (false, false),
            What::DigestEqual => (true, true),
            What::DigestDifferent => (true, false),
        };
        let mut digits = [0; DIGITS_MAX];
        let long = match tx.string(key)? {
            None => return Ok(!wants_equal),
            Some(StringValue::Long(long)) => long.clone(),
            Some(text) => {
                let bytes = text.short(&mut digits).expect("it is not long");
                let is_equal = if is_of_digest { self.is_digest(|| hash::order(bytes))? } else { bytes == self.value };
                return Ok(is_equal == wants_equal);
            }
        };
        let bytes_count = long.bytes_count();
        if is_of_digest || bytes_count == self.value.len() {
            tx.expect_work((bytes_count / BYTES_AN_ELEMENT) as u64)?;
        }
        let is_equal = if is_of_digest { self.is_digest(|| digest_of(&long))? } else { is_equal(&long, self.value) };
        Ok(is_equal == wants_equal)
    }

    /// Returns true if this is the requested digest, which is computed only if it can match.
    fn is_digest(&self, digest: impl FnOnce() -> u64) -> Result<bool, Failure> {
        if self.value.len() != DIGEST_DIGITS {
            return Err(Failure::text("ERR must be exactly 16 hexadecimal characters"));
        }
        Ok(self.value.eq_ignore_ascii_case(digits_of(digest()).as_bytes()))
    }
}

fn is_equal(long: &LongString, bytes: &[u8]) -> bool {
    if long.bytes_count() != bytes.len() {
        return false;
    }
    let (mut rest, mut is_equal) = (bytes, true);
    long.for_each_piece(0..bytes.len(), |piece| {
        let (here, behind) = rest.split_at(piece.len());
        is_equal = is_equal && here == piece;
        rest = behind;
    });
    is_equal
}

fn digest_of(long: &LongString) -> u64 {
    let mut digest = Digest::default();
    long.for_each_piece(0..long.bytes_count(), |piece| digest.add(piece));
    digest.hash()
}

fn digits_of(digest: u64) -> String {
    format!("{digest:016x}")
}

fn digest(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let keyspace = tx.keyspace();
    let digest = match tx.string(args.get(1))? {
        None => {
            reply.null();
            return Ok(());
        }
        Some(StringValue::Long(long)) if long.bytes_count() > HASHED_AT_ONCE => {
            let part = long.part(0..long.bytes_count());
            reply.stream(Box::new(Hashing { digest: Digest::default(), part, pin: keyspace.pin(args.get(1)) }));
            return Ok(());
        }
        Some(StringValue::Long(long)) => digest_of(long),
        Some(text) => hash::order(text.short(&mut [0; DIGITS_MAX]).expect("it is not long")),
    };
    reply.bulk(digits_of(digest).as_bytes());
    Ok(())
}

/// A long string being hashed from a clone.
struct Hashing {
    digest: Digest,
    part: long_string::Part,
    pin: Pin,
}

impl Source for Hashing {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let Self { digest, part, .. } = self;
        part.take(HASHED_AT_ONCE, |piece| digest.add(piece));
        if part.bytes_count() > 0 {
            return More::Follows;
        }
        reply.bulk(digits_of(digest.hash()).as_bytes());
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.part.heap_bytes())
    }
}

fn delex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let goes = match (args.len(), tx.value_type(key)) {
        (2, kind) => kind.is_some(),
        (4, None) => false,
        (4, Some(ValueType::String)) => {
            let condition = ValueCondition::at(args, 2).filter(ValueCondition::compares);
            let unknown = Failure::text("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE");
            condition.ok_or(unknown)?.holds(tx, key)?
        }
        (4, Some(_)) => return Err(Failure::text("ERR Key should be of string type if conditions are specified")),
        _ => return Err(Failure::arity(args)),
    };
    if goes {
        tx.remove(key);
    }
    reply.int(i64::from(goes));
    Ok(())
}
