//! Calls of SQL: a thread for each connection, as drivers block.
//!
//! ```text
//! say = "insert into kv values ('key:{next:12}', {payload}) ; select 1", bytes = 3
//!
//!   statement 1   insert into kv values ('key:............', | 'nnn' | )     digits patched, payload between quotes
//!   statement 2   select 1                                                   one after another on one connection
//! ```
//!
//! The plan, the numbers of calls, the pace and the figures are those of the other protocols. Two things differ.
//! Statements of a call are sent one by one, as applications do, so there are no pipelines. And when the time is over,
//! calls under way are awaited and count, so that no statement of one case goes on in the next: one may take many
//! seconds. Each connection then has its own time, until its last reply, and the rate is the sum of the rates of all
//! connections.

use super::check::ReplyVerdict;
use super::pace::{Handout, Pace};
use super::plan::{CallLine, CallPlan, Expect, PAYLOAD, PartyPlan};
use super::refusal::Refusal;
use super::template::{DIGITS, Template};
use super::worker::{Ending, ThreadTimes, drawn_line, histogram, waited_for_core};
use super::{MeasuredCalls, OTHER_FILES, SecondOfCalls, is_limit, noise};
use crate::contents::{below, mixed};
use crate::load::allow_open_files;
use crate::protocol::Protocol;
use crate::sql::{DATABASE, STATEMENT_END, SqlClient, SqlReply};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum interval between checks of the stop flag and the time while no call is due.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// A thread's stack is small, since there may be thousands.
const STACK_BYTES: usize = 512 * 1024;
/// The part of an unexpected reply that an error shows.
const SHOWN_BYTES_MAX: usize = 200;

/// State that all threads share.
struct Shared<'a> {
    address: SocketAddr,
    parties: Vec<SqlParty>,
    noise: Vec<u8>,
    pace: Option<Pace>,
    duration: Option<Duration>,
    limit: Duration,
    stop: &'a AtomicBool,
    is_failed: AtomicBool,
    refusal: Refusal,
}

struct SqlParty {
    lines: Vec<SqlLine>,
    percents: Vec<u64>,
    calls_per_connection: u64,
    handout: Handout,
}

/// A line with its statements and the check of its replies.
struct SqlLine {
    line: CallLine,
    /// The whole line, for its text and its first number.
    whole: Template,
    /// The parts of each statement; the payload is between two of them.
    statements: Vec<Vec<Template>>,
    payload_bytes: usize,
    /// The reply that all others must equal.
    first: OnceLock<Vec<u8>>,
}

/// A thread: one connection, and what it measured.
struct Caller<'a> {
    shared: &'a Shared<'a>,
    begin: Instant,
    client: Option<SqlClient>,
    /// Calls made since the connection was opened.
    made: u64,
    statement: Vec<u8>,
    payload: Vec<u8>,
    reply: SqlReply,
    done: Done,
}

/// The measurements of a thread.
struct Done {
    party: usize,
    /// Microseconds of each call.
    latency_us: Vec<u64>,
    /// The time until the last reply.
    last: Duration,
    found_nothing: u64,
    /// Calls answered in each second.
    timeline: Vec<u64>,
    ending: Ending,
    times: ThreadTimes,
}

/// Makes the calls of a plan.
///
/// # Errors
/// A statement failed, a reply is not as expected, or the limit has passed.
pub(super) fn run(
    plan: CallPlan,
    address: SocketAddr,
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<MeasuredCalls> {
    let requests = plan.requests;
    let used = |party: &PartyPlan| party.connections_used(requests);
    let connections: Vec<u64> = plan.parties.iter().map(used).collect();
    allow_open_files(connections.iter().sum::<u64>() + OTHER_FILES).map_err(io::Error::other)?;
    let shared = Shared::new(plan, address, limit, stop)?;
    let mut callers = Vec::new();
    for (party, connections) in connections.iter().enumerate() {
        for _ in 0..*connections {
            callers.push(Caller::new(&shared, party)?);
        }
    }
    let begin = Instant::now();
    let done = thread::scope(|scope| {
        let run = |caller: Caller<'_>| {
            let done = caller.run(begin);
            if done.is_err() {
                shared.is_failed.store(true, Ordering::Relaxed);
            }
            done
        };
        let start = |caller| thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || run(caller));
        let threads: Vec<_> = callers.into_iter().map(start).collect();
        if threads.iter().any(Result::is_err) {
            shared.is_failed.store(true, Ordering::Relaxed);
        }
        let ended = threads.into_iter().map(|thread| thread?.join().expect("a caller does not panic"));
        ended.collect::<Vec<_>>().into_iter().collect::<io::Result<Vec<Done>>>()
    })?;
    if done.iter().any(|part| part.ending == Ending::LimitPassed) {
        let calls = |party| of_party(&done, party).map(|part| part.latency_us.len()).sum::<usize>().to_string();
        let calls: Vec<String> = (0..connections.len()).map(calls).collect();
        return Err(io::Error::other(format!("{} of {requests} calls in time", calls.join(" and "))));
    }
    Ok(MeasuredCalls { refusal: shared.refusal.into_text(), ..merged(&done, connections.len()) })
}

