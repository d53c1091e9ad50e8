//! TL.DROP: its specification, and the command that removes keys. The engine runs it, a few keys at a time.

use crate::memcached::flush::remove_those;
use crate::prelude::*;
use crate::spec::Verb;
use values::ValueType;

pub(crate) const COMMANDS: &[CommandSpec] = &[DROP];

const DROP: CommandSpec = CommandSpec {
    name: "TL.DROP",
    syntax: "prefix",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::NoScript, Flag::NoMulti],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the keys of the database; a few at a time",
    since: "bobbin 0.1.0",
    brief: "Deletes all tagged lists whose names begin with a prefix.",
    answer: "int: how many; while it goes on, INFO tells so in dropped_tagged_lists. The schema stays",
    run: Run::Engine(Verb::DropTagged),
};

/// Removes those of some keys that are tagged lists.
pub static REMOVE_TAGGED: CommandSpec = CommandSpec {
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RW DELETE")],
    run: Run::Local(|tx, args, reply| {
        remove_those(tx, args, reply, |tx, key| tx.value_type(key) == Some(ValueType::Tagged))
    }),
    ..DROP
};
