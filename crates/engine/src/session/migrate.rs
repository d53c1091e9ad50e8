//! MIGRATE: the session as a client of another server.
//!
//! ```text
//! WATCH --> DUMP each --> RESTORE each over there --> in EXEC: DEL each here --> OK
//!   ^                                                   | changed meanwhile
//!   `---------------------------------------------------'   once more, replacing the keys restored there
//! ```
//!
//! Nothing is held while waiting for the other server, yet all keys move at one instant: when they are deleted here,
//! unchanged. Their contents are sent from clones, in steps, as the connection accepts them.

use super::state::{Multi, Session};
use super::suspend::Suspend;
use crate::event_loop::OutboundConnection;
use crate::worker::Worker;
use base::Ms;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::{self, Command, Lookup};
use commands::{Failure, Migration};
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::rc::Rc;
use std::task::Poll;
use wire::client::{Parser, Value};
use wire::resp::{Protocol, request};
use wire::{Args, Output, OwnedRequest};

/// Restarts because keys have changed meanwhile, at most.
const ROUNDS_MAX: usize = 32;

/// A step of the exchange with the other server.
enum MigrateStep {
    Wrote(usize),
    Read(usize),
    TooLate,
}

/// The step at which a connection failed, in Redis's words.
#[derive(Clone, Copy)]
enum Broken {
    Connecting,
    Writing,
    Reading,
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Self::text(match broken {
            Broken::Connecting => "IOERR error or timeout connecting to the client",
            Broken::Writing => "IOERR error or timeout writing to target instance",
            Broken::Reading => "IOERR error or timeout reading to target instance",
        })
    }
}

impl Session {
    /// Runs a MIGRATE; returns its status reply.
    pub(super) async fn migrate(&mut self, worker: &Rc<Worker>, args: &Args<'_>) -> Result<&'static str, Failure> {
        let asked = commands::migrate_arguments(args)?;
        check_target(worker, &asked)?;
        // The client's own watches do not matter here.
        let watched = self.watched.take();
        let protocol = std::mem::replace(&mut self.protocol, Protocol::Resp2);
        let moved = self.move_keys(worker, &asked).await;
        self.unwatch();
        self.client.watching.store(watched.as_ref().map_or(0, |watched| watched.len()), Relaxed);
        self.watched = watched;
        self.protocol = protocol;
        moved
    }

    async fn move_keys(&mut self, worker: &Rc<Worker>, asked: &Migration) -> Result<&'static str, Failure> {
        let mut line = None;
        // Keys that this MIGRATE has put there.
        let mut put = BTreeSet::new();
        for round in 0..=ROUNDS_MAX {
            let mut sending = Output::new();
            let keys = self.dump_all(worker, asked, &put, &mut sending).await?;
            if keys.is_empty() && put.is_empty() {
                return Ok("NOKEY");
            }
            let line = match &mut line {
                Some(line) => line,
                None => line.insert(self.greet(worker, asked).await?),
            };
            // Removed there again, if they were deleted here, or change faster than they can be moved.
            let is_over = round == ROUNDS_MAX;
            let gone: Vec<&[u8]> = put.iter().filter(|key| is_over || !keys.contains(*key)).copied().collect();
            if !gone.is_empty() {
                let words: Vec<&[u8]> = std::iter::once(&b"DEL"[..]).chain(gone.iter().copied()).collect();
                exchange(worker, &mut **line, sent(&words), 1, asked.timeout_ms).await?;
                put.retain(|key| !gone.contains(key));
            }
            if is_over {
                return Err(Failure::text("ERR the keys change faster than they can be moved: all of them stay here"));
            }
            let replies = exchange(worker, &mut **line, sending, keys.len(), asked.timeout_ms).await?;
            let refusal = replies.iter().find_map(Value::as_error).map(refused);
            let taken = keys.iter().zip(&replies).filter(|(_, reply)| reply.as_error().is_none()).map(|(key, _)| *key);
            let taken: Vec<&[u8]> = taken.collect();
            if asked.copies || taken.is_empty() {
                return refusal.map_or(Ok("OK"), Err);
            }
            if self.delete_unchanged(worker, &taken).await? {
                return refusal.map_or(Ok("OK"), Err);
            }
            put.extend(taken);
        }
        unreachable!("the last round ends it")
    }

