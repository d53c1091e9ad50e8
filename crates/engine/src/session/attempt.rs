//! One attempt at a command (or at EXEC) under the locks it needs.
//!
//! ```text
//! admit room --> plan shards --> hold them all --> tx: handlers --> serve blocked clients
//!     |               |               |              |                   |
//!   Room           Shards          Locked     Room, Waiting,           Shards, Room          Suspend
//!                                            Search, Run speculatively
//!
//! --> mark watches --> take a position --> stamp the shards --> let go --> hand the frame over --> answer the served
//! ```

use super::element_wait::ElementWait;
use super::gather::ARGUMENTS_MAX;
use super::lock_retention::LockRetention;
use super::messages::begin_command;
use super::parts::{is_done_by_parts, is_to_be_sorted};
use super::script::is_run_by_lua;
use super::serve::serve_due;
use super::speculate::{self, SpeculativeResult};
use super::suspend::Suspend;
use super::{POISONED, Session, purpose, write_failure};
use crate::engine::Engine;
use crate::pubsub::Stamp;
use crate::waiter::{Answer, Waiter};
use crate::watchdog::RoomWait;
use crate::worker::{Scratch, Worker};
use base::{Ms, Position};
use commands::registry::Command;
use commands::{Access, Failure, Flag, Local, Run, Verb};
use journal::{Late, LogBuffer, Purpose, Refusal, Reservation};
use keyspace::{Abandon, Held, Log, Named, OffLockJobs, Payload, Plan, PrebuiltStrings, Tx};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use sync::gate::Raised;
use sync::lock::Want;
use values::LongString;
use wire::resp::Encoder;
use wire::{Args, Output, Reply};

/// Delay before a waiter retries when the journal is full or no longer accepts anything.
const REFUSED_MS: Ms = 1_000;

/// The requirements that earlier attempts lacked.
#[derive(Default)]
pub(crate) struct RetryState {
    /// Journal room for at least this many bytes.
    pub(super) room_bytes: u64,
    /// More shards, exclusively.
    pub(super) shards: Vec<usize>,
    /// Long strings that it may store, split into pieces.
    pub(super) cuts: PrebuiltStrings,
    /// Big lists to search, and the search results.
    pub(super) jobs: OffLockJobs,
    /// The result of a speculative run, to be committed.
    pub(super) speculated: Cell<Option<Box<SpeculativeResult>>>,
    /// Number of speculative runs so far.
    pub(super) speculations: u32,
    /// Its position in the queues of its keys, if it waits there and retries by itself.
    pub(super) wait: Option<ElementWait>,
    /// Its wait for journal room.
    pub(super) room_wait: Option<RoomWait>,
}

/// The context of an attempt.
pub(super) struct Attempt<'a> {
    pub(super) worker: &'a Rc<Worker>,
    pub(super) needs: &'a RetryState,
    /// The gate, if it was raised for this attempt.
    pub(super) raised: Option<&'a Raised<'a>>,
    pub(super) now: Ms,
    /// It is not even inside the gate: for commands that clients may run while a script is busy.
    pub(super) is_outside: bool,
}

/// Blocked clients that this tx serves: their claims are given back if it is abandoned.
#[derive(Default)]
pub(crate) struct Served {
    pub(crate) replies: Vec<(Arc<Waiter>, Result<Output, Failure>)>,
    /// The waiter that makes the attempt, if it waits: its reply goes the usual way.
    own: Option<Arc<Waiter>>,
    /// All changes of the tx were for other clients.
    is_for_others: bool,
}

impl Served {
    pub(crate) fn give_back(&mut self) {
        self.replies.drain(..).for_each(|(waiter, _)| waiter.give_back());
        self.leave_claim();
    }

    /// Gives back the claim of the waiter that makes the attempt, if there is one.
    fn leave_claim(&mut self) -> Option<Arc<Waiter>> {
        self.own.take().inspect(|waiter| waiter.give_back())
    }

    /// Claims the wait of the waiter that makes the attempt. Returns false if it was already claimed.
    fn claim(&mut self, own: &Arc<Waiter>) -> bool {
        let is_claimed = own.claim();
        self.own = is_claimed.then(|| own.clone());
        is_claimed
    }

    pub(crate) fn answer(self, seen: Position) {
        for (waiter, reply) in self.replies {
            waiter.answer(match reply {
                Ok(reply) => Answer::Reply(reply, seen),
                Err(failure) => Answer::Failure(failure, seen),
            });
        }
    }
}

