//! Elements missing from a queue, and calls without a reply that may have taken them.
//!
//! Each such call took at most one element, and before its server was dead:
//!
//! ```text
//!     gone: 7 from q1, 8 from q1 (seen in q2 later), 9 from q2
//!     calls without a reply: LPOP q2, LMOVE q1 q2, LMOVE q1 q2
//!     explained: a move took 8;  the pop took 9;  7 needs a move and a pop, or a pop of q1: LOST
//! ```
//!
//! Calls of the same type that died together form a **class** with a count. A search through the ways that explain each
//! element, which memoizes failed counts, is exact and short: only calls in flight at a crash take part.

use crate::anomaly::{Anomaly, Kind};
use crate::event::{Event, Key, Value};
use crate::queues::{Queues, Stay};
use std::collections::{BTreeMap, HashSet};

/// Similar calls without a reply.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    from: Key,
    to: Option<Key>,
    until_ns: u64,
}

/// An element that left a queue in an unknown way.
struct Missing {
    queue: Key,
    value: Value,
    /// Alternative sets of classes; one call of each class in a set explains it.
    ways: Vec<Vec<usize>>,
}

struct Search<'a> {
    queues: &'a Queues,
    events: &'a [Event],
    classes: Vec<Class>,
    counts: Vec<usize>,
    /// For each queue, the time before which everything in it is gone.
    passed_ns: BTreeMap<Key, u64>,
}

pub(crate) fn check(queues: &Queues, events: &[Event]) -> Result<(), Anomaly> {
    let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
    for (&from, takers) in &queues.takers {
        for &(at, to) in takers {
            *counts.entry(Class { from, to, until_ns: events[at].done_ns() }).or_default() += 1;
        }
    }
    let (classes, counts) = counts.into_iter().unzip();
    let search = Search { queues, events, classes, counts, passed_ns: passed(queues, events) };
    let mut missing = search.missing();
    if search.explains(&missing) {
        return Ok(());
    }
    // The smallest set that cannot be explained together.
    let mut at = 0;
    while at < missing.len() {
        let one = missing.remove(at);
        if search.explains(&missing) {
            missing.insert(at, one);
            at += 1;
        }
    }
    Err(search.anomaly(&missing))
}

fn passed(queues: &Queues, events: &[Event]) -> BTreeMap<Key, u64> {
    let empty = queues.empty.iter().flat_map(|(&queue, pops)| pops.iter().map(move |&pop| (queue, pop)));
    let left = queues.stays.iter().filter(|(_, stay)| stay.exit.is_some());
    let entries = left.filter_map(|(&(queue, _), stay)| Some((queue, stay.entry?)));
    let mut passed: BTreeMap<Key, u64> = BTreeMap::new();
    for (queue, at) in empty.chain(entries) {
        let passed_ns = passed.entry(queue).or_default();
        *passed_ns = events[at].called_ns.max(*passed_ns);
    }
    passed
}

