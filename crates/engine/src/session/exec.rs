//! MULTI, EXEC, and the other verbs that only the engine can run.

use super::attempt::Attempt;
use super::connection::monitor::Asker;
use super::retry_state::RetryState;
use super::state::{Multi, Session};
use super::suspend::Suspend;
use super::turn::Ran;
use crate::executor::{Demand, Job, NotAdmitted, Refused, Served, Stop, begin_command, purpose_of};
use crate::script::catalogue::CatalogueChanges;
use crate::worker::Worker;
use base::Ms;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{Failure, Flag, OUT_OF_MEMORY, Outcome, Run, SweepNext, Verb};
use journal::{Purpose, Refusal};
use keyspace::{Abandon, Keyspace, LIBRARIES, Plan, Reads, Tx};
use std::rc::Rc;
use sync::lock::Want;
use wire::resp::Encoder;
use wire::{Args, Mark, Output, OwnedRequest, Reply};

impl Session {
    /// Queues a request after MULTI.
    pub(super) fn queue(&mut self, worker: &Worker, command: Command, args: &Args<'_>, output: &mut Output) -> Ran {
        if command.has(commands::Flag::NoMulti) {
            return self.refuse(worker, Some(command), output, "ERR Command not allowed inside a transaction");
        }
        // Redis refuses every request that would be queued, since the queue grows.
        if worker.engine.memory.is_refusing() || !worker.executor.may_grow(command.frame_bytes_max(args)) {
            return self.refuse(worker, Some(command), output, OUT_OF_MEMORY);
        }
        let request = args.to_owned();
        let multi = self.multi.as_mut().expect("asked by the caller");
        multi.bytes += (request.heap_bytes() + size_of::<(Command, OwnedRequest)>()) as u64;
        if multi.bytes > worker.settings().query_buffer_bytes_max {
            // Queued requests count as pending input.
            self.closing = true;
            let text = "ERR the transaction is longer than client-query-buffer-limit";
            return self.refuse(worker, Some(command), output, text);
        }
        if let Run::Engine(Verb::DebugSleep) = command.run {
            multi.delay_ms += commands::sleep_ms(args).unwrap_or_default();
        }
        multi.queue.push((command, request));
        self.client.queued.store(multi.queue.len(), Relaxed);
        let mark = output.mark();
        Encoder::new(output, self.protocol).simple("QUEUED");
        self.settle_reply(mark, self.reply_mode, output);
        Ran::Queued
    }

    /// Returns true if `is_so` holds for `command`, or for any command that it executes as EXEC.
    pub(super) fn any_command(&self, command: &Command, is_so: impl Fn(&Command) -> bool) -> bool {
        is_so(command)
            || matches!(command.run, Run::Engine(Verb::Exec))
                && self.multi.as_ref().is_some_and(|multi| multi.queue.iter().any(|(command, _)| is_so(command)))
    }

    /// Runs a verb of the engine as far as it goes at once.
    pub(super) fn run_verb(
        &mut self,
        attempt: &Attempt<'_>,
        command: Command,
        verb: Verb,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let worker = attempt.worker;
        let outcome = match verb {
            Verb::Multi => self.multi(output),
            Verb::Discard => self.discard(output),
            Verb::Exec => {
                let done = self.exec(attempt, command, output);
                if done.is_ok() {
                    self.show_command(worker, &command, args);
                }
                return done;
            }
            Verb::Eval | Verb::ScriptLoad | Verb::Library(_) => return self.run_alone(attempt, command, args, output),
            Verb::Watch => self
                .watch(worker, attempt.raised, attempt.now, args)?
                .map(|()| Encoder::new(output, self.protocol).ok()),
            Verb::Unwatch => {
                self.unwatch();
                Encoder::new(output, self.protocol).ok();
                Ok(())
            }
            _ => return Err(Suspend::Verb),
        };
        if let Err(failure) = outcome {
            self.fail(worker, Some(command), &failure, output);
        }
        Ok(())
    }

