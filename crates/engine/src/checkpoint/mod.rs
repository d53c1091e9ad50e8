//! The checkpointer: moves the journal's changes into the store, a few shards at a time, while the server runs.
//!
//! ```text
//!   reason --> round: shard 0, 1, 2 ... 1023                       asked, journal long, changed long ago, idle
//!                turn      P(s) := journal's next position         one lock, O(tables)
//!                take      some hundred entries a step             one lock a step, encoded without it
//!                ... until the commit has some 32 MB
//!                sync      the journal, up to where it is now
//!                commit    then the journal below the least P(s) is released
//! ```
//!
//! A commit that fails leaves the store unchanged; its shards are written whole the next time. `policy` chooses which
//! run a shard gets and what it holds; requests and status are in [`Orders`].
//!
//! **If the disk has no room** a round is made to regain it (`room`): in small commits, first the changes in the
//! journal, then whatever gives room back. So removing keys drains a full disk.
//!
//! It has no thread or sleep of its own: the server, or a simulated world, drives it.

mod mend;
pub(crate) mod orders;
mod policy;
mod reload;
mod room;
mod round;
mod sink;
pub(crate) mod usage;
mod writing;

pub use mend::store_shards;
pub use orders::{CheckpointInfo, EndedRound, Orders, Reason, Round};
pub use usage::Usage;

use crate::engine::Engine;
use crate::event_loop::{Sleep, SleepFn};
use crate::thread_cpu_time::ThreadCpuTime;
use crate::waits::{gate_open, loaded, park, raise_for};
use base::instant::Instant;
use base::{Ms, Position};
use journal::{Journal, Level, Reached};
use keyspace::{Keyspace, ShardState};
use round::RoundTimes;
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use store::Store;
use sync::gate::{Member, Raised};
use sync::lock::Want;
use sync::notifier::Notifier;

/// Interval at which it checks for a reason for a round.
const LOOK_MS: Ms = 100;
/// Milliseconds without a change after which changes are stored.
const IDLE_MS: Ms = 10_000;
/// Milliseconds after which changes are stored in any case.
const AGE_MS: Ms = 15 * 60_000;
/// Milliseconds after which a failed round is retried.
const AGAIN_MS: Ms = 1_000;

/// The checkpointer's parameters besides the settings.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointPace {
    /// An upper bound for the setting of the journal's size, in bytes.
    pub journal_bytes_max: u64,
    /// The approximate size of a commit, in bytes.
    pub commit_bytes: u64,
    /// Maximum number of entries visited under one hold of a shard.
    pub step_entries: usize,
    /// Bytes of the disk reserved for rounds: see [`journal::Options::kept_free_bytes`].
    pub kept_free_bytes: u64,
}

/// Writes checkpoints.
pub struct Checkpointer {
    hands: Hands,
    store: Store,
    /// The stored usage of each shard.
    usages: Vec<Usage>,
    engine: Arc<Engine>,
    /// The journal's end at the beginning of the last round that stored everything.
    stored: Position,
    /// The journal's end at the last check, and the time since which it is there.
    looked: (Position, Ms),
    /// When the first unstored change was seen.
    changed_ms: Option<Ms>,
    failed_ms: Option<Ms>,
    /// The disk has refused room in this round.
    was_refused: bool,
    times: RoundTimes,
    /// When the last round ended, and how long it took.
    rested_ms: Ms,
    took_ms: Ms,
}

/// State of the checkpointer besides the store.
struct Hands {
    engine: Arc<Engine>,
    journal: Arc<Journal>,
    member: Member,
    notifier: Arc<Notifier>,
    timer: SleepFn,
    pace: CheckpointPace,
    /// Bytes of journal that begin a round.
    journal_bytes: Cell<u64>,
    /// Bytes of journal from before rounds were possible, which do not make writers wait until a round has been made.
    old_bytes: Cell<u64>,
    /// Writers wait for the current round to make room.
    is_short: Cell<bool>,
    /// Time that it has slept, in microseconds.
    slept_us: Cell<u64>,
    own_time: ThreadCpuTime,
}

