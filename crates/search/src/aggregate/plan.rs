//! A request becomes stages: names become slots, and names that no step gives become fields of the source.
//!
//! ```text
//!   rows of the source: slots 0 1 2 ...  --GROUPBY-->  slots of its keys and results, then of APPLY  --GROUPBY--> ...
//! ```

use super::error::AggregateError;
use super::group::{BoundReducer, GroupStage};
use super::request::{AggregateRequest, Arrangement, PipelineStep, ReducerCall, ReducerFunction};
use super::sorter::{SortSlot, SortStage};
use super::stage::{BoundExpression, LimitStage, PipelineStage};
use crate::expression::Expression;
use crate::request::check_size;
use crate::text::shown;
use std::collections::HashMap;

/// The number of records that SORTBY gives if neither MAX nor LIMIT says.
const SORTED_RECORDS: u64 = 10;

/// A field that the source gives for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceField {
    /// Its name in the index or the hash.
    pub identifier: Box<[u8]>,
    /// Its name in the pipeline.
    pub name: Box<[u8]>,
    /// The step that reads it first.
    pub reader: FieldReader,
}

/// A step that reads a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldReader {
    /// LOAD: the field need not be in the index.
    Load,
    /// APPLY or FILTER.
    Expression,
    /// GROUPBY
    Group,
    /// SORTBY
    Sort,
    /// REDUCE
    Reducer,
}

impl FieldReader {
    fn unknown(self, name: &[u8]) -> AggregateError {
        let name = shown(name);
        match self {
            Self::Load | Self::Expression => AggregateError::NotInPipeline(name),
            Self::Group => AggregateError::NoProperty(name),
            Self::Sort => AggregateError::NotInSchema(name),
            Self::Reducer => AggregateError::NotInDocument(name),
        }
    }
}

impl SourceField {
    /// Returns the error of a field that is neither loaded nor in the index.
    pub fn unknown(&self) -> AggregateError {
        self.reader.unknown(&self.name)
    }
}

/// Stages so far, and the names of the slots after the last one.
#[derive(Default)]
pub(super) struct PipelinePlan {
    pub(super) stages: Vec<PipelineStage>,
    pub(super) sources: Vec<SourceField>,
    /// The slot of each field of the source, ascending.
    pub(super) source_slots: Vec<usize>,
    /// The slots of the rows of the source.
    pub(super) source_slots_count: usize,
    pub(super) loads_all: bool,
    pub(super) names: Vec<Box<[u8]>>,
    positions: HashMap<Box<[u8]>, usize>,
    /// The position of the last stage that groups.
    last_group: Option<usize>,
    records_max: u64,
}

impl PipelinePlan {
    pub(super) fn new(request: &AggregateRequest, records_max: u64) -> Result<Self, AggregateError> {
        let mut plan = Self { records_max, ..Self::default() };
        for (at, step) in request.steps.iter().enumerate() {
            match step {
                PipelineStep::Load(fields) => {
                    for field in fields {
                        plan.load(&field.identifier, &field.name);
                    }
                }
                PipelineStep::LoadAll => plan.loads_all = true,
                PipelineStep::Group { keys, reducers } => plan.group(keys, reducers)?,
                PipelineStep::Arrange(arrangement) => plan.arrange(arrangement, &request.steps[at + 1..])?,
                PipelineStep::Apply { expression, name } => {
                    let bound = plan.bound(expression)?;
                    let slot = plan.slot(name);
                    plan.stages.push(PipelineStage::Apply(bound, slot));
                }
                PipelineStep::Filter(expression) => {
                    let bound = plan.bound(expression)?;
                    plan.stages.push(PipelineStage::Filter(bound));
                }
            }
        }
        plan.close_slots();
        Ok(plan)
    }

