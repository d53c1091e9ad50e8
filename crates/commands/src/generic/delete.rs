//! DEL UNLINK: remove keys. Both leave what is big to a thread that has time, and take very many keys some at a time.

use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[DEL, UNLINK];

const DEL: CommandSpec = CommandSpec {
    name: "DEL",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RM DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::KeyByKey],
    group: Group::Generic,
    cost: "O(n), n the keys",
    since: "1.0.0",
    brief: "Deletes keys.",
    answer: "int: keys removed. More than 255 go some at a time, except in transactions and scripts: not at one \
             instant, and a crash or an error in between leaves the rest there",
    run: Run::Local(|tx, args, reply| {
        let removed = args.from(1).iter().filter(|key| tx.remove(key)).count();
        reply.int(removed as i64);
        Ok(())
    }),
};

const UNLINK: CommandSpec = CommandSpec {
    name: "UNLINK",
    flags: &[Flag::Fast, Flag::KeyByKey],
    since: "4.0.0",
    brief: "Deletes keys, as DEL does.",
    ..DEL
};

/// Removes the keys of a DEL or UNLINK that follow those it has removed already: what has begun waits until a busy script has
/// ended, since a client that is told BUSY takes it that nothing was done.
pub static REMOVE_MORE: CommandSpec = CommandSpec { flags: &[Flag::AllowBusy], ..DEL };