impl Session {
    /// Returns the long strings that a request may store, including those of an EXEC's queue.
    pub(super) fn long_texts<'a>(&'a self, command: &Command, args: &Args<'a>) -> impl Iterator<Item = &'a [u8]> {
        let is_exec = matches!(command.run, Run::Engine(Verb::Exec));
        let queue = self.multi.iter().filter(move |_| is_exec).flat_map(|multi| &multi.queue);
        command.long_texts(args).chain(queue.flat_map(|(command, request)| command.long_texts(&request.args())))
    }

    /// Returns the needs of the first attempt, if they can be met at once.
    pub(super) fn needs(&self, command: &Command, args: &Args<'_>) -> Result<Option<RetryState>, Suspend> {
        let mut needs = None::<RetryState>;
        let mut bytes_left = CUT_BYTES_MAX;
        for text in self.long_texts(command, args) {
            bytes_left = bytes_left.checked_sub(text.len()).ok_or(Suspend::LongStrings)?;
            needs.get_or_insert_default().cuts.add(text, LongString::of(text));
        }
        Ok(needs)
    }

    /// Runs a command if everything it needs is available at once.
    pub(super) fn attempt(
        &mut self,
        attempt: &Attempt<'_>,
        retention: &mut LockRetention<'_>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let &Attempt { worker, raised, now, .. } = attempt;
        if !matches!(command.run, Run::Local(_)) {
            // The attempt may hold other shards.
            retention.let_go(worker);
        }
        let writes = self.any_command(&command, |command| command.is_held_with_writes());
        // Checked here, since a command may have waited for something else when the pause began. A script itself
        // declares whether it writes: see `wait_if_it_writes`.
        let is_held =
            writes && self.any_command(&command, |command| command.is_held_with_writes() && !is_run_by_lua(command));
        if worker.engine.pause.holds(is_held, || now).is_some() && !command.has(Flag::Admin) {
            return Err(Suspend::Paused { writes: is_held });
        }
        if writes && raised.is_none() && worker.engine.keyspace.order().is_behind() {
            return Err(Suspend::Behind);
        }
        match command.run {
            #[cfg(bobbin_canary = "lockless-pop")]
            Run::Local(handler) if command.name == "LPOP" => {
                self.pop_in_two_steps(attempt, command, handler, args, output)
            }
            Run::Local(_)
                if raised.is_none() && (is_done_by_parts(&command, args) || is_to_be_sorted(&command, args)) =>
            {
                Err(Suspend::ManyKeys)
            }
            Run::Local(handler) => self.run_one(attempt, retention, command, handler, args, output),
            Run::Gather { .. } if raised.is_none() && args.len() > ARGUMENTS_MAX => Err(Suspend::ManyKeys),
            Run::Gather { at_once, .. } => self.run_one(attempt, retention, command, at_once, args, output),
            Run::Blocking { try_now, .. } => self.run_one(attempt, retention, command, try_now, args, output),
            Run::Gate(handler) if raised.is_some() => self.run_one(attempt, retention, command, handler, args, output),
            Run::Gate(_) => Err(Suspend::Gate),
            Run::Parts { is_long, .. } if is_long(&*self, args) => Err(Suspend::Parts),
            Run::Session(handler) | Run::Parts { at_once: handler, .. } => {
                let mark = output.mark();
                let protocol =
                    if command.has(Flag::SetsProtocol) { self.protocol_after_hello(args) } else { self.protocol };
                let outcome = handler(self, args, &mut Encoder::new(output, protocol));
                self.saw_counts(worker, &command);
                if let Err(failure) = outcome {
                    output.truncate(mark);
                    self.fail(worker, Some(command), &failure, output);
                }
                Ok(())
            }
            Run::Sweep(_) => Err(Suspend::Sweep),
            Run::Range { .. } => Err(Suspend::Range),
            Run::Engine(verb) => self.run_verb(attempt, command, verb, args, output),
        }
    }

