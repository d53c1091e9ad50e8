//! A request that has to wait: for a shard (which may still be loading), for journal room, for the gate, for an
//! element, for its own search of a big list, for time to pass.
//!
//! Nothing is held across an await: no lock, no borrow of the worker, no membership in the gate.

use super::attempt::Attempt;
use super::element_wait::ElementWait;
use super::replies::Took;
use super::retry_state::{OffLock, RetryState};
use super::state::Session;
use super::suspend::Suspend;
use crate::checkpoint::orders::{Asked, Patience, Reason};
use crate::engine::Engine;
use crate::event_loop::Sleep;
use crate::executor::{LockRetention, SHARDS_MAX};
use crate::flushes::Flushed;
use crate::waiter::Answer;
use crate::waits::{gate_open, loaded, park, read};
use crate::watchdog::room_wait::RoomWait;
use crate::worker::Worker;
use base::instant::Instant;
use commands::registry::Command;
use commands::{Failure, Flag, Run, Verb};
use keyspace::{PrebuiltStrings, ShardState};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use sync::lock::{Parked, Want};
use sync::notifier::Level;
use values::LongString;
use values::long_string::PIECE_BYTES;
use wire::resp::Encoder;
use wire::{Args, Output, Reply};

/// Rounds without all its shards after which a command runs under the gate.
const ROUNDS_MAX: usize = 4;
/// Reruns for missing shards after which a script runs under the gate.
const RERUNS_MAX: usize = 3;
/// The error for a client whose script is undone by a shutdown.
const STOPPING: &str = "ERR the server is shutting down; the script was rolled back";
/// Bytes of a string split before others have their turn: some 100 µs.
const CUT_STEP_BYTES: usize = 100 * PIECE_BYTES;
/// Microseconds for which a sweep or a search works before others have their turn.
pub(super) const SWEEP_US_MAX: u128 = 500;

/// The course of a request that waits.
#[derive(Default)]
struct Course {
    /// Waits for a shard since it last got further.
    rounds: usize,
    /// Reruns of a script for more shards.
    met: usize,
    /// Time worked off the lock, and time waited for shards and the gate.
    searched: Duration,
    waited: Duration,
    /// When its wait for an element ends.
    ends: Option<Ends>,
}

impl Course {
    /// Returns its run time, if its last attempt ran for `held`.
    fn took(&self, held: Duration) -> Took {
        Took { held_ns: held.as_nanos() as u64, searched_ns: self.searched.as_nanos() as u64 }
    }
}

/// The step that follows a wait.
enum Waited<'w> {
    /// An attempt, from a place in a shard's line if there is one, under the gate or not.
    Attempt(Option<Parked<'w, ShardState>>, bool),
    /// Another wait.
    Wait(Suspend),
    /// Nothing: the request has ended.
    Over(Took),
    /// Nothing: a script is busy.
    Busy,
}

/// The needs found by earlier attempts, kept while the request lives. Clones may turn out to be the last reference to a
/// big list, so a background thread drops them.
struct Lent<'w> {
    needs: RetryState,
    worker: &'w Worker,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.needs.off_lock.is_large() || !self.needs.cuts.is_empty() {
            let RetryState { off_lock, cuts, .. } = std::mem::take(&mut self.needs);
            self.worker.engine.deferred_drop.free(Box::new((off_lock, cuts)));
        }
    }
}

impl RetryState {
    /// Turns other obstacles into a wait for a client that already waits for an element: it keeps its position and
    /// retries soon. Its timeout still applies there.
    fn keep_place(&mut self, worker: &Worker, why: Suspend) -> Suspend {
        let waits_for_room = matches!(why, Suspend::Room(bytes) if bytes <= self.room_bytes);
        let began_before = self.room_wait.take();
        self.room_wait =
            waits_for_room.then(|| began_before.unwrap_or_else(|| RoomWait::begin(&worker.engine, worker.index)));
        let in_ms = match why {
            Suspend::Locked(..) => HELD_MS,
            Suspend::Room(_) if waits_for_room => ROOM_MS,
            Suspend::Paused { .. } | Suspend::RunnerBusy => PAUSED_MS,
            _ => return why,
        };
        if self.wait.is_none() {
            return why;
        }
        Suspend::StillWaiting { look_again_ms: Some(worker.engine.clock.now() + in_ms) }
    }

    fn add_shards(&mut self, shards: Vec<usize>) {
        self.shards.extend(shards);
        self.shards.sort_unstable();
        self.shards.dedup();
    }

