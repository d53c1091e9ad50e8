//! An in-memory disk that loses unsynced data on a crash, fails on demand and fills up.
//!
//! ```text
//!            names                       bytes of a file, in sectors of 512
//! live       what the program sees       what the program sees
//! durable    after `sync_folder`         after `sync`
//!
//! crash(seed): durable, plus an arbitrary part of the live state: an unsynced sector has its new or its old bytes,
//!              an unsynced change of a name has happened or not
//! ```
//!
//! A failed sync leaves its sectors in doubt for ever: they may be durable or not, and no later sync reports or repairs
//! it, unless they are written again.

use super::{Disk, DiskFile};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that survive a power cut whole or not at all.
const SECTOR_BYTES: usize = 512;

/// An in-memory disk; clones share it.
#[derive(Clone)]
pub struct FakeDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Clone, Default)]
struct State {
    files: BTreeMap<u64, FakeContent>,
    files_made: u64,
    live: BTreeMap<PathBuf, u64>,
    durable: BTreeMap<PathBuf, u64>,
    folders: BTreeSet<PathBuf>,
    folders_durable: BTreeSet<PathBuf>,
    /// Name changes since their folder was last synced, oldest first.
    changes: Vec<Change>,
    operations: u64,
    fails: Fails,
    capacity_bytes: Option<u64>,
    random: SplitMix,
}

/// The operations that fail.
#[derive(Clone, Copy, Debug, Default)]
enum Fails {
    #[default]
    None,
    /// The operation with this number, from 0.
    At(u64),
    /// This one and all later ones: the power is gone.
    From(u64),
    /// The next read.
    Read,
}

#[derive(Clone, Debug)]
enum Change {
    Made(PathBuf, u64),
    Renamed(PathBuf, PathBuf, u64),
    Removed(PathBuf),
}

impl Change {
    fn touches(&self, folder: &Path) -> bool {
        match self {
            Self::Made(path, _) | Self::Removed(path) => path.parent() == Some(folder),
            Self::Renamed(from, to, _) => from.parent() == Some(folder) || to.parent() == Some(folder),
        }
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            Self::Made(path, file) => {
                names.insert(path.clone(), *file);
            }
            Self::Renamed(from, to, file) => {
                if names.get(from) == Some(file) {
                    names.remove(from);
                }
                names.insert(to.clone(), *file);
            }
            Self::Removed(path) => {
                names.remove(path);
            }
        }
    }
}

#[derive(Clone, Default)]
struct FakeContent {
    /// Shared with copies of the disk until either is written.
    live: Arc<Vec<u8>>,
    durable: Arc<Vec<u8>>,
    /// Sectors that differ, or may, and that the next sync makes durable.
    unsynced: BTreeSet<usize>,
    /// Sectors whose sync failed.
    doubtful: BTreeSet<usize>,
}

impl FakeContent {
    fn resize(&mut self, bytes: usize) {
        let (from, to) = (self.live.len().min(bytes), self.live.len().max(bytes));
        Arc::make_mut(&mut self.live).resize(bytes, 0);
        self.touch(from, to);
    }

    fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        if end > self.live.len() {
            self.resize(end);
        }
        Arc::make_mut(&mut self.live)[offset..end].copy_from_slice(bytes);
        self.touch(offset, end);
    }

    fn touch(&mut self, from: usize, to: usize) {
        for sector in from / SECTOR_BYTES..to.div_ceil(SECTOR_BYTES) {
            self.doubtful.remove(&sector);
            self.unsynced.insert(sector);
        }
    }

    fn sync(&mut self) {
        // Doubtful sectors keep their old bytes unless the power cut draws the new ones.
        let unsynced = std::mem::take(&mut self.unsynced);
        Arc::make_mut(&mut self.durable).resize(self.live.len(), 0);
        for sector in unsynced {
            self.settle(sector);
        }
    }

    /// Makes the present content of one sector durable.
    fn settle(&mut self, sector: usize) {
        let from = sector * SECTOR_BYTES;
        let end = (from + SECTOR_BYTES).min(self.live.len());
        if from < end {
            let durable = Arc::make_mut(&mut self.durable);
            if durable.len() < end {
                durable.resize(end, 0);
            }
            durable[from..end].copy_from_slice(&self.live[from..end]);
        }
    }

    fn after_crash(mut self, random: &mut SplitMix) -> Self {
        let in_order = random.below(4) == 0;
        let unsynced: Vec<usize> = self.unsynced.union(&self.doubtful).copied().collect();
        let kept_below = random.below(unsynced.len() as u64 + 1) as usize;
        let durable_bytes = self.durable.len();
        for (index, sector) in unsynced.into_iter().enumerate() {
            // Mostly any subset; now and then a prefix, as when the system wrote back in order.
            if if in_order { index < kept_below } else { random.coin() } {
                self.settle(sector);
            }
        }
        let live_bytes = self.live.len();
        if live_bytes < durable_bytes && random.coin() {
            Arc::make_mut(&mut self.durable).truncate(live_bytes);
        } else if live_bytes > self.durable.len() && random.coin() {
            Arc::make_mut(&mut self.durable).resize(live_bytes, 0);
        }
        Self { live: self.durable.clone(), durable: self.durable, ..Self::default() }
    }
}

