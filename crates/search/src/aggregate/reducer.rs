//! Reducers at work: states of one group so far.

use super::hash_table::PositionTable;
use super::quantile::RunningQuantile;
use super::request::ReducerFunction;
use crate::value::Value;
use base::hash::KeyHasher;
use base::random::Random;

/// A keyed hash, chance, and room for an identity, which reducers share.
pub(super) struct ReducerTools {
    hasher: KeyHasher,
    random: Random,
    identity: Vec<u8>,
}

impl ReducerTools {
    /// Creates them from a seed that clients do not know.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let key = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        Self { hasher: KeyHasher::new(key.to_be_bytes()), random, identity: Vec::new() }
    }

    /// Returns the hash of the identities of values.
    pub(super) fn hash<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> u64 {
        self.identity.clear();
        for value in values {
            value.append_identity(&mut self.identity);
        }
        self.hasher.hash(&self.identity)
    }
}

/// The state of one reducer of one group.
#[derive(Debug)]
pub(super) enum ReducerState {
    Count(u64),
    Distinct(DistinctIdentities),
    Sum { total: f64, is_any: bool },
    Minimum(f64),
    Maximum(f64),
    Average { total: f64, count: u64 },
    Deviation { mean: f64, squares: f64, count: u64 },
    Quantile(RunningQuantile),
    List(DistinctValues),
    First { value: Option<Value>, by: Option<Value>, is_descending: bool },
    Sample { values: Vec<Value>, seen: u64, values_max: usize },
}

impl ReducerState {
    pub(super) fn new(function: &ReducerFunction) -> Self {
        match function {
            ReducerFunction::Count => Self::Count(0),
            ReducerFunction::CountDistinct => Self::Distinct(DistinctIdentities::default()),
            ReducerFunction::Sum => Self::Sum { total: 0.0, is_any: false },
            ReducerFunction::Minimum => Self::Minimum(f64::INFINITY),
            ReducerFunction::Maximum => Self::Maximum(f64::NEG_INFINITY),
            ReducerFunction::Average => Self::Average { total: 0.0, count: 0 },
            ReducerFunction::Deviation => Self::Deviation { mean: 0.0, squares: 0.0, count: 0 },
            ReducerFunction::Quantile(share) => Self::Quantile(RunningQuantile::new(*share)),
            ReducerFunction::ToList => Self::List(DistinctValues::default()),
            ReducerFunction::FirstValue(by) => {
                let is_descending = by.as_ref().is_some_and(|by| by.is_descending);
                Self::First { value: None, by: None, is_descending }
            }
            ReducerFunction::RandomSample(values_max) => {
                Self::Sample { values: Vec::new(), seen: 0, values_max: *values_max }
            }
        }
    }

    /// Adds a record: its value, and that of BY if there is a BY. O(1) amortised, O(log records) of a quantile.
    ///
    /// Returns by how much the state's memory has grown.
    pub(super) fn add(&mut self, value: Option<&Value>, by: Option<Option<&Value>>, tools: &mut ReducerTools) -> isize {
        let before = self.heap_bytes();
        let mut inside = 0;
        match self {
            Self::Count(count) => *count += 1,
            Self::First { .. } => inside = self.add_first(value, by),
            _ => {
                if let Some(value) = value.filter(|value| **value != Value::Null) {
                    inside = self.add_present(value, tools);
                }
            }
        }
        self.heap_bytes() as isize - before as isize + inside
    }

    /// Adds a value that is there; returns by how much the values kept have grown.
    fn add_present(&mut self, value: &Value, tools: &mut ReducerTools) -> isize {
        match self {
            Self::Distinct(distinct) => distinct.add(value, tools),
            Self::List(distinct) => return distinct.add(value, tools),
            Self::Sample { values, seen, values_max } => {
                *seen += 1;
                return sampled(values, *seen, *values_max, value, tools);
            }
            // A value that is no number counts as 0, but for SUM only.
            Self::Sum { total, is_any } => {
                *total += value.number().unwrap_or(0.0);
                *is_any = true;
            }
            _ => {
                if let Some(number) = value.number() {
                    self.add_number(number);
                }
            }
        }
        0
    }

    fn add_number(&mut self, number: f64) {
        match self {
            Self::Minimum(least) if number < *least => *least = number,
            Self::Maximum(greatest) if number > *greatest => *greatest = number,
            Self::Average { total, count } => {
                *total += number;
                *count += 1;
            }
            // The algorithm of Welford.
            Self::Deviation { mean, squares, count } => {
                *count += 1;
                let distance = number - *mean;
                *mean += distance / *count as f64;
                *squares += distance * (number - *mean);
            }
            Self::Quantile(quantile) => quantile.add(number),
            _ => {}
        }
    }

