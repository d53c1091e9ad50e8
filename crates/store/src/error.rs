//! What can go wrong, told by whose fault it is.

use std::io;
use std::path::{Path, PathBuf};

/// What a person can do about damage.
const REMEDY: &str = "Restore the store's files from a backup, or see with `bobbin check` what a repair would lose.";

/// Why the store did not do what it was asked; nothing committed has changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk refused an operation.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file or folder concerned.
        file: PathBuf,
        /// What the disk said.
        error: io::Error,
    },
    /// Bytes that were synced are gone or wrong.
    #[error("{} is damaged at byte {offset}: {why}. {remedy}", file.display())]
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

impl StoreError {
    /// Whether the disk has no more room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Io { error, .. } if is_full(error))
    }

    pub(crate) fn io(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { file: file.to_owned(), error }
    }

    /// Files have numbers of 32 bits.
    pub(crate) fn used_up(folder: &Path) -> Self {
        Self::Io { file: folder.to_owned(), error: io::Error::other("the numbers of its files are used up") }
    }

    pub(crate) fn damaged(file: &Path, offset: u64, why: impl Into<String>) -> Self {
        Self::Damaged { file: file.to_owned(), offset, why: why.into(), remedy: REMEDY.into() }
    }
}

pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
