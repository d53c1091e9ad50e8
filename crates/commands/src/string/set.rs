//! SET SETNX SETEX PSETEX GETSET: set a key to a string.
//!
//! All are SET with some of its options fixed.

use super::options;
use super::write_string;
use crate::prelude::*;
use parse::{Time, Unit};

pub(crate) const COMMANDS: &[CommandSpec] = &[SET, SETNX, SETEX, PSETEX, GETSET];

const SET: CommandSpec = CommandSpec {
    name: "SET",
    syntax: "key value [NX | XX | IFEQ ifeq-value | IFNE ifne-value | IFDEQ ifdeq-digest | IFDNE ifdne-digest] [GET] \
             [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE VARIABLE_FLAGS")
        .noted("Reads the old value with GET.")
        .varying(Varies::IfReadsOld { from: 3, reads: "RW ACCESS UPDATE", blind: "OW UPDATE" })],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[
        Fact::History(&[
            ("2.6.12", "Takes `EX`, `PX`, `NX` and `XX`."),
            ("6.0.0", "Takes `KEEPTTL`."),
            ("6.2.0", "Takes `GET`, `EXAT` and `PXAT`."),
            ("7.0.0", "Takes `NX` together with `GET`."),
        ]),
        Fact::Arguments(&[
            argument("2", "condition", "", "2.6.12"),
            argument("3", "", "", "6.2.0"),
            argument("4", "expiration", "", ""),
            argument("4.0", "", "", "2.6.12"),
            argument("4.1", "", "", "2.6.12"),
            argument("4.2", "", "", "6.2.0"),
            argument("4.3", "", "", "6.2.0"),
            argument("4.4", "", "", "6.0.0"),
        ]),
        Fact::Reads(CountedReads::ChangedIfGet),
    ],
    group: Group::String,
    cost: "O(1), and O(n) for n bytes compared or digested",
    since: "1.0.0",
    brief: "Sets a key's string, whatever it held, with a deadline if given.",
    answer: "simple: OK; null: the condition did not hold; with GET, bulk or null: the old string",
    run: Run::Local(set),
};

const SETNX: CommandSpec = CommandSpec {
    name: "SETNX",
    syntax: "key value",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "OW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::PutsString],
    facts: &[],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Sets a key's string unless the key exists.",
    answer: "int: 1 if it was put, 0 if the key is there",
    run: Run::Local(|tx, args, reply| {
        let absent = !tx.exists(args.get(1));
        if absent {
            tx.put_string(args.get(1), args.get(2), Expiry::Clear);
        }
        reply.int(i64::from(absent));
        Ok(())
    }),
};

const SETEX: CommandSpec = CommandSpec {
    name: "SETEX",
    syntax: "key seconds value",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[],
    group: Group::String,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Sets a key's string with a time to live in seconds.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| set_for(tx, args, reply, Unit::Seconds)),
};

const PSETEX: CommandSpec = CommandSpec {
    name: "PSETEX",
    syntax: "key milliseconds value",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsString],
    facts: &[],
    group: Group::String,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Sets a key's string with a time to live in milliseconds.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| set_for(tx, args, reply, Unit::Milliseconds)),
};

const GETSET: CommandSpec = CommandSpec {
    name: "GETSET",
    syntax: "key value",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast, Flag::PutsString],
    facts: &[Fact::Deprecated { since: "6.2.0", replaced_by: "`SET` with `GET`" }, Fact::Reads(CountedReads::Changed)],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Sets a key's string and returns the old one.",
    answer: "bulk: the old string; null: the key was absent",
    run: Run::Local(|tx, args, reply| {
        let keyspace = tx.keyspace();
        write_string(reply, tx.string(args.get(1))?, || keyspace.pin(args.get(1)));
        tx.put_string(args.get(1), args.get(2), Expiry::Clear);
        Ok(())
    }),
};

fn set(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, value) = (args.get(1), args.get(2));
    if args.len() == 3 {
        tx.put_string(key, value, Expiry::Clear);
        reply.ok();
        return Ok(());
    }
    let options = options::of_set(args)?;
    let expiry = options.life.expiry(tx.now(), args)?;
    let may = options.condition.map_or(Ok(true), |condition| condition.holds(tx, key))?;
    if options.get {
        let keyspace = tx.keyspace();
        write_string(reply, tx.string(key)?, || keyspace.pin(key));
    }
    if may {
        put(tx, key, value, expiry);
    }
    match (options.get, may) {
        (true, _) => {}
        (false, true) => reply.ok(),
        (false, false) => reply.null(),
    }
    Ok(())
}

fn set_for(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, unit: Unit) -> Outcome {
    let time = Time { argument: args.get(2), unit, from_now: true };
    put(tx, args.get(1), args.get(3), Expiry::At(time.instant(tx.now(), args)?));
    reply.ok();
    Ok(())
}

/// Sets the string; a past deadline leaves no key.
pub(super) fn put(tx: &mut Tx, key: &[u8], value: &[u8], expiry: Expiry) {
    match expiry {
        Expiry::At(at_ms) if at_ms <= tx.now() => tx.put_expired(key),
        expiry => tx.put_string(key, value, expiry),
    }
}
