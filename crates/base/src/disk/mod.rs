//! The disk as a trait small enough to fake honestly.
//!
//! Callers may rely only on this: written bytes survive a power cut only after [`DiskFile::sync`] returned; a name
//! created, renamed or removed only after [`Disk::sync_folder`] of its folder returned. Until then any subset of the
//! written 512-byte sectors may survive.

mod dry;
mod fake;
mod real;

pub use dry::DryDisk;
pub use fake::FakeDisk;
pub use real::{FILE_MODE, FOLDER_MODE, RealDisk};

use std::io::{self, IoSlice};
use std::path::Path;

/// Folders and files.
pub trait Disk: Send + Sync {
    /// Returns the names of the files and folders in `folder`, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Creates `folder` with its parents; does nothing if it exists.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// Creates a new file for reading and writing; `AlreadyExists` if there is one.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Renames a file, replacing any existing one.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in `folder` durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Returns the bytes available to files in `folder`; `u64::MAX` if unknown.
    fn free_bytes(&self, folder: &Path) -> u64;
}

/// One open file.
pub trait DiskFile: Send + Sync {
    /// Returns the length in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Reads at `offset` until `buffer` is full or the file ends; returns the bytes read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. After an error any part of them may be written.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Writes all of `pieces`, one behind the other, at `offset`: one write, as of their concatenation.
    fn write_pieces_at(&mut self, pieces: &mut [IoSlice<'_>], offset: u64) -> io::Result<()> {
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        self.write_at(&pieces.concat(), offset)
    }
    /// Makes the file `bytes` long and allocates the disk space now, so that later writes below that length cannot run
    /// out of it. New bytes read as zero.
    fn allocate(&mut self, bytes: u64) -> io::Result<()>;
    /// Truncates the file to `bytes`.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Makes written bytes and the length durable (`fdatasync`).
    fn sync(&mut self) -> io::Result<()>;
}
