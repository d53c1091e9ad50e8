//! The `bobbin-lab` program as its users run it.

mod runs;
mod scenarios;
