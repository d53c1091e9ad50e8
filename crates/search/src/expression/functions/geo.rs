//! The distance between two places.

use super::{EvaluationError, ExpressionEvaluation, FunctionArguments};
use crate::value::{Value, parse_number};
use values::geo::{Coordinates, distance_m};

/// `geodistance(place, place)`, in metres, to the centimetre. A place is `"longitude,latitude"` or two numbers.
pub(super) fn distance(
    arguments: FunctionArguments<'_, '_>,
    _: &mut ExpressionEvaluation<'_, '_>,
) -> Result<Value, EvaluationError> {
    let places = match arguments {
        [from, to] => place(from).zip(place(to)),
        // Of three arguments the first is a place unless it is a number.
        [first, second, third] => match place(first) {
            Some(from) => Some(from).zip(coordinates(second, third)),
            None => coordinates(first, second).zip(place(third)),
        },
        [longitude, latitude, to_longitude, to_latitude] => {
            coordinates(longitude, latitude).zip(coordinates(to_longitude, to_latitude))
        }
        _ => None,
    };
    Ok(places.map_or(Value::Null, |(from, to)| Value::Number((distance_m(from, to) * 100.0).round() / 100.0)))
}

fn place(value: &Value) -> Option<Coordinates> {
    let Value::Text(text) = value else { return None };
    let comma = text.iter().position(|byte| *byte == b',')?;
    let (longitude, latitude) = (&text[..comma], &text[comma + 1..]);
    valid(parse_number(longitude.trim_ascii())?, parse_number(latitude.trim_ascii())?)
}

fn coordinates(longitude: &Value, latitude: &Value) -> Option<Coordinates> {
    valid(longitude.number()?, latitude.number()?)
}

/// Returns a place on Earth, be it on the grid or not.
fn valid(longitude: f64, latitude: f64) -> Option<Coordinates> {
    let is_valid = (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude);
    is_valid.then_some(Coordinates { longitude, latitude })
}
