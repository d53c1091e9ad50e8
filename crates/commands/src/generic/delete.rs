//! DEL UNLINK: remove keys. Both free big values in a background thread, and process very many keys in batches.

use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[DEL, UNLINK];

const DEL: CommandSpec = CommandSpec {
    name: "DEL",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RM DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::KeyByKey],
    facts: &[Fact::Tips(&["request_policy:multi_shard", "response_policy:agg_sum"])],
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
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RM DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast, Flag::KeyByKey],
    facts: &[Fact::Tips(&["request_policy:multi_shard", "response_policy:agg_sum"])],
    group: Group::Generic,
    cost: "O(n), n the keys",
    since: "4.0.0",
    brief: "Deletes keys, as DEL does.",
    answer: "int: keys removed. More than 255 go some at a time, except in transactions and scripts: not at one \
             instant, and a crash or an error in between leaves the rest there",
    ..DEL
};

/// Removes the further keys of a DEL or UNLINK in progress: such a command waits until a busy script has ended, since
/// for a client a BUSY error means that nothing was done.
pub static REMOVE_MORE: CommandSpec = CommandSpec { flags: &[Flag::AllowBusy], ..DEL };
