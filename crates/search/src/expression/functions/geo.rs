//! The distance between two places.

use super::{EvaluationError, ExpressionEvaluation, FunctionArguments};
use crate::place::{parse_place, place};
use crate::value::Value;
use values::geo::{Coordinates, distance_m};

/// `geodistance(place, place)`, in metres, to the centimetre. A place is `"longitude,latitude"` or two numbers.
pub(super) fn distance(
    arguments: FunctionArguments<'_, '_>,
    _: &mut ExpressionEvaluation<'_, '_>,
) -> Result<Value, EvaluationError> {
    let places = match arguments {
        [from, to] => written(from).zip(written(to)),
        // The first of three arguments is a place unless it is a number.
        [first, second, third] => match written(first) {
            Some(from) => Some(from).zip(numbers(second, third)),
            None => numbers(first, second).zip(written(third)),
        },
        [longitude, latitude, to_longitude, to_latitude] => {
            numbers(longitude, latitude).zip(numbers(to_longitude, to_latitude))
        }
        _ => None,
    };
    Ok(places.map_or(Value::Null, |(from, to)| Value::Number((distance_m(from, to) * 100.0).round() / 100.0)))
}

/// Returns the place that a text is.
fn written(value: &Value) -> Option<Coordinates> {
    let Value::Text(text) = value else { return None };
    parse_place(text)
}

/// Returns the place of two numbers.
fn numbers(longitude: &Value, latitude: &Value) -> Option<Coordinates> {
    place(longitude.number()?, latitude.number()?)
}
