//! Sizes that depend on the file system: on a small one files and commits are smaller, so that room is given back
//! before its replacement has filled the disk.
//!
//! ```text
//!   file system   journal segment   commit    kept free for rounds   reserve
//!   64 MB         1 MB              256 KB    2 MB                   1 MB
//!   256 MB        1 to 4 MB         1 MB      8 MB                   1 to 4 MB
//!   8 GB, more    1 to 8 MB         32 MB     64 MB                  1 to 4 MB
//! ```
//!
//! Segments and the reserve start at the smaller size and grow with use.

use rustix::fs::statvfs;
use std::path::Path;

const MB: u64 = 1 << 20;
/// Bytes that must be free for a new data folder: a segment of the journal, the store's first files, and a reserve.
pub(crate) const START_BYTES: u64 = 3 * MB;

/// The sizes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Journal beyond the last checkpoint at which the next one begins.
    pub(crate) journal_bytes_max: u64,
    /// Maximum size of a journal segment.
    pub(crate) journal_segment_bytes_max: u64,
    /// Room that frames that grow leave to rounds.
    pub(crate) kept_free_bytes: u64,
    /// Size of a store commit.
    pub(crate) commit_bytes: u64,
    /// Maximum size of a store segment.
    pub(crate) segment_bytes_max: u64,
    /// Manifests below this size are not rewritten.
    pub(crate) manifest_bytes_min: u64,
    /// Maximum room reserved for commits on a full disk.
    pub(crate) reserve_bytes: u64,
}

impl Sizes {
    /// Returns the sizes for the file system that contains `folder`.
    pub(crate) fn at(folder: &Path) -> Self {
        let file_system = statvfs(folder).ok().filter(|system| system.f_blocks > 0);
        Self::of(file_system.map_or(u64::MAX, |system| system.f_blocks.saturating_mul(system.f_frsize)))
    }

    /// Returns the sizes for a file system of `disk_bytes`, however many are free.
    pub(crate) fn of(disk_bytes: u64) -> Self {
        let part = |of: u64, least: u64, most: u64| (disk_bytes / of).clamp(least, most);
        Self {
            journal_bytes_max: disk_bytes / 8,
            journal_segment_bytes_max: part(64, MB, 8 * MB),
            kept_free_bytes: part(32, MB, 64 * MB),
            commit_bytes: part(256, MB / 4, 32 * MB),
            segment_bytes_max: part(256, MB / 4, 256 * MB),
            manifest_bytes_min: part(128, MB / 2, 4 * MB),
            reserve_bytes: part(64, MB, 4 * MB),
        }
    }

    /// Reduces the sizes for a memory limit: the journal read by a restart is in memory at once, and so is a commit.
    pub(crate) fn within_memory(self, memory_bytes: u64) -> Self {
        let journal_bytes_max = self.journal_bytes_max.min(memory_bytes / 16);
        let commit_bytes = self.commit_bytes.min((memory_bytes / 64).max(MB));
        Self { journal_bytes_max, commit_bytes, ..self }
    }

    pub(crate) fn journal(self, options: journal::Options) -> journal::Options {
        let kept_free_bytes = Some(self.kept_free_bytes);
        let segment_bytes_max = self.journal_segment_bytes_max;
        journal::Options { segment_bytes_first: MB, segment_bytes_max, kept_free_bytes, ..options }
    }

    pub(crate) fn store(self, options: store::Options) -> store::Options {
        let Self { segment_bytes_max, manifest_bytes_min, reserve_bytes, .. } = self;
        store::Options { segment_bytes_max, manifest_bytes_min, reserve_bytes, ..options }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_scale_with_the_file_system() {
        let drawn = |sizes: Sizes| {
            [sizes.journal_segment_bytes_max, sizes.commit_bytes, sizes.kept_free_bytes, sizes.reserve_bytes]
        };
        assert_eq!(drawn(Sizes::of(64 * MB)), [MB, MB / 4, 2 * MB, MB]);
        assert_eq!(drawn(Sizes::of(256 * MB)), [4 * MB, MB, 8 * MB, 4 * MB]);
        assert_eq!(drawn(Sizes::of(8 << 30)), [8 * MB, 32 * MB, 64 * MB, 4 * MB]);
        assert_eq!(drawn(Sizes::of(u64::MAX)), drawn(Sizes::of(8 << 30)));
        let small = Sizes::of(u64::MAX).within_memory(256 * MB);
        assert_eq!((small.journal_bytes_max, small.commit_bytes), (16 * MB, 4 * MB));
        let usual = store::Options::new(0, 0);
        let large = Sizes::of(1 << 40).store(usual);
        assert_eq!(large.segment_bytes_max, usual.segment_bytes_max);
        assert_eq!((large.manifest_bytes_min, large.reserve_bytes), (usual.manifest_bytes_min, usual.reserve_bytes));
    }
}
