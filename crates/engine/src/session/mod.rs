//! A session: one connection, from request bytes to reply bytes.
//!
//! ```text
//! input --run_turn--> request --attempt--> reply in output      all at once: no await, no lock kept
//!                        |
//!                        `-- Suspend --> Next::Slow --run_slowly--> park, wait, gate, sweep    awaits
//! ```
//!
//! A turn ends after [`TURN_REQUESTS_MAX`] requests, after [`TURN_US_MAX`], or when enough output is pending.

mod attempt;
#[cfg(bobbin_canary = "lockless-pop")]
mod canary;
mod catalogue;
mod element_wait;
mod exec;
mod flush;
mod gather;
mod host;
mod in_parts;
mod lease;
mod library;
mod library_list;
mod memcached;
mod memcacheq;
mod messages;
mod migrate;
mod monitor;
mod off_lock;
mod order;
mod parts;
mod password;
mod port;
mod script;
mod slow;
mod speculate;
mod suspend;
mod sweep;
mod tracking;
mod unless_short;
mod watch;

pub(crate) use attempt::RetryState;
pub(crate) use flush::Flushes;
pub(crate) use lease::Leases;
pub(crate) use memcached::Count as ItemCount;
pub use password::AuthDelay;
pub(crate) use script::Scripted;
pub(crate) use suspend::Suspend;

use crate::client::Client;
use crate::executor::LockRetention;
use crate::script::runner::Yielder;
use crate::tracking::Own;
use crate::worker::Worker;
use attempt::{Attempt, RequestWay};
use base::Position;
use base::instant::Instant;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::{self, Command, Lookup};
use commands::{Failure, Flag, ReplyMode, Run, Verb};
use messages::{Outbox, Subscriptions};
use off_lock::OffLock;
use password::Passwords;
use port::{Port, Step};
use slow::Took;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use sync::notifier::Level;
use tracking::Tracking;
use watch::WatchedKeys;
use wire::http::is_http_word;
use wire::resp::{Encoder, Protocol};
use wire::{Args, Output, OwnedRequest, Ranges, Reply};

/// Maximum number of requests of one connection per turn.
const TURN_REQUESTS_MAX: usize = 256;
/// Maximum number of memcached lines per turn that run no command, such as the one after each get.
const TURN_LINES_MAX: usize = 512;
/// Maximum length of a turn in microseconds; a request that has begun is finished.
const TURN_US_MAX: u128 = 500;
/// A turn ends when this many bytes of output are pending.
const TURN_OUTPUT_BYTES_MAX: usize = 1 << 20;

/// One connection.
pub struct Session {
    worker: Rc<Worker>,
    client: Arc<Client>,
    port: Port,
    database: u32,
    protocol: Protocol,
    authenticated: bool,
    passwords: Passwords,
    reply_mode: ReplyMode,
    durable_always: bool,
    closing: bool,
    /// The greatest position that any unsent reply has seen.
    watermark: Position,
    /// The number of unsent replies in the output.
    replies_held: usize,
    /// Like the watermark, for messages that wait whatever the policy.
    strict_watermark: Position,
    subscriptions: Option<Box<Subscriptions>>,
    tracking: Option<Box<Tracking>>,
    /// Pushes caused by its own request, sent along with the reply.
    own_pushes: Vec<Own>,
    /// Messages published inside a running EXEC.
    outbox: Option<Box<Outbox>>,
    multi: Option<Box<Multi>>,
    watched: Option<Box<WatchedKeys>>,
    /// The connection receives item events.
    shows_items: bool,
    /// It stands in for a session that is running on its worker's script runner.
    is_stand_in: bool,
    /// Lets a script yield to others. `None` when a script runs in place.
    yielder: Option<Rc<Yielder>>,
    /// The requirement missing from a script's tx, which is to be undone.
    lack: Option<Suspend>,
    /// Why a script admitted only to read cannot write.
    unwritable: Option<&'static str>,
}

/// Requests between MULTI and EXEC.
#[derive(Default)]
struct Multi {
    queue: Vec<(Command, OwnedRequest)>,
    /// Memory used by the queue.
    bytes: u64,
    /// A request could not be queued: EXEC refuses.
    broken: bool,
    /// The total of its DEBUG SLEEPs in milliseconds: EXEC waits this long before it takes any lock.
    delay_ms: base::Ms,
}

/// Result of a turn.
pub struct Turn {
    /// Bytes of the input that have been consumed.
    pub used: usize,
    /// The next step.
    pub next: Next,
}

