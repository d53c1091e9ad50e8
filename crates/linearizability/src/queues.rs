//! Queues: each element leaves once, in order, to one place; nothing is lost, and empty means empty.
//!
//! An element's time in one queue is a [`Stay`]; a move ends one and begins another at one instant.
//!
//! ```text
//!     q1   ├─RPUSH─┤■■■■■■■■■├─LMOVE─┤                       ■ it is there for certain
//!     q2                     ├─LMOVE─┤■■■■■■■■├─LPOP─┤
//! ```
//!
//! - Of two elements, the one that arrived first leaves first.
//! - A queue is not empty while something is certainly there.
//! - An atomic look at several queues sees an element in exactly one of those between which it moves.
//! - An element that is gone but was never returned was taken by a call without a reply: [`crate::unknown`].
//!
//! An element enters each queue at most once.

use crate::anomaly::{Anomaly, Kind};
use crate::event::{End, Event, Key, Step, Value};
use crate::overtaking::{self, Span};
use crate::unknown;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The known facts about an element's time in a queue.
#[derive(Default)]
pub(crate) struct Stay {
    /// The event that put it there; `None`: a move without a reply.
    pub(crate) entry: Option<usize>,
    /// True if it certainly arrived.
    is_certain: bool,
    /// The event that took it, if known.
    pub(crate) exit: Option<usize>,
    /// The events that saw it there.
    pub(crate) looks: Vec<usize>,
}

/// The known facts about all queues.
#[derive(Default)]
pub(crate) struct Queues {
    pub(crate) stays: BTreeMap<(Key, Value), Stay>,
    /// Answered events that found a queue empty.
    pub(crate) empty: BTreeMap<Key, Vec<usize>>,
    /// Events without a reply that take from a queue, and their targets.
    pub(crate) takers: BTreeMap<Key, Vec<(usize, Option<Key>)>>,
    /// Answered events that look, and what they saw.
    looks: Vec<(usize, HashMap<Key, Vec<Value>>)>,
}

pub(crate) fn check(events: &[Event], happened: &[bool]) -> Result<(), Anomaly> {
    let queues = Queues::collect(events, happened)?;
    for (&(queue, value), stay) in &queues.stays {
        queues.check_stay(queue, value, stay, events)?;
    }
    for (look, seen) in &queues.looks {
        check_places(*look, seen, events)?;
    }
    queues.check_looks(events)?;
    let names: HashSet<Key> = queues.stays.keys().map(|(queue, _)| *queue).collect();
    for &queue in &names {
        queues.check_order(queue, events)?;
        queues.check_empty(queue, events)?;
    }
    unknown::check(&queues, events)
}

impl Queues {
    fn collect(events: &[Event], happened: &[bool]) -> Result<Self, Anomaly> {
        let mut queues = Self::default();
        for (at, event) in events.iter().enumerate() {
            let mut seen: HashMap<Key, Vec<Value>> = HashMap::new();
            for step in &event.steps {
                match (step, event.end) {
                    (Step::Push { queue, value }, _) => queues.enter(*queue, *value, at, happened[at]),
                    (Step::Pop { queue, .. }, End::Lost(_)) => {
                        queues.takers.entry(*queue).or_default().push((at, None));
                    }
                    (Step::Move { from, to, .. }, End::Lost(_)) => {
                        queues.takers.entry(*from).or_default().push((at, Some(*to)));
                    }
                    (
                        Step::Pop { queue, found: None } | Step::Move { from: queue, found: None, .. },
                        End::Answered(_),
                    ) => {
                        queues.empty.entry(*queue).or_default().push(at);
                    }
                    (Step::Pop { queue, found: Some(value) }, End::Answered(_)) => {
                        queues.leave(*queue, *value, at, events)?;
                    }
                    (Step::Move { from, to, found: Some(value) }, End::Answered(_)) => {
                        queues.leave(*from, *value, at, events)?;
                        queues.enter(*to, *value, at, true);
                    }
                    (Step::Look { queue, found }, End::Answered(_)) => {
                        for value in found {
                            queues.stay(*queue, *value).looks.push(at);
                        }
                        seen.insert(*queue, found.clone());
                    }
                    _ => {}
                }
            }
            if !seen.is_empty() {
                queues.looks.push((at, seen));
            }
        }
        Ok(queues)
    }

