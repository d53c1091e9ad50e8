//! CLIENT subcommands that set this connection's options: replies, eviction, key accesses, durability.

use crate::prelude::*;
use crate::session::{ReplyMode, Session, Switch};

pub(crate) const COMMANDS: &[CommandSpec] = &[NO_EVICT, NO_TOUCH, REPLY, DURABLE, MAINT_NOTIFICATIONS];

const NO_EVICT: CommandSpec = CommandSpec {
    name: "CLIENT NO-EVICT",
    syntax: "<ON | OFF>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[Fact::Arguments(&[argument("0", "enabled", "", "")])],
    group: Group::Connection,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Sets whether the connection may be closed to save memory.",
    answer: "simple: OK",
    run: Run::Session(|session, args, reply| set_switch(session, args, reply, Switch::NoEvict)),
};

const NO_TOUCH: CommandSpec = CommandSpec {
    name: "CLIENT NO-TOUCH",
    syntax: "<ON | OFF>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "7.2.0",
    brief: "Sets whether the connection's reads count as use of keys.",
    answer: "simple: OK",
    run: Run::Session(|session, args, reply| set_switch(session, args, reply, Switch::NoTouch)),
};

const REPLY: CommandSpec = CommandSpec {
    name: "CLIENT REPLY",
    syntax: "<ON | OFF | SKIP>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "3.2.0",
    brief: "Turns replies of the connection on or off, or skips the next one.",
    answer: "simple: OK, for ON; nothing, for OFF and SKIP",
    run: Run::Session(reply_mode),
};

const DURABLE: CommandSpec = CommandSpec {
    name: "CLIENT DURABLE",
    syntax: "<ALWAYS | POLICY>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Makes replies wait for the disk, or follow the server's fsync setting.",
    answer: "simple: OK",
    run: Run::Session(durable),
};

const MAINT_NOTIFICATIONS: CommandSpec = CommandSpec {
    name: "CLIENT MAINT_NOTIFICATIONS",
    syntax: "<ON | OFF> [parameter value [parameter value ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Refuses maintenance notifications: this server sends none.",
    answer: "error: always; clients go on without",
    run: Run::Session(|_, _, _| {
        Err(Failure::text(
            "ERR maintenance notifications are not supported: this server never moves its connections to another",
        ))
    }),
};

fn set_switch(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply, switch: Switch) -> Outcome {
    let on = parse::is(args.get(2), "ON");
    if !on && !parse::is(args.get(2), "OFF") {
        return Err(Failure::Syntax);
    }
    session.set_switch(switch, on);
    reply.ok();
    Ok(())
}

fn reply_mode(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let modes = [("ON", ReplyMode::On), ("OFF", ReplyMode::Off), ("SKIP", ReplyMode::Skip)];
    let mode = modes.into_iter().find(|(word, _)| parse::is(args.get(2), word)).ok_or(Failure::Syntax)?.1;
    session.set_reply_mode(mode);
    if mode == ReplyMode::On {
        reply.ok();
    }
    Ok(())
}

fn durable(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let always = parse::is(args.get(2), "ALWAYS");
    if !always && !parse::is(args.get(2), "POLICY") {
        return Err(Failure::Syntax);
    }
    session.set_durable(always);
    reply.ok();
    Ok(())
}
