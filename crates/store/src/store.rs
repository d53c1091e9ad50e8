//! The store: opens it, describes it, and applies commits to it.
//!
//! ```text
//! open   the manifest of the highest number: head, whole state, commits      damaged, or torn at its end
//!        is there proof of a later commit?  a mark beyond the end, a segment begun after it, a named one gone: damaged
//!        write the state to a manifest of the next number: from here on it is durable
//!        remove files that no commit names, except intact segments begun after the last commit
//! begin  remove those too
//! ```
//!
//! So when the journal and the store turn out not to match, nothing has been lost yet, not even a torn record.

use crate::commit::Commit;
use crate::manifest::{self, Log, Walk};
use crate::names::{self, Inventory};
use crate::reader::{Catalog, Handles, Reader, SegmentFile};
use crate::reserve::Reserve;
use crate::segment::{END_BYTES, HEAD_BYTES, SegmentHead, decode_end};
use crate::state::{Change, MapRecord, SegmentKind, SegmentRecord, ShardRecord, State};
use crate::{Options, StoreError};
use base::disk::Disk;
use base::{Ms, Position};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Each shard's contents as of the last commit.
pub struct Store {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    options: Options,
    state: State,
    log: Log,
    /// Number of the last commit tried.
    tried_commit: u64,
    next_segment: u32,
    handles: Arc<Handles>,
    catalog: Arc<Catalog>,
    reserve: Reserve,
    doomed: Vec<Doomed>,
    opening: Opening,
    statistics: Statistics,
}

/// A file to be removed.
struct Doomed {
    path: PathBuf,
    /// Renamed to this instead.
    aside: Option<PathBuf>,
    /// Kept while a reader knows it.
    segment: Option<Arc<SegmentFile>>,
}

/// Findings when the store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// There was no store, and one was created.
    pub is_new: bool,
    /// A torn last record, saved to a file.
    pub torn: Option<Torn>,
    /// Intact segments that no commit names: their commit did not finish, or its record is lost. Nothing is lost if the
    /// journal goes back to [`Store::least_position`]. The first commit removes them.
    pub unclaimed: Vec<PathBuf>,
}

/// Bytes beyond the manifest's last valid record, none of them known synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The manifest.
    pub file: PathBuf,
    /// Offset in it.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// A description of the damage.
    pub why: String,
}

/// A segment that shards name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentState {
    /// Its number.
    pub number: u32,
    /// Its kind.
    pub kind: SegmentKind,
    /// Bytes of its file.
    pub file_bytes: u64,
    /// Bytes named by shards; blocks shared by two values count twice.
    pub live_bytes: u64,
    /// Creation time.
    pub created_ms: Ms,
}

impl SegmentState {
    /// Returns the bytes of runs or blocks in its file, live or dead.
    pub fn content_bytes(&self) -> u64 {
        self.file_bytes.saturating_sub((HEAD_BYTES + END_BYTES) as u64)
    }
}

/// Counters and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes of segments, manifest and reserve.
    pub disk_bytes: u64,
    /// Bytes named by shards; blocks shared by two values count twice.
    pub live_bytes: u64,
    /// Segments that shards name.
    pub segments: u64,
    /// Files to be removed.
    pub doomed: u64,
    /// Commits since it was opened.
    pub commits: u64,
    /// Commits since it was opened that failed or were dropped.
    pub commits_failed: u64,
    /// Bytes written since it was opened.
    pub bytes_written: u64,
    /// Bytes of runs and blocks in the last commit.
    pub last_commit_bytes: u64,
    /// End of the last commit, even in an earlier run; 0 if there was none.
    pub last_commit_ms: Ms,
}

