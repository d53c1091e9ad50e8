//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod format;
mod laws;
mod packed;
mod places;
mod search;
mod shape;
mod twin;
