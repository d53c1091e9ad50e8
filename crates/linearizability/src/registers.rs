//! Registers: each key's calls must have an order that real time allows.
//!
//! As values are unique, each read belongs to the write it saw. A write and its reads, a **reign**, are contiguous in
//! any order that explains them. So one reign precedes another if any of its calls ended before any of the other's
//! began:
//!
//! ```text
//!     r1 = 7   ├─SET─┤            ├─GET─┤       7 before 8: the SET of 7 ended before the SET of 8 began
//!     r1 = 8            ├─SET─┤                 8 before 7: the SET of 8 ended before the GET of 7 began
//! ```
//!
//! An order exists if and only if no two reigns precede each other: in a longer cycle, the reign with the earliest
//! first end precedes its own predecessor. (Gibbons and Korach, "Testing shared memories", 1997.) This takes O(n log n)
//! where a search through orders may take exponential time; `tests/twin.rs` compares both.

use crate::anomaly::{Anomaly, Kind};
use crate::event::{End, Event, Key, Step, Value, writers};
use crate::overtaking::{self, Span};
use std::collections::{BTreeMap, HashMap};

/// The calls that wrote or read one value of a register; absence has no writer.
struct Reign {
    writer: Option<usize>,
    /// The call that ended first; absence precedes everything.
    first: Option<usize>,
    /// The call that began last.
    last: usize,
}

type Reigns = BTreeMap<Option<Value>, Reign>;

pub(crate) fn check(events: &[Event], happened: &[bool]) -> Result<(), Anomaly> {
    for (key, reigns) in reigns(events, happened)? {
        check_key(key, &reigns, events)?;
    }
    Ok(())
}

/// Returns the reigns of each register. A write without any trace may never have happened: it is left out.
fn reigns(events: &[Event], happened: &[bool]) -> Result<BTreeMap<Key, Reigns>, Anomaly> {
    let writers = writers(events, |step| if let Step::Set { key, value } = step { Some((*key, *value)) } else { None });
    let mut registers: BTreeMap<Key, Reigns> = BTreeMap::new();
    let mut add = |key: Key, value: Option<Value>, writer: Option<usize>, at: usize| {
        let reigns = registers.entry(key).or_default();
        let reign = reigns.entry(value).or_insert(Reign { writer, first: writer, last: writer.unwrap_or(at) });
        let first = reign.first.map(|first| if events[at].done_ns() < events[first].done_ns() { at } else { first });
        reign.first = first;
        if events[reign.last].called_ns < events[at].called_ns {
            reign.last = at;
        }
    };
    for (at, event) in events.iter().enumerate().filter(|(at, _)| happened[*at]) {
        for step in &event.steps {
            match step {
                Step::Set { key, value } => add(*key, Some(*value), Some(at), at),
                Step::Get { key, found } if event.is_answered() => {
                    let writer = found.map(|value| origin(events, at, &writers, *key, value)).transpose()?;
                    add(*key, *found, writer, at);
                }
                _ => {}
            }
        }
    }
    Ok(registers)
}

/// Returns the event that wrote what event `at` read.
fn origin(
    events: &[Event],
    at: usize,
    writers: &HashMap<(Key, Value), usize>,
    key: Key,
    value: Value,
) -> Result<usize, Anomaly> {
    let Some(&writer) = writers.get(&(key, value)) else {
        return Err(Anomaly::new(Kind::Phantom, format!("nobody wrote {value} to r{key}"), events, &[at]));
    };
    let shown = [writer, at];
    if events[writer].end == End::Refused {
        return Err(Anomaly::new(Kind::Aborted, format!("{value} was refused, and read from r{key}"), events, &shown));
    }
    if events[at].precedes(&events[writer]) {
        let why = format!("{value} was read from r{key} before it was written");
        return Err(Anomaly::new(Kind::Phantom, why, events, &shown));
    }
    let is_last = |step: &&Step| matches!(step, Step::Set { key: other, .. } if *other == key);
    let last = events[writer].steps.iter().rev().find(is_last);
    if writer != at && last != Some(&Step::Set { key, value }) {
        let why = format!("{value} was read from r{key} although its writer replaced it in the same transaction");
        return Err(Anomaly::new(Kind::Intermediate, why, events, &shown));
    }
    Ok(writer)
}

fn check_key(key: Key, reigns: &Reigns, events: &[Event]) -> Result<(), Anomaly> {
    let spans: Vec<Span> = reigns
        .values()
        .map(|reign| {
            let first_ns = reign.first.map_or(0, |first| events[first].done_ns());
            let last_ns = events[reign.last].called_ns;
            Span { begun_ns: last_ns, in_ns: first_ns, last_ns, out_ns: first_ns }
        })
        .collect();
    let Some((a, b)) = overtaking::find(&spans) else { return Ok(()) };
    // The one that arrived first comes first.
    let (a, b) = if spans[a].in_ns <= spans[b].in_ns { (a, b) } else { (b, a) };
    let all: Vec<(&Option<Value>, &Reign)> = reigns.iter().collect();
    let mut shown = Vec::new();
    for (_, reign) in [all[a], all[b]] {
        shown.extend(reign.writer);
        shown.extend(reign.first);
        shown.push(reign.last);
    }
    shown.sort_by_key(|&at| events[at].called_ns);
    let name = |value: &Option<Value>| value.map_or("absent".to_owned(), |value| value.to_string());
    let why = format!("r{key} was {} both before and after it was {}", name(all[a].0), name(all[b].0));
    Err(Anomaly::new(Kind::NotLinearizable, why, events, &shown))
}
