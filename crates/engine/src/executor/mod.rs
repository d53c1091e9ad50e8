//! The executor: the one owner of a transaction's steps, whoever asks for it. Each thread that runs transactions has one.
//!
//! ```text
//!   a command, EXEC's queue, a script, the expire cycle
//!        |
//!       Job
//!        v
//!   admit --> plan --> lock --> begin --> run --> serve --> publish --> stamp --> release --> answer
//!     |                 |         |        |        |
//!    room             locked    shards   room,    shards,                   Lack
//!                     unloaded           search,  room,
//!                     unread             shards   gate
//! ```
//!
//! | step    | what happens                                                                   |
//! |---------|--------------------------------------------------------------------------------|
//! | admit   | journal room is reserved, memory is taken                                      |
//! | plan    | the shards that its keys name                                                  |
//! | lock    | all shards of the plan, or those met under the gate; their values are loaded   |
//! | begin   | the transaction sees one instant; targets of waiters are among its shards      |
//! | run     | the job's own work                                                             |
//! | serve   | clients that wait for what it added                                            |
//! | publish | watches are marked, messages and invalidations are posted, without a position  |
//! | stamp   | its frame takes a position, which its shards and messages get; words beside    |
//! |         | the locks are stored, if others can learn of the changes before the release    |
//! | release | the shards; then the frame goes to the journal                                 |
//! | answer  | the served clients, with the position that they have seen                      |
//!
//! A caller cannot leave out one of these steps: it has no access to them. (A job's own work begins each command with
//! [`begin_command`], and that of a command serves messages that just fell due with [`serve_due`].) Reads outside of a
//! job go through [`Executor::look`].

mod admission;
mod hand_over;
mod lock_retention;
mod locks;
mod publication;
mod waiters;

pub(crate) use admission::{Demand, NotAdmitted, purpose_of};
pub(crate) use lock_retention::{LockRetention, ShardUses};
pub(crate) use locks::{SHARDS_MAX, want_shut};
pub(crate) use publication::{Outgoing, begin_command};
pub(crate) use waiters::{Served, serve_due, take_off};

use crate::counters::Counters;
use crate::engine::Engine;
use crate::pubsub::Stamp;
use crate::settings::{Current, Reader};
use crate::thread_cpu_time::ThreadCpuTime;
use crate::tracking::{InvalidatedClients, Own, invalidations};
use crate::watchdog::{Beat, Hold};
use base::instant::Instant;
use base::{Ms, Position};
use journal::{HEAD_BYTES, LogBuffer, Purpose, Reservation};
use keyspace::{Abandon, Keyspace, Log, Plan, Sources, Tx};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;
use sync::gate::Raised;
use sync::lock::Want;

/// The thing that a transaction lacked; nothing has changed for its caller.
pub(crate) enum Lack {
    /// Another request holds this shard.
    Locked(usize, Want),
    /// This shard is still to be loaded.
    Unloaded(usize, Want),
    /// The value of a key with this hash is still to be read.
    Unread(u64),
    /// The journal does not yet have room for this many bytes.
    Room(u64),
    /// These shards are needed too.
    Shards(Vec<usize>),
    /// Large values are to be worked on off the lock.
    Compute(Box<Sources>),
    /// It can only run under the gate.
    Gate,
}

impl From<Abandon> for Lack {
    fn from(abandon: Abandon) -> Self {
        match abandon {
            Abandon::Room(bytes) => Self::Room(bytes),
            Abandon::Compute(sources) => Self::Compute(sources),
            Abandon::Speculate => unreachable!("a command runs speculatively only where it may"),
        }
    }
}

/// Why a job that has begun did not end well.
pub(crate) enum Stop<L> {
    /// It lacks something: all that it did is undone.
    Undo(L),
    /// It has changed nothing for itself, but what it did for waiting clients stays.
    ForOthers(L),
}

/// The course of a job that was not admitted.
pub(crate) enum Refused<L> {
    /// It runs all the same, and only reads.
    Reads,
    /// It ends here.
    Over(Result<(), L>),
}