    /// Returns true if it waits while a script is busy: if its command allows that, or if it waits for an element.
    fn is_patient(&self, command: &Command) -> bool {
        self.wait.is_some() || command.has(Flag::AllowBusy)
    }

    /// Returns the wait that has begun or continues.
    fn waiting(&mut self, why: Suspend) -> ElementWait {
        match why {
            Suspend::Waiting(wait) => wait,
            Suspend::StillWaiting { look_again_ms } => {
                let wait = self.wait.take().expect("it looked again from its place");
                wait.waiter.set_looks_at(look_again_ms);
                wait
            }
            _ => unreachable!("others do not wait in a line"),
        }
    }
}

impl Session {
    /// Runs a request to its end. Returns the time for which it ran.
    pub(super) async fn run_until_done(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        why: Suspend,
        output: &mut Output,
    ) -> Took {
        let needs = RetryState { cuts: self.cut(worker, &command, args).await, ..RetryState::default() };
        let mut lent = Lent { needs, worker };
        let needs = &mut lent.needs;
        let (mut why, mut course) = (why, Course::default());
        loop {
            let (place, is_gated) = match self.wait_for(worker, needs, &mut course, (command, args), why, output).await
            {
                Waited::Attempt(place, is_gated) => (place, is_gated),
                Waited::Wait(next) => {
                    why = next;
                    continue;
                }
                Waited::Over(took) => return took,
                Waited::Busy => return self.fail_busy(worker, command, output),
            };
            let tried = self.try_again(worker, needs, is_gated, command, args, output, &mut course.waited).await;
            let Some((began, result)) = tried else { return self.fail_busy(worker, command, output) };
            drop(place);
            worker.executor.end_turn();
            match result {
                Ok(()) => {
                    worker.note_wait(course.waited);
                    return course.took(began.elapsed());
                }
                Err(next) => why = next,
            }
        }
    }