impl Checkpointer {
    /// Creates the checkpointer of `engine`, which has a journal, over the store from which its keys are loaded.
    ///
    /// # Panics
    /// Panics if there is no journal.
    pub fn new(engine: Arc<Engine>, store: Store, timer: SleepFn, pace: CheckpointPace) -> Self {
        let journal = engine.journal.clone().expect("what is not journaled is not stored either");
        let notifier = Arc::new(Notifier::new());
        journal.add_notifier(notifier.clone());
        let (stored, looked) = (store.least_position(), (journal.next(), engine.clock.now()));
        engine.checkpoints.note_store(&store);
        let hands = Hands {
            engine: engine.clone(),
            member: engine.member(),
            journal,
            notifier,
            timer,
            pace,
            journal_bytes: Cell::new(0),
            old_bytes: Cell::new(0),
            is_short: Cell::new(false),
            slept_us: Cell::new(0),
            own_time: ThreadCpuTime::of_background(),
        };
        let usages = Vec::new();
        Self {
            hands,
            store,
            usages,
            engine,
            stored,
            looked,
            changed_ms: None,
            failed_ms: None,
            was_refused: false,
            times: RoundTimes::default(),
            rested_ms: 0,
            took_ms: 0,
        }
    }

    /// Makes a round whenever there is a reason, forever, once all shards are loaded: before that, each shard's usage
    /// of the store is unknown. Until then writers wait when the journal has grown by as much as they may be ahead of a
    /// round; from then on that much again is allowed. May be dropped at any time when the server stops.
    pub async fn run(mut self) {
        self.hands.pass_tail_by();
        loaded(&self.engine).await;
        self.hands.pass_tail_by();
        self.usages = self.engine.loading.take_usages();
        loop {
            match self.task().await {
                CheckpointTask::Round(reason) => self.checkpoint(reason).await,
                CheckpointTask::Reload => {
                    let result = self.reload().await;
                    self.engine.checkpoints.end_reload(result);
                }
            }
        }
    }

    /// Makes one round and publishes its status.
    async fn checkpoint(&mut self, reason: Reason) {
        let engine = self.engine.clone();
        let began = engine.clock.now();
        engine.checkpoints.begin(reason, began);
        let journal = self.hands.journal.clone();
        let end = journal.next();
        let frames = engine.frames();
        self.hands.is_short.set(journal.begin_release() || self.failed_ms.is_some() || journal.is_full());
        self.was_refused = false;
        let result = match (journal.is_poisoned(), self.hands.is_short.get()) {
            // Nothing could be committed.
            (true, _) => self.hands.durable(end).await,
            (false, false) => self.round().await,
            (false, true) => self.round_for_room().await,
        };
        let now = engine.clock.now();
        journal.pace_tail(None);
        journal.set_release_failing(result.is_err());
        if self.hands.is_short.replace(false) {
            journal.end_release();
        }
        self.failed_ms = result.is_err().then_some(now);
        (self.rested_ms, self.took_ms) = (now, now.saturating_sub(began));
        if result.is_ok() {
            (self.stored, self.changed_ms) = (end, None);
            self.hands.forget_old();
        }
        engine.checkpoints.note_store(&self.store);
        engine.checkpoints.end(now, (end, frames), result.err());
    }

    /// Waits until there is something to do.
    async fn task(&mut self) -> CheckpointTask {
        loop {
            self.hands.follow_settings();
            if let Some(task) = self.engine.checkpoints.order() {
                return task;
            }
            let (now, next) = (self.engine.clock.now(), self.hands.journal.next());
            if self.looked.0 != next {
                self.looked = (next, now);
            }
            if self.hands.journal.is_pressed() && !self.hands.journal.is_poisoned() {
                return CheckpointTask::Round(Reason::Room);
            }
            if next > self.stored {
                self.changed_ms.get_or_insert(now);
                if let Some(reason) = self.own_reason(now, next) {
                    return CheckpointTask::Round(reason);
                }
            }
            self.hands.wait_order().await;
        }
    }

    fn own_reason(&self, now: Ms, next: Position) -> Option<Reason> {
        let since = |ms: Ms| now.saturating_sub(ms);
        if self.hands.journal.is_poisoned() {
            return None;
        }
        if let Some(failed_ms) = self.failed_ms {
            return (since(failed_ms) >= AGAIN_MS).then_some(Reason::Again);
        }
        let is_long = next - self.store.least_position() >= self.hands.journal_bytes.get();
        match () {
            () if is_long => Some(Reason::Journal),
            () if since(self.rested_ms) >= AGAIN_MS.max(self.took_ms) && self.hands.journal.is_full() => {
                Some(Reason::Room)
            }
            () if since(self.looked.1) >= IDLE_MS => Some(Reason::Idle),
            () if self.changed_ms.is_some_and(|ms| since(ms) >= AGE_MS) => Some(Reason::Age),
            () => None,
        }
    }
}

