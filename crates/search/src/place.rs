//! Places on Earth, and circles around them, as queries, options and values write them.
//!
//! ```text
//!   "13.4,52.5"   "13.4 52.5"      longitude, latitude             13.4 52.5 2 km      a circle
//! ```

use crate::value::parse_number;
use values::geo::Coordinates;

/// The longest text of a place: two numbers and what is between them.
const PLACE_BYTES_MAX: usize = 1000;

/// A circle that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircleError {
    /// Its middle is not on Earth.
    #[error("Invalid GeoFilter lat/lon")]
    Place,
    /// Its radius is zero, negative or infinite.
    #[error("Invalid GeoFilter radius")]
    Radius,
}

/// Parses a longitude and a latitude, between them a comma or a space. `None` if the place is not on Earth.
pub(crate) fn parse_place(text: &[u8]) -> Option<Coordinates> {
    if text.len() > PLACE_BYTES_MAX {
        return None;
    }
    let text = text.trim_ascii();
    let at = |separator: u8| text.iter().position(|byte| *byte == separator);
    let middle = at(b',').or_else(|| at(b' '))?;
    let number = |part: &[u8]| parse_number(part.trim_ascii());
    place(number(&text[..middle])?, number(&text[middle + 1..])?)
}

/// Returns a place on Earth, be it on the grid of cells or not.
pub(crate) fn place(longitude: f64, latitude: f64) -> Option<Coordinates> {
    let is_on_earth = (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude);
    is_on_earth.then_some(Coordinates { longitude, latitude })
}

/// Returns the radius of a circle in metres, if the circle is one.
pub(crate) fn circle_radius_m(middle: (f64, f64), radius: f64, unit_m: f64) -> Result<f64, CircleError> {
    place(middle.0, middle.1).ok_or(CircleError::Place)?;
    let radius_m = radius * unit_m;
    if radius_m > 0.0 && radius_m.is_finite() { Ok(radius_m) } else { Err(CircleError::Radius) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_or_a_space_divides_longitude_and_latitude() {
        let expected = Some(Coordinates { longitude: -0.5, latitude: 89.0 });
        for text in ["-0.5,89", " -0.5 , 89 ", "-0.5 89", "-0.5   89"] {
            assert_eq!(parse_place(text.as_bytes()), expected, "{text}");
        }
        for text in ["", ",", "1", "1,", "1 2 3", "181,0", "0,91", "nan,0", &format!("1,{}2", " ".repeat(1000))] {
            assert_eq!(parse_place(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_circle_has_a_middle_on_earth_and_a_finite_radius() {
        assert_eq!(circle_radius_m((180.0, -90.0), 2.0, 1000.0), Ok(2000.0));
        assert_eq!(circle_radius_m((180.1, 0.0), 2.0, 1.0), Err(CircleError::Place));
        assert_eq!(circle_radius_m((0.0, f64::INFINITY), 2.0, 1.0), Err(CircleError::Place));
        for radius in [0.0, -1.0, f64::INFINITY, f64::MAX, f64::NAN] {
            assert_eq!(circle_radius_m((0.0, 0.0), radius, 1000.0), Err(CircleError::Radius));
        }
    }
}
