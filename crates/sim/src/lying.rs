//! A disk whose sync does nothing: the canary among disks, which every world must detect.

use base::disk::{Disk, DiskFile, FakeDisk};
use std::io;
use std::path::Path;

/// Claims to have synced.
pub(crate) struct LyingDisk(pub(crate) FakeDisk);

struct LyingFile(Box<dyn DiskFile>);

impl Disk for LyingDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.create_folder(folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(LyingFile(self.0.create(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(LyingFile(self.0.open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.sync_folder(folder)
    }

    fn free_bytes(&self, folder: &Path) -> u64 {
        self.0.free_bytes(folder)
    }
}

impl DiskFile for LyingFile {
    fn bytes(&self) -> io::Result<u64> {
        self.0.bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.allocate(bytes)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.truncate(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
