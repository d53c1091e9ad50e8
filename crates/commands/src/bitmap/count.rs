//! BITCOUNT BITPOS: count the set bits of a string, and find the first bit of a value.
//!
//! A long string is examined after the locks are released, in steps over a clone.

use crate::prelude::*;
use keyspace::Pin;
use std::ops::Range;
use values::string::{self, parse_int};
use values::{StringValue, bits, long_string};
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[BITCOUNT, BITPOS];

const BITCOUNT: CommandSpec = CommandSpec {
    name: "BITCOUNT",
    syntax: "key [start end [BYTE | BIT]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `BYTE` and `BIT`.")]),
        Fact::Arguments(&[argument("1", "index", "", ""), argument("1.2", "index_unit", "", "7.0.0")]),
    ],
    group: Group::Bitmap,
    cost: "O(n), n the bytes looked at",
    since: "2.6.0",
    brief: "Counts the set bits of a string, or of a range of it.",
    answer: "int: how many",
    run: Run::Local(bitcount),
};

const BITPOS: CommandSpec = CommandSpec {
    name: "BITPOS",
    syntax: "key bit [start [end [BYTE | BIT]]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `BYTE` and `BIT`.")]),
        Fact::Arguments(&[
            argument("2", "index", "", ""),
            argument("2.1", "end_index", "", ""),
            argument("2.1.1", "index_unit", "", "7.0.0"),
        ]),
    ],
    group: Group::Bitmap,
    cost: "O(n), n the bytes looked at",
    since: "2.8.7",
    brief: "Finds the first set or clear bit of a string.",
    answer: "int: its offset in bits; -1: there is none",
    run: Run::Local(bitpos),
};

/// Bytes examined per step: about 50 µs.
const STEP_BYTES: usize = 128 << 10;

/// The offsets given: an omitted end is the string's.
struct Between {
    start: i64,
    end: Option<i64>,
    in_bits: bool,
}

impl Between {
    /// With several errors, the first one in the request is reported; BITPOS checks the unit before the end.
    fn parse(words: &[&[u8]], unit_first: bool) -> Result<Self, Failure> {
        let start = words.first().map_or(Ok(0), |start| parse::int(start))?;
        let end = words.get(1).map(|end| parse::int(end)).transpose();
        let in_bits = match words.get(2) {
            None => Ok(false),
            Some(word) if parse::is(word, "BIT") => Ok(true),
            Some(word) if parse::is(word, "BYTE") => Ok(false),
            Some(_) => Err(Failure::Syntax),
        };
        match in_bits {
            Err(failure) if unit_first => Err(failure),
            in_bits => Ok(Self { start, end: end?, in_bits: in_bits? }),
        }
    }

    /// Returns the selected bits of a string of `bytes_count` bytes. An end below the start is empty, even if both lie
    /// before the string.
    fn bits(&self, bytes_count: usize) -> Range<u64> {
        let len = bytes_count as i64 * if self.in_bits { 8 } else { 1 };
        let from_end = |offset: i64| if offset < 0 { offset.saturating_add(len).max(0) } else { offset };
        let (start, end) = (from_end(self.start), self.end.map_or(len - 1, from_end).min(len - 1));
        if start > end {
            return 0..0;
        }
        let (start, end) = (start as u64, end as u64 + 1);
        if self.in_bits { start..end } else { 8 * start..8 * end }
    }
}

fn bitcount(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let words: Vec<&[u8]> = args.from(2).iter().take(4).collect();
    if words.len() == 1 || words.len() > 3 {
        return Err(Failure::Syntax);
    }
    let between = Between::parse(&words, false)?;
    // Unlike BITPOS, it compares two offsets from the end before clamping them to the string's start.
    let is_empty = matches!(between, Between { start, end: Some(end), .. } if start < 0 && end < 0 && start > end);
    let keyspace = tx.keyspace();
    let Some(string) = tx.string(args.get(1))? else {
        reply.int(0);
        return Ok(());
    };
    let range = if is_empty { 0..0 } else { between.bits(string.bytes_count()) };
    look(string, range, Aim::Count(0), reply, || keyspace.pin(args.get(1)));
    Ok(())
}

