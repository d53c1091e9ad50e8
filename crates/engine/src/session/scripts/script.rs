//! EVAL, FCALL and their kin: a script or a function as a command of a tx, alone or inside EXEC.
//!
//! A script is first tried in place: most are short. One that has run for [`IN_PLACE_US_MAX`] is undone and rerun on
//! its worker's script runner, where it can be suspended; its retries also begin there. A command that needs an unheld
//! shard takes it if it is free; otherwise the whole tx is undone and rerun with that shard, on the script runner, and
//! finally under the gate.

use crate::executor::begin_command;
use crate::script::runner::{Begun, ScriptJob, Scripted};
use crate::script::{By, Control, Script};
use crate::session::attempt::Attempt;
use crate::session::connection::monitor::Asker;
use crate::session::retry_state::RetryState;
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::worker::Worker;
use base::instant::Instant;
use commands::registry::{self, Command, Lookup};
use commands::{Access, Failure, Flag, OUT_OF_MEMORY, Outcome as Ran, Run, Verb};
use keyspace::{Abandon, INDEXES, Plan, SCHEMAS, Tx};
use lua::{Answer, Ask, Code, Errors, Fault, Input};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use sync::lock::Want;
use wire::client::Value;
use wire::resp::Protocol;
use wire::{Args, Output, Reply, ReplyValue};

/// Microseconds for which a script runs in place.
const IN_PLACE_US_MAX: u64 = 500;

/// A running script or function, and its permissions.
pub(in crate::session) struct Called<'a> {
    pub(in crate::session) command: Command,
    pub(in crate::session) name: &'a str,
    /// The request.
    pub(in crate::session) args: &'a Args<'a>,
    pub(in crate::session) is_function: bool,
    pub(in crate::session) reads_only: bool,
    pub(in crate::session) gated: bool,
}

/// Why a script was cut short.
pub(in crate::session) enum Cut {
    NotNow(Suspend),
    Killed,
    TooLong,
}

/// Returns true if a command is tried in place before it goes to the script runner. A function is not: its library may
/// keep counts that undoing cannot reset.
pub(in crate::session) fn is_tried_in_place(command: &Command) -> bool {
    command.calls_script() && !command.calls_function()
}

impl Session {
    /// Returns true if a request runs on the script runner.
    pub(in crate::session) fn needs_runner(&self, command: &Command) -> bool {
        let is_exec = matches!(command.run, Run::Engine(Verb::Exec));
        command.is_scripted()
            || is_exec
                && self.multi.as_ref().is_some_and(|multi| multi.queue.iter().any(|(command, _)| command.is_scripted()))
    }

