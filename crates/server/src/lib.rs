//! The bobbin binary: CLI, configuration, worker threads, event loops, doors.

#![forbid(unsafe_code)]

pub mod cli;
pub mod log;
pub mod startup;
