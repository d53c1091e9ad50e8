//! MC.STATS: figures, in the lines that memcached's clients read.

use super::tell_line;
use crate::prelude::*;
use crate::session::{Facts, Session};

pub(crate) const COMMANDS: &[Command] = &[STATS];

const STATS: Command = Command {
    name: "MC.STATS",
    syntax: "[topic ...]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    group: Group::Memcached,
    cost: "O(n), n the keys' shards",
    since: "bobbin 0.1.0",
    brief: "Tells figures: stats of the memcached door.",
    answer: "array: lines `STAT name value`, then END; simple: RESET",
    run: Run::Session(stats),
};

fn stats(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    match topic(args) {
        b"detail" => Err(Failure::text("CLIENT_ERROR stats detail is not offered")),
        b"cachedump" => Err(Failure::text("CLIENT_ERROR stats cachedump not allowed")),
        _ => tell_stats(session, args, reply, |session, topic| session.memcached_facts(topic)),
    }
}

/// Tells the figures of the topic that is asked for, or sets them to 0.
pub(crate) fn tell_stats(
    session: &mut dyn Session,
    args: &Args,
    reply: &mut dyn Reply,
    facts: impl FnOnce(&dyn Session, &str) -> Option<Facts>,
) -> Outcome {
    if topic(args) == b"reset" {
        session.reset_statistics();
        reply.simple("RESET");
        return Ok(());
    }
    let facts = std::str::from_utf8(topic(args)).ok().and_then(|topic| facts(session, topic));
    let facts = facts.ok_or(Failure::text("ERROR"))?;
    reply.array(facts.len() + 1);
    facts.iter().for_each(|(name, value)| tell_line(reply, &[b"STAT ", name, b" ", value.as_bytes()]));
    reply.simple("END");
    Ok(())
}

fn topic<'a>(args: &'a Args<'_>) -> &'a [u8] {
    if args.len() > 1 { args.get(1) } else { b"" }
}
