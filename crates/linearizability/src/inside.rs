//! Consistency within one transaction: its results must agree with its earlier results and writes.

use crate::anomaly::{Anomaly, Kind};
use crate::event::{Event, Key, Step, Value};
use std::collections::HashMap;

/// The state that a transaction must find, as far as its own steps imply.
#[derive(Default)]
struct Known {
    registers: HashMap<Key, Option<Value>>,
    lists: HashMap<Key, List>,
}

/// A list whose beginning may be unknown.
#[derive(Default)]
struct List {
    /// All elements, once read.
    whole: Option<Vec<Value>>,
    /// Elements appended before it was read.
    tail: Vec<Value>,
    /// The length, once a reply reported it.
    length: Option<u64>,
}

pub(crate) fn check(events: &[Event]) -> Result<(), Anomaly> {
    for (at, event) in events.iter().enumerate().filter(|(_, event)| event.is_answered() && event.steps.len() > 1) {
        let mut known = Known::default();
        if let Some(why) = event.steps.iter().find_map(|step| known.contradiction(step)) {
            return Err(Anomaly::new(Kind::Internal, why, events, &[at]));
        }
    }
    Ok(())
}

impl Known {
    /// Returns what contradicts the steps before `step`, if anything; then records the result of `step`.
    fn contradiction(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Set { key, value } => {
                self.registers.insert(*key, Some(*value));
                None
            }
            Step::Get { key, found } => {
                let before = self.registers.insert(*key, *found);
                (before.is_some_and(|before| before != *found))
                    .then(|| format!("a step found in r{key} another value than the steps before it left there"))
            }
            Step::Append { key, value, length } => self.lists.entry(*key).or_default().append(*key, *value, *length),
            Step::Range { key, found } => self.lists.entry(*key).or_default().read(*key, found),
            // A transaction looks at each queue once, and takes from none.
            Step::Push { .. } | Step::Pop { .. } | Step::Move { .. } | Step::Look { .. } => None,
        }
    }
}

impl List {
    fn append(&mut self, key: Key, value: Value, length: Option<u64>) -> Option<String> {
        match &mut self.whole {
            Some(whole) => whole.push(value),
            None => self.tail.push(value),
        }
        let expected = match &self.whole {
            Some(whole) => Some(whole.len() as u64),
            None => self.length.map(|length| length + 1),
        };
        self.length = length.or(expected);
        (expected.is_some() && self.length != expected)
            .then(|| format!("an append to l{key} was answered with another length than the steps before it left"))
    }

    fn read(&mut self, key: Key, found: &[Value]) -> Option<String> {
        let is_same = match &self.whole {
            Some(whole) => whole == found,
            None => found.ends_with(&self.tail) && self.length.is_none_or(|length| length == found.len() as u64),
        };
        self.whole = Some(found.to_vec());
        (!is_same).then(|| format!("a step found other elements in l{key} than the steps before it left there"))
    }
}
