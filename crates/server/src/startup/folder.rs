//! The data folder: created if absent, and held by one process at a time.

use super::Refused;
use base::disk::{FILE_MODE, FOLDER_MODE};
use rustix::fs::{Access, access};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tracing::warn;

/// The lock file in the folder. The file remains after a stop; only its lock counts, which the process holds.
const LOCK: &str = "bobbin.lock";

/// A data folder that only this process may use while this lives.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
}

impl DataFolder {
    /// Creates the folder if it is absent, and locks it.
    ///
    /// # Errors
    /// Fails if it cannot be created or written, or another process holds it.
    pub fn take(path: &Path) -> Result<Self, Refused> {
        let unusable = |error: &io::Error| {
            let remedy = "make it writable or choose another with --dir";
            let other = || format!("cannot write to the data folder {}: {error}; {remedy}", path.display());
            Refused::by_disk(path, error, other)
        };
        let is_new = !path.exists();
        make(path).map_err(|error| unusable(&error))?;
        access(path, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| unusable(&io::Error::from(error)))?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path.join(LOCK));
        let mut lock = file.map_err(|error| unusable(&error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(path, &mut lock)),
            Err(TryLockError::Error(error)) => return Err(unusable(&error)),
        }
        if !is_new {
            warn_if_open(path);
        }
        // Only informative: on a full disk the server starts without.
        let _ = lock.set_len(0).and_then(|()| write!(lock, "{}", std::process::id()));
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Locks an existing folder, changing nothing in it. A folder without a lock file has never been held and stays
    /// unlocked.
    ///
    /// # Errors
    /// Fails if it does not exist, cannot be read, or another process holds it.
    pub fn look_at(path: &Path) -> Result<Option<Self>, Refused> {
        let unreadable = |error: &io::Error| Refused::by_disk(path, error, || format!("{}: {error}", path.display()));
        fs::read_dir(path).map_err(|error| unreadable(&error))?;
        let mut lock = match File::open(path.join(LOCK)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&error)),
        };
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { path: path.to_owned(), _lock: lock })),
            Err(TryLockError::WouldBlock) => Err(held(path, &mut lock)),
            Err(TryLockError::Error(error)) => Err(unreadable(&error)),
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Creates the folder and its parents, and makes their names durable: data synced inside a folder that disappears in a
/// power failure is lost with it.
fn make(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path
        .ancestors()
        .filter(|folder| !folder.as_os_str().is_empty())
        .take_while(|folder| !folder.exists())
        .collect();
    fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)?;
    for folder in missing {
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

/// Warns if others may read the folder or files in it. Existing permissions are not changed.
fn warn_if_open(path: &Path) {
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0);
    if is_open(path) {
        let shown = path.display();
        warn!("other users of this machine can open the data folder {shown}; close it with: chmod -R go= {shown}");
    }
}

fn held(path: &Path, lock: &mut File) -> Refused {
    let mut text = String::new();
    let _ = lock.read_to_string(&mut text);
    let process = text.trim().parse::<u32>().map_or(String::new(), |id| format!(", pid {id}"));
    let path = path.display();
    Refused::new(format!("the data folder {path} is in use by another Bobbin{process}; choose another with --dir"))
}
