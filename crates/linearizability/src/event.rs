//! The recorded events: calls, replies and times.
//!
//! ```text
//!   3 1200..1500 SET r1 8                       client 3 called at 1200 ns, answered at 1500 ns
//!   3 1600..1900 GET r1 = 7; SET r1 9           steps of one transaction, or of SET r1 9 GET
//!   4 1300..?9000 RPUSH l2 5                    no reply; its server was dead at 9000 ns
//!   5 1400..! LMOVE q1 q2                       refused: an error, so it must have done nothing
//! ```

use std::collections::HashMap;
use std::fmt;

/// The number of a key. Registers, lists and queues are numbered separately.
pub type Key = u32;
/// A written value: each at most once in a history.
pub type Value = u64;

/// One command, or all commands of one EXEC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The calling client. A client's events take effect in the order of their calls, and of the record if these are
    /// equal (a pipeline).
    pub client: u32,
    /// When it was sent, in nanoseconds.
    pub called_ns: u64,
    /// The end of the event.
    pub end: End,
    /// Its parts, which happen atomically.
    pub steps: Vec<Step>,
}

/// The end of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its reply had arrived at this time, in nanoseconds.
    Answered(u64),
    /// With an error: it must have changed nothing.
    Refused,
    /// Without a reply: it took effect before this time, in nanoseconds, or never. Its steps' results are unknown.
    Lost(u64),
}

/// A step and its result. Elements enter lists and queues at the tail and leave queues from the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Read a register.
    Get {
        /// The register.
        key: Key,
        /// Its value; `None`: absent.
        found: Option<Value>,
    },
    /// Write a register.
    Set {
        /// The register.
        key: Key,
        /// Its new value.
        value: Value,
    },
    /// Append to a list.
    Append {
        /// The list.
        key: Key,
        /// The new last element.
        value: Value,
        /// The resulting length, if known.
        length: Option<u64>,
    },
    /// Read a whole list.
    Range {
        /// The list.
        key: Key,
        /// Its elements.
        found: Vec<Value>,
    },
    /// Put at the tail of a queue.
    Push {
        /// The queue.
        queue: Key,
        /// The new last element.
        value: Value,
    },
    /// Take from the head of a queue.
    Pop {
        /// The queue.
        queue: Key,
        /// The element taken; `None`: it was empty.
        found: Option<Value>,
    },
    /// Take from the head of a queue and put at the tail of another.
    Move {
        /// The queue taken from.
        from: Key,
        /// The queue put to.
        to: Key,
        /// The element moved; `None`: there was none.
        found: Option<Value>,
    },
    /// Read a whole queue.
    Look {
        /// The queue.
        queue: Key,
        /// Its elements.
        found: Vec<Value>,
    },
}

impl Event {
    /// Returns true if it was answered, so that its steps' results count.
    pub fn is_answered(&self) -> bool {
        matches!(self.end, End::Answered(_))
    }

    /// Returns true if it may have changed anything.
    pub fn may_have_happened(&self) -> bool {
        self.end != End::Refused
    }

    /// Returns the time by which it had taken effect, if it did. A refused one never did.
    pub fn done_ns(&self) -> u64 {
        match self.end {
            End::Answered(at_ns) | End::Lost(at_ns) => at_ns,
            End::Refused => u64::MAX,
        }
    }

    /// Returns true if it had taken effect before `other` was called.
    pub(crate) fn precedes(&self, other: &Event) -> bool {
        self.done_ns() < other.called_ns
    }
}

/// Returns the number of the event that writes each value; `pick` returns what a step writes. A value written twice is
/// a bug of the recorder, and panics.
pub(crate) fn writers<K: Eq + std::hash::Hash>(
    events: &[Event],
    pick: impl Fn(&Step) -> Option<K>,
) -> HashMap<K, usize> {
    let mut writers = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        for written in event.steps.iter().filter_map(&pick) {
            assert!(writers.insert(written, at).is_none(), "values are unique: {event}");
        }
    }
    writers
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}..", self.client, self.called_ns)?;
        match self.end {
            End::Answered(at_ns) => write!(f, "{at_ns}")?,
            End::Lost(until_ns) => write!(f, "?{until_ns}")?,
            End::Refused => f.write_str("!")?,
        }
        for (at, step) in self.steps.iter().enumerate() {
            f.write_str(if at == 0 { " " } else { "; " })?;
            step.write(f, self.is_answered())?;
        }
        Ok(())
    }
}

impl Step {
    /// Returns the displayed names of its keys.
    pub(crate) fn keys(&self) -> [Option<String>; 2] {
        match self {
            Step::Get { key, .. } | Step::Set { key, .. } => [Some(format!("r{key}")), None],
            Step::Append { key, .. } | Step::Range { key, .. } => [Some(format!("l{key}")), None],
            Step::Move { from, to, .. } => [Some(format!("q{from}")), Some(format!("q{to}"))],
            Step::Push { queue, .. } | Step::Pop { queue, .. } | Step::Look { queue, .. } => {
                [Some(format!("q{queue}")), None]
            }
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, is_answered: bool) -> fmt::Result {
        match self {
            Step::Get { key, .. } => write!(f, "GET r{key}")?,
            Step::Set { key, value } => return write!(f, "SET r{key} {value}"),
            Step::Append { key, value, .. } => write!(f, "RPUSH l{key} {value}")?,
            Step::Range { key, .. } => write!(f, "LRANGE l{key}")?,
            Step::Push { queue, value } => return write!(f, "RPUSH q{queue} {value}"),
            Step::Pop { queue, .. } => write!(f, "LPOP q{queue}")?,
            Step::Move { from, to, .. } => write!(f, "LMOVE q{from} q{to}")?,
            Step::Look { queue, .. } => write!(f, "LRANGE q{queue}")?,
        }
        if is_answered { self.write_found(f) } else { Ok(()) }
    }

    fn write_found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Get { found, .. } | Step::Pop { found, .. } | Step::Move { found, .. } => match found {
                Some(value) => write!(f, " = {value}"),
                None => f.write_str(" = nil"),
            },
            Step::Append { length, .. } => length.map_or(Ok(()), |length| write!(f, " = {length}")),
            Step::Range { found, .. } | Step::Look { found, .. } => {
                let found: Vec<String> = found.iter().map(Value::to_string).collect();
                write!(f, " = [{}]", found.join(" "))
            }
            Step::Set { .. } | Step::Push { .. } => Ok(()),
        }
    }
}
