//! `stats` of the queue port, and its counters.

use crate::counters::QueueCounters;
use crate::engine::Engine;
use crate::memcached::{add, of_server, total};
use base::primitives::atomic::Ordering::Relaxed;
use commands::{Facts, MEMCACHEQ_VERSION};
use std::collections::BTreeMap;

/// Forgets a queue that is gone. Returns true if it was known: one that was emptied since the start is.
pub(crate) fn forget(engine: &Engine, name: &[u8]) -> bool {
    let all = engine.counters.iter().map(|counters| &counters.queues.taken);
    all.filter(|taken| taken.lock().expect("no holder panics").remove(name).is_some()).count() > 0
}

/// Returns the names and values of a topic; `None` if there is no such topic.
pub(crate) fn facts(engine: &Engine, topic: &str) -> Option<Facts> {
    match topic {
        "" => Some(general(engine)),
        _ => None,
    }
}

fn general(engine: &Engine) -> Facts {
    let mut facts = Facts::new();
    of_server(engine, &mut facts, MEMCACHEQ_VERSION);
    let counted = |count: fn(&QueueCounters) -> u64| total(engine, |all| count(&all.queues));
    add(&mut facts, "get_cmds", counted(|counts| counts.gets.load(Relaxed)));
    add(&mut facts, "get_hits", counted(|counts| counts.get_hits.load(Relaxed)));
    add(&mut facts, "set_cmds", counted(|counts| counts.sets.load(Relaxed)));
    add(&mut facts, "set_hits", counted(|counts| counts.set_hits.load(Relaxed)));
    facts
}

/// Returns for each queue, by name, how many messages were put, and how many taken for good or for now, as this port
/// counts them; those with `lengths` exist now. The difference is the number left. Queues emptied since the start are
/// included.
pub(crate) fn queues(engine: &Engine, lengths: Vec<(Box<[u8]>, u64)>) -> BTreeMap<Box<[u8]>, (u64, u64)> {
    let mut all: BTreeMap<_, (u64, u64)> = lengths.into_iter().map(|(name, length)| (name, (length, 0))).collect();
    for counters in &engine.counters {
        for (name, taken) in &*counters.queues.taken.lock().expect("no holder panics") {
            let counts = all.entry(name.clone()).or_default();
            *counts = (counts.0 + taken, counts.1 + taken);
        }
    }
    all
}
