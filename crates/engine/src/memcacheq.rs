//! What `stats` of the queue door tells, and what is counted for it.

use crate::engine::Engine;
use crate::memcached::{add, of_server, total};
use commands::{Facts, MEMCACHEQ_VERSION};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Names of queues of which one worker keeps counts, at most: names that come and go must not grow it for ever. Beyond, the
/// sums alone count.
const NAMES_MAX: usize = 10_000;

/// Of each queue, messages that were put, and taken.
type ByName = BTreeMap<Box<[u8]>, (u64, u64)>;

/// What one worker counts.
#[derive(Default)]
pub(crate) struct QueueCounters {
    gets: AtomicU64,
    get_hits: AtomicU64,
    sets: AtomicU64,
    set_hits: AtomicU64,
    by_name: Mutex<ByName>,
}

impl QueueCounters {
    /// Counts a look, whether something was found, and whether it was taken.
    pub(crate) fn note_get(&self, name: &[u8], is_hit: bool, takes: bool) {
        self.gets.fetch_add(1, Relaxed);
        if is_hit {
            self.get_hits.fetch_add(1, Relaxed);
            if takes {
                self.note(name, (0, 1));
            }
        }
    }

    /// Counts a message, and whether there was room for it.
    pub(crate) fn note_set(&self, name: &[u8], is_hit: bool) {
        self.sets.fetch_add(1, Relaxed);
        if is_hit {
            self.set_hits.fetch_add(1, Relaxed);
            self.note(name, (1, 0));
        }
    }

    /// Counts that a message that was taken has come back.
    pub(crate) fn note_return(&self, name: &[u8]) {
        if let Some((_, gets)) = self.by_name.lock().expect("no holder panics").get_mut(name) {
            *gets = gets.saturating_sub(1);
        }
    }

    fn note(&self, name: &[u8], (sets, gets): (u64, u64)) {
        let mut by_name = self.by_name.lock().expect("no holder panics");
        if let Some(counts) = by_name.get_mut(name) {
            *counts = (counts.0 + sets, counts.1 + gets);
        } else if by_name.len() < NAMES_MAX {
            by_name.insert(name.into(), (sets, gets));
        }
    }

    pub(crate) fn reset(&self) {
        [&self.gets, &self.get_hits, &self.sets, &self.set_hits].into_iter().for_each(|count| count.store(0, Relaxed));
        self.by_name.lock().expect("no holder panics").clear();
    }
}

/// Counts no longer what was put into a queue, and taken, that is gone.
pub(crate) fn forget(engine: &Engine, name: &[u8]) {
    for counters in &engine.counters {
        counters.queues.by_name.lock().expect("no holder panics").remove(name);
    }
}

/// Names and values of a topic; `None` if there is no such topic.
pub(crate) fn facts(engine: &Engine, topic: &str) -> Option<Facts> {
    match topic {
        "" => Some(general(engine)),
        "queue" => Some(queues(engine)),
        _ => None,
    }
}

fn general(engine: &Engine) -> Facts {
    let mut facts = Facts::new();
    of_server(engine, &mut facts, MEMCACHEQ_VERSION);
    let counted = |count: fn(&QueueCounters) -> &AtomicU64| total(engine, |all| count(&all.queues).load(Relaxed));
    add(&mut facts, "get_cmds", counted(|counts| &counts.gets));
    add(&mut facts, "get_hits", counted(|counts| &counts.get_hits));
    add(&mut facts, "set_cmds", counted(|counts| &counts.sets));
    add(&mut facts, "set_hits", counted(|counts| &counts.set_hits));
    facts
}

/// Of each queue that the door has met since the start: how many messages were put, and taken for good or for now. The
/// difference is how many are left.
fn queues(engine: &Engine) -> Facts {
    let mut all = ByName::new();
    for counters in &engine.counters {
        for (name, (sets, gets)) in &*counters.queues.by_name.lock().expect("no holder panics") {
            let counts = all.entry(name.clone()).or_default();
            *counts = (counts.0 + sets, counts.1 + gets);
        }
    }
    all.into_iter().map(|(name, (sets, gets))| (name.into_vec(), format!("{sets}/{gets}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_come_and_go_do_not_grow_it_for_ever() {
        let counters = QueueCounters::default();
        (0..NAMES_MAX as u64 + 5).for_each(|name| counters.note_set(&name.to_le_bytes(), true));
        assert_eq!(counters.by_name.lock().unwrap().len(), NAMES_MAX);
        assert_eq!(counters.sets.load(Relaxed), NAMES_MAX as u64 + 5);
        counters.note_get(&0u64.to_le_bytes(), true, true);
        assert_eq!(counters.by_name.lock().unwrap()[&0u64.to_le_bytes()[..]], (1, 1));
        counters.note_return(&0u64.to_le_bytes());
        counters.note_return(b"unknown");
        assert_eq!(counters.by_name.lock().unwrap()[&0u64.to_le_bytes()[..]], (1, 0));
        counters.reset();
        assert!(counters.by_name.lock().unwrap().is_empty());
    }
}