    #[inline]
    pub(super) fn run_one(
        &mut self,
        attempt: &Attempt<'_>,
        retention: &mut LockRetention<'_>,
        command: Command,
        handler: Local,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let &Attempt { worker, needs, raised, now, .. } = attempt;
        let engine = &*worker.engine;
        let mut scratch = worker.scratch.borrow_mut();
        let Scratch { plan, log } = &mut *scratch;
        let writes = command.writes();
        let claim = if writes {
            let bound = command.frame_bytes_max(args).max(needs.room_bytes);
            match admit(worker, bound, purpose(command.access)) {
                Ok(claim) => claim,
                Err(refusal) if needs.wait.is_none() || refusal == NotAdmitted::Journal(Refusal::Wait) => {
                    return self.refused(worker, Some(command), refusal, bound, output);
                }
                Err(_) => return Err(Suspend::StillWaiting { look_again_ms: Some(now + REFUSED_MS) }),
            }
        } else {
            None
        };
        plan.clear();
        command.plan(args, &engine.keyspace, plan);
        needs.shards.iter().for_each(|shard| plan.add_shard(*shard, Want::Write));
        plan.seal();
        let held = retention.hold(worker, plan, raised)?;
        let _hold = worker.beat().hold(false);
        let keeps = raised.is_none() && retention.wants(engine, plan);
        let feeds = writes && plan_is_hooked(engine, plan, raised.is_some());
        if feeds && raised.is_none() {
            plan_has_targets(engine, plan, self.database, &command, args)?;
        }
        let room_bytes = claim.as_ref().map_or(u64::MAX, Reservation::payload_bytes);
        log.set_read(engine.journal.is_some() || feeds || engine.tracker.is_used());
        let mut tx = Tx::new(&engine.keyspace, held, self.database, now, log, room_bytes);
        self.prepare(worker, &mut tx, needs, feeds);
        let mut served = Served::default();
        if (feeds || needs.wait.is_some())
            && let Err(why) = self.go_by_line(engine, needs, &mut tx, (&command, args), &mut served)
        {
            if matches!(why, Suspend::StillWaiting { .. }) {
                self.finish_or_abandon(worker, tx, claim, served);
            } else {
                served.give_back();
                tx.abandon();
            }
            return Err(why);
        }
        begin_command(&mut tx, &command, args);
        let mark = output.mark();
        let outcome = if args.len() > speculate::ARGUMENTS_MAX || needs.speculations > 0 {
            self.apply_speculation(worker, needs, &command, (handler, args), &mut tx, output)
        } else {
            tx.set_speculating();
            handler(&mut tx, args, &mut Encoder::new(output, self.protocol))
        };
        match outcome {
            Ok(()) => {}
            Err(failure) if is_nothing(&failure, needs) => {
                output.truncate(mark);
                let waiting = match served.leave_claim() {
                    Some(waiter) => Suspend::StillWaiting { look_again_ms: self.looks_again_at(worker, &waiter, &tx) },
                    None => self.block(worker, command, args, &mut tx),
                };
                self.finish_or_abandon(worker, tx, claim, served);
                return Err(waiting);
            }
            Err(Failure::Abandon(lack)) => {
                output.truncate(mark);
                return Err(self.lacking(worker, (&command, args), lack, tx, claim, served));
            }
            Err(failure) => {
                output.truncate(mark);
                self.fail(worker, Some(command), &failure, output);
            }
        }
        self.note_read(worker, &command, args);
        if feeds && let Err(why) = self.serve_blocked(worker, &mut tx, &mut served) {
            served.give_back();
            output.truncate(mark);
            tx.abandon();
            return Err(why);
        }
        let end = |tx| if keeps { retention.end_tx(tx) } else { Tx::end(tx) };
        let seen = self.finish(worker, tx, claim, served, end);
        self.hide_unreadable(worker, seen, mark, output);
        Ok(())
    }

