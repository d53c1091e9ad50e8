//! SLOWLOG: the commands that took longest.

use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use crate::session::Session;

pub(crate) const COMMANDS: &[CommandSpec] = &[GET, LEN, RESET, SLOWLOG_HELP];

const GET: CommandSpec = CommandSpec {
    name: "SLOWLOG GET",
    syntax: "[count]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::Loading, Flag::Stale],
    facts: &[
        Fact::Tips(&["request_policy:all_nodes", "nondeterministic_output"]),
        Fact::History(&[("4.0.0", "Shows address, port and name of the client.")]),
    ],
    group: Group::Server,
    cost: "O(n), n the entries given",
    since: "2.2.12",
    brief: "Returns the newest entries of the slow log, by default 10.",
    answer: "array: of each entry id, time in seconds, microseconds taken, arguments, address and name of the client",
    run: Run::Session(get),
};

const LEN: CommandSpec = CommandSpec {
    name: "SLOWLOG LEN",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.2.12",
    brief: "Returns the number of entries of the slow log.",
    answer: "int: how many",
    run: Run::Session(|session, _, reply| {
        reply.int(session.slowlog_len() as i64);
        Ok(())
    }),
};

const RESET: CommandSpec = CommandSpec {
    name: "SLOWLOG RESET",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::Loading, Flag::Stale],
    facts: &[Fact::Tips(&["request_policy:all_nodes", "response_policy:all_succeeded"])],
    group: Group::Server,
    cost: "O(n), n the entries",
    since: "2.2.12",
    brief: "Clears the slow log.",
    answer: "simple: OK",
    run: Run::Session(|session, _, reply| {
        session.slowlog_reset();
        reply.ok();
        Ok(())
    }),
};

const SLOWLOG_HELP: CommandSpec = help_command("SLOWLOG HELP", Group::Server, "6.2.0", HELP_FLAGS);

const ENTRIES_DEFAULT: usize = 10;

fn get(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let entries_max = match args.len() {
        2 => ENTRIES_DEFAULT,
        3 => entries_max(args.get(2))?,
        _ => return Err(wrong_count(args)),
    };
    let entries = session.slowlog(entries_max);
    reply.array(entries.len());
    for entry in entries {
        reply.array(6);
        reply.int(entry.id as i64);
        reply.int(entry.at_s as i64);
        reply.int(entry.took_us as i64);
        reply.array(entry.arguments.len());
        entry.arguments.iter().for_each(|argument| reply.bulk(argument));
        reply.bulk(entry.address.as_bytes());
        reply.bulk(entry.name.as_bytes());
    }
    Ok(())
}

fn entries_max(argument: &[u8]) -> Result<usize, Failure> {
    match parse::int(argument) {
        Ok(-1) => Ok(usize::MAX),
        Ok(count) if count >= 0 => Ok(count as usize),
        _ => Err(Failure::text("ERR count should be greater than or equal to -1")),
    }
}