fn of_party(done: &[Done], party: usize) -> impl Iterator<Item = &Done> + Clone {
    done.iter().filter(move |part| part.party == party)
}

fn merged(done: &[Done], parties: usize) -> MeasuredCalls {
    let mut latency_us = histogram();
    let mut seconds: Vec<u64> = Vec::new();
    for part in done {
        part.latency_us.iter().for_each(|us| latency_us.saturating_record(*us));
        seconds.resize(seconds.len().max(part.timeline.len()), 0);
        seconds.iter_mut().zip(&part.timeline).for_each(|(sum, calls)| *sum += calls);
    }
    let (calls, elapsed) = calls_in_time(done.iter());
    MeasuredCalls {
        calls,
        elapsed,
        latency_us,
        found_nothing: done.iter().map(|part| part.found_nothing).sum(),
        // Calls under way at the end count.
        late_calls: 0,
        own_cpu_us: done.iter().map(|part| part.times.ran).sum::<Duration>().as_micros() as u64,
        parties: (0..parties).map(|party| calls_in_time(of_party(done, party))).collect(),
        timeline: (0..).zip(seconds).map(|(second, calls)| SecondOfCalls { second, calls }).collect(),
        limited_by_generator: is_limit(done.iter().map(|part| part.times)),
        refusal: None,
    }
}

/// Returns the calls of some connections and the time that they took: until the last reply, or, when the time was over
/// before all calls were made, such that calls by time is the sum of the rates of all connections.
fn calls_in_time<'a>(done: impl Iterator<Item = &'a Done> + Clone) -> (u64, Duration) {
    let calls = done.clone().map(|part| part.latency_us.len() as u64).sum::<u64>();
    let last = done.clone().map(|part| part.last).max().unwrap_or_default();
    if calls == 0 || done.clone().all(|part| part.ending == Ending::Complete) {
        return (calls, last);
    }
    let rate = |part: &Done| part.latency_us.len() as f64 / part.last.as_secs_f64().max(1e-6);
    (calls, Duration::from_secs_f64(calls as f64 / done.map(rate).sum::<f64>()))
}

impl<'a> Shared<'a> {
    fn new(plan: CallPlan, address: SocketAddr, limit: Duration, stop: &'a AtomicBool) -> io::Result<Self> {
        let CallPlan { parties, requests, items, duration, pace, until_refused, .. } = plan;
        let of_party = |party: PartyPlan| {
            if party.pipeline > 1 {
                return Err(io::Error::other("statements of SQL have no pipelines"));
            }
            Ok(SqlParty {
                percents: party.lines.iter().map(|line| line.percent).collect(),
                lines: party.lines.into_iter().map(|line| SqlLine::new(line, items)).collect::<io::Result<_>>()?,
                calls_per_connection: party.calls_per_connection,
                handout: Handout::new(requests),
            })
        };
        let parties: Vec<SqlParty> = parties.into_iter().map(of_party).collect::<io::Result<_>>()?;
        let longest = parties.iter().flat_map(|party| &party.lines).map(|line| line.payload_bytes).max();
        let noise = noise(longest.unwrap_or(0));
        let (is_failed, refusal) = (AtomicBool::new(false), Refusal::new(until_refused));
        Ok(Self { address, parties, noise, pace, duration, limit, stop, is_failed, refusal })
    }

