//! MC.STATS: figures in memcached's format.

use super::write_line;
use crate::prelude::*;
use crate::session::{Facts, PrefixCounts, Session};

pub(crate) const COMMANDS: &[CommandSpec] = &[STATS];

const STATS: CommandSpec = CommandSpec {
    name: "MC.STATS",
    syntax: "[topic ...]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Memcached,
    cost: "O(n), n the keys' shards",
    since: "bobbin 0.1.0",
    brief: "Returns statistics: memcached's stats.",
    answer: "array: lines `STAT name value`, then END; simple: RESET",
    run: Run::Session(stats),
};

fn stats(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    match topic(args) {
        b"detail" => detail(session, if args.len() > 2 { args.get(2) } else { b"" }, reply),
        b"reset" => {
            session.reset_item_statistics();
            reply.simple("RESET");
            Ok(())
        }
        _ => write_stats(args, reply, |topic| session.memcached_facts(topic)),
    }
}

/// Turns counting by prefix on or off, or returns the counts.
fn detail(session: &mut dyn Session, what: &[u8], reply: &mut dyn Reply) -> Outcome {
    match what {
        b"on" | b"off" => {
            session.count_prefixes(what == b"on");
            reply.ok();
        }
        b"dump" => {
            let counts = session.prefix_counts();
            reply.array(counts.len() + 1);
            for (prefix, PrefixCounts { gets, hits, sets, deletes }) in counts {
                let counts = format!(" get {gets} hit {hits} set {sets} del {deletes}");
                write_line(reply, &[b"PREFIX ", &prefix, counts.as_bytes()]);
            }
            reply.simple("END");
        }
        _ => return Err(Failure::text("CLIENT_ERROR usage: stats detail on|off|dump")),
    }
    Ok(())
}

/// Replies with the figures of the requested topic.
pub(crate) fn write_stats(args: &Args, reply: &mut dyn Reply, facts: impl FnOnce(&str) -> Option<Facts>) -> Outcome {
    let facts = std::str::from_utf8(topic(args)).ok().and_then(facts);
    let facts = facts.ok_or(Failure::text("ERROR"))?;
    reply.array(facts.len() + 1);
    facts.iter().for_each(|(name, value)| write_line(reply, &[b"STAT ", name, b" ", value.as_bytes()]));
    reply.simple("END");
    Ok(())
}

pub(crate) fn topic<'a>(args: &'a Args<'_>) -> &'a [u8] {
    if args.len() > 1 { args.get(1) } else { b"" }
}
