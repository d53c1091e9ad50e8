//! SCAN KEYS: the names of keys, in the order of their hashes.
//!
//! ```text
//! hash    | shard 10 | tag 20 | 34, unused |
//! cursor  |<------- top 48 bits ---->|           where to go on; 0 begins and ends
//! ```
//!
//! A step ends only between two prefixes of hashes, and its cursor is the next prefix there is. Order and prefixes
//! do not hang on the number of keys, so a key that stays is told once in a whole walk, whatever comes and goes.

use crate::prelude::*;
use crate::row::Sweep;
use base::glob::{self, Case};
use base::limits::SHARDS;
use keyspace::kind_of;
use std::ops::ControlFlow;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[SCAN, KEYS];

const SCAN: Command = Command {
    name: "SCAN",
    syntax: "cursor [MATCH pattern] [COUNT count] [TYPE type]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::Read,
    flags: &[],
    group: Group::Generic,
    cost: "O(1) a step, O(n) in all, n the keys",
    since: "2.8.0",
    brief: "Tells keys in steps, and the cursor with which to go on.",
    answer: "array: the next cursor (0: that was all) and an array of keys",
    run: Run::Sweep(scan),
};

const KEYS: Command = Command {
    name: "KEYS",
    syntax: "pattern",
    arity: Arity::Exactly(2),
    flags: &[Flag::Dangerous],
    cost: "O(n), n the keys of the database",
    since: "1.0.0",
    brief: "Tells all keys that match a pattern.",
    answer: "array: the keys",
    run: Run::Sweep(|args, _| {
        Ok(Box::new(Keys { filter: Filter { pattern: pattern(args.get(1)), kind: None }, names: Names::default() }))
    }),
    ..SCAN
};

/// Which keys are told.
struct Filter {
    /// `None` matches everything.
    pattern: Option<Vec<u8>>,
    /// The name of a kind, in any case of letters; what names no kind matches nothing.
    kind: Option<Vec<u8>>,
}

impl Filter {
    fn takes(&self, entry: keyspace::Entry<'_>) -> bool {
        let matches = self.pattern.as_ref().is_none_or(|pattern| glob::matches(pattern, entry.key(), Case::Exact));
        matches && self.kind.as_ref().is_none_or(|kind| parse::is(kind, kind_of(entry).name()))
    }
}

fn pattern(argument: &[u8]) -> Option<Vec<u8>> {
    (argument != b"*").then(|| argument.to_vec())
}

/// Bits of a hash that a cursor leaves out, so that it fits every client's signed number.
const CURSOR_SHIFT: u32 = 16;
const SHARD_SHIFT: u32 = 64 - SHARDS.trailing_zeros();
const COUNT_DEFAULT: u64 = 10;

struct Scan {
    filter: Filter,
    from_hash: u64,
    /// How many keys may still be looked at before the next prefix ends the step.
    left: u64,
    cursor: u64,
    names: Names,
}

fn scan(args: &Args, _: u64) -> Result<Box<dyn Sweep>, Failure> {
    let cursor = parse_cursor(args.get(1)).ok_or(Failure::text("ERR invalid cursor"))?;
    let mut filter = Filter { pattern: None, kind: None };
    let mut count = COUNT_DEFAULT;
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "MATCH") {
            filter.pattern = pattern(value);
        } else if parse::is(word, "COUNT") {
            let value = parse::int(value)?;
            count = u64::try_from(value).ok().filter(|count| *count > 0).ok_or(Failure::Syntax)?;
        } else if parse::is(word, "TYPE") {
            filter.kind = Some(value.to_vec());
        } else {
            return Err(Failure::Syntax);
        }
    }
    // A cursor that we never gave leads behind the last key.
    let from_hash = if cursor >> (64 - CURSOR_SHIFT) == 0 { cursor << CURSOR_SHIFT } else { u64::MAX };
    Ok(Box::new(Scan { filter, from_hash, left: count, cursor: 0, names: Names::default() }))
}

/// Digits of a `u64`.
fn parse_cursor(argument: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(argument).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}

impl Sweep for Scan {
    fn first_shard(&self) -> usize {
        (self.from_hash >> SHARD_SHIFT) as usize
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> ControlFlow<()> {
        let from_hash = self.from_hash.max((shard as u64) << SHARD_SHIFT);
        let mut last = None;
        for (prefix, entry) in tx.scan(shard, from_hash) {
            if self.left == 0 && last != Some(prefix) {
                self.cursor = prefix >> CURSOR_SHIFT;
                return ControlFlow::Break(());
            }
            last = Some(prefix);
            self.left = self.left.saturating_sub(1);
            if self.filter.takes(entry) {
                self.names.push(entry.key());
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        reply.array(2);
        reply.bulk(self.cursor.to_string().as_bytes());
        self.names.tell(reply);
        Ok(())
    }
}

struct Keys {
    filter: Filter,
    names: Names,
}

impl Sweep for Keys {
    fn visit(&mut self, tx: &mut Tx, shard: usize) -> ControlFlow<()> {
        for (_, entry) in tx.scan(shard, 0) {
            if self.filter.takes(entry) {
                self.names.push(entry.key());
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        self.names.tell(reply);
        Ok(())
    }
}

/// Names one behind the other, as many as there may be.
#[derive(Default)]
struct Names {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// How many have been told.
    told: usize,
}

impl Names {
    fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
    }

    /// Replies an array, in steps if it is long.
    fn tell(mut self, reply: &mut dyn Reply) {
        reply.array(self.ends.len());
        if self.next(reply) == More::Follows {
            reply.stream(Box::new(self));
        }
    }
}

impl Source for Names {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let mut start = self.told.checked_sub(1).map_or(0, |last| self.ends[last]);
        let step_end = start + SOURCE_STEP_BYTES;
        for &end in &self.ends[self.told..] {
            if start >= step_end {
                return More::Follows;
            }
            reply.bulk(&self.bytes[start..end]);
            start = end;
            self.told += 1;
        }
        More::Done
    }
}
