//! A SORT in progress: elements of a clone, their weights, their order, then the output for each.
//!
//! ```text
//! element --> weight: itself, or the value of a key (or field) that contains it in its name --> order
//!   ... for all elements ...
//! next in order --> itself, or for each GET the value of such a key --> result
//! ```
//!
//! It runs in steps. When it needs a key, a step ends and names it.

use crate::in_order::{InOrder, Number};
use crate::sorted::score::score;
use blocks::{Direction, End};
use keyspace::{Computation, Tx};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use values::{List, LongString, Set, Sorted, Value};

/// Elements processed per step: about 50 µs.
const STEP_ELEMENTS: usize = 64;

/// The elements to sort.
pub(super) enum SortElements {
    List(List),
    Set(Set),
    Sorted(Sorted),
}

impl SortElements {
    pub(super) fn of(value: Value) -> Option<Self> {
        match value {
            Value::List(list) => Some(Self::List(list)),
            Value::Set(set) => Some(Self::Set(set)),
            Value::Sorted(sorted) => Some(Self::Sorted(sorted)),
            Value::Text(_) | Value::Hash(_) | Value::Stream(_) | Value::Tagged(_) | Value::Queue(_) => None,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::List(list) => list.len(),
            Self::Set(set) => set.len(),
            Self::Sorted(sorted) => sorted.len(),
        }
    }

    pub(super) fn content_bytes(&self) -> u64 {
        match self {
            Self::List(list) => list.content_bytes(),
            Self::Set(set) => set.content_bytes(),
            Self::Sorted(sorted) => sorted.content_bytes(),
        }
    }

    /// Returns up to `count` elements from `at` on, in their own order or backward from the last. A set has no backward
    /// order.
    fn some(&self, at: u64, count: u64, direction: Direction) -> VecDeque<Box<[u8]>> {
        let len = self.len();
        let count = count.min(len - at);
        let start = if direction == Direction::Forward { at } else { len - at - count };
        let mut some = VecDeque::with_capacity(count as usize);
        let mut take = |element: &[u8]| {
            some.push_back(element.into());
            ControlFlow::Continue(())
        };
        match self {
            Self::List(list) => {
                let _ = list.walk(start, count, direction, &mut take);
            }
            Self::Set(set) => set.walk(at, count, take),
            Self::Sorted(sorted) => {
                let _ = sorted.walk(start, count, direction, &mut |_, member| take(member));
            }
        }
        some
    }
}

/// A name with a placeholder for an element, and optionally a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPattern {
    /// `#`: the element itself.
    Element,
    /// No placeholder, so no name.
    Fixed,
    /// `before*after` or `before*after->field`
    Name { before: Box<[u8]>, after: Box<[u8]>, field: Option<Box<[u8]>> },
}

impl KeyPattern {
    pub(super) fn of(pattern: &[u8]) -> Self {
        if pattern == b"#" {
            return Self::Element;
        }
        let Some(star) = pattern.iter().position(|byte| *byte == b'*') else { return Self::Fixed };
        let (before, rest) = (&pattern[..star], &pattern[star + 1..]);
        let arrow = rest.windows(2).position(|two| two == b"->").filter(|arrow| arrow + 2 < rest.len());
        let (after, field) = arrow.map_or((rest, None), |arrow| (&rest[..arrow], Some(rest[arrow + 2..].into())));
        Self::Name { before: before.into(), after: after.into(), field }
    }
}

/// The sort order, and the values to return.
#[derive(Clone, Debug)]
pub(super) struct SortOrder {
    /// The element's own order, which is free.
    pub(super) is_own: bool,
    pub(super) direction: Direction,
    /// True to compare bytes rather than numbers.
    pub(super) by_bytes: bool,
    /// The sort key; the element itself if none.
    pub(super) by: Option<KeyPattern>,
    /// The values returned for each; the element itself if none.
    pub(super) gets: Vec<KeyPattern>,
    /// The index of the first result.
    pub(super) start: u64,
    /// The maximum number of results.
    pub(super) count: u64,
    /// True if the result is stored: missing values are then empty, else null.
    pub(super) is_stored: bool,
}