    fn multi(&mut self, output: &mut Output) -> Outcome {
        if self.multi.is_some() {
            return Err(Failure::text("ERR MULTI calls can not be nested"));
        }
        self.multi = Some(Box::new(Multi::default()));
        self.client.queued.store(0, Relaxed);
        Encoder::new(output, self.protocol).ok();
        Ok(())
    }

    fn discard(&mut self, output: &mut Output) -> Outcome {
        if self.multi.is_none() {
            return Err(Failure::text("ERR DISCARD without MULTI"));
        }
        self.end_multi();
        Encoder::new(output, self.protocol).ok();
        Ok(())
    }

    pub(super) fn end_multi(&mut self) {
        self.drop_queue();
        self.unwatch();
    }

    /// Ends MULTI. A background thread drops a long queue.
    pub(super) fn drop_queue(&mut self) {
        self.client.queued.store(usize::MAX, Relaxed);
        if let Some(multi) = self.multi.take().filter(|multi| multi.queue.len() > QUEUE_DROPPED_MAX) {
            self.worker.engine.deferred_drop.free(Box::new(multi.queue));
        }
    }

    /// EXEC: runs the queue as one tx.
    fn exec(&mut self, attempt: &Attempt<'_>, command: Command, output: &mut Output) -> Result<(), Suspend> {
        let worker = attempt.worker;
        let Some(multi) = &self.multi else {
            self.fail(worker, Some(command), &Failure::text("ERR EXEC without MULTI"), output);
            return Ok(());
        };
        if multi.broken {
            let text = "EXECABORT Transaction discarded because of previous errors.";
            self.fail(worker, Some(command), &Failure::text(text), output);
            self.end_multi();
            return Ok(());
        }
        let delay_ms = self.multi.as_mut().map_or(0, |multi| std::mem::take(&mut multi.delay_ms));
        if delay_ms > 0 {
            return Err(Suspend::Delayed(delay_ms));
        }
        let done = self.run_exec(attempt, output);
        if done.is_ok() {
            self.end_multi();
        }
        done
    }

    /// Runs the queue under the shards of all its keys and of the watched ones.
    fn run_exec(&mut self, attempt: &Attempt<'_>, output: &mut Output) -> Result<(), Suspend> {
        let queue = std::mem::take(&mut self.multi.as_mut().expect("EXEC is inside MULTI").queue);
        let before = (self.database, self.reply_mode, self.protocol);
        let tracked = queue.iter().any(|(command, _)| command.has(Flag::OfClient)).then(|| self.tracking_state());
        self.outbox = Some(Box::default());
        let commands: Vec<_> = queue.iter().map(|(command, request)| (*command, request.args())).collect();
        let result = self.run_queue(attempt, &commands, true, output);
        let subscribed = self.outbox.as_mut().map_or_else(Vec::new, |outbox| std::mem::take(&mut outbox.subscribed));
        self.end_outbox(attempt.worker, result.is_ok());
        self.multi.as_mut().expect("it is still there").queue = queue;
        if result.is_err() {
            (self.database, self.reply_mode, self.protocol) = before;
            self.undo_subscribed(subscribed);
            tracked.into_iter().for_each(|tracked| self.restore_tracking(tracked));
        }
        result
    }

    /// Runs a script without EXEC as a queue of one.
    fn run_alone(
        &mut self,
        attempt: &Attempt<'_>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        self.outbox = Some(Box::default());
        self.note_shown(attempt.worker, &command, args, Asker::Client);
        let result = self.run_queue(attempt, &[(command, *args)], false, output);
        self.end_outbox(attempt.worker, result.is_ok());
        result
    }

