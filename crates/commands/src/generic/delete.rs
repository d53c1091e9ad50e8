//! DEL UNLINK: remove keys. Both leave what is big to a thread that has time.

use crate::prelude::*;

pub(crate) const COMMANDS: &[Command] = &[DEL, UNLINK];

const DEL: Command = Command {
    name: "DEL",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RM DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    group: Group::Generic,
    cost: "O(n), n the keys",
    since: "1.0.0",
    brief: "Removes keys.",
    answer: "int: keys removed",
    run: Run::Local(|tx, args, reply| {
        let removed = args.from(1).iter().filter(|key| tx.remove(key)).count();
        reply.int(removed as i64);
        Ok(())
    }),
};

const UNLINK: Command =
    Command { name: "UNLINK", flags: &[Flag::Fast], since: "4.0.0", brief: "Removes keys, as DEL does.", ..DEL };
