//! MODULE: `search` is built in; no others can be loaded.

use crate::help::{HELP_FLAGS, help_command};
use crate::prelude::*;
use crate::search::SEARCH_VERSION;

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
    brief: "Lists modules: search, which is built in.",
    answer: "array: a map with its name, the version of RediSearch that it is like, an empty path, and no arguments",
    run: Run::Session(|_, _, reply| {
        write_modules(reply);
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
    brief: "Unloads a module; the one there is stays, so it fails.",
    answer: "error: always",
    run: Run::Session(|_, _, _| Err(Failure::text("ERR Error unloading module: no such module with that name"))),
};

const MODULE_HELP: CommandSpec = help_command("MODULE HELP", Group::Server, "5.0.0", HELP_FLAGS);

/// Writes the modules, as MODULE LIST and HELLO do.
pub(crate) fn write_modules(reply: &mut dyn Reply) {
    reply.array(1);
    reply.map(4);
    reply.bulk(b"name");
    reply.bulk(b"search");
    reply.bulk(b"ver");
    reply.int(SEARCH_VERSION);
    reply.bulk(b"path");
    reply.bulk(b"");
    reply.bulk(b"args");
    reply.array(0);
}
