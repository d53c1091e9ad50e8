//! A disk on which any operation may occasionally fail, while its other users are served: for the store's files.

use base::disk::{Disk, DiskFile, FakeDisk};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The fault state: whether operations currently fail, and which.
#[derive(Clone, Default)]
pub(crate) struct Illness(Arc<AtomicU64>);

/// One in this many operations fails.
const FAILS_ONE_IN: u64 = 60;

impl Illness {
    /// Starts failures; `seed` decides which operations fail.
    pub(crate) fn begin(&self, seed: u64) {
        self.0.store(seed | 1, SeqCst);
    }

    /// Ends all failures.
    pub(crate) fn end(&self) {
        self.0.store(0, SeqCst);
    }

    /// Decides whether the next operation of `disk` fails.
    fn strike(&self, disk: &FakeDisk) {
        let mut state = self.0.load(SeqCst);
        if state == 0 {
            return;
        }
        // Xorshift: never 0.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.store(state, SeqCst);
        if (state >> 20).is_multiple_of(FAILS_ONE_IN) {
            disk.fail_at(disk.operations());
        }
    }
}

/// A disk that fails according to its illness.
pub(crate) struct SickDisk {
    pub(crate) disk: FakeDisk,
    pub(crate) illness: Illness,
}

struct SickFile {
    file: Box<dyn DiskFile>,
    disk: FakeDisk,
    illness: Illness,
}

impl SickDisk {
    fn well_or_not(&self) -> &FakeDisk {
        self.illness.strike(&self.disk);
        &self.disk
    }

    fn file(&self, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(SickFile { file, disk: self.disk.clone(), illness: self.illness.clone() })
    }
}

impl Disk for SickDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.well_or_not().list(folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.well_or_not().create_folder(folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.file(self.well_or_not().create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(self.file(self.well_or_not().open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.well_or_not().rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.well_or_not().remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.well_or_not().sync_folder(folder)
    }

    fn free_bytes(&self, folder: &Path) -> u64 {
        self.disk.free_bytes(folder)
    }
}

impl DiskFile for SickFile {
    fn bytes(&self) -> io::Result<u64> {
        self.illness.strike(&self.disk);
        self.file.bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.illness.strike(&self.disk);
        self.file.read_at(buffer, offset)
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.illness.strike(&self.disk);
        self.file.write_at(bytes, offset)
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        self.illness.strike(&self.disk);
        self.file.allocate(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.illness.strike(&self.disk);
        self.file.truncate(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.illness.strike(&self.disk);
        self.file.sync()
    }
}
