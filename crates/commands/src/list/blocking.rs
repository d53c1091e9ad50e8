//! BLPOP BRPOP BLMPOP BLMOVE BRPOPLPUSH: take an element, or wait for one.
//!
//! A handler looks once. The engine blocks the client and reruns the command when one of its keys gets elements; only
//! that key may then be looked at. The handler checks the timeout itself, after the words and before the keys: with two
//! errors Redis reports that one first.

use super::end;
use super::pop::{pop_from, pop_one, pops_at};
use super::transfer::{MoveEnds, pass};
use crate::blocking_source::first_filled_list;
use crate::engine_arguments::timeout_ms;
use crate::prelude::*;
use crate::spec::{TimeoutAt, as_it_is};
use blocks::End;

pub(crate) const COMMANDS: &[CommandSpec] = &[BLPOP, BRPOP, BLMPOP, BLMOVE, BRPOPLPUSH];

const BLPOP: CommandSpec = CommandSpec {
    name: "BLPOP",
    syntax: "key [key ...] timeout",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -2, 1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::History(&[("6.0.0", "The timeout may have a fraction.")])],
    group: Group::List,
    cost: "O(n), n the keys",
    since: "2.0.0",
    brief: "Removes and returns the first element of a list; waits if there is none.",
    answer: "array: the key and the element; null: the time was up",
    run: blocking(|tx, args, reply| pop_named(tx, args, reply, End::Head), TimeoutAt::Last),
};

const BRPOP: CommandSpec = CommandSpec {
    name: "BRPOP",
    syntax: "key [key ...] timeout",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -2, 1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::History(&[("6.0.0", "The timeout may have a fraction.")])],
    group: Group::List,
    cost: "O(n), n the keys",
    since: "2.0.0",
    brief: "Removes and returns the last element of a list; waits if there is none.",
    answer: "array: the key and the element; null: the time was up",
    run: blocking(|tx, args, reply| pop_named(tx, args, reply, End::Tail), TimeoutAt::Last),
};

const BLMPOP: CommandSpec = CommandSpec {
    name: "BLMPOP",
    syntax: "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::counted(2, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("3", "where", "", "")])],
    group: Group::List,
    cost: "O(n+m), n the keys, m the elements taken",
    since: "7.0.0",
    brief: "Removes and returns elements of the first non-empty list; waits if none is.",
    answer: "array: the key and an array of elements; null: the time was up",
    run: blocking(pop_some, TimeoutAt::First),
};

const BLMOVE: CommandSpec = CommandSpec {
    name: "BLMOVE",
    syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout",
    arity: Arity::Exactly(6),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::EventsInReverse],
    facts: &[Fact::Arguments(&[argument("2", "wherefrom", "", ""), argument("3", "whereto", "", "")])],
    group: Group::List,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Moves an element from one list to another; waits if there is none.",
    answer: "bulk: the element; null: the time was up",
    run: passing(|tx, args, reply| {
        let ends = MoveEnds { from: end(args.get(3))?, to: end(args.get(4))? };
        pass_one(tx, args, reply, ends)
    }),
};

const BRPOPLPUSH: CommandSpec = CommandSpec {
    name: "BRPOPLPUSH",
    syntax: "source destination timeout",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::EventsInReverse],
    facts: &[
        Fact::History(&[("6.0.0", "The timeout may have a fraction.")]),
        Fact::Deprecated { since: "6.2.0", replaced_by: "`BLMOVE` with `RIGHT` and `LEFT`" },
    ],
    group: Group::List,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Moves a list's last element to another's head; waits if there is none.",
    answer: "bulk: the element; null: the time was up",
    run: passing(|tx, args, reply| pass_one(tx, args, reply, MoveEnds::TAIL_TO_HEAD)),
};

const fn blocking(try_now: crate::spec::Local, timeout: TimeoutAt) -> Run {
    Run::Blocking { try_now, timeout, empty: |reply| reply.null_array(), settled: as_it_is }
}

/// Replies inside MULTI as LMOVE does.
const fn passing(try_now: crate::spec::Local) -> Run {
    Run::Blocking { try_now, timeout: TimeoutAt::Last, empty: |reply| reply.null(), settled: as_it_is }
}

fn pop_named(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End) -> Outcome {
    timeout_ms(args, TimeoutAt::Last)?;
    let keys = args.slice(1, args.len() - 1);
    let key = first_filled_list(tx, keys)?;
    reply.array(2);
    reply.bulk(key);
    pop_one(tx, key, end, reply)
}

fn pop_some(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let pops = pops_at(args, 2)?;
    timeout_ms(args, TimeoutAt::First)?;
    let key = first_filled_list(tx, pops.keys)?;
    pop_from(tx, key, pops, reply)
}

fn pass_one(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, ends: MoveEnds) -> Outcome {
    timeout_ms(args, TimeoutAt::Last)?;
    let source = first_filled_list(tx, args.slice(1, 2))?;
    pass(tx, source, args.get(2), ends, reply)
}
