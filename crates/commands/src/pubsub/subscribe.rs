//! SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE: begin and cease to listen.
//!
//! Each name is answered by a message of its own, in RESP3 a push: what was done, the name, and how many the connection
//! has subscribed to now. Channels and patterns are counted together, shard channels by themselves.

use crate::prelude::*;
use crate::session::{Session, Topic};

pub(crate) const COMMANDS: &[Command] = &[SUBSCRIBE, UNSUBSCRIBE, PSUBSCRIBE, PUNSUBSCRIBE, SSUBSCRIBE, SUNSUBSCRIBE];

const SUBSCRIBE: Command = Command {
    name: "SUBSCRIBE",
    syntax: "channel [channel ...]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    group: Group::PubSub,
    cost: "O(n), n the channels",
    since: "2.0.0",
    brief: "Lets the connection receive the messages of channels.",
    answer: "push: subscribe, the channel and the subscriptions, for each channel",
    run: Run::Session(|session, args, reply| subscribe(session, args, reply, Topic::Channel, "subscribe")),
};

const UNSUBSCRIBE: Command = Command {
    name: "UNSUBSCRIBE",
    syntax: "[channel [channel ...]]",
    arity: Arity::AtLeast(1),
    brief: "Ends subscriptions to channels, to all of them if none is named.",
    answer: "push: unsubscribe, the channel or null and the subscriptions, for each channel",
    run: Run::Session(|session, args, reply| unsubscribe(session, args, reply, Topic::Channel, "unsubscribe")),
    ..SUBSCRIBE
};

const PSUBSCRIBE: Command = Command {
    name: "PSUBSCRIBE",
    syntax: "pattern [pattern ...]",
    cost: "O(n), n the patterns",
    brief: "Lets the connection receive the messages of channels that match patterns.",
    answer: "push: psubscribe, the pattern and the subscriptions, for each pattern",
    run: Run::Session(|session, args, reply| subscribe(session, args, reply, Topic::Pattern, "psubscribe")),
    ..SUBSCRIBE
};

const PUNSUBSCRIBE: Command = Command {
    name: "PUNSUBSCRIBE",
    syntax: "[pattern [pattern ...]]",
    cost: "O(n), n the patterns",
    brief: "Ends subscriptions to patterns, to all of them if none is named.",
    answer: "push: punsubscribe, the pattern or null and the subscriptions, for each pattern",
    run: Run::Session(|session, args, reply| unsubscribe(session, args, reply, Topic::Pattern, "punsubscribe")),
    ..UNSUBSCRIBE
};

const SSUBSCRIBE: Command = Command {
    name: "SSUBSCRIBE",
    syntax: "shardchannel [shardchannel ...]",
    keys: &[KeySpec::many(1, -1, 1, "not_key")],
    since: "7.0.0",
    brief: "Lets the connection receive the messages of shard channels.",
    answer: "push: ssubscribe, the channel and the subscriptions, for each channel",
    run: Run::Session(|session, args, reply| subscribe(session, args, reply, Topic::Shard, "ssubscribe")),
    ..SUBSCRIBE
};

const SUNSUBSCRIBE: Command = Command {
    name: "SUNSUBSCRIBE",
    syntax: "[shardchannel [shardchannel ...]]",
    arity: Arity::AtLeast(1),
    brief: "Ends subscriptions to shard channels, to all of them if none is named.",
    answer: "push: sunsubscribe, the channel or null and the subscriptions, for each channel",
    run: Run::Session(|session, args, reply| unsubscribe(session, args, reply, Topic::Shard, "sunsubscribe")),
    ..SSUBSCRIBE
};

fn subscribe(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply, topic: Topic, word: &str) -> Outcome {
    for name in args.from(1) {
        session.subscribe(topic, name);
        tell(reply, word, Some(name), session.subscriptions_count(topic));
    }
    Ok(())
}

fn unsubscribe(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply, topic: Topic, word: &str) -> Outcome {
    if args.len() > 1 {
        for name in args.from(1) {
            session.unsubscribe(topic, name);
            tell(reply, word, Some(name), session.subscriptions_count(topic));
        }
        return Ok(());
    }
    let all = session.subscriptions(topic);
    for name in &all {
        session.unsubscribe(topic, name);
        tell(reply, word, Some(name), session.subscriptions_count(topic));
    }
    if all.is_empty() {
        tell(reply, word, None, session.subscriptions_count(topic));
    }
    Ok(())
}

fn tell(reply: &mut dyn Reply, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word.as_bytes());
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.int(count as i64);
}
