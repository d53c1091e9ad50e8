//! One attempt at a command: how it runs at once, or why it has to wait.
//!
//! ```text
//!   its way --> pauses, the order of names --> OneCommand --> the executor
//!      |                  |                        |
//!   Gate, Verb, ...    Paused, Behind      its own lack, Waiting, OffLock                                Suspend
//! ```

use super::element_wait::ElementWait;
use super::gathered_keys::{ARGUMENTS_MAX, has_many_keys};
use super::replies::{POISONED, write_failure};
use super::retry_state::{OffLock, RetryState};
use super::speculate;
use super::state::Session;
use super::suspend::Suspend;
use crate::executor::{self, Caller, Demand, Job, LockRetention, NotAdmitted, Outgoing, Refused, Served, Stop};
use crate::tracking::Own;
use crate::waiter::Waiter;
use crate::worker::Worker;
use base::primitives::atomic::Ordering::Relaxed;
use base::{Ms, Position};
use commands::registry::Command;
use commands::{BeginSweep, Failure, Flag, Local, OfSession, Run, Verb};
use journal::Refusal;
use keyspace::{Abandon, Keyspace, Plan, Tx};
use std::rc::Rc;
use std::sync::Arc;
use sync::gate::Raised;
use sync::lock::Want;
use values::LongString;
use values::string::INLINE_BYTES_MAX;
use wire::resp::Encoder;
use wire::{Args, Mark, Output, Reply};

/// Delay before a waiter retries when the journal is full or no longer accepts anything.
const REFUSED_MS: Ms = 1_000;

/// The way of a request, which its command's [`Run`] and its length decide before anything is attempted.
pub(super) enum RequestWay {
    /// In one transaction, by this handler.
    Transaction(Local),
    /// In looks at very many keys, and then one at all their shards.
    Gather,
    /// On the connection or the server.
    Session(OfSession),
    /// Over all shards, at once if that is short.
    Sweep(BeginSweep),
    /// By the engine itself.
    Verb(Verb),
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

impl Session {
    /// Returns the long strings that a request may store, including those of an EXEC's queue.
    pub(super) fn long_texts<'a>(&'a self, command: &Command, args: &Args<'a>) -> impl Iterator<Item = &'a [u8]> {
        let is_exec = matches!(command.run, Run::Engine(Verb::Exec));
        let queue = self.multi.iter().filter(move |_| is_exec).flat_map(|multi| &multi.queue);
        command.long_texts(args).chain(queue.flat_map(|(command, request)| command.long_texts(&request.args())))
    }

    /// Returns the needs of the first attempt, if they can be met at once. Boxed, since few requests have any.
    #[inline]
    pub(super) fn needs(&self, command: &Command, args: &Args<'_>) -> Result<Option<Box<RetryState>>, Suspend> {
        let puts_long = command.puts_string() && args.bytes_total() > INLINE_BYTES_MAX;
        if !puts_long && !matches!(command.run, Run::Engine(Verb::Exec)) {
            return Ok(None);
        }
        let mut needs = None::<Box<RetryState>>;
        let mut bytes_left = CUT_BYTES_MAX;
        for text in self.long_texts(command, args) {
            bytes_left = bytes_left.checked_sub(text.len()).ok_or(Suspend::LongStrings)?;
            needs.get_or_insert_default().cuts.add(text, LongString::of(text));
        }
        Ok(needs)
    }

    /// Returns the way of a request, under the gate or not.
    ///
    /// # Errors
    /// Returns why it waits in any case.
    #[inline]
    pub(super) fn way(&self, command: &Command, args: &Args<'_>, is_gated: bool) -> Result<RequestWay, Suspend> {
        Ok(match command.run {
            Run::Local(_) if has_many_keys(command, args) && !is_gated => return Err(Suspend::ManyKeys),
            Run::Gather { .. } if args.len() > ARGUMENTS_MAX => RequestWay::Gather,
            Run::Local(handler) | Run::Gather { at_once: handler, .. } | Run::Blocking { try_now: handler, .. } => {
                RequestWay::Transaction(handler)
            }
            Run::Gate(handler) if is_gated => RequestWay::Transaction(handler),
            Run::Gate(_) => return Err(Suspend::Gate),
            Run::Parts { is_long, .. } if is_long(self, args) => return Err(Suspend::Parts),
            Run::Session(handler) | Run::Parts { at_once: handler, .. } => RequestWay::Session(handler),
            Run::Sweep(begin) => RequestWay::Sweep(begin),
            Run::Range { .. } => return Err(Suspend::Range),
            Run::Search(_) => return Err(Suspend::Search),
            Run::Engine(verb) if waits(verb) => return Err(Suspend::Verb),
            Run::Engine(verb) => RequestWay::Verb(verb),
        })
    }

