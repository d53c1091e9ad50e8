//! From the data folder to an engine: what the store holds is loaded and what the journal has beyond is replayed before
//! anybody is served.

use crate::startup::{DataFolder, Refused};
use base::clock::{Clock, WallTime, system_wall_time};
use base::disk::RealDisk;
use base::hash::KeyHasher;
use base::limits::{BLOCK_FORMAT, SHARDS};
use engine::checkpoint::Usage;
use engine::settings::Settings;
use engine::{Engine, Gathering, Parts, policy_of};
use journal::{Frame, OpenError, Opened, Options, Recovery, Replay, Running};
use keyspace::Keyspace;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use store::{Store, StoreError};
use tracing::{info, warn};

/// Where the journal lies in the data folder.
const JOURNAL_FOLDER: &str = "journal";
/// Where the store does.
const STORE_FOLDER: &str = "store";
/// Time between two lines about the progress of recovery.
const PROGRESS: Duration = Duration::from_secs(1);

/// An engine that holds what its data folder holds.
pub(crate) struct Open {
    pub(crate) engine: Arc<Engine>,
    /// The journal's threads; `None` with the journal off.
    pub(crate) journal: Option<Running>,
    /// What the checkpointer is to go on with; `None` with the journal off.
    pub(crate) store: Option<(Store, Vec<Usage>)>,
    /// What was found, for the line that says the server is ready.
    pub(crate) found: String,
}

/// Opens the engine over `folder`, or over nothing.
///
/// # Errors
/// The journal is damaged, cannot be read, or ends in a future that the clock has not reached.
pub(crate) fn open(settings: Arc<Settings>, folder: Option<&DataFolder>, workers: usize) -> Result<Open, Refused> {
    let wall = system_wall_time();
    let Some(folder) = folder else { return Ok(open_cache(settings, wall, workers)) };
    let current = settings.current();
    let options = Options::new(policy_of(current.fsync), wall());
    let path = folder.path().join(JOURNAL_FOLDER);
    let prepared = journal::prepare(Arc::new(RealDisk), &path, options).map_err(|error| unreadable(folder, &error))?;
    if prepared.identity.shards as usize != SHARDS {
        let shards = prepared.identity.shards;
        return Err(Refused::new(format!(
            "the data folder {} has {shards} shards and this version has {SHARDS}; start the version that made it",
            folder.path().display()
        )));
    }
    if prepared.identity.blocks != BLOCK_FORMAT {
        let blocks = prepared.identity.blocks;
        return Err(Refused::new(format!(
            "the data folder {} has blocks of format {blocks} and this version reads format {BLOCK_FORMAT}; \
             start the version that made it, or another data folder",
            folder.path().display()
        )));
    }
    let hasher = KeyHasher::new(prepared.identity.hash_key);
    let store = open_store(folder, prepared.identity.hash_key, wall())?;
    let keyspace = Keyspace::new(hasher, current.databases);
    keyspace.keep_marks();
    let mut progress = Progress::new(Gathering::new(&keyspace, &store));
    let opened = prepared.open(store.least_position(), &mut progress).map_err(|error| unreadable(folder, &error))?;
    let loading = progress.gathering.finish(&store);
    let loaded = thread::scope(|scope| {
        let loaders: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(|| loading.run(&keyspace))).collect();
        loaders.into_iter().try_for_each(|loader| loader.join().expect("a loader aborts rather than panics"))
    });
    loaded.map_err(Refused::new)?;
    let usages = loading.finish();
    let Opened { journal, mut writer, maker, recovery, .. } = opened;
    let clock = Clock::new(wall, recovery.last_time_ms).map_err(from_the_future)?;
    let time = clock.clone();
    writer.set_clock(move || time.now());
    let found = found(&recovery, &store);
    let parts = Parts { hasher, clock, settings, workers };
    let engine = Engine::new(parts, keyspace, Some((journal, recovery)));
    Ok(Open { engine, journal: Some(Running::start(writer, maker)), store: Some((store, usages)), found })
}