    /// Does the part of a request that needs no lock.
    async fn wait_off_lock<'w>(
        &mut self,
        worker: &'w Rc<Worker>,
        needs: &mut RetryState,
        course: &mut Course,
        (command, args): (Command, &Args<'_>),
        work: OffLock,
        output: &mut Output,
    ) -> Waited<'w> {
        let is_patient = needs.is_patient(&command);
        if matches!(work, OffLock::Gather) && !self.wait_admitted(worker, &command, is_patient).await {
            return Waited::Busy;
        }
        let working = self.work_off_lock(worker, needs, (command, args), work, output);
        let Some((took, is_complete)) = unless_busy(worker, is_patient, pin!(working)).await else {
            return Waited::Busy;
        };
        (course.searched, course.rounds) = (course.searched + took, 0);
        if is_complete { Waited::Over(course.took(Duration::ZERO)) } else { Waited::Attempt(None, false) }
    }

    /// Waits for what a request lacks, or does what it has to do before the next attempt.
    async fn wait_for<'w>(
        &mut self,
        worker: &'w Rc<Worker>,
        needs: &mut RetryState,
        course: &mut Course,
        (command, args): (Command, &Args<'_>),
        why: Suspend,
        output: &mut Output,
    ) -> Waited<'w> {
        let is_patient = needs.is_patient(&command);
        match needs.keep_place(worker, why) {
            // Neither a round nor a wait for a lock: nobody holds the shard.
            Suspend::Unloaded(shard, want) => {
                return Waited::Attempt(Some(self.park(&worker.engine, shard, want).await), false);
            }
            Suspend::Unread(hash) => self.read(&worker.engine, hash).await,
            Suspend::Locked(shard, want) if course.rounds < ROUNDS_MAX => {
                course.rounds += 1;
                let began = Instant::now();
                let parking = park(&worker.engine, shard, want);
                let Some(place) = unless_busy(worker, is_patient, pin!(parking)).await else { return Waited::Busy };
                course.waited += began.elapsed();
                return Waited::Attempt(Some(place), false);
            }
            Suspend::Locked(..) => return Waited::Attempt(None, true),
            Suspend::Gate => {
                // One that waits for an element meets a pause from its place.
                let is_admitted = needs.wait.is_some() || self.wait_admitted(worker, &command, is_patient).await;
                return if is_admitted { Waited::Attempt(None, true) } else { Waited::Busy };
            }
            why @ (Suspend::RunnerBusy | Suspend::Behind) => {
                if unless_busy(worker, is_patient, pin!(wait_turn(worker, &why))).await.is_none() {
                    return Waited::Busy;
                }
            }
            Suspend::Loading => {
                worker.engine.loading.want_all();
                let _early = self.client.wait_early();
                loaded(&worker.engine).await;
            }
            Suspend::Shards(shards) => {
                needs.add_shards(shards);
                course.met += usize::from(self.needs_runner(&command));
                return Waited::Attempt(None, needs.shards.len() > SHARDS_MAX || course.met > RERUNS_MAX);
            }
            // More than was asked for before, so it may be available at once.
            Suspend::Room(bytes) if bytes > needs.room_bytes => needs.room_bytes = bytes,
            Suspend::Room(_) => wait_room(worker).await,
            Suspend::LongStrings => {}
            Suspend::Delayed(span_ms) => worker.sleep(span_ms).await,
            Suspend::Paused { writes } => self.wait_pause(worker, writes).await,
            Suspend::OffLock(work) => {
                return self.wait_off_lock(worker, needs, course, (command, args), work, output).await;
            }
            why => return self.wait_otherwise(worker, needs, course, (command, args), why, output).await,
        }
        Waited::Attempt(None, false)
    }

    /// Waits for an element or for a script, or runs to its end a request that needs no further attempt.
    async fn wait_otherwise<'w>(
        &mut self,
        worker: &Rc<Worker>,
        needs: &mut RetryState,
        course: &mut Course,
        (command, args): (Command, &Args<'_>),
        why: Suspend,
        output: &mut Output,
    ) -> Waited<'w> {
        match why {
            why @ (Suspend::Waiting(_) | Suspend::StillWaiting { .. }) => {
                if !self.wait_blocked(worker, (command, args), (needs, why), &mut course.ends, output).await {
                    return Waited::Over(course.took(Duration::ZERO));
                }
                course.rounds = 0;
                Waited::Attempt(None, false)
            }
            Suspend::Script(ticket) => {
                let (session, job) = ticket.outcome().await;
                let took = course.took(job.took);
                let result;
                (*needs, result) = self.take_back(*session, *job, output);
                result.map_or_else(Waited::Wait, |()| Waited::Over(took))
            }
            Suspend::Stopping => {
                self.fail(worker, Some(command), &Failure::text(STOPPING), output);
                Waited::Over(course.took(Duration::ZERO))
            }
            why => {
                if !self.wait_admitted(worker, &command, needs.is_patient(&command)).await {
                    return Waited::Busy;
                }
                // Boxed, since it is large and rare: others wait in less memory.
                let held = Box::pin(self.run_apart(worker, why, command, args, output)).await;
                Waited::Over(course.took(held))
            }
        }
    }

    /// Runs a request that needs no further attempt. Returns the time for which it ran.
    async fn run_apart(
        &mut self,
        worker: &Rc<Worker>,
        why: Suspend,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let (began, is_patient) = (Instant::now(), command.has(Flag::AllowBusy));
        let held = match why {
            Suspend::Sweep(begun) => {
                unless_busy(worker, is_patient, pin!(self.sweep(worker, command, begun, args, output))).await
            }
            Suspend::Search => unless_busy(worker, is_patient, pin!(self.search(worker, command, args, output))).await,
            Suspend::Range => unless_busy(worker, is_patient, pin!(self.range(worker, command, args, output))).await,
            Suspend::ManyKeys => Some(self.write_many(worker, command, args, output).await),
            Suspend::Parts => Some(self.run_parts(worker, command, args, output).await),
            Suspend::Verb => {
                self.run_slow_verb(worker, command, args, output).await;
                Some(began.elapsed())
            }
            _ => unreachable!("an attempt follows"),
        };
        match held {
            Some(held) => held,
            None => Duration::from_nanos(self.fail_busy(worker, command, output).held_ns),
        }
    }

    /// Makes one more attempt, under the gate or not, and returns when it began; `None` if a script is busy before
    /// that.
    #[expect(clippy::too_many_arguments, reason = "what a request that waits has beside it")]
    async fn try_again(
        &mut self,
        worker: &Rc<Worker>,
        needs: &mut RetryState,
        gated: bool,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
        waited: &mut Duration,
    ) -> Option<(Instant, Result<(), Suspend>)> {
        let is_patient = needs.is_patient(&command);
        if gated {
            unless_busy(worker, is_patient, pin!(worker.settle_order())).await?;
        }
        let mut began = Instant::now();
        let now = worker.engine.clock.now();
        let result = if self.needs_runner(&command) {
            if !gated && worker.engine.gate.is_raised() {
                unless_busy(worker, is_patient, pin!(gate_open(&worker.engine.gate))).await?;
                *waited += began.elapsed();
            }
            let result;
            (*needs, result) = self.begin_script(std::mem::take(needs), gated, command, args, output);
            result
        } else if gated {
            let raised = unless_busy(worker, is_patient, pin!(worker.raise())).await?;
            *waited += began.elapsed();
            began = Instant::now();
            let now = worker.engine.clock.now();
            let attempt = Attempt { worker, needs, raised: Some(&raised), now, is_outside: false };
            self.attempt_alone(&attempt, command, args, output)
        } else if let Some(_inside) = worker.member.enter() {
            let attempt = Attempt { worker, needs, raised: None, now, is_outside: false };
            self.attempt_alone(&attempt, command, args, output)
        } else if needs.wait.is_some() {
            // The gate is up, perhaps for a script; the request keeps its position meanwhile.
            Err(Suspend::RunnerBusy)
        } else {
            unless_busy(worker, is_patient, pin!(gate_open(&worker.engine.gate))).await?;
            *waited += began.elapsed();
            Err(Suspend::Shards(Vec::new()))
        };
        Some((began, result))
    }

    /// Makes an attempt that is not one of a turn's requests.
    pub(super) fn attempt_alone(
        &mut self,
        attempt: &Attempt<'_>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let way = self.way(&command, args, attempt.raised.is_some())?;
        let mut retention = LockRetention::new(&attempt.worker.engine.keyspace, None);
        self.attempt(attempt, way, &mut retention, command, args, output)
    }

    fn fail_busy(&mut self, worker: &Worker, command: Command, output: &mut Output) -> Took {
        let text = worker.engine.scripts.busy_text().unwrap_or("BUSY a script was busy until now");
        self.fail(worker, Some(command), &Failure::text(text), output);
        Took::default()
    }

    /// Splits the long strings of a request in steps, between which others have their turn.
    async fn cut(&self, worker: &Worker, command: &Command, args: &Args<'_>) -> PrebuiltStrings {
        let mut cuts = PrebuiltStrings::default();
        for argument in self.long_texts(command, args) {
            let mut text = LongString::default();
            for step in argument.chunks(CUT_STEP_BYTES) {
                text.append(step);
                if text.bytes_count() < argument.len() {
                    worker.long_turn().await;
                }
            }
            cuts.add(argument, text);
        }
        cuts
    }

    /// Waits until nothing holds a command back. Returns false if a script is busy before that.
    async fn wait_admitted(&self, worker: &Worker, command: &Command, is_patient: bool) -> bool {
        while let Some(why) = self.held_back(worker, command, false, worker.engine.clock.now()) {
            match why {
                Suspend::Paused { writes } => self.wait_pause(worker, writes).await,
                why => {
                    if unless_busy(worker, is_patient, pin!(wait_turn(worker, &why))).await.is_none() {
                        return false;
                    }
                }
            }
        }
        true
    }

    async fn wait_pause(&self, worker: &Worker, writes: bool) {
        let engine = &worker.engine;
        let _early = self.client.wait_early();
        while let Some(until_ms) = engine.pause.holds(writes, || engine.clock.now()) {
            let mut sleep = worker.sleep(until_ms.saturating_sub(engine.clock.now()).max(1));
            let mut registered = false;
            poll_fn(|context| {
                if !std::mem::replace(&mut registered, true) {
                    engine.pause.wait(context.waker());
                    let holds = engine.pause.holds(writes, || engine.clock.now()).is_some();
                    return if holds { sleep.as_mut().poll(context) } else { Poll::Ready(()) };
                }
                Poll::Ready(())
            })
            .await;
        }
    }

    /// Waits until it is served or its time is up; `ends` is set at the first wait. Returns true if it must look again
    /// by itself, from its position in the queue: it may find something that was not there before.
    async fn wait_blocked(
        &mut self,
        worker: &Worker,
        (command, args): (Command, &Args<'_>),
        (needs, why): (&mut RetryState, Suspend),
        ends: &mut Option<Ends>,
        output: &mut Output,
    ) -> bool {
        let mut wait = needs.waiting(why);
        let Run::Blocking { timeout, .. } = command.run else { unreachable!("only blocking commands wait") };
        let ends = ends.get_or_insert_with(|| {
            let timeout_ms = commands::timeout_ms(args, timeout).expect("checked before it ran");
            Ends(timeout_ms.map(|timeout_ms| worker.sleep(timeout_ms)))
        });
        match wait.answer(|ms| worker.sleep(ms), &mut ends.0).await {
            None => {
                *needs =
                    RetryState { wait: Some(wait), cuts: std::mem::take(&mut needs.cuts), ..RetryState::default() };
                return true;
            }
            Some(Answer::Reply(reply, seen)) => {
                let mark = output.mark();
                output.append(reply);
                self.saw(seen);
                self.hide_unreadable(worker, seen, mark, output);
            }
            Some(Answer::Failure(failure, seen)) => {
                let mark = output.mark();
                self.fail(worker, Some(command), &failure, output);
                self.saw(seen);
                self.hide_unreadable(worker, seen, mark, output);
            }
            Some(Answer::TimedOut) => Encoder::new(output, self.protocol).null_array(),
            Some(Answer::Unblocked) => {
                let text = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
                self.fail(worker, Some(command), &Failure::text(text), output);
            }
        }
        false
    }

    /// Parks at a shard. The client counts as waiting while the shard is still to be loaded.
    pub(super) async fn park<'e>(&self, engine: &'e Engine, shard: usize, want: Want) -> Parked<'e, ShardState> {
        let _early = engine.keyspace.shard(shard).is_shut().then(|| self.client.wait_early());
        park(engine, shard, want).await
    }

    /// Waits for the values of keys with this hash. The client counts as waiting meanwhile.
    pub(super) async fn read(&self, engine: &Engine, hash: u64) {
        let _early = self.client.wait_early();
        read(engine, hash).await;
    }

    async fn run_slow_verb(&mut self, worker: &Rc<Worker>, command: Command, args: &Args<'_>, output: &mut Output) {
        let Run::Engine(verb) = command.run else { unreachable!("asked for a verb") };
        let outcome = match verb {
            Verb::Migrate => match self.migrate(worker, args).await {
                Ok(status) => return wire::Reply::simple(&mut Encoder::new(output, self.protocol), status),
                Err(failure) => Err(failure),
            },
            Verb::WaitDisk => match self.wait_disk(worker, args, output).await {
                Ok(()) => return,
                Err(failure) => Err(failure),
            },
            Verb::FlushStrings => self.flush(worker, command, Flushed::Strings, args).await,
            Verb::FlushQueues => self.flush(worker, command, Flushed::Queues, args).await,
            Verb::DropTagged => match self.flush_now(worker, command, Flushed::Tagged, args.get(1)).await {
                Ok(dropped) => return wire::Reply::int(&mut Encoder::new(output, self.protocol), dropped),
                Err(failure) => Err(failure),
            },
            Verb::ListQueues => return self.write_queue_counts(worker, command, output).await,
            Verb::Pause => self.pause(worker, args).await,
            Verb::DebugSleep => self.debug_sleep(worker, args).await,
            Verb::DebugReload => debug_reload(&worker.engine).await,
            Verb::Save => save(&worker.engine).await,
            Verb::Watch => {
                self.watch_in_parts(worker, args).await;
                Ok(())
            }
            Verb::Shutdown => self.shutdown(worker, args),
            Verb::Multi
            | Verb::Exec
            | Verb::Discard
            | Verb::Unwatch
            | Verb::Eval
            | Verb::ScriptLoad
            | Verb::Library(_) => {
                unreachable!("these run at once or on the script runner")
            }
        };
        match outcome {
            // Like Redis: a client that shuts the server down sees the connection end.
            Ok(()) if verb == Verb::Shutdown => {}
            Ok(()) => wire::Reply::ok(&mut Encoder::new(output, self.protocol)),
            Err(failure) => {
                self.fail(worker, Some(command), &failure, output);
            }
        }
    }

    /// WAITAOF, for everything the connection has written so far.
    async fn wait_disk(&mut self, worker: &Worker, args: &Args<'_>, output: &mut Output) -> Result<(), Failure> {
        let (waits_here, waits_there, timeout_ms) = commands::wait_arguments(args)?;
        if waits_here && worker.engine.journal.is_none() {
            return Err(NO_JOURNAL);
        }
        let mut sleep = timeout_ms.map(|timeout_ms| worker.sleep(timeout_ms));
        let position = self.watermark;
        poll_fn(|context| {
            if sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready()) {
                return Poll::Ready(());
            }
            // There are no replicas, so this never completes.
            if waits_there {
                return Poll::Pending;
            }
            if waits_here { worker.poll_reached(Level::Durable, position, context).map(drop) } else { Poll::Ready(()) }
        })
        .await;
        self.write_durability(worker, args, &mut Encoder::new(output, self.protocol))
    }

    /// Writes the reply of WAITAOF: whether the connection's writes are on disk.
    pub(super) fn write_durability(
        &self,
        worker: &Worker,
        args: &Args<'_>,
        reply: &mut dyn Reply,
    ) -> Result<(), Failure> {
        let (waits_here, ..) = commands::wait_arguments(args)?;
        let is_durable = match &worker.engine.journal {
            Some(journal) => journal.durable() >= self.watermark,
            None if waits_here => return Err(NO_JOURNAL),
            None => false,
        };
        reply.array(2);
        reply.int(i64::from(is_durable));
        reply.int(0);
        Ok(())
    }

    async fn pause(&self, worker: &Worker, args: &Args<'_>) -> Result<(), Failure> {
        let (span_ms, writes_only) = commands::pause_arguments(args)?;
        // The gate is up only while the flag is set: nothing that ran before continues after it.
        let _raised = worker.raise().await;
        let until_ms = worker.engine.clock.now().saturating_add(span_ms);
        worker.engine.pause.begin(until_ms, writes_only);
        Ok(())
    }

    async fn debug_sleep(&self, worker: &Worker, args: &Args<'_>) -> Result<(), Failure> {
        worker.sleep(commands::sleep_ms(args)?).await;
        Ok(())
    }

    fn shutdown(&mut self, worker: &Worker, args: &Args<'_>) -> Result<(), Failure> {
        commands::shutdown_arguments(args)?;
        if let Some(text) = worker.engine.scripts.busy_text()
            && !args.from(1).iter().any(|word| word.eq_ignore_ascii_case(b"NOSAVE"))
        {
            return Err(Failure::text(text));
        }
        worker.engine.shut_down();
        self.closing = true;
        Ok(())
    }
}