    /// Returns why a command may not begin now: clients are paused, or the order of names or an index is behind.
    #[inline]
    pub(super) fn held_back(&self, worker: &Worker, command: &Command, is_gated: bool, now: Ms) -> Option<Suspend> {
        let writes = self.any_command(command, |command| command.is_held_with_writes());
        // A script itself declares whether it writes: see `wait_if_it_writes`.
        let is_held =
            writes && self.any_command(command, |command| command.is_held_with_writes() && !command.calls_script());
        if worker.engine.pause.holds(is_held, || now).is_some() && !command.has(Flag::Admin) {
            return Some(Suspend::Paused { writes: is_held });
        }
        // `then_some` would make the reason, and drop it, for each request.
        if writes && !is_gated && worker.engine.is_behind() { Some(Suspend::Behind) } else { None }
    }

    /// Runs a command if everything it needs is available at once.
    pub(super) fn attempt(
        &mut self,
        attempt: &Attempt<'_>,
        way: RequestWay,
        retention: &mut LockRetention<'_>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let &Attempt { worker, raised, now, .. } = attempt;
        if !matches!(way, RequestWay::Transaction(_)) {
            // The attempt may hold other shards.
            retention.let_go(&worker.executor);
        }
        // Checked here, since a command may have waited for something else when the pause began.
        if let Some(why) = self.held_back(worker, &command, raised.is_some(), now) {
            return Err(why);
        }
        match way {
            #[cfg(bobbin_canary = "lockless-pop")]
            RequestWay::Transaction(handler) if command.name == "LPOP" => {
                self.pop_in_two_steps(attempt, command, handler, args, output)
            }
            RequestWay::Transaction(handler) => self.run_one(attempt, retention, command, handler, args, output),
            RequestWay::Gather => self.settle(attempt, args, output),
            RequestWay::Session(handler) => {
                self.run_on_session(worker, command, handler, args, output);
                Ok(())
            }
            RequestWay::Sweep(begin) => self.sweep_at_once(worker, command, begin, args, output),
            RequestWay::Verb(verb) => self.run_verb(attempt, command, verb, args, output),
        }
    }

    fn run_on_session(
        &mut self,
        worker: &Worker,
        command: Command,
        handler: OfSession,
        args: &Args<'_>,
        output: &mut Output,
    ) {
        let mark = output.mark();
        let protocol = if command.has(Flag::SetsProtocol) { self.protocol_after_hello(args) } else { self.protocol };
        let outcome = handler(self, args, &mut Encoder::new(output, protocol));
        self.saw_counts(worker, &command);
        if let Err(failure) = outcome {
            output.truncate(mark);
            self.fail(worker, Some(command), &failure, output);
        }
    }

    /// Runs a command as one transaction.
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
        let mark = output.mark();
        let mut job = OneCommand { session: self, worker, needs, now, command, handler, args, output, mark };
        if let Some(seen) = worker.executor.execute(&mut job, raised, Some(retention))? {
            self.hide_unreadable(worker, seen, mark, output);
        }
        Ok(())
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
            (Failure::OutOfMemory, Some(command)) if !self.port.is_resp() => {
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

    /// Gives a tx what its commands may need.
    #[inline]
    pub(super) fn prepare<'t>(&self, worker: &'t Worker, tx: &mut Tx<'t>, needs: &'t RetryState) {
        tx.set_memory(&worker.executor);
        tx.set_touching(!self.client.no_touch.load(Relaxed));
        tx.set_jobs(&needs.off_lock.jobs);
        tx.set_random(&worker.random);
        tx.set_cuts(&needs.cuts);
    }

