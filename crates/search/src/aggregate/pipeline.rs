//! A request at work: rows are pushed in, records come out, in steps of bounded length.
//!
//! ```text
//!   push(row) --> APPLY FILTER LIMIT ... --> GROUPBY or SORTBY keeps it
//!   finish()  --> step: the first stage that keeps rows gives one, it goes on --> the next one that keeps --> record
//! ```

use super::error::AggregateError;
use super::plan::{PipelinePlan, SourceField};
use super::reducer::ReducerTools;
use super::request::AggregateRequest;
use super::row::{AggregateRecord, PipelineRow, SourceRow};
use super::sorter::TakenRow;
use super::stage::{LimitVerdict, PipelineStage};
use crate::expression::EvaluationError;
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The number of rows that one step takes out of a stage.
const ROWS_PER_STEP: usize = 32;

/// Limits of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineLimits {
    /// The most that LIMIT and MAX may ask for.
    pub records_max: u64,
    /// The seed of RANDOM_SAMPLE and of hashes, unknown to clients.
    pub seed: u64,
}

/// A request at work.
pub struct Pipeline {
    stages: Vec<PipelineStage>,
    sources: Vec<SourceField>,
    source_slots: Vec<usize>,
    source_slots_count: usize,
    loads_all: bool,
    is_counted: bool,
    /// Names of the records, by slot.
    names: Arc<[Box<[u8]>]>,
    /// The same, to leave out fields of LOAD * that a step has replaced.
    names_set: HashSet<Box<[u8]>>,
    tools: ReducerTools,
    records: VecDeque<AggregateRecord>,
    records_bytes: usize,
    /// The last limit that has let through all that it lets through.
    exhausted: Option<usize>,
    /// The stage whose rows count, the last one that arranges; none if records count, as the groups do after the last
    /// GROUPBY.
    counted_stage: Option<usize>,
    total: u64,
}

impl Pipeline {
    /// Makes a pipeline of a request. O(names in the request).
    ///
    /// # Errors
    /// Returns the name that no step before its reader gives, or the number that exceeds a limit.
    pub fn new(request: &AggregateRequest, limits: PipelineLimits) -> Result<Self, AggregateError> {
        let plan = PipelinePlan::new(request, limits.records_max)?;
        let is_group = |stage: &PipelineStage| matches!(stage, PipelineStage::Group(_));
        let is_arranging = |stage: &PipelineStage| matches!(stage, PipelineStage::Sort(_) | PipelineStage::Limit(_));
        let last = plan.stages.iter().rposition(|stage| is_group(stage) || is_arranging(stage));
        let mut counted_stage = last.filter(|at| is_arranging(&plan.stages[*at]));
        if let Some(at) = counted_stage {
            // LIMIT is a page of the last SORTBY, as APPLY between them changes no number of rows.
            let is_apply = |stage: &PipelineStage| matches!(stage, PipelineStage::Apply(..));
            let before = plan.stages[..at].iter().rposition(|stage| !is_apply(stage));
            counted_stage = before.filter(|at| matches!(plan.stages[*at], PipelineStage::Sort(_))).or(counted_stage);
        }
        let names_set = if plan.loads_all { plan.names.iter().cloned().collect() } else { HashSet::new() };
        Ok(Self {
            stages: plan.stages,
            sources: plan.sources,
            source_slots: plan.source_slots,
            source_slots_count: plan.source_slots_count,
            loads_all: plan.loads_all,
            is_counted: request.is_counted,
            names: plan.names.into(),
            names_set,
            tools: ReducerTools::new(limits.seed),
            records: VecDeque::new(),
            records_bytes: 0,
            exhausted: None,
            counted_stage,
            total: 0,
        })
    }

    /// Returns the fields that the source gives for each row, in order.
    pub fn source_fields(&self) -> &[SourceField] {
        &self.sources
    }

    /// Returns true with LOAD *: the source gives all other fields, too.
    pub fn loads_all(&self) -> bool {
        self.loads_all
    }

