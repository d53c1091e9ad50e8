//! LLEN LRANGE LINDEX: read a list by position.
//!
//! ```text
//! likely up to 64 KiB:   | written under the lock | what is left after all, from a clone |
//! likely longer:         | all of it from a clone, 32 KiB at a time, without the lock      |
//! ```

use crate::prelude::*;
use blocks::{Direction, Visit};
use keyspace::Pin;
use kinds::List;
use std::ops::ControlFlow;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[LLEN, LRANGE, LINDEX];

const LRANGE: Command = Command {
    name: "LRANGE",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::List,
    cost: "O(log(n)+m), n the elements of the list, m those told",
    since: "1.0.0",
    brief: "Tells the elements of a list between two indices, both included.",
    answer: "array: the elements; empty if there are none",
    run: Run::Local(lrange),
};

const LLEN: Command = Command {
    name: "LLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    flags: &[Flag::Fast],
    cost: "O(1)",
    brief: "Tells how many elements a list holds.",
    answer: "int: elements; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.list(args.get(1))?.map_or(0, List::len);
        reply.int(len as i64);
        Ok(())
    }),
    ..LRANGE
};

const LINDEX: Command = Command {
    name: "LINDEX",
    syntax: "key index",
    arity: Arity::Exactly(3),
    cost: "O(log(n)), n the elements of the list",
    brief: "Tells the element at an index of a list.",
    answer: "bulk: the element; null: there is none",
    run: Run::Local(lindex),
    ..LRANGE
};

fn lrange(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    let keyspace = tx.keyspace();
    let Some(list) = tx.list(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let (start, count) = parse::range(start, stop, list.len());
    tell(reply, list, Part { start, count, direction: Direction::Forward }, || keyspace.pin(args.get(1)));
    Ok(())
}

fn lindex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let Some(list) = tx.list(args.get(1))? else {
        reply.null();
        return Ok(());
    };
    let index = index_of(parse::int(args.get(2))?, list.len());
    if index.and_then(|index| list.get(index, |item| reply.bulk(item))).is_none() {
        reply.null();
    }
    Ok(())
}

/// An index that may count from the end; `None` if it is beyond the ends.
pub(super) fn index_of(index: i64, len: u64) -> Option<u64> {
    let index = if index < 0 { index.saturating_add(len as i64) } else { index };
    u64::try_from(index).ok().filter(|index| *index < len)
}

/// How much of a reply is written under the lock, in bytes.
const LOCKED_BYTES_MAX: usize = 64 << 10;
/// About what an item's header takes, in bytes.
const HEADER_BYTES: usize = 8;

/// Replies a part of a list as an array; `pin` is for the clone, if it takes one.
pub(super) fn tell(reply: &mut dyn Reply, list: &List, part: Part, pin: impl FnOnce() -> Pin) {
    reply.array(part.count as usize);
    // What would be long is not begun here: under the lock, in a buffer that grows, its beginning is the slowest of its steps.
    let is_long = part.count.saturating_mul(item_bytes(list)) > LOCKED_BYTES_MAX as u64;
    let rest = if is_long { part } else { tell_some(reply, list, part, LOCKED_BYTES_MAX) };
    if rest.count > 0 {
        // Of the list only what is told is kept, and pinned.
        let mut told = list.clone();
        told.trim(rest.start, rest.count);
        reply.stream(Box::new(Rest { list: told, part: Part { start: 0, ..rest }, pin: pin() }));
    }
}

/// About what an item takes in a reply, in bytes, were all of them alike.
fn item_bytes(list: &List) -> u64 {
    list.content_bytes() / list.len().max(1) + HEADER_BYTES as u64
}

/// A part of a list, yet to be told: `count` items from `start` on, backward the last of them first.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) count: u64,
    pub(super) direction: Direction,
}

/// Writes about `bytes_max` of `part` and says what is left.
fn tell_some(reply: &mut dyn Reply, list: &List, part: Part, bytes_max: usize) -> Part {
    let mut items = Items { reply, told: 0, bytes_left: bytes_max };
    let _ = list.walk(part.start, part.count, part.direction, &mut items);
    let told = items.told;
    match part.direction {
        Direction::Forward => Part { start: part.start + told, count: part.count - told, ..part },
        Direction::Backward => Part { count: part.count - told, ..part },
    }
}

/// Writes items until it has written enough.
struct Items<'a> {
    reply: &'a mut dyn Reply,
    told: u64,
    bytes_left: usize,
}

impl Items<'_> {
    fn note(&mut self, items_count: usize, bytes: usize) -> ControlFlow<()> {
        self.told += items_count as u64;
        self.bytes_left = self.bytes_left.saturating_sub(bytes + items_count * HEADER_BYTES);
        if self.bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Visit for Items<'_> {
    fn item(&mut self, item: &[u8]) -> ControlFlow<()> {
        self.reply.bulk(item);
        self.note(1, item.len())
    }

    fn run(&mut self, width: usize, bytes: &[u8]) -> ControlFlow<()> {
        self.reply.run(width, bytes);
        self.note(bytes.len() / width, bytes.len())
    }
}

/// What is told from a clone.
struct Rest {
    list: List,
    part: Part,
    pin: Pin,
}

impl Source for Rest {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.part = tell_some(reply, &self.list, self.part, SOURCE_STEP_BYTES);
        if self.part.count > 0 { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.list.heap_bytes())
    }
}