fn bitpos(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let bit = match parse_int(args.get(2)).ok_or(Failure::NotAnInteger)? {
        0 => false,
        1 => true,
        _ => return Err(Failure::text("ERR The bit argument must be 1 or 0.")),
    };
    let words: Vec<&[u8]> = args.from(3).iter().take(4).collect();
    if words.len() > 3 {
        return Err(Failure::Syntax);
    }
    let between = Between::parse(&words, true)?;
    let keyspace = tx.keyspace();
    let Some(string) = tx.string(args.get(1))? else {
        // An absent key is an endless string of zeros.
        reply.int(if bit { -1 } else { 0 });
        return Ok(());
    };
    let range = between.bits(string.bytes_count());
    // Beyond a string whose end is not given, there are zeros.
    let or_else = if bit || between.end.is_some() || range.is_empty() { -1 } else { range.end as i64 };
    look(string, range, Aim::Find { bit, or_else }, reply, || keyspace.pin(args.get(1)));
    Ok(())
}

/// The operation on the bits.
enum Aim {
    /// Count the set bits; the count so far.
    Count(u64),
    /// Find the first bit that is `bit`.
    Find { bit: bool, or_else: i64 },
}

impl Aim {
    /// Examines the bits of `range` within `bytes`, which begin with bit number `base`. Returns the result, once known.
    fn take(&mut self, bytes: &[u8], range: Range<u64>, base: u64) -> Option<i64> {
        match self {
            Self::Count(count) => {
                *count += bits::count(bytes, range);
                None
            }
            Self::Find { bit, .. } => bits::find(bytes, range, *bit).map(|at| (base + at) as i64),
        }
    }

    fn answer(&self) -> i64 {
        match *self {
            Self::Count(count) => count as i64,
            Self::Find { or_else, .. } => or_else,
        }
    }
}

/// Examines the bits of `range` and replies.
fn look(string: StringValue<'_>, range: Range<u64>, mut aim: Aim, reply: &mut dyn Reply, pin: impl FnOnce() -> Pin) {
    let StringValue::Long(long) = string else {
        let mut digits = [0; string::DIGITS_MAX];
        let bytes = string.short(&mut digits).expect("it is not long");
        let found = aim.take(bytes, range, 0);
        return reply.int(found.unwrap_or_else(|| aim.answer()));
    };
    let bytes = (range.start / 8) as usize..range.end.div_ceil(8) as usize;
    let base = 8 * bytes.start as u64;
    let bytes_count = bytes.len();
    let bits = range.start - base..range.end - base;
    let mut looking = Looking { part: long.part(bytes), bits, base, aim, pin: None };
    if bytes_count > string::INLINE_BYTES_MAX {
        looking.pin = Some(pin());
        return reply.stream(Box::new(looking));
    }
    while looking.next(reply) == More::Follows {}
}

/// An examination in progress.
struct Looking {
    part: long_string::Part,
    /// The bits left, counted from the part's first bit.
    bits: Range<u64>,
    /// The bit number of the part's start.
    base: u64,
    aim: Aim,
    /// Set once it continues without the locks.
    pin: Option<Pin>,
}

impl Source for Looking {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let Self { part, bits, base, aim, .. } = self;
        let mut found = None;
        part.take(STEP_BYTES, |piece| {
            let piece_bits = 8 * piece.len() as u64;
            let here = bits.start..bits.end.min(piece_bits);
            found = found.or_else(|| aim.take(piece, here, *base));
            *bits = 0..bits.end.saturating_sub(piece_bits);
            *base += piece_bits;
        });
        if found.is_none() && part.bytes_count() > 0 {
            return More::Follows;
        }
        reply.int(found.unwrap_or_else(|| aim.answer()));
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.part.heap_bytes()))
    }
}
