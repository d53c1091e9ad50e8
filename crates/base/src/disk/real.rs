//! The operating system's disk.

use super::{Disk, DiskFile};
use rustix::fs::{FallocateFlags, fallocate, statvfs};
use rustix::io::pwritev;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

/// Mode of created files: private, whatever the umask. They hold the users' data and the hash key.
pub const FILE_MODE: u32 = 0o600;
/// Mode of created folders, likewise.
pub const FOLDER_MODE: u32 = 0o700;

/// Maximum pieces of one system call on Linux (`IOV_MAX`).
const PIECES_MAX: usize = 1024;

/// Files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)?)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(RealFile(OpenOptions::new().read(true).write(true).open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn free_bytes(&self, folder: &Path) -> u64 {
        // Some file systems report no sizes.
        let sizes = statvfs(folder).ok().filter(|system| system.f_blocks > 0);
        sizes.map_or(u64::MAX, |system| system.f_bavail.saturating_mul(system.f_frsize))
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        read_at(&self.0, buffer, offset)
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn write_pieces_at(&mut self, mut pieces: &mut [IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        // Empty ones at the front would make a write of nothing look like a full disk.
        IoSlice::advance_slices(&mut pieces, 0);
        while !pieces.is_empty() {
            match pwritev(&self.0, &pieces[..pieces.len().min(PIECES_MAX)], offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    offset += bytes as u64;
                    IoSlice::advance_slices(&mut pieces, bytes);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        match fallocate(&self.0, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => Ok(()),
            // A file system without fallocate: allocate by writing zeros.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                let zeros = vec![0; 1 << 20];
                let mut offset = self.bytes()?;
                while offset < bytes {
                    let count = (bytes - offset).min(zeros.len() as u64);
                    self.0.write_all_at(&zeros[..count as usize], offset)?;
                    offset += count;
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_written_as_their_concatenation() {
        let folder = tempfile::tempdir().unwrap();
        for count in [0, 1, 2, PIECES_MAX, PIECES_MAX + 1, 3 * PIECES_MAX] {
            // Some are empty, at either end too, and a whole system call of them.
            let empty = |at: usize| at.is_multiple_of(3) || at > 2 * PIECES_MAX;
            let pieces: Vec<Vec<u8>> = (0..count).map(|at| vec![at as u8; if empty(at) { 0 } else { at }]).collect();
            let mut file = RealDisk.create(&folder.path().join(count.to_string())).unwrap();
            file.write_at(b"before", 0).unwrap();
            file.write_pieces_at(&mut pieces.iter().map(|piece| IoSlice::new(piece)).collect::<Vec<_>>(), 3).unwrap();
            let expected = [&b"bef"[..], &pieces.concat()].concat();
            let mut bytes = vec![0; expected.len()];
            assert_eq!(file.read_at(&mut bytes, 0).unwrap(), bytes.len());
            assert!(bytes == expected, "{count} pieces");
        }
    }
}
