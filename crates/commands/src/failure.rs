//! Command failures and their error texts, as Redis words them.

use base::raw_text;
use keyspace::{Abandon, WrongType};
use std::borrow::Cow;
use std::fmt;
use wire::Args;

/// Why a handler failed. All but [`Failure::Abandon`] and [`Failure::Nothing`] become an error reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The key holds another type.
    WrongType,
    /// The arguments are inconsistent.
    Syntax,
    /// An argument or a value is not an integer, or out of range.
    NotAnInteger,
    /// An argument or a value is not a number.
    NotAFloat,
    /// A required key is absent.
    NoSuchKey,
    /// Memory is short: see the memory limit of the engine.
    OutOfMemory,
    /// An index is out of range.
    IndexOutOfRange,
    /// Anything else: the full text, including the prefix.
    Text(Cow<'static, str>),
    /// Like [`Failure::Text`], but already counted by an inner command.
    Counted(String),
    /// A blocking command found nothing to take.
    Nothing,
    /// The tx is to be undone and rerun with more.
    Abandon(Abandon),
}

impl Failure {
    /// Returns an error with its own text, including the prefix: `ERR value is not ...`.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the error for an argument count that only the handler can reject.
    pub fn arity(args: &Args<'_>) -> Self {
        Self::text(format!("ERR wrong number of arguments for '{}' command", name_of(args)))
    }

    /// Returns the error for an invalid or too large time to live.
    pub fn expire_time(args: &Args<'_>) -> Self {
        Self::text(format!("ERR invalid expire time in '{}' command", name_of(args)))
    }
}

/// The error of commands that grow when memory is short, in Redis's words.
pub const OUT_OF_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

fn name_of(args: &Args<'_>) -> String {
    raw_text::from_bytes(args.name()).to_ascii_lowercase()
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::Syntax => "ERR syntax error",
            Self::NotAnInteger => "ERR value is not an integer or out of range",
            Self::NotAFloat => "ERR value is not a valid float",
            Self::NoSuchKey => "ERR no such key",
            Self::IndexOutOfRange => "ERR index out of range",
            Self::OutOfMemory => OUT_OF_MEMORY,
            Self::Text(text) => text,
            Self::Counted(text) => text,
            Self::Nothing | Self::Abandon(_) => "ERR internal: this outcome is the engine's",
        })
    }
}

impl From<WrongType> for Failure {
    fn from(_: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<Abandon> for Failure {
    fn from(abandon: Abandon) -> Self {
        Self::Abandon(abandon)
    }
}