    /// Takes a row. Breaks if no further row changes the result. O(log rows kept by SORTBY, groups of the row times
    /// reducers) beside expressions and beside arrays of rows and groups that grow: those are copied.
    ///
    /// # Errors
    /// Returns the reason why an expression has no value; the request fails then.
    pub fn push(&mut self, row: SourceRow) -> Result<ControlFlow<()>, EvaluationError> {
        let mut values = Vec::with_capacity(self.source_slots_count);
        values.resize(self.source_slots_count, None);
        for (slot, value) in self.source_slots.iter().zip(row.values) {
            values[*slot] = value;
        }
        self.run(PipelineRow { values, others: row.others }, 0)?;
        let is_done = self.exhausted.is_some() && !self.is_counted;
        Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Returns a record that is ready before all rows have been pushed, as without GROUPBY and SORTBY.
    pub fn take_record(&mut self) -> Option<AggregateRecord> {
        let record = self.records.pop_front()?;
        self.records_bytes -= record.row.heap_bytes();
        Some(record)
    }

    /// Ends the rows. The records come out in steps.
    pub fn finish(self) -> PipelineOutput {
        PipelineOutput { pipeline: self, at: 0 }
    }

    /// Returns how many records there are beside LIMIT and MAX of the last SORTBY, as far as is known.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the bytes that rows, groups and records occupy at most. O(stages)
    pub fn heap_bytes(&self) -> usize {
        let stages: usize = self
            .stages
            .iter()
            .map(|stage| match stage {
                PipelineStage::Group(group) => group.heap_bytes(),
                PipelineStage::Sort(sort) => sort.heap_bytes(),
                PipelineStage::Apply(..) | PipelineStage::Filter(_) | PipelineStage::Limit(_) => 0,
            })
            .sum();
        stages + self.records.capacity() * size_of::<AggregateRecord>() + self.records_bytes
    }

    /// Passes a row to the stages from one on, until a stage keeps it or leaves it out.
    fn run(&mut self, mut row: PipelineRow, from: usize) -> Result<(), EvaluationError> {
        for at in from..self.stages.len() {
            self.total += u64::from(self.counted_stage == Some(at));
            match &mut self.stages[at] {
                PipelineStage::Apply(expression, slot) => row.values[*slot] = Some(expression.value(&row)?),
                PipelineStage::Filter(expression) => {
                    if !expression.value(&row)?.is_true() {
                        return Ok(());
                    }
                }
                PipelineStage::Group(group) => return group.add(&row, &mut self.tools),
                PipelineStage::Sort(sort) => {
                    sort.add(row);
                    return Ok(());
                }
                PipelineStage::Limit(limit) => match limit.admit() {
                    LimitVerdict::Out => return Ok(()),
                    LimitVerdict::On => {}
                    LimitVerdict::Last => self.exhausted = self.exhausted.max(Some(at)),
                },
            }
        }
        self.total += u64::from(self.counted_stage.is_none());
        row.others.retain(|(name, _)| !self.names_set.contains(name));
        self.records_bytes += row.heap_bytes();
        self.records.push_back(AggregateRecord { names: Arc::clone(&self.names), row });
        Ok(())
    }
}

/// A pipeline whose rows have ended.
pub struct PipelineOutput {
    pipeline: Pipeline,
    /// The stage that is being emptied.
    at: usize,
}

/// The result of a step.
#[derive(Debug)]
pub enum OutputStep {
    /// The next record.
    Record(AggregateRecord),
    /// Nothing yet.
    Working,
    /// Nothing more.
    Done,
}

impl PipelineOutput {
    /// Works towards the next record, for a bounded time: a few dozen rows.
    ///
    /// # Errors
    /// Returns the reason why an expression has no value; the request fails then.
    pub fn step(&mut self) -> Result<OutputStep, EvaluationError> {
        for _ in 0..ROWS_PER_STEP {
            if let Some(record) = self.pipeline.take_record() {
                return Ok(OutputStep::Record(record));
            }
            if let Some(exhausted) = self.pipeline.exhausted {
                // Rows from before a limit that lets nothing more through are of no use.
                self.at = self.at.max(exhausted + 1);
            }
            let taken = match self.pipeline.stages.get_mut(self.at) {
                None => return Ok(OutputStep::Done),
                Some(PipelineStage::Group(group)) => group.take().map_or(TakenRow::Nothing, TakenRow::Row),
                Some(PipelineStage::Sort(sort)) => sort.take(),
                Some(_) => TakenRow::Nothing,
            };
            match taken {
                TakenRow::Row(row) => self.pipeline.run(row, self.at + 1)?,
                TakenRow::Sorting => {}
                TakenRow::Nothing => self.at += 1,
            }
        }
        Ok(OutputStep::Working)
    }

    /// Returns the next record, however long it takes.
    ///
    /// # Errors
    /// Returns the reason why an expression has no value; the request fails then.
    pub fn next_record(&mut self) -> Result<Option<AggregateRecord>, EvaluationError> {
        loop {
            match self.step()? {
                OutputStep::Record(record) => return Ok(Some(record)),
                OutputStep::Working => {}
                OutputStep::Done => return Ok(None),
            }
        }
    }

    /// Returns how many records there are beside LIMIT and MAX of the last SORTBY; final before the first record if the
    /// last step before it is GROUPBY or SORTBY and no FILTER follows.
    pub fn total(&self) -> u64 {
        self.pipeline.total()
    }

    /// Returns the bytes that rows, groups and records occupy at most. O(stages)
    pub fn heap_bytes(&self) -> usize {
        self.pipeline.heap_bytes()
    }
}
