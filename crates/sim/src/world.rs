//! A world: lives of one server on one disk, separated by crashes or stops.

use crate::boot::SEGMENT_BYTES;
use crate::check;
use crate::executor::{Executor, Time};
use crate::facts::Facts;
use crate::ledger::{Past, replayed};
use crate::life::Life;
use crate::random::Random;
use crate::script::{Script, Turns};
use crate::state::state;
use base::Position;
use base::disk::FakeDisk;
use base::hash::KeyHasher;
use journal::Policy;
use std::cell::RefCell;
use std::rc::Rc;

/// The fault beside the crash at the end of each life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Nothing,
    /// After a crash or a kill, the power fails during recovery, or right after it.
    CrashInRecovery,
    /// One disk operation fails.
    FailedOperation,
    /// This disk operation, counted from the start of each life, and all that follow fail.
    HaltAt(u64),
    /// This disk operation, counted from the start of each life, fails.
    FailAt(u64),
    /// The disk is temporarily small.
    SmallDisk,
    /// The server shuts down cleanly instead of crashing.
    CleanStop,
    /// The server is killed while the system survives; or the power fails.
    Kill,
    /// The wall clock is moved back and forth.
    ClockJumps,
    /// Any operation on the store's files may fail, but not on the journal's.
    SickStore,
    /// The disk claims to sync but does not: a canary, which must be detected.
    LyingDisk,
}

/// The clients' workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A mix of commands.
    Mixed,
    /// Big values are copied and renamed between shards and the originals deleted, with checkpoints in between.
    Values,
    /// Databases are flushed and swapped, with checkpoints in between.
    Databases,
    /// The steps of this script, continued in the next life.
    Script(Script, Turns),
}

/// The parameters of a world.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The seed, which decides everything.
    pub seed: u64,
    /// When frames are synced.
    pub policy: Policy,
    /// The fault.
    pub fault: Fault,
    /// The workload.
    pub workload: Workload,
    /// True if replies leave before they are durable: a canary, which must be detected.
    pub hasty: bool,
    /// The maximum number of steps of a life, or of its script, if any.
    pub steps_max: u64,
}

impl Plan {
    /// Returns true if everything acknowledged must survive into the next life.
    pub(crate) fn keeps_acknowledged(&self) -> bool {
        self.policy == Policy::Always || self.fault == Fault::CleanStop
    }

    /// Returns the plan for a seed.
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
            Fault::SickStore,
        ];
        let workloads = [Workload::Mixed, Workload::Values, Workload::Mixed, Workload::Databases];
        let (fault, workload) = (faults[(seed / 4 % 8) as usize], workloads[(seed / 32 % 4) as usize]);
        let fault = match fault {
            // The power also fails within a commit, which is one step.
            Fault::Nothing if (seed / 128).is_multiple_of(2) => Fault::HaltAt(Random::new(seed).below(OPERATIONS)),
            fault => fault,
        };
        Self { seed, policy, fault, workload, hasty: false, steps_max: 1600 }
    }
}

const LIVES: u64 = 3;
/// The approximate number of disk operations in a life.
const OPERATIONS: u64 = 600;
/// The results of a finished world. The same plan gives the same results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of replies sent.
    pub replies: u64,
    /// The number of connections that have moved to another worker.
    pub moves: u64,
    /// The number of store commits.
    pub commits: u64,
    /// The number of failed commits.
    pub commits_failed: u64,
    /// The number of shards that were waited for because they were not loaded yet.
    pub shards_wanted: u64,
    /// The hash of all frames, and of everything written.
    pub hash: u64,
}

/// A running world.
pub struct World {
    pub(crate) plan: Plan,
    pub(crate) random: Random,
    pub(crate) time: Time,
    pub(crate) facts: Rc<RefCell<Facts>>,
    /// All frames so far.
    past: RefCell<Past>,
    seen: RefCell<Seen>,
}

impl World {
    /// Runs the world of `plan` to its end.
    ///
    /// # Panics
    /// If the state ever contradicts the replies.
    pub fn run(plan: Plan) -> Seen {
        let world = Self::new(plan);
        world.time.rule(|| world.run_lives())
    }