/// The client for which a transaction runs: what it publishes, and what it has seen. The defaults are those of the server
/// itself.
pub(crate) trait Caller {
    /// Returns the number of its connection; 0: it has none.
    fn client_id(&self) -> u64 {
        0
    }

    /// Returns the position that its messages wait for at least, and whether they wait for the disk in any case.
    fn messages_wait_for(&self) -> (Position, bool) {
        (0, false)
    }

    /// Returns true if it has messages to send, or reads to remember, when a transaction ends.
    fn has_output(&self) -> bool {
        false
    }

    /// Takes the messages that it has published in the transaction.
    fn take_messages(&mut self) -> Vec<Outgoing> {
        Vec::new()
    }

    /// Takes the invalidations that are for itself, which its reply carries.
    fn add_own_pushes(&mut self, _pushes: &mut Vec<Own>) {}

    /// Called once the changes have been reported to connections that track them.
    fn end_reads(&mut self) {}

    /// Notes that what it gets to know depends on everything before `position`.
    fn saw(&mut self, _position: Position) {}

    /// Notes that it has grown the data by a frame of `bytes`, which count for its pace.
    fn grew(&mut self, _bytes: u64) {}
}

/// The caller of the server's own transactions.
pub(crate) struct Server;

impl Caller for Server {}

/// Work to be done in one transaction. `'j` outlives it.
pub(crate) trait Job<'j> {
    /// The client or server for which it runs.
    type Caller: Caller;
    /// Why it may have to be repeated.
    type Lack: From<Lack>;

    /// Returns the caller.
    fn caller(&mut self) -> &mut Self::Caller;

    /// Returns the database on which it begins.
    fn database(&self) -> u32;

    /// Returns its instant.
    fn now(&self) -> Ms;

    /// Returns the journal room and memory that it needs; `None`: it does not change keys.
    fn demand(&self) -> Option<Demand>;

    /// Decides what follows when its demand was refused.
    fn refused(&mut self, refusal: NotAdmitted, demand: &Demand) -> Refused<Self::Lack>;

    /// Returns true if it may change keys, where there is no journal.
    fn may_write(&self) -> bool;

    /// Returns true if it may lack something after it has changed keys, or asks which keys it has changed.
    fn is_undoable(&self) -> bool {
        false
    }

    /// Returns true if it may take shards beyond its plan on its way and add something there.
    fn may_feed_anywhere(&self) -> bool {
        false
    }

    /// Returns the length of its frame beyond which it stops by itself, without a journal too.
    fn frame_bytes_max(&self) -> u64 {
        u64::MAX
    }

    /// Returns true if it may be suspended, as a script.
    fn may_rest(&self) -> bool {
        false
    }

    /// Adds all that it needs to the empty plan.
    fn plan(&self, keyspace: &Keyspace, plan: &mut Plan);

    /// Returns the keys under which it may add something that clients wait for, with their databases.
    fn fed(&self) -> Vec<(u32, Vec<u8>)>;

    /// Gives the transaction what the work may ask for.
    fn prepare<'t>(&self, _tx: &mut Tx<'t>)
    where
        'j: 't,
    {
    }

    /// Does the work; if it `feeds`, clients may wait for what it adds.
    ///
    /// # Errors
    /// Returns what it lacks.
    fn run(&mut self, tx: &mut Tx<'_>, served: &mut Served, feeds: bool) -> Result<(), Stop<Self::Lack>>;

    /// Takes back what the work did outside of the transaction.
    fn undo(&mut self) {}

    /// Called when nothing can undo it any more, while its shards are held.
    fn commit(&mut self) {}
}

/// Buffers lent to one transaction after another.
#[derive(Default)]
pub(crate) struct Scratch {
    plan: Plan,
    log: Log,
}

