//! Errors of the journal, by whose fault they are.

use std::io;
use std::path::{Path, PathBuf};

/// Why the journal could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// A disk operation failed.
    Io {
        /// The file or folder concerned.
        file: PathBuf,
        /// The disk's error.
        error: io::Error,
    },
    /// Synced bytes are missing or wrong.
    Damaged {
        /// The file concerned.
        file: PathBuf,
        /// Offset in the file.
        offset: u64,
        /// A description of the damage.
        why: String,
        /// Advice to the operator.
        remedy: String,
    },
}

impl OpenError {
    pub(crate) fn io(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { file: file.to_owned(), error }
    }

    /// Returns the reason alone, without the place.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::Io { error, .. } => error.to_string(),
            Self::Damaged { why, .. } => why.clone(),
        }
    }
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { file, error } => write!(out, "{}: {error}", file.display()),
            Self::Damaged { file, offset, why, remedy } => {
                write!(out, "{} is damaged at byte {offset}: {why}. {remedy}", file.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// Why a frame was refused; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No room yet: register with [`crate::Journal::wait_room`], try once more, then wait.
    Wait,
    /// The disk is full, or the tail has reached its limit and releases fail.
    Full,
    /// A write or a sync failed; only a restart helps.
    Poisoned,
    /// The frame exceeds the maximum length.
    TooLong,
}