/// The next task.
enum CheckpointTask {
    Round(Reason),
    Reload,
}

impl Hands {
    fn follow_settings(&self) {
        let bytes = self.engine.settings.current().checkpoint_journal_bytes.min(self.pace.journal_bytes_max);
        if self.journal_bytes.replace(bytes) != bytes {
            self.limit_tail();
        }
    }

    fn limit_tail(&self) {
        self.journal.set_tail_limit(self.tail_bytes_max());
    }

    /// Bytes of the journal's tail at which writers wait.
    fn tail_bytes_max(&self) -> u64 {
        self.journal_bytes.get().saturating_mul(TAIL_PER_ROUND).saturating_add(self.old_bytes.get())
    }

    /// Notes that a round has ended: the older journal is stored.
    fn forget_old(&self) {
        if self.old_bytes.replace(0) != 0 {
            self.limit_tail();
        }
    }

    /// Makes the limit count from the journal's current end.
    fn pass_tail_by(&self) {
        self.old_bytes.set(self.journal.tail_bytes(self.journal.released()));
        self.follow_settings();
        self.limit_tail();
    }

    /// Waits for an order, or for the next look.
    async fn wait_order(&self) {
        let mut sleep: Sleep = (self.timer)(LOOK_MS);
        let orders = &self.engine.checkpoints;
        poll_fn(|context| match orders.poll_order(context) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => sleep.as_mut().poll(context),
        })
        .await;
    }

    /// Returns the time of the journal's clock without what it has slept, in microseconds.
    fn worked_us(&self) -> u64 {
        self.journal.elapsed_us() - self.slept_us.get()
    }

    async fn sleep(&self, ms: Ms) {
        let began_us = self.journal.elapsed_us();
        (self.timer)(ms).await;
        self.slept_us.update(|slept_us| slept_us + self.journal.elapsed_us() - began_us);
    }

    /// Waits until the journal is durable up to `position`.
    async fn durable(&self, position: Position) -> Result<(), String> {
        let Self { journal, notifier, .. } = self;
        poll_fn(|context| {
            loop {
                match journal.want(notifier, Level::Durable, position) {
                    Reached::There => return Poll::Ready(Ok(())),
                    Reached::Poisoned => {
                        let why = journal.statistics().poisoned.unwrap_or_default();
                        return Poll::Ready(Err(format!("the journal cannot be synced: {why}")));
                    }
                    Reached::Waiting if notifier.poll_notified(context).is_ready() => {}
                    Reached::Waiting => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Runs `work` on a shard, held exclusively as soon as it is available.
    async fn locked<R>(&self, shard: usize, work: impl FnOnce(&mut ShardState, &Keyspace) -> R) -> R {
        self.held(shard, work).await.0
    }

    /// The same; also returns how long the shard was held, in nanoseconds.
    async fn held<R>(&self, shard: usize, work: impl FnOnce(&mut ShardState, &Keyspace) -> R) -> (R, u64) {
        let (keyspace, mut parked) = (&self.engine.keyspace, None);
        loop {
            if let Some(_inside) = self.member.enter() {
                // Before the lock, so that nobody waits for a clock reading.
                self.own_time.begin(Instant::now());
                if let Some(mut state) = keyspace.shard(shard).try_write() {
                    let began = Instant::now();
                    let result = work(&mut state, keyspace);
                    let took = began.elapsed();
                    // It is released before waiters are woken.
                    drop(state);
                    let held_ns = self.own_time.of(took.as_nanos() as u64);
                    self.engine.note_background_hold(held_ns);
                    return (result, held_ns);
                }
            } else {
                drop(parked.take());
                self.gate_open().await;
                continue;
            }
            // Kept until the next try.
            parked = Some(park(&self.engine, shard, Want::Write).await);
        }
    }

    async fn gate_open(&self) {
        gate_open(&self.engine.gate).await;
    }

    async fn raise(&self) -> Raised<'_> {
        raise_for(&self.engine, &self.member).await
    }
}

/// Writers wait when the journal's tail is this many times the length that begins a round.
const TAIL_PER_ROUND: u64 = 3;
