//! LLEN LINDEX LRANGE: look at a list.
//!
//! A range is written straight from the blocks. What is left after 64 KiB is streamed from a clone, with the shard let
//! go and as fast as the reader takes it.

use crate::prelude::*;
use blocks::{Direction, Visit};
use kinds::List;
use std::ops::ControlFlow;
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[Command] = &[LLEN, LINDEX, LRANGE];

/// Bytes of a range that are written under the lock.
const DIRECT_BYTES_MAX: usize = 64 << 10;

const LLEN: Command = Command {
    name: "LLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    group: Group::List,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Tells how many elements a list has.",
    answer: "int: the length, 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.list(args.get(1))?.map_or(0, List::len);
        reply.int(len as i64);
        Ok(())
    }),
};

const LINDEX: Command = Command {
    name: "LINDEX",
    syntax: "key index",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    flags: &[],
    cost: "O(log n), n the length",
    brief: "Tells the element at an index, negative ones counting from the tail.",
    answer: "bulk: the element; null if there is none at that index",
    run: Run::Local(|tx, args, reply| {
        let index = parse::int(args.get(2))?;
        let found = tx.list(args.get(1))?.and_then(|list| list.get(place(index, list.len())?, |item| reply.bulk(item)));
        if found.is_none() {
            reply.null();
        }
        Ok(())
    }),
    ..LLEN
};

const LRANGE: Command = Command {
    name: "LRANGE",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    flags: &[],
    cost: "O(log n + m), n the length and m the elements in the range",
    brief: "Tells the elements between two indices, both included.",
    answer: "array: the elements, none if the range or the key is empty",
    run: Run::Local(lrange),
    ..LLEN
};

fn lrange(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    let Some(list) = tx.list(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let (start, count) = parse::range(start, stop, list.len());
    reply.array(count as usize);
    let written = write(list, start, count, DIRECT_BYTES_MAX, reply);
    if written < count {
        reply.stream(Box::new(Rest { list: list.clone(), next: start + written, count: count - written }));
    }
    Ok(())
}

/// The index from the head that `index` means; `None` if it lies beyond an end.
pub(super) fn place(index: i64, len: u64) -> Option<u64> {
    let from_head = if index < 0 { index.checked_add(len as i64)? } else { index };
    u64::try_from(from_head).ok().filter(|index| *index < len)
}

/// Writes items until about `bytes_max` are written; how many.
fn write(list: &List, start: u64, count: u64, bytes_max: usize, reply: &mut dyn Reply) -> u64 {
    let mut writer = Writer { reply, bytes_left: bytes_max, items_count: 0 };
    let _ = list.walk(start, count, Direction::Forward, &mut writer);
    writer.items_count
}

struct Writer<'a> {
    reply: &'a mut dyn Reply,
    bytes_left: usize,
    items_count: u64,
}

impl Writer<'_> {
    fn wrote(&mut self, items_count: usize, bytes: usize) -> ControlFlow<()> {
        self.items_count += items_count as u64;
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        if self.bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Visit for Writer<'_> {
    fn item(&mut self, item: &[u8]) -> ControlFlow<()> {
        self.reply.bulk(item);
        self.wrote(1, item.len() + 5)
    }

    fn run(&mut self, width: usize, bytes: &[u8]) -> ControlFlow<()> {
        self.reply.run(width, bytes);
        self.wrote(bytes.len() / width, bytes.len())
    }
}

/// The rest of a range.
struct Rest {
    list: List,
    next: u64,
    count: u64,
}

impl Source for Rest {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let written = write(&self.list, self.next, self.count, SOURCE_STEP_BYTES, reply);
        self.next += written;
        self.count -= written;
        if self.count == 0 { More::Done } else { More::Follows }
    }
}
