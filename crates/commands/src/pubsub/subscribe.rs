//! SUBSCRIBE UNSUBSCRIBE PSUBSCRIBE PUNSUBSCRIBE SSUBSCRIBE SUNSUBSCRIBE: subscribe and unsubscribe.
//!
//! Each name is answered by its own message, in RESP3 a push: the action, the name, and the connection's subscription
//! count. Channels and patterns are counted together, shard channels separately.

use crate::prelude::*;
use crate::session::{Session, Topic};
use crate::spec::{PART_ARGUMENTS, Parts, all_parts};
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] =
    &[SUBSCRIBE, UNSUBSCRIBE, PSUBSCRIBE, PUNSUBSCRIBE, SSUBSCRIBE, SUNSUBSCRIBE];

/// Defines a command that processes names in parts.
macro_rules! in_parts {
    ($parts:ident, $topic:expr, $word:expr) => {
        Run::Parts {
            at_once: |session, args, reply| all_parts($parts::new($topic, $word), session, args, reply),
            is_long: $parts::is_long,
            begin: || Box::new($parts::new($topic, $word)),
        }
    };
}
const SUBSCRIBE: CommandSpec = CommandSpec {
    name: "SUBSCRIBE",
    syntax: "channel [channel ...]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels",
    since: "2.0.0",
    brief: "Subscribes to channels.",
    answer: "push: subscribe, the channel and the subscriptions, for each channel",
    run: in_parts!(Subscribing, Topic::Channel, "subscribe"),
};

const UNSUBSCRIBE: CommandSpec = CommandSpec {
    name: "UNSUBSCRIBE",
    syntax: "[channel [channel ...]]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels",
    since: "2.0.0",
    brief: "Unsubscribes from channels, from all if none is named.",
    answer: "push: unsubscribe, the channel or null and the subscriptions, for each channel",
    run: in_parts!(Unsubscribing, Topic::Channel, "unsubscribe"),
};

const PSUBSCRIBE: CommandSpec = CommandSpec {
    name: "PSUBSCRIBE",
    syntax: "pattern [pattern ...]",
    arity: Arity::AtLeast(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the patterns",
    since: "2.0.0",
    brief: "Subscribes to channels that match patterns.",
    answer: "push: psubscribe, the pattern and the subscriptions, for each pattern",
    run: in_parts!(Subscribing, Topic::Pattern, "psubscribe"),
};

const PUNSUBSCRIBE: CommandSpec = CommandSpec {
    name: "PUNSUBSCRIBE",
    syntax: "[pattern [pattern ...]]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the patterns",
    since: "2.0.0",
    brief: "Unsubscribes from patterns, from all if none is named.",
    answer: "push: punsubscribe, the pattern or null and the subscriptions, for each pattern",
    run: in_parts!(Unsubscribing, Topic::Pattern, "punsubscribe"),
};

const SSUBSCRIBE: CommandSpec = CommandSpec {
    name: "SSUBSCRIBE",
    syntax: "shardchannel [shardchannel ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "not_key")],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels",
    since: "7.0.0",
    brief: "Subscribes to shard channels.",
    answer: "push: ssubscribe, the channel and the subscriptions, for each channel",
    run: in_parts!(Subscribing, Topic::Shard, "ssubscribe"),
};

const SUNSUBSCRIBE: CommandSpec = CommandSpec {
    name: "SUNSUBSCRIBE",
    syntax: "[shardchannel [shardchannel ...]]",
    arity: Arity::AtLeast(1),
    keys: &[KeySpec::many(1, -1, 1, "not_key")],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the channels",
    since: "7.0.0",
    brief: "Unsubscribes from shard channels, from all if none is named.",
    answer: "push: sunsubscribe, the channel or null and the subscriptions, for each channel",
    run: in_parts!(Unsubscribing, Topic::Shard, "sunsubscribe"),
};

/// Subscriptions being added one by one.
struct Subscribing {
    topic: Topic,
    word: &'static str,
    /// Patterns before this one have been validated: an invalid one fails before any subscription.
    checked: usize,
    next: usize,
}

impl Subscribing {
    fn new(topic: Topic, word: &'static str) -> Self {
        Self { topic, word, checked: 1, next: 1 }
    }

    fn is_long(_: &dyn Session, args: &Args) -> bool {
        args.len() > PART_ARGUMENTS
    }
}

impl Parts for Subscribing {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        let Self { topic, word, checked, next } = *self;
        if topic == Topic::Pattern && checked < args.len() {
            let end = args.len().min(checked + PART_ARGUMENTS);
            (checked..end).try_for_each(|at| parse::pattern(args.get(at)).map(drop))?;
            self.checked = end;
            return Ok(More::Follows);
        }
        let end = args.len().min(next + PART_ARGUMENTS);
        for at in next..end {
            session.subscribe(topic, args.get(at));
            confirm(reply, word, Some(args.get(at)), session.subscriptions_count(topic));
        }
        self.next = end;
        Ok(if end < args.len() { More::Follows } else { More::Done })
    }
}

/// Subscriptions being removed one by one: those named, or all.
struct Unsubscribing {
    topic: Topic,
    word: &'static str,
    next: usize,
    has_replied: bool,
}

impl Unsubscribing {
    fn new(topic: Topic, word: &'static str) -> Self {
        Self { topic, word, next: 1, has_replied: false }
    }

    fn is_long(session: &dyn Session, args: &Args) -> bool {
        let counts = [Topic::Channel, Topic::Shard].map(|topic| session.subscriptions_count(topic));
        args.len() > PART_ARGUMENTS || (args.len() == 1 && counts.iter().any(|count| *count > PART_ARGUMENTS))
    }
}

impl Parts for Unsubscribing {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        let topic = self.topic;
        if args.len() > 1 {
            let end = args.len().min(self.next + PART_ARGUMENTS);
            for at in self.next..end {
                session.unsubscribe(topic, args.get(at));
                confirm(reply, self.word, Some(args.get(at)), session.subscriptions_count(topic));
            }
            self.next = end;
            return Ok(if end < args.len() { More::Follows } else { More::Done });
        }
        let names = session.subscriptions(topic, PART_ARGUMENTS);
        for name in &names {
            session.unsubscribe(topic, name);
            confirm(reply, self.word, Some(name), session.subscriptions_count(topic));
        }
        self.has_replied |= !names.is_empty();
        if names.len() == PART_ARGUMENTS {
            return Ok(More::Follows);
        }
        if !self.has_replied {
            confirm(reply, self.word, None, session.subscriptions_count(topic));
        }
        Ok(More::Done)
    }
}

fn confirm(reply: &mut dyn Reply, word: &str, name: Option<&[u8]>, count: usize) {
    reply.push(3);
    reply.bulk(word.as_bytes());
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.int(count as i64);
}