impl Store {
    /// Opens the store in `folder`, or creates one.
    ///
    /// # Errors
    /// Disk errors, and damage, with file and offset.
    pub fn open(disk: Arc<dyn Disk>, folder: &Path, options: Options) -> Result<Self, StoreError> {
        assert!(options.segment_bytes_max < u64::from(u32::MAX), "a block's offset has 32 bits");
        disk.create_folder(folder).map_err(StoreError::io(folder))?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            disk.sync_folder(parent).map_err(StoreError::io(parent))?;
        }
        let inventory = Inventory::of(&disk.list(folder).map_err(StoreError::io(folder))?);
        match inventory.manifests.last() {
            Some(&number) => Self::open_old(disk, folder, options, &inventory, number),
            None if inventory.segments.is_empty() => Self::make(disk, folder, options, &inventory),
            None => {
                let why = "the manifest is missing, and there are segments";
                Err(StoreError::damaged(&folder.join(names::manifest(1)), 0, why))
            }
        }
    }

    fn make(disk: Arc<dyn Disk>, folder: &Path, options: Options, inventory: &Inventory) -> Result<Self, StoreError> {
        let log = Log::new(disk.clone(), folder, 0, inventory.highest_manifest());
        let mut store = Self::assemble(disk, folder, options, State::new(options.shards), log);
        store.opening.is_new = true;
        store.begin_manifest(inventory)?;
        Ok(store)
    }

    fn open_old(
        disk: Arc<dyn Disk>,
        folder: &Path,
        options: Options,
        inventory: &Inventory,
        number: u32,
    ) -> Result<Self, StoreError> {
        let path = folder.join(names::manifest(number));
        let bytes = manifest::load(&*disk, &path)?;
        let damaged = |(offset, why): (u64, String)| StoreError::damaged(&path, offset, why);
        let mut walk = manifest::walk(&bytes).map_err(damaged)?;
        check_head(&walk, number, &options).map_err(|why| damaged((0, why)))?;
        walk.state.forget_dead();
        let (opening, unfinished) = judge(&*disk, folder, &path, &bytes, &walk, inventory)?;
        // No record ever named them, and a full disk may need the space.
        unfinished.iter().for_each(|path| drop(disk.remove(path)));
        let log = Log::new(disk.clone(), folder, number, inventory.highest_manifest());
        let mut store = Self::assemble(disk, folder, options, walk.state, log);
        store.opening = opening;
        store.statistics.last_commit_ms = walk.time_ms;
        store.begin_manifest(inventory)?;
        Ok(store)
    }

    /// Makes the state durable, and removes files that it does not name.
    fn begin_manifest(&mut self, inventory: &Inventory) -> Result<(), StoreError> {
        let new = inventory.unfinished.iter().map(|&number| self.folder.join(names::manifest_new(number)));
        new.for_each(|path| drop(self.disk.remove(&path)));
        let (mut doomed, times_ms) = (Vec::new(), [self.options.now_ms, self.statistics.last_commit_ms]);
        let begun = self.log.anew(&self.state, &self.options, times_ms, &mut self.reserve, &mut doomed);
        match begun {
            // The first commit writes it; until then nothing is removed.
            Err(error) if error.is_full() && !self.opening.is_new => self.settle()?,
            begun => drop(begun?),
        }
        self.doom(doomed.into_iter());
        let unclaimed = self.opening.unclaimed.clone();
        self.doom_strangers(inventory, &unclaimed);
        self.sweep();
        self.doom(unclaimed.into_iter());
        self.make_reserve();
        Ok(())
    }

    fn make_reserve(&mut self) {
        self.reserve.make(self.state.segments.values().map(|segment| segment.bytes).sum());
    }

    /// Makes the manifest that was read as durable as a sync can.
    fn settle(&self) -> Result<(), StoreError> {
        let path = self.log.path();
        self.disk.open(&path).and_then(|mut file| file.sync()).map_err(StoreError::io(&path))?;
        self.disk.sync_folder(&self.folder).map_err(StoreError::io(&self.folder))
    }

    /// Creates a store with this state. Does nothing on disk.
    pub(crate) fn assemble(disk: Arc<dyn Disk>, folder: &Path, options: Options, state: State, log: Log) -> Self {
        let segments = state.segments.values().map(|&record| (record.number, SegmentFile::new(folder, record)));
        Self {
            catalog: Arc::new(segments.collect()),
            tried_commit: state.commit,
            next_segment: state.next_segment,
            log,
            state,
            handles: Handles::new(disk.clone()),
            reserve: Reserve::new(disk.clone(), folder, options.reserve_bytes),
            doomed: Vec::new(),
            opening: Opening::default(),
            statistics: Statistics::default(),
            disk,
            folder: folder.to_owned(),
            options,
        }
    }

    /// Dooms files that no commit names, except `spared`, and skips their numbers.
    pub(crate) fn doom_strangers(&mut self, inventory: &Inventory, spared: &[PathBuf]) {
        let current = self.log.path();
        let manifests = inventory.manifests.iter().map(|&number| names::manifest(number));
        let unfinished = inventory.unfinished.iter().map(|&number| names::manifest_new(number));
        let strangers = inventory.segments.iter().filter(|(number, _)| !self.state.segments.contains_key(number));
        let strangers = strangers.map(|&(number, kind)| names::segment(number, kind));
        let all: Vec<PathBuf> =
            manifests.chain(unfinished).chain(strangers).map(|name| self.folder.join(name)).collect();
        let known: Vec<PathBuf> = self.doomed.iter().map(|doomed| doomed.path.clone()).collect();
        let is_new = |path: &PathBuf| *path != current && !spared.contains(path) && !known.contains(path);
        self.doom(all.into_iter().filter(is_new));
        let used = inventory.segments.iter().map(|(number, _)| number.saturating_add(1)).max();
        self.next_segment = self.next_segment.max(used.unwrap_or(1));
    }

    /// Returns the findings of the opening.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Returns the stored state of a shard.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn shard(&self, index: u32) -> &ShardRecord {
        &self.state.shards[index as usize]
    }

    /// Returns the map of tables; `None` before one was committed.
    pub fn map(&self) -> Option<&MapRecord> {
        self.state.map.as_ref()
    }

    /// Returns the least position of all shards and of the map: the journal is needed from here on.
    pub fn least_position(&self) -> Position {
        self.state.least_position()
    }

    /// Returns the highest position of all shards and of the map: the journal must reach it.
    pub fn greatest_position(&self) -> Position {
        let map = self.state.map.as_ref().map_or(0, |map| map.position);
        self.state.shards.iter().map(|record| record.position).fold(map, Position::max)
    }

    /// Returns the number of the last commit.
    pub fn commits(&self) -> u64 {
        self.state.commit
    }

    /// Returns true if some shard names the segment.
    pub fn is_alive(&self, segment: u32) -> bool {
        self.state.segments.contains_key(&segment)
    }

    /// Returns a reader of the present committed state.
    pub fn reader(&self) -> Reader {
        Reader::new(self.handles.clone(), self.catalog.clone())
    }

    /// Begins a commit.
    pub fn begin(&mut self, now_ms: Ms) -> Commit<'_> {
        self.sweep();
        Commit::new(self, now_ms)
    }

    /// Returns the bytes of disk space available to a commit, including the reserve; `u64::MAX` if unknown.
    pub fn free_bytes(&self) -> u64 {
        self.disk.free_bytes(&self.folder).saturating_add(self.reserve.bytes())
    }

    /// Returns the segments that shards name. O(shards).
    pub fn segments(&self) -> Vec<SegmentState> {
        let live = self.state.live_bytes();
        let state = |segment: &SegmentRecord| SegmentState {
            number: segment.number,
            kind: segment.kind,
            file_bytes: segment.bytes,
            live_bytes: live.get(&segment.number).copied().unwrap_or(0),
            created_ms: segment.created_ms,
        };
        self.state.segments.values().map(state).collect()
    }

    /// Returns the counters. O(shards).
    pub fn statistics(&self) -> Statistics {
        let segments = self.segments();
        let file_bytes: u64 = segments.iter().map(|segment| segment.file_bytes).sum();
        Statistics {
            disk_bytes: file_bytes + self.log.bytes() + self.reserve.bytes(),
            live_bytes: segments.iter().map(|segment| segment.live_bytes).fold(0, u64::saturating_add),
            segments: segments.len() as u64,
            doomed: self.doomed.len() as u64,
            ..self.statistics
        }
    }

    /// Stops cleanly, so that committed records can be distinguished from torn ones.
    ///
    /// # Errors
    /// Disk errors; everything committed is durable all the same.
    pub fn close(self) -> Result<(), StoreError> {
        self.log.close()
    }

    /// Commits `change`. An error leaves the state unchanged; `may_be_there` is then set if the change may still appear
    /// after a crash.
    pub(crate) fn commit(&mut self, change: Change, now_ms: Ms, may_be_there: &mut bool) -> Result<(), StoreError> {
        if !change.segments.is_empty() {
            self.disk.sync_folder(&self.folder).map_err(StoreError::io(&self.folder))?;
        }
        let new = change.segments.clone();
        let mut state = self.state.clone();
        state.commit = self.tried_commit + 1;
        if let Err(why) = state.apply(change.clone()) {
            panic!("a commit contradicts the store: {why}");
        }
        let mut dead = state.forget_dead();
        let mut doomed = Vec::new();
        let written = self.log.commit(&change, &state, &self.options, now_ms, &mut self.reserve, &mut doomed);
        *may_be_there = self.log.has_tried();
        if written.is_ok() || self.log.is_in_doubt() {
            self.tried_commit = state.commit;
        }
        self.doom(doomed.into_iter());
        self.statistics.bytes_written += written?;
        self.state = state;
        let mut catalog = Catalog::clone(&self.catalog);
        catalog.extend(new.into_iter().map(|record| (record.number, SegmentFile::new(&self.folder, record))));
        for segment in dead.drain(..).filter_map(|record| catalog.remove(&record.number)) {
            self.doomed.push(Doomed { path: segment.path.clone(), aside: None, segment: Some(segment) });
        }
        self.catalog = Arc::new(catalog);
        Ok(())
    }

    /// Updates the counters after a commit of `bytes`, or a failed one.
    pub(crate) fn commit_ended(&mut self, bytes: Option<u64>, now_ms: Ms) {
        match bytes {
            Some(bytes) => {
                self.statistics.commits += 1;
                self.statistics.bytes_written += bytes;
                self.statistics.last_commit_bytes = bytes;
                self.statistics.last_commit_ms = now_ms;
            }
            None => self.statistics.commits_failed += 1,
        }
        self.sweep();
        self.make_reserve();
    }

    /// Removes the files of a failed commit: at once, so that nothing in doubt keeps their space, unless the manifest
    /// may name them.
    pub(crate) fn give_up(&mut self, paths: Vec<PathBuf>, may_be_named: bool) {
        let kept = |path: &PathBuf| may_be_named || self.disk.remove(path).is_err();
        let paths: Vec<PathBuf> = paths.into_iter().filter(kept).collect();
        self.doom(paths.into_iter());
    }

    /// Schedules files for removal once nothing is in doubt.
    pub(crate) fn doom(&mut self, paths: impl Iterator<Item = PathBuf>) {
        let torn = self.opening.torn.as_ref().map(|torn| &torn.file);
        let doomed = paths.map(|path| Doomed {
            aside: torn.filter(|torn| **torn == path).and_then(|_| self.aside("torn", &path)),
            path,
            segment: None,
        });
        let doomed: Vec<_> = doomed.collect();
        self.doomed.extend(doomed);
    }

    /// Schedules a file for renaming once nothing is in doubt; returns the new name.
    pub(crate) fn keep_aside(&mut self, path: &Path) -> Option<PathBuf> {
        let aside = self.aside("damaged", path);
        self.doomed.retain(|doomed| doomed.path != path);
        self.doomed.push(Doomed { path: path.to_owned(), aside: aside.clone(), segment: None });
        aside
    }

    /// Returns a free name for a file of saved bytes.
    pub(crate) fn aside(&self, prefix: &str, path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.to_str()?;
        (1..1000)
            .map(|attempt| self.folder.join(format!("{prefix}-{name}-{attempt}.bin")))
            .find(|path| matches!(self.disk.open(path), Err(error) if error.kind() == io::ErrorKind::NotFound))
    }

    /// Removes doomed files. Retries failures with the next commit.
    fn sweep(&mut self) {
        if self.log.is_in_doubt() {
            return;
        }
        let doomed = std::mem::take(&mut self.doomed);
        self.doomed = doomed.into_iter().filter(|doomed| !self.remove(doomed)).collect();
    }

    fn remove(&self, doomed: &Doomed) -> bool {
        if let Some(segment) = &doomed.segment {
            if Arc::strong_count(segment) > 1 {
                return false;
            }
            self.handles.close(segment.record.number);
        }
        let removed = match &doomed.aside {
            Some(aside) => self.disk.rename(&doomed.path, aside),
            None => self.disk.remove(&doomed.path),
        };
        removed.map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true)
    }

    /// Returns the head of the next segment; `None` when the numbers are used up.
    pub(crate) fn next_head(&mut self, kind: SegmentKind, created_ms: Ms) -> Option<SegmentHead> {
        let number = self.next_segment;
        // Used up for good: a place noted for a failed commit must never become alive.
        self.next_segment = number.checked_add(1)?;
        let follows = self.state.commit;
        Some(SegmentHead { kind, number, blocks_format: self.options.blocks_format, follows, created_ms })
    }

    pub(crate) fn making(&mut self) -> (&dyn Disk, &Path, &mut Reserve) {
        (&*self.disk, &self.folder, &mut self.reserve)
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.clone()
    }

    pub(crate) fn reserve_mut(&mut self) -> &mut Reserve {
        &mut self.reserve
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn next_segment(&self) -> u32 {
        self.next_segment
    }

    pub(crate) fn segment_bytes_max(&self) -> u64 {
        self.options.segment_bytes_max
    }
}

