//! LPUSH RPUSH LPUSHX RPUSHX: push elements to an end of a list.
//!
//! The four differ in the end and in what they do when the key is absent; the command table has both.

use crate::prelude::*;
use crate::queue;
use blocks::End;
use keyspace::{ListLike, ListLikeMut};
use values::Queue;
use values::queue::MESSAGE_BYTES_MAX;

pub(crate) const COMMANDS: &[CommandSpec] = &[LPUSH, LPUSHX, RPUSH, RPUSHX];

const LPUSH: CommandSpec = CommandSpec {
    name: "LPUSH",
    syntax: "key element [element ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("2.4.0", "Takes several elements.")])],
    group: Group::List,
    cost: "O(n), n the elements pushed",
    since: "1.0.0",
    brief: "Prepends elements to a list, creating it if absent.",
    answer: "int: the length after the push",
    run: Run::Local(|tx, args, reply| push(tx, args, reply, End::Head, Absent::Create)),
};

const LPUSHX: CommandSpec = CommandSpec {
    name: "LPUSHX",
    syntax: "key element [element ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("4.0.0", "Takes several elements.")])],
    group: Group::List,
    cost: "O(n), n the elements pushed",
    since: "2.2.0",
    brief: "Prepends elements to a list if it exists.",
    answer: "int: the length after the push, 0 if the key is absent",
    run: Run::Local(|tx, args, reply| push(tx, args, reply, End::Head, Absent::Leave)),
};

const RPUSH: CommandSpec = CommandSpec {
    name: "RPUSH",
    syntax: "key element [element ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("2.4.0", "Takes several elements.")])],
    group: Group::List,
    cost: "O(n), n the elements pushed",
    since: "1.0.0",
    brief: "Appends elements to a list, creating it if absent.",
    answer: "int: the length after the push",
    run: Run::Local(|tx, args, reply| push(tx, args, reply, End::Tail, Absent::Create)),
};

const RPUSHX: CommandSpec = CommandSpec {
    name: "RPUSHX",
    syntax: "key element [element ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("4.0.0", "Takes several elements.")])],
    group: Group::List,
    cost: "O(n), n the elements pushed",
    since: "2.2.0",
    brief: "Appends elements to a list if it exists.",
    answer: "int: the length after the push, 0 if the key is absent",
    run: Run::Local(|tx, args, reply| push(tx, args, reply, End::Tail, Absent::Leave)),
};

fn push(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End, absent: Absent) -> Outcome {
    let items: smallvec::SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
    let len = push_items(tx, args.get(1), &items, end, absent)?;
    reply.int(len as i64);
    Ok(())
}

/// Pushes items to a list or queue and returns its length; 0 if it is absent and left so.
pub(crate) fn push_items(tx: &mut Tx, key: &[u8], items: &[&[u8]], end: End, absent: Absent) -> Result<u64, Failure> {
    match tx.list_like_mut(key, absent)? {
        Some(ListLikeMut::List(mut list)) => {
            list.push(end, items);
            Ok(list.len())
        }
        Some(ListLikeMut::Queue(mut queue)) => {
            queue.look(|queue| check_room(ListLike::Queue(queue), items))?;
            queue.push(end, items);
            Ok(queue.look(Queue::ready_len))
        }
        None => Ok(0),
    }
}

/// Checks whether a queue takes these messages; a list takes any.
pub(super) fn check_room(list: ListLike<'_>, items: &[&[u8]]) -> Outcome {
    if matches!(list, ListLike::Queue(_)) && items.iter().any(|item| item.len() > MESSAGE_BYTES_MAX) {
        return Err(Failure::text("ERR the message is too long"));
    }
    let bytes: usize = items.iter().map(|item| item.len()).sum();
    list.admits(items.len() as u64, bytes as u64).map_err(queue::full)
}