    /// Returns the keys that a command writes, with their database.
    pub(super) fn fed_by(&self, command: &Command, args: &Args<'_>) -> Vec<(u32, Vec<u8>)> {
        let mut fed = Vec::new();
        command.for_each_key(args, |key, want| {
            if want == Want::Write {
                fed.push((self.database, key.to_vec()));
            }
        });
        fed
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
        Suspend::Waiting(ElementWait::begin(worker.engine.clone(), waiter, self.client.clone(), look_again_ms))
    }
}

/// A command by itself, as a job of the executor.
struct OneCommand<'j, 'a> {
    session: &'a mut Session,
    worker: &'j Rc<Worker>,
    needs: &'j RetryState,
    now: Ms,
    command: Command,
    handler: Local,
    args: &'a Args<'a>,
    output: &'a mut Output,
    /// The output before it ran.
    mark: Mark,
}

impl<'j> Job<'j> for OneCommand<'j, '_> {
    type Caller = Session;
    type Lack = Suspend;

    #[inline]
    fn caller(&mut self) -> &mut Session {
        self.session
    }

    #[inline]
    fn database(&self) -> u32 {
        self.session.database
    }

    #[inline]
    fn now(&self) -> Ms {
        self.now
    }

    #[inline]
    fn demand(&self) -> Option<Demand> {
        let bytes = || self.command.frame_bytes_max(self.args).max(self.needs.room_bytes);
        self.command.writes().then(|| Demand::new(bytes(), executor::purpose_of(self.command.access)))
    }

    fn refused(&mut self, refusal: NotAdmitted, demand: &Demand) -> Refused<Suspend> {
        let waits = refusal == NotAdmitted::Journal(Refusal::Wait);
        Refused::Over(if self.needs.wait.is_none() || waits {
            self.session.refused(self.worker, Some(self.command), refusal, demand.bytes, self.output)
        } else {
            Err(Suspend::StillWaiting { look_again_ms: Some(self.now + REFUSED_MS) })
        })
    }

    #[inline]
    fn may_write(&self) -> bool {
        self.command.writes()
    }

    #[inline]
    fn plan(&self, keyspace: &Keyspace, plan: &mut Plan) {
        self.command.plan(self.args, keyspace, plan);
        self.needs.shards.iter().for_each(|shard| plan.add_shard(*shard, Want::Write));
    }

    fn fed(&self) -> Vec<(u32, Vec<u8>)> {
        self.session.fed_by(&self.command, self.args)
    }

    #[inline]
    fn prepare<'t>(&self, tx: &mut Tx<'t>)
    where
        'j: 't,
    {
        self.session.prepare(self.worker, tx, self.needs);
    }

    #[inline]
    fn run(&mut self, tx: &mut Tx<'_>, served: &mut Served, feeds: bool) -> Result<(), Stop<Suspend>> {
        if feeds || self.needs.wait.is_some() {
            self.go_by_line(tx, served)?;
        }
        executor::begin_command(tx, &self.command, self.args);
        let outcome = if self.args.len() > speculate::ARGUMENTS_MAX || self.needs.off_lock.speculations > 0 {
            let work = (self.handler, self.args);
            self.session.apply_speculation(self.worker, self.needs, &self.command, work, tx, self.output)
        } else {
            tx.set_speculating();
            (self.handler)(tx, self.args, &mut Encoder::new(self.output, self.session.protocol))
        };
        if let Err(failure) = outcome {
            self.fail(failure, tx, served)?;
        }
        self.session.note_read(self.worker, &self.command, self.args);
        Ok(())
    }

    #[cold]
    fn undo(&mut self) {
        self.output.truncate(self.mark);
    }
}

impl OneCommand<'_, '_> {
    /// Serves the clients that wait for due messages under these keys before the request looks at them; if the request
    /// itself waits there, claims its wait.
    ///
    /// # Errors
    /// Returns the missing requirement; or that the request's own wait has ended, by this call or by another client.
    fn go_by_line(&mut self, tx: &mut Tx<'_>, served: &mut Served) -> Result<(), Stop<Suspend>> {
        // A speculative result is only valid for the values now present.
        if self.needs.off_lock.speculations == 0 {
            let request = (&self.command, self.args);
            executor::serve_due(&self.worker.engine, tx, self.session.database, request, served)
                .map_err(|lack| Stop::Undo(lack.into()))?;
        }
        match &self.needs.wait {
            Some(wait) if !served.claim(wait.waiter()) => {
                Err(Stop::ForOthers(Suspend::StillWaiting { look_again_ms: Some(tx.now()) }))
            }
            _ => Ok(()),
        }
    }

