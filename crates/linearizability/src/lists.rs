//! Lists: all reads of a list are prefixes of one order of elements, and nothing that was there is missing.
//!
//! The longest read is the order:
//!
//! ```text
//!     longest     [1 2 3 4]        4 elements
//!     earlier     [1 2]            a beginning: fine
//!     other       [1 2 9]          no beginning: elements that were seen are gone
//!     later       [1 2 3]          a beginning, but 4 was seen, or its append answered, before this read was called
//! ```

use crate::anomaly::{Anomaly, Kind};
use crate::event::{End, Event, Key, Step, Value, writers};
use std::collections::{BTreeMap, HashMap, HashSet};

/// All known list orders.
pub(crate) struct Orders {
    /// By list.
    pub(crate) lists: BTreeMap<Key, Order>,
    /// The event that appended each element.
    pub(crate) writers: HashMap<(Key, Value), usize>,
}

/// The longest state of a list that was read.
#[derive(Default)]
pub(crate) struct Order {
    pub(crate) elements: Vec<Value>,
    /// Answered events and what they read, longest first.
    pub(crate) reads: Vec<(usize, Vec<Value>)>,
    /// Events that certainly appended, with the element and the length they returned.
    appends: Vec<(usize, Value, Option<u64>)>,
    positions: HashMap<Value, usize>,
}

/// The minimum length of a list from a time on.
struct Floor {
    from_ns: u64,
    count: usize,
    /// The event that shows it.
    witness: usize,
}

pub(crate) fn check(events: &[Event], happened: &[bool]) -> Result<Orders, Anomaly> {
    let appended = |step: &Step| if let Step::Append { key, value, .. } = step { Some((*key, *value)) } else { None };
    let mut orders = Orders { lists: BTreeMap::new(), writers: writers(events, appended) };
    for (at, event) in events.iter().enumerate().filter(|(at, _)| happened[*at]) {
        for step in &event.steps {
            match step {
                Step::Append { key, value, length } => {
                    let length = length.filter(|_| event.is_answered());
                    orders.lists.entry(*key).or_default().appends.push((at, *value, length));
                }
                Step::Range { key, found } if event.is_answered() => {
                    orders.check_elements(events, at, *key, found)?;
                    orders.lists.entry(*key).or_default().reads.push((at, found.clone()));
                }
                _ => {}
            }
        }
    }
    let Orders { lists, writers } = &mut orders;
    for (key, order) in lists {
        order.settle();
        order.check_beginnings(events, *key, writers)?;
        order.check_positions(events, *key)?;
        order.check_nothing_missing(events, *key, writers)?;
    }
    Ok(orders)
}

impl Orders {
    /// Checks that each element was appended by some event, in time, and occurs once; the last one ends its writer's
    /// appends.
    fn check_elements(&self, events: &[Event], at: usize, key: Key, found: &[Value]) -> Result<(), Anomaly> {
        let mut seen = HashSet::new();
        for value in found {
            let Some(&writer) = self.writers.get(&(key, *value)) else {
                return Err(Anomaly::new(Kind::Phantom, format!("nobody appended {value} to l{key}"), events, &[at]));
            };
            let shown = [writer, at];
            if !seen.insert(value) {
                return Err(Anomaly::new(Kind::Duplicate, format!("l{key} held {value} twice"), events, &shown));
            }
            if events[writer].end == End::Refused {
                let why = format!("the append of {value} to l{key} was refused, and its element seen");
                return Err(Anomaly::new(Kind::Aborted, why, events, &shown));
            }
            if events[at].precedes(&events[writer]) {
                let why = format!("{value} was seen in l{key} before it was appended");
                return Err(Anomaly::new(Kind::Phantom, why, events, &shown));
            }
        }
        let Some(last) = found.last() else { return Ok(()) };
        let writer = self.writers[&(key, *last)];
        let appended = events[writer].steps.iter().rev().find_map(|step| match step {
            Step::Append { key: other, value, .. } if *other == key => Some(value),
            _ => None,
        });
        if writer != at && appended != Some(last) {
            let why = format!("l{key} was read ending with {last}, to which the same transaction appended more");
            return Err(Anomaly::new(Kind::Intermediate, why, events, &[writer, at]));
        }
        Ok(())
    }
}

impl Order {
    fn settle(&mut self) {
        self.reads.sort_by_key(|(_, found)| std::cmp::Reverse(found.len()));
        self.elements = self.reads.first().map(|(_, found)| found.clone()).unwrap_or_default();
        self.positions = self.elements.iter().enumerate().map(|(at, value)| (*value, at)).collect();
    }