    fn stay(&mut self, queue: Key, value: Value) -> &mut Stay {
        self.stays.entry((queue, value)).or_default()
    }

    fn enter(&mut self, queue: Key, value: Value, at: usize, is_certain: bool) {
        let stay = self.stay(queue, value);
        stay.is_certain |= is_certain;
        let entry = stay.entry.replace(at);
        assert!(entry.is_none(), "an element enters a queue once: {value} q{queue}");
    }

    fn leave(&mut self, queue: Key, value: Value, at: usize, events: &[Event]) -> Result<(), Anomaly> {
        match self.stay(queue, value).exit.replace(at) {
            None => Ok(()),
            Some(other) => {
                let why = format!("{value} left q{queue} twice");
                let shown: Vec<usize> = self.stays[&(queue, value)].entry.into_iter().chain([other, at]).collect();
                Err(Anomaly::new(Kind::PoppedTwice, why, events, &shown))
            }
        }
    }

    /// Checks that it was there only after it arrived and before it left.
    fn check_stay(&self, queue: Key, value: Value, stay: &Stay, events: &[Event]) -> Result<(), Anomaly> {
        let witnesses: Vec<usize> = stay.exit.iter().chain(&stay.looks).copied().collect();
        let Some(&first) = witnesses.iter().min_by_key(|&&at| events[at].done_ns()) else { return Ok(()) };
        match stay.entry {
            None => self.check_arrival(queue, value, first, events)?,
            Some(entry) if events[entry].end == End::Refused => {
                let why = format!("{value} was refused, and yet was in q{queue}");
                return Err(Anomaly::new(Kind::Aborted, why, events, &[entry, first]));
            }
            Some(entry) if events[first].precedes(&events[entry]) => {
                let why = format!("{value} was in q{queue} before it was put there");
                return Err(Anomaly::new(Kind::Phantom, why, events, &[entry, first]));
            }
            Some(_) => {}
        }
        let Some(exit) = stay.exit else { return Ok(()) };
        match stay.looks.iter().find(|&&look| events[exit].precedes(&events[look])) {
            None => Ok(()),
            Some(&look) => {
                let why = format!("{value} had left q{queue} and was in it again");
                Err(Anomaly::new(Kind::Returned, why, events, &[exit, look]))
            }
        }
    }

    /// Checks an element no known event put into a queue: it came by a move without a reply, and from the source queue.
    fn check_arrival(&self, queue: Key, value: Value, seen: usize, events: &[Event]) -> Result<(), Anomaly> {
        let came = |to: &(usize, Option<Key>)| to.1 == Some(queue) && !events[seen].precedes(&events[to.0]);
        let from = self.takers.iter().filter(|(_, takers)| takers.iter().any(came));
        let before: Vec<&Stay> = from.filter_map(|(from, _)| self.stays.get(&(*from, value))).collect();
        if before.is_empty() {
            return Err(Anomaly::new(Kind::Phantom, format!("nobody put {value} in q{queue}"), events, &[seen]));
        }
        let exits: Option<Vec<usize>> = before.iter().map(|stay| stay.exit).collect();
        match exits {
            None => Ok(()),
            Some(mut shown) => {
                shown.push(seen);
                let why = format!("{value} had left another way and was in q{queue}");
                Err(Anomaly::new(Kind::PoppedTwice, why, events, &shown))
            }
        }
    }

    /// Returns when it was there, as far as known; `None` if it may never have been. One never returned may be gone as
    /// soon as a call without a reply could have taken it.
    pub(crate) fn span(&self, queue: Key, stay: &Stay, value: Value, events: &[Event]) -> Option<Span> {
        let (begun_ns, in_ns) = match stay.entry {
            Some(entry) if stay.is_certain => (events[entry].called_ns, events[entry].done_ns()),
            Some(_) => return None,
            None => self.moved_unknown(queue, value, events)?,
        };
        let takers = self.takers.get(&queue).into_iter().flatten();
        let takers = takers.map(|(at, _)| &events[*at]).filter(|taker| taker.done_ns() >= begun_ns);
        let (last_ns, out_ns) = match stay.exit {
            Some(exit) => (events[exit].called_ns, events[exit].done_ns()),
            None => (takers.map(|taker| taker.called_ns).min().unwrap_or(u64::MAX), u64::MAX),
        };
        Some(Span { begun_ns, in_ns, last_ns, out_ns })
    }