    /// Gives a tx what its command may need; if it `feeds`, its changes may go to waiters.
    #[inline]
    fn prepare<'t>(&self, worker: &'t Worker, tx: &mut Tx<'t>, needs: &'t RetryState, feeds: bool) {
        tx.set_memory(worker);
        tx.set_touching(!self.client.no_touch.load(Relaxed));
        tx.set_searches(&needs.jobs);
        tx.set_seed(worker.random());
        tx.set_cuts(&needs.cuts);
        if feeds {
            tx.keep_old();
        }
        if worker.engine.publishes_events() {
            tx.take_notes();
        }
    }

    /// Serves the clients that wait for due messages under these keys before the request looks at them; if the request
    /// itself waits there, claims its wait.
    ///
    /// # Errors
    /// Returns the missing requirement; or that the request's own wait has ended, by this call or by another client.
    fn go_by_line(
        &self,
        engine: &Engine,
        needs: &RetryState,
        tx: &mut Tx<'_>,
        request: (&Command, &Args<'_>),
        served: &mut Served,
    ) -> Result<(), Suspend> {
        // A speculative result is only valid for the values now present.
        if needs.speculations == 0 {
            serve_due(engine, tx, self.database, request, served)?;
        }
        match &needs.wait {
            Some(wait) if !served.claim(wait.waiter()) => Err(Suspend::StillWaiting { look_again_ms: Some(tx.now()) }),
            _ => Ok(()),
        }
    }

    /// Abandons the transaction and returns the missing requirement. A command that is to run speculatively has changed
    /// nothing yet, so elements already served to other clients stay theirs.
    #[cold]
    fn lacking(
        &mut self,
        worker: &Worker,
        (command, args): (&Command, &Args<'_>),
        lack: Abandon,
        mut tx: Tx<'_>,
        claim: Option<Reservation>,
        mut served: Served,
    ) -> Suspend {
        if !matches!(lack, Abandon::Speculate) {
            served.give_back();
            tx.abandon();
            return lack.into();
        }
        let snapshot = self.snapshot(worker, command, args, &mut tx);
        served.leave_claim();
        self.finish_or_abandon(worker, tx, claim, served);
        Suspend::Speculate(snapshot)
    }

    /// Ends the tx of an attempt that found nothing for itself.
    fn finish_or_abandon(&mut self, worker: &Worker, tx: Tx<'_>, claim: Option<Reservation>, mut served: Served) {
        served.is_for_others = true;
        if tx.log().is_empty() {
            self.saw(tx.seen());
            tx.abandon();
        } else {
            self.finish(worker, tx, claim, served, Tx::end);
        }
    }

    /// Ends a tx: its frame, its garbage, the clients it served. Returns the position that the reply has seen.
    #[inline]
    pub(super) fn finish<'t>(
        &mut self,
        worker: &Worker,
        mut tx: Tx<'t>,
        claim: Option<Reservation>,
        served: Served,
        end: impl FnOnce(Tx<'t>) -> &'t mut Log,
    ) -> Position {
        let engine = &*worker.engine;
        let changes = !tx.log().is_empty();
        let touches = changes || tx.has_touched();
        if touches {
            mark_watches(engine, &mut tx);
        }
        if changes && engine.journal.is_none() {
            worker.counters().changes.add(1);
        }
        worker.note_reads(tx.reads);
        if tx.expired > 0 {
            worker.counters().expired.add(u64::from(tx.expired));
        }
        let garbage = if changes { tx.take_garbage() } else { Vec::new() };
        let mut stamp = self.post_of_tx(worker, &tx);
        if touches && engine.tracker.is_used() {
            self.send_invalidations(worker, &tx, stamp.get_or_insert_with(Stamp::unset), !served.is_for_others);
        }
        if self.outbox.is_some() {
            self.end_reads(worker);
        }
        let (before, is_strict) = (self.watermark, self.durable_always);
        let publish = |seen: Position| {
            let Some(stamp) = stamp else { return };
            // In that canary build, messages are sent before what they report is durable: the history test must find
            // it.
            let is_early = cfg!(bobbin_canary = "early-message");
            stamp.set(if is_early { 0 } else { before.max(seen) }, is_strict && !is_early);
        };
        let seen = hand_over(engine, tx, claim, worker.log_buffer.borrow_mut().as_mut(), publish, end);
        // In that canary build, reads are answered before what they saw is durable: the history test must find it.
        if changes || !cfg!(bobbin_canary = "early-read") {
            self.saw(seen);
        }
        if !garbage.is_empty() {
            engine.deferred_drop.free(Box::new(garbage));
        }
        if !served.replies.is_empty() {
            served.answer(seen);
        }
        seen
    }

    /// Notes that a command reporting key counts has seen all shards.
    pub(super) fn saw_counts(&mut self, worker: &Worker, command: &Command) {
        if command.has(Flag::ReportsKeyCounts)
            && let Some(journal) = &worker.engine.journal
        {
            self.saw(journal.next());
        }
    }

    /// Notes that a reply has seen everything up to `position`.
    pub(super) fn saw(&mut self, position: Position) {
        self.watermark = self.watermark.max(position);
    }

    /// After a failed sync, replaces a reply that has seen non-durable data by an error.
    pub(super) fn hide_unreadable(&self, worker: &Worker, seen: Position, mark: wire::Mark, output: &mut Output) {
        if let Some(journal) = &worker.engine.journal
            && journal.is_poisoned()
            && seen > journal.durable()
        {
            output.truncate(mark);
            write_failure(output, self.protocol, &Failure::text(POISONED));
        }
    }

    /// Replies with a failure and counts it.
    pub(super) fn fail(&self, worker: &Worker, command: Option<Command>, failure: &Failure, output: &mut Output) {
        match (failure, command) {
            (Failure::OutOfMemory, Some(command)) if self.lines.is_some() => {
                Encoder::new(output, self.protocol).error(out_of_memory_line(&command));
            }
            _ => write_failure(output, self.protocol, failure),
        }
        if let Some(command) = command {
            worker.counters().by_command[command.index()].failed.add(1);
        }
        if !matches!(failure, Failure::Counted(_)) {
            self.note_error(worker, &failure.to_string());
        }
    }

    pub(super) fn note_error(&self, worker: &Worker, text: &str) {
        worker.counters().errors.add(1);
        worker.engine.errors.add(text);
    }

    /// Handles a command that was not admitted: waits for journal room, or replies why it does not run.
    pub(super) fn refused(
        &mut self,
        worker: &Worker,
        command: Option<Command>,
        refusal: NotAdmitted,
        bytes: u64,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let failure = match refusal {
            NotAdmitted::OutOfMemory => Failure::OutOfMemory,
            NotAdmitted::Journal(Refusal::Wait) => return Err(Suspend::Room(bytes)),
            NotAdmitted::Journal(Refusal::Full) => Failure::text(FULL),
            NotAdmitted::Journal(Refusal::Poisoned) => Failure::text(POISONED),
            NotAdmitted::Journal(Refusal::TooLong) => {
                Failure::text("ERR the change exceeds the maximum size of a journal frame")
            }
        };
        self.fail(worker, command, &failure, output);
        Ok(())
    }

    /// Returns when a waiter retries by itself: for a message falling due in a queue, only if it is the first waiter to
    /// do so.
    fn looks_again_at(&self, worker: &Worker, waiter: &Arc<Waiter>, tx: &Tx<'_>) -> Option<Ms> {
        let mut is_first = !waiter.is_watchful();
        waiter.for_each_key(|key, is_target| {
            let shard = keyspace::shard_of(tx.keyspace().hash(key));
            is_first |= !is_target && worker.engine.hooks.is_first_watchful(shard, waiter.database, key, waiter);
        });
        tx.looks_again_at().filter(|_| is_first)
    }

    /// Registers a command that found nothing at its keys; its shards are held.
    fn block(&mut self, worker: &Rc<Worker>, command: Command, args: &Args<'_>, tx: &mut Tx<'_>) -> Suspend {
        let Run::Blocking { settled, .. } = command.run else { unreachable!("only blocking commands find nothing") };
        let waiter = Arc::new(Waiter::new(command, settled(tx, args), self.database, self.protocol));
        let keyspace = tx.keyspace();
        waiter.for_each_key(|key, is_target| {
            if !is_target {
                let shard = keyspace::shard_of(keyspace.hash(key));
                worker.engine.hooks.add_waiter(shard, self.database, key, &waiter);
            }
        });
        let look_again_ms = self.looks_again_at(worker, &waiter, tx);
        Suspend::Waiting(ElementWait::begin(worker.clone(), waiter, self.client.clone(), look_again_ms))
    }
}

/// Returns true if a command found nothing: for a waiter already in a queue, another type also counts as nothing.
fn is_nothing(failure: &Failure, needs: &RetryState) -> bool {
    matches!(failure, Failure::Nothing) || needs.wait.is_some() && matches!(failure, Failure::WrongType)
}

/// Takes a position for the tx's frame as the last act under its locks, releases them with `end`, and hands the frame
/// over. Leaves the log empty. Returns the position that the reply has seen, which is passed to `publish` while the
/// shards are held.
pub(crate) fn hand_over<'t>(
    engine: &Engine,
    mut tx: Tx<'t>,
    claim: Option<Reservation>,
    log_buffer: Option<&mut LogBuffer>,
    publish: impl FnOnce(Position),
    end: impl FnOnce(Tx<'t>) -> &'t mut Log,
) -> Position {
    let (seen, now) = (tx.seen(), tx.now());
    let (Some(log_buffer), false) = (log_buffer, tx.log().is_empty()) else {
        publish(seen);
        end(tx).clear();
        return seen;
    };
    let claim = claim.expect("a command that changes keys was admitted");
    let ticket = log_buffer.take(claim, tx.log().payload_bytes());
    let position = ticket.end;
    tx.stamp(position);
    publish(seen.max(position));
    let log = end(tx);
    match log.payload_mut().complete() {
        Some(bytes) => log_buffer.hand_over(ticket, now, bytes),
        None => log_buffer.hand_over_late(ticket, now, late(engine, std::mem::take(log.payload_mut()))),
    }
    log.clear();
    seen.max(position)
}

/// Returns the out-of-memory line of memcached, also used for MemcacheQ.
fn out_of_memory_line(command: &Command) -> &'static str {
    if command.has(Flag::ChangesNumber) { "SERVER_ERROR out of memory" } else { OUT_OF_MEMORY_LINE }
}

