//! Functions of numbers: Null if the argument is none.

use super::{EvaluationError, ExpressionEvaluation, FunctionArguments};
use crate::text::shown;
use crate::value::Value;

/// The result of a function of numbers.
type NumberResult = Result<Value, EvaluationError>;

fn computed(arguments: FunctionArguments<'_, '_>, function: fn(f64) -> f64) -> NumberResult {
    Ok(arguments[0].number().map_or(Value::Null, |number| Value::Number(function(number))))
}

pub(super) fn log(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::ln)
}

pub(super) fn abs(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::abs)
}

pub(super) fn ceil(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::ceil)
}

pub(super) fn floor(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::floor)
}

pub(super) fn log2(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::log2)
}

pub(super) fn exp(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::exp)
}

pub(super) fn sqrt(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    computed(arguments, f64::sqrt)
}

pub(super) fn to_number(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> NumberResult {
    let value = &arguments[0];
    let number = value.number().ok_or_else(|| {
        EvaluationError::ToNumber(value.as_text().map_or_else(|| "(null)".into(), |text| shown(&text)))
    })?;
    Ok(Value::Number(number))
}
