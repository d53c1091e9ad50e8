//! BZPOPMIN BZPOPMAX BZMPOP: pop members, or wait for one.
//!
//! As with lists, a handler looks once, and again when one of its keys gets members.

use super::pop::{Outermost, pops_at, take_flat, take_from};
use crate::blocking_source::first_filled;
use crate::engine_arguments::timeout_ms;
use crate::prelude::*;
use crate::spec::{Local, TimeoutAt, as_it_is};
use values::Sorted;

pub(crate) const COMMANDS: &[CommandSpec] = &[BZMPOP, BZPOPMAX, BZPOPMIN];

const BZPOPMIN: CommandSpec = CommandSpec {
    name: "BZPOPMIN",
    syntax: "key [key ...] timeout",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -2, 1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("6.0.0", "The timeout may have a fraction.")])],
    group: Group::SortedSet,
    cost: "O(k+log(n)), k the keys, n the members of the sorted set",
    since: "5.0.0",
    brief: "Removes and returns the member with the lowest score, or waits.",
    answer: "array: the key, the member and its score; null: the time was up",
    run: blocking(|tx, args, reply| pop_one(tx, args, reply, Outermost::Min), TimeoutAt::Last),
};

const BZPOPMAX: CommandSpec = CommandSpec {
    name: "BZPOPMAX",
    syntax: "key [key ...] timeout",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -2, 1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("6.0.0", "The timeout may have a fraction.")])],
    group: Group::SortedSet,
    cost: "O(k+log(n)), k the keys, n the members of the sorted set",
    since: "5.0.0",
    brief: "Removes and returns the member with the highest score, or waits.",
    answer: "array: the key, the member and its score; null: the time was up",
    run: blocking(|tx, args, reply| pop_one(tx, args, reply, Outermost::Max), TimeoutAt::Last),
};

const BZMPOP: CommandSpec = CommandSpec {
    name: "BZMPOP",
    syntax: "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::counted(2, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("3", "where", "", "")])],
    group: Group::SortedSet,
    cost: "O(k+m*log(n)), k the keys, m the members taken, n those of the sorted set",
    since: "7.0.0",
    brief: "Removes and returns members of the first sorted set there is, or waits.",
    answer: "array: the key, and an array of pairs of member and score; null: the time was up",
    run: blocking(pop_some, TimeoutAt::First),
};

const fn blocking(try_now: Local, timeout: TimeoutAt) -> Run {
    Run::Blocking { try_now, timeout, empty: |reply| reply.null_array(), settled: as_it_is }
}

fn pop_one(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, outermost: Outermost) -> Outcome {
    timeout_ms(args, TimeoutAt::Last)?;
    let key = first_filled::<Sorted>(tx, args.slice(1, args.len() - 1))?;
    reply.array(3);
    reply.bulk(key);
    take_flat(tx, key, outermost, reply)
}

fn pop_some(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let pops = pops_at(args, 2)?;
    timeout_ms(args, TimeoutAt::First)?;
    let key = first_filled::<Sorted>(tx, pops.keys)?;
    take_from(tx, args, key, pops, reply)
}
