//! Functions of Unix times, in seconds and UTC: Null if the argument is no number or too far away.

use super::time_format::{self, CalendarTime};
use super::{EvaluationError, ExpressionEvaluation, FunctionArguments, required_text};
use crate::value::Value;

/// The result of a function of times.
type TimeResult = Result<Value, EvaluationError>;

/// The format of `timefmt` if none is given.
const FORMAT: &[u8] = b"%FT%TZ";

/// Times at and beyond this many seconds from 1970 have no calendar here: some two billion years.
const SECONDS_END: f64 = 6.7e16;

fn seconds(value: &Value) -> Option<i64> {
    let number = value.number()?;
    (number.abs() < SECONDS_END).then_some(number.floor() as i64)
}

fn computed(arguments: FunctionArguments<'_, '_>, function: impl Fn(i64) -> i64) -> TimeResult {
    Ok(seconds(&arguments[0]).map_or(Value::Null, |seconds| Value::Number(function(seconds) as f64)))
}

pub(super) fn minute(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| seconds - seconds.rem_euclid(60))
}

pub(super) fn hour(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| seconds - seconds.rem_euclid(3600))
}

pub(super) fn day(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| seconds - seconds.rem_euclid(86_400))
}

pub(super) fn month(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| {
        let time = CalendarTime::from_seconds(seconds);
        CalendarTime { day: 1, hour: 0, minute: 0, second: 0, ..time }.seconds()
    })
}

pub(super) fn day_of_week(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| CalendarTime::from_seconds(seconds).day_of_week())
}

pub(super) fn day_of_month(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| CalendarTime::from_seconds(seconds).day)
}

pub(super) fn day_of_year(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| CalendarTime::from_seconds(seconds).day_of_year())
}

pub(super) fn year(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| CalendarTime::from_seconds(seconds).year)
}

pub(super) fn month_of_year(arguments: FunctionArguments<'_, '_>, _: &mut ExpressionEvaluation<'_, '_>) -> TimeResult {
    computed(arguments, |seconds| CalendarTime::from_seconds(seconds).month - 1)
}

/// `timefmt(time, format)`
pub(super) fn formatted(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TimeResult {
    let format = if arguments.len() > 1 { required_text(arguments, 1, "timefmt")? } else { FORMAT };
    evaluation.spend(format.len())?;
    let text = seconds(&arguments[0]).and_then(|seconds| time_format::format(seconds, format));
    Ok(text.map_or(Value::Null, |text| Value::Text(text.into())))
}

/// `parsetime(text, format)`
pub(super) fn parsed(
    arguments: FunctionArguments<'_, '_>,
    evaluation: &mut ExpressionEvaluation<'_, '_>,
) -> TimeResult {
    let text = required_text(arguments, 0, "parsetime")?;
    let format = required_text(arguments, 1, "parsetime")?;
    evaluation.spend(text.len() + format.len())?;
    Ok(time_format::parse(text, format).map_or(Value::Null, |seconds| Value::Number(seconds as f64)))
}
