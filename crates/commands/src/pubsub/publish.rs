//! PUBLISH SPUBLISH: send a message to subscribers.

use crate::prelude::*;
use crate::session::{Session, Topic};
use crate::spec::Parts;
use std::sync::Arc;
use wire::More;

pub(crate) const COMMANDS: &[CommandSpec] = &[PUBLISH, SPUBLISH];

const PUBLISH: CommandSpec = CommandSpec {
    name: "PUBLISH",
    syntax: "channel message",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale, Flag::Fast, Flag::Publishes],
    facts: &[],
    group: Group::PubSub,
    cost: "O(n), n the patterns that are subscribed to, whoever receives it",
    since: "2.0.0",
    brief: "Sends a message to the subscribers of a channel.",
    answer: "int: subscriptions that it reaches",
    run: Run::Parts {
        at_once: |session, args, reply| {
            reply.int(session.publish(Topic::Channel, args.get(1), args.get(2)) as i64);
            Ok(())
        },
        is_long: |session, args| session.is_long_way(args.get(1)),
        begin: || Box::new(Publishing::default()),
    },
};

/// A message being sent to pattern subscribers in batches.
#[derive(Default)]
struct Publishing {
    after: Option<Arc<[u8]>>,
    reached: usize,
}

impl Parts for Publishing {
    fn next(&mut self, session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Result<More, Failure> {
        let (reached, last) = session.publish_part(args.get(1), args.get(2), self.after.as_ref());
        self.reached += reached;
        self.after = last;
        if self.after.is_some() {
            return Ok(More::Follows);
        }
        reply.int(self.reached as i64);
        Ok(More::Done)
    }
}

const SPUBLISH: CommandSpec = CommandSpec {
    name: "SPUBLISH",
    syntax: "shardchannel message",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "not_key")],
    access: Access::None,
    flags: &[Flag::PubSub, Flag::Loading, Flag::Stale, Flag::Fast, Flag::Publishes],
    facts: &[],
    group: Group::PubSub,
    cost: "O(1)",
    since: "7.0.0",
    brief: "Sends a message to the subscribers of a shard channel.",
    answer: "int: subscriptions that it reaches",
    run: Run::Session(|session, args, reply| {
        reply.int(session.publish(Topic::Shard, args.get(1), args.get(2)) as i64);
        Ok(())
    }),
};
