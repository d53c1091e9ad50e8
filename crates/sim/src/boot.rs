//! The boot of a life, like the server's, with all sizes small: journal, commits, segments.

use crate::client::{Client, SharedState};
use crate::executor::Executor;
use crate::ledger::Frame;
use crate::life::{CLIENTS, Life, WORKERS, workers};
use crate::lying::LyingDisk;
use crate::sick::{Illness, SickDisk};
use crate::world::{Fault, World};
use base::clock::Clock;
use base::disk::{Disk, FakeDisk};
use base::hash::KeyHasher;
use base::{Ms, Position};
use engine::settings::Draft;
use engine::{CheckpointPace, Checkpointer, Engine, ExpireCycle, Gathering, Indexer, Loader, Parts, policy_of};
use journal::{Opened, Options, Replay};
use keyspace::Keyspace;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;

const FOLDER: &str = "data/journal";
const STORE_FOLDER: &str = "data/store";
/// Small, so that a life crosses several segments.
pub(crate) const SEGMENT_BYTES: u64 = 16 << 10;
const SEGMENT_BYTES_FIRST: u64 = 4 << 10;
/// Small, but large enough for the longest payload in a ring.
const LANE_BYTES: usize = 512 << 10;
/// Small, so that a round has several commits.
const COMMIT_BYTES: u64 = 4 << 10;
/// The space that frames leave to rounds.
const KEPT_FREE_BYTES: u64 = 8 << 10;
/// The journal grows by this, or two or four times as much, between rounds.
const JOURNAL_BYTES_MIN: u64 = 2 << 10;
const JOURNAL_SIZES: u64 = 3;
/// A loader may rest for less than this before a shard nobody waits for.
const LOADER_REST_MS_MAX: u64 = 20;
/// Values above a random number of bytes below this are loaded after their shard.
const AT_ONCE_BYTES_MAX: u64 = 40_000;

impl World {
    /// Boots as the server does; with `loaders`, which load each shard in turn or when it is needed, or with everything
    /// loaded.
    ///
    /// # Errors
    /// The server's error text.
    pub(crate) fn boot(&self, disk: &FakeDisk, loaders: usize) -> Result<Life, String> {
        let wall = self.time.wall();
        let mut settings = Draft::new();
        let fsync = ["always", "everysec", "never"][self.plan.policy as usize];
        for (name, value) in [("fsync", fsync), ("enable-debug-command", "yes"), ("key-order", "yes")] {
            let command = engine::settings::find(name).expect("it is a command");
            settings.put_flag(command, value).map_err(|mistake| mistake.to_string())?;
        }
        let settings = Arc::new(settings.finish());
        let mut options = Options::new(policy_of(settings.current().fsync), wall());
        options.log_buffer_bytes = LANE_BYTES;
        (options.segment_bytes_first, options.segment_bytes_max) = (SEGMENT_BYTES_FIRST, SEGMENT_BYTES);
        options.kept_free_bytes = Some(KEPT_FREE_BYTES);
        options.elapsed_us = self.time.elapsed_us();
        options.drawn = [self.drawn(), self.drawn(), [0; 16]];
        // Nothing more is drawn, so that seeds keep their worlds.
        options.drawn[2] = options.drawn[0].map(|byte| byte.rotate_left(3) ^ 0x5a);
        let files: Arc<dyn Disk> = match self.plan.fault {
            Fault::LyingDisk => Arc::new(LyingDisk(disk.clone())),
            _ => Arc::new(disk.clone()),
        };
        let prepared =
            journal::prepare(files.clone(), Path::new(FOLDER), options).map_err(|error| error.to_string())?;
        let hasher = KeyHasher::new(prepared.identity.hash_key);
        let illness = Illness::default();
        let store_files: Arc<dyn Disk> = match self.plan.fault {
            Fault::SickStore => Arc::new(SickDisk { disk: disk.clone(), illness: illness.clone() }),
            _ => files,
        };
        let store = Store::open(store_files, Path::new(STORE_FOLDER), store_options(&hasher, wall()));
        let store = store.map_err(|error| error.to_string())?;
        let mut keyspace = Keyspace::new(hasher, 16);
        keyspace.shut();
        let mut collector = Collector { gathering: Gathering::new(&keyspace, &store), frames: Vec::new() };
        let stored = store.least_position();
        let prepared = prepared.must_reach(store.greatest_position());
        let opened = prepared.open(stored, &mut collector).map_err(|error| error.to_string())?;
        let recovered = collector.frames;
        let loading = collector.gathering.finish(&store);
        if loaders == 0 {
            loading.run(&keyspace)?;
        }
        let Opened { journal, mut writer, preallocator, recovery, .. } = opened;
        let clock = Clock::new(wall, recovery.last_time_ms).map_err(|ahead_ms| format!("{ahead_ms} ms ahead"))?;
        let syncer = writer.sync_apart();
        let time = clock.clone();
        writer.set_clock(move || time.now());
        let parts = Parts { hasher, clock, settings, workers: WORKERS };
        let engine = Engine::new(parts, keyspace, loading, Some((journal, recovery)));
        let mut tasks = Executor::default();
        let workers = workers(&engine, &self.time, &mut tasks);
        for _ in 0..loaders {
            let (time, rest_ms) = (self.time.clone(), self.random.below(LOADER_REST_MS_MAX));
            let loader = Loader::new(
                engine.clone(),
                Box::new(move |ms| time.sleep(ms)),
                rest_ms,
                self.random.below(AT_ONCE_BYTES_MAX),
            );
            tasks.spawn(async move {
                loader.run().await;
            });
        }
        let time = self.time.clone();
        let pace = checkpoint_pace(self.plan.seed);
        let checkpointer = Checkpointer::new(engine.clone(), store, Box::new(move |ms| time.sleep(ms)), pace);
        tasks.spawn(checkpointer.run());
        let shared = Rc::new(SharedState {
            engine: engine.clone(),
            workers,
            facts: self.facts.clone(),
            ledger: RefCell::default(),
            line: RefCell::default(),
            random: self.random.clone(),
            stop: Cell::new(false),
            hasty: self.plan.hasty,
            workload: self.plan.workload,
        });
        Ok(Life {
            observer: RefCell::new(Client::new(CLIENTS, shared.clone())),
            expire_cycle: ExpireCycle::new(engine.clone()),
            indexer: Indexer::new(engine.clone()),
            guests: tasks.len(),
            time: self.time.clone(),
            random: self.random.clone(),
            engine,
            shared,
            writer,
            syncer,
            preallocator,
            tasks,
            recovered,
            stored,
            illness,
        })
    }

