//! MGET MSET MSETNX MSETEX: several strings atomically.

use super::{options, set, write_string};
use crate::chunked_buffer::{PieceLocation, Pieces};
use crate::prelude::*;
use crate::registry::Command;
use crate::spec::Gather;
use base::Ms;
use keyspace::{Pin, string_of};
use values::{LongString, StringValue, long_string};
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[MGET, MSET, MSETEX, MSETNX];

const MGET: CommandSpec = CommandSpec {
    name: "MGET",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Tips(&["request_policy:multi_shard"])],
    group: Group::String,
    cost: "O(n), n the keys",
    since: "1.0.0",
    brief: "Returns the strings of several keys.",
    answer: "array: for each key its string, or null if it is absent or holds another type",
    run: Run::Gather {
        at_once: |tx, args, reply| {
            let (keys, keyspace) = (args.from(1), tx.keyspace());
            reply.array(keys.len());
            for key in keys {
                write_string(reply, tx.entry(key).and_then(string_of), || keyspace.pin(key));
            }
            Ok(())
        },
        begin: |_| Box::new(Texts::default()),
    },
};

/// The values MGET has found under very many keys.
///
/// ```text
/// pieces   | 64 keys | 64 keys | 64 keys | ..      40 bytes a key: 4 MB at once would be a thousand fresh pages
/// ```
#[derive(Default)]
struct Texts {
    pieces: Vec<Vec<ValueRead>>,
    keys_count: usize,
    /// The number of long strings among them.
    long_count: usize,
    copies: Pieces,
}

/// Keys per piece.
const PIECE_KEYS: usize = 64;

enum ValueRead {
    Nothing,
    Int(i64),
    /// A copy of the string.
    Short(PieceLocation),
    Long(LongString, Pin),
}

impl ValueRead {
    fn is_long(&self) -> bool {
        matches!(self, Self::Long(..))
    }
}

impl Texts {
    fn put(&mut self, index: usize, found: ValueRead) {
        self.long_count += usize::from(found.is_long());
        let before = std::mem::replace(&mut self.pieces[index / PIECE_KEYS][index % PIECE_KEYS], found);
        self.long_count -= usize::from(before.is_long());
    }
}

impl Gather for Texts {
    fn expect(&mut self) {
        if self.keys_count.is_multiple_of(PIECE_KEYS) {
            self.pieces.push(Vec::with_capacity(PIECE_KEYS));
        }
        self.pieces.last_mut().expect("the first key begins a piece").push(ValueRead::Nothing);
        self.keys_count += 1;
    }

    fn prepare(&mut self) {
        self.copies.prepare();
    }

    fn look(&mut self, tx: &mut Tx, at: usize, key: &[u8]) -> Option<Ms> {
        let keyspace = tx.keyspace();
        let entry = tx.entry(key);
        let found = match entry.and_then(string_of) {
            None => ValueRead::Nothing,
            Some(StringValue::Int(number)) => ValueRead::Int(number),
            Some(StringValue::Bytes(bytes)) => ValueRead::Short(self.copies.copy(bytes)),
            Some(StringValue::Long(long)) => ValueRead::Long(long.clone(), keyspace.pin(key)),
        };
        let until = entry.and_then(|entry| entry.expires_at_ms());
        self.put(at - 1, found);
        until
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) {
        reply.array(self.keys_count);
        let Self { pieces, long_count: long_left, copies, .. } = *self;
        let (pieces, piece) = (pieces.into_iter(), Vec::new().into_iter());
        reply.stream(Box::new(ManyReply { piece, pieces, copies, long_left, long: None }));
    }
}

/// The rest of an MGET reply.
struct ManyReply {
    piece: std::vec::IntoIter<ValueRead>,
    pieces: std::vec::IntoIter<Vec<ValueRead>>,
    copies: Pieces,
    /// The number of long strings left.
    long_left: usize,
    /// A long string in progress.
    long: Option<(long_string::Part, Pin)>,
}

impl ManyReply {
    fn next_found(&mut self) -> Option<ValueRead> {
        if self.piece.len() == 0 {
            self.piece = self.pieces.next()?.into_iter();
        }
        self.piece.next()
    }
}

