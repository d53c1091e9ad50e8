//! Laws of the index: random rows, changes and queries, whose answers must equal those of a naive twin.
//!
//! ```text
//!   draw:   definition, changes, query trees ---.--> Index: put, clone, Search and Scan in small steps --.
//!                                               '--> Twin: rows in a map, looked at one by one ----------+--> equal
//! ```
//!
//! `BOBBIN_CASES` sets the number of cases.

mod answer;
mod draw;
mod found;
mod large;
mod query_draw;
mod random;
mod ranges;
mod ranked;
mod steps;
mod twin;
