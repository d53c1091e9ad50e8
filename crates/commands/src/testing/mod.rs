//! Test support for commands: transcripts, and a keyspace that runs them without an engine.
//!
//! ```text
//! tests/list/pop.t --transcript::parse--> steps --transcript::run--> a Port: direct, a socket, ... --> differences
//! ```

pub mod direct;
pub mod dump;
pub mod pattern;
mod searches;
pub mod transcript;
