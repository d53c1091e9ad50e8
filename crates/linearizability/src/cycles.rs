//! Cycles: a single order must explain all events, over all keys and in real time (strict serializability).
//!
//! Reads determine which event came before which, as in Elle (Kingsbury and Alvaro, 2020):
//!
//! ```text
//!     l1 = [7 8]    the writer of 7  ──ww──>  the writer of 8
//!     A reads [7]   the writer of 7  ──wr──>  A  ──rw──>  the writer of 8, which A did not see
//!     A ended before B was called            A  ──time──>  B
//!     one client called A, then B            A  ──client──> B
//! ```
//!
//! A cycle of these relations means there is no order. For registers, one value is known to follow another if an event
//! read the one and wrote the other.
//!
//! Time is a chain of nodes, one per end of an event, so that edges stay few: an event leads to the node of its end,
//! time nodes to later ones, and the latest node before its call to an event.

use crate::anomaly::{Anomaly, Kind};
use crate::event::{Event, Key, Step, Value};
use crate::graph::{Edge, Graph};
use crate::lists::Orders;
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    Wrote(Name),
    Read(Name),
    Unseen(Name),
    Client,
    /// To and between nodes of time, and out of them.
    Time,
    Called,
}

/// A key and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    Register(Key),
    List(Key),
}

impl Why {
    fn is_write(self) -> bool {
        matches!(self, Why::Wrote(_))
    }

    fn is_information(self) -> bool {
        matches!(self, Why::Wrote(_) | Why::Read(_))
    }

    fn is_of_data(self) -> bool {
        matches!(self, Why::Wrote(_) | Why::Read(_) | Why::Unseen(_))
    }
}

pub(crate) fn check(events: &[Event], happened: &[bool], orders: &Orders) -> Result<(), Anomaly> {
    let mut graph = Graph::new(events.len());
    add_lists(&mut graph, happened, orders);
    add_registers(&mut graph, events);
    if let Some(circle) = graph.circle(Why::is_write, |_| true) {
        return Err(anomaly(Kind::WriteCycle, &circle, events));
    }
    if let Some(circle) = graph.circle(Why::is_information, |_| true) {
        return Err(anomaly(Kind::InformationCycle, &circle, events));
    }
    if let Some(any) = graph.circle(Why::is_of_data, |_| true) {
        let is_unseen = |edge: &Edge<Why>| matches!(edge.label, Why::Unseen(_));
        let single = any.iter().filter(|(_, edge)| is_unseen(edge)).find_map(|&(from, edge)| {
            let mut back = graph.path(edge.to, from, |edge| edge.label.is_information(), |_| true)?;
            back.push((from, edge));
            Some(back)
        });
        return Err(match single {
            Some(circle) => anomaly(Kind::SingleReadCycle, &circle, events),
            None => anomaly(Kind::ManyReadsCycle, &any, events),
        });
    }
    add_time(&mut graph, events);
    match graph.circle(|_| true, |why| why != Why::Time) {
        Some(circle) => Err(anomaly(Kind::RealTimeCycle, &circle, events)),
        None => Ok(()),
    }
}

fn add_lists(graph: &mut Graph<Why>, happened: &[bool], orders: &Orders) {
    let mut unseen: HashMap<Key, Vec<usize>> = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for (&key, order) in &orders.lists {
        seen.extend(order.elements.iter().map(|&value| (key, value)));
        for pair in order.elements.windows(2) {
            graph.add(orders.writers[&(key, pair[0])], orders.writers[&(key, pair[1])], Why::Wrote(Name::List(key)));
        }
    }
    for (&(key, value), &writer) in &orders.writers {
        if happened[writer] && !seen.contains(&(key, value)) {
            unseen.entry(key).or_default().push(writer);
        }
    }
    for (&key, order) in &orders.lists {
        for (reader, found) in &order.reads {
            if let Some(&last) = found.last() {
                graph.add(orders.writers[&(key, last)], *reader, Why::Read(Name::List(key)));
            }
            match order.elements.get(found.len()) {
                Some(&next) => graph.add(*reader, orders.writers[&(key, next)], Why::Unseen(Name::List(key))),
                None => {
                    for &writer in unseen.get(&key).into_iter().flatten() {
                        graph.add(*reader, writer, Why::Unseen(Name::List(key)));
                    }
                }
            }
        }
    }
}

