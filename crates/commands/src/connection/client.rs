//! CLIENT subcommands about connections: list them, kill them, unblock them.

use super::filter;
use crate::help::{help_command, wrong_count};
use crate::prelude::*;
use crate::session::{ClientFilter, Session};

pub(crate) const COMMANDS: &[CommandSpec] =
    &[ID, GETNAME, SETNAME, SETINFO, INFO, LIST, KILL, UNBLOCK, PAUSE, UNPAUSE, CLIENT_HELP];

const ID: CommandSpec = CommandSpec {
    name: "CLIENT ID",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "5.0.0",
    brief: "Returns the connection's id, which is never reused.",
    answer: "int: the number",
    run: Run::Session(|session, _, reply| {
        reply.int(session.id() as i64);
        Ok(())
    }),
};

const GETNAME: CommandSpec = CommandSpec {
    name: "CLIENT GETNAME",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "2.6.9",
    brief: "Returns the name of the connection.",
    answer: "bulk: the name; null if it has none",
    run: Run::Session(|session, _, reply| {
        let name = session.name();
        if name.is_empty() {
            reply.null();
        } else {
            reply.bulk(name.as_bytes());
        }
        Ok(())
    }),
};

const SETNAME: CommandSpec = CommandSpec {
    name: "CLIENT SETNAME",
    syntax: "connection-name",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "2.6.9",
    brief: "Sets the connection's name; an empty one removes it.",
    answer: "simple: OK",
    run: Run::Session(|session, args, reply| {
        session.set_name(name_of(args.get(2))?);
        reply.ok();
        Ok(())
    }),
};

const SETINFO: CommandSpec = CommandSpec {
    name: "CLIENT SETINFO",
    syntax: "<LIB-NAME libname | LIB-VER libver>",
    arity: Arity::Exactly(4),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "7.2.0",
    brief: "Sets the name or version of the client's library.",
    answer: "simple: OK",
    run: Run::Session(set_info),
};

const INFO: CommandSpec = CommandSpec {
    name: "CLIENT INFO",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Returns the connection's line of CLIENT LIST.",
    answer: "verbatim: one line",
    run: Run::Session(|session, _, reply| {
        reply.verbatim("txt", &session.client_line());
        Ok(())
    }),
};

const LIST: CommandSpec = CommandSpec {
    name: "CLIENT LIST",
    syntax: "[TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[
            ("2.8.12", "Shows `id`."),
            ("5.0.0", "Takes `TYPE`."),
            ("6.0.0", "Shows `user`."),
            ("6.2.0", "Takes `ID`, and shows `argv-mem`, `tot-mem`, `laddr` and `redir`."),
            ("7.0.0", "Shows `resp`, `multi-mem`, `rbs` and `rbp`."),
            ("7.0.3", "Shows `ssub`."),
        ]),
        Fact::Arguments(&[argument("0", "", "", "5.0.0"), argument("1", "id", "", "6.2.0")]),
    ],
    group: Group::Connection,
    cost: "O(n), n the connections",
    since: "2.4.0",
    brief: "Lists connections, one a line.",
    answer: "verbatim: the lines",
    run: Run::Session(|session, args, reply| {
        reply.verbatim("txt", &session.client_lines(&filter::of_list(args)?));
        Ok(())
    }),
};

const KILL: CommandSpec = CommandSpec {
    name: "CLIENT KILL",
    syntax: "<ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | \
             [LADDR ip:port] | [SKIPME <YES | NO>] | [MAXAGE maxage] [...]>>",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[
        Fact::History(&[
            ("2.8.12", "Takes filters."),
            ("2.8.12", "Takes `ID`."),
            ("3.2.0", "Takes `TYPE master`."),
            ("5.0.0", "Takes `TYPE replica`, and `slave` for the same."),
            ("6.2.0", "Takes `LADDR`."),
        ]),
        Fact::Arguments(&[argument("0", "filter", "", ""), argument("0.1", "new-format", "", "")]),
    ],
    group: Group::Connection,
    cost: "O(n), n the connections",
    since: "2.4.0",
    brief: "Closes connections by address, or those that match all filters.",
    answer: "simple: OK, for an address; int: how many, for filters",
    run: Run::Session(kill),
};

