//! HTTL HPTTL HEXPIRETIME HPEXPIRETIME HPERSIST: read the deadlines of fields, or clear them.

use super::{NO_COUNT, fields};
use crate::prelude::*;
use base::Ms;
use std::collections::HashSet;

pub(crate) const COMMANDS: &[CommandSpec] = &[HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME, HPERSIST];

const HTTL: CommandSpec = CommandSpec {
    name: "HTTL",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "7.4.0",
    brief: "Returns the remaining time of fields of a hash, in seconds.",
    answer: "array: for each field seconds, -1 if it does not expire, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expiry_times(tx, args, reply, |at_ms, now| seconds(at_ms - now))),
};

const HPTTL: CommandSpec = CommandSpec {
    name: "HPTTL",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "7.4.0",
    brief: "Returns the remaining time of fields of a hash, in milliseconds.",
    answer: "array: for each field milliseconds, -1 if it does not expire, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expiry_times(tx, args, reply, |at_ms, now| at_ms - now)),
};

const HEXPIRETIME: CommandSpec = CommandSpec {
    name: "HEXPIRETIME",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "7.4.0",
    brief: "Returns the expiration time of fields, in seconds since the epoch.",
    answer: "array: for each field seconds, -1 if it does not expire, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expiry_times(tx, args, reply, |at_ms, _| seconds(at_ms))),
};

const HPEXPIRETIME: CommandSpec = CommandSpec {
    name: "HPEXPIRETIME",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "7.4.0",
    brief: "Returns the expiration time of fields, in milliseconds since the epoch.",
    answer: "array: for each field milliseconds, -1 if it does not expire, -2 if it is not there",
    run: Run::Local(|tx, args, reply| expiry_times(tx, args, reply, |at_ms, _| at_ms)),
};

const HPERSIST: CommandSpec = CommandSpec {
    name: "HPERSIST",
    syntax: "key FIELDS numfields field [field ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "7.4.0",
    brief: "Removes the deadlines of fields of a hash.",
    answer: "array: for each field 1 if its deadline was cleared, -1 if it had none, -2 if it is not there",
    run: Run::Local(persist),
};

/// Rounds up, as Redis does for fields.
fn seconds(ms: Ms) -> Ms {
    ms.div_ceil(1000)
}

fn expiry_times(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, show: fn(Ms, Ms) -> Ms) -> Outcome {
    let now = tx.now();
    let hash = tx.hash(args.get(1))?;
    let fields = fields(args, 2, NO_COUNT)?;
    reply.array(fields.len());
    for field in fields {
        reply.int(match hash.and_then(|hash| hash.get(field, now, |pair| pair.expires_at_ms)) {
            None => -2,
            Some(None) => -1,
            Some(Some(at_ms)) => show(at_ms, now) as i64,
        });
    }
    Ok(())
}

fn persist(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let hash = tx.hash(args.get(1))?;
    let fields = fields(args, 2, NO_COUNT)?;
    let (mut seen, mut chosen) = (HashSet::new(), Vec::new());
    let codes =
        fields.iter().map(|field| match hash.and_then(|hash| hash.get(field, now, |pair| pair.expires_at_ms)) {
            None => -2,
            Some(Some(_)) if seen.insert(field) => {
                chosen.push(field);
                1
            }
            Some(_) => -1,
        });
    let codes: Vec<i64> = codes.collect();
    if let Some(mut hash) = tx.hash_mut(args.get(1), Absent::Leave)? {
        hash.set_expiry(&chosen, None)?;
    }
    reply.array(codes.len());
    codes.iter().for_each(|code| reply.int(*code));
    Ok(())
}