    /// Writes a RESTORE for each existing key; returns these keys. They are watched before they are read.
    async fn dump_all<'a>(
        &mut self,
        worker: &Rc<Worker>,
        asked: &'a Migration,
        put: &BTreeSet<&'a [u8]>,
        sending: &mut Output,
    ) -> Result<Vec<&'a [u8]>, Failure> {
        self.unwatch();
        let mut there = Vec::new();
        for key in asked.keys.iter().map(|key| &**key) {
            if there.contains(&key) {
                continue;
            }
            self.run_inside(worker, &[b"WATCH", key]).await;
            let Some(Value::Int(expires_at_ms)) = value_of(self.run_inside(worker, &[b"PEXPIRETIME", key]).await)
            else {
                continue;
            };
            if !asked.copies && holds_messages(value_of(self.run_inside(worker, &[b"Q.INFO", key]).await)) {
                return Err(Failure::text(HELD));
            }
            let dumped = self.run_inside(worker, &[b"DUMP", key]).await;
            match dumped.front() {
                Some([b'-', ..]) => return Err(error_of(dumped)),
                Some([b'$', b'-', ..]) => continue,
                _ => {}
            }
            let now = worker.engine.clock.now();
            let ttl_ms = if expires_at_ms < 0 { 0 } else { (expires_at_ms as Ms).saturating_sub(now).max(1) };
            let replaces = asked.replaces || put.contains(key);
            // The dump is already a bulk string, as an argument must be.
            sending.append(sent_head(4 + usize::from(replaces), &[b"RESTORE", key, ttl_ms.to_string().as_bytes()]));
            sending.append(dumped);
            if replaces {
                sending.append(bulks(&[b"REPLACE"]));
            }
            there.push(key);
        }
        Ok(there)
    }

    /// Connects and authenticates.
    async fn greet(&self, worker: &Worker, asked: &Migration) -> Result<Box<dyn OutboundConnection>, Failure> {
        let dialing = asked.port.and_then(|port| worker.dial(&asked.host, port));
        let mut dialing = dialing.ok_or(Broken::Connecting)?;
        let mut sleep = worker.sleep(asked.timeout_ms);
        let dialed = poll_fn(|context| match dialing.as_mut().poll(context) {
            Poll::Ready(result) => Poll::Ready(result.map_err(|error| match error.kind() {
                // Redis reports this when it writes.
                ErrorKind::ConnectionRefused => Broken::Writing,
                _ => Broken::Connecting,
            })),
            Poll::Pending => sleep.as_mut().poll(context).map(|()| Err(Broken::Connecting)),
        });
        let mut line = dialed.await?;
        let mut sending = Output::new();
        let mut replies_count = 1;
        if !asked.secret.is_empty() {
            let words: Vec<&[u8]> =
                std::iter::once(&b"AUTH"[..]).chain(asked.secret.iter().map(|word| &**word)).collect();
            sending.append(sent(&words));
            replies_count += 1;
        }
        sending.append(sent(&[b"SELECT", asked.database.to_string().as_bytes()]));
        let replies = exchange(worker, &mut *line, sending, replies_count, asked.timeout_ms).await?;
        replies.iter().find_map(Value::as_error).map_or(Ok(line), |error| Err(refused(error)))
    }

    /// Deletes keys here at one instant, unless a watched one has changed. Returns true if it has deleted them.
    async fn delete_unchanged(&mut self, worker: &Rc<Worker>, keys: &[&[u8]]) -> Result<bool, Failure> {
        let words: Vec<&[u8]> = std::iter::once(&b"DEL"[..]).chain(keys.iter().copied()).collect();
        let queue = vec![(row_of(&[b"DEL", b"k"]), OwnedRequest::of(&words))];
        self.multi = Some(Box::new(Multi { queue, ..Multi::default() }));
        let ended = self.run_inside(worker, &[b"EXEC"]).await;
        if ended.front().is_some_and(|bytes| bytes[0] == b'-') {
            self.end_multi();
            return Err(error_of(ended));
        }
        Ok(value_of(ended) != Some(Value::NullArray))
    }

    /// Runs a request of its own as if the client had sent it.
    async fn run_inside(&mut self, worker: &Rc<Worker>, words: &[&[u8]]) -> Output {
        let request = OwnedRequest::of(words);
        let mut output = Output::new();
        // Neither a missing requirement nor a wait: it is tried at once.
        let why = Suspend::Shards(Vec::new());
        Box::pin(self.run_until_done(worker, row_of(words), &request.args(), why, &mut output)).await;
        output
    }
}

/// Checks the target: a server that connects anywhere for a client exposes its network, with bytes that the client
/// chooses.
fn check_target(worker: &Worker, asked: &Migration) -> Result<(), Failure> {
    let Some(port) = asked.port else { return Ok(()) };
    if worker.settings().migrate_targets.allow(&asked.host, port) {
        return Ok(());
    }
    let host = if asked.host.contains(':') { format!("[{}]", asked.host) } else { asked.host.clone() };
    Err(Failure::text(format!(
        "ERR MIGRATE to {host}:{port} is not allowed: the setting migrate-targets does not list it. Start the server with \
         --migrate-targets {host}:{port} to allow it"
    )))
}

