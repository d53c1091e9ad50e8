//! A turn of a connection: its requests, one after the other, and the next step.

use super::attempt::{Attempt, RequestWay};
use super::protocol::port::{Port, Step};
use super::replies::Took;
use super::retry_state::{OffLock, RetryState};
use super::scripts::script;
use super::state::Session;
use super::suspend::Suspend;
use crate::executor::LockRetention;
use crate::waits::gate_open;
use crate::worker::Worker;
use base::Ms;
use base::instant::Instant;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::{self, Command, Lookup};
use commands::{Flag, Run, Verb};
use journal::Journal;
use sync::lock::Want;
use wire::http::is_http_word;
use wire::resp::{Encoder, RespStep};
use wire::{Args, Output, Ranges, Reply};

/// Maximum number of requests of one connection per turn.
const TURN_REQUESTS_MAX: usize = 256;
/// Maximum number of memcached lines per turn that run no command, such as the one after each get.
const TURN_LINES_MAX: usize = 512;
/// Maximum length of a turn in microseconds; a request that has begun is finished.
const TURN_US_MAX: u64 = 500;
/// A turn ends when this many bytes of output are pending.
const TURN_OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Result of a turn.
pub struct Turn {
    /// Bytes of the input that have been consumed.
    pub used: usize,
    /// The next step.
    pub next: Next,
}

/// Progress of a turn.
struct TurnProgress {
    /// Bytes of the input that have been consumed.
    used: usize,
    /// Requests run.
    requests: usize,
    /// Lines that run no command.
    lines: usize,
    began: Instant,
}

/// Next action of a connection after a turn.
pub enum Next {
    /// Waits until the input has at least this many bytes in all, unconsumed ones included.
    Input(usize),
    /// Has more to do at once, after others had their turn.
    Again,
    /// Waits for the gate with [`Session::gate_open_or_busy`], then runs another turn.
    Gate,
    /// Waits with [`Session::paced`] for this many milliseconds, then runs another turn.
    Paced(Ms),
    /// Runs a request that must wait with [`Session::run_slowly`], then runs another turn. Its bytes are not yet
    /// consumed.
    Slow(Box<Slow>),
    /// Closes once the output has been written.
    Close,
    /// Likewise, and logs it: a browser is speaking HTTP.
    Http,
}

/// A request that could not run at once. Its bytes stay at the start of the unconsumed input: copying a long one would
/// take a long turn.
pub struct Slow {
    pub(super) command: Command,
    pub(super) ranges: Ranges,
    pub(super) request_bytes: usize,
    pub(super) why: Suspend,
}

impl Slow {
    /// Returns its length in bytes, which are consumed once it has run.
    pub fn request_bytes(&self) -> usize {
        self.request_bytes
    }
}

impl Session {
    /// Runs complete requests of `input`, within the bounds of a turn. Replies go to `output`.
    pub fn run_turn(&mut self, input: &[u8], ranges: &mut Ranges, output: &mut Output) -> Turn {
        let worker = self.worker.clone();
        let now = worker.engine.clock.now();
        let mut slow_bound_ns = worker.slow_bound_ns();
        let inside = worker.member.enter();
        let is_outside = inside.is_none();
        if let Some(next) = self.waits_before_turn(&worker, is_outside, now, output) {
            return Turn { used: 0, next };
        }
        let plain = Attempt { worker: &worker, needs: &RetryState::default(), raised: None, now, is_outside };
        let mut turn = TurnProgress { used: 0, requests: 0, lines: 0, began: Instant::now() };
        let mut began = turn.began;
        let mut retention = LockRetention::new(&worker.engine.keyspace, self.affinity.counted());
        let next = loop {
            if let Some(next) = self.ends_before_request(&turn, output) {
                break next;
            }
            let rest = &input[turn.used..];
            let (request_bytes, known) = match self.decode(rest, ranges, output) {
                Step::Request(request_bytes, known) => (request_bytes, known),
                step => match self.ends_without_request(&step, rest.len(), &mut turn) {
                    Some(next) => break next,
                    None => continue,
                },
            };
            turn.requests += 1;
            let args = ranges.args(rest);
            retention.begin(began, request_bytes < rest.len());
            let ran = self.request(&plain, &mut retention, known, &args, output);
            let ended = Instant::now();
            retention.end(&worker.executor, ended);
            let took_ns = ended.ns_since(std::mem::replace(&mut began, ended));
            self.note_run(&worker, &mut retention, &ran, &args);
            match ran {
                Ran::Done(command) => {
                    if matches!(command.run, Run::Session(_)) {
                        slow_bound_ns = worker.slow_bound_ns(); // The command may have set it.
                    }
                    self.count(&worker, slow_bound_ns, command, &args, Took { held_ns: took_ns, searched_ns: 0 });
                }
                Ran::Queued | Ran::Refused => {}
                Ran::Http => {
                    turn.used = input.len();
                    break Next::Http;
                }
                Ran::NotNow(command, why) => {
                    break Next::Slow(Box::new(Slow { command, ranges: ranges.take(), request_bytes, why }));
                }
            }
            turn.used += request_bytes;
            if self.ends_after_request(&turn, ended, input.len(), is_outside) {
                break Next::Again;
            }
        };
        self.affinity.note_turn(retention.end_turn(&worker.executor), held_shard(&worker, &next, &input[turn.used..]));
        self.end_turn(&worker);
        worker.counters().commands.add(turn.requests as u64);
        Turn { used: turn.used, next }
    }