fn add_registers(graph: &mut Graph<Why>, events: &[Event]) {
    let mut writers: HashMap<(Key, Option<Value>), usize> = HashMap::new();
    let mut readers: HashMap<(Key, Option<Value>), Vec<usize>> = HashMap::new();
    // The replaced value and the writer; if two events replaced it, one did not see the other.
    let mut successors: Vec<(Key, Option<Value>, usize)> = Vec::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.may_have_happened()) {
        let mut first_found: HashMap<Key, Option<Option<Value>>> = HashMap::new();
        for step in &event.steps {
            match *step {
                Step::Get { key, found } if event.is_answered() => {
                    first_found.entry(key).or_insert(Some(found));
                    readers.entry((key, found)).or_default().push(at);
                }
                Step::Set { key, value } => {
                    writers.insert((key, Some(value)), at);
                    if let Some(found) = first_found.insert(key, None).flatten() {
                        successors.push((key, found, at));
                    }
                }
                _ => {}
            }
        }
    }
    for (&(key, found), readers) in &readers {
        let Some(&writer) = writers.get(&(key, found)) else { continue };
        for &reader in readers {
            graph.add(writer, reader, Why::Read(Name::Register(key)));
        }
    }
    for (key, found, next) in successors {
        if let Some(&writer) = writers.get(&(key, found)) {
            graph.add(writer, next, Why::Wrote(Name::Register(key)));
        }
        for &reader in &readers[&(key, found)] {
            graph.add(reader, next, Why::Unseen(Name::Register(key)));
        }
    }
}

fn add_time(graph: &mut Graph<Why>, events: &[Event]) {
    let happened = || events.iter().enumerate().filter(|(_, event)| event.may_have_happened());
    let mut ends: Vec<(u64, usize)> = happened().map(|(at, event)| (event.done_ns(), at)).collect();
    ends.sort_unstable();
    let base = events.len();
    graph.edges.resize_with(base + ends.len(), Vec::new);
    for (place, &(_, at)) in ends.iter().enumerate() {
        graph.add(at, base + place, Why::Time);
        if place > 0 {
            graph.add(base + place - 1, base + place, Why::Time);
        }
    }
    for (at, event) in happened() {
        let before = ends.partition_point(|&(end_ns, _)| end_ns < event.called_ns);
        if before > 0 {
            graph.add(base + before - 1, at, Why::Called);
        }
    }
    let mut calls: Vec<usize> = happened().map(|(at, _)| at).collect();
    calls.sort_by_key(|&at| (events[at].client, events[at].called_ns));
    for pair in calls.windows(2).filter(|pair| events[pair[0]].client == events[pair[1]].client) {
        graph.add(pair[0], pair[1], Why::Client);
    }
}

fn anomaly(kind: Kind, circle: &[(usize, Edge<Why>)], events: &[Event]) -> Anomaly {
    // A run of time nodes is a single reason, reported where it reaches an event.
    let begin = circle.iter().position(|(from, _)| *from < events.len()).expect("a circle passes through an event");
    let mut shown = Vec::new();
    let mut reasons = Vec::new();
    for (from, edge) in circle[begin..].iter().chain(&circle[..begin]) {
        if *from < events.len() {
            shown.push(*from);
        }
        reasons.extend(match edge.label {
            Why::Wrote(name) => Some(format!("wrote {name} before")),
            Why::Read(name) => Some(format!("wrote what was read of {name} by")),
            Why::Unseen(name) => Some(format!("did not see in {name} what was written by")),
            Why::Client => Some("was sent by the same client before".to_owned()),
            Why::Called => Some("had ended before the call of".to_owned()),
            Why::Time => None,
        });
    }
    let count = shown.len();
    let chain = reasons.iter().enumerate();
    let chain: Vec<String> =
        chain.map(|(at, reason)| format!("({}) {reason} ({})", at + 1, (at + 1) % count + 1)).collect();
    Anomaly::new(kind, format!("no order has {}", chain.join(", ")), events, &shown)
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Register(key) => write!(f, "r{key}"),
            Name::List(key) => write!(f, "l{key}"),
        }
    }
}
