//! MODULE: there are none.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;

pub(crate) const COMMANDS: &[CommandSpec] = &[LIST, LOAD, LOADEX, UNLOAD, MODULE_HELP];

const LIST: CommandSpec = CommandSpec {
    name: "MODULE LIST",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Lists loaded modules; there are none.",
    answer: "array: empty",
    run: Run::Session(|_, _, reply| {
        reply.array(0);
        Ok(())
    }),
};

const LOAD: CommandSpec = CommandSpec {
    name: "MODULE LOAD",
    syntax: "path [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Loads a module; the server takes none, so it fails.",
    answer: "error: always",
    run: Run::Session(|_, _, _| Err(Failure::text("ERR modules are not supported: this server loads no foreign code"))),
};

const LOADEX: CommandSpec = CommandSpec {
    name: "MODULE LOADEX",
    syntax: "path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoAsyncLoading],
    facts: &[Fact::Arguments(&[argument("1", "configs", "", ""), argument("2", "args", "", "")])],
    group: Group::Server,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Loads a module; the server takes none, so it fails.",
    answer: "error: always",
    ..LOAD
};

const UNLOAD: CommandSpec = CommandSpec {
    name: "MODULE UNLOAD",
    syntax: "name",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::NoAsyncLoading],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "4.0.0",
    brief: "Unloads a module; none is loaded, so it fails.",
    answer: "error: always",
    run: Run::Session(|_, _, _| Err(Failure::text("ERR Error unloading module: no such module with that name"))),
};

const MODULE_HELP: CommandSpec = help_command("MODULE HELP", Group::Server, "5.0.0", HELP_FLAGS);