    fn check_beginnings(
        &self,
        events: &[Event],
        key: Key,
        writers: &HashMap<(Key, Value), usize>,
    ) -> Result<(), Anomaly> {
        let Some((longest, _)) = self.reads.first() else { return Ok(()) };
        let Some((other, found)) = self.reads.iter().find(|(_, found)| !self.elements.starts_with(found)) else {
            return Ok(());
        };
        let (longest, other) = (&(*longest, &self.elements), &(*other, found));
        let (earlier, later) =
            if events[other.0].precedes(&events[longest.0]) { (other, longest) } else { (longest, other) };
        let gone = earlier
            .1
            .iter()
            .find(|value| !later.1.contains(value))
            .filter(|_| events[earlier.0].precedes(&events[later.0]));
        Err(match gone {
            Some(value) => {
                let why = format!("{value} was seen in l{key}, and later not");
                let shown = [writers[&(key, *value)], earlier.0, later.0];
                Anomaly::new(Kind::LostAppend, why, events, &shown)
            }
            None => {
                let why = format!("neither read of l{key} is the beginning of the other");
                Anomaly::new(Kind::IncompatibleOrder, why, events, &[earlier.0, later.0])
            }
        })
    }

    /// Checks that appends are where their replies reported.
    fn check_positions(&self, events: &[Event], key: Key) -> Result<(), Anomaly> {
        let mut reported: HashMap<u64, usize> = HashMap::new();
        for &(at, value, length) in &self.appends {
            let Some(length) = length else { continue };
            let stands = self.positions.get(&value).map(|position| *position as u64 + 1);
            let other = reported.insert(length, at).filter(|other| *other != at);
            let taken = usize::try_from(length).ok().and_then(|length| self.elements.get(length.checked_sub(1)?));
            let why = match (stands, other, taken) {
                (Some(stands), ..) if stands != length => {
                    format!(
                        "the append of {value} to l{key} was told the length {length}, its element is number {stands}"
                    )
                }
                (None, _, Some(taken)) => {
                    format!("the append of {value} to l{key} was told the length {length}, but {taken} stands there")
                }
                (_, Some(_), _) => format!("two appends to l{key} were told the same length {length}"),
                _ => continue,
            };
            let read = self.reads.first().map(|(read, _)| *read).filter(|_| stands.is_some() || taken.is_some());
            let shown: Vec<usize> = [Some(at), other, read].into_iter().flatten().collect();
            let is_missing = stands.is_none() && read.is_some_and(|read| events[at].precedes(&events[read]));
            let kind = if is_missing { Kind::LostAppend } else { Kind::WrongPosition };
            return Err(Anomaly::new(kind, why, events, &shown));
        }
        Ok(())
    }

    /// Checks that a read holds everything seen, or acknowledged, before it was called.
    fn check_nothing_missing(
        &self,
        events: &[Event],
        key: Key,
        writers: &HashMap<(Key, Value), usize>,
    ) -> Result<(), Anomaly> {
        let floors = self.floors(events);
        for (read, found) in &self.reads {
            let before = floors.partition_point(|floor| floor.from_ns < events[*read].called_ns);
            let Some(floor) = before.checked_sub(1).map(|at| &floors[at]) else { continue };
            if floor.count <= found.len() {
                continue;
            }
            let Some(value) = self.elements.get(floor.count - 1) else {
                let why = format!("an append to l{key} had been done, and its element is not there later");
                return Err(Anomaly::new(Kind::LostAppend, why, events, &[floor.witness, *read]));
            };
            let why = format!("{value} was in l{key} before this read was called, and is not in it");
            let shown = [writers[&(key, *value)], floor.witness, *read];
            return Err(Anomaly::new(Kind::LostAppend, why, events, &shown));
        }
        Ok(())
    }

    /// Returns the list's minimum lengths by time; later ones are never shorter.
    fn floors(&self, events: &[Event]) -> Vec<Floor> {
        let reads = self.reads.iter().map(|(at, found)| (*at, found.len()));
        let nowhere = self.elements.len();
        let appends = self.appends.iter();
        let appends = appends.map(|(at, value, _)| (*at, self.positions.get(value).map_or(nowhere, |at| *at) + 1));
        let floors = reads.chain(appends);
        let mut floors: Vec<Floor> =
            floors.map(|(at, count)| Floor { from_ns: events[at].done_ns(), count, witness: at }).collect();
        floors.sort_by_key(|floor| floor.from_ns);
        for at in 1..floors.len() {
            if floors[at].count < floors[at - 1].count {
                (floors[at].count, floors[at].witness) = (floors[at - 1].count, floors[at - 1].witness);
            }
        }
        floors
    }
}
