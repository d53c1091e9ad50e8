//! Places on the Earth: cells of grids, kept as scores of a sorted set, and areas to search.

mod area;
mod cell;

pub use area::{Area, GeoShape, distance_m, unit_m};
pub use cell::{Bounds, Cell, Coordinates, LATITUDE_MAX, LONGITUDE_MAX, STEPS_MAX, geohash};