impl SortOrder {
    /// Returns true if it reads keys named by elements.
    pub(super) fn follows_names(&self) -> bool {
        self.by.iter().chain(&self.gets).any(|pattern| matches!(pattern, KeyPattern::Name { .. }))
    }
}

/// An element being sorted.
struct SortItem {
    weight: Weight,
    element: Box<[u8]>,
    direction: Direction,
}

enum Weight {
    Number(Number),
    /// The element itself.
    Own,
    Bytes(Option<Vec<u8>>),
}

impl Ord for SortItem {
    fn cmp(&self, other: &Self) -> Ordering {
        let elements = || self.element.cmp(&other.element);
        let order = match (&self.weight, &other.weight) {
            (Weight::Number(one), Weight::Number(other)) => one.cmp(other).then_with(elements),
            (Weight::Bytes(one), Weight::Bytes(other)) => one.cmp(other),
            _ => elements(),
        };
        if self.direction == Direction::Forward { order } else { order.reverse() }
    }
}

impl PartialOrd for SortItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortItem {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortItem {}

/// Parses a number as Redis does for elements: an empty one is 0, leading blanks are allowed.
fn number(text: &[u8]) -> Option<f64> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    if text.is_empty() { Some(0.0) } else { score(text.trim_ascii_start()).ok() }
}

/// The value found under a key.
enum SortSource {
    Nothing,
    Bytes(Vec<u8>),
    Long(LongString),
}

impl SortSource {
    fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => None,
            Self::Bytes(bytes) => Some(bytes),
            Self::Long(text) => Some(values::StringValue::Long(&text).to_vec()),
        }
    }
}

/// A key to be read.
struct Look {
    key: Vec<u8>,
    field: Option<Box<[u8]>>,
    found: Option<SortSource>,
}

/// A sort in progress.
pub(super) struct Sorting {
    elements: SortElements,
    order: SortOrder,
    /// The next element to take from the clone, and some already taken.
    at: u64,
    taken: VecDeque<Box<[u8]>>,
    items: InOrder<SortItem, ()>,
    is_weighed: bool,
    skipped: u64,
    output_count: u64,
    /// The current element, which is being weighed, or for which this many values have been output.
    at_hand: Option<(Box<[u8]>, usize)>,
    look: Option<Look>,
    result: List,
    fault: Option<&'static str>,
}

impl Sorting {
    pub(super) fn new(elements: SortElements, order: SortOrder) -> Self {
        let at = if order.is_own { order.start } else { 0 };
        Self {
            elements,
            is_weighed: order.is_own,
            skipped: if order.is_own { order.start } else { 0 },
            order,
            at,
            taken: VecDeque::new(),
            items: InOrder::new(),
            output_count: 0,
            at_hand: None,
            look: None,
            result: List::new(),
            fault: None,
        }
    }