/// The state that a thread keeps from one transaction to the next.
pub(crate) struct Executor {
    engine: Arc<Engine>,
    /// Counters of the thread; all background threads share the last set.
    counters: Arc<Counters>,
    /// State of a worker for the watchdog; `None` for a background thread.
    beat: Option<Arc<Beat>>,
    log_buffer: RefCell<Option<LogBuffer>>,
    scratch: RefCell<Scratch>,
    /// The buffers of a script, which may be suspended in its transaction while others run theirs.
    script_scratch: RefCell<Scratch>,
    /// Workers to which this turn has posted publications.
    pub(crate) notified: RefCell<Vec<u16>>,
    /// Clients to which this turn has sent pushes.
    pub(crate) invalidated: RefCell<InvalidatedClients>,
    pub(crate) own_time: ThreadCpuTime,
    reader: RefCell<Reader>,
    /// Bytes that this thread's requests may still take without asking for more.
    credit_bytes: Cell<u64>,
}

impl Executor {
    /// Creates the executor of thread `index`.
    pub(crate) fn new(engine: Arc<Engine>, index: usize, log_buffer: Option<LogBuffer>) -> Self {
        let is_background = index == engine.workers();
        Self {
            counters: engine.counters[index].clone(),
            beat: engine.watch.beats().get(index).cloned(),
            log_buffer: RefCell::new(log_buffer),
            scratch: RefCell::default(),
            script_scratch: RefCell::default(),
            notified: RefCell::default(),
            invalidated: RefCell::default(),
            own_time: if is_background { ThreadCpuTime::of_background() } else { ThreadCpuTime::of_worker() },
            reader: RefCell::new(engine.settings.reader()),
            credit_bytes: Cell::new(0),
            engine,
        }
    }

    /// Returns the thread's counters.
    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Runs a job as one transaction, inside the gate or under the `raised` one. Returns the position that it has seen;
    /// `None` if it was not admitted.
    ///
    /// # Errors
    /// Returns what it lacks; nothing has changed for it.
    #[inline]
    pub(crate) fn execute<'j, J: Job<'j>>(
        &self,
        job: &mut J,
        raised: Option<&Raised<'_>>,
        mut retention: Option<&mut LockRetention<'_>>,
    ) -> Result<Option<Position>, J::Lack> {
        let engine = &*self.engine;
        let mut claim = None;
        if !self.admits_all() {
            claim = match self.admit_job(job) {
                Ok(claim) => claim,
                Err(result) => return result.map(|()| None),
            };
        }
        let mut scratch = if job.may_rest() { &self.script_scratch } else { &self.scratch }.borrow_mut();
        let Scratch { plan, log } = &mut *scratch;
        log.expect_bytes(claim.as_ref().map_or(0, Reservation::payload_bytes));
        plan.clear();
        job.plan(&engine.keyspace, plan);
        plan.seal();
        let held = match &mut retention {
            Some(retention) => retention.hold(self, plan, raised)?,
            None => locks::hold(engine, plan, raised)?,
        };
        let _hold = self.begin_hold(job.may_rest());
        let retains = raised.is_none() && retention.as_mut().is_some_and(|retention| retention.wants(engine, plan));
        let writes = claim.is_some() || engine.journal.is_none() && job.may_write();
        let feeds = writes && waiters::plan_is_hooked(engine, plan, raised.is_some() || job.may_feed_anywhere());
        if feeds && raised.is_none() {
            waiters::plan_has_targets(engine, plan, job.fed())?;
        }
        let room_bytes = claim.as_ref().map_or(job.frame_bytes_max(), Reservation::payload_bytes);
        let is_read_anyway = job.is_undoable() || job.may_feed_anywhere();
        log.set_read(engine.journal.is_some() || feeds || is_read_anyway || engine.reads_changes());
        // Somebody may have begun to wait there since hooks were looked at.
        let is_hooked = |shard: usize| engine.hooks.any(shard);
        let mut tx = Tx::new(&engine.keyspace, held, job.database(), job.now(), log, room_bytes);
        if !feeds && job.may_feed_anywhere() {
            tx.set_barred(&is_hooked);
        }
        job.prepare(&mut tx);
        if feeds || writes && job.is_undoable() {
            tx.keep_old();
        }
        if engine.publishes_events() {
            tx.take_notes();
        }
        let mut served = Served::default();
        let ran = job.run(&mut tx, &mut served, feeds).and_then(|()| match feeds {
            true => waiters::serve_blocked(engine, &mut tx, &mut served).map_err(|lack| Stop::Undo(lack.into())),
            false => Ok(()),
        });
        if let Err(stop) = ran {
            job.undo();
            return Err(self.stop(job, stop, tx, claim, served));
        }
        job.commit();
        let retention = retention.filter(|_| retains);
        Ok(Some(self.finish(job.caller(), &mut tx, claim, served, retention)))
    }

