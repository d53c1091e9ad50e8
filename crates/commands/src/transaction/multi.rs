//! MULTI EXEC DISCARD WATCH UNWATCH: several commands as one. The engine runs them; here are their specifications.

use crate::prelude::*;
use crate::spec::Verb;

pub(crate) const COMMANDS: &[CommandSpec] = &[MULTI, EXEC, DISCARD, WATCH, UNWATCH];

const MULTI: CommandSpec = CommandSpec {
    name: "MULTI",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::AllowBusy],
    facts: &[],
    group: Group::Transactions,
    cost: "O(1)",
    since: "1.2.0",
    brief: "Starts a transaction: commands are queued until EXEC.",
    answer: "simple: OK",
    run: Run::Engine(Verb::Multi),
};

const EXEC: CommandSpec = CommandSpec {
    name: "EXEC",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::SkipSlowlog],
    facts: &[],
    group: Group::Transactions,
    cost: "that of the commands in the queue",
    since: "1.2.0",
    brief: "Runs the queued commands atomically, unless a watched key has changed.",
    answer: "array: the reply of each; null-array if a watched key has changed",
    run: Run::Engine(Verb::Exec),
};

const DISCARD: CommandSpec = CommandSpec {
    name: "DISCARD",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::AllowBusy],
    facts: &[],
    group: Group::Transactions,
    cost: "O(n), n the queued commands",
    since: "2.0.0",
    brief: "Drops the queued commands and ends the transaction.",
    answer: "simple: OK",
    run: Run::Engine(Verb::Discard),
};

const WATCH: CommandSpec = CommandSpec {
    name: "WATCH",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RO")],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::AllowBusy],
    facts: &[],
    group: Group::Transactions,
    cost: "O(1) a key",
    since: "2.2.0",
    brief: "Makes the next EXEC fail if one of these keys changes before it.",
    answer: "simple: OK",
    run: Run::Engine(Verb::Watch),
};

const UNWATCH: CommandSpec = CommandSpec {
    name: "UNWATCH",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::AllowBusy],
    facts: &[],
    group: Group::Transactions,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Forgets all watched keys.",
    answer: "simple: OK",
    run: Run::Engine(Verb::Unwatch),
};