    fn new(plan: Plan) -> Self {
        let random = Random::new(plan.seed);
        Self {
            plan,
            random,
            time: Time::new(),
            facts: Rc::default(),
            past: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    fn run_lives(&self) -> Seen {
        let mut disk = FakeDisk::new();
        for _ in 0..self.lives() {
            disk = self.live(disk);
        }
        disk.set_capacity(None);
        let mut life = self.boot(&disk, 0).unwrap_or_else(|error| panic!("a crashed disk is not recovered: {error}"));
        self.judge(&life, &disk);
        if let Workload::Script(script, turns) = self.plan.workload {
            life.open_script(script, turns, u64::MAX);
            self.run_script(&mut life, &disk);
            assert_eq!(self.facts.borrow().script.acknowledged, script.steps(), "the script does not come to its end");
            self.remember(life, &disk);
            life = self.twin(&disk);
            self.judge(&life, &disk);
        }
        if self.plan.keeps_acknowledged() {
            self.facts.borrow().record.judge();
        }
        let hasher = KeyHasher::new([7; 16]);
        let frames = self.past.borrow().frames().iter().fold(life.stored, |hash, frame| {
            hash.rotate_left(1) ^ hasher.hash(&frame.payload) ^ frame.time_ms ^ frame.position
        });
        let mut seen = *self.seen.borrow();
        (seen.replies, seen.moves) = (self.facts.borrow().replies, self.facts.borrow().moves);
        seen.hash ^= frames;
        seen
    }

    /// A script that stops often gets as many lives as it needs; one that is cut off gets a second life to be cut off
    /// in.
    fn lives(&self) -> u64 {
        match (self.plan.workload, self.plan.fault) {
            (Workload::Script(..), Fault::HaltAt(_)) => 2,
            (Workload::Script(script, _), _) => (script.steps() as u64).div_ceil(self.plan.steps_max),
            _ => LIVES,
        }
    }

    /// Returns the number of disk operations in the first life of `plan`.
    pub fn operations(plan: Plan) -> u64 {
        let world = Self::new(plan);
        let disk = FakeDisk::new();
        world.time.rule(|| world.live(disk.clone()));
        disk.operations()
    }

    /// Boots from the disk after a crash or stop, and checks the result.
    fn reborn(&self, disk: &FakeDisk) -> Life {
        let boot = |disk: &FakeDisk, loaders| {
            let life = self.boot(disk, loaders);
            life.unwrap_or_else(|error| panic!("a crashed disk is not recovered: {error}"))
        };
        let loaders = self.random.below(3) as usize;
        if loaders > 0 {
            // Looking at it would require loading.
            let copy = disk.copy();
            self.judge(&boot(&copy, 0), &copy);
            return boot(disk, loaders);
        }
        let life = boot(disk, 0);
        self.judge(&life, disk);
        life
    }

    /// Checks the state after a boot against the past.
    fn judge(&self, life: &Life, disk: &FakeDisk) {
        self.past.borrow_mut().judge(life.stored, &life.recovered);
        self.check_store(life, disk);
        check::check(self, life);
    }

    /// Checks that store and journal together equal all frames ever made, and the store alone, for each shard, all
    /// frames before its position.
    fn check_store(&self, life: &Life, disk: &FakeDisk) {
        let (past, like) = (self.past.borrow(), &life.engine.keyspace);
        let whole = replayed(past.frames(), like, |_| Position::MAX, Position::MAX);
        assert_eq!(state(like), state(&whole), "store and journal (left) are not what all frames make (right)");
        let (store, alone) = self.store_alone(&disk.copy(), like);
        let map_until = store.map().map_or(0, |map| map.position);
        let made = replayed(past.frames(), like, |shard| store.shard(shard as u32).position, map_until);
        assert_eq!(state(&alone), state(&made), "the store (left) is not what the frames before it make (right)");
    }

    /// Runs one life, from boot to its end. Returns the disk.
    fn live(&self, disk: FakeDisk) -> FakeDisk {
        self.time.jump(0);
        let mut life = match self.plan.fault {
            Fault::HaltAt(_) | Fault::FailAt(_) => match self.boot_on_failing(&disk) {
                Some(life) => life,
                None => return disk.crash(self.random.next()),
            },
            _ => self.reborn(&disk),
        };
        self.prepare_fault(&disk, &life);
        if let Workload::Script(script, turns) = self.plan.workload {
            life.open_script(script, turns, self.plan.steps_max);
            self.run_script(&mut life, &disk);
            return self.end(life, disk);
        }
        life.open();
        let steps = self.plan.steps_max / 16 + self.random.below(self.plan.steps_max);
        for step in 0..steps {
            life.step();
            self.collect(&life, &disk);
            self.meddle(&disk, step, steps);
            if self.random.one_in(500) {
                self.check_replay(&life, &disk);
            }
        }
        self.end(life, disk)
    }

    fn end(&self, life: Life, disk: FakeDisk) -> FakeDisk {
        if self.plan.fault == Fault::CleanStop {
            return self.stop(life, disk);
        }
        self.crash(life, disk)
    }

    fn run_script(&self, life: &mut Life, disk: &FakeDisk) {
        let mut steps = 0;
        // The server stops if a shard cannot be read.
        while life.is_in_script() && life.engine.loading.fault().is_none() {
            life.step();
            self.collect(life, disk);
            steps += 1;
            assert!(steps < 20_000, "a step of the script waits for ever");
        }
    }

    /// The boot itself may fail here; then returns `None`.
    fn boot_on_failing(&self, disk: &FakeDisk) -> Option<Life> {
        match self.plan.fault {
            Fault::HaltAt(operation) => disk.halt_at(operation),
            Fault::FailAt(operation) => disk.fail_at(operation),
            _ => unreachable!("asked for by these faults alone"),
        }
        let loaders = self.random.below(3) as usize;
        let life = self.boot(disk, loaders).ok()?;
        match loaders {
            0 => self.judge(&life, disk),
            // A shard that a loader cannot read stays missing; on a copy nothing fails.
            _ => self.judge(&self.twin(disk), disk),
        }
        Some(life)
    }

    fn prepare_fault(&self, disk: &FakeDisk, life: &Life) {
        match self.plan.fault {
            Fault::FailedOperation => disk.fail_at(disk.operations() + self.random.below(400)),
            Fault::SmallDisk => {
                let room_bytes = 3 * SEGMENT_BYTES + self.random.below(SEGMENT_BYTES);
                disk.leave_free(room_bytes);
            }
            Fault::SickStore => life.illness.begin(self.random.next()),
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

    /// Records frames that the journal is about to release. Called after each step.
    fn collect(&self, life: &Life, disk: &FakeDisk) {
        self.note_frames(life.journal().released(), disk);
    }

    /// Records all other frames; the twin's store may know of a commit with an unknown outcome, after which the journal
    /// was not released.
    fn note_rest(&self, twin: &Life, disk: &FakeDisk) {
        self.note_frames(twin.stored, disk);
        self.past.borrow_mut().add(twin.recovered.iter().cloned());
    }

    fn note_frames(&self, until: Position, disk: &FakeDisk) {
        let mut past = self.past.borrow_mut();
        if until > past.end() {
            let range = past.end()..until;
            past.add(self.frames(disk, range));
        }
    }

    /// Checks, while a server runs, that its files replay to its current state.
    fn check_replay(&self, life: &Life, disk: &FakeDisk) {
        let journal = life.journal();
        if journal.written() == journal.next() && !journal.is_poisoned() {
            life.check_replay(&self.twin(disk));
        }
    }

    /// Boots a server from a copy of the files as currently visible.
    fn twin(&self, disk: &FakeDisk) -> Life {
        let copy = disk.copy();
        copy.set_capacity(None);
        self.boot(&copy, 0).unwrap_or_else(|error| panic!("what was written is not recovered: {error}"))
    }

    /// Ends the power, or the process: clients and workers are gone at once.
    fn crash(&self, life: Life, disk: FakeDisk) -> FakeDisk {
        let is_kill = matches!(self.plan.fault, Fault::Kill | Fault::CrashInRecovery) && self.random.one_in(2);
        let crashed = if is_kill { disk.killed() } else { disk.crash(self.random.next()) };
        crashed.set_capacity(None);
        let (durable, written) = (life.journal().durable(), life.journal().written());
        self.remember(life, &disk);
        if self.plan.fault != Fault::CrashInRecovery {
            self.past.borrow_mut().keep(if is_kill { written } else { durable });
            return crashed;
        }
        crashed.halt_at(self.random.below(40));
        let recovered = self.boot(&crashed, 0).ok().map(|life| life.journal().next());
        // Whatever a completed recovery has accepted stays, even if the kill had left it only in memory.
        self.past.borrow_mut().keep(recovered.unwrap_or(0).max(durable));
        crashed.crash(self.random.next())
    }

    /// Collects all frames of a life, including those only in the writer's log buffers, and checks the replies against
    /// them.
    fn remember(&self, mut life: Life, disk: &FakeDisk) {
        self.note_seen(&life, disk);
        disk.fail_at(u64::MAX);
        disk.set_capacity(None);
        life.illness.end();
        life.tasks = Executor::default();
        life.drain();
        let twin = self.twin(disk);
        if !life.journal().is_poisoned() {
            assert_eq!(life.journal().written(), life.journal().next(), "the writer has left frames behind");
            life.check_replay(&twin);
        }
        self.note_rest(&twin, disk);
        life.shared.ledger.borrow().judge(self.past.borrow().frames());
    }

    fn note_seen(&self, life: &Life, disk: &FakeDisk) {
        let statistics = life.engine.checkpoints.status().stored.statistics;
        let mut seen = self.seen.borrow_mut();
        seen.commits += statistics.commits;
        seen.commits_failed += statistics.commits_failed;
        seen.shards_wanted += life.engine.loading.progress().shards_wanted;
        seen.hash = seen.hash.rotate_left(1) ^ statistics.bytes_written ^ disk.operations() << 32;
    }

    /// Lets the clients end and stops the writer cleanly: nothing may then be lost, whatever the policy.
    fn stop(&self, mut life: Life, disk: FakeDisk) -> FakeDisk {
        life.shared.stop.set(true);
        let mut steps = 0;
        while life.tasks.any_alive(life.guests..life.tasks.len()) {
            life.step();
            self.collect(&life, &disk);
            steps += 1;
            if steps % 4_000 == 0 {
                // Unblocks clients waiting without a timeout, as a server does when it stops.
                (0..10_000).filter_map(|id| life.engine.clients.get(id)).for_each(|client| client.close());
            }
            assert!(steps < 100_000, "a client waits for ever");
        }
        self.check_replay(&life, &disk);
        self.note_seen(&life, &disk);
        let end = life.journal().next();
        let Life { writer, tasks, .. } = life;
        drop(tasks);
        writer.stop().unwrap_or_else(|why| panic!("no clean stop: {why}"));
        self.note_rest(&self.twin(&disk), &disk);
        self.past.borrow_mut().keep(end);
        disk.crash(self.random.next())
    }
}
