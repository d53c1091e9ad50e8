//! SCAN KEYS: the names of keys, in hash order.
//!
//! ```text
//! hash    | shard 10 | tag 20 | 34, unused |
//! cursor  |<------- top 48 bits ---->|           the start of the next step; 0 begins and ends
//! ```
//!
//! A step ends only between two hash prefixes, and its cursor is the next existing prefix. Order and prefixes do not
//! depend on the number of keys, so a key that stays is returned exactly once in a whole scan, whatever comes and goes.

use super::names::Names;
use crate::prelude::*;
use crate::spec::{KnownKeys, Sweep, SweepNext};
use base::cost;
use base::glob::{self, Case};
use base::limits::SHARDS;
use keyspace::kind_of;

pub(crate) const COMMANDS: &[CommandSpec] = &[SCAN, KEYS];

const SCAN: CommandSpec = CommandSpec {
    name: "SCAN",
    syntax: "cursor [MATCH pattern] [COUNT count] [TYPE type]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::Tips(&["nondeterministic_output", "request_policy:special"]),
        Fact::History(&[("6.0.0", "Takes `TYPE`.")]),
        Fact::Arguments(&[argument("3", "", "", "6.0.0")]),
    ],
    group: Group::Generic,
    cost: "O(1) a step, O(n) in all, n the keys",
    since: "2.8.0",
    brief: "Iterates over keys with a cursor.",
    answer: "array: the next cursor (0: that was all) and an array of keys",
    run: Run::Sweep(scan),
};

const KEYS: CommandSpec = CommandSpec {
    name: "KEYS",
    syntax: "pattern",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Dangerous],
    facts: &[Fact::Tips(&["request_policy:all_shards", "nondeterministic_output_order"])],
    group: Group::Generic,
    cost: "O(n), n the keys of the database",
    since: "1.0.0",
    brief: "Returns all keys that match a pattern.",
    answer: "array: the keys",
    run: Run::Sweep(|args, _| {
        let filter = Filter { pattern: pattern(args.get(1))?, kind: None };
        Ok(Box::new(Keys { filter, from_hash: 0, names: Names::default() }))
    }),
};

/// The filter of returned keys.
struct Filter {
    /// `None` matches everything.
    pattern: Option<Vec<u8>>,
    /// The name of a type, in any case; an unknown name matches nothing.
    kind: Option<Vec<u8>>,
}

impl Filter {
    /// Returns whether an entry matches, and how many bytes were compared.
    fn takes(&self, entry: keyspace::Entry<'_>) -> (bool, usize) {
        let matched = |pattern: &Vec<u8>| glob::matches_counted(pattern, entry.key(), Case::Exact);
        let (matches, bytes) = self.pattern.as_ref().map_or((true, 0), matched);
        (matches && self.kind.as_ref().is_none_or(|kind| parse::is(kind, kind_of(entry).name())), bytes)
    }
}

fn pattern(argument: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    Ok(if argument == b"*" { None } else { Some(parse::pattern(argument)?.to_vec()) })
}

/// Bits of a hash that a cursor omits, so that it fits every client's signed integers.
pub(crate) const CURSOR_SHIFT: u32 = 16;
pub(crate) const SHARD_SHIFT: u32 = 64 - SHARDS.trailing_zeros();
const COUNT_DEFAULT: u64 = 10;

struct Scan {
    filter: Filter,
    from_hash: u64,
    /// Number of keys that may still be examined before the step ends at the next prefix.
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
            filter.pattern = pattern(value)?;
        } else if parse::is(word, "COUNT") {
            let value = parse::int(value)?;
            count = u64::try_from(value).ok().filter(|count| *count > 0).ok_or(Failure::Syntax)?;
        } else if parse::is(word, "TYPE") {
            filter.kind = Some(value.to_vec());
        } else {
            return Err(Failure::Syntax);
        }
    }
    // A cursor we never returned points past the last key.
    let from_hash = if cursor >> (64 - CURSOR_SHIFT) == 0 { cursor << CURSOR_SHIFT } else { u64::MAX };
    Ok(Box::new(Scan { filter, from_hash, left: count, cursor: 0, names: Names::default() }))
}

