//! INFO TIME ROLE LOLWUT: the server's information about itself.

use crate::connection::greeting::REDIS_VERSION;
use crate::prelude::*;
use crate::session::Session;

pub(crate) const COMMANDS: &[CommandSpec] = &[INFO, TIME, ROLE, LOLWUT];

const INFO: CommandSpec = CommandSpec {
    name: "INFO",
    syntax: "[section [section ...]]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Dangerous, Flag::ReportsKeyCounts],
    facts: &[
        Fact::Tips(&["nondeterministic_output", "request_policy:all_shards", "response_policy:special"]),
        Fact::History(&[("7.0.0", "Takes several sections.")]),
    ],
    group: Group::Server,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns facts and statistics of the server.",
    answer: "verbatim: lines of field:value, under a # heading for each section",
    run: Run::Session(info),
};

const TIME: CommandSpec = CommandSpec {
    name: "TIME",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast],
    facts: &[Fact::Tips(&["nondeterministic_output"])],
    group: Group::Server,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Returns the server's time.",
    answer: "array: seconds since the epoch, and microseconds of the second, as bulks",
    run: Run::Session(time),
};

const ROLE: CommandSpec = CommandSpec {
    name: "ROLE",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::Fast, Flag::Dangerous, Flag::AdminCategory],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "2.8.12",
    brief: "Returns the server's role in replication: a master without replicas.",
    answer: "array: master, 0, and an empty array",
    run: Run::Session(|_, _, reply| {
        reply.array(3);
        reply.bulk(b"master");
        reply.int(0);
        reply.array(0);
        Ok(())
    }),
};

const LOLWUT: CommandSpec = CommandSpec {
    name: "LOLWUT",
    syntax: "[VERSION version]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Server,
    cost: "O(1)",
    since: "5.0.0",
    brief: "Draws a bobbin.",
    answer: "verbatim: the drawing, and the version of Redis that is spoken",
    run: Run::Session(lolwut),
};

fn lolwut(_: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() > 2 && parse::is(args.get(1), "VERSION") {
        parse::int(args.get(2))?;
    }
    let rim = "  .=========.\n";
    let thread = "    |//////|\n".repeat(6);
    reply.verbatim("txt", &format!("{rim}{thread}{rim}\nRedis ver. {REDIS_VERSION}\n"));
    Ok(())
}

fn info(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let sections: Vec<String> =
        args.from(1).iter().map(|section| String::from_utf8_lossy(section).to_ascii_lowercase()).collect();
    reply.verbatim("txt", &session.info(&sections));
    Ok(())
}

fn time(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let now_us = session.now_us();
    reply.array(2);
    reply.bulk_int((now_us / 1_000_000) as i64);
    reply.bulk_int((now_us % 1_000_000) as i64);
    Ok(())
}
