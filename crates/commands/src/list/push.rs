//! LPUSH RPUSH LPUSHX RPUSHX: push elements to an end of a list.
//!
//! The four differ in the end and in what they do when the key is absent; the command table has both.

use crate::prelude::*;
use crate::queue::as_list;
use blocks::End;

pub(crate) const COMMANDS: &[CommandSpec] = &[LPUSH, LPUSHX, RPUSH, RPUSHX];

const LPUSH: CommandSpec = CommandSpec {
    name: "LPUSH",
    syntax: "key element [element ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::History(&[("2.4.0", "Takes several elements.")])],
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
    flags: &[Flag::Fast, Flag::History(&[("4.0.0", "Takes several elements.")])],
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
    flags: &[Flag::Fast, Flag::History(&[("2.4.0", "Takes several elements.")])],
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
    flags: &[Flag::Fast, Flag::History(&[("4.0.0", "Takes several elements.")])],
    group: Group::List,
    cost: "O(n), n the elements pushed",
    since: "2.2.0",
    brief: "Appends elements to a list if it exists.",
    answer: "int: the length after the push, 0 if the key is absent",
    run: Run::Local(|tx, args, reply| push(tx, args, reply, End::Tail, Absent::Leave)),
};

fn push(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End, absent: Absent) -> Outcome {
    let mut list = match tx.list_mut(args.get(1), absent) {
        Ok(Some(list)) => list,
        Ok(None) => {
            reply.int(0);
            return Ok(());
        }
        Err(_) => return as_list::push(tx, args.get(1), args.from(2), end, reply),
    };
    let items: smallvec::SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
    list.push(end, &items);
    reply.int(list.len() as i64);
    Ok(())
}