/// Delay before a waiter retries when another request held its shard.
const HELD_MS: base::Ms = 2;
/// Delay before a waiter retries when clients are paused or a script is busy.
const PAUSED_MS: base::Ms = 20;

/// When the timeout of a blocked command ends; `None`: never.
struct Ends(Option<Sleep>);

/// Awaits `waiting`; if not `is_patient`, returns `None` once a script is busy.
async fn unless_busy<R>(worker: &Worker, is_patient: bool, waiting: Pin<&mut impl Future<Output = R>>) -> Option<R> {
    if is_patient { Some(waiting.await) } else { worker.unless_busy(waiting).await }
}

/// Waits for scripts on the script runner, or helps to update the order of names.
async fn wait_turn(worker: &Worker, why: &Suspend) {
    match why {
        Suspend::Behind => worker.help_order().await,
        _ => worker.scripts_ended().await,
    }
}

/// Waits until the journal may have room.
async fn wait_room(worker: &Worker) {
    let Some(journal) = &worker.engine.journal else { return };
    let mut registered = false;
    let mut sleep = worker.sleep(ROOM_MS);
    poll_fn(|context| {
        if !std::mem::replace(&mut registered, true) {
            journal.wait_room(context.waker());
            return sleep.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
}

/// Room may appear between a refusal and the registration: then nobody wakes the waiter, so it retries by itself.
const ROOM_MS: base::Ms = 5;

const NO_JOURNAL: Failure = Failure::Text(std::borrow::Cow::Borrowed(
    "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.",
));

/// SAVE
async fn save(engine: &Engine) -> Result<(), Failure> {
    let Asked { number, .. } = engine.begin_checkpoint(Reason::Asked, Patience::Other).map_err(Failure::text)?;
    let fault = poll_fn(|context| engine.checkpoints.poll_ended(number, context)).await;
    fault.map_or(Ok(()), |why| Err(Failure::text(format!("ERR the checkpoint failed: {why}"))))
}

/// DEBUG RELOAD
async fn debug_reload(engine: &Engine) -> Result<(), Failure> {
    if engine.journal.is_none() {
        return Err(Failure::text("ERR nothing to reload: the journal is off"));
    }
    let number = engine.checkpoints.ask_reload();
    let fault = poll_fn(|context| engine.checkpoints.poll_reloaded(number, context)).await;
    fault.map_or(Ok(()), |why| {
        Err(Failure::text(format!("ERR the data cannot be read back: {why}. All keys are as they were")))
    })
}
