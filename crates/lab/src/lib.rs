//! The benchmark lab: starts Bobbin and a peer in turns, drives both with the same load, and keeps what it saw.
//!
//! ```text
//!  lab/scenarios/*.toml --> [scenario] --> [turn] --> [record] --> lab/records/<machine>/<date>-<scenario>.csv
//!                                          |    |                        |
//!                              [server] <--+    +--> [load]              +--> [report] --> README table, SVG
//!                              start, stop           redis-benchmark,
//!                              [proc] CPU, RSS       [generate] timed calls,
//!                              [watch] folder        [fill] of [contents],
//!                                                    [writes], [leftover], [restart],
//!                                                    [messages], [node] scripts,
//!                                                    [exchange] of calls through any [protocol],
//!                                                    beside them [checkpoints]
//! ```
//!
//! A turn is one fresh server in one fresh folder. Turns alternate between the two sides of a scenario, so that a
//! machine that slows down meanwhile slows both. CPU is what the server itself used, read from `/proc`, for on a
//! small machine the load generator and the server share the cores and requests a second say less than CPU a request.
//!
//! Absent on purpose: any opinion on a figure while it is measured. Rows hold raw figures, one row a turn; medians and
//! ratios are made from the rows when somebody reads them.

#![forbid(unsafe_code)]

mod board;
mod checkpoints;
pub mod cli;
mod contents;
mod exchange;
mod fill;
mod generate;
mod leftover;
mod load;
mod machine;
mod messages;
mod node;
mod plot;
mod proc;
mod programs;
mod protocol;
mod record;
mod report;
mod resp;
mod restart;
mod scenario;
mod server;
mod stall;
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
    /// A program the lab needs is not here; the text says how to get it.
    #[error("{0}")]
    Missing(String),
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

pub(crate) fn file_error(path: &Path, why: impl ToString) -> LabError {
    LabError::File { path: path.to_owned(), why: why.to_string() }
}