    /// Returns the frames of `range`, which are written.
    pub(crate) fn frames(&self, disk: &FakeDisk, range: Range<Position>) -> Vec<Frame> {
        let mut frames = Frames::default();
        journal::read(&disk.copy(), Path::new(FOLDER), range, &mut frames).expect("what is written can be read");
        frames.0
    }

    /// Returns the store's contents without the journal, in a keyspace like `like`.
    pub(crate) fn store_alone(&self, disk: &FakeDisk, like: &Keyspace) -> (Store, Keyspace) {
        let mut alone = like.empty_like();
        let options = store_options(alone.hasher(), self.time.wall()());
        let store = Store::open(Arc::new(disk.clone()), Path::new(STORE_FOLDER), options);
        let store = store.expect("what was just opened is opened again");
        alone.shut();
        let loaded = Gathering::new(&alone, &store).finish(&store).run(&alone);
        loaded.expect("what was just loaded is loaded again");
        (store, alone)
    }

    fn drawn(&self) -> [u8; 16] {
        let mut drawn = [0; 16];
        drawn[..8].copy_from_slice(&self.random.next().to_le_bytes());
        drawn[8..].copy_from_slice(&self.random.next().to_le_bytes());
        drawn
    }
}

fn store_options(hasher: &KeyHasher, now_ms: Ms) -> store::Options {
    let identity = u64::from_le_bytes(*hasher.key().first_chunk().expect("16 bytes hold 8"));
    let mut options = store::Options::new(identity, now_ms);
    (options.reserve_bytes, options.segment_bytes_max) = (4 << 10, 8 << 10);
    options.manifest_bytes_min = 16 << 10;
    options
}

#[derive(Default)]
struct Frames(Vec<Frame>);

impl Replay for Frames {
    fn frame(&mut self, frame: journal::Frame<'_>) -> Result<(), String> {
        self.0.push(Frame::of(&frame));
        Ok(())
    }
}

/// A replay that keeps the frames.
struct Collector<'a> {
    gathering: Gathering<'a>,
    frames: Vec<Frame>,
}

impl Replay for Collector<'_> {
    fn frame(&mut self, frame: journal::Frame<'_>) -> Result<(), String> {
        self.frames.push(Frame::of(&frame));
        self.gathering.frame(frame)
    }
}

fn checkpoint_pace(seed: u64) -> CheckpointPace {
    CheckpointPace {
        journal_bytes_max: JOURNAL_BYTES_MIN << (seed % JOURNAL_SIZES),
        commit_bytes: COMMIT_BYTES,
        step_entries: 1,
        kept_free_bytes: KEPT_FREE_BYTES,
    }
}