const UNBLOCK: CommandSpec = CommandSpec {
    name: "CLIENT UNBLOCK",
    syntax: "client-id [TIMEOUT | ERROR]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(log n), n the connections",
    since: "5.0.0",
    brief: "Ends the wait of a blocked connection.",
    answer: "int: 1 if it was blocked, 0 if not",
    run: Run::Session(unblock),
};

const PAUSE: CommandSpec = CommandSpec {
    name: "CLIENT PAUSE",
    syntax: "timeout [WRITE | ALL]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[
        Fact::History(&[("6.2.0", "Takes a mode, of which `WRITE` is new.")]),
        Fact::Arguments(&[argument("0", "", "integer", ""), argument("1", "mode", "", "6.2.0")]),
    ],
    group: Group::Connection,
    cost: "O(1)",
    since: "3.0.0",
    brief: "Suspends all commands, or all writes, for some milliseconds.",
    answer: "simple: OK",
    run: Run::Engine(crate::spec::Verb::Pause),
};

const UNPAUSE: CommandSpec = CommandSpec {
    name: "CLIENT UNPAUSE",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(n), n the connections that wait",
    since: "6.2.0",
    brief: "Ends CLIENT PAUSE.",
    answer: "simple: OK",
    run: Run::Session(|session, _, reply| {
        session.unpause();
        reply.ok();
        Ok(())
    }),
};

const CLIENT_HELP: CommandSpec =
    help_command("CLIENT HELP", Group::Connection, "5.0.0", &[Flag::Loading, Flag::Stale, Flag::OfClient]);

/// Returns a name, or a library's name or version, if it is visible ASCII only.
fn visible(bytes: &[u8]) -> Option<&str> {
    bytes.iter().all(u8::is_ascii_graphic).then(|| std::str::from_utf8(bytes).ok()).flatten()
}

/// Parses the name of a connection.
pub(super) fn name_of(bytes: &[u8]) -> Result<&str, Failure> {
    visible(bytes)
        .ok_or_else(|| Failure::text("ERR Client names cannot contain spaces, newlines or special characters."))
}

fn set_info(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let option = args.get(2);
    let shown = parse::repeated(option);
    let is_name = parse::is(option, "LIB-NAME");
    if !is_name && !parse::is(option, "LIB-VER") {
        return Err(Failure::text(format!("ERR Unrecognized option '{shown}'")));
    }
    let value = visible(args.get(3))
        .ok_or_else(|| Failure::text(format!("ERR {shown} cannot contain spaces, newlines or special characters.")))?;
    let (name, version) = if is_name { (Some(value), None) } else { (None, Some(value)) };
    session.set_library(name, version);
    reply.ok();
    Ok(())
}

fn kill(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() == 3 {
        let address = String::from_utf8_lossy(args.get(2)).into_owned();
        let filter = ClientFilter { address: Some(address), ..ClientFilter::default() };
        if session.kill(&filter) == 0 {
            return Err(Failure::text("ERR No such client"));
        }
        reply.ok();
        return Ok(());
    }
    let killed = session.kill(&filter::of_kill(args)?);
    reply.int(killed as i64);
    Ok(())
}

fn unblock(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() > 4 {
        return Err(wrong_count(args));
    }
    let with_error = match args.from(3).iter().next() {
        None => false,
        Some(reason) if parse::is(reason, "TIMEOUT") => false,
        Some(reason) if parse::is(reason, "ERROR") => true,
        Some(_) => return Err(Failure::text("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let id = u64::try_from(parse::int(args.get(2))?).ok();
    reply.int(i64::from(id.is_some_and(|id| session.unblock(id, with_error))));
    Ok(())
}
