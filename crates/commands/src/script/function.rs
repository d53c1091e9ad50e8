//! FUNCTION LOAD, LIST, DELETE, DUMP, RESTORE, FLUSH, STATS, KILL and HELP: function libraries, and the running
//! function. The engine runs those that use libraries; here are their specifications and arguments.

use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use crate::session::Session;
use crate::spec::{LibraryVerb, Verb};

pub(crate) const COMMANDS: &[CommandSpec] = &[LOAD, LIST, DELETE, DUMP, RESTORE, FLUSH, STATS, KILL, FUNCTION_HELP];

const LOAD: CommandSpec = CommandSpec {
    name: "FUNCTION LOAD",
    syntax: "[REPLACE] function-code",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[Flag::NoScript],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"])],
    group: Group::Scripting,
    cost: "O(n), n the length of the code, and what it does as it is loaded",
    since: "7.0.0",
    brief: "Loads a library of functions.",
    answer: "bulk: the library's name",
    run: Run::Engine(Verb::Library(LibraryVerb::Load)),
};

const LIST: CommandSpec = CommandSpec {
    name: "FUNCTION LIST",
    syntax: "[LIBRARYNAME library-name-pattern] [WITHCODE]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript],
    facts: &[Fact::Tips(&["nondeterministic_output_order"])],
    group: Group::Scripting,
    cost: "O(n), n the functions",
    since: "7.0.0",
    brief: "Lists libraries with their functions.",
    answer: "array of maps: library_name, engine, functions, and library_code if asked for",
    run: Run::Engine(Verb::Library(LibraryVerb::List)),
};

const DELETE: CommandSpec = CommandSpec {
    name: "FUNCTION DELETE",
    syntax: "library-name",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::NoScript],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"])],
    group: Group::Scripting,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Deletes a library and its functions.",
    answer: "simple: OK; error: there is no such library",
    run: Run::Engine(Verb::Library(LibraryVerb::Delete)),
};

const DUMP: CommandSpec = CommandSpec {
    name: "FUNCTION DUMP",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript],
    facts: &[],
    group: Group::Scripting,
    cost: "O(n), n the length of all libraries",
    since: "7.0.0",
    brief: "Returns all libraries in one payload, for FUNCTION RESTORE.",
    answer: "bulk: the payload",
    run: Run::Engine(Verb::Library(LibraryVerb::Dump)),
};

const RESTORE: CommandSpec = CommandSpec {
    name: "FUNCTION RESTORE",
    syntax: "serialized-value [FLUSH | APPEND | REPLACE]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::Write { grows: true },
    flags: &[Flag::NoScript],
    facts: &[
        Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"]),
        Fact::Arguments(&[argument("1", "policy", "", "")]),
    ],
    group: Group::Scripting,
    cost: "O(n), n the length of the payload, and what the libraries do as they are loaded",
    since: "7.0.0",
    brief: "Loads all libraries of a payload, or none.",
    answer: "simple: OK; error: the payload is none, or a name is taken",
    run: Run::Engine(Verb::Library(LibraryVerb::Restore)),
};

const FLUSH: CommandSpec = CommandSpec {
    name: "FUNCTION FLUSH",
    syntax: "[ASYNC | SYNC]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::NoScript],
    facts: &[
        Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"]),
        Fact::Arguments(&[argument("0", "async", "", "")]),
    ],
    group: Group::Scripting,
    cost: "O(n), n the libraries",
    since: "7.0.0",
    brief: "Deletes all libraries.",
    answer: "simple: OK",
    run: Run::Engine(Verb::Library(LibraryVerb::Flush)),
};

const STATS: CommandSpec = CommandSpec {
    name: "FUNCTION STATS",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::AllowBusy],
    facts: &[Fact::Tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"])],
    group: Group::Scripting,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Returns the running function, and counts of libraries and functions.",
    answer: "map: running_script (a map: name, command, duration_ms; or null), engines",
    run: Run::Session(stats),
};

const KILL: CommandSpec = CommandSpec {
    name: "FUNCTION KILL",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::AllowBusy],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:one_succeeded"])],
    group: Group::Scripting,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Ends a long-running function that has changed nothing yet.",
    answer: "simple: OK; error: none runs, or it has changed something",
    run: Run::Session(kill),
};

const FUNCTION_HELP: CommandSpec = help_command("FUNCTION HELP", Group::Scripting, "7.0.0", HELP_FLAGS);