    fn connect(&self) -> io::Result<SqlClient> {
        SqlClient::connect(self.address, Some(DATABASE), self.limit)
    }
}

impl SqlLine {
    fn new(line: CallLine, items: u64) -> io::Result<Self> {
        let payload_bytes = line.payload_bytes;
        if line.say.contains(PAYLOAD) != payload_bytes.is_some() {
            return Err(io::Error::other(format!("`{}` needs both {PAYLOAD} and `bytes`, or neither", line.say)));
        }
        let template = |say: &str| Template::new(Protocol::Sql, say, None, items);
        let parts = |statement: &str| statement.split(PAYLOAD).map(template).collect();
        Ok(Self {
            whole: template(&line.say),
            statements: line.say.split(STATEMENT_END).map(parts).collect(),
            payload_bytes: payload_bytes.unwrap_or(0) as usize,
            line,
            first: OnceLock::new(),
        })
    }

    /// Puts the payload of a call into `payload`, between quotes.
    fn put_payload(&self, payload: &mut Vec<u8>, call: u64, noise: &[u8]) {
        let bytes = self.payload_bytes;
        let begin = below(mixed(mixed(call)), (noise.len() - bytes) as u64 + 1) as usize;
        payload.clear();
        payload.push(b'\'');
        payload.extend_from_slice(&noise[begin..begin + bytes]);
        payload.push(b'\'');
        if let Some(own) = self.whole.own_digits(call).filter(|_| bytes >= DIGITS) {
            payload[1..=DIGITS].copy_from_slice(&own);
        }
    }

    /// Returns what the reply to a call means.
    ///
    /// # Errors
    /// The reply is not as expected.
    fn check(&self, reply: &SqlReply, call: u64) -> io::Result<ReplyVerdict> {
        let is_empty = reply.has_result && reply.rows == 0;
        let value = reply.only_value();
        let is_met = match &self.line.expect {
            Expect::Any => true,
            Expect::FoundOrNothing if is_empty => return Ok(ReplyVerdict::FoundNothing),
            Expect::FoundOrNothing => reply.rows > 0,
            Expect::BulkBytes(_) if is_empty && self.line.takes_from_queue() => return Ok(ReplyVerdict::Again),
            Expect::Ok => !reply.has_result,
            Expect::Integer => value.is_some_and(is_integer),
            Expect::Exactly(text) => reply.text == text.as_bytes(),
            Expect::BulkBytes(bytes) => value.is_some_and(|value| value.len() as u64 == *bytes),
            Expect::OwnBytes(bytes) => value.is_some_and(|value| {
                let own = self.whole.own_digits(call);
                value.len() as u64 == *bytes && own.is_some_and(|own| value.starts_with(&own))
            }),
            Expect::Elements(rows) => reply.rows == *rows,
            Expect::SameElements(rows) => {
                reply.rows == *rows && *self.first.get_or_init(|| reply.text.clone()) == reply.text
            }
        };
        if is_met {
            return Ok(ReplyVerdict::Met);
        }
        let beginning = &reply.text[..reply.text.len().min(SHOWN_BYTES_MAX)];
        Err(io::Error::other(format!(
            "`{}` was answered with {} rows, `{}`, expected {}",
            self.text(call),
            reply.rows,
            beginning.escape_ascii(),
            self.line.expect
        )))
    }

    fn text(&self, call: u64) -> String {
        self.whole.text(&self.line.say, call)
    }
}

