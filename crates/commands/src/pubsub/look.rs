//! PUBSUB: who listens to what.

use crate::help::{HELP, wrong_count};
use crate::prelude::*;
use crate::session::{Session, Topic};

pub(crate) const COMMANDS: &[Command] = &[CHANNELS, NUMSUB, NUMPAT, SHARDCHANNELS, SHARDNUMSUB, PUBSUB_HELP];

const CHANNELS: Command = Command {
    name: "PUBSUB CHANNELS",
    syntax: "[pattern]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    group: Group::PubSub,
    cost: "O(n), n the channels that are subscribed to",
    since: "2.8.0",
    brief: "Tells which channels are subscribed to, those that match a pattern if given.",
    answer: "array: channels",
    run: Run::Session(|session, args, reply| channels(session, args, reply, Topic::Channel)),
};

const NUMSUB: Command = Command {
    name: "PUBSUB NUMSUB",
    syntax: "[channel [channel ...]]",
    cost: "O(n), n the channels named",
    brief: "Tells how many have subscribed to each channel, patterns not counted.",
    answer: "array: each channel and its subscribers",
    run: Run::Session(|session, args, reply| subscribers(session, args, reply, Topic::Channel)),
    ..CHANNELS
};

const NUMPAT: Command = Command {
    name: "PUBSUB NUMPAT",
    syntax: "",
    arity: Arity::Exactly(2),
    cost: "O(1)",
    brief: "Tells how many different patterns are subscribed to.",
    answer: "int: patterns",
    run: Run::Session(|session, _, reply| {
        reply.int(session.patterns_count() as i64);
        Ok(())
    }),
    ..CHANNELS
};

const SHARDCHANNELS: Command = Command {
    name: "PUBSUB SHARDCHANNELS",
    cost: "O(n), n the shard channels that are subscribed to",
    since: "7.0.0",
    brief: "Tells which shard channels are subscribed to.",
    run: Run::Session(|session, args, reply| channels(session, args, reply, Topic::Shard)),
    ..CHANNELS
};

const SHARDNUMSUB: Command = Command {
    name: "PUBSUB SHARDNUMSUB",
    syntax: "[shardchannel [shardchannel ...]]",
    since: "7.0.0",
    brief: "Tells how many have subscribed to each shard channel.",
    run: Run::Session(|session, args, reply| subscribers(session, args, reply, Topic::Shard)),
    ..NUMSUB
};

const PUBSUB_HELP: Command = Command { name: "PUBSUB HELP", since: "6.2.0", group: Group::PubSub, ..HELP };

fn channels(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply, topic: Topic) -> Outcome {
    if args.len() > 3 {
        return Err(wrong_count(args));
    }
    let channels = session.channels(topic, args.from(2).iter().next());
    reply.array(channels.len());
    channels.iter().for_each(|channel| reply.bulk(channel));
    Ok(())
}

fn subscribers(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply, topic: Topic) -> Outcome {
    let channels = args.from(2);
    reply.array(2 * channels.len());
    for channel in channels {
        reply.bulk(channel);
        reply.int(session.subscribers_count(topic, channel) as i64);
    }
    Ok(())
}