fn row_of(words: &[&[u8]]) -> Command {
    match registry::find(&OwnedRequest::of(words).args()) {
        Lookup::Command(command) => command,
        _ => unreachable!("only commands there are, are run inside"),
    }
}

/// Encodes a request.
fn sent(words: &[&[u8]]) -> Output {
    let mut bytes = Vec::new();
    request(&mut bytes, OwnedRequest::of(words).args());
    raw(&bytes)
}

/// Encodes the beginning of a request with `count` arguments.
fn sent_head(count: usize, words: &[&[u8]]) -> Output {
    let mut head = raw(format!("*{count}\r\n").as_bytes());
    head.append(bulks(words));
    head
}

fn bulks(words: &[&[u8]]) -> Output {
    let mut output = Output::new();
    let mut encoder = wire::resp::Encoder::new(&mut output, Protocol::Resp2);
    words.iter().for_each(|word| wire::Reply::bulk(&mut encoder, word));
    output
}

fn raw(bytes: &[u8]) -> Output {
    let mut output = Output::new();
    output.give_buffer(Vec::with_capacity(bytes.len()));
    output.append_bytes(bytes);
    output
}

/// Why a queue is not moved: as a list it would lose these messages.
const HELD: &str = "ERR the queue has leased, delayed or buried messages, which cannot be moved; use COPY";

/// Returns true if a Q.INFO reply describes a queue that holds messages.
fn holds_messages(reply: Option<Value>) -> bool {
    let Some(Value::Array(fields)) = reply else { return false };
    let is_of_state = |name: &Value| {
        let Value::Bulk(name) = name else { return false };
        [&b"leased"[..], b"delayed", b"buried", b"dead"].contains(&&name[..])
    };
    let is_some = |count: &Value| *count != Value::Int(0);
    fields.chunks_exact(2).any(|pair| is_of_state(&pair[0]) && is_some(&pair[1]))
}

/// Parses a short reply.
fn value_of(mut output: Output) -> Option<Value> {
    let mut parser = Parser::new();
    while let Some(bytes) = output.front() {
        let count = bytes.len();
        parser.feed(bytes);
        output.consume(count);
    }
    parser.next_value().ok().flatten()
}

fn error_of(output: Output) -> Failure {
    let value = value_of(output);
    Failure::text(value.as_ref().and_then(Value::as_error).unwrap_or("ERR internal: a reply without end").to_owned())
}

/// Wraps an error of the other server for the client.
fn refused(error: &str) -> Failure {
    Failure::text(format!("ERR Target instance replied with error: {error}"))
}

/// Sends all of `sending` and reads this many replies. The other server may pause for `timeout_ms` between two steps.
async fn exchange(
    worker: &Worker,
    line: &mut dyn OutboundConnection,
    mut sending: Output,
    replies_count: usize,
    timeout_ms: Ms,
) -> Result<Vec<Value>, Broken> {
    let (mut parser, mut replies) = (Parser::new(), Vec::new());
    let mut buffer = vec![0; 4096];
    let mut sleep = worker.sleep(timeout_ms);
    loop {
        let shall_rest = sending.fill_some();
        if let Some(spent) = sending.take_spent() {
            worker.engine.deferred_drop.free(Box::new(spent));
        }
        if shall_rest {
            worker.long_turn().await;
            continue;
        }
        let is_sent = sending.front().is_none();
        if is_sent && replies.len() >= replies_count {
            return Ok(replies);
        }
        let broken = if is_sent { Broken::Reading } else { Broken::Writing };
        let step = poll_fn(|context| {
            if let Some(bytes) = sending.front()
                && let Poll::Ready(wrote) = line.poll_write(context, bytes)
            {
                return Poll::Ready(wrote.ok().filter(|count| *count > 0).map(MigrateStep::Wrote));
            }
            if let Poll::Ready(read) = line.poll_read(context, &mut buffer) {
                return Poll::Ready(read.ok().filter(|count| *count > 0).map(MigrateStep::Read));
            }
            sleep.as_mut().poll(context).map(|()| Some(MigrateStep::TooLate))
        });
        match step.await.ok_or(broken)? {
            MigrateStep::Wrote(count) => sending.consume(count),
            MigrateStep::Read(count) => {
                parser.feed(&buffer[..count]);
                while let Some(reply) = parser.next_value().map_err(|_| Broken::Reading)? {
                    replies.push(reply);
                }
            }
            MigrateStep::TooLate => return Err(broken),
        }
        sleep = worker.sleep(timeout_ms);
        worker.long_turn().await;
    }
}