/// An operation on libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryRequest<'a> {
    /// FUNCTION LOAD
    Load {
        /// True if a library of the same name is replaced.
        replaces: bool,
        /// The code, including the first line.
        source: &'a [u8],
    },
    /// FUNCTION LIST
    List {
        /// A glob pattern for library names.
        pattern: Option<&'a [u8]>,
        /// True if sources are included.
        with_code: bool,
    },
    /// FUNCTION DELETE, of the library with this name.
    Delete(&'a [u8]),
    /// FUNCTION DUMP
    Dump,
    /// FUNCTION RESTORE
    Restore {
        /// The payload, to be read by [`rdb::LibrariesReading`].
        payload: &'a [u8],
        /// The policy for existing libraries.
        policy: RestorePolicy,
    },
    /// FUNCTION FLUSH
    Flush,
}

/// The policy for existing libraries on a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestorePolicy {
    /// They stay, and a name clash is an error.
    Append,
    /// Replaces libraries of the same name.
    Replace,
    /// All are removed.
    Flush,
}

/// Parses a request of one of the commands that the engine runs.
///
/// # Errors
/// If an option is unknown or lacks its value, or there are too many arguments.
pub fn library_request<'a>(command: &CommandSpec, args: &Args<'a>) -> Result<LibraryRequest<'a>, Failure> {
    let Run::Engine(Verb::Library(verb)) = command.run else {
        unreachable!("{} is no command of libraries", command.name)
    };
    match verb {
        LibraryVerb::Load => load_request(args),
        LibraryVerb::List => list_request(args),
        LibraryVerb::Delete => Ok(LibraryRequest::Delete(args.get(2))),
        LibraryVerb::Dump => Ok(LibraryRequest::Dump),
        LibraryVerb::Restore => restore_request(args),
        LibraryVerb::Flush => flush_request(args),
    }
}

fn load_request<'a>(args: &Args<'a>) -> Result<LibraryRequest<'a>, Failure> {
    let (options, source) = (args.slice(2, args.len() - 1), args.get(args.len() - 1));
    if let Some(unknown) = options.iter().find(|option| !parse::is(option, "REPLACE")) {
        return Err(Failure::text(format!("ERR Unknown option given: {}", parse::repeated(unknown))));
    }
    Ok(LibraryRequest::Load { replaces: args.len() > 3, source })
}

fn list_request<'a>(args: &Args<'a>) -> Result<LibraryRequest<'a>, Failure> {
    let (mut pattern, mut with_code) = (None, false);
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        if !with_code && parse::is(word, "WITHCODE") {
            with_code = true;
        } else if pattern.is_none() && parse::is(word, "LIBRARYNAME") {
            let name = words.next().ok_or(Failure::text("ERR library name argument was not given"))?;
            pattern = Some(parse::pattern(name)?);
        } else {
            return Err(Failure::text(format!("ERR Unknown argument {}", parse::repeated(word))));
        }
    }
    Ok(LibraryRequest::List { pattern, with_code })
}

fn restore_request<'a>(args: &Args<'a>) -> Result<LibraryRequest<'a>, Failure> {
    let policy = match args.len() {
        3 => RestorePolicy::Append,
        4 if parse::is(args.get(3), "APPEND") => RestorePolicy::Append,
        4 if parse::is(args.get(3), "REPLACE") => RestorePolicy::Replace,
        4 if parse::is(args.get(3), "FLUSH") => RestorePolicy::Flush,
        4 => {
            let text = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.";
            return Err(Failure::text(text));
        }
        _ => return Err(wrong_count(args)),
    };
    Ok(LibraryRequest::Restore { payload: args.get(2), policy })
}

fn flush_request<'a>(args: &Args<'a>) -> Result<LibraryRequest<'a>, Failure> {
    match args.len() {
        2 => Ok(LibraryRequest::Flush),
        3 if parse::is(args.get(2), "SYNC") || parse::is(args.get(2), "ASYNC") => Ok(LibraryRequest::Flush),
        3 => Err(Failure::text("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")),
        _ => Err(wrong_count(args)),
    }
}

fn stats(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let stats = session.function_stats().map_err(Failure::text)?;
    reply.map(2);
    reply.bulk(b"running_script");
    match stats.running {
        None => reply.null(),
        Some(running) => {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(running.name.as_bytes());
            reply.bulk(b"command");
            reply.array(running.command.len());
            running.command.iter().for_each(|word| reply.bulk(word));
            reply.bulk(b"duration_ms");
            reply.int(running.took_ms as i64);
        }
    }
    reply.bulk(b"engines");
    reply.map(1);
    reply.bulk(b"LUA");
    reply.map(2);
    reply.bulk(b"libraries_count");
    reply.int(stats.libraries_count as i64);
    reply.bulk(b"functions_count");
    reply.int(stats.functions_count as i64);
    Ok(())
}

fn kill(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    session.kill_script(true).map_err(Failure::text)?;
    reply.ok();
    Ok(())
}
