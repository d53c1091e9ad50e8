//! COMMAND: describes the server's commands, from their specifications.

use super::describe::{self, Listed};
use crate::acl;
use crate::help::help_command;
use crate::prelude::*;
use crate::registry::{self, Lookup};
use crate::session::Session;
use crate::spec::{PART_ARGUMENTS, Parts, all_parts, has_many_arguments};
use base::glob::{self, Case};
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[COMMAND, COUNT, LIST, INFO, DOCS, GETKEYS, GETKEYSANDFLAGS, COMMAND_HELP];

const COMMAND: CommandSpec = CommandSpec {
    name: "COMMAND",
    syntax: "",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Server,
    cost: "O(n), n all commands",
    since: "2.8.13",
    brief: "Returns flags, arity and key specs of all commands.",
    answer: "array: of each name, arity, flags, first, last and step of keys, categories, tips, key specs, subcommands",
    run: Run::Session(|_, _, reply| {
        describe::infos(&describe::all(), reply);
        Ok(())
    }),
};

const COUNT: CommandSpec = CommandSpec {
    name: "COMMAND COUNT",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.13",
    brief: "Counts the commands, those with subcommands once.",
    answer: "int: how many",
    run: Run::Session(|_, _, reply| {
        reply.int(registry::names_count() as i64);
        Ok(())
    }),
};

const LIST: CommandSpec = CommandSpec {
    name: "COMMAND LIST",
    syntax: "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[Fact::Tips(&["nondeterministic_output_order"]), Fact::Arguments(&[argument("0", "filterby", "", "")])],
    group: Group::Server,
    cost: "O(n), n all commands",
    since: "7.0.0",
    brief: "Lists the names of commands, optionally filtered.",
    answer: "set: names in small letters",
    run: Run::Session(list),
};

const INFO: CommandSpec = CommandSpec {
    name: "COMMAND INFO",
    syntax: "[command-name [command-name ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[
        Fact::Tips(&["nondeterministic_output_order"]),
        Fact::History(&[("7.0.0", "Returns all commands if none is named.")]),
    ],
    group: Group::Server,
    cost: "O(n), n the names",
    since: "2.8.13",
    brief: "Returns flags, arity and key specs of some commands, or of all.",
    answer: "array: as COMMAND, null for a name that is none",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(CommandsReply::new(CommandFacts::Info), session, args, reply),
        is_long: has_many_arguments,
        begin: || Box::new(CommandsReply::new(CommandFacts::Info)),
    },
};

const DOCS: CommandSpec = CommandSpec {
    name: "COMMAND DOCS",
    syntax: "[command-name [command-name ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Server,
    cost: "O(n), n the names",
    since: "7.0.0",
    brief: "Returns the documentation of some commands, or of all.",
    answer: "map: name and a map of summary, since, group, complexity, arguments, subcommands",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(CommandsReply::new(CommandFacts::Docs), session, args, reply),
        is_long: has_many_arguments,
        begin: || Box::new(CommandsReply::new(CommandFacts::Docs)),
    },
};

const GETKEYS: CommandSpec = CommandSpec {
    name: "COMMAND GETKEYS",
    syntax: "command [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Server,
    cost: "O(n), n the arguments",
    since: "2.8.13",
    brief: "Extracts the keys of a command.",
    answer: "array: the keys",
    run: Run::Session(|_, args, reply| keys(args, reply, false)),
};

const GETKEYSANDFLAGS: CommandSpec = CommandSpec {
    name: "COMMAND GETKEYSANDFLAGS",
    syntax: "command [arg [arg ...]]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory],
    facts: &[],
    group: Group::Server,
    cost: "O(n), n the arguments",
    since: "7.0.0",
    brief: "Extracts the keys of a command, and how it accesses each.",
    answer: "array: of each key itself and its flags",
    run: Run::Session(|_, args, reply| keys(args, reply, true)),
};

const COMMAND_HELP: CommandSpec =
    help_command("COMMAND HELP", Group::Server, "5.0.0", &[Flag::Loading, Flag::Stale, Flag::ConnectionCategory]);

fn list(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let names: Vec<String> = match args.len() {
        2 => with_subcommands(|_| true),
        5 if parse::is(args.get(2), "FILTERBY") => filtered(args.get(3), args.get(4))?,
        _ => return Err(Failure::Syntax),
    };
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name.as_bytes()));
    Ok(())
}

