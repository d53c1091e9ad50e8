//! TTL PTTL EXPIRETIME PEXPIRETIME PERSIST: return a deadline, or clear it.

use crate::prelude::*;
use base::Ms;

pub(crate) const COMMANDS: &[CommandSpec] = &[TTL, PTTL, EXPIRETIME, PEXPIRETIME, PERSIST];

const TTL: CommandSpec = CommandSpec {
    name: "TTL",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::History(&[("2.8.0", "Replies -2 of an absent key.")])],
    group: Group::Generic,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns a key's remaining time, in seconds.",
    answer: "int: seconds; -1: it does not expire; -2: the key is absent",
    run: Run::Local(|tx, args, reply| expiry_time(tx, args, reply, |at_ms, now| seconds(at_ms - now))),
};

const PTTL: CommandSpec = CommandSpec {
    name: "PTTL",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::History(&[("2.8.0", "Replies -2 of an absent key.")])],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Returns a key's remaining time, in milliseconds.",
    answer: "int: milliseconds; -1: it does not expire; -2: the key is absent",
    run: Run::Local(|tx, args, reply| expiry_time(tx, args, reply, |at_ms, now| at_ms - now)),
};

const EXPIRETIME: CommandSpec = CommandSpec {
    name: "EXPIRETIME",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Generic,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Returns a key's expiration time, in seconds since the epoch.",
    answer: "int: seconds; -1: it does not expire; -2: the key is absent",
    run: Run::Local(|tx, args, reply| expiry_time(tx, args, reply, |at_ms, _| seconds(at_ms))),
};

const PEXPIRETIME: CommandSpec = CommandSpec {
    name: "PEXPIRETIME",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Generic,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Returns a key's expiration time, in milliseconds since the epoch.",
    answer: "int: milliseconds; -1: it does not expire; -2: the key is absent",
    run: Run::Local(|tx, args, reply| expiry_time(tx, args, reply, |at_ms, _| at_ms)),
};

const PERSIST: CommandSpec = CommandSpec {
    name: "PERSIST",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Generic,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Removes the deadline of a key.",
    answer: "int: 1 if it was cleared, 0 if there was none",
    run: Run::Local(persist),
};

/// Rounds to the nearest second, like Redis.
fn seconds(ms: Ms) -> Ms {
    (ms + 500) / 1000
}

fn expiry_time(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, show: fn(Ms, Ms) -> Ms) -> Outcome {
    let now = tx.now();
    reply.int(match tx.peek(args.get(1)).map(|entry| entry.expires_at_ms()) {
        None => -2,
        Some(None) => -1,
        Some(Some(at_ms)) => show(at_ms, now) as i64,
    });
    Ok(())
}

fn persist(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let expires = tx.peek(args.get(1)).is_some_and(|entry| entry.expires_at_ms().is_some());
    if expires {
        tx.set_expiry(args.get(1), None);
    }
    reply.int(i64::from(expires));
    Ok(())
}
