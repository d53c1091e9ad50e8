//! Room for a commit on a full disk: a file whose room is claimed, given up when a write finds none.

use crate::error::is_full;
use crate::names;
use base::disk::Disk;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes: u64,
    is_there: bool,
}

impl Reserve {
    /// The reserve of `folder`. Nothing is made.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: &Path, bytes: u64) -> Self {
        let path = folder.join(names::RESERVE);
        let is_there = bytes > 0 && disk.open(&path).and_then(|file| file.bytes()).is_ok_and(|it| it == bytes);
        Self { disk, path, bytes, is_there }
    }

    /// Does `what`; if the disk is full, gives up the reserve and does it again.
    pub(crate) fn spend<T>(&mut self, mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        match what() {
            Err(error) if is_full(&error) && self.is_there => {
                self.is_there = false;
                self.disk.remove(&self.path)?;
                what()
            }
            done => done,
        }
    }

    /// Makes it if it is not there and the disk has the room.
    pub(crate) fn make(&mut self) {
        if self.is_there || self.bytes == 0 {
            return;
        }
        // Of another length, or half made: a crash came between.
        let _ = self.disk.remove(&self.path);
        let made = self.disk.create(&self.path).and_then(|mut file| file.allocate(self.bytes));
        self.is_there = made.is_ok();
        if made.is_err() {
            let _ = self.disk.remove(&self.path);
        }
    }

    /// Bytes it has on the disk.
    pub(crate) fn bytes(&self) -> u64 {
        if self.is_there { self.bytes } else { 0 }
    }
}
