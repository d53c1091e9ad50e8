//! What a check finds: a name, a sentence, and the events that show it.

use crate::event::{Event, Step};
use std::fmt;

/// What no order explains, and the events that suffice to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Its name.
    pub kind: Kind,
    /// What is wrong, in a sentence.
    pub why: String,
    /// The events that show it, in the order of the sentence or by time, without steps on other keys.
    pub events: Vec<Event>,
}

/// The names of anomalies; those of cycles are Adya's and Elle's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Two steps of one transaction disagree: a read did not repeat, or missed the transaction's own write.
    Internal,
    /// A value that nobody wrote, or that was written only after it was seen.
    Phantom,
    /// G1a: what a refused call wrote was seen.
    Aborted,
    /// G1b: what a transaction wrote and overwrote or added to in itself was seen alone.
    Intermediate,
    /// A register's value was seen or kept although another had taken its place: its calls have no order.
    NotLinearizable,
    /// A list held an element twice.
    Duplicate,
    /// Two reads of a list of which neither is the other's beginning: elements once seen are gone.
    IncompatibleOrder,
    /// An append does not stand where its reply said.
    WrongPosition,
    /// A list read after an append was answered lacks its element.
    LostAppend,
    /// An element left one queue twice.
    PoppedTwice,
    /// An element that had left a queue was in it again.
    Returned,
    /// An element of a queue is gone and nobody took it; a move that did half of its work too.
    LostElement,
    /// A queue was found empty while there was always something in it.
    FalselyEmpty,
    /// An element left a queue before one that stood ahead of it.
    Overtaken,
    /// An element was seen in two queues at one instant.
    InTwoPlaces,
    /// An element was seen in no queue although it was in one.
    InNoPlace,
    /// G0: a cycle of writes.
    WriteCycle,
    /// G1c: a cycle of writes and of reads of what was written.
    InformationCycle,
    /// G-single: a cycle in which one read did not see a write.
    SingleReadCycle,
    /// G2: a cycle in which several reads did not see a write (write skew, and others).
    ManyReadsCycle,
    /// One of the cycles that is one only because an event had ended before another was called.
    RealTimeCycle,
}

impl Anomaly {
    /// An anomaly that the events of these numbers show, by their steps on keys that `why` names.
    pub(crate) fn new(kind: Kind, why: impl Into<String>, events: &[Event], shown: &[usize]) -> Self {
        let why = why.into();
        let mut seen = Vec::new();
        for &at in shown {
            if !seen.contains(&at) {
                seen.push(at);
            }
        }
        let events = seen.into_iter().map(|at| only_named(&events[at], &why)).collect();
        Self { kind, why, events }
    }
}

/// The event without steps that have nothing to do with the matter, unless none has: then it is there for its times.
fn only_named(event: &Event, why: &str) -> Event {
    let names: Vec<&str> = why.split(|sign: char| !sign.is_alphanumeric()).collect();
    let is_named = |step: &&Step| step.keys().iter().flatten().any(|key| names.contains(&key.as_str()));
    let named: Vec<Step> = event.steps.iter().filter(is_named).cloned().collect();
    Event { steps: if named.is_empty() { event.steps.clone() } else { named }, ..event.clone() }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.why)?;
        for event in &self.events {
            write!(f, "\n  {event}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Anomaly {}