fn open_cache(settings: Arc<Settings>, wall: WallTime, workers: usize) -> Open {
    let hasher = KeyHasher::random();
    let clock = Clock::new(wall, 0).expect("time 0 lies ahead of no clock");
    let keyspace = Keyspace::new(hasher, settings.current().databases);
    let parts = Parts { hasher, clock, settings, workers };
    Open { engine: Engine::new(parts, keyspace, None), journal: None, store: None, found: String::new() }
}

fn open_store(folder: &DataFolder, hash_key: [u8; 16], now_ms: base::Ms) -> Result<Store, Refused> {
    let identity = u64::from_le_bytes(*hash_key.first_chunk().expect("16 bytes hold 8"));
    let path = folder.path().join(STORE_FOLDER);
    let opened = Store::open(Arc::new(RealDisk), &path, store::Options::new(identity, now_ms));
    let store = opened.map_err(|error| match &error {
        StoreError::Damaged { .. } => Refused::new(error.to_string()),
        StoreError::Io { error: cause, .. } => {
            Refused::by_disk(folder.path(), cause, || format!("cannot open the store: {error}"))
        }
    })?;
    if let Some(torn) = &store.opening().torn {
        let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
        warn!(
            "a checkpoint did not come to its end: {file} breaks off at byte {offset} ({why}); {bytes} bytes are kept aside"
        );
    }
    Ok(store)
}

/// What recovery found, and a warning for what it had to cut off.
fn found(recovery: &Recovery, store: &Store) -> String {
    let keys: u64 = (0..SHARDS as u32).flat_map(|shard| &store.shard(shard).tables).map(|table| table.keys).sum();
    let frames = recovery.frames;
    let loaded = match (keys, frames) {
        (0, 0) if recovery.segments == 0 => "new".to_owned(),
        (0, frames) => format!("{frames} frames replayed"),
        (keys, frames) => format!("{keys} keys loaded, {frames} frames replayed"),
    };
    let Some(torn) = &recovery.torn else { return loaded };
    let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
    let kept = torn.kept_as.join(", ");
    warn!(
        "torn tail: {file} breaks off at byte {offset} ({why}), as after a crash; \
         {bytes} bytes that were never acknowledged as durable are kept aside as {kept}"
    );
    format!("{loaded}, a torn tail of {bytes} bytes kept aside")
}

fn unreadable(folder: &DataFolder, error: &OpenError) -> Refused {
    match error {
        OpenError::Damaged { .. } => Refused::new(error.to_string()),
        OpenError::Io { error: cause, .. } => {
            Refused::by_disk(folder.path(), cause, || format!("cannot open the journal: {error}"))
        }
    }
}

fn from_the_future(ahead_ms: base::Ms) -> Refused {
    let ahead_min = ahead_ms / 60_000;
    Refused::new(format!(
        "the last write in the data folder lies {ahead_min} minutes ahead of this machine's clock; \
         set the clock right, or wait until it has got there"
    ))
}

/// Gathers what the journal tells, and says how far it is.
struct Progress<'k> {
    gathering: Gathering<'k>,
    said: Instant,
}

impl<'k> Progress<'k> {
    fn new(gathering: Gathering<'k>) -> Self {
        Self { gathering, said: Instant::now() }
    }
}

impl Replay for Progress<'_> {
    fn frame(&mut self, frame: Frame<'_>) -> Result<(), String> {
        self.gathering.frame(frame)
    }

    fn progress(&mut self, bytes_done: u64, bytes_total: u64) {
        if self.said.elapsed() >= PROGRESS {
            self.said = Instant::now();
            let (done_mb, total_mb, frames) = (bytes_done >> 20, bytes_total >> 20, self.gathering.frames);
            info!("reading the journal: {done_mb} of {total_mb} MB, {frames} frames");
        }
    }
}