    /// Returns when a move without a reply may have brought an element.
    fn moved_unknown(&self, to: Key, value: Value, events: &[Event]) -> Option<(u64, u64)> {
        let was_there = |from: &Key| self.stays.get(&(*from, value)).is_some_and(|stay| stay.exit.is_none());
        let from = self.takers.iter().filter(|(from, _)| was_there(from));
        let moves = from.flat_map(|(_, takers)| takers).filter(|(_, target)| *target == Some(to));
        let moves: Vec<&Event> = moves.map(|(at, _)| &events[*at]).collect();
        let begun_ns = moves.iter().map(|event| event.called_ns).min()?;
        Some((begun_ns, moves.iter().map(|event| event.done_ns()).max()?))
    }

    fn spans(&self, queue: Key, events: &[Event]) -> Vec<(&Stay, Value, Span)> {
        let stays = self.stays.range((queue, Value::MIN)..=(queue, Value::MAX));
        stays.filter_map(|(&(_, value), stay)| Some((stay, value, self.span(queue, stay, value, events)?))).collect()
    }

    fn check_order(&self, queue: Key, events: &[Event]) -> Result<(), Anomaly> {
        let (stays, spans): (Vec<(&Stay, Value)>, Vec<Span>) =
            self.spans(queue, events).into_iter().map(|(stay, value, span)| ((stay, value), span)).unzip();
        let Some((first, second)) = overtaking::find(&spans) else { return Ok(()) };
        let [(first, ahead), (second, behind)] = [stays[first], stays[second]];
        let shown = [first.entry, second.entry, second.exit, first.exit];
        let shown: Vec<usize> = shown.into_iter().flatten().collect();
        let why = format!("{behind} left q{queue} although {ahead} stood ahead of it");
        Err(Anomaly::new(Kind::Overtaken, why, events, &shown))
    }

    /// Checks that each event that found the queue empty has an instant at which nothing was certainly in it.
    fn check_empty(&self, queue: Key, events: &[Event]) -> Result<(), Anomaly> {
        let Some(empty) = self.empty.get(&queue) else { return Ok(()) };
        let mut spans = self.spans(queue, events);
        spans.retain(|(_, _, span)| span.in_ns < span.last_ns);
        spans.sort_by_key(|(_, _, span)| span.in_ns);
        // For each span, the start of the run of overlapping spans that it ends.
        let mut rows: Vec<(u64, u64, usize)> = Vec::new();
        for (at, (_, _, span)) in spans.iter().enumerate() {
            match rows.last_mut().filter(|row| span.in_ns < row.1) {
                Some(row) => row.1 = row.1.max(span.last_ns),
                None => rows.push((span.in_ns, span.last_ns, at)),
            }
        }
        for &pop in empty {
            let event = &events[pop];
            let before = rows.partition_point(|row| row.0 < event.called_ns);
            let Some(row) = before.checked_sub(1).map(|at| rows[at]).filter(|row| event.done_ns() < row.1) else {
                continue;
            };
            let cover = cover(&spans[row.2..], event);
            let is_lost = cover.len() == 1 && cover[0].0.exit.is_none();
            let kind = if is_lost { Kind::LostElement } else { Kind::FalselyEmpty };
            let values: Vec<String> = cover.iter().map(|(_, value, _)| value.to_string()).collect();
            let why = format!("q{queue} was found empty while it held {}", values.join(", then "));
            let shown = cover.iter().flat_map(|(stay, ..)| stay.entry.into_iter().chain(stay.exit)).chain([pop]);
            return Err(Anomaly::new(kind, why, events, &shown.collect::<Vec<_>>()));
        }
        Ok(())
    }

