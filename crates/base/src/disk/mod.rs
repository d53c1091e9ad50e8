//! The disk as a trait small enough to fake honestly.
//!
//! What a caller may rely on, and no more: bytes written are kept over a power cut only after [`DiskFile::sync`]
//! returned; a name made, renamed or removed only after [`Disk::sync_folder`] of its folder returned. Until then
//! any subset of the written 512-byte sectors may survive.

mod dry;
mod fake;
mod real;

pub use dry::DryDisk;
pub use fake::FakeDisk;
pub use real::{FILE_MODE, FOLDER_MODE, RealDisk};

use std::io;
use std::path::Path;

/// Folders and files.
pub trait Disk: Send + Sync {
    /// Names of the files and folders in `folder`, sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Makes `folder` with its parents; nothing if it is there.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes a new file, to be read and written; `AlreadyExists` if there is one.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file that exists, to be read and written.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name, replacing what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in `folder` durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Bytes that files in `folder` may still take; `u64::MAX` where nobody knows.
    fn free_bytes(&self, folder: &Path) -> u64;
}

/// One open file.
pub trait DiskFile: Send + Sync {
    /// Length in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Reads at `offset` until `buffer` is full or the file ends; returns the bytes read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all of `bytes` at `offset`. After an error any part of them may be there.
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes the file `bytes` long and claims the room on the disk now, so that later writes below that length do
    /// not run out of it. New bytes read as zero.
    fn allocate(&mut self, bytes: u64) -> io::Result<()>;
    /// Cuts the file to `bytes`.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;
    /// Makes written bytes and the length durable (`fdatasync`).
    fn sync(&mut self) -> io::Result<()>;
}
