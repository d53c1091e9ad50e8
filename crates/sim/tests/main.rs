//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod forge;
mod scripts;
mod seeds;
mod worlds;