/// Parses a `u64` as Redis does: digits with an optional sign, up to a NUL or the end; a negative number wraps around,
/// and an empty argument is 0.
pub(crate) fn parse_cursor(argument: &[u8]) -> Option<u64> {
    let text = argument.split(|byte| *byte == 0).next().unwrap_or_default();
    let (is_negative, digits) = match text {
        [] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number: u64 = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()?;
    Some(if is_negative { number.wrapping_neg() } else { number })
}

/// Keys examined per locking of a shard: up to about 200 µs with a long pattern.
pub(crate) const VISIT_KEYS_MAX: u64 = 256;
/// Bytes of names and patterns compared per locking of a shard, not counting the last key: up to about 100 µs.
const VISIT_BYTES_MAX: usize = 256 << 10;

/// Collects names of `shard` visited by [`walk`].
fn gather(
    tx: &mut Tx,
    shard: usize,
    from_hash: u64,
    looks_left: &mut u64,
    filter: &Filter,
    names: &mut Names,
) -> Option<u64> {
    walk(tx, shard, from_hash, looks_left, |entry| {
        let (takes, bytes) = filter.takes(entry);
        if takes {
            names.push(entry.key());
        }
        bytes
    })
}

/// Visits entries of `shard` from `from_hash` on until the looks run out, or the bytes compared, which `look` returns,
/// exceed the limit; then continues to the end of a prefix. Returns the next prefix, if there is any.
pub(crate) fn walk(
    tx: &mut Tx,
    shard: usize,
    from_hash: u64,
    looks_left: &mut u64,
    mut look: impl FnMut(keyspace::Entry<'_>) -> usize,
) -> Option<u64> {
    let (mut last, mut bytes_left) = (None, VISIT_BYTES_MAX);
    for (prefix, entry) in tx.scan(shard, from_hash) {
        if (*looks_left == 0 || bytes_left == 0) && last != Some(prefix) {
            return Some(prefix);
        }
        last = Some(prefix);
        *looks_left = looks_left.saturating_sub(1);
        cost::count(cost::Work::Names, 1);
        bytes_left = bytes_left.saturating_sub(look(entry));
    }
    None
}

impl Sweep for Scan {
    fn first_shard(&self) -> usize {
        (self.from_hash >> SHARD_SHIFT) as usize
    }

    fn pass(&mut self, _: usize, known: KnownKeys) -> bool {
        known.are_none()
    }

    fn is_short(&self) -> bool {
        self.left <= VISIT_KEYS_MAX
    }

    fn names_only(&self) -> bool {
        true
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        let from_hash = self.from_hash.max((shard as u64) << SHARD_SHIFT);
        let looks_max = self.left.min(VISIT_KEYS_MAX);
        let mut looks_left = looks_max;
        let next = gather(tx, shard, from_hash, &mut looks_left, &self.filter, &mut self.names);
        self.left -= looks_max - looks_left;
        match next {
            None => SweepNext::Next,
            Some(prefix) if self.left > 0 => {
                self.from_hash = prefix;
                SweepNext::Again
            }
            Some(prefix) => {
                self.cursor = prefix >> CURSOR_SHIFT;
                SweepNext::Over
            }
        }
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        reply.array(2);
        reply.bulk(self.cursor.to_string().as_bytes());
        self.names.write(reply);
        Ok(())
    }
}

struct Keys {
    filter: Filter,
    from_hash: u64,
    names: Names,
}

impl Sweep for Keys {
    fn pass(&mut self, _: usize, known: KnownKeys) -> bool {
        known.are_none()
    }

    fn names_only(&self) -> bool {
        true
    }

    fn prepare(&mut self) {
        self.names.prepare();
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        let from_hash = self.from_hash.max((shard as u64) << SHARD_SHIFT);
        match gather(tx, shard, from_hash, &mut { VISIT_KEYS_MAX }, &self.filter, &mut self.names) {
            None => SweepNext::Next,
            Some(prefix) => {
                self.from_hash = prefix;
                SweepNext::Again
            }
        }
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) -> Outcome {
        self.names.write(reply);
        Ok(())
    }
}
