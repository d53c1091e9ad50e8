//! Reserve for a commit on a full disk: a preallocated file, removed when a write finds no room. It grows with the
//! store.

use crate::error::is_full;
use crate::names;
use base::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Minimum size in bytes, unless the maximum is less.
const FIRST_BYTES: u64 = 1 << 20;
/// Divisor: it also has at least this part of the stored bytes.
const STORED_PART: u64 = 4;

pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes_max: u64,
    /// Bytes on disk; 0 if absent.
    bytes: u64,
}

impl Reserve {
    /// Creates the reserve of `folder`, of at most `bytes_max` bytes. Creates no file.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: &Path, bytes_max: u64) -> Self {
        let path = folder.join(names::RESERVE);
        let bytes = disk.open(&path).and_then(|file| file.bytes()).unwrap_or(0);
        let is_sound = (bytes_max.min(FIRST_BYTES)..=bytes_max).contains(&bytes);
        Self { disk, path, bytes_max, bytes: if is_sound { bytes } else { 0 } }
    }

    /// Runs `what`; if the disk is full, removes the reserve and runs it again.
    pub(crate) fn spend<T>(&mut self, mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        match what() {
            Err(error) if is_full(&error) && self.bytes > 0 => {
                self.bytes = 0;
                self.disk.remove(&self.path)?;
                what()
            }
            done => done,
        }
    }

    /// Creates or extends it to the size due for `stored_bytes`, if the disk has room.
    pub(crate) fn make(&mut self, stored_bytes: u64) {
        let bytes = (stored_bytes / STORED_PART).clamp(self.bytes_max.min(FIRST_BYTES), self.bytes_max);
        if self.bytes >= bytes {
            return;
        }
        if self.bytes == 0 {
            // It has another length or is half made: there was a crash in between.
            let _ = self.disk.remove(&self.path);
        }
        let file = if self.bytes == 0 { self.disk.create(&self.path) } else { self.disk.open(&self.path) };
        match file.and_then(|mut file| file.allocate(bytes)) {
            Ok(()) => self.bytes = bytes,
            Err(_) if self.bytes == 0 => drop(self.disk.remove(&self.path)),
            Err(_) => {}
        }
    }

    /// Returns its bytes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
