//! Room for a commit on a full disk: a file whose room is claimed, given up when a write finds none. It grows with what is
//! stored.

use crate::error::is_full;
use crate::names;
use base::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// It has at least so many bytes, if it may have as many.
const FIRST_BYTES: u64 = 1 << 20;
/// And such a part of what is stored.
const STORED_PART: u64 = 4;

pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes_max: u64,
    /// Bytes it has on the disk; 0 if it is not there.
    bytes: u64,
}

impl Reserve {
    /// The reserve of `folder`, of `bytes_max` bytes at most. Nothing is made.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: &Path, bytes_max: u64) -> Self {
        let path = folder.join(names::RESERVE);
        let bytes = disk.open(&path).and_then(|file| file.bytes()).unwrap_or(0);
        let is_sound = (bytes_max.min(FIRST_BYTES)..=bytes_max).contains(&bytes);
        Self { disk, path, bytes_max, bytes: if is_sound { bytes } else { 0 } }
    }

    /// Does `what`; if the disk is full, gives up the reserve and does it again.
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

    /// Makes it if it is not there, or lengthens it, as is due where `stored_bytes` are stored, if the disk has the room.
    pub(crate) fn make(&mut self, stored_bytes: u64) {
        let bytes = (stored_bytes / STORED_PART).clamp(self.bytes_max.min(FIRST_BYTES), self.bytes_max);
        if self.bytes >= bytes {
            return;
        }
        if self.bytes == 0 {
            // Of another length, or half made: a crash came between.
            let _ = self.disk.remove(&self.path);
        }
        let file = if self.bytes == 0 { self.disk.create(&self.path) } else { self.disk.open(&self.path) };
        match file.and_then(|mut file| file.allocate(bytes)) {
            Ok(()) => self.bytes = bytes,
            Err(_) if self.bytes == 0 => drop(self.disk.remove(&self.path)),
            Err(_) => {}
        }
    }

    /// Bytes it has on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}