    /// Runs it to completion; returns the result, or why there is none.
    pub(super) fn finish(mut self) -> Result<List, &'static str> {
        while !self.step() {}
        self.fault.map_or(Ok(self.result), Err)
    }

    /// Returns the next element in its own order.
    fn take(&mut self) -> Option<Box<[u8]>> {
        if self.taken.is_empty() && self.at < self.elements.len() {
            let is_backward = self.order.is_own && !matches!(self.elements, SortElements::Set(_));
            let direction = if is_backward { self.order.direction } else { Direction::Forward };
            self.taken = self.elements.some(self.at, STEP_ELEMENTS as u64, direction);
            self.at += self.taken.len() as u64;
        }
        self.taken.pop_front()
    }

    fn weigh(&mut self, element: Box<[u8]>) {
        let weight = match &self.order.by {
            Some(pattern) => match self.find(&pattern.clone(), &element) {
                Some(found) if self.order.by_bytes => Weight::Bytes(found),
                Some(found) => self.weight_of(found.as_deref().map_or(Some(0.0), number)),
                None => {
                    self.at_hand = Some((element, 0));
                    return;
                }
            },
            None if self.order.by_bytes => Weight::Own,
            None => self.weight_of(number(&element)),
        };
        self.items.push(SortItem { weight, element, direction: self.order.direction }, ());
    }

    fn weight_of(&mut self, number: Option<f64>) -> Weight {
        if number.is_none() {
            self.fault = Some("ERR One or more scores can't be converted into double");
        }
        Weight::Number(Number(number.unwrap_or_default()))
    }

    /// Resolves a pattern; `None` if a key must be read first.
    fn find(&mut self, pattern: &KeyPattern, element: &[u8]) -> Option<Option<Vec<u8>>> {
        match pattern {
            KeyPattern::Element => Some(Some(element.to_vec())),
            KeyPattern::Fixed => Some(None),
            KeyPattern::Name { before, after, field } => match self.look.take() {
                Some(Look { found: Some(found), .. }) => Some(found.bytes()),
                _ => {
                    let key = [before, element, after].concat();
                    self.look = Some(Look { key, field: field.clone(), found: None });
                    None
                }
            },
        }
    }

    fn put(&mut self, value: Option<&[u8]>) {
        match value {
            _ if self.order.is_stored => self.result.push(End::Tail, value.unwrap_or_default()),
            Some(bytes) => self.result.push(End::Tail, &[b"+", bytes].concat()),
            None => self.result.push(End::Tail, b""),
        }
    }

    /// Outputs the remaining values for an element; returns `false` if a key must be read first.
    fn output(&mut self, element: Box<[u8]>, from: usize) -> bool {
        if self.order.gets.is_empty() {
            self.put(Some(&element));
        }
        for at in from..self.order.gets.len() {
            let pattern = self.order.gets[at].clone();
            let Some(found) = self.find(&pattern, &element) else {
                self.at_hand = Some((element, at));
                return false;
            };
            self.put(found.as_deref());
        }
        self.output_count += 1;
        true
    }

    /// Processes one element. Returns true when done.
    fn go_on(&mut self) -> bool {
        if !self.is_weighed {
            match self.at_hand.take().map(|(element, _)| element).or_else(|| self.take()) {
                Some(element) => self.weigh(element),
                None => self.is_weighed = true,
            }
            return false;
        }
        if self.fault.is_some() {
            return true;
        }
        if let Some((element, from)) = self.at_hand.take() {
            self.output(element, from);
            return false;
        }
        if self.output_count == self.order.count {
            return true;
        }
        let next = if self.order.is_own { self.take() } else { self.items.next().map(|(item, ())| item.element) };
        let Some(element) = next else { return true };
        if self.skipped < self.order.start {
            self.skipped += 1;
        } else {
            self.output(element, 0);
        }
        false
    }
}

impl Computation for Sorting {
    fn step(&mut self) -> bool {
        for _ in 0..STEP_ELEMENTS {
            if self.go_on() {
                return true;
            }
            if self.wants().is_some() {
                break;
            }
        }
        false
    }

    fn result(&self) -> Option<Value> {
        Some(&self.result).filter(|list| !list.is_empty()).map(|list| Value::List(list.clone()))
    }

    fn wants(&self) -> Option<&[u8]> {
        self.look.as_ref().filter(|look| look.found.is_none()).map(|look| look.key.as_slice())
    }

    fn look(&mut self, tx: &mut Tx<'_>) {
        let Some(look) = &mut self.look else { return };
        let now = tx.now();
        let found = match &look.field {
            Some(field) => {
                let hash = tx.hash(&look.key).ok().flatten();
                hash.and_then(|hash| hash.get(field, now, |pair| SortSource::Bytes(pair.value.to_vec())))
            }
            None => tx.string(&look.key).ok().flatten().map(|text| match text {
                values::StringValue::Long(text) => SortSource::Long(text.clone()),
                short => SortSource::Bytes(short.to_vec()),
            }),
        };
        look.found = Some(found.unwrap_or(SortSource::Nothing));
    }

    fn fault(&self) -> Option<&'static str> {
        self.fault
    }
}