/// Checks that the manifest belongs to this store.
pub(crate) fn check_head(walk: &Walk, number: u32, options: &Options) -> Result<(), String> {
    let head = &walk.head;
    if head.number != number {
        return Err(format!("the file holds manifest {}", head.number));
    }
    // An interrupted start created the store before the folder's identity was written; the next start draws another.
    let is_blank = walk.state.commit == 0 && walk.state.segments.is_empty();
    if head.identity != options.identity && !is_blank {
        return Err("the store belongs to another data folder".into());
    }
    if head.shards != options.shards {
        return Err(format!("the store has {} shards, expected {}", head.shards, options.shards));
    }
    if head.blocks_format != options.blocks_format {
        let (found, known) = (head.blocks_format, options.blocks_format);
        return Err(format!("its blocks have format version {found}, known is {known}"));
    }
    Ok(())
}

/// Refuses a manifest that has provably lost data. Also returns the segments never fully written.
pub(crate) fn judge(
    disk: &dyn Disk,
    folder: &Path,
    path: &Path,
    bytes: &[u8],
    walk: &Walk,
    inventory: &Inventory,
) -> Result<(Opening, Vec<PathBuf>), StoreError> {
    let commit = walk.state.commit;
    let lost = |offset: u64, what: String| {
        let why = walk.broken.unwrap_or("the manifest ends here");
        Err(StoreError::damaged(path, offset, format!("{why} after commit {commit}, although {what}")))
    };
    if let Some((offset, later)) = manifest::mark_beyond(bytes, walk) {
        return lost(walk.end, format!("a mark proves that commit {later} was synced (byte {offset})"));
    }
    let (mut opening, mut unfinished) = (Opening::default(), Vec::new());
    for &(number, kind) in &inventory.segments {
        if walk.state.segments.contains_key(&number) {
            continue;
        }
        let stranger = folder.join(names::segment(number, kind));
        match look_at(disk, &stranger, number).map_err(StoreError::io(&stranger))? {
            Some((follows, _)) if follows > commit => {
                return lost(walk.end, format!("{} was created after commit {follows}", names::segment(number, kind)));
            }
            Some((follows, true)) if follows == commit => opening.unclaimed.push(stranger),
            Some((_, true)) => {}
            Some((_, false)) | None => unfinished.push(stranger),
        }
    }
    // Whether the manifest may have ended later.
    let is_suspect = walk.broken.is_some() || !opening.unclaimed.is_empty();
    for segment in walk.state.segments.values() {
        match check_there(disk, folder, segment) {
            // The state at the end still names it, but a later one did not.
            Err(StoreError::Damaged { file, .. }) if is_suspect && !file_is_there(disk, &file) => {
                return lost(walk.end, format!("that commit names {}, which is missing", file.display()));
            }
            there => there?,
        }
    }
    let rest = &bytes[walk.end as usize..];
    opening.torn = walk.broken.filter(|_| rest.iter().any(|&byte| byte != 0)).map(|why| Torn {
        file: path.to_owned(),
        offset: walk.end,
        bytes: rest.len() as u64,
        why: why.into(),
    });
    Ok((opening, unfinished))
}

