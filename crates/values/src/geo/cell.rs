//! Cells of grids over the Earth, and their representation as scores.
//!
//! ```text
//!   bits   x y x y x y ... x y      x counts columns from the west, y rows from the south; of each as many as the grid
//!                                   has steps
//!
//!   step 1            step 2, within 01           score: the bits of a cell, shifted up as if it had 26 steps;
//!   +----+----+       +----+----+                 points within it have scores from there to the next cell's
//!   | 01 | 11 |       | 01 | 11 |
//!   +----+----+       +----+----+
//!   | 00 | 10 |       | 00 | 10 |
//!   +----+----+       +----+----+
//! ```
//!
//! The arithmetic equals Redis's to the last bit, so that coordinates read back the same.

use std::ops::Range;

/// Steps of the finest grid.
pub const STEPS_MAX: u32 = 26;
/// The grid ends where a Mercator map is as high as wide, in degrees.
pub const LATITUDE_MAX: f64 = 85.051_128_78;
/// The greatest longitude, in degrees.
pub const LONGITUDE_MAX: f64 = 180.0;
/// The alphabet of geohash strings.
const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
/// The length of a geohash string; 52 bits fill ten letters.
const LETTERS_COUNT: usize = 11;

/// Coordinates, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coordinates {
    /// Degrees east.
    pub longitude: f64,
    /// Degrees north.
    pub latitude: f64,
}

/// A cell of the grid with the given steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    column: u32,
    row: u32,
    steps: u32,
}

/// The bounds of a cell, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The western meridian.
    pub west: f64,
    /// The eastern meridian.
    pub east: f64,
    /// The southern parallel.
    pub south: f64,
    /// The northern parallel.
    pub north: f64,
}

impl Coordinates {
    /// Returns true if they are on the grid.
    pub fn is_valid(self) -> bool {
        (-LONGITUDE_MAX..=LONGITUDE_MAX).contains(&self.longitude)
            && (-LATITUDE_MAX..=LATITUDE_MAX).contains(&self.latitude)
    }
}

impl Cell {
    /// Returns the cell that contains `place`.
    pub fn of(place: Coordinates, steps: u32) -> Self {
        Self {
            column: index(place.longitude, LONGITUDE_MAX, steps),
            row: index(place.latitude, LATITUDE_MAX, steps),
            steps,
        }
    }

    /// Returns the cell of the finest grid for a score. Every score maps to one.
    pub fn of_score(score: f64) -> Self {
        let bits = bits_of(score);
        Self { column: every_other(bits >> 1), row: every_other(bits), steps: STEPS_MAX }
    }

    fn bits(self) -> u64 {
        spread(self.row) | spread(self.column) << 1
    }

    /// Returns the score of a cell of the finest grid.
    pub fn score(self) -> f64 {
        self.bits() as f64
    }

    /// Returns the score range of everything in it.
    pub fn scores(self) -> Range<f64> {
        let shift = 2 * (STEPS_MAX - self.steps);
        (self.bits() << shift) as f64..(self.bits().wrapping_add(1) << shift) as f64
    }

    /// Returns its bounding meridians and parallels.
    pub fn bounds(self) -> Bounds {
        let (west, east) = span(self.column, LONGITUDE_MAX, self.steps);
        let (south, north) = span(self.row, LATITUDE_MAX, self.steps);
        Bounds { west, east, south, north }
    }

    /// Returns its center.
    pub fn middle(self) -> Coordinates {
        let Bounds { west, east, south, north } = self.bounds();
        let middle = |low: f64, high: f64, most: f64| ((low + high) / 2.0).min(most).max(-most);
        Coordinates { longitude: middle(west, east, LONGITUDE_MAX), latitude: middle(south, north, LATITUDE_MAX) }
    }

    /// Returns the cell this many columns to the east and rows to the north, -1, 0 or 1 each, wrapping around at the
    /// edges.
    pub fn beside(self, east: i32, north: i32) -> Self {
        let mask = (1 << self.steps) - 1;
        let moved = |from: u32, by: i32| if by == 0 { from } else { from.wrapping_add_signed(by) & mask };
        Self { column: moved(self.column, east), row: moved(self.row, north), steps: self.steps }
    }
}