/// Next action of a connection after a turn.
pub enum Next {
    /// Waits until the input has at least this many bytes in all, unconsumed ones included.
    Input(usize),
    /// Has more to do at once, after others had their turn.
    Again,
    /// Waits for the gate with [`Session::gate_open_or_busy`], then runs another turn.
    Gate,
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
    command: Command,
    ranges: Ranges,
    request_bytes: usize,
    why: Suspend,
}

impl Slow {
    /// Returns its length in bytes, which are consumed once it has run.
    pub fn request_bytes(&self) -> usize {
        self.request_bytes
    }
}

impl Session {
    /// Creates the session of `client`, served by `worker`.
    pub fn new(worker: Rc<Worker>, client: Arc<Client>) -> Self {
        let authenticated = worker.settings().requirepass.is_none();
        Self {
            worker,
            client,
            port: Port::resp(authenticated),
            database: 0,
            protocol: Protocol::Resp2,
            authenticated,
            passwords: Passwords::default(),
            reply_mode: ReplyMode::On,
            durable_always: false,
            closing: false,
            watermark: 0,
            replies_held: 0,
            strict_watermark: 0,
            subscriptions: None,
            tracking: None,
            own_pushes: Vec::new(),
            outbox: None,
            multi: None,
            watched: None,
            shows_items: false,
            is_stand_in: false,
            yielder: None,
            lack: None,
            unwritable: None,
        }
    }

    /// Creates a session through which the server itself makes requests.
    fn of_server(worker: &Rc<Worker>, database: u32) -> Self {
        let mut session = Self::new(worker.clone(), Arc::new(Client::of_server(worker.engine.clock.now())));
        session.is_stand_in = true;
        session.database = database;
        session
    }

    /// Returns the client as other connections see it.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }

    /// Runs complete requests of `input`, within the bounds of a turn. Replies go to `output`.
    pub fn run_turn(&mut self, input: &[u8], ranges: &mut Ranges, output: &mut Output) -> Turn {
        let worker = self.worker.clone();
        let now = worker.engine.clock.now();
        let mut slow_bound_ns = worker.slow_bound_ns();
        let counters = worker.counters();
        let inside = worker.member.enter();
        if inside.is_none() && !worker.engine.scripts.is_busy() {
            return Turn { used: 0, next: Next::Gate };
        }
        self.client.last_ms.store(now, Relaxed);
        let is_outside = inside.is_none();
        let plain = Attempt { worker: &worker, needs: &RetryState::default(), raised: None, now, is_outside };
        let turn_began = Instant::now();
        let mut began = turn_began;
        let mut retention = LockRetention::new(&worker.engine.keyspace);
        let mut used = 0;
        let (mut requests, mut lines) = (0, 0);
        let next = loop {
            if self.closing {
                break Next::Close;
            }
            if requests == TURN_REQUESTS_MAX || output.bytes_pending() > TURN_OUTPUT_BYTES_MAX {
                break Next::Again;
            }
            if self.may_have_messages() && self.take_messages(output) {
                break Next::Again;
            }
            let rest = &input[used..];
            let (request_bytes, known) = match self.decode(rest, ranges, output) {
                Step::Request(request_bytes, known) => (request_bytes, known),
                Step::Done(line_bytes) => {
                    used += line_bytes;
                    lines += 1;
                    if lines == TURN_LINES_MAX || self.passwords.delay.is_some() {
                        break Next::Again;
                    }
                    continue;
                }
                Step::NeedMore(at_least) if at_least <= rest.len() => {
                    if turn_began.elapsed().as_micros() > TURN_US_MAX {
                        break Next::Again;
                    }
                    continue;
                }
                Step::NeedMore(at_least) => break Next::Input(at_least),
                Step::Over(next) => {
                    used = input.len();
                    break next;
                }
            };
            requests += 1;
            let args = ranges.args(rest);
            retention.begin(began, request_bytes < rest.len());
            let ran = self.request(&plain, &mut retention, known, &args, output);
            let ended = Instant::now();
            retention.end(&worker.executor, ended);
            let took = ended - began;
            began = ended;
            if worker.engine.monitors.any() {
                self.show_request(&worker, &ran, &args);
            }
            match ran {
                Ran::Done(command) => {
                    if matches!(command.run, Run::Session(_)) {
                        // The command may have changed it.
                        slow_bound_ns = worker.slow_bound_ns();
                    }
                    self.count(&worker, slow_bound_ns, command, &args, Took { held: took, searched: Duration::ZERO });
                }
                Ran::Queued | Ran::Refused => {}
                Ran::Http => {
                    used = input.len();
                    break Next::Http;
                }
                Ran::NotNow(command, why) => {
                    break Next::Slow(Box::new(Slow { command, ranges: ranges.take(), request_bytes, why }));
                }
            }
            used += request_bytes;
            let is_long = (ended - turn_began).as_micros() > TURN_US_MAX && used < input.len();
            if is_long || self.passwords.delay.is_some() {
                break Next::Again;
            }
            if worker.engine.gate.is_raised() && !is_outside {
                break Next::Again;
            }
        };
        retention.let_go(&worker.executor);
        worker.executor.end_turn();
        counters.commands.add(requests as u64);
        Turn { used, next }
    }

