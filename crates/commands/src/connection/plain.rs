//! PING ECHO QUIT RESET SELECT: commands that need only the connection.

use crate::prelude::*;
use crate::session::{Session, Topic};
use crate::spec::{PART_ARGUMENTS, Parts, all_parts};
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[PING, ECHO, QUIT, RESET, SELECT];

const PING: CommandSpec = CommandSpec {
    name: "PING",
    syntax: "[message]",
    arity: Arity::Between(1, 2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Fast, Flag::WhileSubscribed],
    facts: &[Fact::Tips(&["request_policy:all_shards", "response_policy:all_succeeded"])],
    group: Group::Connection,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns PONG, or the message.",
    answer: "simple: PONG; bulk: the message, if one is given; once subscribed in RESP2, both in an array",
    run: Run::Session(ping),
};

const ECHO: CommandSpec = CommandSpec {
    name: "ECHO",
    syntax: "message",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Returns the message.",
    answer: "bulk: the message",
    run: Run::Session(|_, args, reply| {
        reply.bulk(args.get(1));
        Ok(())
    }),
};

const QUIT: CommandSpec = CommandSpec {
    name: "QUIT",
    syntax: "",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[
        Flag::AllowBusy,
        Flag::NoScript,
        Flag::Loading,
        Flag::Stale,
        Flag::Fast,
        Flag::NoAuth,
        Flag::NotQueued,
        Flag::WhileSubscribed,
    ],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Closes the connection after all replies were sent.",
    answer: "simple: OK",
    run: Run::Session(|session, _, reply| {
        session.quit();
        reply.ok();
        Ok(())
    }),
};

const RESET: CommandSpec = CommandSpec {
    name: "RESET",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::None,
    flags: &[
        Flag::AllowBusy,
        Flag::NoScript,
        Flag::Loading,
        Flag::Stale,
        Flag::Fast,
        Flag::NoAuth,
        Flag::NotQueued,
        Flag::WhileSubscribed,
    ],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Resets the connection to its initial state.",
    answer: "simple: RESET",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Resetting, session, args, reply),
        is_long: |session, _| is_subscribed_to_many(session),
        begin: || Box::new(Resetting),
    },
};

/// A reset that first removes the connection's subscriptions in batches.
struct Resetting;

impl Parts for Resetting {
    fn next(&mut self, session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        if is_subscribed_to_many(session) {
            for topic in [Topic::Channel, Topic::Shard, Topic::Pattern] {
                let names = session.subscriptions(topic, PART_ARGUMENTS);
                names.iter().for_each(|name| session.unsubscribe(topic, name));
            }
            return Ok(More::Follows);
        }
        session.reset();
        reply.simple("RESET");
        Ok(More::Done)
    }
}

fn is_subscribed_to_many(session: &dyn Session) -> bool {
    let counts = [Topic::Channel, Topic::Shard].map(|topic| session.subscriptions_count(topic));
    counts.iter().any(|count| *count > PART_ARGUMENTS)
}

const SELECT: CommandSpec = CommandSpec {
    name: "SELECT",
    syntax: "index",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Loading, Flag::Stale, Flag::Fast],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Selects the database of the connection.",
    answer: "simple: OK",
    run: Run::Session(select),
};

fn ping(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if session.is_listening() {
        reply.array(2);
        reply.bulk(b"pong");
        reply.bulk(args.from(1).iter().next().unwrap_or_default());
        return Ok(());
    }
    match args.from(1).iter().next() {
        Some(message) => reply.bulk(message),
        None => reply.simple("PONG"),
    }
    Ok(())
}

fn select(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let index = i32::try_from(parse::int(args.get(1))?)
        .map_err(|_| Failure::text("ERR value is out of range, value must between -2147483648 and 2147483647"))?;
    let database = u32::try_from(index).ok().filter(|&database| database < session.databases());
    session.select(database.ok_or_else(|| Failure::text("ERR DB index is out of range"))?);
    reply.ok();
    Ok(())
}
