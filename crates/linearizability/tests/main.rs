//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod cycles;
mod lists;
mod queues;
mod registers;
mod text;
mod twin;