    /// Runs one request as far as it goes at once; `plain` is an attempt without needs, `known` the command if the
    /// first word is not its name.
    #[inline]
    fn request(
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
                return self.refuse(
                    worker,
                    None,
                    output,
                    &unknown(found, args, self.is_locked() || commands::may_be_secret(args.name())),
                );
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
        let needs = match self.needs(&command, args) {
            Ok(needs) => needs,
            Err(why) => return Ran::NotNow(command, why),
        };
        let way = match self.way(&command, args, false) {
            Ok(RequestWay::Gather) => return Ran::NotNow(command, Suspend::OffLock(OffLock::Gather)),
            Ok(way) => way,
            Err(why) => return Ran::NotNow(command, why),
        };
        let in_place = script::is_tried_in_place(&command);
        let result = if in_place && worker.runner.is_taken() {
            Err(Suspend::RunnerBusy)
        } else if !in_place && self.needs_runner(&command) {
            retention.let_go(&worker.executor);
            self.begin_script(needs.unwrap_or_default(), false, command, args, output).1
        } else {
            let attempt = Attempt { needs: needs.as_ref().unwrap_or(plain.needs), ..*plain };
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
    fn check(&self, command: &Command, args: &Args<'_>) -> Result<(), String> {
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

    fn refuse(&mut self, worker: &Worker, command: Option<Command>, output: &mut Output, text: &str) -> Ran {
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

    /// Like [`Session::settle_reply`], for a request that ran. A subscription's reply is a message, which is always
    /// sent.
    fn settle_run(
        &mut self,
        command: &Command,
        args: &Args<'_>,
        mark: wire::Mark,
        before: ReplyMode,
        output: &mut Output,
    ) {
        if !self.port.is_resp() {
            self.count_line(command, args, mark, output);
            self.settle_line(mark, output);
        }
        if messages::subscribes(command) {
            self.replies_held += 1;
            if before == ReplyMode::Skip {
                self.reply_mode = ReplyMode::On;
            }
        } else {
            self.settle_reply(mark, before, output);
        }
        if self.tracking.is_some() || !self.own_pushes.is_empty() {
            self.settle_tracking(command, mark, output);
        }
    }

    /// CLIENT REPLY: keeps or discards the output after `mark`, written by a request that began in mode `before`.
    fn settle_reply(&mut self, mark: wire::Mark, before: ReplyMode, output: &mut Output) {
        match (before, self.reply_mode) {
            // Set by this very request, which writes nothing.
            (ReplyMode::On | ReplyMode::Off, ReplyMode::Skip) => {}
            (ReplyMode::Skip, ReplyMode::Skip) => {
                output.truncate(mark);
                self.reply_mode = ReplyMode::On;
            }
            (_, ReplyMode::Off) => output.truncate(mark),
            (_, ReplyMode::On) => self.replies_held += 1,
        }
    }

    fn count(&self, worker: &Worker, slow_bound_ns: u64, command: Command, args: &Args<'_>, took: Took) {
        let held_ns = took.held.as_nanos() as u64;
        let took_ns = held_ns + took.searched.as_nanos() as u64;
        let counters = &worker.counters().by_command[command.index()];
        counters.calls.add(1);
        counters.took_ns.add(took_ns);
        counters.latency.add(took_ns);
        if holds_shards(&command, args) {
            // The time of the whole attempt, locks included, so never too low.
            worker.executor.note_hold_ns(held_ns);
        }
        if took_ns >= slow_bound_ns && !command.has(Flag::SkipSlowlog) {
            self.note_slow(worker, &command, args, took_ns / 1000);
        }
        if took_ns >= SPIKE_NS_MIN {
            note_spike(worker, command, took_ns / SPIKE_NS_MIN);
        }
    }

    #[cold]
    fn note_slow(&self, worker: &Worker, command: &Command, args: &Args<'_>, took_us: u64) {
        let entry = commands::SlowEntry {
            id: 0,
            at_s: worker.engine.clock.wall() / 1000,
            took_us,
            arguments: crate::slowlog::shortened(command, args),
            address: self.client.address.to_string(),
            name: self.client.attributes().name,
        };
        worker.engine.slowlog.push(entry, worker.settings().slowlog_entries_max);
    }

    /// Returns true if the pending output may be written now.
    pub fn may_write(&self) -> bool {
        let engine = &self.worker.engine;
        engine.may_leave(self.watermark, self.durable_always) && engine.may_leave(self.strict_watermark, true)
    }

    /// Ready once [`Session::may_write`] holds; `false` if it never will: then the replies must not be written, and
    /// [`Session::fail_held`] replaces them.
    pub fn poll_may_write(&self, context: &mut Context<'_>) -> Poll<bool> {
        if self.may_write() {
            return Poll::Ready(true);
        }
        let Some(journal) = &self.worker.engine.journal else { return Poll::Ready(true) };
        let level = if self.durable_always { Level::Durable } else { journal.level() };
        let (level, position) = match self.worker.engine.may_leave(self.watermark, self.durable_always) {
            false => (level, self.watermark),
            true => (Level::Durable, self.strict_watermark),
        };
        self.worker.poll_reached(level, position, context)
    }

    /// Records and returns how many bytes the client's output holds or pins, which count against its limit.
    pub fn note_waiting(&self, output: &Output) -> u64 {
        let (pending_bytes, pinned_bytes) = (output.bytes_pending(), output.pinned_bytes());
        self.client.output_bytes.store(pending_bytes, Relaxed);
        self.worker.engine.clients.note_pinned(&self.client, pinned_bytes);
        pending_bytes as u64 + pinned_bytes + self.client.waiting_message_bytes()
    }

    /// Notes that all replies in the output have been handed to the socket.
    pub fn note_written(&mut self) {
        self.replies_held = 0;
    }

    /// Replaces the replies that will never be durable by the same number of errors.
    pub fn fail_held(&mut self, output: &mut Output) {
        self.worker.engine.deferred_drop.free(Box::new(std::mem::take(output)));
        for _ in 0..std::mem::take(&mut self.replies_held) {
            Encoder::new(output, self.protocol).error(POISONED);
        }
        self.closing = true;
        (self.watermark, self.strict_watermark) = (0, 0);
    }

    /// Returns true if the connection is to be closed once its output has been written.
    pub fn is_closing(&self) -> bool {
        self.closing
    }

    /// Waits until the gate is down.
    pub fn poll_gate_open(&self, context: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        let gate = &self.worker.engine.gate;
        if !gate.is_raised() {
            return std::task::Poll::Ready(());
        }
        gate.wait_open(context.waker());
        if gate.is_raised() { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_stand_in {
            return;
        }
        self.drop_queue();
        self.unwatch();
        self.untrack();
        self.end_monitor();
        self.worker.leases.let_all_go(self.client.id);
        self.leave();
        self.worker.engine.clients.remove(self.client.id);
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
enum Ran {
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

/// Returns true if all of a command's time counts as holding shards; for sweeps, gathers and WATCH only each look does.
fn holds_shards(command: &Command, args: &Args<'_>) -> bool {
    match command.run {
        Run::Gather { .. } => args.len() <= gather::ARGUMENTS_MAX,
        Run::Local(_) => !parts::has_many_keys(command, args),
        Run::Blocking { .. } | Run::Gate(_) | Run::Engine(Verb::Exec | Verb::Eval | Verb::Library(_)) => true,
        Run::Sweep(_) | Run::Range { .. } | Run::Session(_) | Run::Parts { .. } | Run::Engine(_) => false,
    }
}

/// The error in place of a reply that will never be durable.
const POISONED: &str = "MISCONF the journal could not be written or synced: nothing more becomes durable. See the log, \
                        repair the disk and restart";

const DEBUG_REFUSED: &str = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you \
                             can run it from a local connection, otherwise you need to set this option in the \
                             configuration file, and then restart the server.";

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

/// Writes a failure as an error reply, without counting it.
fn write_failure(output: &mut Output, protocol: Protocol, failure: &Failure) {
    Encoder::new(output, protocol).error(&failure.to_string());
}

/// The smallest `latency-monitor-threshold`: one millisecond.
const SPIKE_NS_MIN: u64 = 1_000_000;

#[cold]
fn note_spike(worker: &Worker, command: Command, took_ms: u64) {
    let event = if command.has(Flag::Fast) { "fast-command" } else { "command" };
    worker.engine.note_spike(event, took_ms);
}
