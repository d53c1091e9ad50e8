//! FT.*: indexes of hashes, declared, described and queried.
//!
//! ```text
//!   declarations lie in the server's table   --> handlers here, under its lock
//!   queries run on clones of an index        --> IndexQuery --begin--> QueryRun --step ...--> write
//!                                                the engine owns the index, feeds it, and gives hashes to a run
//! ```
//!
//! Errors have the words of RediSearch, most of them without a prefix such as ERR.

pub(crate) mod aggregate_run;
pub(crate) mod alias;
pub(crate) mod config;
pub(crate) mod declare;
pub(crate) mod delete;
pub(crate) mod delete_by;
pub(crate) mod explain;
pub(crate) mod info;
pub(crate) mod query;
mod rows;
mod search_run;
mod tag_run;
pub(crate) mod tree;

use crate::failure::Failure;
use crate::spec::SearchVerb;
use base::raw_text;
use std::fmt::Display;
use wire::Args;

/// The version of RediSearch whose commands, errors and replies these are: 2.10.5.
pub const SEARCH_VERSION: i64 = 21_005;

/// The error of a query that took longer.
pub const QUERY_TIMED_OUT: &str = "Timeout limit was reached";
/// The records of one reply of a cursor without COUNT.
pub const CURSOR_RECORDS: u64 = 1000;
/// The milliseconds that a cursor lives without being read, at most, and without MAXIDLE.
pub const CURSOR_IDLE_MS_MAX: u64 = 300_000;
/// The maximum number of cursors of an index.
pub const INDEX_CURSORS_MAX: u64 = 128;

/// Returns the error of a command that names an index that does not exist.
pub fn unknown_index(verb: SearchVerb, name: &[u8]) -> Failure {
    match verb {
        SearchVerb::Query(crate::spec::QueryType::Search | crate::spec::QueryType::Aggregate) => no_such_index(name),
        SearchVerb::Info => Failure::text("Unknown index name"),
        _ => Failure::text("Unknown Index name"),
    }
}

fn no_such_index(name: &[u8]) -> Failure {
    Failure::text(format!("{}: no such index", raw_text::from_bytes(name)))
}

fn failure(error: impl Display) -> Failure {
    Failure::text(error.to_string())
}

fn words<'a>(args: &Args<'a>) -> Vec<&'a [u8]> {
    args.iter().collect()
}
