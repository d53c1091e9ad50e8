//! Opens an engine from the data folder: reads and checks the store's manifest and the journal beyond it before
//! serving. Shards are assembled from these later, while the server serves: [`engine::Loading`].

use crate::memory::Limits;
use crate::sizes::{START_BYTES, Sizes};
use crate::startup::{DataFolder, Refused};
use base::clock::{Clock, system_wall_time};
use base::disk::{Disk, RealDisk};
use base::hash::KeyHasher;
use base::limits::{BLOCK_FORMAT, SHARDS};
use engine::settings::Settings;
use engine::{Engine, Gathering, Loading, Mended, Parts, policy_of};
use journal::{Frame, OpenError, Opened, Options, Recovery, Replay, Running};
use keyspace::{Alive, Keyspace, OF_SERVER};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Store, StoreError};
use tracing::{info, warn};

/// The journal's folder in the data folder.
pub(crate) const JOURNAL_FOLDER: &str = "journal";
/// The store's folder.
pub(crate) const STORE_FOLDER: &str = "store";
/// Time between two lines about the progress of recovery.
const PROGRESS: Duration = Duration::from_secs(1);

/// An engine opened from its data folder.
pub(crate) struct Open {
    pub(crate) engine: Arc<Engine>,
    /// The journal's threads; `None` with the journal off.
    pub(crate) journal: Option<Running>,
    /// The store for the checkpointer; `None` with the journal off.
    pub(crate) store: Option<Store>,
    /// The result of recovery, for the ready line.
    pub(crate) found: String,
}

/// Opens the engine over `folder`, or without one.
///
/// # Errors
/// Fails if the journal is damaged, unreadable, or ends at a time that the clock has not reached.
pub(crate) fn open(
    settings: Arc<Settings>,
    folder: Option<&DataFolder>,
    workers: usize,
    mut limits: Limits,
) -> Result<Open, Refused> {
    let wall = system_wall_time();
    let Some(folder) = folder else {
        let open = open_cache(settings, workers);
        limits.hand_over(&open.engine);
        return Ok(open);
    };
    let current = settings.current();
    let source = Source {
        disk: Arc::new(RealDisk),
        folder: folder.path(),
        options: Sizes::at(folder.path()).journal(Options::new(policy_of(current.fsync), wall())),
        databases: current.databases,
    };
    let mut said = Instant::now();
    let gathered = source.gather_within(&mut limits, &mut |done, total, frames| {
        if said.elapsed() >= PROGRESS {
            said = Instant::now();
            let (done_mb, total_mb) = (done >> 20, total >> 20);
            info!("reading the journal: {done_mb} of {total_mb} MB, {frames} frames");
        }
    })?;
    let Gathered { hasher, keyspace, store, opened, loading } = gathered;
    let Opened { journal, mut writer, preallocator, recovery, .. } = opened;
    let clock = Clock::of_system(recovery.last_time_ms).map_err(from_the_future)?;
    let time = clock.clone();
    writer.set_clock(move || time.now());
    let found = found(&recovery, &store, &keyspace.map().alive(), loading.progress().shards_left);
    let parts = Parts { hasher, clock, settings, workers };
    let engine = Engine::new(parts, keyspace, loading, Some((journal, recovery)));
    limits.hand_over(&engine);
    Ok(Open { engine, journal: Some(Running::start(writer, preallocator)), store: Some(store), found })
}

fn open_cache(settings: Arc<Settings>, workers: usize) -> Open {
    let hasher = KeyHasher::random();
    let clock = Clock::of_system(0).expect("time 0 lies ahead of no clock");
    let keyspace = Keyspace::new(hasher, settings.current().databases);
    let parts = Parts { hasher, clock, settings, workers };
    let engine = Engine::new(parts, keyspace, Loading::nothing(), None);
    Open { engine, journal: None, store: None, found: String::new() }
}

/// Returns the options of the store that belongs to a journal with this hash key.
pub(crate) fn store_options(hash_key: [u8; 16], now_ms: base::Ms) -> store::Options {
    let identity = u64::from_le_bytes(*hash_key.first_chunk().expect("16 bytes hold 8"));
    store::Options::new(identity, now_ms)
}

/// The data to load, and its place.
pub(crate) struct Source<'a> {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: &'a Path,
    pub(crate) options: Options,
    pub(crate) databases: u32,
}

/// The gathered data, with all shards still to be loaded.
pub(crate) struct Gathered {
    pub(crate) hasher: KeyHasher,
    pub(crate) keyspace: Keyspace,
    pub(crate) store: Store,
    pub(crate) opened: Opened,
    pub(crate) loading: Loading,
}

/// The way in which all shards are loaded before the server starts.
pub(crate) enum Loaders {
    /// Each must be whole.
    Whole,
    /// The remains of these shards, and of any others that are damaged.
    Mending(BTreeSet<u32>),
}