/// Memcached's error line when there is no memory for an item.
pub(super) const OUT_OF_MEMORY_LINE: &str = "SERVER_ERROR out of memory storing object";

/// Makes a payload to be encoded by the journal's thread: its clones may by then be the last references to their
/// values, so they go to the deferred-drop thread.
fn late(engine: &Engine, payload: Payload) -> Late {
    let drop_later = engine.deferred_drop.remote();
    let (clones_bytes, sum) = (payload.clones_bytes(), engine.journal_clones_bytes.clone());
    sum.fetch_add(clones_bytes, Relaxed);
    Late::new(payload.bytes_count(), move || {
        let bytes = payload.to_vec();
        drop_later(Box::new(payload));
        sum.fetch_sub(clones_bytes, Relaxed);
        bytes
    })
}

/// Why a command is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotAdmitted {
    /// The journal refuses such a frame.
    Journal(Refusal),
    /// There is no memory for what it adds.
    OutOfMemory,
}

/// Claims memory for a growing command, and journal room for a frame of at most `bytes`; none without a journal.
#[inline]
pub(super) fn admit(worker: &Worker, bytes: u64, purpose: Purpose) -> Result<Option<Reservation>, NotAdmitted> {
    let log_buffer = worker.log_buffer.borrow();
    let claim = log_buffer
        .as_ref()
        .map(|log_buffer| log_buffer.try_admit(bytes, purpose))
        .transpose()
        .map_err(NotAdmitted::Journal)?;
    // After the journal check, which a request may repeat: each repetition would take memory again.
    if purpose == Purpose::Grow && !worker.may_grow(bytes) {
        return Err(NotAdmitted::OutOfMemory);
    }
    Ok(claim)
}

