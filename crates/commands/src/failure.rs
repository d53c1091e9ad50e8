//! Why a command did not do what it was asked, and the text that says so, as Redis words it.

use base::raw_text;
use keyspace::{Abandon, WrongType};
use std::borrow::Cow;
use std::fmt;
use wire::Args;

/// Why a handler failed. Except for [`Failure::Abandon`] and [`Failure::Nothing`] it becomes an error reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The key holds another kind.
    WrongType,
    /// The arguments make no sense together.
    Syntax,
    /// An argument or a value is no integer, or too large.
    NotAnInteger,
    /// An argument or a value is no number.
    NotAFloat,
    /// The key is needed and absent.
    NoSuchKey,
    /// Memory is short: see the memory limit of the engine.
    OutOfMemory,
    /// An index lies beyond the ends.
    IndexOutOfRange,
    /// Anything else, in full, prefix included.
    Text(Cow<'static, str>),
    /// As [`Failure::Text`], of what the command that failed inside this one has counted.
    Counted(String),
    /// A blocking command found nothing to take.
    Nothing,
    /// The tx is to be undone and run again with more.
    Abandon(Abandon),
}

impl Failure {
    /// An error of its own text, prefix included: `ERR value is not ...`.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(text.into())
    }

    /// The number of arguments is one that only the handler can see to be wrong.
    pub fn arity(args: &Args<'_>) -> Self {
        Self::text(format!("ERR wrong number of arguments for '{}' command", name_of(args)))
    }

    /// A time to live that is none, or beyond all times.
    pub fn expire_time(args: &Args<'_>) -> Self {
        Self::text(format!("ERR invalid expire time in '{}' command", name_of(args)))
    }
}

/// The error of commands that grow while memory is short, in Redis's words.
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