    /// Returns the slot of a name, a new one if need be.
    fn slot(&mut self, name: &[u8]) -> usize {
        if let Some(slot) = self.positions.get(name) {
            return *slot;
        }
        self.names.push(name.into());
        self.positions.insert(name.into(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Returns the slot of a name that a step reads; before GROUPBY the source gives the names that no step gives.
    fn read(&mut self, name: &[u8], reader: FieldReader) -> Result<usize, AggregateError> {
        match self.positions.get(name) {
            Some(slot) => Ok(*slot),
            None if self.last_group.is_some() => Err(reader.unknown(name)),
            None => Ok(self.source(name, name, reader)),
        }
    }

    fn source(&mut self, identifier: &[u8], name: &[u8], reader: FieldReader) -> usize {
        let slot = self.slot(name);
        self.sources.push(SourceField { identifier: identifier.into(), name: name.into(), reader });
        self.source_slots.push(slot);
        slot
    }

    fn load(&mut self, identifier: &[u8], name: &[u8]) {
        match self.positions.get(name) {
            None => _ = self.source(identifier, name, FieldReader::Load),
            Some(slot) => {
                // A field that a step has read before it is loaded need not be in the index either.
                if let Ok(source) = self.source_slots.binary_search(slot)
                    && let Some(field) = self.sources.get_mut(source)
                    && *field.identifier == *identifier
                {
                    field.reader = FieldReader::Load;
                }
            }
        }
    }

    fn bound(&mut self, expression: &Expression) -> Result<BoundExpression, AggregateError> {
        let slots = expression.fields().map(|name| self.read(name, FieldReader::Expression));
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        Ok(BoundExpression { expression: expression.clone(), slots })
    }

    fn group(&mut self, keys: &[Box<[u8]>], reducers: &[ReducerCall]) -> Result<(), AggregateError> {
        let key_slots = keys.iter().map(|key| self.read(key, FieldReader::Group)).collect::<Result<Vec<_>, _>>()?;
        let bound = reducers.iter().map(|reducer| self.bound_reducer(reducer)).collect::<Result<Vec<_>, _>>()?;
        self.close_slots();
        self.names.clear();
        self.positions.clear();
        for name in keys.iter().chain(reducers.iter().map(|reducer| &reducer.name)) {
            self.slot(name);
        }
        self.last_group = Some(self.stages.len());
        self.stages.push(PipelineStage::Group(GroupStage::new(key_slots, bound)));
        Ok(())
    }

    fn bound_reducer(&mut self, reducer: &ReducerCall) -> Result<BoundReducer, AggregateError> {
        let slot = match &reducer.property {
            Some(property) => Some(self.read(property, FieldReader::Reducer)?),
            None => None,
        };
        let by_slot = match &reducer.function {
            ReducerFunction::FirstValue(Some(by)) => Some(self.read(&by.name, FieldReader::Reducer)?),
            _ => None,
        };
        Ok(BoundReducer { function: reducer.function.clone(), slot, by_slot })
    }

    /// Sets the number of slots of the stage, or of the source, that makes rows with the present slots.
    fn close_slots(&mut self) {
        let slots_count = self.names.len();
        match self.last_group.and_then(|at| self.stages.get_mut(at)) {
            Some(PipelineStage::Group(group)) => group.slots_count = slots_count,
            _ => self.source_slots_count = slots_count,
        }
    }

    fn arrange(&mut self, arrangement: &Arrangement, following: &[PipelineStep]) -> Result<(), AggregateError> {
        let (offset, count) = arrangement.limit.unwrap_or((0, 0));
        for (word, asked) in [("LIMIT", count), ("OFFSET", offset), ("MAX", arrangement.records_max)] {
            check_size(word, asked, self.records_max)?;
        }
        if let Some(fields) = &arrangement.sort {
            let slots = fields.iter().map(|field| {
                let slot = self.read(&field.name, FieldReader::Sort)?;
                Ok(SortSlot { slot, is_descending: field.is_descending })
            });
            let slots = slots.collect::<Result<Vec<_>, AggregateError>>()?;
            let rows_max = usize::try_from(sorted_records(arrangement, following)).unwrap_or(usize::MAX);
            self.stages.push(PipelineStage::Sort(SortStage::new(slots, rows_max)));
        }
        if arrangement.limit.is_some() {
            self.stages.push(PipelineStage::Limit(LimitStage::new(offset, count)));
        }
        Ok(())
    }
}

/// Returns the number of records that a SORTBY has to keep: that of LIMIT beside it, else MAX, else that of a later
/// LIMIT if only LOAD and APPLY are between them, and 10 at least.
fn sorted_records(arrangement: &Arrangement, following: &[PipelineStep]) -> u64 {
    if let Some((offset, count)) = arrangement.limit {
        return if count == 0 { 0 } else { offset.saturating_add(count) };
    }
    if arrangement.records_max > 0 {
        return arrangement.records_max;
    }
    let is_passing = |step: &&PipelineStep| {
        matches!(step, PipelineStep::Load(_) | PipelineStep::LoadAll | PipelineStep::Apply { .. })
    };
    match following.iter().find(|step| !is_passing(step)) {
        Some(PipelineStep::Arrange(Arrangement { sort: None, limit: Some((offset, count)), .. })) => {
            offset.saturating_add(*count).max(SORTED_RECORDS)
        }
        _ => SORTED_RECORDS,
    }
}
