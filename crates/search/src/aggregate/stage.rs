//! The stages of a pipeline.

use super::group::GroupStage;
use super::row::PipelineRow;
use super::sorter::SortStage;
use crate::expression::{EvaluationError, Expression};
use crate::value::Value;

/// A step at work.
#[derive(Debug)]
pub(super) enum PipelineStage {
    /// APPLY into a slot.
    Apply(BoundExpression, usize),
    /// FILTER
    Filter(BoundExpression),
    /// GROUPBY
    Group(GroupStage),
    /// SORTBY
    Sort(SortStage),
    /// LIMIT
    Limit(LimitStage),
}

/// An expression, and the slots of its fields.
#[derive(Debug)]
pub(super) struct BoundExpression {
    pub(super) expression: Expression,
    pub(super) slots: Vec<usize>,
}

impl BoundExpression {
    pub(super) fn value(&self, row: &PipelineRow) -> Result<Value, EvaluationError> {
        self.expression.evaluate_with(&|position| row.values[self.slots[position]].as_ref())
    }
}

/// Rows to leave out, and rows to let through after them. LIMIT 0 0 asks for a count: it has no last row.
#[derive(Debug)]
pub(super) struct LimitStage {
    skipped: u64,
    count: u64,
}

/// The verdict of a limit on a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitVerdict {
    /// It is left out.
    Out,
    /// It goes on.
    On,
    /// It goes on, and is the last that does.
    Last,
}

impl LimitStage {
    pub(super) fn new(offset: u64, count: u64) -> Self {
        Self { skipped: offset, count }
    }

    pub(super) fn admit(&mut self) -> LimitVerdict {
        if self.skipped > 0 {
            self.skipped -= 1;
            return LimitVerdict::Out;
        }
        if self.count == 0 {
            return LimitVerdict::Out;
        }
        self.count -= 1;
        if self.count == 0 { LimitVerdict::Last } else { LimitVerdict::On }
    }
}