    /// Checks that a look at several queues sees each element that is in one of them throughout.
    fn check_looks(&self, events: &[Event]) -> Result<(), Anomaly> {
        let mut groups: HashMap<Vec<Key>, Vec<usize>> = HashMap::new();
        for (at, (_, seen)) in self.looks.iter().enumerate() {
            let mut queues: Vec<Key> = seen.keys().copied().collect();
            queues.sort_unstable();
            groups.entry(queues).or_default().push(at);
        }
        for (queues, mut looks) in groups {
            let mut homes = self.homes(&queues, events);
            homes.sort_by_key(|(_, span)| span.in_ns);
            looks.sort_by_key(|&at| events[self.looks[at].0].called_ns);
            let (mut homes, mut there) = (homes.into_iter().peekable(), Vec::new());
            for at in looks {
                let (look, seen) = &self.looks[at];
                let event = &events[*look];
                while let Some(home) = homes.next_if(|(_, span)| span.in_ns < event.called_ns) {
                    there.push(home);
                }
                there.retain(|(_, span)| span.last_ns > event.called_ns);
                let throughout = there.iter().filter(|(_, span)| event.done_ns() < span.last_ns);
                let is_unseen = |value: &Value| !seen.values().any(|found| found.contains(value));
                if let Some(value) = throughout.map(|(value, _)| *value).find(is_unseen) {
                    return Err(self.in_no_place(value, &queues, *look, events));
                }
            }
        }
        Ok(())
    }

    /// Returns from when to when each element was certainly in one of the queues, through as many known moves between
    /// them as possible.
    fn homes(&self, queues: &[Key], events: &[Event]) -> Vec<(Value, Span)> {
        let mut homes = Vec::new();
        for (stay, value, mut span) in queues.iter().flat_map(|&queue| self.spans(queue, events)) {
            let mut stay = stay;
            while let Some(exit) = stay.exit {
                let mut all = queues.iter().filter_map(|&queue| Some((queue, self.stays.get(&(queue, value))?)));
                let Some((queue, next)) = all.find(|(_, next)| next.entry == Some(exit)) else { break };
                stay = next;
                span.last_ns = self.span(queue, stay, value, events).map_or(span.last_ns, |span| span.last_ns);
            }
            homes.push((value, span));
        }
        homes
    }

    fn in_no_place(&self, value: Value, queues: &[Key], look: usize, events: &[Event]) -> Anomaly {
        let stays = queues.iter().filter_map(|&queue| self.stays.get(&(queue, value)));
        let mut shown: Vec<usize> = stays.flat_map(|stay| stay.entry.into_iter().chain(stay.exit)).collect();
        shown.push(look);
        shown.sort_by_key(|&at| events[at].called_ns);
        let names: Vec<String> = queues.iter().map(|queue| format!("q{queue}")).collect();
        let why = format!("{value} was not seen in {}, where it was", names.join(" or "));
        Anomaly::new(Kind::InNoPlace, why, events, &shown)
    }
}

/// Returns the fewest of the spans, sorted by start, that together cover the event.
fn cover<'a>(spans: &'a [(&'a Stay, Value, Span)], event: &Event) -> Vec<&'a (&'a Stay, Value, Span)> {
    let mut cover: Vec<&(&Stay, Value, Span)> = Vec::new();
    // The first begins before the call, each other before the end of its predecessor.
    let mut reached_ns = event.called_ns;
    while reached_ns <= event.done_ns() {
        let begun = spans.iter().take_while(|(_, _, span)| span.in_ns < reached_ns);
        let Some(next) = begun.max_by_key(|(_, _, span)| span.last_ns).filter(|next| next.2.last_ns > reached_ns)
        else {
            break;
        };
        reached_ns = next.2.last_ns;
        cover.push(next);
    }
    cover
}

/// Checks that no element occurs twice, in one queue or in two.
fn check_places(look: usize, seen: &HashMap<Key, Vec<Value>>, events: &[Event]) -> Result<(), Anomaly> {
    let mut places: HashMap<Value, Key> = HashMap::new();
    for (&queue, found) in seen {
        for &value in found {
            let Some(other) = places.insert(value, queue) else { continue };
            let (kind, why) = if other == queue {
                (Kind::Duplicate, format!("{value} was in q{queue} twice"))
            } else {
                let (one, two) = (queue.min(other), queue.max(other));
                (Kind::InTwoPlaces, format!("{value} was in q{one} and q{two} at one instant"))
            };
            return Err(Anomaly::new(kind, why, events, &[look]));
        }
    }
    Ok(())
}
