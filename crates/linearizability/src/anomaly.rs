//! The result of a failed check: a name, a sentence, and the events that show it.

use crate::event::{Event, Step};
use std::fmt;

/// A contradiction that no order explains, and the events that suffice to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anomaly {
    /// Its name.
    pub kind: Kind,
    /// A description in one sentence.
    pub why: String,
    /// The events that show it, in the order of the sentence or by time, without steps on other keys.
    pub events: Vec<Event>,
}

/// The kinds of anomalies; cycles have Adya's and Elle's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Two steps of one transaction disagree: a read did not repeat, or missed the transaction's own write.
    Internal,
    /// A value that nobody wrote, or that was read before it was written.
    Phantom,
    /// G1a: a value written by a refused call was read.
    Aborted,
    /// G1b: a transaction's intermediate write was read alone.
    Intermediate,
    /// A register's value was read or kept although another had replaced it: its calls have no order.
    NotLinearizable,
    /// A list held an element twice.
    Duplicate,
    /// Two reads of a list, neither a prefix of the other: elements once seen are gone.
    IncompatibleOrder,
    /// An append is not at the position its reply reported.
    WrongPosition,
    /// A list read after an append was acknowledged lacks its element.
    LostAppend,
    /// An element left one queue twice.
    PoppedTwice,
    /// An element that had left a queue was in it again.
    Returned,
    /// An element of a queue is gone though nobody took it; or a move did half of its work.
    LostElement,
    /// A queue was found empty although it always held something.
    FalselyEmpty,
    /// An element left a queue before one ahead of it.
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
    /// One of these cycles that exists only because an event ended before another was called.
    RealTimeCycle,
}

impl Anomaly {
    /// Creates an anomaly shown by the events with these numbers, by their steps on keys that `why` names.
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

/// Returns the event without irrelevant steps, unless all are: then it is there for its times.
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
