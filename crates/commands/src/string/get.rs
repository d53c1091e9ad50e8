//! GET GETDEL GETEX: read a string, and optionally remove it or set its deadline.

use super::options::{self, Life};
use super::write_string;
use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[GET, GETDEL, GETEX];

const GET: CommandSpec = CommandSpec {
    name: "GET",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the string of a key.",
    answer: "bulk: the string; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        let keyspace = tx.keyspace();
        write_string(reply, tx.string(args.get(1))?, || keyspace.pin(args.get(1)));
        Ok(())
    }),
};

const GETDEL: CommandSpec = CommandSpec {
    name: "GETDEL",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Reads(CountedReads::Changed)],
    group: Group::String,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Returns the string of a key and deletes the key.",
    answer: "bulk: the string; null: the key is absent",
    run: Run::Local(|tx, args, reply| {
        let keyspace = tx.keyspace();
        write_string(reply, tx.string(args.get(1))?, || keyspace.pin(args.get(1)));
        tx.remove(args.get(1));
        Ok(())
    }),
};

const GETEX: CommandSpec = CommandSpec {
    name: "GETEX",
    syntax: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE").noted("Writes the key's deadline.")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Arguments(&[argument("1", "expiration", "", "")]), Fact::Reads(CountedReads::Changed)],
    group: Group::String,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Returns the string of a key and sets or clears its deadline.",
    answer: "bulk: the string; null: the key is absent",
    run: Run::Local(getex),
};

fn getex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let now = tx.now();
    let life = options::of_getex(args)?;
    let keyspace = tx.keyspace();
    let text = tx.string(key)?;
    // Redis checks the time only once it has found the key.
    let until = match life {
        Life::Until(time) if text.is_some() => Some(time.instant(now, args)?),
        _ => None,
    };
    let there = text.is_some();
    write_string(reply, text, || keyspace.pin(key));
    if until.is_some() {
        tx.set_expiry(key, until);
    } else if there && matches!(life, Life::Persist) && expires(tx, key) {
        tx.set_expiry(key, None);
    }
    Ok(())
}

fn expires(tx: &mut Tx, key: &[u8]) -> bool {
    tx.peek(key).is_some_and(|entry| entry.expires_at_ms().is_some())
}
