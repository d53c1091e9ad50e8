//! From the store and the journal to keys: what each shard is made of, put together shard by shard.
//!
//! ```text
//!   Gathering    journal, from the least P(s) on --> effects that the store lacks, by shard; the map of databases
//!   Loading      shard by shard, by any thread: stored records, then these effects, beside the keyspace --> in its place
//! ```
//!
//! Tables that no database names at the end are passed over, in the store and in the journal: the last map is known before
//! the first shard is loaded.

use crate::checkpoint::Usage;
use base::limits::SHARDS;
use keyspace::{Keyspace, LoadError, MapState, TableCount, Tail};
use kinds::{Kind, Value};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use store::{Reader, ShardRecord, Store, StoreError};

/// Reads the journal for [`Loading`].
pub struct Gathering<'k> {
    keyspace: &'k Keyspace,
    tail: Tail,
    effects: Vec<Vec<u8>>,
    /// Frames so far.
    pub frames: u64,
}

impl<'k> Gathering<'k> {
    /// What `store` lacks is to be gathered, for an empty `keyspace` whose map becomes the stored one.
    pub fn new(keyspace: &'k Keyspace, store: &Store) -> Self {
        let (map, map_from) = match store.map() {
            Some(map) => (MapState { changed: map.tables.clone(), next: map.next_table }, map.position),
            None => (keyspace.map().state(), 0),
        };
        keyspace.map().restore(&map);
        let shards_from = (0..SHARDS as u32).map(|shard| store.shard(shard).position).collect();
        let tail = Tail::new(&map, map_from, shards_from);
        Self { keyspace, tail, effects: vec![Vec::new(); SHARDS], frames: 0 }
    }

    /// All that there is to load.
    pub fn finish(self, store: &Store) -> Loading {
        let records = (0..SHARDS as u32).map(|shard| store.shard(shard).clone());
        let part = |(record, effects)| Mutex::new(Part { record, effects, usage: Usage::default() });
        let parts = records.zip(self.effects).map(part);
        Loading { tail: self.tail, reader: store.reader(), parts: parts.collect(), next: AtomicUsize::new(0) }
    }
}

impl journal::Replay for Gathering<'_> {
    fn frame(&mut self, frame: journal::Frame<'_>) -> Result<(), String> {
        self.frames += 1;
        let Self { keyspace, tail, effects, .. } = self;
        let note = |shard: usize, effect: &[u8]| effects[shard].extend_from_slice(effect);
        tail.split(keyspace, frame.position, frame.payload, note).map_err(|error| error.to_string())
    }
}

/// What one shard is made of.
struct Part {
    record: ShardRecord,
    effects: Vec<u8>,
    usage: Usage,
}

/// A shard of which not all is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Which.
    pub shard: usize,
    /// Keys that the store had of it.
    pub keys_stored: u64,
    /// Those that could be read, some perhaps as they were before.
    pub keys_left: u64,
    /// Changes in the journal that do not fit what is left.
    pub changes_lost: u64,
}

/// The shards that are not in their place yet.
pub struct Loading {
    tail: Tail,
    reader: Reader,
    parts: Box<[Mutex<Part>]>,
    next: AtomicUsize,
}

impl Loading {
    /// Loads shards into `keyspace`, whose map the gathering has set, until none is left; any number of threads may.
    ///
    /// # Errors
    /// The disk's, and damage, in words, with file, offset and remedy. What is loaded is worth nothing then.
    pub fn run(&self, keyspace: &Keyspace) -> Result<(), String> {
        loop {
            let shard = self.next.fetch_add(1, Relaxed);
            if shard >= SHARDS {
                return Ok(());
            }
            self.load(keyspace, shard)?;
        }
    }

    /// When all is loaded: what each shard uses of the block segments.
    pub fn finish(self) -> Vec<Usage> {
        let parts = self.parts.into_iter();
        parts.map(|part| part.into_inner().expect("no holder panics").usage).collect()
    }

    fn load(&self, keyspace: &Keyspace, shard: usize) -> Result<(), String> {
        let mut part = self.parts[shard].lock().expect("no holder panics");
        let Part { record, effects, usage } = &mut *part;
        let (record, effects) = (std::mem::take(record), std::mem::take(effects));
        *usage = self.load_whole(keyspace, shard, &record, &effects)?;
        Ok(())
    }

