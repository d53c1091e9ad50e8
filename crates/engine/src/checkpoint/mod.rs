//! The checkpointer: what the journal has grown by goes into the store, a few shards at a time, while everything goes on.
//!
//! ```text
//!   reason --> round: shard 0, 1, 2 ... 1023                       asked, journal long, changed long ago, idle
//!                turn      P(s) := journal's next position         one lock, O(tables)
//!                take      some hundred entries a step             one lock a step, encoded without it
//!                ... until the commit has some 32 MB
//!                sync      the journal, up to where it is now
//!                commit    then the journal below the least P(s) is let go of
//! ```
//!
//! A commit that fails leaves the store as it was; its shards are written whole the next time. What a run holds and which
//! one a shard gets is chosen in `policy`; what is asked and told lies in [`Orders`].
//!
//! **Where the disk has no room** a round is made for its sake (`room`): in small commits, first what the journal tells, then
//! what gives room back. So a disk that is full is drained by whoever takes keys away.
//!
//! No thread and no sleep of its own: the server drives it, and a simulated world.

mod mend;
mod orders;
mod policy;
mod reload;
mod room;
mod round;
mod sink;
mod usage;
mod writing;

pub use mend::store_shards;
pub(crate) use orders::{Asked, Patience};
pub use orders::{CheckpointInfo, EndedRound, Orders, Reason, Round};
pub use usage::Usage;

use crate::engine::Engine;
use crate::thread_cpu_time::ThreadCpuTime;
use crate::waits::{gate_open, loaded, park, raise_for};
use crate::worker::{Sleep, SleepFn};
use base::{Ms, Position};
use journal::{Journal, Level, Reached};
use keyspace::{Keyspace, ShardState};
use quanta::Instant;
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use store::Store;
use sync::gate::{Member, Raised};
use sync::lock::Want;
use sync::notifier::Notifier;

/// How often it looks whether there is a reason for a round.
const LOOK_MS: Ms = 100;
/// Without a change for so long, what has changed is stored.
const IDLE_MS: Ms = 10_000;
/// What has changed is stored after so long, whatever else.
const AGE_MS: Ms = 15 * 60_000;
/// A round that failed is tried again after so long.
const AGAIN_MS: Ms = 1_000;

/// How a checkpointer goes about it, beside the settings.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointPace {
    /// The setting of the journal's size counts as this if it is more, in bytes.
    pub journal_bytes_max: u64,
    /// A commit has about so many bytes.
    pub commit_bytes: u64,
    /// Entries looked at under one hold of a shard.
    pub step_entries: usize,
    /// Bytes of the disk that rounds always need: see [`journal::Options::kept_free_bytes`].
    pub kept_free_bytes: u64,
}

/// Writes checkpoints.
pub struct Checkpointer {
    hands: Hands,
    store: Store,
    /// Of each shard, as the store has it.
    usages: Vec<Usage>,
    engine: Arc<Engine>,
    /// The journal's end when the last round was begun that has stored everything.
    stored: Position,
    /// Where the journal ended at the last look, and since when.
    looked: (Position, Ms),
    /// When the first change was seen that no round has stored.
    changed_ms: Option<Ms>,
    failed_ms: Option<Ms>,
    /// The disk has refused room in this round.
    was_refused: bool,
    /// When the last round ended, and how long it took.
    rested_ms: Ms,
    took_ms: Ms,
}

/// What it works with, beside the store.
struct Hands {
    engine: Arc<Engine>,
    journal: Arc<Journal>,
    member: Member,
    notifier: Arc<Notifier>,
    timer: SleepFn,
    pace: CheckpointPace,
    /// So many bytes of journal begin a round.
    journal_bytes: Cell<u64>,
    /// Of the journal that was there when no round could yet be made, so much does not make writers wait, until one has been.
    old_bytes: Cell<u64>,
    /// Others wait for the round under way to make room.
    is_short: Cell<bool>,
    own_time: ThreadCpuTime,
}

impl Checkpointer {
    /// The checkpointer of `engine`, which has a journal, over the store that its keys are loaded from.
    ///
    /// # Panics
    /// If there is no journal.
    pub fn new(engine: Arc<Engine>, store: Store, timer: SleepFn, pace: CheckpointPace) -> Self {
        let journal = engine.journal.clone().expect("what is not journaled is not stored either");
        let notifier = Arc::new(Notifier::new());
        journal.add_notifier(notifier.clone());
        let (stored, looked) = (store.least_position(), (journal.next(), engine.clock.now()));
        engine.checkpoints.tell_store(&store);
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
            rested_ms: 0,
            took_ms: 0,
        }
    }

    /// Makes a round whenever there is a reason, for ever, from when all shards are loaded on: until then what each uses of
    /// the store is not known. Till then writers are held up where the journal has grown by as much as they may be ahead
    /// of a round, and from then on so far again. To be dropped when the server stops: at any time.
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

    /// One round, and what is told of it.
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
        engine.checkpoints.tell_store(&self.store);
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

/// What there is to do.
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
        let bytes = self.journal_bytes.get().saturating_mul(TAIL_PER_ROUND);
        self.journal.set_tail_limit(bytes.saturating_add(self.old_bytes.get()));
    }

    /// A round has ended: what the journal had before is stored.
    fn forget_old(&self) {
        if self.old_bytes.replace(0) != 0 {
            self.limit_tail();
        }
    }

    /// The limit counts from the journal's end on.
    fn pass_tail_by(&self) {
        self.old_bytes.set(self.journal.tail_bytes(self.journal.released()));
        self.follow_settings();
        self.limit_tail();
    }

    /// Waits for an order, or for the time of the next look.
    async fn wait_order(&self) {
        let mut sleep: Sleep = (self.timer)(LOOK_MS);
        let orders = &self.engine.checkpoints;
        poll_fn(|context| match orders.poll_order(context) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => sleep.as_mut().poll(context),
        })
        .await;
    }

    async fn sleep(&self, ms: Ms) {
        (self.timer)(ms).await;
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

    /// Lets `work` have a shard alone, as soon as it is to be had.
    async fn locked<R>(&self, shard: usize, work: impl FnOnce(&mut ShardState, &Keyspace) -> R) -> R {
        self.held(shard, work).await.0
    }

    /// The same, and how long it was held, in nanoseconds.
    async fn held<R>(&self, shard: usize, work: impl FnOnce(&mut ShardState, &Keyspace) -> R) -> (R, u64) {
        let (keyspace, mut parked) = (&self.engine.keyspace, None);
        loop {
            if let Some(_inside) = self.member.enter() {
                // Before, so that nobody waits for the look at a clock.
                self.own_time.begin(Instant::now());
                if let Some(mut state) = keyspace.shard(shard).try_write() {
                    let began = Instant::now();
                    let result = work(&mut state, keyspace);
                    let took = began.elapsed();
                    // It is let go before whoever waits is woken.
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

/// Writers wait when the journal's tail is so many times as long as what begins a round.
const TAIL_PER_ROUND: u64 = 3;