    /// Returns the end of a turn that runs no further request.
    #[inline]
    fn ends_before_request(&mut self, turn: &TurnProgress, output: &mut Output) -> Option<Next> {
        if self.closing {
            return Some(Next::Close);
        }
        let is_full = turn.requests == TURN_REQUESTS_MAX || output.bytes_pending() > TURN_OUTPUT_BYTES_MAX;
        (is_full || self.may_have_messages() && self.take_messages(output)).then_some(Next::Again)
    }

    /// Returns true if others get their turn before the next request of the input, which has `input_bytes` in all.
    #[inline]
    fn ends_after_request(&self, turn: &TurnProgress, ended: Instant, input_bytes: usize, is_outside: bool) -> bool {
        let is_long = ended.ns_since(turn.began) / 1000 > TURN_US_MAX && turn.used < input_bytes;
        let must_leave = self.worker.engine.gate.is_raised() && !is_outside;
        is_long || must_leave || self.passwords.delay.is_some()
    }

    /// Shows monitors a request that ran, or will, and counts a script.
    #[inline]
    fn note_run(&self, worker: &Worker, retention: &mut LockRetention<'_>, ran: &Ran, args: &Args<'_>) {
        if worker.engine.monitors.any()
            && let Ran::Done(command) | Ran::NotNow(command, _) = ran
        {
            self.show_request(worker, command, args);
        }
        self.count_script(worker, retention, ran, args);
    }

    /// Counts a script for the affinity to a shard, if one is counted.
    #[inline]
    fn count_script(&self, worker: &Worker, retention: &mut LockRetention<'_>, ran: &Ran, args: &Args<'_>) {
        if let Ran::Done(command) | Ran::NotNow(command, Suspend::Locked(..)) = ran
            && command.calls_script()
            && self.affinity.counted().is_some()
        {
            retention.count_use(home_shard(worker, command, args));
        }
    }

    /// Takes a decoding step of the `rest_bytes` left that was no request. Returns the end of the turn, if it ends there.
    fn ends_without_request(&self, step: &Step, rest_bytes: usize, turn: &mut TurnProgress) -> Option<Next> {
        match *step {
            Step::Request(..) => None,
            Step::Done(line_bytes) => {
                turn.used += line_bytes;
                turn.lines += 1;
                (turn.lines == TURN_LINES_MAX || self.passwords.delay.is_some()).then_some(Next::Again)
            }
            Step::NeedMore(at_least) if at_least <= rest_bytes => {
                (Instant::now().ns_since(turn.began) / 1000 > TURN_US_MAX).then_some(Next::Again)
            }
            Step::NeedMore(at_least) => Some(Next::Input(at_least)),
            Step::Close => {
                turn.used += rest_bytes;
                Some(Next::Close)
            }
            Step::Http => {
                turn.used += rest_bytes;
                Some(Next::Http)
            }
        }
    }

