//! HDEL: removes fields.

use crate::prelude::*;
use smallvec::SmallVec;

pub(crate) const COMMANDS: &[CommandSpec] = &[HDEL];

const HDEL: CommandSpec = CommandSpec {
    name: "HDEL",
    syntax: "key field [field ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("2.4.0", "Takes several fields.")]),
        Fact::Events(&[EventRule { instead_of: "del", events: &[(Classes::HASH, "hdel"), (Classes::GENERIC, "del")] }]),
    ],
    group: Group::Hash,
    cost: "O(n), n the fields named",
    since: "2.0.0",
    brief: "Deletes fields of a hash, and the hash with its last field.",
    answer: "int: how many were there",
    run: Run::Local(|tx, args, reply| {
        let fields: SmallVec<[&[u8]; 8]> = args.from(2).iter().collect();
        let removed_count = match tx.hash_mut(args.get(1), Absent::Leave)? {
            Some(mut hash) => hash.remove(&fields)?,
            None => 0,
        };
        reply.int(removed_count as i64);
        Ok(())
    }),
};
