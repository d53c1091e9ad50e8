//! A dry-run disk: reads the real files, but keeps all changes in memory.
//!
//! ```text
//! unchanged file: read from the system --- first change ---> its bytes in memory     changed names: in memory
//! ```
//!
//! Files are opened read-only, so a read-only folder will do. A changed file is held whole in memory.

use super::{Disk, DiskFile};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The operating system's files, with private changes on top.
#[derive(Clone, Debug, Default)]
pub struct DryDisk {
    /// Differences from the system: files by name, `None` for a name that is gone.
    changed: Arc<Mutex<BTreeMap<PathBuf, Option<SharedContent>>>>,
}

type SharedContent = Arc<Mutex<DryContent>>;

#[derive(Debug)]
enum DryContent {
    Untouched(File),
    Changed(Vec<u8>),
}

impl DryDisk {
    /// Creates a disk without changes.
    pub fn new() -> Self {
        Self::default()
    }

    fn changed(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Option<SharedContent>>> {
        self.changed.lock().expect("no holder panics")
    }
}

/// Returns the file of that name, shared by all that open it.
fn find(changed: &BTreeMap<PathBuf, Option<SharedContent>>, path: &Path) -> io::Result<SharedContent> {
    match changed.get(path) {
        Some(Some(file)) => Ok(file.clone()),
        Some(None) => Err(ErrorKind::NotFound.into()),
        None => Ok(Arc::new(Mutex::new(DryContent::Untouched(File::open(path)?)))),
    }
}

impl Disk for DryDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let changed = self.changed();
        let mut names = BTreeSet::new();
        match std::fs::read_dir(folder) {
            Ok(entries) => {
                for entry in entries {
                    names.extend(entry?.file_name().into_string().ok());
                }
            }
            // It may have been created here.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        for (path, file) in changed.iter().filter(|(path, _)| path.parent() == Some(folder)) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if file.is_some() {
                names.insert(name.to_owned());
            } else {
                names.remove(name);
            }
        }
        Ok(names.into_iter().collect())
    }

    fn create_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut changed = self.changed();
        match find(&changed, path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found.and(Err(ErrorKind::AlreadyExists.into())),
        }
        let content = Arc::new(Mutex::new(DryContent::Changed(Vec::new())));
        changed.insert(path.to_owned(), Some(content.clone()));
        Ok(Box::new(DryFile(content)))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut changed = self.changed();
        let file = find(&changed, path)?;
        changed.insert(path.to_owned(), Some(file.clone()));
        Ok(Box::new(DryFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut changed = self.changed();
        let file = find(&changed, from)?;
        changed.insert(from.to_owned(), None);
        changed.insert(to.to_owned(), Some(file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut changed = self.changed();
        find(&changed, path)?;
        changed.insert(path.to_owned(), None);
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> u64 {
        u64::MAX
    }
}

struct DryFile(SharedContent);

impl DryFile {
    fn content(&self) -> MutexGuard<'_, DryContent> {
        self.0.lock().expect("no holder panics")
    }

    /// Changes the file's bytes.
    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut content = self.content();
        if let DryContent::Untouched(file) = &*content {
            let mut bytes = vec![0; length(file.metadata()?.len())?];
            file.read_exact_at(&mut bytes, 0)?;
            *content = DryContent::Changed(bytes);
        }
        if let DryContent::Changed(bytes) = &mut *content {
            change(bytes);
        }
        Ok(())
    }
}

impl DiskFile for DryFile {
    fn bytes(&self) -> io::Result<u64> {
        match &*self.content() {
            DryContent::Untouched(file) => Ok(file.metadata()?.len()),
            DryContent::Changed(bytes) => Ok(bytes.len() as u64),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &*self.content() {
            DryContent::Untouched(file) => super::real::read_at(file, buffer, offset),
            DryContent::Changed(bytes) => {
                let rest = usize::try_from(offset).ok().and_then(|from| bytes.get(from..)).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            }
        }
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let from = length(offset)?;
        self.change(|content| {
            let end = from + bytes.len();
            content.resize(content.len().max(end), 0);
            content[from..end].copy_from_slice(bytes);
        })
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = length(bytes)?;
        self.change(|content| content.resize(content.len().max(bytes), 0))
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = length(bytes)?;
        self.change(|content| content.resize(bytes, 0))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn length(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| ErrorKind::FileTooLarge.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn a_dry_disk_shows_changes_that_never_reach_the_files() {
        let kept = tempfile::tempdir().unwrap();
        let path = |name: &str| kept.path().join(name);
        std::fs::write(path("old"), b"old bytes").unwrap();
        std::fs::write(path("gone"), b"gone").unwrap();
        let disk = DryDisk::new();
        disk.open(&path("old")).unwrap().write_at(b"new", 4).unwrap();
        disk.rename(&path("old"), &path("other")).unwrap();
        disk.remove(&path("gone")).unwrap();
        disk.create(&path("made")).unwrap().write_at(b"x", 2).unwrap();
        assert_eq!(disk.list(kept.path()).unwrap(), ["made", "other"]);
        let mut bytes = [0; 16];
        let count = disk.open(&path("other")).unwrap().read_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes[..count], b"old newes");
        assert_eq!(disk.open(&path("made")).unwrap().bytes().unwrap(), 3);
        assert_eq!(disk.open(&path("old")).err().unwrap().kind(), ErrorKind::NotFound);
        assert_eq!(disk.create(&path("made")).err().unwrap().kind(), ErrorKind::AlreadyExists);
        assert_eq!(RealDisk.list(kept.path()).unwrap(), ["gone", "old"]);
        assert_eq!(std::fs::read(path("old")).unwrap(), b"old bytes");
    }
}