/// Our own small generator, so that a seed always gives the same run (SplitMix64).
#[derive(Clone, Copy, Default)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn coin(&mut self) -> bool {
        self.next() & 1 == 0
    }
}

impl Default for FakeDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeDisk {
    /// Creates an empty, unbounded disk that never fails.
    pub fn new() -> Self {
        Self { state: Arc::default() }
    }

    /// Returns the number of operations so far, including failed ones. Every call of [`Disk`] and [`DiskFile`] is one.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Makes operation `operation`, counted as by [`Self::operations`], fail; a failing write writes any prefix.
    pub fn fail_at(&self, operation: u64) {
        self.state().fails = Fails::At(operation);
    }

    /// Makes the next read fail, even if other operations precede it.
    pub fn fail_next_read(&self) {
        self.state().fails = Fails::Read;
    }

    /// Makes operation `operation` and all later ones fail, until [`Self::crash`].
    pub fn halt_at(&self, operation: u64) {
        self.state().fails = Fails::From(operation);
    }

    /// Creates an empty disk on which operation `operation` fails.
    pub fn failing_at(operation: u64) -> Self {
        let disk = Self::new();
        disk.fail_at(operation);
        disk
    }

    /// Bounds the bytes of all files; `None` lifts the bound.
    pub fn set_capacity(&self, capacity_bytes: Option<u64>) {
        self.state().capacity_bytes = capacity_bytes;
    }

    /// Simulates other users who leave `bytes` free at every moment.
    pub fn leave_free(&self, bytes: u64) {
        let mut state = self.state();
        state.capacity_bytes = Some(state.used_bytes() + bytes);
    }

    /// Returns the bytes of all named files.
    pub fn used_bytes(&self) -> u64 {
        self.state().used_bytes()
    }

    /// Returns a possible state of the disk after a power cut now: a separate disk that never fails. This one is
    /// unaffected.
    pub fn crash(&self, seed: u64) -> Self {
        let state = self.state();
        let mut random = SplitMix(seed);
        let mut names = state.durable.clone();
        for change in &state.changes {
            if random.coin() {
                change.apply(&mut names);
            }
        }
        let mut folders = state.folders_durable.clone();
        for folder in state.folders.difference(&state.folders_durable) {
            let has_parent =
                folder.parent().is_none_or(|parent| folders.contains(parent) || !state.folders.contains(parent));
            if has_parent && random.coin() {
                folders.insert(folder.clone());
            }
        }
        names.retain(|path, _| path.parent().is_some_and(|folder| folders.contains(folder)));
        let numbers: BTreeSet<u64> = names.values().copied().collect();
        let files = numbers.iter().filter_map(|number| {
            let content = state.files.get(number)?.clone();
            Some((*number, content.after_crash(&mut random)))
        });
        let files = files.collect();
        let crashed = State {
            files,
            files_made: state.files_made,
            durable: names.clone(),
            live: names,
            folders: folders.clone(),
            folders_durable: folders,
            capacity_bytes: state.capacity_bytes,
            random,
            ..State::default()
        };
        Self { state: Arc::new(Mutex::new(crashed)) }
    }

