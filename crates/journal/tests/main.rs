//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod crashes;
mod damage;
mod forged;
mod life;
mod mending;
mod old;
mod release;
mod schedules;
mod world;
