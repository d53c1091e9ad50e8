//! Parses coordinates, lengths and units.

use crate::prelude::*;
use crate::sorted::score::{score, score_or};
use values::geo::{self, Area, Coordinates, GeoShape};

/// Parses longitude and latitude, from argument `at` on.
pub(super) fn place(args: &Args, at: usize) -> Result<Coordinates, Failure> {
    let (longitude, latitude) = (score(args.get(at))?, score(args.get(at + 1))?);
    let place = Coordinates { longitude, latitude };
    if !place.is_valid() {
        let text = format!("ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}");
        return Err(Failure::text(text));
    }
    Ok(place)
}

/// Parses a unit, in meters.
pub(super) fn unit_m(argument: &[u8]) -> Result<f64, Failure> {
    geo::unit_m(argument).ok_or(Failure::text("ERR unsupported unit provided. please use M, KM, FT, MI"))
}

/// Parses a circle around `center`, from argument `at` on: radius and unit.
pub(super) fn circle(center: Coordinates, args: &Args, at: usize) -> Result<Area, Failure> {
    let radius = score_or(args.get(at), "ERR need numeric radius")?;
    if radius < 0.0 {
        return Err(Failure::text("ERR radius cannot be negative"));
    }
    Ok(Area { center, form: GeoShape::Circle { radius }, unit_m: unit_m(args.get(at + 1))? })
}

/// Parses a rectangle around `center`: width, height and unit.
pub(super) fn rectangle(center: Coordinates, args: &Args, at: usize) -> Result<Area, Failure> {
    let width = score_or(args.get(at), "ERR need numeric width")?;
    let height = score_or(args.get(at + 1), "ERR need numeric height")?;
    if width < 0.0 || height < 0.0 {
        return Err(Failure::text("ERR height or width cannot be negative"));
    }
    Ok(Area { center, form: GeoShape::Rectangle { width, height }, unit_m: unit_m(args.get(at + 2))? })
}
