//! Writes the manifest: a commit is one appended record, or the first record of a new manifest.
//!
//! ```text
//! append   write the record, sync it: THE COMMIT.  Write a mark after it, which the next sync makes durable.
//! anew     write manifest n + 1 under another name, sync it, rename it, sync the folder: THE COMMIT.
//! ```
//!
//! A new manifest is written if the old one has grown, if its end is in doubt after a failed write or sync, and at each
//! start, since data read then may be in the page cache only because of a failed sync, which no later sync repairs.
//! Bytes left by a write that found no room are cut off instead. A number once tried is not reused.

use super::change;
use super::format::{HEAD_BYTES, Head, Kind, put_record};
use crate::error::is_full;
use crate::reserve::Reserve;
use crate::state::{Change, State};
use crate::{Options, StoreError, names};
use base::Ms;
use base::disk::{Disk, DiskFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The manifest that commits are written to.
pub(crate) struct Log {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    file: Option<Box<dyn DiskFile>>,
    number: u32,
    /// The highest number ever tried.
    tried: u32,
    bytes: u64,
    snapshot_bytes: u64,
    crc: u32,
    in_doubt: bool,
    has_tried: bool,
}

/// A commit to append.
struct Append<'a> {
    record: &'a [u8],
    crc: u32,
    commit: u64,
    now_ms: Ms,
}

impl Log {
    /// Creates the log of a folder whose manifest has `number` (0 if there is none), and in which no number above
    /// `tried` was begun. Begins with a new manifest.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: &Path, number: u32, tried: u32) -> Self {
        let folder = folder.to_owned();
        Self {
            disk,
            folder,
            file: None,
            number,
            tried,
            bytes: 0,
            snapshot_bytes: 0,
            crc: 0,
            in_doubt: true,
            has_tried: false,
        }
    }

    /// Returns true if a failed commit may survive a crash.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    /// Returns true if the last commit, if it failed, may survive a crash.
    pub(crate) fn has_tried(&self) -> bool {
        self.has_tried
    }

    /// Returns the bytes of the manifest.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(names::manifest(self.number))
    }

    /// Writes a commit that leads to `state`, durably. Returns the bytes written. Adds files to remove once nothing is
    /// in doubt to `doomed`.
    pub(crate) fn commit(
        &mut self,
        change: &Change,
        state: &State,
        options: &Options,
        now_ms: Ms,
        reserve: &mut Reserve,
        doomed: &mut Vec<PathBuf>,
    ) -> Result<u64, StoreError> {
        self.has_tried = false;
        let mut record = Vec::new();
        let payload = change::encode(change);
        let crc = put_record(&mut record, Kind::Commit, self.number, state.commit, now_ms, self.crc, &payload);
        let bytes_max = options.manifest_bytes_min.max(4 * self.snapshot_bytes);
        let fits = self.bytes + record.len() as u64 <= bytes_max;
        let may_append = self.file.is_some() && !self.in_doubt;
        if !fits || !may_append {
            let done = self.anew(state, options, [now_ms; 2], reserve, doomed);
            // A disk without room for the whole state may have room for one commit.
            if done.is_ok() || self.in_doubt || !may_append {
                return done;
            }
        }
        let commit = Append { record: &record, crc, commit: state.commit, now_ms };
        self.append(&commit, reserve)
    }

    fn append(&mut self, commit: &Append<'_>, reserve: &mut Reserve) -> Result<u64, StoreError> {
        let path = self.path();
        let offset = self.bytes;
        let mut file = self.file.take().expect("a manifest that is appended to is open");
        (self.in_doubt, self.has_tried) = (true, true);
        if let Err(error) = reserve.spend(|| file.write_at(commit.record, offset)) {
            if is_full(&error) && self.cut(file) {
                self.has_tried = false;
            }
            return Err(StoreError::Io { file: path, error });
        }
        file.sync().map_err(StoreError::io(&path))?;
        self.bytes += commit.record.len() as u64;
        self.crc = commit.crc;
        let mut mark = Vec::new();
        put_record(&mut mark, Kind::Mark, self.number, commit.commit, commit.now_ms, commit.crc, &[]);
        // The commit is done; the manifest's end is in doubt if its mark is not written.
        match file.write_at(&mark, self.bytes) {
            Ok(()) => {
                self.bytes += mark.len() as u64;
                self.in_doubt = false;
                self.file = Some(file);
            }
            Err(error) if is_full(&error) => drop(self.cut(file)),
            Err(_) => {}
        }
        Ok(commit.record.len() as u64)
    }

    /// Cuts off the bytes of a write that found no room: no sync has failed, so the next one can be trusted. Otherwise
    /// going on would need room for the whole state, which a full disk may never have. Returns true if it succeeded.
    fn cut(&mut self, mut file: Box<dyn DiskFile>) -> bool {
        let is_cut = file.truncate(self.bytes).and_then(|()| file.sync()).is_ok();
        if is_cut {
            self.in_doubt = false;
            self.file = Some(file);
        }
        is_cut
    }

    /// Writes a manifest of the next number with the whole state; `times_ms` are the current time and the time of the
    /// last commit.
    pub(crate) fn anew(
        &mut self,
        state: &State,
        options: &Options,
        times_ms: [Ms; 2],
        reserve: &mut Reserve,
        doomed: &mut Vec<PathBuf>,
    ) -> Result<u64, StoreError> {
        let number = self.tried.checked_add(1).ok_or_else(|| StoreError::used_up(&self.folder))?;
        self.tried = number;
        let (new, path) = (names::manifest_new(number), names::manifest(number));
        let (new, path) = (self.folder.join(new), self.folder.join(path));
        let Options { shards, blocks_format, identity, .. } = *options;
        let head = Head { number, shards, blocks_format, identity, created_ms: times_ms[0] };
        let mut bytes = head.encode().to_vec();
        let payload = change::encode(&state.whole());
        let crc = put_record(&mut bytes, Kind::Whole, number, state.commit, times_ms[1], head.crc(), &payload);
        let file = match self.write_new(&new, &bytes, reserve) {
            Ok(file) => file,
            Err(error) => {
                let _ = self.disk.remove(&new);
                doomed.push(new);
                return Err(error);
            }
        };
        (self.in_doubt, self.has_tried) = (true, true);
        let renamed = self.disk.rename(&new, &path).and_then(|()| self.disk.sync_folder(&self.folder));
        if let Err(error) = renamed {
            doomed.extend([new, path.clone()]);
            return Err(StoreError::Io { file: path, error });
        }
        if self.number != 0 {
            doomed.push(self.path());
        }
        self.number = number;
        self.file = Some(file);
        self.bytes = bytes.len() as u64;
        self.snapshot_bytes = self.bytes - HEAD_BYTES as u64;
        self.crc = crc;
        self.in_doubt = false;
        Ok(self.bytes)
    }

    fn write_new(&self, path: &Path, bytes: &[u8], reserve: &mut Reserve) -> Result<Box<dyn DiskFile>, StoreError> {
        let mut file = reserve.spend(|| self.disk.create(path)).map_err(StoreError::io(path))?;
        let written = reserve.spend(|| file.write_at(bytes, 0)).and_then(|()| file.sync());
        written.map(|()| file).map_err(StoreError::io(path))
    }

    /// Makes the last mark durable.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        let path = self.path();
        self.file.as_mut().map_or(Ok(()), |file| file.sync()).map_err(StoreError::io(&path))
    }
}
