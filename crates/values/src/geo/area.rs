//! Areas around a point: which points are inside, and which cells to search.
//!
//! ```text
//!   +----+----+----+      a grid whose cells are about as large as the area: the one in the middle and its eight
//!   |    | .--|.   |      neighbours hold all of it; of these, cells that the area does not reach are left out
//!   +----+/---+\---+
//!   |    ||  x| |  |
//!   +----+\---+/---+
//!   |    | '--|'   |
//!   +----+----+----+
//! ```

use super::cell::{Bounds, Cell, Coordinates, STEPS_MAX};

/// The radius of the sphere used for distances, in meters.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;
/// Half the width of a Mercator map, in meters.
const MERCATOR_MAX_M: f64 = 20_037_726.37;

/// A shape, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GeoShape {
    /// All points within the radius.
    Circle {
        /// The radius.
        radius: f64,
    },
    /// A rectangle between two meridians and two parallels.
    Rectangle {
        /// From west to east.
        width: f64,
        /// From south to north.
        height: f64,
    },
}

/// A shape around a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The point.
    pub center: Coordinates,
    /// The shape.
    pub form: GeoShape,
    /// The shape's unit, in meters.
    pub unit_m: f64,
}

/// The directions of a cell's neighbours in search order, itself first.
const AROUND: [(i32, i32); 9] = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

impl Area {
    /// Returns the distance of `place` from the center, in meters; `None` if it is outside.
    pub fn distance_within(&self, place: Coordinates) -> Option<f64> {
        let away_m = distance_m(self.center, place);
        let is_within = match self.form {
            GeoShape::Circle { radius } => away_m <= radius * self.unit_m,
            GeoShape::Rectangle { width, height } => {
                let beside = Coordinates { longitude: self.center.longitude, ..place };
                let above = Coordinates { latitude: self.center.latitude, ..place };
                distance_m(place, beside) <= width * self.unit_m / 2.0
                    && distance_m(place, above) <= height * self.unit_m / 2.0
            }
        };
        is_within.then_some(away_m)
    }

    /// Returns the distinct cells that it may reach.
    pub fn cells(&self) -> Vec<Cell> {
        let (steps, reach) = (self.steps(), self.reach());
        let mut middle = Cell::of(self.center, steps);
        let bounds = |east, north| middle.beside(east, north).bounds();
        let is_small = bounds(0, 1).north < reach.north
            || bounds(0, -1).south > reach.south
            || bounds(1, 0).east < reach.east
            || bounds(-1, 0).west > reach.west;
        let steps = if steps > 1 && is_small { steps - 1 } else { steps };
        middle = Cell::of(self.center, steps);
        let own = middle.bounds();
        let is_reached = |&(east, north): &(i32, i32)| {
            steps < 2
                || !(own.south < reach.south && north < 0
                    || own.north > reach.north && north > 0
                    || own.west < reach.west && east < 0
                    || own.east > reach.east && east > 0)
        };
        let mut cells: Vec<Cell> = Vec::with_capacity(AROUND.len());
        for (east, north) in AROUND.into_iter().filter(is_reached) {
            let cell = middle.beside(east, north);
            // In the coarsest grid the neighbours on either side coincide.
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells
    }

    /// Returns half its width and half its height, in meters.
    fn halves_m(&self) -> (f64, f64) {
        let (width, height) = match self.form {
            GeoShape::Circle { radius } => (radius, radius),
            GeoShape::Rectangle { width, height } => (width / 2.0, height / 2.0),
        };
        (self.unit_m * width, self.unit_m * height)
    }

    /// Returns its bounding meridians and parallels.
    fn reach(&self) -> Bounds {
        let Coordinates { longitude, latitude } = self.center;
        let (width_m, height_m) = self.halves_m();
        let rise = degrees(height_m / EARTH_RADIUS_M);
        // It spans the most degrees where it is nearest to a pole.
        let far = if latitude < 0.0 { latitude - rise } else { latitude + rise };
        let spread = degrees(width_m / EARTH_RADIUS_M / radians(far).cos());
        Bounds { west: longitude - spread, east: longitude + spread, south: latitude - rise, north: latitude + rise }
    }

    /// Returns the steps of the grid with cells of about its size.
    fn steps(&self) -> u32 {
        let mut reach_m = match self.form {
            GeoShape::Circle { radius } => radius,
            GeoShape::Rectangle { width, height } => {
                (width / 2.0 * (width / 2.0) + height / 2.0 * (height / 2.0)).sqrt()
            }
        } * self.unit_m;
        if reach_m == 0.0 {
            return STEPS_MAX;
        }
        let mut steps = 1;
        while reach_m < MERCATOR_MAX_M {
            reach_m *= 2.0;
            steps += 1;
        }
        // One coarser to be safe; and more so where meridians converge.
        let latitude = self.center.latitude.abs();
        steps -= 2 + i32::from(latitude > 66.0) + i32::from(latitude > 80.0);
        steps.clamp(1, STEPS_MAX as i32) as u32
    }
}

/// Returns the meters of a unit: m, km, ft or mi, in any case.
pub fn unit_m(name: &[u8]) -> Option<f64> {
    const UNITS: [(&[u8], f64); 4] = [(b"m", 1.0), (b"km", 1000.0), (b"ft", 0.3048), (b"mi", 1609.34)];
    UNITS.into_iter().find(|(unit, _)| name.eq_ignore_ascii_case(unit)).map(|(_, meters)| meters)
}

/// Returns the great-circle distance in meters.
pub fn distance_m(from: Coordinates, to: Coordinates) -> f64 {
    let (from_latitude, to_latitude) = (radians(from.latitude), radians(to.latitude));
    let rise = ((to_latitude - from_latitude) / 2.0).sin();
    let turn = ((radians(to.longitude) - radians(from.longitude)) / 2.0).sin();
    let haversine = rise * rise + from_latitude.cos() * to_latitude.cos() * turn * turn;
    2.0 * EARTH_RADIUS_M * haversine.sqrt().min(1.0).asin()
}

const RADIAN: f64 = std::f64::consts::PI / 180.0;

fn radians(degrees: f64) -> f64 {
    degrees * RADIAN
}

/// The standard library rounds differently.
fn degrees(radians: f64) -> f64 {
    radians / RADIAN
}
