//! Integration tests, linked into one binary. Each file is a module here; crates/tidy checks that none is forgotten.

mod brim;
mod claims;
mod costs;
#[path = "../../commands/tests/support/dice.rs"]
mod dice;
mod functions;
mod libraries;
mod loading;
mod memory;
mod moves;
mod paces;
mod parts;
mod pins;
mod queues;
mod searches;
mod sessions;
mod sets;
#[cfg(bobbin_counting)]
mod shared_lines;
mod sorted;
mod sorts;
mod speculations;
mod streams;
mod support;
mod sweeps;
#[path = "../../commands/tests/support/syntax.rs"]
mod syntax;
mod tables;
mod unread;
mod watchdog;