/// The loaded data.
pub(crate) struct Loaded {
    pub(crate) keyspace: Keyspace,
    pub(crate) store: Store,
    pub(crate) opened: Opened,
    /// The shards that are not whole.
    pub(crate) mended: Vec<Mended>,
}

impl Source<'_> {
    /// Runs [`Source::gather`] in a process with memory limits.
    ///
    /// # Errors
    /// As there; also fails if the journal beyond the store does not fit the limits.
    fn gather_within(&self, limits: &mut Limits, report: &mut dyn FnMut(u64, u64, u64)) -> Result<Gathered, Refused> {
        let mut check = || limits.check_room();
        self.gather(false, &mut check, report)
    }

    /// Opens the store and reads the journal, as long as `has_room` reports memory. With `mends`, the journal ends at
    /// damaged records instead of being refused. `report` gets the bytes read of the journal, the total, and the
    /// frames.
    fn gather(
        &self,
        mends: bool,
        has_room: &mut dyn FnMut() -> Result<(), String>,
        report: &mut dyn FnMut(u64, u64, u64),
    ) -> Result<Gathered, Refused> {
        let prepared = self.prepare()?;
        if prepared.is_new() {
            self.has_room_to_begin()?;
        }
        let hash_key = prepared.identity.hash_key;
        let hasher = KeyHasher::new(hash_key);
        let store = self.open_store(hash_key, prepared.is_new())?;
        let mut keyspace = Keyspace::new(hasher, self.databases);
        keyspace.shut();
        let gathering = Gathering::new(&keyspace, &store);
        let mut progress = LoadProgress { gathering, report, has_room, unchecked_bytes: 0, lacking: None };
        let prepared = prepared.must_reach(store.greatest_position());
        let prepared = if mends { prepared.mending() } else { prepared };
        let opened = prepared.open(store.least_position(), &mut progress);
        let opened = opened.map_err(|error| match &error {
            _ if progress.lacking.is_some() => self.without_memory(progress.lacking.as_deref().unwrap_or_default()),
            OpenError::Damaged { .. } if store.opening().is_new => self.without_store(&error),
            error => self.unreadable(error),
        })?;
        let loading = progress.gathering.finish(&store);
        Ok(Gathered { hasher, keyspace, store, opened, loading })
    }

    /// Runs [`Source::gather`], and loads everything.
    pub(crate) fn load(&self, loaders: &Loaders, report: &mut dyn FnMut(u64, u64, u64)) -> Result<Loaded, Refused> {
        let mends = matches!(loaders, Loaders::Mending(_));
        let Gathered { keyspace, store, opened, loading, .. } = self.gather(mends, &mut || Ok(()), report)?;
        let mended = match loaders {
            Loaders::Whole => loading.run(&keyspace).map(|()| Vec::new()),
            Loaders::Mending(damaged) => loading.run_mending(&keyspace, damaged),
        };
        let mended = mended.map_err(Refused::new)?;
        Ok(Loaded { keyspace, store, opened, mended })
    }

    /// Prepares the journal; the folder must be of this version.
    pub(crate) fn prepare(&self) -> Result<journal::Prepared, Refused> {
        let (disk, path) = (self.disk.clone(), self.folder.join(JOURNAL_FOLDER));
        let prepared = journal::prepare(disk, &path, self.options.clone()).map_err(|error| self.unreadable(&error))?;
        let (shards, blocks, folder) = (prepared.identity.shards, prepared.identity.blocks, self.folder.display());
        if shards as usize != SHARDS {
            return Err(Refused::new(format!(
                "the data folder {folder} has {shards} shards and this version has {SHARDS}; start the version that made it"
            )));
        }
        if blocks != BLOCK_FORMAT {
            return Err(Refused::new(format!(
                "the data folder {folder} has blocks of format {blocks} and this version reads format {BLOCK_FORMAT}; \
                 start the version that made it, or another data folder"
            )));
        }
        Ok(prepared)
    }

    fn open_store(&self, hash_key: [u8; 16], without_journal: bool) -> Result<Store, Refused> {
        let (path, options) = (self.folder.join(STORE_FOLDER), store_options(hash_key, self.options.now_ms));
        let opened = Store::open(self.disk.clone(), &path, Sizes::at(self.folder).store(options));
        opened.map_err(|error| match error {
            StoreError::Damaged { .. } if without_journal => Refused::new(format!(
                "the data folder has a store, {}, and no journal, {}: restore the journal from a backup; or, to begin with \
                 no data, remove the whole folder",
                path.display(),
                self.folder.join(JOURNAL_FOLDER).display()
            )),
            error => self.unstored(&error),
        })
    }

    /// Checks that a new folder has room for later removals. An existing folder is served with less: only so can it be
    /// read and shrunk.
    fn has_room_to_begin(&self) -> Result<(), Refused> {
        let free_bytes = self.disk.free_bytes(self.folder);
        let message = || {
            let (folder, free_kb, needed_mb) = (self.folder.display(), free_bytes >> 10, START_BYTES >> 20);
            format!(
                "the disk under the data folder {folder} is full: {free_kb} KB are free and a new data folder needs \
                 {needed_mb} MB; make room on it or choose another with --dir"
            )
        };
        if free_bytes < START_BYTES { Err(Refused::new(message())) } else { Ok(()) }
    }

    /// Refuses a journal that does not fit the memory.
    fn without_memory(&self, why: &str) -> Refused {
        let folder = self.folder.display();
        Refused::new(format!(
            "the journal in the data folder {folder} does not fit into memory: {why}. Start with a larger limit; once \
             a checkpoint has been made, a smaller one may do"
        ))
    }

    /// Refuses a journal that lacks its store.
    fn without_store(&self, error: &OpenError) -> Refused {
        let path = self.folder.join(STORE_FOLDER);
        Refused::new(format!("{error} The store, {}, was missing: if it was removed, restore it", path.display()))
    }

    /// Refuses a store.
    pub(crate) fn unstored(&self, error: &StoreError) -> Refused {
        match error {
            StoreError::Damaged { .. } => Refused::new(error.to_string()),
            StoreError::Io { error: cause, .. } => {
                Refused::by_disk(self.folder, cause, || self.unopened("store", error, cause))
            }
        }
    }

    fn unopened(&self, what: &str, error: &dyn std::error::Error, cause: &io::Error) -> String {
        let folder = self.folder.display();
        let remedy = match cause.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                format!("; make everything in the folder {folder} readable and writable or choose another with --dir")
            }
            _ => String::new(),
        };
        format!("cannot open the {what}: {error}{remedy}")
    }

    fn unreadable(&self, error: &OpenError) -> Refused {
        match error {
            OpenError::Damaged { .. } => Refused::new(error.to_string()),
            OpenError::Io { error: cause, .. } => {
                Refused::by_disk(self.folder, cause, || self.unopened("journal", error, cause))
            }
        }
    }
}

