//! The functions of expressions, as a table: `exists`, `case` and `matches`, which do not take values alone, are in the
//! parser.

mod geo;
mod number;
mod text;
mod time;
mod time_format;

use super::error::EvaluationError;
use super::evaluation::ExpressionEvaluation;
use crate::value::Value;
use std::borrow::Cow;

/// A function of expressions.
#[derive(Debug)]
pub(super) struct ExpressionFunction {
    /// Its name, in lower case.
    pub(super) name: &'static str,
    /// The fewest arguments that it takes.
    pub(super) arguments_min: usize,
    /// The most arguments that it takes.
    pub(super) arguments_max: usize,
    /// Computes it.
    pub(super) run: FunctionBody,
}

/// The values given to a function.
type FunctionArguments<'a, 'v> = &'a [Cow<'v, Value>];

type FunctionBody =
    for<'a, 'v> fn(FunctionArguments<'a, 'v>, &'a mut ExpressionEvaluation<'v, '_>) -> Result<Value, EvaluationError>;

/// The most arguments of `format`.
const FORMAT_ARGUMENTS_MAX: usize = 256;

const fn row(name: &'static str, arguments_min: usize, arguments_max: usize, run: FunctionBody) -> ExpressionFunction {
    ExpressionFunction { name, arguments_min, arguments_max, run }
}

static FUNCTIONS: [ExpressionFunction; 29] = [
    row("log", 1, 1, number::log),
    row("abs", 1, 1, number::abs),
    row("ceil", 1, 1, number::ceil),
    row("floor", 1, 1, number::floor),
    row("log2", 1, 1, number::log2),
    row("exp", 1, 1, number::exp),
    row("sqrt", 1, 1, number::sqrt),
    row("to_number", 1, 1, number::to_number),
    row("to_str", 1, 1, text::to_str),
    row("upper", 1, 1, text::upper),
    row("lower", 1, 1, text::lower),
    row("startswith", 2, 2, text::starts_with),
    row("contains", 2, 2, text::contains),
    row("strlen", 1, 1, text::length),
    row("substr", 3, 3, text::part),
    row("format", 1, FORMAT_ARGUMENTS_MAX, text::format),
    row("split", 1, 3, text::split),
    row("timefmt", 1, 2, time::formatted),
    row("parsetime", 2, 2, time::parsed),
    row("day", 1, 1, time::day),
    row("hour", 1, 1, time::hour),
    row("minute", 1, 1, time::minute),
    row("month", 1, 1, time::month),
    row("dayofweek", 1, 1, time::day_of_week),
    row("dayofmonth", 1, 1, time::day_of_month),
    row("dayofyear", 1, 1, time::day_of_year),
    row("year", 1, 1, time::year),
    row("monthofyear", 1, 1, time::month_of_year),
    row("geodistance", 2, 4, geo::distance),
];

/// Returns the function of a name, in any case.
pub(super) fn find(name: &[u8]) -> Option<&'static ExpressionFunction> {
    FUNCTIONS.iter().find(|function| function.name.as_bytes().eq_ignore_ascii_case(name))
}

/// Returns the text of an argument that must be one.
fn required_text<'a>(
    arguments: FunctionArguments<'a, '_>,
    argument: usize,
    function: &'static str,
) -> Result<&'a [u8], EvaluationError> {
    match &*arguments[argument] {
        Value::Text(text) => Ok(text),
        other => Err(wrong_type(other, argument, function)),
    }
}

/// Returns the number of an argument that must be one.
fn required_number(
    arguments: FunctionArguments<'_, '_>,
    argument: usize,
    function: &'static str,
) -> Result<f64, EvaluationError> {
    match &*arguments[argument] {
        Value::Number(number) => Ok(*number),
        other => Err(wrong_type(other, argument, function)),
    }
}

fn wrong_type(value: &Value, argument: usize, function: &'static str) -> EvaluationError {
    let type_number = match value {
        Value::Number(_) => 1,
        Value::Text(_) => 3,
        Value::Null => 4,
        Value::List(_) => 6,
    };
    EvaluationError::Type { type_number, argument, function }
}
