//! The bobbin binary: CLI, configuration, worker threads, event loops, ports.

#![forbid(unsafe_code)]

mod accept;
mod background;
pub mod check;
pub mod cli;
mod connection;
mod event;
mod line;
pub mod log;
mod log_budget;
pub mod memory;
mod open;
pub mod run;
mod sizes;
pub mod startup;
mod worker;