    fn load_whole(
        &self,
        keyspace: &Keyspace,
        shard: usize,
        record: &ShardRecord,
        effects: &[u8],
    ) -> Result<Usage, String> {
        if record.runs.is_empty() && effects.is_empty() {
            return Ok(Usage::default());
        }
        let (mut loading, usage) = self.records(keyspace, shard, record)?;
        let settled = loading.settle(&mut Source(&self.reader));
        settled.map_err(|error| match error {
            LoadError::Value(why) => why,
            other => format!("shard {shard} of the store: {other}. {REMEDY}"),
        })?;
        self.check_counts(record, &loading.tables(), shard)?;
        let replayed = loading.replay(effects);
        replayed.map_err(|error| format!("the journal does not fit shard {shard} of the store: {error}. {REMEDY}"))?;
        loading.end(&mut keyspace.shard(shard).try_write().expect("nobody changes what is not there yet"));
        Ok(usage)
    }

    fn records<'k>(
        &'k self,
        keyspace: &'k Keyspace,
        shard: usize,
        record: &ShardRecord,
    ) -> Result<(keyspace::Loading<'k>, Usage), String> {
        let (mut loading, mut usage) = (keyspace.load(shard, &self.tail), Usage::default());
        for run in &record.runs {
            let visit = &mut |bytes: &[u8]| {
                loading.record::<String>(bytes).map_err(|error| error.to_string())?;
                usage.apply(bytes).map_err(|error| error.to_string())
            };
            self.reader.visit(shard as u32, run, visit).map_err(|error| error.to_string())?;
        }
        Ok((loading, usage))
    }

    /// Loads all shards as [`Loading::run`] does, for a repair: of those in `damaged`, and of those that cannot be loaded,
    /// whatever is left. Which those were.
    ///
    /// # Errors
    /// In words, what not even a repair can pass over.
    pub fn run_mending(&self, keyspace: &Keyspace, damaged: &BTreeSet<u32>) -> Result<Vec<Mended>, String> {
        let mut mended = Vec::new();
        for shard in 0..SHARDS {
            let part = self.parts[shard].lock().expect("no holder panics");
            let Part { record, effects, .. } = &*part;
            if damaged.contains(&(shard as u32)) || self.load_whole(keyspace, shard, record, effects).is_err() {
                mended.push(self.load_rest(keyspace, record, effects)?);
            }
        }
        Ok(mended)
    }

    fn load_rest(&self, keyspace: &Keyspace, record: &ShardRecord, effects: &[u8]) -> Result<Mended, String> {
        let shard = record.shard as usize;
        let (mut loading, _) = self.records(keyspace, shard, record)?;
        let lost = loading.settle_rest(&mut Source(&self.reader));
        let keys_left = loading.tables().iter().map(|count| count.keys).sum();
        let left_out = loading.replay_rest(effects, lost);
        let changes_lost = left_out.map_err(|error| format!("the journal's effects on shard {shard}: {error}"))?;
        loading.end(&mut keyspace.shard(shard).try_write().expect("nobody changes what is not there yet"));
        let alive = record.tables.iter().filter(|keys| self.tail.is_alive(keys.table));
        let keys_stored = alive.map(|keys| keys.keys).sum();
        Ok(Mended { shard, keys_stored, keys_left, changes_lost })
    }

    fn check_counts(&self, record: &ShardRecord, found: &[TableCount], shard: usize) -> Result<(), String> {
        let told = record.tables.iter().filter(|keys| self.tail.is_alive(keys.table));
        let told = told.map(|keys| (keys.table, keys.keys, keys.expiring));
        let found = found.iter().map(|count| (count.table, count.keys, count.expiring));
        if told.clone().eq(found.clone()) {
            return Ok(());
        }
        let (told, found) = (told.map(|count| count.1).sum::<u64>(), found.map(|count| count.1).sum::<u64>());
        Err(format!("shard {shard} of the store has {found} keys where {told} were stored. {REMEDY}"))
    }
}

const REMEDY: &str = "Restore the data folder from a backup.";

/// Values whose leaves lie in block segments.
struct Source<'a>(&'a Reader);

impl keyspace::BlockSource for Source<'_> {
    type Error = String;

    fn get(&mut self, kind: Kind, mut form: &[u8]) -> Result<Value, String> {
        let read = &mut |place: blocks::Place, bytes: usize| {
            let place = store::Place::of_number(place.number());
            place.map(|place| self.0.block(place, bytes)).transpose()
        };
        let mut read = |place, bytes| match read(place, bytes) {
            Ok(Some(leaf)) => Ok(leaf),
            Ok(None) => Err("a stored value names a block that cannot be".to_owned()),
            Err(error) => Err(StoreError::to_string(&error)),
        };
        let value = Value::of_stored(kind, &mut form, &mut read).map_err(|error| error.to_string())?;
        if form.is_empty() { Ok(value) } else { Err("bytes follow the stored form of a value".to_owned()) }
    }
}