impl Source for ManyReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let mut left_bytes = SOURCE_STEP_BYTES;
        while left_bytes > 0 {
            if let Some((long, _)) = &mut self.long {
                let before_bytes = long.bytes_count();
                long.take(left_bytes, |piece| reply.bulk_part(piece));
                left_bytes = left_bytes.saturating_sub(before_bytes - long.bytes_count());
                if long.bytes_count() > 0 {
                    return More::Follows;
                }
                reply.bulk_end();
                self.long = None;
            }
            let Some(found) = self.next_found() else { return More::Done };
            left_bytes = left_bytes.saturating_sub(HEADER_BYTES);
            match found {
                ValueRead::Nothing => reply.null(),
                ValueRead::Int(number) => reply.bulk_int(number),
                ValueRead::Short(place) => {
                    let bytes = self.copies.at(place);
                    reply.bulk(bytes);
                    left_bytes = left_bytes.saturating_sub(bytes.len());
                }
                ValueRead::Long(long, pin) => {
                    reply.bulk_begin(long.bytes_count());
                    self.long = Some((long.part(0..long.bytes_count()), pin));
                    self.long_left -= 1;
                }
            }
        }
        More::Follows
    }

    fn pinned_bytes(&self) -> u64 {
        // Copies are held for this reader alone, as is data that only its clones keep alive.
        let long_bytes = self.long.as_ref().map_or(0, |(long, pin)| pin.bytes(long.heap_bytes()));
        let begun = long_bytes + self.copies.heap_bytes() as u64;
        if self.long_left == 0 {
            return begun;
        }
        let pinned = |found: &ValueRead| match found {
            ValueRead::Long(long, pin) => pin.bytes(long.heap_bytes()),
            _ => 0,
        };
        let pieces = std::iter::once(self.piece.as_slice()).chain(self.pieces.as_slice().iter().map(Vec::as_slice));
        begun + pieces.flatten().map(pinned).sum::<u64>()
    }
}

/// The approximate size of a header, in bytes.
const HEADER_BYTES: usize = 8;

const MSET: CommandSpec = CommandSpec {
    name: "MSET",
    syntax: "key value [key value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -1, 2, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString, Flag::Pairs],
    facts: &[Fact::Tips(&["request_policy:multi_shard", "response_policy:all_succeeded"])],
    group: Group::String,
    cost: "O(n), n the keys",
    since: "1.0.1",
    brief: "Sets the strings of several keys.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| {
        check_pairs(args)?;
        put_pairs(tx, args);
        reply.ok();
        Ok(())
    }),
};

const MSETNX: CommandSpec = CommandSpec {
    name: "MSETNX",
    syntax: "key value [key value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -1, 2, "OW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::IfAbsent, Flag::PutsString, Flag::Pairs],
    facts: &[Fact::Tips(&["request_policy:multi_shard", "response_policy:agg_min"])],
    group: Group::String,
    cost: "O(n), n the keys",
    since: "1.0.1",
    brief: "Sets the strings of several keys if none of them exists.",
    answer: "int: 1 if all were put, 0 if none was",
    run: Run::Local(|tx, args, reply| {
        check_pairs(args)?;
        let all_absent = !args.from(1).iter().step_by(2).any(|key| tx.exists(key));
        if all_absent {
            put_pairs(tx, args);
        }
        reply.int(i64::from(all_absent));
        Ok(())
    }),
};

const MSETEX: CommandSpec = CommandSpec {
    name: "MSETEX",
    syntax: "numkeys key value [key value ...] [NX | XX] [EX seconds | PX milliseconds | EXAT unix-time-seconds | \
             PXAT unix-time-milliseconds | KEEPTTL]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::counted_pairs(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[],
    group: Group::String,
    cost: "O(n), n the keys",
    since: "8.4.0",
    brief: "Sets the strings of several keys, with one deadline if given.",
    answer: "int: 1 if all were put, 0 if NX or XX does not hold for all, and none was",
    run: Run::Local(msetex),
};

static PUT_SORTED: CommandSpec = CommandSpec { flags: &[Flag::PutsString], ..MSET };
static PUT_SORTED_IF_ABSENT: CommandSpec = CommandSpec { flags: &[Flag::PutsString], ..MSETNX };

/// Returns the command that replaces one with [`Flag::Pairs`] once its arguments have been sorted.
pub fn put_sorted(command: &Command) -> Command {
    command.part(if command.has(Flag::IfAbsent) { &PUT_SORTED_IF_ABSENT } else { &PUT_SORTED })
}

fn msetex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let count = parse::int_or(args.get(1), 1, i64::from(i32::MAX), "ERR invalid numkeys value")? as usize;
    let options_at = 2 + 2 * count;
    if args.len() < options_at {
        return Err(Failure::text("ERR wrong number of key-value pairs"));
    }
    let options = options::of_msetex(args, options_at)?;
    let expiry = options.life.expiry(tx.now(), args)?;
    let pairs = args.slice(2, options_at);
    for key in pairs.iter().step_by(2) {
        if let Some(condition) = options.condition
            && !condition.holds(tx, key)?
        {
            reply.int(0);
            return Ok(());
        }
    }
    let mut rest = pairs.iter();
    while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
        set::put(tx, key, value, expiry);
    }
    reply.int(1);
    Ok(())
}

fn check_pairs(args: &Args<'_>) -> Result<(), Failure> {
    if args.len().is_multiple_of(2) { Err(Failure::arity(args)) } else { Ok(()) }
}

fn put_pairs(tx: &mut Tx, args: &Args) {
    let mut rest = args.from(1).iter();
    while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
        tx.put_string(key, value, Expiry::Clear);
    }
}
