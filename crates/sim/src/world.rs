//! A world: lives of one server over one disk, with a crash or a stop between them.

use crate::check;
use crate::client::{Client, Scene};
use crate::executor::{Executor, Time};
use crate::facts::Facts;
use crate::ledger::{Frame, Past};
use crate::life::{CLIENTS, Life, WORKERS, workers};
use crate::lying::LyingDisk;
use crate::random::Random;
use base::clock::Clock;
use base::disk::{Disk, FakeDisk};
use base::hash::KeyHasher;
use engine::settings::Draft;
use engine::{Checkpointer, Engine, Expirer, Gathering, Pace, Parts, policy_of};
use journal::{Opened, Options, Policy, Replay};
use keyspace::Keyspace;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use store::Store;

/// What goes wrong beside the crash at the end of each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Nothing,
    /// After a crash or a kill the power goes in recovery, or right after it.
    CrashInRecovery,
    /// One operation of the disk fails.
    FailedOperation,
    /// This operation of the disk, counted from the start of each life, and all that follow fail.
    HaltAt(u64),
    /// This operation of the disk, counted from the start of each life, fails.
    FailAt(u64),
    /// The disk is small, for a while.
    SmallDisk,
    /// The server stops in order instead of crashing.
    CleanStop,
    /// The server is killed, and the system lives on; or the power goes.
    Kill,
    /// The wall clock is moved back and forth.
    ClockJumps,
    /// The disk syncs nothing and says it has: a canary, which must be caught.
    LyingDisk,
}

/// What a world is to be.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides everything.
    pub seed: u64,
    /// When frames are synced.
    pub policy: Policy,
    /// What goes wrong.
    pub fault: Fault,
    /// Replies leave before they are durable: a canary, which must be caught.
    pub hasty: bool,
    /// Steps of a life, at most.
    pub steps_max: u64,
}

impl Plan {
    /// Whether what was told must be there in the next life.
    pub(crate) fn keeps_told(&self) -> bool {
        self.policy == Policy::Always || self.fault == Fault::CleanStop
    }

    /// The plan that a seed stands for.
    pub fn of(seed: u64) -> Self {
        let policy = [Policy::Always, Policy::Always, Policy::EverySec, Policy::Never][(seed % 4) as usize];
        let faults = [
            Fault::Nothing,
            Fault::CrashInRecovery,
            Fault::FailedOperation,
            Fault::SmallDisk,
            Fault::CleanStop,
            Fault::Kill,
            Fault::ClockJumps,
        ];
        Self { seed, policy, fault: faults[(seed / 4 % 7) as usize], hasty: false, steps_max: 1600 }
    }
}

const LIVES: usize = 3;
const FOLDER: &str = "data/journal";
const STORE_FOLDER: &str = "data/store";
/// Small, so that a life crosses several.
const SEGMENT_BYTES: u64 = 16 << 10;

/// Small, so that a round has several.
const COMMIT_BYTES: u64 = 4 << 10;

/// A world being run.
pub struct World {
    pub(crate) plan: Plan,
    random: Random,
    time: Time,
    pub(crate) facts: Rc<RefCell<Facts>>,
    /// What the last crash may have left.
    past: RefCell<Option<Past>>,
}

impl World {
    /// Runs the world of `plan` to its end. What has been seen of it: replies, and a hash of all that was written.
    ///
    /// # Panics
    /// If anything is there, or is not, against what clients were told.
    pub fn run(plan: Plan) -> (u64, u64) {
        let world = Self::new(plan);
        world.time.rule(|| world.run_lives())
    }

    fn new(plan: Plan) -> Self {
        let random = Random::new(plan.seed);
        Self { plan, random, time: Time::new(), facts: Rc::default(), past: RefCell::default() }
    }

    fn run_lives(&self) -> (u64, u64) {
        let mut disk = FakeDisk::new();
        for _ in 0..LIVES {
            disk = self.live(disk);
        }
        disk.set_capacity(None);
        let life = self.reborn(&disk);
        if self.plan.keeps_told() {
            self.facts.borrow().record.judge();
        }
        let hasher = KeyHasher::new([7; 16]);
        let written = life.recovered.iter().fold(0, |hash: u64, frame| {
            hash.rotate_left(1) ^ hasher.hash(&frame.payload) ^ frame.time_ms ^ frame.position
        });
        (self.facts.borrow().replies, written)
    }

    /// How many operations of the disk the first life of `plan` takes.
    pub fn operations(plan: Plan) -> u64 {
        let world = Self::new(plan);
        let disk = FakeDisk::new();
        world.time.rule(|| world.live(disk.clone()));
        disk.operations()
    }

    /// Boots from what a crash or stop left, and holds it against what was.
    fn reborn(&self, disk: &FakeDisk) -> Life {
        let life = self.boot(disk).unwrap_or_else(|error| panic!("a crashed disk is not recovered: {error}"));
        if let Some(past) = &*self.past.borrow() {
            past.judge(&life.recovered);
        }
        check::check(self, &life);
        life
    }