/// Returns the standard geohash string. It counts latitudes from pole to pole, so its grid differs.
pub fn geohash(place: Coordinates) -> [u8; LETTERS_COUNT] {
    let cell = Cell {
        column: index(place.longitude, LONGITUDE_MAX, STEPS_MAX),
        row: index(place.latitude, 90.0, STEPS_MAX),
        steps: STEPS_MAX,
    };
    let bits = cell.bits();
    std::array::from_fn(|at| {
        let shift = (2 * STEPS_MAX as usize).checked_sub(5 * (at + 1));
        LETTERS[shift.map_or(0, |shift| (bits >> shift) as usize & 31)]
    })
}

/// Returns the index of a degree among 2^steps parts of -most to most.
fn index(degree: f64, most: f64, steps: u32) -> u32 {
    ((degree - -most) / (most - -most) * (1u64 << steps) as f64) as u32
}

fn span(index: u32, most: f64, steps: u32) -> (f64, f64) {
    let edge = |index: u32| -most + (f64::from(index) / (1u64 << steps) as f64) * (most - -most);
    (edge(index), edge(index.wrapping_add(1)))
}

/// Converts a score to an integer like the CPUs that Redis mostly runs on, including negative and out-of-range ones.
fn bits_of(score: f64) -> u64 {
    const TOP: f64 = (1u64 << 63) as f64;
    let convert = |number: f64| if (-TOP..TOP).contains(&number) { number as i64 as u64 } else { 1 << 63 };
    if score < TOP { convert(score) } else { convert(score - TOP) ^ 1 << 63 }
}

/// Returns the bits of `number`, each preceded by a zero.
fn spread(number: u32) -> u64 {
    const MASKS: [(u32, u64); 5] = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    MASKS.iter().fold(u64::from(number), |bits, (shift, mask)| (bits | bits << shift) & mask)
}

/// Returns every other bit of `bits`, from the lowest on.
fn every_other(bits: u64) -> u32 {
    const MASKS: [(u32, u64); 5] = [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ];
    let first = bits & 0x5555_5555_5555_5555;
    MASKS.iter().fold(first, |bits, (shift, mask)| (bits | bits >> shift) & mask) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PALERMO: Coordinates = Coordinates { longitude: 13.361389, latitude: 38.115556 };

    /// The example in the command's documentation.
    #[test]
    fn coordinates_have_the_published_score_and_geohash() {
        let cell = Cell::of(PALERMO, STEPS_MAX);
        assert_eq!(cell.score(), 3_479_099_956_230_698.0);
        assert_eq!(Cell::of_score(cell.score()), cell);
        assert_eq!(&geohash(cell.middle()), b"sqc8b49rny0");
    }

    #[test]
    fn the_cell_center_matches_redis() {
        let Coordinates { longitude, latitude } = Cell::of(PALERMO, STEPS_MAX).middle();
        assert_eq!((longitude, latitude), (13.361_389_338_970_184, 38.115_556_395_496_3));
    }

    #[test]
    fn every_score_maps_to_a_cell_with_valid_coordinates() {
        for score in [0.0, -1.0, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY, 0.5, 9.3e18, 1.9e19] {
            let Coordinates { longitude, latitude } = Cell::of_score(score).middle();
            assert!(longitude.abs() <= LONGITUDE_MAX && latitude.abs() <= LATITUDE_MAX, "{score}");
        }
    }

    #[test]
    fn neighbours_wrap_around_at_the_edges() {
        let cell = Cell { column: 0, row: 3, steps: 2 };
        assert_eq!(cell.beside(-1, 1), Cell { column: 3, row: 0, steps: 2 });
        assert_eq!(cell.beside(0, 0), cell);
    }

    proptest! {
        #[test]
        fn a_point_is_within_its_cell_and_the_cells_scores(
            longitude in -180.0..180.0, latitude in -85.05..85.05, steps in 1u32..=STEPS_MAX
        ) {
            let place = Coordinates { longitude, latitude };
            let Bounds { west, east, south, north } = Cell::of(place, steps).bounds();
            prop_assert!(west <= longitude && longitude <= east && south <= latitude && latitude <= north);
            let score = Cell::of(place, STEPS_MAX).score();
            prop_assert!(Cell::of(place, steps).scores().contains(&score));
        }

        #[test]
        fn interleaving_bits_round_trips(number: u32, other: u32) {
            let bits = spread(number) | spread(other) << 1;
            prop_assert_eq!((every_other(bits), every_other(bits >> 1)), (number, other));
        }
    }
}