impl Search<'_> {
    /// Returns elements never returned by a call that are certainly gone, or came to another queue.
    fn missing(&self) -> Vec<Missing> {
        let stays = self.queues.stays.iter().filter(|(_, stay)| stay.exit.is_none());
        stays.filter_map(|(&(queue, value), stay)| self.missing_from(queue, value, stay)).collect()
    }

    fn missing_from(&self, queue: Key, value: Value, stay: &Stay) -> Option<Missing> {
        let arrived = self.arrived(queue, value);
        let span = self.queues.span(queue, stay, value, self.events);
        let ways = match (arrived, span) {
            (Some(to), _) => self.usable(queue, 0, |class| class.to == Some(to)).map(|class| vec![class]).collect(),
            (None, Some(span)) if self.is_gone(queue, span.in_ns) => self.ways(queue, span.begun_ns, 4),
            _ => return None,
        };
        Some(Missing { queue, value, ways })
    }

    /// Returns the queue to which a move without a reply has brought it, since it was seen there.
    fn arrived(&self, from: Key, value: Value) -> Option<Key> {
        let takers = self.queues.takers.get(&from)?;
        takers
            .iter()
            .filter_map(|(_, to)| *to)
            .find(|to| self.queues.stays.get(&(*to, value)).is_some_and(|stay| stay.entry.is_none()))
    }

    /// Returns true if an element that was in the queue at the time is gone: it was empty later, or a later one has
    /// left.
    fn is_gone(&self, queue: Key, in_ns: u64) -> bool {
        self.passed_ns.get(&queue).is_some_and(|&passed_ns| in_ns < passed_ns)
    }

    fn usable(&self, from: Key, since_ns: u64, wanted: impl Fn(&Class) -> bool) -> impl Iterator<Item = usize> {
        let fits = move |class: &Class| class.from == from && class.until_ns >= since_ns && wanted(class);
        self.classes.iter().enumerate().filter(move |(_, class)| fits(class)).map(|(at, _)| at)
    }

    /// Returns how an element can be gone from a queue without having been seen elsewhere.
    fn ways(&self, queue: Key, since_ns: u64, moves_max: usize) -> Vec<Vec<usize>> {
        let mut ways = Vec::new();
        for class in self.usable(queue, since_ns, |_| true) {
            let Class { to, until_ns, .. } = self.classes[class];
            match to {
                Some(to) if self.is_gone(to, until_ns) => {
                    let further = if moves_max > 0 { self.ways(to, since_ns, moves_max - 1) } else { Vec::new() };
                    ways.extend(further.into_iter().map(|mut way| {
                        way.push(class);
                        way
                    }));
                }
                // Taken, or moved to where it may still be.
                _ => ways.push(vec![class]),
            }
        }
        ways
    }

    fn explains(&self, missing: &[Missing]) -> bool {
        self.search(missing, &mut self.counts.clone(), &mut HashSet::new())
    }

    fn search(&self, missing: &[Missing], counts: &mut Vec<usize>, failed: &mut HashSet<(usize, Vec<usize>)>) -> bool {
        let Some((first, rest)) = missing.split_first() else { return true };
        if failed.contains(&(missing.len(), counts.clone())) {
            return false;
        }
        for way in &first.ways {
            if way.iter().any(|&class| counts[class] == 0) {
                continue;
            }
            way.iter().for_each(|&class| counts[class] -= 1);
            let is_found = self.search(rest, counts, failed);
            way.iter().for_each(|&class| counts[class] += 1);
            if is_found {
                return true;
            }
        }
        failed.insert((missing.len(), counts.clone()));
        false
    }

    fn anomaly(&self, missing: &[Missing]) -> Anomaly {
        let names: Vec<String> = missing.iter().map(|one| format!("{} from q{}", one.value, one.queue)).collect();
        let classes: HashSet<usize> = missing.iter().flat_map(|one| one.ways.iter().flatten().copied()).collect();
        let is_used = |(from, (at, to)): &(Key, (usize, Option<Key>))| {
            let class = Class { from: *from, to: *to, until_ns: self.events[*at].done_ns() };
            classes.iter().any(|&at| self.classes[at] == class)
        };
        let takers =
            self.queues.takers.iter().flat_map(|(&from, takers)| takers.iter().map(move |taker| (from, *taker)));
        let takers: Vec<usize> = takers.filter(is_used).map(|(_, (at, _))| at).collect();
        let mut shown = Vec::new();
        for one in missing {
            shown.extend(self.queues.stays[&(one.queue, one.value)].entry);
            let last = self.queues.empty.get(&one.queue).into_iter().flatten();
            shown.extend(last.max_by_key(|&&at| self.events[at].called_ns));
        }
        let why =
            format!("gone: {}; calls without a reply that may have taken them: {}", names.join(", "), takers.len());
        shown.extend(takers);
        shown.sort_by_key(|&at| self.events[at].called_ns);
        Anomaly::new(Kind::LostElement, why, self.events, &shown)
    }
}
