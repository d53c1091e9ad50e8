//! MC.WATCH: shows a connection the requests of memcached clients.

use crate::prelude::*;
use crate::session::{ItemEvent, Session};

pub(crate) const COMMANDS: &[CommandSpec] = &[WATCH];

const WATCH: CommandSpec = CommandSpec {
    name: "MC.WATCH",
    syntax: "[FETCHERS | MUTATIONS | EVICTIONS ...]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::Admin, Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Memcached,
    cost: "O(1), and for each line that is shown O(n), n its bytes",
    since: "bobbin 0.1.0",
    brief: "Streams what clients ask for items: memcached's watch.",
    answer: "simple: OK; then a line for each event: ts, gid, type, key, status and more",
    run: Run::Session(watch),
};

fn watch(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut events = Vec::new();
    for topic in args.from(1).iter() {
        events.push(match topic.to_ascii_lowercase().as_slice() {
            b"fetchers" => ItemEvent::Fetch,
            b"mutations" => ItemEvent::Mutation,
            b"evictions" => ItemEvent::Eviction,
            _ => return Err(Failure::text("ERROR")),
        });
    }
    if events.is_empty() {
        events.push(ItemEvent::Fetch);
    }
    session.watch_items(&events).map_err(Failure::text)?;
    reply.ok();
    Ok(())
}