    /// Returns the state after `kill -9`: a separate disk that never fails, with the same names and bytes; unsynced
    /// ones stay unsynced.
    pub fn killed(&self) -> Self {
        let state = State { fails: Fails::None, operations: 0, ..self.state().clone() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Returns a separate disk with the same names and bytes, all of them durable.
    pub fn copy(&self) -> Self {
        let state = self.state();
        let files = state.files.iter().map(|(number, content)| {
            let live = content.live.clone();
            (*number, FakeContent { durable: live.clone(), live, ..FakeContent::default() })
        });
        let copied = State {
            files: files.collect(),
            files_made: state.files_made,
            durable: state.live.clone(),
            live: state.live.clone(),
            folders: state.folders.clone(),
            folders_durable: state.folders.clone(),
            capacity_bytes: state.capacity_bytes,
            random: state.random,
            ..State::default()
        };
        drop(state);
        Self { state: Arc::new(Mutex::new(copied)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No call leaves it half changed, not even if a test panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if state.fuse() { Err(io::Error::other("the fake disk fails this operation")) } else { Ok(state) }
    }
}

impl State {
    /// Counts an operation; returns true if it must fail.
    fn fuse(&mut self) -> bool {
        let operation = self.operations;
        self.operations += 1;
        match self.fails {
            Fails::None | Fails::Read => false,
            Fails::At(at) => operation == at,
            Fails::From(from) => operation >= from,
        }
    }

    fn file(&self, path: &Path) -> io::Result<u64> {
        self.live.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn used_bytes(&self) -> u64 {
        let numbers: BTreeSet<u64> = self.live.values().copied().collect();
        numbers.iter().map(|number| self.files[number].live.len() as u64).sum()
    }

    fn check_capacity(&self, file: u64, bytes: u64) -> io::Result<()> {
        let more = bytes.saturating_sub(self.files[&file].live.len() as u64);
        let is_over = self.capacity_bytes.is_some_and(|capacity| self.used_bytes() + more > capacity);
        if more > 0 && is_over { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.changes.push(change);
    }
}

impl Disk for FakeDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.begin()?;
        if !state.folders.contains(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let paths = state.live.keys().chain(&state.folders).filter(|path| path.parent() == Some(folder));
        let names: BTreeSet<String> = paths.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect();
        Ok(names.into_iter().collect())
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.begin()?;
        for ancestor in folder.ancestors().filter(|ancestor| !ancestor.as_os_str().is_empty()) {
            state.folders.insert(ancestor.to_owned());
        }
        // The root existed before the program.
        let roots = state.folders.iter().filter(|folder| folder.parent().is_none_or(|up| up.as_os_str().is_empty()));
        let roots: Vec<PathBuf> = roots.cloned().collect();
        state.folders_durable.extend(roots);
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.begin()?;
        if state.live.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !path.parent().is_some_and(|folder| state.folders.contains(folder)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.files_made += 1;
        let file = state.files_made;
        state.files.insert(file, FakeContent::default());
        state.change(Change::Made(path.to_owned(), file));
        Ok(Box::new(FakeFile { disk: self.clone(), file }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = self.begin()?.file(path)?;
        Ok(Box::new(FakeFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.begin()?;
        let file = state.file(from)?;
        state.change(Change::Renamed(from.to_owned(), to.to_owned(), file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.begin()?;
        state.file(path)?;
        state.change(Change::Removed(path.to_owned()));
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.begin()?;
        if !state.folders.contains(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (now, later): (Vec<Change>, Vec<Change>) =
            std::mem::take(&mut state.changes).into_iter().partition(|change| change.touches(folder));
        now.iter().for_each(|change| change.apply(&mut state.durable));
        state.changes = later;
        let inside: Vec<PathBuf> =
            state.folders.iter().filter(|inside| inside.parent() == Some(folder)).cloned().collect();
        state.folders_durable.extend(inside);
        Ok(())
    }

    fn free_bytes(&self, _: &Path) -> u64 {
        let state = self.state();
        state.capacity_bytes.map_or(u64::MAX, |capacity| capacity.saturating_sub(state.used_bytes()))
    }
}

struct FakeFile {
    disk: FakeDisk,
    file: u64,
}

impl FakeFile {
    fn content<'a>(&self, state: &'a mut State) -> &'a mut FakeContent {
        state.files.get_mut(&self.file).expect("files are never forgotten")
    }
}

impl DiskFile for FakeFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.content(&mut *self.disk.begin()?).live.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.begin()?;
        if matches!(state.fails, Fails::Read) {
            state.fails = Fails::None;
            return Err(io::Error::other("this read fails"));
        }
        let live = &self.content(&mut state).live;
        let rest = live.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        if state.fuse() {
            let count = state.random.below(bytes.len() as u64 + 1) as usize;
            self.content(&mut state).write(&bytes[..count], offset as usize);
            return Err(io::Error::other("the fake disk fails this write"));
        }
        state.check_capacity(self.file, offset + bytes.len() as u64)?;
        self.content(&mut state).write(bytes, offset as usize);
        Ok(())
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.begin()?;
        state.check_capacity(self.file, bytes)?;
        let content = self.content(&mut state);
        if content.live.len() < bytes as usize {
            content.resize(bytes as usize);
        }
        Ok(())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.begin()?;
        self.content(&mut state).resize(bytes as usize);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        let fails = state.fuse();
        let content = self.content(&mut state);
        if fails {
            let unsynced = std::mem::take(&mut content.unsynced);
            content.doubtful.extend(unsynced);
            return Err(io::Error::other("the fake disk fails this sync"));
        }
        content.sync();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (FakeDisk, PathBuf) {
        let (disk, folder) = (FakeDisk::new(), PathBuf::from("/data"));
        disk.create_folder(&folder).unwrap();
        disk.sync_folder(Path::new("/")).unwrap();
        (disk, folder)
    }

    fn read(disk: &FakeDisk, path: &Path) -> Option<Vec<u8>> {
        let file = disk.open(path).ok()?;
        let mut bytes = vec![0; file.bytes().unwrap() as usize];
        assert_eq!(file.read_at(&mut bytes, 0).unwrap(), bytes.len());
        Some(bytes)
    }

    #[test]
    fn a_crash_keeps_synced_data_and_may_lose_the_rest() {
        let (disk, folder) = folder();
        let path = folder.join("a");
        let mut file = disk.create(&path).unwrap();
        file.write_at(&[1; 2048], 0).unwrap();
        let lost = (0..64).filter(|&seed| read(&disk.crash(seed), &path).is_none()).count();
        assert!((1..64).contains(&lost), "a name not synced may be there or not");
        file.sync().unwrap();
        disk.sync_folder(&folder).unwrap();
        file.write_at(&[2; 1024], 512).unwrap();
        assert_eq!(read(&disk, &path).unwrap(), [vec![1; 512], vec![2; 1024], vec![1; 512]].concat());
        let mut seen = BTreeSet::new();
        for seed in 0..64 {
            let bytes = read(&disk.crash(seed), &path).unwrap();
            assert_eq!((bytes.len(), &bytes[..512], &bytes[1536..]), (2048, &[1; 512][..], &[1; 512][..]));
            seen.insert((bytes[512], bytes[1024]));
        }
        assert_eq!(seen, BTreeSet::from([(1, 1), (1, 2), (2, 1), (2, 2)]));
    }

    #[test]
    fn a_kill_loses_nothing_and_syncs_nothing() {
        let (disk, folder) = folder();
        let path = folder.join("a");
        disk.create(&path).unwrap().write_at(&[1; 512], 0).unwrap();
        let killed = disk.killed();
        assert_eq!(read(&killed, &path).unwrap(), [1; 512]);
        assert!((0..64).any(|seed| read(&killed.crash(seed), &path).is_none()));
        killed.open(&path).unwrap().sync().unwrap();
        killed.sync_folder(&folder).unwrap();
        assert!((0..64).all(|seed| read(&killed.crash(seed), &path).unwrap() == [1; 512]));
    }

    #[test]
    fn a_recycled_file_may_show_old_bytes_after_a_crash() {
        let (disk, folder) = folder();
        let (old, new) = (folder.join("old"), folder.join("new"));
        let mut file = disk.create(&old).unwrap();
        file.write_at(&[7; 1024], 0).unwrap();
        file.sync().unwrap();
        disk.rename(&old, &new).unwrap();
        disk.sync_folder(&folder).unwrap();
        file.write_at(&[8; 1024], 0).unwrap();
        let shown: BTreeSet<u8> = (0..32).map(|seed| read(&disk.crash(seed), &new).unwrap()[0]).collect();
        assert_eq!(shown, BTreeSet::from([7, 8]));
        assert_eq!(read(&disk.crash(0), &old), None);
    }

    #[test]
    fn a_later_sync_does_not_repair_a_failed_one() {
        let (disk, folder) = folder();
        let path = folder.join("a");
        let mut file = disk.create(&path).unwrap();
        file.write_at(&[1; 512], 0).unwrap();
        file.sync().unwrap();
        disk.sync_folder(&folder).unwrap();
        file.write_at(&[2; 512], 0).unwrap();
        disk.fail_at(disk.operations());
        assert!(file.sync().is_err());
        file.sync().unwrap();
        let shown: BTreeSet<u8> = (0..32).map(|seed| read(&disk.crash(seed), &path).unwrap()[0]).collect();
        assert_eq!(shown, BTreeSet::from([1, 2]));
        file.write_at(&[3; 512], 0).unwrap();
        file.sync().unwrap();
        assert!((0..32).all(|seed| read(&disk.crash(seed), &path).unwrap() == [3; 512]));
    }

    #[test]
    fn full_and_halted_disks_refuse_operations() {
        let (disk, folder) = folder();
        disk.set_capacity(Some(1000));
        let mut file = disk.create(&folder.join("a")).unwrap();
        file.allocate(900).unwrap();
        assert_eq!(file.allocate(1001).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(file.write_at(&[1; 101], 900).unwrap_err().kind(), io::ErrorKind::StorageFull);
        file.write_at(&[1; 900], 0).unwrap();
        assert_eq!(disk.used_bytes(), 900);
        disk.halt_at(disk.operations());
        assert!(disk.list(&folder).is_err());
        assert!(file.write_at(&[2; 900], 0).is_err());
        assert!(disk.crash(1).list(&folder).is_ok());
    }
}