    /// Runs one request as far as it goes at once; `plain` is an attempt without needs, `known` the command if the
    /// first word is not its name.
    #[inline]
    pub(super) fn request(
        &mut self,
        plain: &Attempt<'_>,
        retention: &mut LockRetention<'_>,
        known: Option<Command>,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Ran {
        let worker = plain.worker;
        let command = match known.map_or_else(|| registry::find(args), Lookup::Command) {
            Lookup::Command(command) => command,
            Lookup::Unknown if is_http_word(args.name()) => return Ran::Http,
            found => {
                let is_secret = self.is_locked() || commands::may_be_secret(args.name());
                return self.refuse(worker, None, output, &unknown(found, args, is_secret));
            }
        };
        if let Err(mut text) = self.check(&command, args) {
            if matches!(command.run, Run::Engine(Verb::Exec)) {
                self.end_multi();
                text = format!("EXECABORT Transaction discarded because of: {}", text.trim_start_matches("ERR "));
            }
            return self.refuse(worker, Some(command), output, &text);
        }
        if self.multi.is_some() && !runs_inside_multi(&command) {
            return self.queue(worker, command, args, output);
        }
        self.client.last_command.store(command.index() as u16 + 1, Relaxed);
        worker.beat().set_command(command.index());
        let (mark, before) = (output.mark(), self.reply_mode);
        if plain.is_outside && needs_inside(&command) {
            return Ran::NotNow(command, Suspend::Shards(Vec::new()));
        }
        let planned = self.needs(&command, args).and_then(|needs| Ok((needs, self.way(&command, args, false)?)));
        let (needs, way) = match planned {
            Ok((_, RequestWay::Gather)) => return Ran::NotNow(command, Suspend::OffLock(OffLock::Gather)),
            Ok(planned) => planned,
            Err(why) => return Ran::NotNow(command, why),
        };
        let is_verb = matches!(way, RequestWay::Verb(_));
        let in_place = is_verb && script::is_tried_in_place(&command);
        let result = if in_place && worker.runner.is_taken() {
            Err(Suspend::RunnerBusy)
        } else if is_verb && !in_place && self.needs_runner(&command) {
            retention.let_go(&worker.executor);
            self.begin_script(needs.map_or_else(RetryState::default, |needs| *needs), false, command, args, output).1
        } else {
            let attempt = Attempt { needs: needs.as_deref().unwrap_or(plain.needs), ..*plain };
            self.attempt(&attempt, way, retention, command, args, output)
        };
        match result {
            Ok(()) => {
                self.settle_run(&command, args, mark, before, output);
                Ran::Done(command)
            }
            Err(why) => Ran::NotNow(command, why),
        }
    }

    /// Makes the checks that every request must pass.
    pub(super) fn check(&self, command: &Command, args: &Args<'_>) -> Result<(), String> {
        if !self.authenticated && !command.has(Flag::NoAuth) {
            return Err("NOAUTH Authentication required.".to_owned());
        }
        if !command.arity.allows(args.len()) {
            return Err(wrong_arity(command));
        }
        if command.is_debug() && !commands::Session::may_debug(self) {
            return Err(DEBUG_REFUSED.to_owned());
        }
        if let Some(text) = worker_busy(&self.worker, command) {
            return Err(text.to_owned());
        }
        self.check_listening(command)
    }

    pub(super) fn refuse(&mut self, worker: &Worker, command: Option<Command>, output: &mut Output, text: &str) -> Ran {
        if let Some(multi) = &mut self.multi {
            multi.broken = true;
        }
        if let Some(command) = command {
            worker.counters().by_command[command.index()].rejected.add(1);
        }
        self.note_error(worker, text);
        let mark = output.mark();
        Encoder::new(output, self.protocol).error(text);
        if !self.port.is_resp() {
            self.settle_line(mark, output);
        }
        self.settle_reply(mark, self.reply_mode, output);
        Ran::Refused
    }

    /// Decodes the next request of `input`, its arguments into `ranges`.
    #[inline]
    pub(super) fn decode(&mut self, input: &[u8], ranges: &mut Ranges, output: &mut Output) -> Step {
        let Port::Resp(decoder) = &mut self.port else { return self.decode_line(input, ranges, output) };
        match decoder.step(input, ranges) {
            RespStep::Request { used } => Step::Request(used, None),
            RespStep::Empty { used } => Step::Done(used),
            RespStep::NeedMore { at_least } => Step::NeedMore(at_least),
            RespStep::Broken(error) => {
                Encoder::new(output, self.protocol).error(&format!("ERR {error}"));
                self.replies_held += 1;
                Step::Close
            }
            RespStep::Http => Step::Http,
        }
    }

    /// Returns what it does instead of a turn while the gate is up, or while it has written more than its share.
    #[inline]
    fn waits_before_turn(&mut self, worker: &Worker, is_outside: bool, now: Ms, output: &mut Output) -> Option<Next> {
        if is_outside && !worker.engine.scripts.is_busy() {
            return Some(Next::Gate);
        }
        self.client.last_ms.store(now, Relaxed);
        let journal = worker.engine.journal.as_ref().filter(|journal| journal.is_paced())?;
        self.waits_for_pace(journal, output)
    }

    /// Returns what it does instead of a turn while it has written more than its share.
    #[cold]
    #[inline(never)]
    fn waits_for_pace(&mut self, journal: &Journal, output: &mut Output) -> Option<Next> {
        self.count_growth(journal);
        let wait_ms = journal.pace_wait_ms(self.pace)?;
        // They do not wait for its own pace.
        let has_more = self.may_have_messages() && self.take_messages(output);
        Some(if has_more { Next::Again } else { Next::Paced(wait_ms) })
    }

    /// Ends what holds for many frames: the journal's writer is woken, and what was written is counted.
    #[inline]
    pub(super) fn end_turn(&mut self, worker: &Worker) {
        worker.executor.end_turn();
        if self.grown_bytes > 0
            && let Some(journal) = &worker.engine.journal
        {
            self.count_growth(journal);
        }
    }

    /// Counts what it has written since it was last counted: once for many requests, outside of all locks.
    #[cold]
    #[inline(never)]
    fn count_growth(&mut self, journal: &Journal) {
        let grown_bytes = std::mem::take(&mut self.grown_bytes);
        if grown_bytes > 0 {
            journal.note_paced(&mut self.pace, grown_bytes);
        }
    }

    /// Waits for its share of the pace, or for the time to look again.
    pub async fn paced(&self, wait_ms: Ms) {
        self.worker.sleep(wait_ms).await;
    }

    /// Waits until the gate is down.
    pub async fn gate_open(&self) {
        gate_open(&self.worker.engine.gate).await;
    }
}

/// Returns the error that refuses `command` while a script is busy.
#[inline]
fn worker_busy(worker: &Worker, command: &Command) -> Option<&'static str> {
    if !worker.engine.scripts.is_busy() || command.has(Flag::AllowBusy) {
        return None;
    }
    worker.engine.scripts.busy_text()
}