fn is_integer(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl<'a> Caller<'a> {
    /// Makes a caller of a party. A connection that is kept is opened at once.
    fn new(shared: &'a Shared<'a>, party: usize) -> io::Result<Self> {
        let is_kept = shared.parties[party].calls_per_connection == 0;
        Ok(Self {
            shared,
            begin: Instant::now(),
            client: is_kept.then(|| shared.connect()).transpose()?,
            made: 0,
            statement: Vec::new(),
            payload: Vec::new(),
            reply: SqlReply::default(),
            done: Done {
                party,
                latency_us: Vec::new(),
                last: Duration::ZERO,
                found_nothing: 0,
                timeline: Vec::new(),
                ending: Ending::Complete,
                times: ThreadTimes::default(),
            },
        })
    }

    fn run(mut self, begin: Instant) -> io::Result<Done> {
        let (born, waited_before) = (Instant::now(), waited_for_core());
        self.begin = begin;
        let ended = self.make_calls();
        self.done.ending = match ended {
            // Whoever stops the calls may have ended the server too.
            Err(_) if self.shared.stop.load(Ordering::Relaxed) => Ending::Stopped,
            Err(error) => self.shared.refusal.take(error, &self.shared.is_failed)?,
            Ok(ending) => ending,
        };
        self.done.times = ThreadTimes {
            lived: born.elapsed(),
            ran: Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default(),
            waited_for_core: waited_for_core().saturating_sub(waited_before),
        };
        Ok(self.done)
    }

    /// Makes calls, and returns why they ended.
    fn make_calls(&mut self) -> io::Result<Ending> {
        let party = &self.shared.parties[self.done.party];
        loop {
            if let Some(ending) = self.early_ending() {
                return Ok(ending);
            }
            let elapsed = self.begin.elapsed();
            let bound = self.shared.pace.map_or(u64::MAX, |pace| pace.due_count(self.done.party, elapsed));
            if let Some(call) = party.handout.take(1, bound).next() {
                self.call(party, call)?;
                continue;
            }
            let Some(next) = party.handout.next() else { return Ok(Ending::Complete) };
            let due = self.shared.pace.map_or(elapsed, |pace| pace.due(self.done.party, next));
            let until_end = self.shared.duration.unwrap_or(Duration::MAX).saturating_sub(elapsed);
            thread::sleep(due.saturating_sub(elapsed).min(LOOK_AGAIN).min(until_end));
        }
    }

    /// Returns why the calls end before all are made, if they do.
    fn early_ending(&self) -> Option<Ending> {
        let elapsed = self.begin.elapsed();
        let is_stopped = || self.shared.stop.load(Ordering::Relaxed) || self.shared.is_failed.load(Ordering::Relaxed);
        match () {
            () if self.shared.duration.is_some_and(|duration| elapsed >= duration) => Some(Ending::Stopped),
            () if is_stopped() => Some(Ending::Stopped),
            () if elapsed >= self.shared.limit => Some(Ending::LimitPassed),
            () => None,
        }
    }

    /// Makes a call, again as long as it takes from a queue that is empty.
    fn call(&mut self, party: &'a SqlParty, call: u64) -> io::Result<()> {
        let line = &party.lines[drawn_line(&party.percents, call)];
        let begin = match self.shared.pace {
            Some(pace) => self.begin + pace.due(self.done.party, call),
            None => Instant::now(),
        };
        loop {
            let verdict = self.exchange(line, call)?;
            self.done.found_nothing += u64::from(verdict != ReplyVerdict::Met);
            if verdict != ReplyVerdict::Again {
                break;
            }
            if self.early_ending().is_some() {
                return Ok(());
            }
        }
        self.note(begin);
        self.made += 1;
        if party.calls_per_connection > 0 && self.made >= party.calls_per_connection {
            self.client = None;
        }
        Ok(())
    }

    /// Sends the statements of a call, on a new connection if there is none, and checks the reply.
    fn exchange(&mut self, line: &SqlLine, call: u64) -> io::Result<ReplyVerdict> {
        if self.client.is_none() {
            self.client = Some(self.shared.connect()?);
            self.made = 0;
        }
        let client = self.client.as_mut().expect("a connection");
        line.put_payload(&mut self.payload, call, &self.shared.noise);
        self.reply.clear();
        for parts in &line.statements {
            self.statement.clear();
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    self.statement.extend_from_slice(&self.payload);
                }
                part.append(&mut self.statement, call, &[]);
            }
            let statement = str::from_utf8(&self.statement).expect("digits and letters in a text");
            let done = client.run(statement, &mut self.reply);
            done.map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", line.text(call))))?;
        }
        line.check(&self.reply, call)
    }

    /// Notes a call that is complete.
    fn note(&mut self, begin: Instant) {
        let now = Instant::now();
        self.done.last = now - self.begin;
        self.done.latency_us.push((now - begin).as_micros() as u64);
        let second = self.done.last.as_secs() as usize;
        if self.done.timeline.len() <= second {
            self.done.timeline.resize(second + 1, 0);
        }
        self.done.timeline[second] += 1;
    }
}

#[cfg(test)]
mod tests;
