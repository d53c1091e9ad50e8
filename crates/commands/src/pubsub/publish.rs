//! PUBLISH SPUBLISH: say something to whoever listens.

use crate::prelude::*;
use crate::session::Topic;

pub(crate) const COMMANDS: &[Command] = &[PUBLISH, SPUBLISH];

const PUBLISH: Command = Command {
    name: "PUBLISH",
    syntax: "channel message",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale, Flag::Fast],
    group: Group::PubSub,
    cost: "O(n), n the patterns that are subscribed to, whoever receives it",
    since: "2.0.0",
    brief: "Sends a message to all who have subscribed to a channel or a pattern of it.",
    answer: "int: subscriptions that it reaches",
    run: Run::Session(|session, args, reply| {
        reply.int(session.publish(Topic::Channel, args.get(1), args.get(2)) as i64);
        Ok(())
    }),
};

const SPUBLISH: Command = Command {
    name: "SPUBLISH",
    syntax: "shardchannel message",
    keys: &[KeySpec::one(1, "not_key")],
    cost: "O(1)",
    since: "7.0.0",
    brief: "Sends a message to all who have subscribed to a shard channel.",
    run: Run::Session(|session, args, reply| {
        reply.int(session.publish(Topic::Shard, args.get(1), args.get(2)) as i64);
        Ok(())
    }),
    ..PUBLISH
};