    /// Writes an error reply, unless the command waits or lacks something.
    #[cold]
    fn fail(&mut self, failure: Failure, tx: &mut Tx<'_>, served: &mut Served) -> Result<(), Stop<Suspend>> {
        let Self { session, worker, command, args, .. } = self;
        match failure {
            failure if is_nothing(&failure, self.needs) => Err(Stop::ForOthers(match served.leave_claim() {
                Some(waiter) => Suspend::StillWaiting { look_again_ms: session.looks_again_at(worker, &waiter, tx) },
                None => session.block(worker, *command, args, tx),
            })),
            // It has changed nothing yet, so elements already served to other clients stay theirs.
            Failure::Abandon(Abandon::Speculate) => {
                let snapshot = session.snapshot(worker, command, args, tx);
                served.leave_claim();
                Err(Stop::ForOthers(Suspend::OffLock(OffLock::Speculate(snapshot))))
            }
            Failure::Abandon(lack) => Err(Stop::Undo(lack.into())),
            failure => {
                self.output.truncate(self.mark);
                session.fail(worker, Some(*command), &failure, self.output);
                Ok(())
            }
        }
    }
}

impl Caller for Session {
    #[inline]
    fn client_id(&self) -> u64 {
        self.client.id
    }

    #[inline]
    fn messages_wait_for(&self) -> (Position, bool) {
        (self.watermark, self.durable_always)
    }

    #[inline]
    fn has_output(&self) -> bool {
        self.outbox.is_some()
    }

    fn take_messages(&mut self) -> Vec<Outgoing> {
        self.outbox.as_mut().map_or_else(Vec::new, |outbox| std::mem::take(&mut outbox.messages))
    }

    fn add_own_pushes(&mut self, pushes: &mut Vec<Own>) {
        self.own_pushes.append(pushes);
    }

    fn end_reads(&mut self) {
        if self.outbox.is_some() {
            self.remember_reads();
        }
    }

    #[inline]
    fn saw(&mut self, position: Position) {
        Self::saw(self, position);
    }

    fn grew(&mut self, bytes: u64) {
        self.grown_bytes += bytes;
    }
}

/// Returns true if a command found nothing: for a waiter already in a queue, another type also counts as nothing.
fn is_nothing(failure: &Failure, needs: &RetryState) -> bool {
    matches!(failure, Failure::Nothing) || needs.wait.is_some() && matches!(failure, Failure::WrongType)
}

/// Returns true if a verb waits for something in any case.
fn waits(verb: Verb) -> bool {
    match verb {
        Verb::Multi | Verb::Discard | Verb::Exec | Verb::Watch | Verb::Unwatch => false,
        Verb::Eval | Verb::ScriptLoad | Verb::Library(_) => false,
        Verb::Migrate | Verb::FlushStrings | Verb::FlushQueues | Verb::ListQueues | Verb::DropTagged => true,
        Verb::WaitDisk | Verb::Pause | Verb::DebugSleep | Verb::DebugReload | Verb::Save | Verb::Shutdown => true,
    }
}

/// Returns the out-of-memory line of memcached, also used for MemcacheQ.
fn out_of_memory_line(command: &Command) -> &'static str {
    if command.has(Flag::ChangesNumber) { "SERVER_ERROR out of memory" } else { OUT_OF_MEMORY_LINE }
}

/// Memcached's error line when there is no memory for an item.
pub(super) const OUT_OF_MEMORY_LINE: &str = "SERVER_ERROR out of memory storing object";

/// Maximum bytes of strings split in a turn: some 250 µs.
const CUT_BYTES_MAX: usize = 1 << 20;

/// The error when the disk is full.
pub(super) const FULL: &str = "MISCONF the disk of the data folder is full: commands that need space are refused \
                               until some is freed; reads and deletions still work";