/// Tries to take the shards, and again after a moment: most holds last less than a microsecond. Under the gate nobody
/// waits for a shard to load, so the plan's shards must be loaded: any others are reached through keys already checked.
#[inline]
pub(super) fn hold<'k>(engine: &'k Engine, plan: &'k Plan, raised: Option<&Raised<'_>>) -> Result<Held<'k>, Suspend> {
    if raised.is_some() {
        return match want_shut(engine, plan) {
            Some((shard, want)) => Err(Suspend::Unloaded(shard, want)),
            None => all_read(engine, plan).map(|()| Held::under_gate(&engine.keyspace)),
        };
    }
    let mut result = plan.try_hold(&engine.keyspace);
    for _ in 0..SPINS {
        if result.is_ok() {
            break;
        }
        std::hint::spin_loop();
        result = plan.try_hold(&engine.keyspace);
    }
    match result {
        // Checked first, so that the held shards are moved only once.
        Ok(held) if engine.loading.is_over() => Ok(held),
        result => hold_loading(engine, plan, result),
    }
}

/// Completes a try for a plan's shards that failed, or that was made while loading is not over.
#[cold]
fn hold_loading<'k>(
    engine: &Engine,
    plan: &Plan,
    result: Result<Held<'k>, (usize, Want)>,
) -> Result<Held<'k>, Suspend> {
    match result {
        Ok(held) => all_read(engine, plan).map(|()| held),
        Err((shard, want)) => Err(match want_shut(engine, plan) {
            Some((shard, want)) => Suspend::Unloaded(shard, want),
            None => Suspend::Locked(shard, want),
        }),
    }
}