    /// One life, from boot to its end. Gives the disk as it is then.
    fn live(&self, disk: FakeDisk) -> FakeDisk {
        self.time.jump(0);
        let mut life = match self.plan.fault {
            Fault::HaltAt(_) | Fault::FailAt(_) => match self.boot_on_failing(&disk) {
                Some(life) => life,
                None => return disk.crash(self.random.next()),
            },
            _ => self.reborn(&disk),
        };
        self.prepare_fault(&disk);
        life.open();
        let steps = self.plan.steps_max / 16 + self.random.below(self.plan.steps_max);
        for step in 0..steps {
            life.step();
            self.meddle(&disk, step, steps);
            if self.random.one_in(500) {
                self.check_replay(&life, &disk);
            }
        }
        if self.plan.fault == Fault::CleanStop {
            return self.stop(life, disk);
        }
        self.crash(life, disk)
    }

    /// The boot itself may fail here. `None`: it did.
    fn boot_on_failing(&self, disk: &FakeDisk) -> Option<Life> {
        match self.plan.fault {
            Fault::HaltAt(operation) => disk.halt_at(operation),
            Fault::FailAt(operation) => disk.fail_at(operation),
            _ => unreachable!("asked for by these faults alone"),
        }
        let life = self.boot(disk).ok()?;
        if let Some(past) = &*self.past.borrow() {
            past.judge(&life.recovered);
        }
        check::check(self, &life);
        Some(life)
    }

    fn prepare_fault(&self, disk: &FakeDisk) {
        match self.plan.fault {
            Fault::FailedOperation => disk.fail_at(disk.operations() + self.random.below(100)),
            Fault::SmallDisk => {
                let room_bytes = 3 * SEGMENT_BYTES + self.random.below(SEGMENT_BYTES);
                disk.set_capacity(Some(disk.used_bytes() + room_bytes));
            }
            _ => {}
        }
    }

    fn meddle(&self, disk: &FakeDisk, step: u64, steps: u64) {
        match self.plan.fault {
            Fault::SmallDisk if step == steps * 3 / 4 => disk.set_capacity(None),
            Fault::ClockJumps if self.random.one_in(50) => self.time.jump(self.random.below(10_000) as i64 - 5_000),
            _ => {}
        }
    }

    /// While a server runs: what its files hold replays to what it shows.
    fn check_replay(&self, life: &Life, disk: &FakeDisk) {
        let journal = life.journal();
        if journal.written() == journal.next() && !journal.is_poisoned() {
            life.check_replay(&self.twin(disk));
        }
    }

    /// A server booted from a copy of the files as they are seen now.
    fn twin(&self, disk: &FakeDisk) -> Life {
        let copy = disk.copy();
        copy.set_capacity(None);
        self.boot(&copy).unwrap_or_else(|error| panic!("what was written is not recovered: {error}"))
    }

    /// The power goes, or the process: clients and workers are gone at once.
    fn crash(&self, life: Life, disk: FakeDisk) -> FakeDisk {
        let is_kill = matches!(self.plan.fault, Fault::Kill | Fault::CrashInRecovery) && self.random.one_in(2);
        let crashed = if is_kill { disk.killed() } else { disk.crash(self.random.next()) };
        crashed.set_capacity(None);
        let (durable, written) = (life.journal().durable(), life.journal().written());
        let frames = self.remember(life, &disk);
        if self.plan.fault != Fault::CrashInRecovery {
            *self.past.borrow_mut() = Some(Past { frames, kept: if is_kill { written } else { durable } });
            return crashed;
        }
        crashed.halt_at(self.random.below(40));
        let recovered = self.boot(&crashed).ok().and_then(|life| life.recovered.last().map(|frame| frame.end));
        // What a recovery that came to its end has accepted stays, whether or not the kill had left it in memory alone.
        *self.past.borrow_mut() = Some(Past { frames, kept: recovered.unwrap_or(0).max(durable) });
        crashed.crash(self.random.next())
    }

    /// All frames that a life made, those that only the writer's lanes hold included, held against what it showed.
    fn remember(&self, mut life: Life, disk: &FakeDisk) -> Vec<Frame> {
        disk.fail_at(u64::MAX);
        disk.set_capacity(None);
        life.tasks = Executor::default();
        life.drain();
        let twin = self.twin(disk);
        if !life.journal().is_poisoned() {
            assert_eq!(life.journal().written(), life.journal().next(), "the writer has left frames behind");
            life.check_replay(&twin);
        }
        life.scene.ledger.borrow().judge(&twin.recovered);
        twin.recovered
    }