/// Returns true if a command may not run while the gate is up: all but those allowed while a script is busy.
fn needs_inside(command: &Command) -> bool {
    !command.has(Flag::AllowBusy) || matches!(command.run, Run::Engine(Verb::Watch))
}

/// Progress of a request.
pub(super) enum Ran {
    /// It completed.
    Done(Command),
    /// It was queued for EXEC.
    Queued,
    /// It was refused before it ran.
    Refused,
    /// A browser is speaking HTTP.
    Http,
    /// It has to wait.
    NotNow(Command, Suspend),
}

const DEBUG_REFUSED: &str = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you \
                             can run it from a local connection, otherwise you need to set this option in the \
                             configuration file, and then restart the server.";

/// Requests of the length of one that has to wait, itself among them: fewer bytes, and it is in no pipeline.
const PIPELINE_MIN: usize = 4;

/// Returns the shard for which a turn that writes has to wait in the middle of a pipeline; `rest` is not run yet.
fn held_shard(worker: &Worker, next: &Next, rest: &[u8]) -> Option<u16> {
    match next {
        Next::Slow(slow) if rest.len() >= PIPELINE_MIN * slow.request_bytes => match slow.why {
            Suspend::Locked(..) if slow.command.calls_script() => {
                home_shard(worker, &slow.command, &slow.ranges.args(rest))
            }
            Suspend::Locked(shard, Want::Write) => Some(shard as u16),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the shard at whose home a script finds those that it meets: that of its first key, unless it is declared to
/// read. O(keys).
fn home_shard(worker: &Worker, command: &Command, args: &Args<'_>) -> Option<u16> {
    let mut first = None;
    command.for_each_key(args, |key, want| {
        first.get_or_insert((key, want));
    });
    let (key, _) = first.filter(|(_, want)| *want == Want::Write)?;
    Some(keyspace::shard_of(worker.engine.keyspace.hash(key)) as u16)
}

/// Commands that MULTI does not queue.
fn runs_inside_multi(command: &Command) -> bool {
    matches!(command.run, Run::Engine(Verb::Exec | Verb::Discard | Verb::Multi | Verb::Watch))
        || command.has(Flag::NotQueued)
}

fn wrong_arity(command: &Command) -> String {
    format!("ERR wrong number of arguments for '{}' command", command.reported_name())
}

/// Maximum number of bytes of a request that an error repeats.
const REPEATED_BYTES_MAX: usize = 128;

/// Returns the error for a request that names no command. It repeats the arguments unless `is_hidden`.
fn unknown(found: Lookup, args: &Args<'_>, is_hidden: bool) -> String {
    let shown = |bytes: &[u8], most: usize| commands::repeated(&bytes[..bytes.len().min(most)]).into_owned();
    match found {
        Lookup::Container(name) if args.len() < 2 => {
            format!("ERR wrong number of arguments for '{}' command", name.to_ascii_lowercase())
        }
        Lookup::Container(name) => {
            format!("ERR unknown subcommand '{}'. Try {name} HELP.", shown(args.get(1), REPEATED_BYTES_MAX))
        }
        _ => {
            let mut words = String::new();
            for argument in args.from(1).iter() {
                let Some(left) = REPEATED_BYTES_MAX.checked_sub(words.len()).filter(|left| *left > 0) else { break };
                let word = if is_hidden { "(redacted)".to_owned() } else { shown(argument, left) };
                words.push_str(&format!("'{word}' "));
            }
            let name = shown(args.name(), REPEATED_BYTES_MAX);
            format!("ERR unknown command '{name}', with args beginning with: {words}")
        }
    }
}