/// Describes what recovery found, and warns of what it cut off.
fn found(recovery: &Recovery, store: &Store, alive: &Alive, shards: usize) -> String {
    if let Some(torn) = &store.opening().torn {
        let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
        warn!(
            "incomplete checkpoint: {file} is valid up to byte {offset} ({why}); {bytes} bytes beyond are kept aside"
        );
    }
    let tables = (0..SHARDS as u32).flat_map(|shard| &store.shard(shard).tables);
    let keys: u64 =
        tables.filter(|keys| keys.table != OF_SERVER && alive.contains(keys.table)).map(|keys| keys.keys).sum();
    let frames = recovery.frames;
    let loaded = match (keys, frames) {
        (0, 0) if recovery.segments == 0 => "new".to_owned(),
        (0, 0) => "no keys".to_owned(),
        (0, frames) => format!("{frames} frames to replay in {shards} shards"),
        (keys, frames) => format!("{keys} keys to load, {frames} frames to replay, in {shards} shards"),
    };
    let Some(torn) = &recovery.torn else { return loaded };
    let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
    let kept = torn.kept_as.join(", ");
    warn!(
        "torn tail: {file} is valid up to byte {offset} ({why}), as after a crash; \
         {bytes} bytes that were never acknowledged as durable are kept aside as {kept}"
    );
    format!("{loaded}, a torn tail of {bytes} bytes kept aside")
}

fn from_the_future(ahead_ms: base::Ms) -> Refused {
    let ahead_min = ahead_ms / 60_000;
    Refused::new(format!(
        "the last write in the data folder is {ahead_min} minutes ahead of this machine's clock; \
         correct the clock, or wait {ahead_min} minutes"
    ))
}

/// Gathers the journal's effects, and reports progress.
struct LoadProgress<'k, 't> {
    gathering: Gathering<'k>,
    report: &'t mut dyn FnMut(u64, u64, u64),
    has_room: &'t mut dyn FnMut() -> Result<(), String>,
    /// Bytes gathered since the last memory check.
    unchecked_bytes: usize,
    lacking: Option<String>,
}

/// Bytes of journal between two memory checks.
const CHECKED_BYTES: usize = 4 << 20;

impl Replay for LoadProgress<'_, '_> {
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), String> {
        self.unchecked_bytes += frame.payload.len();
        if self.unchecked_bytes >= CHECKED_BYTES {
            self.unchecked_bytes = 0;
            (self.has_room)().inspect_err(|why| self.lacking = Some(why.clone()))?;
        }
        self.gathering.frame(frame)
    }

    fn progress(&mut self, bytes_done: u64, bytes_total: u64) {
        (self.report)(bytes_done, bytes_total, self.gathering.frames);
    }
}