    /// Lets the clients end and stops the writer in order: then nothing may be lost, whatever the policy.
    fn stop(&self, mut life: Life, disk: FakeDisk) -> FakeDisk {
        life.scene.stop.set(true);
        let mut steps = 0;
        while life.tasks.any_alive(life.guests..life.tasks.len()) {
            life.step();
            steps += 1;
            if steps % 4_000 == 0 {
                // Who waits without a bound is sent away, as at the stop of a server.
                (0..10_000).filter_map(|id| life.engine.clients.get(id)).for_each(|client| client.close());
            }
            assert!(steps < 100_000, "a client waits for ever");
        }
        self.check_replay(&life, &disk);
        let end = life.journal().next();
        let Life { writer, tasks, .. } = life;
        drop(tasks);
        writer.stop().unwrap_or_else(|why| panic!("no clean stop: {why}"));
        let frames = self.twin(&disk).recovered;
        *self.past.borrow_mut() = Some(Past { frames, kept: end });
        disk.crash(self.random.next())
    }

    fn boot(&self, disk: &FakeDisk) -> Result<Life, String> {
        let wall = self.time.wall();
        let mut settings = Draft::new();
        let fsync = ["always", "everysec", "never"][self.plan.policy as usize];
        for (name, value) in [("fsync", fsync), ("enable-debug-command", "yes")] {
            let row = engine::settings::find(name).expect("it is a row");
            settings.put_flag(row, value).map_err(|mistake| mistake.to_string())?;
        }
        let settings = Arc::new(settings.finish());
        let mut options = Options::new(policy_of(settings.current().fsync), wall());
        options.segment_bytes = SEGMENT_BYTES;
        options.elapsed_us = self.time.elapsed_us();
        options.drawn = [self.drawn(), self.drawn()];
        let files: Arc<dyn Disk> = match self.plan.fault {
            Fault::LyingDisk => Arc::new(LyingDisk(disk.clone())),
            _ => Arc::new(disk.clone()),
        };
        let prepared =
            journal::prepare(files.clone(), Path::new(FOLDER), options).map_err(|error| error.to_string())?;
        let hasher = KeyHasher::new(prepared.identity.hash_key);
        let identity = u64::from_le_bytes(*prepared.identity.hash_key.first_chunk().expect("16 bytes hold 8"));
        let mut store_options = store::Options::new(identity, wall());
        (store_options.reserve_bytes, store_options.segment_bytes_max) = (4 << 10, 8 << 10);
        store_options.manifest_bytes_min = 16 << 10;
        let store = Store::open(files.clone(), Path::new(STORE_FOLDER), store_options);
        let store = store.map_err(|error| error.to_string())?;
        let keyspace = Keyspace::new(hasher, 16);
        keyspace.keep_marks();
        let mut collector = Collector { gathering: Gathering::new(&keyspace, &store), frames: Vec::new() };
        let opened = prepared.open(store.least_position(), &mut collector).map_err(|error| error.to_string())?;
        let recovered = collector.frames;
        let loading = collector.gathering.finish(&store);
        loading.run(&keyspace)?;
        let usages = loading.finish();
        let Opened { journal, mut writer, maker, recovery, .. } = opened;
        let clock = Clock::new(wall, recovery.last_time_ms).map_err(|ahead_ms| format!("{ahead_ms} ms ahead"))?;
        let time = clock.clone();
        writer.set_clock(move || time.now());
        let parts = Parts { hasher, clock, settings, workers: WORKERS };
        let engine = Engine::new(parts, keyspace, Some((journal, recovery)));
        let mut tasks = Executor::default();
        let workers = workers(&engine, &self.time, &mut tasks);
        let time = self.time.clone();
        let pace = Pace { journal_bytes_max: u64::MAX, commit_bytes: COMMIT_BYTES };
        let checkpointer = Checkpointer::new(engine.clone(), store, usages, Box::new(move |ms| time.sleep(ms)), pace);
        tasks.spawn(checkpointer.run());
        let scene = Rc::new(Scene {
            engine: engine.clone(),
            workers,
            facts: self.facts.clone(),
            ledger: RefCell::default(),
            line: RefCell::default(),
            random: self.random.clone(),
            stop: Cell::new(false),
            hasty: self.plan.hasty,
        });
        Ok(Life {
            observer: RefCell::new(Client::new(CLIENTS, scene.clone())),
            expirer: Expirer::new(engine.clone()),
            guests: tasks.len(),
            time: self.time.clone(),
            random: self.random.clone(),
            engine,
            scene,
            writer,
            maker,
            tasks,
            recovered,
        })
    }

    fn drawn(&self) -> [u8; 16] {
        let mut drawn = [0; 16];
        drawn[..8].copy_from_slice(&self.random.next().to_le_bytes());
        drawn[8..].copy_from_slice(&self.random.next().to_le_bytes());
        drawn
    }
}

/// Replays, and keeps the frames.
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
