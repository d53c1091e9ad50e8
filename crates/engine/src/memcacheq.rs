//! `stats` of the queue port, and its counters.

use crate::engine::Engine;
use crate::memcached::{add, of_server, total};
use base::primitives::Mutex;
use base::primitives::atomic::AtomicU64;
use base::primitives::atomic::Ordering::Relaxed;
use commands::{Facts, MEMCACHEQ_VERSION};
use std::collections::BTreeMap;

/// Maximum number of queues that one worker counts by name: names that come and go must not make the map grow forever.
/// Beyond, only the totals count.
const NAMES_MAX: usize = 10_000;

/// The number of messages taken, by queue.
type Taken = BTreeMap<Box<[u8]>, u64>;

/// The counters of one worker.
#[derive(Default)]
pub(crate) struct QueueCounters {
    gets: AtomicU64,
    get_hits: AtomicU64,
    sets: AtomicU64,
    set_hits: AtomicU64,
    taken: Mutex<Taken>,
}

impl QueueCounters {
    /// Counts a get, whether it found a message, and whether it took it.
    pub(crate) fn note_get(&self, name: &[u8], is_hit: bool, takes: bool) {
        self.gets.fetch_add(1, Relaxed);
        if is_hit {
            self.get_hits.fetch_add(1, Relaxed);
            if takes {
                self.note(name, 1);
            }
        }
    }

    /// Counts a put message, and whether there was room for it.
    pub(crate) fn note_set(&self, name: &[u8], is_hit: bool) {
        self.sets.fetch_add(1, Relaxed);
        if is_hit {
            self.set_hits.fetch_add(1, Relaxed);
            self.note(name, 0);
        }
    }

    /// Counts the return of a message that was taken.
    pub(crate) fn note_return(&self, name: &[u8]) {
        if let Some(taken) = self.taken.lock().expect("no holder panics").get_mut(name) {
            *taken = taken.saturating_sub(1);
        }
    }

    fn note(&self, name: &[u8], messages: u64) {
        let mut all = self.taken.lock().expect("no holder panics");
        if let Some(taken) = all.get_mut(name) {
            *taken += messages;
        } else if all.len() < NAMES_MAX {
            all.insert(name.into(), messages);
        }
    }

    pub(crate) fn reset(&self) {
        [&self.gets, &self.get_hits, &self.sets, &self.set_hits].into_iter().for_each(|count| count.store(0, Relaxed));
        self.taken.lock().expect("no holder panics").clear();
    }
}

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
    let counted = |count: fn(&QueueCounters) -> &AtomicU64| total(engine, |all| count(&all.queues).load(Relaxed));
    add(&mut facts, "get_cmds", counted(|counts| &counts.gets));
    add(&mut facts, "get_hits", counted(|counts| &counts.get_hits));
    add(&mut facts, "set_cmds", counted(|counts| &counts.sets));
    add(&mut facts, "set_hits", counted(|counts| &counts.set_hits));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_queue_names_is_bounded() {
        let counters = QueueCounters::default();
        (0..NAMES_MAX as u64 + 5).for_each(|name| counters.note_set(&name.to_le_bytes(), true));
        assert_eq!(counters.taken.lock().unwrap().len(), NAMES_MAX);
        assert_eq!(counters.sets.load(Relaxed), NAMES_MAX as u64 + 5);
        let taken = || counters.taken.lock().unwrap()[&0u64.to_le_bytes()[..]];
        counters.note_get(&0u64.to_le_bytes(), true, true);
        assert_eq!(taken(), 1);
        counters.note_return(&0u64.to_le_bytes());
        counters.note_return(b"unknown");
        assert_eq!(taken(), 0);
        counters.reset();
        assert!(counters.taken.lock().unwrap().is_empty());
    }
}
