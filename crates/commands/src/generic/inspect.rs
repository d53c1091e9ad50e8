//! EXISTS TOUCH TYPE: check whether a key exists, and its type.

use crate::prelude::*;
use crate::spec::Gather;
use base::Ms;
use keyspace::kind_of;

pub(crate) const COMMANDS: &[CommandSpec] = &[EXISTS, TOUCH, TYPE];

const EXISTS: CommandSpec = CommandSpec {
    name: "EXISTS",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[
        Fact::Tips(&["request_policy:multi_shard", "response_policy:agg_sum"]),
        Fact::History(&[("3.0.3", "Takes several keys.")]),
    ],
    group: Group::Generic,
    cost: "O(n), n the keys",
    since: "1.0.0",
    brief: "Counts how many of the keys exist.",
    answer: "int: keys that are there; one given twice counts twice",
    run: Run::Gather {
        at_once: |tx, args, reply| {
            let count = args.from(1).iter().filter(|key| tx.peek(key).is_some()).count();
            reply.int(count as i64);
            Ok(())
        },
        begin: |args| Box::new(There { keys: vec![false; args.len() - 1], touches: false }),
    },
};

const TOUCH: CommandSpec = CommandSpec {
    name: "TOUCH",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Tips(&["request_policy:multi_shard", "response_policy:agg_sum"])],
    group: Group::Generic,
    cost: "O(n), n the keys",
    since: "3.2.1",
    brief: "Counts how many of the keys exist, and marks them as used.",
    answer: "int: keys that are there; one given twice counts twice",
    run: Run::Gather {
        at_once: |tx, args, reply| {
            let count = args.from(1).iter().filter(|key| tx.touch(key).is_some()).count();
            reply.int(count as i64);
            Ok(())
        },
        begin: |args| Box::new(There { keys: vec![false; args.len() - 1], touches: true }),
    },
};

/// Counts the keys that exist, of very many.
struct There {
    keys: Vec<bool>,
    touches: bool,
}

impl Gather for There {
    fn look(&mut self, tx: &mut Tx, at: usize, key: &[u8]) -> Option<Ms> {
        let entry = if self.touches { tx.touch(key) } else { tx.peek(key) };
        self.keys[at - 1] = entry.is_some();
        entry.and_then(|entry| entry.expires_at_ms())
    }

    fn finish(self: Box<Self>, reply: &mut dyn Reply) {
        let count = self.keys.iter().filter(|is_there| **is_there).count();
        reply.int(count as i64);
    }
}

const TYPE: CommandSpec = CommandSpec {
    name: "TYPE",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Generic,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the type of a key's value.",
    answer: "simple: string or list; none if the key is absent",
    run: Run::Local(|tx, args, reply| {
        reply.simple(tx.peek(args.get(1)).map_or("none", |entry| kind_of(entry).name()));
        Ok(())
    }),
};