    /// Runs a request on the script runner as far as it goes at once.
    pub(in crate::session) fn begin_script(
        &mut self,
        needs: RetryState,
        gated: bool,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> (RetryState, Result<(), Suspend>) {
        let worker = self.worker.clone();
        if worker.runner.is_taken() {
            return (needs, Err(Suspend::RunnerBusy));
        }
        let (mut request, lent_output) = worker.runner.lend();
        args.iter().for_each(|argument| request.push(argument));
        let stand_in = self.stand_in();
        let job = ScriptJob {
            command,
            request,
            needs,
            gated,
            control: Arc::new(Control::default()),
            output: lent_output,
            result: Ok(()),
            began: Instant::now(),
            took: Duration::ZERO,
        };
        let session = std::mem::replace(self, stand_in);
        match worker.runner.begin(&worker, Box::new(session), Box::new(job)) {
            Begun::Over((session, job)) => self.take_back(*session, *job, output),
            Begun::Rests(ticket) => (RetryState::default(), Err(Suspend::Script(ticket))),
        }
    }

    /// Creates a stand-in for the time the session is on the script runner: it has only what its connection needs.
    fn stand_in(&self) -> Self {
        let mut stand_in = Self::new(self.worker.clone(), self.client.clone());
        stand_in.is_stand_in = true;
        (stand_in.protocol, stand_in.authenticated) = (self.protocol, self.authenticated);
        (stand_in.reply_mode, stand_in.replies_held) = (self.reply_mode, self.replies_held);
        (stand_in.durable_always, stand_in.watermark) = (self.durable_always, self.watermark);
        stand_in.strict_watermark = self.strict_watermark;
        stand_in
    }

    /// Takes the session back from the script runner.
    pub(in crate::session) fn take_back(
        &mut self,
        session: Self,
        job: ScriptJob,
        output: &mut Output,
    ) -> (RetryState, Result<(), Suspend>) {
        let ScriptJob { request, needs, output: mut job_output, result, .. } = job;
        let stand_in = std::mem::replace(self, session);
        self.replies_held = stand_in.replies_held;
        self.watermark = self.watermark.max(stand_in.watermark);
        self.closing |= stand_in.closing;
        output.take_from(&mut job_output);
        self.worker.runner.give_back(request, job_output);
        (needs, result)
    }

    /// Runs a request on the script runner, inside the gate or with the gate up.
    pub(crate) fn run_scripted(
        &mut self,
        scripted: &Scripted<'_>,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let worker = self.worker.clone();
        let &Scripted { ref yielder, command, needs, gated } = scripted;
        self.yielder = Some(yielder.clone());
        let result = if gated {
            let raised = loop {
                match worker.member.try_raise() {
                    Some(mut raising) => {
                        worker.engine.watch.note_raise(Some(worker.index));
                        break loop {
                            match raising.ready(Waker::noop()) {
                                Some(raised) => break raised,
                                None => yielder.wait(),
                            }
                        };
                    }
                    None => yielder.wait(),
                }
            };
            let now = worker.engine.clock.now();
            let attempt = Attempt { worker: &worker, needs, raised: Some(&raised), now, is_outside: false };
            self.attempt_alone(&attempt, command, args, output)
        } else if let Some(_inside) = worker.member.enter() {
            let now = worker.engine.clock.now();
            let attempt = Attempt { worker: &worker, needs, raised: None, now, is_outside: false };
            self.attempt_alone(&attempt, command, args, output)
        } else {
            Err(Suspend::Shards(Vec::new()))
        };
        self.yielder = None;
        worker.executor.end_turn();
        result
    }

    /// EVAL, EVALSHA, FCALL and SCRIPT LOAD as commands of a tx.
    pub(in crate::session) fn run_script_command(
        &mut self,
        worker: &Rc<Worker>,
        command: &Command,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Ran {
        if matches!(command.run, Run::Engine(Verb::ScriptLoad)) {
            let script = self.known_or_compiled(worker, args.get(2), true)?;
            reply.bulk(script.name.as_bytes());
            return Ok(());
        }
        if command.calls_function() {
            return self.run_function_command(worker, command, args, tx, reply);
        }
        if command.has(Flag::ByDigest) && args.get(1).len() != 40 {
            return Err(Failure::text(UNKNOWN_SCRIPT));
        }
        let keys_count = commands::script_keys_count(args, false)?;
        let script = if command.has(Flag::ByDigest) {
            let find = || {
                let name = String::from_utf8_lossy(args.get(1)).to_ascii_lowercase();
                worker.engine.scripts.find(&name).ok_or(Failure::text(UNKNOWN_SCRIPT))
            };
            remembered(worker, By::Name, args.get(1), find)?
        } else {
            let find = || self.known_or_compiled(worker, args.get(1), false);
            remembered(worker, By::Text, args.get(1), find)?
        };
        let is_reader = command.has(Flag::ReadOnlyScript);
        let declares_reading = script.flags.is_some_and(|flags| flags.has(lua::Flags::NO_WRITES));
        if is_reader && script.flags.is_some() && !declares_reading {
            return Err(Failure::text(NOT_A_READER));
        }
        let reads_only = is_reader || declares_reading;
        self.wait_if_it_writes(worker, reads_only, tx)?;
        let called = Called {
            command: *command,
            name: &script.name,
            args,
            is_function: false,
            reads_only,
            gated: tx.is_gated(),
        };
        let code = Code::Script { name: script.name.clone(), source: script.source.clone() };
        if self.yielder.is_some() {
            let began = Instant::now();
            let ran = self.run_code(worker, code, keys_count, &called, tx, reply);
            script.set_long(began.elapsed().as_micros() as u64 > IN_PLACE_US_MAX);
            return ran;
        }
        if script.is_long() {
            self.lack = Some(Suspend::RunnerBusy);
            return Err(Failure::Nothing);
        }
        let ran = self.run_code(worker, code, keys_count, &called, tx, reply);
        script.set_long(matches!(self.lack, Some(Suspend::RunnerBusy)));
        ran
    }

    /// FCALL
    fn run_function_command(
        &mut self,
        worker: &Rc<Worker>,
        command: &Command,
        args: &Args<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Ran {
        let is_reader = command.has(Flag::ReadOnlyScript);
        let asked = String::from_utf8_lossy(args.get(1));
        let called = Called {
            command: *command,
            name: &asked,
            args,
            is_function: true,
            reads_only: is_reader,
            gated: tx.is_gated(),
        };
        let (name, library, flags) = self.function(worker, args.get(1), &called, tx)?;
        let keys_count = commands::script_keys_count(args, true)?;
        let declares_reading = flags.has(lua::Flags::NO_WRITES);
        if is_reader && !declares_reading {
            return Err(Failure::text(NOT_A_READER));
        }
        self.wait_if_it_writes(worker, declares_reading, tx)?;
        let called = Called { name: &name, reads_only: declares_reading, ..called };
        let code = Code::Function { library, name: name.clone() };
        self.run_code(worker, code, keys_count, &called, tx, reply)
    }

    /// Makes a script wait for the end of CLIENT PAUSE WRITE, unless it is declared read-only.
    fn wait_if_it_writes(&mut self, worker: &Worker, reads_only: bool, tx: &Tx<'_>) -> Ran {
        if reads_only || worker.engine.pause.holds(true, || tx.now()).is_none() {
            return Ok(());
        }
        self.lack = Some(Suspend::Paused { writes: true });
        Err(Failure::Nothing)
    }

    /// Runs a script or a function; one that returns an error counts as failed.
    fn run_code(
        &mut self,
        worker: &Rc<Worker>,
        code: Code,
        keys_count: usize,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
        reply: &mut dyn Reply,
    ) -> Ran {
        let task = {
            let machine = worker.runner.machine(worker);
            machine.task(code, called.args.from(3), keys_count)
        };
        tx.set_scripted(true);
        let ran = self.run_task(worker, task, called, tx);
        tx.set_scripted(false);
        let (value, errors) = ran?;
        if errors.any {
            worker.counters().by_command[called.command.index()].failed.add(1);
            errors.uncounted.iter().for_each(|text| self.note_error(worker, text));
        }
        lua::write(&value, reply);
        Ok(())
    }

    /// Finds a script by its source, or compiles it.
    fn known_or_compiled(&self, worker: &Rc<Worker>, source: &[u8], is_loaded: bool) -> Result<Script, Failure> {
        let name = lua::name_of(source);
        let scripts = &worker.engine.scripts;
        if let Some(script) = scripts.find(&name) {
            if is_loaded {
                scripts.keep(&script, true);
            }
            return Ok(script);
        }
        let header = lua::header(source).map_err(Failure::text)?;
        let script = Script::new(&name, &header);
        match worker.runner.machine(worker).go(Input::Compile(script.name.clone(), script.source.clone())) {
            Ask::Over(Err(fault)) => Err(Failure::text(fault.reply_text(&name))),
            _ => {
                scripts.keep(&script, is_loaded);
                Ok(script)
            }
        }
    }

    /// Runs a task to completion, slice by slice.
    fn run_task(
        &mut self,
        worker: &Rc<Worker>,
        task: Input,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> Result<(Value, Errors), Failure> {
        let before = (self.database, self.protocol);
        let (cut, outcome) = self.drive(worker, task, None, called, tx);
        commands::Session::select(self, before.0);
        self.protocol = before.1;
        tx.use_database(self.database);
        match (cut, outcome) {
            (Some(Cut::NotNow(why)), _) => {
                self.lack = Some(why);
                Err(Failure::Nothing)
            }
            (Some(Cut::Killed | Cut::TooLong), outcome) => {
                let place = outcome.err().and_then(|fault| fault.place);
                let text = b"ERR Script killed by user with SCRIPT KILL...".to_vec();
                Err(Failure::text(Fault { text, place, is_counted: false }.reply_text(called.name)))
            }
            (None, Ok(Answer::Reply(value, errors))) => Ok((value, errors)),
            (None, Ok(_)) => Ok((Value::Null, Errors::default())),
            (None, Err(fault)) if fault.is_counted => Err(Failure::Counted(fault.reply_text(called.name))),
            (None, Err(fault)) => Err(Failure::text(fault.reply_text(called.name))),
        }
    }

    /// Runs the machine's task slice by slice, to completion or until `limit` has passed. Returns why it was cut short,
    /// if it was, and its result.
    pub(in crate::session) fn drive(
        &mut self,
        worker: &Rc<Worker>,
        task: Input,
        limit: Option<Duration>,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
    ) -> (Option<Cut>, Result<Answer, Fault>) {
        let yielder = self.yielder.clone();
        yielder.iter().for_each(|yielder| yielder.control().begin(called.is_function));
        let began = Instant::now();
        let mut machine = worker.runner.machine(worker);
        machine.set_room(worker.engine.memory.scripts_room_bytes());
        machine.set_memory_max(usize::try_from(worker.settings().script_memory_bytes_max).ok());
        let room_bytes = machine.room_bytes();
        let mut cut = None;
        let mut ask = machine.go(task);
        let outcome = loop {
            let mut now = None;
            let mut input = match ask {
                Ask::Over(outcome) => break outcome,
                Ask::Tick => Input::Go,
                Ask::Call { request, resp3 } => {
                    let protocol = if resp3 { Protocol::Resp3 } else { Protocol::Resp2 };
                    let reply = ReplyValue::new(protocol, room_bytes);
                    let reply = self.call(worker, &request.args(), reply, called, tx, &mut now);
                    machine.give_back(request);
                    match reply {
                        Ok(value) => Input::Reply(value),
                        Err(why) => {
                            cut = Some(Cut::NotNow(why));
                            Input::Stop
                        }
                    }
                }
                Ask::Check(request) => Input::Reply(check(&request.args())),
                Ask::Log { level, text } => {
                    self.log(worker, level, format!("a script says: {text}"));
                    Input::Reply(Value::Null)
                }
            };
            let now = now.unwrap_or_else(Instant::now);
            if let Some(yielder) = &yielder {
                yielder.yield_if_due(now, |control| control.publish(called.name, called.args, began));
            }
            if cut.is_none() && yielder.as_ref().is_some_and(|yielder| yielder.control().is_killed()) {
                (cut, input) = (Some(Cut::Killed), Input::Stop);
            } else if cut.is_none() && yielder.is_none() && worker.has_worked_for(IN_PLACE_US_MAX, now - began) {
                (cut, input) = (Some(Cut::NotNow(Suspend::RunnerBusy)), Input::Stop);
            } else if cut.is_none() && worker.engine.scripts.is_stopping() {
                (cut, input) = (Some(Cut::NotNow(Suspend::Stopping)), Input::Stop);
            } else if cut.is_none() && limit.is_some_and(|limit| began.elapsed() > limit) {
                (cut, input) = (Some(Cut::TooLong), Input::Stop);
            }
            ask = machine.go(input);
        };
        yielder.iter().for_each(|yielder| yielder.control().end());
        worker.counters().script_memory_bytes.set(machine.memory_bytes() as u64);
        (cut, outcome)
    }

    /// redis.call: returns the reply, errors included, or the missing requirement; and when it ended, if it ran.
    fn call(
        &mut self,
        worker: &Rc<Worker>,
        args: &Args<'_>,
        mut reply: ReplyValue,
        called: &Called<'_>,
        tx: &mut Tx<'_>,
        ended: &mut Option<Instant>,
    ) -> Result<Value, Suspend> {
        let command = match callable(args) {
            Ok(command) if called.reads_only && changes(&command) => {
                return Ok(self.rejected(worker, Some(command), WRITE_OF_READER));
            }
            Ok(command) => command,
            Err((command, text)) => return Ok(self.rejected(worker, command, text)),
        };
        self.check_call(worker, &command, args, called.gated, tx)?;
        if command.writes() {
            if let Some(text) = self.unwritable {
                return Ok(self.rejected(worker, Some(command), text));
            }
            let bound = command.frame_bytes_max(args);
            if tx.need_room(bound).is_err() {
                return Err(Suspend::Room(2 * (tx.log().payload_bytes() + bound)));
            }
            if matches!(command.access, Access::Write { grows: true }) && !worker.executor.may_grow(bound) {
                return Ok(self.rejected(worker, Some(command), OUT_OF_MEMORY));
            }
            self.yielder.iter().for_each(|yielder| yielder.control().note_write());
        }
        begin_command(tx, &command, args);
        if let Some(outbox) = &mut self.outbox {
            outbox.notes_count = tx.notes().len();
        }
        self.protocol = if reply.is_resp3() { Protocol::Resp3 } else { Protocol::Resp2 };
        let log_mark = tx.log().mark();
        let began = Instant::now();
        let outcome = self.run_command(worker, &command, args, tx, &mut reply);
        self.note_command(worker, tx, log_mark, &command, args);
        self.note_shown(worker, &command, args, Asker::Script);
        let counters = &worker.counters().by_command[command.index()];
        counters.calls.add(1);
        let now = *ended.insert(Instant::now());
        counters.took_ns.add((now - began).as_nanos() as u64);
        match outcome {
            Ok(()) if reply.is_too_long() => Ok(error(REPLY_TOO_LONG)),
            Ok(()) => Ok(reply.into_value().unwrap_or(Value::Null)),
            Err(Failure::Abandon(Abandon::Room(bytes))) => Err(Suspend::Room(2 * bytes)),
            Err(Failure::Abandon(lack)) => Err(lack.into()),
            Err(failure) => {
                let text = failure.to_string();
                counters.failed.add(1);
                self.note_error(worker, &text);
                Ok(Value::Error(text))
            }
        }
    }

    /// Counts a rejected call and returns its error.
    fn rejected(&self, worker: &Worker, command: Option<Command>, text: &str) -> Value {
        command.iter().for_each(|command| worker.counters().by_command[command.index()].rejected.add(1));
        self.note_error(worker, text);
        error(text)
    }

    /// redis.log: logs at once, or for a script in place once it is certain to complete.
    fn log(&mut self, worker: &Worker, level: u8, text: String) {
        match &mut self.outbox {
            Some(outbox) if self.yielder.is_none() => outbox.logged.push((level, text)),
            _ => worker.engine.scripts.log(level, &text),
        }
    }

    /// Checks that all shards a command touches are held.
    fn check_call(
        &self,
        worker: &Worker,
        command: &Command,
        args: &Args<'_>,
        gated: bool,
        tx: &mut Tx<'_>,
    ) -> Result<(), Suspend> {
        let engine = &*worker.engine;
        if gated {
            return if engine.loading.is_over() { Ok(()) } else { Err(Suspend::Loading) };
        }
        if matches!(command.run, Run::Gate(_)) || command.goes_anywhere() || command.follows_names(args) {
            return Err(Suspend::Gate);
        }
        let mut missing = Vec::new();
        command.for_each_key(args, |key, want| {
            if !tx.holds(key, want) {
                missing.push(keyspace::shard_of(engine.keyspace.hash(key)));
            }
        });
        for (key, want) in [(SCHEMAS, command.schemas()), (INDEXES, command.indexes())] {
            if want.is_some_and(|want| !tx.holds(key, want)) {
                missing.push(keyspace::shard_of(engine.keyspace.hash(key)));
            }
        }
        // If a client waits for a key, all shards that serving it needs must be known.
        let take = |shard: usize, tx: &mut Tx<'_>| tx.extend(shard) && !engine.hooks.any(shard);
        missing.retain(|shard| !(engine.loading.is_over() && take(*shard, tx)));
        if !missing.is_empty() {
            return Err(Suspend::Shards(missing));
        }
        if !engine.loading.is_over() {
            let mut plan = Plan::default();
            command.for_each_key(args, |key, _| plan.add_key(&engine.keyspace, key, Want::Read));
            plan.seal();
            if let Some(hash) = engine.loading.unread(&plan) {
                return Err(Suspend::Unread(hash));
            }
        }
        Ok(())
    }

    /// Waits until the gate is down or a script is busy.
    pub async fn gate_open_or_busy(&self) {
        let _: Option<()> = self.worker.unless_busy(pin!(self.gate_open())).await;
    }
}

/// The error for a command that ran but whose reply exceeds the memory left for scripts.
const REPLY_TOO_LONG: &str = "ERR the command was run, but its reply is longer than the memory that is left for scripts \
    (script-memory-max)";

/// The error for calling, through a read-only command, something that may write.
const UNKNOWN_SCRIPT: &str = "NOSCRIPT No matching script. Please use EVAL.";
const WRITE_OF_READER: &str = "ERR Write commands are not allowed from read-only scripts.";
const NOT_A_READER: &str = "ERR Can not execute a script with write flag using *_ro command.";

/// Returns the result for `text` from the worker's memo, or else by `find`.
fn remembered(
    worker: &Worker,
    by: By,
    text: &[u8],
    find: impl FnOnce() -> Result<Script, Failure>,
) -> Result<Script, Failure> {
    let hash = worker.engine.keyspace.hash(text);
    let known = worker.runner.memo.borrow_mut().find(&worker.engine.scripts, by, hash, text);
    if let Some(script) = known {
        return Ok(script);
    }
    let script = find()?;
    worker.runner.memo.borrow_mut().add(by, hash, text, &script);
    Ok(script)
}

fn error(text: &str) -> Value {
    Value::Error(text.to_owned())
}

/// Returns true if a command counts as writing where only reads are allowed.
fn changes(command: &Command) -> bool {
    command.writes() || command.has(Flag::Publishes)
}

/// Returns the command of a call, or why it cannot be made, and its command if there is one.
fn callable(args: &Args<'_>) -> Result<Command, (Option<Command>, &'static str)> {
    const WRONG_COUNT: &str = "ERR Wrong number of args calling Redis command from script";
    match registry::find(args) {
        Lookup::Command(command) if !command.arity.allows(args.len()) => Err((Some(command), WRONG_COUNT)),
        Lookup::Command(command) if command.has(Flag::NoScript) => {
            Err((Some(command), "ERR This Redis command is not allowed from script"))
        }
        Lookup::Command(command) => Ok(command),
        Lookup::Container(_) if args.len() < 2 => Err((None, WRONG_COUNT)),
        _ => Err((None, "ERR Unknown Redis command called from script")),
    }
}

/// redis.acl_check_cmd: every authenticated client may run everything.
fn check(args: &Args<'_>) -> Value {
    match registry::find(args) {
        Lookup::Command(_) => Value::Boolean(true),
        _ => error("ERR Invalid command passed to redis.acl_check_cmd()"),
    }
}
