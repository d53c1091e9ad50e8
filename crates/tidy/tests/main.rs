//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod aborts;
mod documents;
mod edges;
mod files;
mod specs;
