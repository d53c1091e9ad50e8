//! Errors of the store, by whose fault they are.

use std::io;
use std::path::{Path, PathBuf};

/// Advice to the operator about damage.
const REMEDY: &str = "Restore the store's files from a backup, or see with `bobbin check` what a repair would lose.";

/// Why an operation failed; nothing committed has changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A disk operation failed.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file or folder concerned.
        file: PathBuf,
        /// The disk's error.
        error: io::Error,
    },
    /// Synced bytes are missing or wrong.
    #[error("{} is damaged at byte {offset}: {why}. {remedy}", file.display())]
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

impl StoreError {
    /// Returns true if the disk is full.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Io { error, .. } if is_full(error))
    }

    pub(crate) fn io(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { file: file.to_owned(), error }
    }

    /// The 32-bit file numbers are used up.
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