/// Checks that a named segment exists with its full length.
fn check_there(disk: &dyn Disk, folder: &Path, segment: &SegmentRecord) -> Result<(), StoreError> {
    let path = folder.join(names::segment(segment.number, segment.kind));
    match disk.open(&path).and_then(|file| file.bytes()) {
        Ok(bytes) if bytes >= segment.bytes => Ok(()),
        Ok(bytes) => {
            Err(StoreError::damaged(&path, bytes, format!("the file ends here, it was {} bytes long", segment.bytes)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(StoreError::damaged(&path, 0, "the file is missing, and the manifest names it"))
        }
        Err(error) => Err(StoreError::Io { file: path, error }),
    }
}

fn file_is_there(disk: &dyn Disk, path: &Path) -> bool {
    !matches!(disk.open(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Returns the commit that a segment follows, and whether it is intact; `None` if not even its head is.
fn look_at(disk: &dyn Disk, path: &Path, number: u32) -> io::Result<Option<(u64, bool)>> {
    let file = disk.open(path)?;
    let mut head = [0; HEAD_BYTES];
    let count = file.read_at(&mut head, 0)?;
    let Some(head) = SegmentHead::decode(&head[..count]).ok().filter(|head| head.number == number) else {
        return Ok(None);
    };
    let end_at = file.bytes()?.saturating_sub(END_BYTES as u64);
    let mut end = [0; END_BYTES];
    let count = file.read_at(&mut end, end_at)?;
    Ok(Some((head.follows, decode_end(&end[..count], number, end_at).is_ok())))
}
