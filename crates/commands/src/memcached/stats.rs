//! MC.STATS: figures, in the lines that memcached's clients read.

use crate::prelude::*;
use crate::session::Session;

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
    let topic = if args.len() > 1 { args.get(1) } else { b"" };
    match topic {
        b"reset" => {
            session.reset_statistics();
            reply.simple("RESET");
            return Ok(());
        }
        b"detail" => return Err(Failure::text("CLIENT_ERROR stats detail is not offered")),
        b"cachedump" => return Err(Failure::text("CLIENT_ERROR stats cachedump not allowed")),
        _ => {}
    }
    let facts = std::str::from_utf8(topic).ok().and_then(|topic| session.memcached_facts(topic));
    let facts = facts.ok_or(Failure::text("ERROR"))?;
    reply.array(facts.len() + 1);
    facts.iter().for_each(|(name, value)| reply.simple(&format!("STAT {name} {value}")));
    reply.simple("END");
    Ok(())
}
