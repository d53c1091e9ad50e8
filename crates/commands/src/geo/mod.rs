//! Locations on Earth: sorted sets whose scores are cells of a grid of 2^26 by 2^26.
//!
//! ```text
//! longitude, latitude --cell--> 52 bits, one of each in turn --> score
//!
//!   near places have near scores, mostly: an area is nine cells of a coarser grid, and each is one range of scores
//! ```

pub(crate) mod add;
mod argument;
pub(crate) mod look;
pub(crate) mod search;
mod walk;
