//! GROUPBY at work: groups by the values of their keys, in the order in which they came.

use super::hash_table::PositionTable;
use super::reducer::{ReducerState, ReducerTools};
use super::request::ReducerFunction;
use super::row::PipelineRow;
use crate::expression::EvaluationError;
use crate::value::Value;
use std::collections::VecDeque;

/// The most groups that the lists of one record may name.
pub(super) const GROUPS_PER_RECORD_MAX: usize = 1000;

/// The most values that the reducers of all groups of one record take: a list counts by its items where they are kept.
const VALUES_PER_RECORD_MAX: usize = 1 << 16;

/// A reducer, with the slots that it reads.
#[derive(Debug)]
pub(super) struct BoundReducer {
    pub(super) function: ReducerFunction,
    pub(super) slot: Option<usize>,
    pub(super) by_slot: Option<usize>,
}

/// Groups so far.
#[derive(Debug)]
pub(super) struct GroupStage {
    key_slots: Vec<usize>,
    reducers: Vec<BoundReducer>,
    /// The slots of the rows that come out.
    pub(super) slots_count: usize,
    table: PositionTable,
    groups: VecDeque<OpenGroup>,
    inside_bytes: isize,
}

/// A group.
#[derive(Debug)]
struct OpenGroup {
    keys: Vec<Value>,
    states: Vec<ReducerState>,
    /// The bytes that keys and states occupy.
    inside_bytes: isize,
}

impl GroupStage {
    pub(super) fn new(key_slots: Vec<usize>, reducers: Vec<BoundReducer>) -> Self {
        let (table, groups) = (PositionTable::default(), VecDeque::new());
        Self { key_slots, reducers, slots_count: 0, table, groups, inside_bytes: 0 }
    }

    /// Adds a row to its group, or to one for each combination of items if keys are lists; an empty list is Null.
    pub(super) fn add(&mut self, row: &PipelineRow, tools: &mut ReducerTools) -> Result<(), EvaluationError> {
        let choices: Vec<&[Value]> = self.key_slots.iter().map(|slot| choices(row.values[*slot].as_ref())).collect();
        let combinations = choices.iter().try_fold(1usize, |product, choice| product.checked_mul(choice.len()));
        let too_many = EvaluationError::TooManyGroups(GROUPS_PER_RECORD_MAX);
        let combinations = combinations.filter(|count| *count <= GROUPS_PER_RECORD_MAX).ok_or(too_many)?;
        self.check_values(row, combinations)?;
        let mut keys = Vec::with_capacity(choices.len());
        for combination in 0..combinations {
            keys.clear();
            let mut rest = combination;
            // The last key changes first.
            for choice in choices.iter().rev() {
                keys.push(&choice[rest % choice.len()]);
                rest /= choice.len();
            }
            keys.reverse();
            self.add_to(&keys, row, tools);
        }
        Ok(())
    }

    /// Refuses a record whose groups take too many values together. A single reducer of a single group takes however
    /// many the record has.
    fn check_values(&self, row: &PipelineRow, groups_count: usize) -> Result<(), EvaluationError> {
        let count = |reducer: &BoundReducer| {
            let value = reducer.slot.and_then(|slot| row.values[slot].as_ref());
            ReducerState::values_count(&reducer.function, value)
        };
        let of_a_group = self.reducers.iter().map(count).fold(0, usize::saturating_add);
        let is_single = groups_count * self.reducers.len() <= 1;
        if !is_single && groups_count.saturating_mul(of_a_group) > VALUES_PER_RECORD_MAX {
            return Err(EvaluationError::TooManyGroupedValues(VALUES_PER_RECORD_MAX));
        }
        Ok(())
    }

    fn add_to(&mut self, keys: &[&Value], row: &PipelineRow, tools: &mut ReducerTools) {
        let hash = tools.hash(keys.iter().copied());
        let groups = &self.groups;
        let is_same = |position: usize| {
            groups[position].keys.iter().zip(keys).all(|(known, key)| known.sorting_order(key).is_eq())
        };
        let (position, is_new) = self.table.find_or_append(hash, is_same);
        if is_new {
            let group = OpenGroup::new(keys, &self.reducers);
            self.inside_bytes += group.inside_bytes;
            self.groups.push_back(group);
        }
        let value = |slot: usize| row.values[slot].as_ref();
        let group = &mut self.groups[position];
        let mut grown = 0;
        for (state, reducer) in group.states.iter_mut().zip(&self.reducers) {
            grown += state.add(reducer.slot.and_then(value), reducer.by_slot.map(value), tools);
        }
        group.inside_bytes += grown;
        self.inside_bytes += grown;
    }

    /// Takes the next group out, as a row: its keys, then the results.
    pub(super) fn take(&mut self) -> Option<PipelineRow> {
        let group = self.groups.pop_front()?;
        self.inside_bytes -= group.inside_bytes;
        let mut values = Vec::with_capacity(self.slots_count);
        values.extend(group.keys.into_iter().map(Some));
        values.extend(group.states.into_iter().map(|state| Some(state.result())));
        values.resize(self.slots_count, None);
        Some(PipelineRow { values, others: Vec::new() })
    }

    /// Returns the bytes that it occupies at most. O(1)
    pub(super) fn heap_bytes(&self) -> usize {
        let inside = usize::try_from(self.inside_bytes).unwrap_or(0);
        self.table.heap_bytes() + self.groups.capacity() * size_of::<OpenGroup>() + inside
    }
}

impl OpenGroup {
    fn new(keys: &[&Value], reducers: &[BoundReducer]) -> Self {
        let keys: Vec<Value> = keys.iter().map(|key| (*key).clone()).collect();
        let states: Vec<ReducerState> = reducers.iter().map(|reducer| ReducerState::new(&reducer.function)).collect();
        let keys_bytes: usize = keys.iter().map(|key| size_of::<Value>() + key.heap_bytes()).sum();
        let inside_bytes = (keys_bytes + states.len() * size_of::<ReducerState>()) as isize;
        Self { keys, states, inside_bytes }
    }
}

/// Returns the keys that a value stands for.
fn choices(value: Option<&Value>) -> &[Value] {
    const NOTHING: &[Value] = &[Value::Null];
    match value {
        None => NOTHING,
        Some(Value::List(items)) if items.is_empty() => NOTHING,
        Some(Value::List(items)) => items,
        Some(value) => std::slice::from_ref(value),
    }
}