    fn run_queue(
        &mut self,
        attempt: &Attempt<'_>,
        queue: &[(Command, Args<'_>)],
        is_exec: bool,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let &Attempt { worker, needs, raised, now, .. } = attempt;
        let engine = &*worker.engine;
        let goes_anywhere =
            |(command, args): &(Command, Args<'_>)| command.goes_anywhere() || command.follows_names(args);
        if !engine.loading.is_over() && queue.iter().any(goes_anywhere) {
            return Err(Suspend::Loading);
        }
        let needs_gate = |entry: &(Command, Args<'_>)| matches!(entry.0.run, Run::Gate(_)) || goes_anywhere(entry);
        if raised.is_none() && queue.iter().any(needs_gate) {
            // Planned once, not once for each shard that is still to be loaded.
            let add = |keyspace: &Keyspace, plan: &mut Plan| self.plan_queue(queue, needs, keyspace, plan);
            let shut = worker.executor.want_planned(self.yielder.is_some(), add);
            return Err(shut.map_or(Suspend::Gate, |(shard, want)| Suspend::Unloaded(shard, want)));
        }
        self.unwritable = None;
        let mark = output.mark();
        let mut job =
            QueuedCommands { session: self, worker, needs, now, queue, is_exec, output, mark, libraries: None };
        let seen = worker.executor.execute(&mut job, raised, None)?;
        let libraries = job.libraries;
        libraries.into_iter().for_each(|changes| self.forget_removed(worker, changes));
        if let Some(seen) = seen {
            self.hide_unreadable(worker, seen, mark, output);
        }
        Ok(())
    }

    /// Returns true if a script may run although the journal accepts no frame: it may only read. Records the error it
    /// gets if it writes.
    fn unwritable_for(&mut self, refusal: &NotAdmitted) -> bool {
        self.unwritable = match refusal {
            NotAdmitted::Journal(Refusal::Full) => Some(super::attempt::FULL),
            NotAdmitted::Journal(Refusal::Poisoned) => Some(super::replies::POISONED),
            NotAdmitted::Journal(Refusal::Wait | Refusal::TooLong) | NotAdmitted::OutOfMemory => None,
        };
        self.unwritable.is_some()
    }

    fn plan_queue(&self, queue: &[(Command, Args<'_>)], needs: &RetryState, keyspace: &Keyspace, plan: &mut Plan) {
        for (command, args) in queue {
            command.plan(args, keyspace, plan);
            if let Some(want) = command.libraries() {
                plan.add_key(keyspace, LIBRARIES, want);
            }
        }
        self.watched.iter().for_each(|watched| watched.plan(plan));
        needs.shards.iter().for_each(|shard| plan.add_shard(*shard, Want::Write));
    }

    fn run_commands(
        &mut self,
        worker: &Rc<Worker>,
        queue: &[(Command, Args<'_>)],
        tx: &mut Tx<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let is_exec = self.multi.is_some();
        for (index, (command, args)) in queue.iter().enumerate() {
            // An earlier command may have used more than its estimate.
            if command.writes() && tx.need_room(command.frame_bytes_max(args)).is_err() {
                return Err(Suspend::Room(tx.log().payload_bytes() + queue_bound(&queue[index..])));
            }
            begin_command(tx, command, args);
            if let Some(outbox) = &mut self.outbox {
                outbox.notes_count = tx.notes().len();
            }
            let mark = output.mark();
            let log_mark = tx.log().mark();
            // MONITOR shows a script before the commands it runs.
            if is_exec && command.is_scripted() {
                self.note_shown(worker, command, args, Asker::Client);
            }
            let began = is_exec.then(base::instant::Instant::now);
            let protocol =
                if command.has(Flag::SetsProtocol) { self.protocol_after_hello(args) } else { self.protocol };
            let outcome = self.run_command(worker, command, args, tx, &mut Encoder::new(output, protocol));
            if !command.is_scripted() {
                self.note_command(worker, tx, log_mark, command, args);
                if is_exec {
                    self.note_shown(worker, command, args, Asker::Client);
                }
            }
            let counters = &worker.counters().by_command[command.index()];
            // A script alone is counted like any single command.
            if let Some(began) = began {
                counters.calls.add(1);
                counters.took_ns.add(began.elapsed().as_nanos() as u64);
            }
            if let Some(why) = self.lack.take() {
                return Err(why);
            }
            match outcome {
                Ok(()) => {}
                Err(Failure::Abandon(Abandon::Room(bytes))) => {
                    return Err(Suspend::Room(bytes + queue_bound(&queue[index + 1..])));
                }
                Err(Failure::Abandon(lack)) => return Err(lack.into()),
                Err(failure) => {
                    output.truncate(mark);
                    self.fail(worker, Some(*command), &failure, output);
                }
            }
        }
        Ok(())
    }

    pub(super) fn run_command(
        &mut self,
        worker: &Rc<Worker>,
        command: &Command,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Outcome {
        match command.run {
            Run::Local(handler)
            | Run::Gather { at_once: handler, .. }
            | Run::Range { at_once: handler, .. }
            | Run::Gate(handler) => handler(tx, args, reply),
            Run::Blocking { try_now, empty, .. } => match try_now(tx, args, reply) {
                Err(Failure::Nothing) => {
                    empty(reply);
                    Ok(())
                }
                outcome => outcome,
            },
            Run::Session(handler) | Run::Parts { at_once: handler, .. } => {
                let outcome = handler(self, args, reply);
                self.saw_counts(worker, command);
                tx.use_database(self.database);
                outcome
            }
            Run::Sweep(begin) => {
                let mut sweep = begin(args, worker.random())?;
                let mut shard = sweep.first_shard();
                while shard < base::limits::SHARDS {
                    match sweep.visit(tx, shard) {
                        SweepNext::Next => shard += 1,
                        SweepNext::Again => {}
                        SweepNext::Over => break,
                    }
                }
                sweep.finish(reply)
            }
            Run::Search(verb) => self.search_in_transaction(worker, verb, args, tx, reply),
            Run::Engine(Verb::Unwatch) => {
                reply.ok();
                Ok(())
            }
            Run::Engine(Verb::Eval | Verb::ScriptLoad) => self.run_script_command(worker, command, args, tx, reply),
            Run::Engine(Verb::Library(_)) => self.run_library_command(worker, command, args, tx, reply),
            Run::Engine(Verb::DebugSleep) => {
                // EXEC has slept already.
                commands::sleep_ms(args)?;
                reply.ok();
                Ok(())
            }
            Run::Engine(Verb::WaitDisk) => self.write_durability(worker, args, reply).map(drop),
            Run::Engine(_) => Err(Failure::text("ERR this command is not allowed inside a transaction")),
        }
    }

    /// Returns the protocol in which HELLO replies: the requested one, if it exists.
    pub(super) fn protocol_after_hello(&self, args: &Args<'_>) -> wire::resp::Protocol {
        match args.from(1).iter().next() {
            Some(b"3") => wire::resp::Protocol::Resp3,
            Some(b"2") => wire::resp::Protocol::Resp2,
            _ => self.protocol,
        }
    }
}

/// The reply of EXEC when memory is short, as in Redis.
const ABORTED_FOR_MEMORY: &str =
    "EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.";

/// The queue of an EXEC, or a script by itself, as a job of the executor.
struct QueuedCommands<'j, 'a> {
    session: &'a mut Session,
    worker: &'j Rc<Worker>,
    needs: &'j RetryState,
    now: Ms,
    queue: &'a [(Command, Args<'a>)],
    is_exec: bool,
    output: &'a mut Output,
    /// The output before it ran.
    mark: Mark,
    /// Its changes to function libraries, once they are public.
    libraries: Option<CatalogueChanges>,
}

impl QueuedCommands<'_, '_> {
    fn has_script(&self) -> bool {
        self.queue.iter().any(|(command, _)| matches!(command.run, Run::Engine(Verb::Eval)))
    }

    /// Returns the purpose of its journal room, if any of its commands may change keys.
    fn purpose(&self) -> Option<Purpose> {
        let writing = self.queue.iter().filter(|(command, _)| command.writes());
        writing.map(|(command, _)| purpose_of(command.access)).max_by_key(|purpose| *purpose == Purpose::Grow)
    }
}

impl<'j> Job<'j> for QueuedCommands<'j, '_> {
    type Caller = Session;
    type Lack = Suspend;

    fn caller(&mut self) -> &mut Session {
        self.session
    }

    fn database(&self) -> u32 {
        self.session.database
    }

    fn now(&self) -> Ms {
        self.now
    }

    fn demand(&self) -> Option<Demand> {
        let bytes = queue_bound(self.queue).max(self.needs.room_bytes);
        match self.purpose() {
            Some(purpose) => Some(Demand::new(bytes, purpose)),
            // Each call of a script declares whether it grows.
            None if self.has_script() => Some(Demand { bytes, purpose: Purpose::Grow, takes_memory: false }),
            None => None,
        }
    }

    fn refused(&mut self, refusal: NotAdmitted, demand: &Demand) -> Refused<Suspend> {
        if self.is_exec && refusal == NotAdmitted::OutOfMemory {
            self.session.fail(self.worker, None, &Failure::text(ABORTED_FOR_MEMORY), self.output);
            return Refused::Over(Ok(()));
        }
        // A script alone may only read; plain writes beside it are refused with it.
        if self.purpose().is_none() && self.has_script() && self.session.unwritable_for(&refusal) {
            return Refused::Reads;
        }
        Refused::Over(self.session.refused(self.worker, None, refusal, demand.bytes, self.output))
    }

    fn may_write(&self) -> bool {
        self.queue.iter().any(|(command, _)| command.may_write())
    }

    fn is_undoable(&self) -> bool {
        true
    }

    fn may_rest(&self) -> bool {
        self.session.yielder.is_some()
    }

    fn plan(&self, keyspace: &Keyspace, plan: &mut Plan) {
        self.session.plan_queue(self.queue, self.needs, keyspace, plan);
    }

    fn fed(&self) -> Vec<(u32, Vec<u8>)> {
        self.queue.iter().flat_map(|(command, args)| self.session.fed_by(command, args)).collect()
    }

    fn prepare<'t>(&self, tx: &mut Tx<'t>)
    where
        'j: 't,
    {
        self.session.prepare(self.worker, tx, self.needs);
        tx.set_of_several();
    }

    fn run(&mut self, tx: &mut Tx<'_>, _: &mut Served, _: bool) -> Result<(), Stop<Suspend>> {
        let Self { session, worker, queue, output, .. } = self;
        session.begin_reads();
        if self.is_exec {
            if session.watched.as_mut().is_some_and(|watched| watched.have_changed(tx)) {
                // These look-ups are no reads of a command.
                tx.reads = Reads::default();
                Encoder::new(output, session.protocol).null_array();
                return Ok(());
            }
            Encoder::new(output, session.protocol).array(queue.len());
        }
        session.run_commands(worker, queue, tx, output).map_err(Stop::Undo)
    }

    fn undo(&mut self) {
        self.session.undo_libraries(self.worker);
        self.output.truncate(self.mark);
    }

    fn commit(&mut self) {
        self.libraries = self.session.publish_library_changes(self.worker);
    }
}

/// Maximum number of queued requests dropped per turn.
const QUEUE_DROPPED_MAX: usize = 1_000;

/// Bytes that a script's frame may hold beside its arguments before it has to ask for more.
const SCRIPT_BYTES: u64 = 4096;

/// Returns a bound for the frame of plain commands and of scripts that write little.
fn queue_bound(queue: &[(Command, Args<'_>)]) -> u64 {
    let bound = |(command, args): &(Command, Args<'_>)| {
        let script_bytes = if command.is_scripted() { SCRIPT_BYTES } else { 0 };
        command.frame_bytes_max(args) + script_bytes
    };
    queue.iter().filter(|(command, _)| command.may_write()).map(bound).sum()
}
