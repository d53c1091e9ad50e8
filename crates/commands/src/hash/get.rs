//! HGET HMGET HEXISTS HSTRLEN HLEN: read some fields of a hash.

use crate::prelude::*;
use base::Ms;
use values::Hash;
use values::hash::Pair;

pub(crate) const COMMANDS: &[CommandSpec] = &[HGET, HMGET, HEXISTS, HSTRLEN, HLEN];

const HGET: CommandSpec = CommandSpec {
    name: "HGET",
    syntax: "key field",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Returns the value of a field of a hash.",
    answer: "bulk: the value; null: there is no such field",
    run: Run::Local(|tx, args, reply| {
        let now = tx.now();
        write_value(tx.hash(args.get(1))?, args.get(2), now, reply);
        Ok(())
    }),
};

const HMGET: CommandSpec = CommandSpec {
    name: "HMGET",
    syntax: "key field [field ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(n), n the fields asked for",
    since: "2.0.0",
    brief: "Returns the values of several fields of a hash.",
    answer: "array: for each field its value, or null if there is none",
    run: Run::Local(|tx, args, reply| {
        let (now, fields) = (tx.now(), args.from(2));
        let hash = tx.hash(args.get(1))?;
        reply.array(fields.len());
        fields.iter().for_each(|field| write_value(hash, field, now, reply));
        Ok(())
    }),
};

const HEXISTS: CommandSpec = CommandSpec {
    name: "HEXISTS",
    syntax: "key field",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Checks whether a hash has a field.",
    answer: "int: 1 if it has, 0 if not",
    run: Run::Local(|tx, args, reply| {
        let there = look(tx, args, |_| ())?.is_some();
        reply.int(i64::from(there));
        Ok(())
    }),
};

const HSTRLEN: CommandSpec = CommandSpec {
    name: "HSTRLEN",
    syntax: "key field",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(1)",
    since: "3.2.0",
    brief: "Returns the length of a field's value.",
    answer: "int: bytes; 0 if there is no such field",
    run: Run::Local(|tx, args, reply| {
        let bytes = look(tx, args, |pair| pair.value.len())?.unwrap_or(0);
        reply.int(bytes as i64);
        Ok(())
    }),
};

const HLEN: CommandSpec = CommandSpec {
    name: "HLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Returns the number of fields of a hash.",
    answer: "int: fields; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let now = tx.now();
        let len = tx.hash(args.get(1))?.map_or(0, |hash| hash.live_len(now));
        reply.int(len as i64);
        Ok(())
    }),
};

/// Applies `visit` to the field named by argument 2.
fn look<R>(tx: &mut Tx, args: &Args, visit: impl FnOnce(Pair<'_>) -> R) -> Result<Option<R>, Failure> {
    let now = tx.now();
    Ok(tx.hash(args.get(1))?.and_then(|hash| hash.get(args.get(2), now, visit)))
}

/// Replies with the value of a field, or null.
pub(super) fn write_value(hash: Option<&Hash>, field: &[u8], now: Ms, reply: &mut dyn Reply) {
    if hash.and_then(|hash| hash.get(field, now, |pair| reply.bulk(pair.value))).is_none() {
        reply.null();
    }
}
