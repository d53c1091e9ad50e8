//! MGET MSET MSETNX: several texts at one instant.

use super::tell;
use crate::prelude::*;
use keyspace::text_of;

pub(crate) const COMMANDS: &[Command] = &[MGET, MSET, MSETNX];

const MGET: Command = Command {
    name: "MGET",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    group: Group::String,
    cost: "O(n), n the keys",
    since: "1.0.0",
    brief: "Tells the texts under several keys.",
    answer: "array: for each key its text, or null if it is absent or holds another kind",
    run: Run::Local(|tx, args, reply| {
        let keys = args.from(1);
        reply.array(keys.len());
        for key in keys {
            tell(reply, tx.entry(key).and_then(text_of));
        }
        Ok(())
    }),
};

const MSET: Command = Command {
    name: "MSET",
    syntax: "key value [key value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -1, 2, "OW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::PutsText],
    since: "1.0.1",
    brief: "Puts several texts under their keys, whatever these held.",
    answer: "simple: OK",
    run: Run::Local(|tx, args, reply| {
        check_pairs(args)?;
        put_pairs(tx, args);
        reply.ok();
        Ok(())
    }),
    ..MGET
};

const MSETNX: Command = Command {
    name: "MSETNX",
    keys: &[KeySpec::many(1, -1, 2, "OW INSERT")],
    brief: "Puts several texts under their keys if none of these is there.",
    answer: "int: 1 if all were put, 0 if none was",
    run: Run::Local(|tx, args, reply| {
        check_pairs(args)?;
        let all_absent = !args.from(1).iter().step_by(2).any(|key| tx.exists(key));
        if all_absent {
            put_pairs(tx, args);
        }
        reply.int(i64::from(all_absent));
        Ok(())
    }),
    ..MSET
};

fn check_pairs(args: &Args<'_>) -> Result<(), Failure> {
    if args.len().is_multiple_of(2) { Err(Failure::arity(args)) } else { Ok(()) }
}

fn put_pairs(tx: &mut Tx, args: &Args) {
    let mut rest = args.from(1).iter();
    while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
        tx.put_text(key, value, Expiry::Clear);
    }
}
