//! The benchmark lab: starts servers in turns, drives all with the same load, and makes a page of what it saw.
//!
//! ```text
//!  lab/reports, lab/scenarios --> [scenario] --> [run] --> [turn] --> [results] --> report.html [page], JSON, CSV
//!                                                          |    |         |
//!                             [adapters], [server]  <------+    |         '--> [record] --> [report], [first_page] --> tables, SVG
//!                             start, ask, stop                  +--> [load]   lab/records
//!                                                                    redis-benchmark,
//!                              [proc] CPU, RSS       [generate] timed calls,
//!                              [watch] folder        [fill] of [contents],
//!                                                    [writes], [leftover], [restart],
//!                                                    [messages], [answers], [node] scripts, [tools] of libraries,
//!                                                    [calls] through any [protocol] or [sql], replies checked,
//!                                                    beside them [checkpoints]
//! ```
//!
//! A turn is one fresh server in one fresh folder. The sides of a scenario go by turns, so that a
//! machine that slows down meanwhile slows all. CPU is what the server itself used, read from `/proc`, for on a
//! small machine the load generator and the server share the cores and requests a second say less than CPU a request.
//!
//! Absent on purpose: any opinion on a figure while it is measured. Rows hold raw figures, one row a turn; medians and
//! ratios are made from the rows when somebody reads them.

#![forbid(unsafe_code)]

mod adapters;
mod answers;
mod board;
mod calls;
mod checkpoints;
pub mod cli;
mod compare;
mod contents;
mod fill;
mod first_page;
mod generate;
mod interrupt;
mod leftover;
mod load;
mod machine;
mod memory_group;
mod messages;
mod node;
mod page;
mod plot;
mod proc;
mod programs;
mod progress;
mod protocol;
mod record;
mod replay;
mod report;
mod resp;
mod restart;
mod results;
mod run;
mod scenario;
mod server;
mod socket;
mod sql;
mod stall;
mod statistics;
mod text_table;
mod tools;
mod turn;
mod watch;
mod writes;

use std::io;
use std::path::{Path, PathBuf};

/// An error of the lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The system refused.
    #[error("{what}: {source}")]
    Io {
        /// The operation, with the path if there is one.
        what: String,
        /// The error of the system.
        source: io::Error,
    },
    /// Something that the lab needs is not here.
    #[error("{what}: {remedy}")]
    Missing {
        /// The thing that is missing.
        what: String,
        /// How to get it.
        remedy: String,
    },
    /// A file of ours (scenario, record, README) is not as it must be.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A server or a load did not do its part: it ended, hung, or answered wrongly.
    #[error("{0}")]
    Step(String),
}

pub(crate) fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> LabError {
    let what = what.into();
    move |source| LabError::Io { what, source }
}

/// Returns the error that a program is not on PATH.
pub(crate) fn not_on_path(program: &str, remedy: impl Into<String>) -> LabError {
    LabError::Missing { what: format!("{program} is not on PATH"), remedy: remedy.into() }
}

pub(crate) fn file_error(path: &Path, why: impl ToString) -> LabError {
    LabError::File { path: path.to_owned(), why: why.to_string() }
}
