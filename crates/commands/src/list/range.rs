//! LLEN LRANGE LINDEX: read a list by position.
//!
//! ```text
//! likely up to 64 KiB:   | written under the lock | a remainder, if any, from a clone  |
//! likely longer:         | all from a clone, 32 KiB at a time, without the lock        |
//! ```

use crate::prelude::*;
use blocks::{Direction, Visit};
use keyspace::{ListLike, Pin};
use std::ops::ControlFlow;
use values::{List, Queue};
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[LLEN, LRANGE, LINDEX];

const LRANGE: CommandSpec = CommandSpec {
    name: "LRANGE",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::List,
    cost: "O(log(n)+m), n the elements of the list, m those told",
    since: "1.0.0",
    brief: "Returns the elements between two indices, both included.",
    answer: "array: the elements; empty if there are none",
    run: Run::Local(lrange),
};

const LLEN: CommandSpec = CommandSpec {
    name: "LLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::List,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the length of a list.",
    answer: "int: elements; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.list_like(args.get(1))?.map_or(0, |list| list.len());
        reply.int(len as i64);
        Ok(())
    }),
};

const LINDEX: CommandSpec = CommandSpec {
    name: "LINDEX",
    syntax: "key index",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::List,
    cost: "O(log(n)), n the elements of the list",
    since: "1.0.0",
    brief: "Returns the element at an index of a list.",
    answer: "bulk: the element; null: there is none",
    run: Run::Local(lindex),
};

fn lrange(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    let keyspace = tx.keyspace();
    let Some(list) = tx.list_like(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let (start, count) = parse::range(start, stop, list.len());
    let part = ListPart { start, count, direction: Direction::Forward };
    write_list_like(reply, list, part, || keyspace.pin(args.get(1)));
    Ok(())
}

fn lindex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let Some(list) = tx.list_like(args.get(1))? else {
        reply.null();
        return Ok(());
    };
    let index = index_of(parse::int(args.get(2))?, list.len());
    if index.and_then(|index| list.get(index, |item| reply.bulk(item))).is_none() {
        reply.null();
    }
    Ok(())
}

/// Resolves an index that may count from the end; `None` if it is out of range.
pub(super) fn index_of(index: i64, len: u64) -> Option<u64> {
    let index = if index < 0 { index.saturating_add(len as i64) } else { index };
    u64::try_from(index).ok().filter(|index| *index < len)
}

/// The bytes of a reply written under the lock, at most.
const LOCKED_BYTES_MAX: usize = 64 << 10;
/// The approximate size of an item's header, in bytes.
const HEADER_BYTES: usize = 8;

/// Replies with part of a list or queue as an array; `pin` is for the clone, if it takes one.
pub(super) fn write_list_like(reply: &mut dyn Reply, list: ListLike<'_>, part: ListPart, pin: impl FnOnce() -> Pin) {
    match list {
        ListLike::List(list) => write_part(reply, list, part, pin),
        ListLike::Queue(queue) => write_part(reply, queue, part, pin),
    }
}

/// Replies with part of a list as an array; `pin` is for the clone, if it takes one.
pub(crate) fn write_part<L: Indexed>(reply: &mut dyn Reply, list: &L, part: ListPart, pin: impl FnOnce() -> Pin) {
    reply.array(part.count as usize);
    // Long replies do not start here: under the lock, in a growing buffer, the first step is the slowest.
    let is_long = part.count.saturating_mul(item_bytes(list)) > LOCKED_BYTES_MAX as u64;
    let rest = if is_long { part } else { write_some(reply, list, part, LOCKED_BYTES_MAX) };
    if rest.count > 0 {
        // Only the replied part of the list is kept and pinned.
        let (list, start) = list.keep(rest.start, rest.count);
        reply.stream(Box::new(ListReply { list, part: ListPart { start, ..rest }, pin: pin() }));
    }
}

/// A value replied by position: a list, or the ready messages of a queue.
pub(crate) trait Indexed: Sized + Send + 'static {
    /// Returns the number of items, and roughly their bytes.
    fn size(&self) -> (u64, u64);

    /// See [`List::walk`].
    fn show(&self, start: u64, count: u64, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()>;

    /// Returns a clone that has at least these items, and their start in it.
    fn keep(&self, start: u64, count: u64) -> (Self, u64);

    /// Returns its heap memory in bytes.
    fn heap_bytes(&self) -> u64;
}

impl Indexed for List {
    fn size(&self) -> (u64, u64) {
        (self.len(), self.content_bytes())
    }

    fn show(&self, start: u64, count: u64, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()> {
        self.walk(start, count, direction, visit)
    }

    fn keep(&self, start: u64, count: u64) -> (Self, u64) {
        let mut kept = self.clone();
        kept.trim(start, count);
        (kept, 0)
    }

    fn heap_bytes(&self) -> u64 {
        List::heap_bytes(self)
    }
}

impl Indexed for Queue {
    fn size(&self) -> (u64, u64) {
        (self.len(), self.message_bytes())
    }

    fn show(&self, start: u64, count: u64, direction: Direction, visit: &mut impl Visit) -> ControlFlow<()> {
        self.walk_ready(start, count, direction, visit)
    }

    fn keep(&self, start: u64, _: u64) -> (Self, u64) {
        (self.clone(), start)
    }

    fn heap_bytes(&self) -> u64 {
        Queue::heap_bytes(self)
    }
}

/// Returns the approximate size of an item in a reply, in bytes, as if all were alike.
fn item_bytes<L: Indexed>(list: &L) -> u64 {
    let (items, bytes) = list.size();
    bytes / items.max(1) + HEADER_BYTES as u64
}

/// A part of a list still to be replied: `count` items from `start` on; backward, the last comes first.
#[derive(Clone, Copy)]
pub(crate) struct ListPart {
    pub(crate) start: u64,
    pub(crate) count: u64,
    pub(crate) direction: Direction,
}

/// Writes about `bytes_max` of `part` and returns the rest.
fn write_some<L: Indexed>(reply: &mut dyn Reply, list: &L, part: ListPart, bytes_max: usize) -> ListPart {
    let mut items = Items { reply, written: 0, bytes_left: bytes_max };
    let _ = list.show(part.start, part.count, part.direction, &mut items);
    let written = items.written;
    match part.direction {
        Direction::Forward => ListPart { start: part.start + written, count: part.count - written, ..part },
        Direction::Backward => ListPart { count: part.count - written, ..part },
    }
}

/// Writes items until enough is written.
struct Items<'a> {
    reply: &'a mut dyn Reply,
    written: u64,
    bytes_left: usize,
}

impl Items<'_> {
    fn note(&mut self, items_count: usize, bytes: usize) -> ControlFlow<()> {
        self.written += items_count as u64;
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

/// A reply written from a clone.
struct ListReply<L> {
    list: L,
    part: ListPart,
    pin: Pin,
}

impl<L: Indexed> Source for ListReply<L> {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        self.part = write_some(reply, &self.list, self.part, SOURCE_STEP_BYTES);
        if self.part.count > 0 { More::Follows } else { More::Done }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.list.heap_bytes())
    }
}