    /// Keeps a value if it is the first, or comes before the one kept: a record without a value of BY comes last.
    fn add_first(&mut self, candidate: Option<&Value>, candidate_by: Option<Option<&Value>>) -> isize {
        let Self::First { value, by, is_descending } = self else { return 0 };
        let is_better = match candidate_by {
            None => value.is_none(),
            Some(None | Some(Value::Null)) => by.is_none() && value.is_none(),
            Some(Some(candidate_by)) => by.as_ref().is_none_or(|by| {
                let order = candidate_by.sorting_order(by);
                if *is_descending { order.is_gt() } else { order.is_lt() }
            }),
        };
        if !is_better {
            return 0;
        }
        let bytes = |value: &Option<Value>| value.as_ref().map_or(0, Value::heap_bytes) as isize;
        let before = bytes(value) + bytes(by);
        *value = candidate.cloned();
        *by = candidate_by.flatten().filter(|by| **by != Value::Null).cloned();
        bytes(value) + bytes(by) - before
    }

    /// Returns how many values of a group a reducer takes of a record with this value: the items that it keeps.
    pub(super) fn values_count(function: &ReducerFunction, value: Option<&Value>) -> usize {
        match (function, value) {
            (ReducerFunction::ToList, Some(Value::List(items))) => items.len().max(1),
            _ => 1,
        }
    }

    /// Returns the result.
    pub(super) fn result(self) -> Value {
        match self {
            Self::Count(count) => Value::Number(count as f64),
            Self::Distinct(distinct) => Value::Number(distinct.count() as f64),
            Self::Sum { total, is_any } => Value::Number(if is_any { total } else { f64::NAN }),
            Self::Minimum(number) | Self::Maximum(number) => Value::Number(number),
            Self::Average { total, count } => Value::Number(total / count as f64),
            Self::Deviation { squares, count, .. } => {
                Value::Number(if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 })
            }
            Self::Quantile(quantile) => Value::Number(quantile.result()),
            Self::List(distinct) => Value::List(distinct.values),
            Self::First { value, .. } => value.unwrap_or_default(),
            Self::Sample { values, .. } => Value::List(values),
        }
    }

    /// Returns the bytes that its arrays occupy, without the bytes that values kept occupy outside themselves. O(1)
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Distinct(distinct) => distinct.heap_bytes(),
            Self::Quantile(quantile) => quantile.heap_bytes(),
            Self::List(distinct) => distinct.heap_bytes(),
            Self::Sample { values, .. } => values.capacity() * size_of::<Value>(),
            _ => 0,
        }
    }
}

/// Keeps a value with the chance that each value so far has: a reservoir. Returns by how much values kept have grown.
fn sampled(values: &mut Vec<Value>, seen: u64, values_max: usize, value: &Value, tools: &mut ReducerTools) -> isize {
    if values.len() < values_max {
        values.push(value.clone());
        return value.heap_bytes() as isize;
    }
    let place = tools.random.below(seen) as usize;
    let Some(kept) = values.get_mut(place) else { return 0 };
    let before = kept.heap_bytes() as isize;
    *kept = value.clone();
    kept.heap_bytes() as isize - before
}

/// The identities of different values, back to back.
#[derive(Debug, Default)]
pub(super) struct DistinctIdentities {
    table: PositionTable,
    identities: Vec<u8>,
    /// Where each identity ends.
    ends: Vec<usize>,
}

impl DistinctIdentities {
    fn add(&mut self, value: &Value, tools: &mut ReducerTools) {
        let hash = tools.hash([value]);
        let (ends, identities) = (&self.ends, &self.identities);
        let begin = |position: usize| position.checked_sub(1).map_or(0, |before| ends[before]);
        let is_same = |position: usize| identities[begin(position)..ends[position]] == tools.identity;
        if self.table.find_or_append(hash, is_same).1 {
            self.identities.extend_from_slice(&tools.identity);
            self.ends.push(self.identities.len());
        }
    }

    fn count(&self) -> usize {
        self.table.len()
    }

    fn heap_bytes(&self) -> usize {
        self.table.heap_bytes() + self.identities.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// Different values, in the order in which they came; of lists their items.
#[derive(Debug, Default)]
pub(super) struct DistinctValues {
    table: PositionTable,
    values: Vec<Value>,
}

impl DistinctValues {
    /// Returns by how much the values kept have grown.
    fn add(&mut self, value: &Value, tools: &mut ReducerTools) -> isize {
        match value {
            Value::List(items) => items.iter().map(|item| self.add_single(item, tools)).sum(),
            value => self.add_single(value, tools),
        }
    }

    fn add_single(&mut self, value: &Value, tools: &mut ReducerTools) -> isize {
        let hash = tools.hash([value]);
        let is_same = |position: usize| self.values[position].sorting_order(value).is_eq();
        if !self.table.find_or_append(hash, is_same).1 {
            return 0;
        }
        self.values.push(value.clone());
        value.heap_bytes() as isize
    }

    fn heap_bytes(&self) -> usize {
        self.table.heap_bytes() + self.values.capacity() * size_of::<Value>()
    }
}