/// Returns the names that pass a filter, including subcommands.
fn filtered(filter: &[u8], value: &[u8]) -> Result<Vec<String>, Failure> {
    let fits: Box<dyn Fn(&Listed) -> bool> = if parse::is(filter, "MODULE") {
        Box::new(|_| false)
    } else if parse::is(filter, "ACLCAT") {
        Box::new(|listed| {
            listed.command().is_some_and(|command| acl::categories(command).iter().any(|name| parse::is(value, name)))
        })
    } else if parse::is(filter, "PATTERN") {
        Box::new(|listed| glob::matches(value, listed.name().as_bytes(), Case::Ignored))
    } else {
        return Err(Failure::Syntax);
    };
    Ok(with_subcommands(fits))
}

fn with_subcommands(fits: impl Fn(&Listed) -> bool) -> Vec<String> {
    let all = describe::all();
    let all = all.iter().flat_map(|listed| std::iter::once(*listed).chain(listed.subcommands()));
    all.filter(fits).map(|listed| listed.name()).collect()
}

/// The facts returned for named commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandFacts {
    Info,
    /// For unknown names, nothing.
    Docs,
}

/// A reply about commands, in parts.
struct CommandsReply {
    facts: CommandFacts,
    /// The commands for the names looked up so far.
    listed: Vec<Option<Listed>>,
    written: Option<usize>,
}

/// Commands per part.
const PART_COMMANDS: usize = 8;

impl CommandsReply {
    fn new(facts: CommandFacts) -> Self {
        Self { facts, listed: Vec::new(), written: None }
    }

    fn begin(&mut self, reply: &mut dyn Reply) {
        if self.facts == CommandFacts::Docs {
            self.listed.retain(Option::is_some);
            reply.map(self.listed.len());
        } else {
            reply.array(self.listed.len());
        }
        self.written = Some(0);
    }
}

impl Parts for CommandsReply {
    fn next(&mut self, _: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        let names = args.from(2);
        let Some(written) = self.written else {
            if names.is_empty() {
                self.listed = describe::all().into_iter().map(Some).collect();
                self.begin(reply);
                return Ok(More::Follows);
            }
            let from = self.listed.len();
            let to = names.len().min(from + PART_ARGUMENTS);
            self.listed.extend((from..to).map(|at| Listed::of(names.get(at))));
            if to == names.len() {
                self.begin(reply);
            }
            return Ok(More::Follows);
        };
        let end = self.listed.len().min(written + PART_COMMANDS);
        for listed in &self.listed[written..end] {
            match (listed, self.facts) {
                (Some(listed), CommandFacts::Info) => describe::info(*listed, reply),
                (Some(listed), CommandFacts::Docs) => describe::named_doc(*listed, reply),
                (None, _) => reply.null(),
            }
        }
        self.written = Some(end);
        Ok(if end < self.listed.len() { More::Follows } else { More::Done })
    }
}

fn keys(args: &Args, reply: &mut dyn Reply, with_flags: bool) -> Outcome {
    let request = args.from(2);
    let Lookup::Command(command) = registry::find(&request) else {
        return Err(Failure::text("ERR Invalid command specified"));
    };
    let specs = || command.keys.iter().filter(|spec| spec.flags != "not_key");
    if specs().next().is_none() {
        return Err(Failure::text("ERR The command has no key arguments"));
    }
    if !command.arity.allows(request.len()) {
        return Err(Failure::text("ERR Invalid number of arguments specified for command"));
    }
    let mut found = Vec::new();
    for spec in specs() {
        spec.for_each(&request, |at| found.push((request.get(at), describe::key_flags(spec, &request))));
    }
    if command.has(Flag::EmptyKeyBeforeList) && found.len() > 1 && found.remove(0).0 != b"" {
        found.clear();
    }
    if found.is_empty() && !command.has(Flag::NoMandatoryKeys) {
        return Err(Failure::text("ERR Invalid arguments specified for command"));
    }
    reply.array(found.len());
    for (key, flags) in found {
        if with_flags {
            reply.array(2);
        }
        reply.bulk(key);
        if with_flags {
            describe::words(&flags, reply);
        }
    }
    Ok(())
}
