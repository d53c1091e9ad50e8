//! PUBSUB: lists channels and subscribers.

use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use crate::session::{Session, Topic};
use crate::spec::{PART_ARGUMENTS, Parts, all_parts, has_many_arguments};
use std::collections::VecDeque;
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[CHANNELS, NUMSUB, NUMPAT, SHARDCHANNELS, SHARDNUMSUB, PUBSUB_HELP];

const CHANNELS: CommandSpec = CommandSpec {
    name: "PUBSUB CHANNELS",
    syntax: "[pattern]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels that are subscribed to",
    since: "2.8.0",
    brief: "Lists channels with subscribers, optionally by pattern.",
    answer: "array: channels",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Channels::new(Topic::Channel), session, args, reply),
        is_long: |session, _| session.channels_count(Topic::Channel) > PART_ARGUMENTS,
        begin: || Box::new(Channels::new(Topic::Channel)),
    },
};

const NUMSUB: CommandSpec = CommandSpec {
    name: "PUBSUB NUMSUB",
    syntax: "[channel [channel ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels named",
    since: "2.8.0",
    brief: "Counts the subscribers of each channel, without patterns.",
    answer: "array: each channel and its subscribers",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Counting::new(Topic::Channel), session, args, reply),
        is_long: has_many_arguments,
        begin: || Box::new(Counting::new(Topic::Channel)),
    },
};

const NUMPAT: CommandSpec = CommandSpec {
    name: "PUBSUB NUMPAT",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(1)",
    since: "2.8.0",
    brief: "Counts the distinct patterns subscribed to.",
    answer: "int: patterns",
    run: Run::Session(|session, _, reply| {
        reply.int(session.patterns_count() as i64);
        Ok(())
    }),
};

const SHARDCHANNELS: CommandSpec = CommandSpec {
    name: "PUBSUB SHARDCHANNELS",
    syntax: "[pattern]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the shard channels that are subscribed to",
    since: "7.0.0",
    brief: "Lists shard channels with subscribers.",
    answer: "array: channels",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Channels::new(Topic::Shard), session, args, reply),
        is_long: |session, _| session.channels_count(Topic::Shard) > PART_ARGUMENTS,
        begin: || Box::new(Channels::new(Topic::Shard)),
    },
};

const SHARDNUMSUB: CommandSpec = CommandSpec {
    name: "PUBSUB SHARDNUMSUB",
    syntax: "[shardchannel [shardchannel ...]]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels named",
    since: "7.0.0",
    brief: "Counts the subscribers of each shard channel.",
    answer: "array: each channel and its subscribers",
    run: Run::Parts {
        at_once: |session, args, reply| all_parts(Counting::new(Topic::Shard), session, args, reply),
        is_long: has_many_arguments,
        begin: || Box::new(Counting::new(Topic::Shard)),
    },
};

const PUBSUB_HELP: CommandSpec = help_command("PUBSUB HELP", Group::PubSub, "6.2.0", HELP_FLAGS);

/// Channels, collected and replied in parts.
struct Channels {
    topic: Topic,
    /// `None`: all are collected.
    part: Option<usize>,
    found: VecDeque<Vec<u8>>,
}

impl Channels {
    fn new(topic: Topic) -> Self {
        Self { topic, part: Some(0), found: VecDeque::new() }
    }
}

impl Parts for Channels {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        if args.len() > 3 {
            return Err(wrong_count(args));
        }
        if let Some(part) = self.part {
            let pattern = args.from(2).iter().next();
            pattern.map_or(Ok(b"".as_slice()), parse::pattern)?;
            self.part = match session.channels(self.topic, pattern, part) {
                Some(found) => {
                    self.found.extend(found);
                    Some(part + 1)
                }
                None => {
                    reply.array(self.found.len());
                    None
                }
            };
            return Ok(More::Follows);
        }
        let count = self.found.len().min(CHANNELS_MAX);
        self.found.drain(..count).for_each(|channel| reply.bulk(&channel));
        Ok(if self.found.is_empty() { More::Done } else { More::Follows })
    }
}

/// Channels replied per part.
const CHANNELS_MAX: usize = 1_000;

/// A count of subscribers per channel, in parts.
struct Counting {
    topic: Topic,
    next: usize,
}

impl Counting {
    fn new(topic: Topic) -> Self {
        Self { topic, next: 2 }
    }
}

impl Parts for Counting {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        if self.next == 2 {
            reply.array(2 * (args.len() - 2));
        }
        let end = args.len().min(self.next + PART_ARGUMENTS);
        for at in self.next..end {
            reply.bulk(args.get(at));
            reply.int(session.subscribers_count(self.topic, args.get(at)) as i64);
        }
        self.next = end;
        Ok(if end < args.len() { More::Follows } else { More::Done })
    }
}