    /// Admits a job; returns its result if it ends here.
    #[inline]
    fn admit_job<'j, J: Job<'j>>(&self, job: &mut J) -> Result<Option<Reservation>, Result<(), J::Lack>> {
        let Some(demand) = job.demand() else { return Ok(None) };
        self.admit(&demand).or_else(|refusal| match job.refused(refusal, &demand) {
            Refused::Reads => Ok(None),
            Refused::Over(result) => Err(result),
        })
    }

    /// Ends the transaction of a job that stopped.
    #[cold]
    fn stop<'j, J: Job<'j>>(
        &self,
        job: &mut J,
        stop: Stop<J::Lack>,
        mut tx: Tx<'_>,
        claim: Option<Reservation>,
        mut served: Served,
    ) -> J::Lack {
        match stop {
            Stop::Undo(lack) => {
                served.give_back();
                tx.abandon();
                lack
            }
            Stop::ForOthers(lack) if tx.log().is_empty() => {
                job.caller().saw(tx.seen());
                tx.abandon();
                lack
            }
            Stop::ForOthers(lack) => {
                served.is_for_others = true;
                self.finish_changes(job.caller(), &mut tx, claim, served, None);
                lack
            }
        }
    }

    /// Ends a transaction whose changes stay; its shard is kept if a `retention` is given. Returns the position that it has seen.
    #[inline(always)]
    fn finish<C: Caller>(
        &self,
        caller: &mut C,
        tx: &mut Tx<'_>,
        claim: Option<Reservation>,
        served: Served,
        retention: Option<&mut LockRetention<'_>>,
    ) -> Position {
        if tx.is_silent() && !caller.has_output() && served.is_empty() {
            return self.finish_read(caller, tx, retention);
        }
        self.finish_changes(caller, tx, claim, served, retention)
    }

