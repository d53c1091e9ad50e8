//! SISMEMBER SMISMEMBER SCARD: query a set.

use crate::prelude::*;
use values::Set;

pub(crate) const COMMANDS: &[CommandSpec] = &[SISMEMBER, SMISMEMBER, SCARD];

const SISMEMBER: CommandSpec = CommandSpec {
    name: "SISMEMBER",
    syntax: "key member",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Set,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Checks whether a set has a member.",
    answer: "int: 1 if it is, 0 if not",
    run: Run::Local(|tx, args, reply| {
        let is_member = tx.set(args.get(1))?.is_some_and(|set| set.contains(args.get(2)));
        reply.int(i64::from(is_member));
        Ok(())
    }),
};

const SMISMEMBER: CommandSpec = CommandSpec {
    name: "SMISMEMBER",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Set,
    cost: "O(n), n the members asked for",
    since: "6.2.0",
    brief: "Checks whether a set has each of several members.",
    answer: "array: for each 1 if it is, 0 if not",
    run: Run::Local(|tx, args, reply| {
        let set = tx.set(args.get(1))?;
        reply.array(args.from(2).len());
        for member in args.from(2).iter() {
            reply.int(i64::from(set.is_some_and(|set| set.contains(member))));
        }
        Ok(())
    }),
};

const SCARD: CommandSpec = CommandSpec {
    name: "SCARD",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Set,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the number of members of a set.",
    answer: "int: members; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.set(args.get(1))?.map_or(0, Set::len);
        reply.int(len as i64);
        Ok(())
    }),
};
