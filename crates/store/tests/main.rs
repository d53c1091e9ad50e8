//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod crashes;
mod damage;
mod fixture;
mod full;
mod twin;
mod world;
