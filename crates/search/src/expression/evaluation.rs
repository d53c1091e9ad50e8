//! The value of a tree. Recursion is as deep as the tree is high.

use super::error::EvaluationError;
use super::node::{BinaryOperator, ExpressionNode};
use super::{WORK_BYTES_MAX, pattern};
use crate::text::shown;
use crate::value::Value;
use regex::bytes::Regex;
use std::borrow::Cow;

/// The work of compiling a pattern, in bytes of texts.
const COMPILE_BYTES: usize = 1 << 20;

/// The work of searching for a pattern, in bytes of texts for each byte.
const SEARCH_BYTES: usize = 16;

/// The reason why there is no value.
pub(super) enum EvaluationStop {
    /// A field is missing: the other operand of `&&` or `||` may decide.
    Missing(usize),
    /// Nothing helps.
    Failed(EvaluationError),
}

impl EvaluationStop {
    pub(super) fn into_error(self, fields: &[Box<[u8]>]) -> EvaluationError {
        match self {
            Self::Missing(position) => EvaluationError::Missing(fields.get(position).map(shown).unwrap_or_default()),
            Self::Failed(error) => error,
        }
    }
}

impl From<EvaluationError> for EvaluationStop {
    fn from(error: EvaluationError) -> Self {
        Self::Failed(error)
    }
}

/// The fields of one evaluation, and the work that it has left.
pub(super) struct ExpressionEvaluation<'v, 'f> {
    pub(super) field: &'f dyn Fn(usize) -> Option<&'v Value>,
    pub(super) work_bytes: usize,
}

type EvaluatedNode<'v> = Result<Cow<'v, Value>, EvaluationStop>;

impl<'v> ExpressionEvaluation<'v, '_> {
    pub(super) fn value(&mut self, node: &'v ExpressionNode) -> EvaluatedNode<'v> {
        match node {
            ExpressionNode::Literal(value) => Ok(Cow::Borrowed(value)),
            ExpressionNode::Property(position) => {
                (self.field)(*position).map(Cow::Borrowed).ok_or(EvaluationStop::Missing(*position))
            }
            ExpressionNode::Binary(operator, operands) => self.binary(*operator, operands),
            ExpressionNode::Not(operand) => {
                let is_true = self.value(operand)?.is_true();
                Ok(Cow::Owned(Value::truth(!is_true)))
            }
            ExpressionNode::All(operands) => self.decided(operands, false),
            ExpressionNode::Any(operands) => self.decided(operands, true),
            ExpressionNode::Call(function, arguments) => {
                let values = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
                Ok(Cow::Owned((function.run)(&values, self)?))
            }
            ExpressionNode::Exists(operand) => match self.value(operand) {
                Ok(value) => Ok(Cow::Owned(Value::truth(*value != Value::Null))),
                Err(EvaluationStop::Missing(_)) => Ok(Cow::Owned(Value::truth(false))),
                Err(stop) => Err(stop),
            },
            ExpressionNode::Case(parts) => {
                let [condition, if_true, if_false] = &**parts;
                let chosen = if self.value(condition)?.is_true() { if_true } else { if_false };
                self.value(chosen)
            }
            ExpressionNode::Matches(text, pattern) => {
                let text = self.value(text)?;
                self.matches(&text, pattern)
            }
            ExpressionNode::MatchesComputed(parts) => self.matches_computed(parts),
        }
    }

    /// Takes bytes of texts from the work that is left.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), EvaluationError> {
        self.work_bytes = self.work_bytes.checked_sub(bytes).ok_or(EvaluationError::TooMuchWork(WORK_BYTES_MAX))?;
        Ok(())
    }

    /// Returns whether one operand of `||` is true, or all of `&&` are: the first that is `deciding` decides, also if
    /// another one is missing.
    fn decided(&mut self, operands: &'v [ExpressionNode], deciding: bool) -> EvaluatedNode<'v> {
        let mut missing = None;
        for operand in operands {
            match self.value(operand) {
                Ok(value) if value.is_true() == deciding => return Ok(Cow::Owned(Value::truth(deciding))),
                Ok(_) => {}
                Err(EvaluationStop::Missing(position)) => missing = missing.or(Some(position)),
                Err(stop) => return Err(stop),
            }
        }
        match missing {
            Some(position) => Err(EvaluationStop::Missing(position)),
            None => Ok(Cow::Owned(Value::truth(!deciding))),
        }
    }

    fn binary(&mut self, operator: BinaryOperator, operands: &'v [ExpressionNode; 2]) -> EvaluatedNode<'v> {
        let (left, right) = (self.value(&operands[0])?, self.value(&operands[1])?);
        let is_true = match operator {
            BinaryOperator::Equal => left.compare(&right).is_eq(),
            BinaryOperator::NotEqual => left.compare(&right).is_ne(),
            BinaryOperator::Less => left.compare(&right).is_lt(),
            BinaryOperator::LessOrEqual => left.compare(&right).is_le(),
            BinaryOperator::Greater => left.compare(&right).is_gt(),
            BinaryOperator::GreaterOrEqual => left.compare(&right).is_ge(),
            _ => {
                let (Some(left), Some(right)) = (left.number(), right.number()) else {
                    return Err(EvaluationError::NotNumeric.into());
                };
                return Ok(Cow::Owned(Value::Number(arithmetic(operator, left, right))));
            }
        };
        self.spend(left.compared_bytes(&right))?;
        Ok(Cow::Owned(Value::truth(is_true)))
    }

    fn matches_computed(&mut self, parts: &'v [ExpressionNode; 2]) -> EvaluatedNode<'v> {
        let (text, written) = (self.value(&parts[0])?, self.value(&parts[1])?);
        let Some(written) = written.as_text() else { return Ok(Cow::Owned(Value::Null)) };
        self.spend(COMPILE_BYTES)?;
        let pattern = pattern::compile(&written).map_err(EvaluationError::Regex)?;
        self.matches(&text, &pattern)
    }

    fn matches(&mut self, text: &Value, pattern: &Regex) -> EvaluatedNode<'v> {
        let Some(text) = text.as_text() else { return Ok(Cow::Owned(Value::Null)) };
        self.spend(text.len().saturating_mul(SEARCH_BYTES))?;
        Ok(Cow::Owned(Value::truth(pattern.is_match(&text))))
    }
}

/// Returns the result of `+ - * / % ^`. A quotient or remainder by 0 is NaN; `%` is that of whole numbers.
fn arithmetic(operator: BinaryOperator, left: f64, right: f64) -> f64 {
    match operator {
        BinaryOperator::Add => left + right,
        BinaryOperator::Subtract => left - right,
        BinaryOperator::Multiply => left * right,
        BinaryOperator::Divide if right == 0.0 => f64::NAN,
        BinaryOperator::Divide => left / right,
        BinaryOperator::Modulo if right as i64 == 0 => f64::NAN,
        BinaryOperator::Modulo => (left as i64).wrapping_rem(right as i64) as f64,
        BinaryOperator::Power => left.powf(right),
        _ => f64::NAN,
    }
}
