//! What can go wrong, told by whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

/// Why a journal was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// The disk refused an operation.
    Io {
        /// The file or folder concerned.
        file: PathBuf,
        /// What the disk said.
        error: io::Error,
    },
    /// Bytes that were synced are gone or wrong.
    Damaged {
        /// The file concerned.
        file: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        why: String,
        /// What a person can do about it.
        remedy: String,
    },
}

impl OpenError {
    pub(crate) fn io(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { file: file.to_owned(), error }
    }

    /// The reason alone, without the place.
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

/// Why a frame was not admitted; nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No room yet: register by [`crate::Journal::wait_room`], try once more, then wait.
    Wait,
    /// The disk is full, or the tail is as long as it may be and releases fail.
    Full,
    /// A write or a sync failed; only a restart heals.
    Poisoned,
    /// No frame is that long.
    TooLong,
}
