//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod big;
mod big_sorted;
mod contract;
#[path = "support/dice.rs"]
mod dice;
mod hashes;
mod manual;
mod queues;
mod session;
mod sets;
#[path = "support/socket.rs"]
mod socket;
mod streams;
#[path = "support/syntax.rs"]
mod syntax;
mod transcripts;