/// Checks that the values of the plan's keys are loaded. Keys reached through these (targets of their waiters, watched
/// keys) were checked earlier, and a loaded value stays loaded.
#[inline]
fn all_read(engine: &Engine, plan: &Plan) -> Result<(), Suspend> {
    if engine.loading.is_over() {
        return Ok(());
    }
    engine.loading.unread(plan).map_or(Ok(()), |hash| Err(Suspend::Unread(hash)))
}

/// Asks for all shards of the plan that are still to be loaded, at once; returns one of them.
#[cold]
pub(super) fn want_shut(engine: &Engine, plan: &Plan) -> Option<(usize, Want)> {
    if engine.loading.is_over() {
        return None;
    }
    let wants = plan.wants().iter().map(|(shard, want)| (usize::from(*shard), *want));
    let shut = wants.filter(|(shard, _)| engine.keyspace.shard(*shard).is_shut());
    shut.inspect(|(shard, _)| engine.loading.want(*shard)).last()
}

/// Maximum bytes of strings split in a turn: some 250 µs.
const CUT_BYTES_MAX: usize = 1 << 20;

/// The error when the disk is full.
pub(super) const FULL: &str = "MISCONF the disk of the data folder is full: commands that need space are refused \
                               until some is freed; reads and deletions still work";

/// About a microsecond of trying.
const SPINS: usize = 20;

/// Above this many shards, raising the gate is cheaper than a set of locks.
pub(super) const SHARDS_MAX: usize = 64;

/// Returns true if a shard held for writing has any hooks.
pub(super) fn plan_is_hooked(engine: &Engine, plan: &Plan, gated: bool) -> bool {
    if gated {
        return engine.hooks.used_shards().next().is_some();
    }
    plan.wants().iter().any(|(shard, want)| *want == Want::Write && engine.hooks.any(usize::from(*shard)))
}

/// Checks that waiters for the keys of `command` need no shards beyond the plan: for their targets, and in turn for
/// those who wait for the targets.
fn plan_has_targets(
    engine: &Engine,
    plan: &Plan,
    database: u32,
    command: &Command,
    args: &Args<'_>,
) -> Result<(), Suspend> {
    let mut fed: Vec<(u32, Vec<u8>)> = Vec::new();
    command.for_each_key(args, |key, want| {
        if want == Want::Write {
            fed.push((database, key.to_vec()));
        }
    });
    plan_has_targets_for(engine, plan, fed)
}

/// Like `plan_has_targets`, for keys that are fed.
pub(crate) fn plan_has_targets_for(engine: &Engine, plan: &Plan, mut fed: Vec<(u32, Vec<u8>)>) -> Result<(), Suspend> {
    let mut missing = Vec::new();
    let mut at = 0;
    while at < fed.len() {
        let (database, key) = fed[at].clone();
        at += 1;
        let shard = keyspace::shard_of(engine.keyspace.hash(&key));
        if !engine.hooks.any(shard) {
            continue;
        }
        for target in engine.hooks.targets(shard, database, &key) {
            if !fed.iter().any(|(of, fed)| *of == database && *fed == target) {
                let shard = keyspace::shard_of(engine.keyspace.hash(&target));
                fed.push((database, target));
                if !plan.wants().iter().any(|(held, want)| usize::from(*held) == shard && *want == Want::Write) {
                    missing.push(shard);
                }
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Suspend::Shards(missing)) }
}

/// Marks the watches of every key that the tx has changed; its shards are held.
pub(crate) fn mark_watches(engine: &Engine, tx: &mut Tx<'_>) {
    let hooks = &engine.hooks;
    if !tx.shards().any(|shard| hooks.any(shard)) && !tx.map_changed() {
        return;
    }
    let map = engine.keyspace.map();
    for named in tx.touched() {
        let Named::Key(table, key) = named else { continue };
        let shard = keyspace::shard_of(engine.keyspace.hash(key));
        if hooks.any(shard) {
            for database in (0..map.databases()).filter(|database| map.table(*database) == table) {
                hooks.mark_watches(shard, database, key);
            }
        }
    }
    if tx.map_changed() {
        for shard in hooks.used_shards() {
            hooks.mark_watches_of(shard, |database, key| tx.is_in_moved(database, key));
        }
    }
}

/// Returns the purpose of an EXEC's journal room, if any of its commands may change keys.
pub(super) fn access_purpose(accesses: impl Iterator<Item = Access>) -> Option<Purpose> {
    accesses
        .filter(|access| matches!(access, Access::Write { .. }))
        .map(purpose)
        .max_by_key(|purpose| *purpose == Purpose::Grow)
}