    /// Ends a transaction of which others may learn.
    #[inline(never)]
    fn finish_changes<C: Caller>(
        &self,
        caller: &mut C,
        tx: &mut Tx<'_>,
        claim: Option<Reservation>,
        served: Served,
        retention: Option<&mut LockRetention<'_>>,
    ) -> Position {
        let engine = &*self.engine;
        let changes = !tx.log().is_empty();
        let touches = changes || tx.has_touched();
        if touches {
            publication::mark_watches(engine, tx);
        }
        self.count(tx, changes);
        let garbage = if changes { tx.take_garbage() } else { Vec::new() };
        let mut rows = if changes { engine.indexes.changes_of(tx) } else { None };
        let stamp = self.publish(caller, tx, touches, !served.is_for_others);
        let (before, is_strict) = caller.messages_wait_for();
        // Others can learn of the changes before all shards are released: by messages, as served clients, or at the
        // first of several shards.
        let is_known_early = stamp.is_some() || !served.is_empty() || tx.shards().nth(1).is_some();
        let publish = |tx: &Tx<'_>, seen: Position| {
            if is_known_early {
                tx.publish_summaries();
            }
            if let Some(rows) = &mut rows {
                engine.indexes.take(rows, &engine.keyspace, seen);
            }
            let Some(stamp) = stamp else { return };
            // In that canary build, messages are sent before what they report is durable: the history test must find
            // it.
            let is_early = cfg!(bobbin_canary = "early-message");
            stamp.set(if is_early { 0 } else { before.max(seen) }, is_strict && !is_early);
        };
        let paced_bytes = paced_bytes(engine, tx, claim.as_ref());
        let seen = hand_over::hand_over(engine, tx, claim, self.log_buffer.borrow_mut().as_mut(), publish, retention);
        // In that canary build, reads are answered before what they saw is durable: the history test must find it.
        if changes || !cfg!(bobbin_canary = "early-read") {
            caller.saw(seen);
        }
        if paced_bytes > 0 {
            caller.grew(paced_bytes);
        }
        if !garbage.is_empty() {
            engine.deferred_drop.free(Box::new(garbage));
        }
        if !served.is_empty() {
            served.answer(seen);
        }
        seen
    }

    /// Ends a transaction of which nobody learns but its caller. Returns the position that it has seen.
    #[inline]
    fn finish_read<C: Caller>(
        &self,
        caller: &mut C,
        tx: &mut Tx<'_>,
        retention: Option<&mut LockRetention<'_>>,
    ) -> Position {
        self.count(tx, false);
        let seen = tx.seen();
        hand_over::end(tx, retention).clear();
        // In that canary build, reads are answered before what they saw is durable: the history test must find it.
        if !cfg!(bobbin_canary = "early-read") {
            caller.saw(seen);
        }
        seen
    }

    #[inline]
    fn count(&self, tx: &Tx<'_>, changes: bool) {
        let counters = self.counters();
        if changes && self.engine.journal.is_none() {
            counters.changes.add(1);
        }
        self.note_reads(tx.reads);
        if tx.expired > 0 {
            counters.expired.add(u64::from(tx.expired));
        }
    }

    /// Posts what a transaction has to report, its shards held; the stamp is set once the frame has a position.
    #[inline]
    fn publish<C: Caller>(&self, caller: &mut C, tx: &Tx<'_>, touches: bool, is_own: bool) -> Option<Arc<Stamp>> {
        let is_tracked = touches && self.engine.tracker.is_used();
        if tx.notes().is_empty() && !is_tracked && !caller.has_output() {
            return None;
        }
        self.publish_all(caller, tx, is_tracked, is_own)
    }

    #[cold]
    fn publish_all<C: Caller>(
        &self,
        caller: &mut C,
        tx: &Tx<'_>,
        is_tracked: bool,
        is_own: bool,
    ) -> Option<Arc<Stamp>> {
        let messages = caller.take_messages();
        let mut stamp = None;
        if !messages.is_empty() || !tx.notes().is_empty() {
            let posted = publication::post_all(&self.engine, tx.notes(), &messages, &mut self.notified.borrow_mut());
            stamp = Some(posted);
        }
        if is_tracked {
            let by = if is_own { caller.client_id() } else { 0 };
            let mut invalidated = self.invalidated();
            let stamp = stamp.get_or_insert_with(Stamp::unset);
            invalidations::send_invalidations(&self.engine, tx, by, stamp, &mut invalidated);
            caller.add_own_pushes(&mut invalidated.own);
        }
        caller.end_reads();
        stamp
    }

    /// Looks at keys, their shards held, inside the gate or under the `raised` one. Returns the result, and the position
    /// that it has seen.
    ///
    /// # Errors
    /// Returns what it lacks.
    pub(crate) fn look<R>(
        &self,
        raised: Option<&Raised<'_>>,
        (database, now): (u32, Ms),
        add: impl FnOnce(&Keyspace, &mut Plan),
        look: impl FnOnce(&mut Tx<'_>) -> R,
    ) -> Result<(R, Position), Lack> {
        let engine = &*self.engine;
        let mut scratch = self.scratch.borrow_mut();
        let Scratch { plan, log } = &mut *scratch;
        plan.clear();
        add(&engine.keyspace, plan);
        plan.seal();
        let held = locks::hold(engine, plan, raised)?;
        let began = Instant::now();
        let _hold = self.begin_hold(false);
        let mut tx = Tx::new(&engine.keyspace, held, database, now, log, 0);
        let result = look(&mut tx);
        let seen = tx.seen();
        tx.end();
        self.note_hold(began.elapsed());
        Ok((result, seen))
    }

    /// Makes a plan without a transaction. Returns a shard of it that is still to be loaded, after asking for all of them.
    pub(crate) fn want_planned(&self, may_rest: bool, add: impl FnOnce(&Keyspace, &mut Plan)) -> Option<(usize, Want)> {
        let scratch = if may_rest { &self.script_scratch } else { &self.scratch };
        let plan = &mut scratch.borrow_mut().plan;
        plan.clear();
        add(&self.engine.keyspace, plan);
        plan.seal();
        want_shut(&self.engine, plan)
    }

    /// Shows `look` the settings in force, without touching counters of other threads.
    pub(crate) fn with_settings<R>(&self, look: impl FnOnce(&Arc<Current>) -> R) -> R {
        look(self.reader.borrow_mut().current())
    }

    /// Returns the clients invalidated in this turn, for more of them.
    pub(crate) fn invalidated(&self) -> std::cell::RefMut<'_, InvalidatedClients> {
        let mut invalidated = self.invalidated.borrow_mut();
        invalidated.bytes_max = self.with_settings(|settings| settings.output_limits.pubsub.hard_bytes);
        invalidated
    }

    /// Signals the end of a turn to the journal, to workers whose connections have messages, and to clients that have
    /// pushes.
    pub(crate) fn end_turn(&self) {
        self.log_buffer.borrow_mut().iter_mut().for_each(LogBuffer::end_turn);
        let mut notified = self.notified.borrow_mut();
        notified.drain(..).for_each(|worker| self.engine.registry.worker_queue(usize::from(worker)).notifier.notify());
        self.invalidated.borrow_mut().wake();
    }

    /// Returns the journal's room kept from earlier turns if a request of another worker waits for room.
    pub(crate) fn return_recalled_credit(&self) {
        self.log_buffer.borrow_mut().iter_mut().for_each(LogBuffer::return_recalled_credit);
    }

    /// Returns the part of a worker's state that the watchdog sees.
    #[inline]
    pub(crate) fn beat(&self) -> Option<&Beat> {
        self.beat.as_deref()
    }

    /// Marks shards as held for the watchdog, which watches the workers.
    #[inline]
    fn begin_hold(&self, is_script: bool) -> Option<Hold<'_>> {
        self.beat().map(|beat| beat.hold(is_script))
    }

    /// Counts the reads that found a key, and those that did not.
    #[inline]
    pub(crate) fn note_reads(&self, reads: keyspace::Reads) {
        let counters = self.counters();
        counters.hits.add(u64::from(reads.hits));
        counters.misses.add(u64::from(reads.misses));
    }

    /// Counts a hold of shards that has just ended.
    pub(crate) fn note_hold(&self, took: Duration) {
        self.note_hold_ns(took.as_nanos() as u64);
    }

    #[inline]
    pub(crate) fn note_hold_ns(&self, took_ns: u64) {
        let counters = self.counters();
        let own_ns = self.own_time.of(took_ns);
        counters.lock_holds.add(own_ns);
        counters.longest_lock_hold_us.raise(own_ns / 1000);
    }
}

/// Returns the bytes of the transaction's frame that count for the pace of its caller.
#[inline]
fn paced_bytes(engine: &Engine, tx: &Tx<'_>, claim: Option<&Reservation>) -> u64 {
    let is_paced = engine.journal.as_ref().is_some_and(|journal| journal.is_paced());
    match claim {
        Some(claim) if is_paced && !tx.log().is_empty() && claim.purpose() == Purpose::Grow => {
            HEAD_BYTES as u64 + tx.log().payload_bytes()
        }
        _ => 0,
    }
}
