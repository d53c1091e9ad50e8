//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod bits;
mod hash;
mod hyperloglog;
mod long_string;
mod queue;
mod set;
mod sorted;
mod sorted_algebra;
mod stream;
mod tagged;
