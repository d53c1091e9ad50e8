//! Finds the events that certainly took effect: answered ones, and those without a reply whose effect was observed.
//!
//! One trace is enough: a transaction happens as a whole.

use crate::event::{End, Event, Key, Step, Value};
use std::collections::HashSet;

/// The target of a written value. A move writes no new value.
#[derive(PartialEq, Eq, Hash)]
enum Trace {
    Register(Key, Value),
    List(Key, Value),
    Queue(Value),
}

/// Returns the answer for each event number.
pub(crate) fn find(events: &[Event]) -> Vec<bool> {
    let mut seen = HashSet::new();
    for step in events.iter().filter(|event| event.is_answered()).flat_map(|event| &event.steps) {
        match step {
            Step::Get { key, found } => seen.extend(found.map(|value| Trace::Register(*key, value))),
            Step::Range { key, found } => seen.extend(found.iter().map(|&value| Trace::List(*key, value))),
            Step::Pop { found, .. } | Step::Move { found, .. } => seen.extend(found.map(Trace::Queue)),
            Step::Look { found, .. } => seen.extend(found.iter().copied().map(Trace::Queue)),
            Step::Set { .. } | Step::Append { .. } | Step::Push { .. } => {}
        }
    }
    let is_seen = |step: &Step| match *step {
        Step::Set { key, value } => seen.contains(&Trace::Register(key, value)),
        Step::Append { key, value, .. } => seen.contains(&Trace::List(key, value)),
        Step::Push { value, .. } => seen.contains(&Trace::Queue(value)),
        _ => false,
    };
    let happened = |event: &Event| match event.end {
        End::Answered(_) => true,
        End::Lost(_) => event.steps.iter().any(is_seen),
        End::Refused => false,
    };
    events.iter().map(happened).collect()
}
