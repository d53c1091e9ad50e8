//! Our own load: parties of connections that make calls in the side's protocol, and check every reply.
//!
//! ```text
//! party 0   say = "SET key:{next:12}", bytes = 100, pipeline = 16    |call call ...|call call ...|
//! party 1   say = "GET key:{random:12}", expect own_bytes            |call|call|call|              at once
//!
//!   [plan] scenario --> CallPlan    [template] encoded once, digits patched in each call
//!      |                            [check]    compares a reply where it lies, else asks the [scanner]
//!      v                            [pace]     due times; numbers of calls, each handed out once
//!   [sql] a thread a connection, else
//!   [worker] x threads: an epoll, a share of the [connection]s, own figures --> merged: MeasuredCalls --> Outcome
//! ```
//!
//! A reply that is not as expected fails the case, with call, reply and expectation. Threads have no common data on the
//! way of a call but the counter that hands out numbers, so that two threads do twice the work of one.
//!
//! Without a pace a connection makes its next calls when all of the last ones are answered: that finds the greatest
//! rate, but a stall of the server delays calls that would have come meanwhile, and their latency does not show it.
//! At a pace each call has a time at which it is due, and its latency counts from there.

mod check;
mod connection;
mod pace;
pub(crate) mod plan;
mod refusal;
pub(crate) mod scanner;
mod sql;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod worker;

use crate::LabError;
use crate::contents::{Contents, Items};
use crate::load::{Limits, Outcome, allow_open_files, rounded, step_error};
use crate::protocol::Protocol;
use crate::scenario::PlaceholderValues;
use crate::server::Server;
use check::CheckedLine;
use hdrhistogram::Histogram;
use pace::Handout;
use plan::{CallLine, CallPlan, Calls, PartyPlan};
use refusal::Refusal;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, iter};
use worker::{Ending, SharedCalls, SharedParty, ThreadTimes, Worker, WorkerFigures, histogram};

/// The minimum number of random letters and digits; a payload begins anywhere in them.
pub(crate) const NOISE_BYTES_MIN: usize = 1 << 20;
/// The share of the time that a generator could run; one that ran for longer is the limit of the rate.
const BUSY_SHARE_MAX: f64 = 0.9;
/// The quantiles of latency that are kept, as far as a run has calls enough for them.
const QUANTILES: [f64; 10] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999];
/// The last second has a rate of its own if it lasted this long.
const PART_S_MIN: f64 = 0.1;
/// Files of this process that are no connections.
const OTHER_FILES: u64 = 256;

/// The result of calls.
pub(crate) struct MeasuredCalls {
    pub(crate) calls: u64,
    pub(crate) elapsed: Duration,
    /// Microseconds of each call.
    pub(crate) latency_us: Histogram<u64>,
    /// Replies without a value: of calls that were repeated, and of those that may find nothing.
    pub(crate) found_nothing: u64,
    /// Calls answered after the end, which are in no figure.
    pub(crate) late_calls: u64,
    /// The CPU of the generator's threads.
    pub(crate) own_cpu_us: u64,
    /// Calls and time until the last of them, by party.
    pub(crate) parties: Vec<(u64, Duration)>,
    pub(crate) timeline: Vec<SecondOfCalls>,
    /// True if the server may be faster than this ([`is_limit`]).
    pub(crate) limited_by_generator: bool,
    /// The text of the error that ended the calls, where one may.
    pub(crate) refusal: Option<String>,
}

/// The calls that were answered in one second.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SecondOfCalls {
    /// Seconds from the start to the beginning of this one.
    pub(crate) second: u64,
    pub(crate) calls: u64,
}

/// Makes the calls of all parties. Once `stop` is set they end, and what was answered counts.
///
/// # Errors
/// A connection broke, a reply is not as expected, or the limit has passed.
pub(crate) fn measure(
    server: &Server,
    calls: &Calls,
    values: PlaceholderValues,
    limits: Limits,
    stop: &AtomicBool,
) -> Result<Outcome, LabError> {
    let plan = calls.resolve(values, Some(limits.cell))?;
    let (command_line, may_find_nothing) = (command_line(&plan), plan.may_find_nothing());
    let limit = Duration::from_secs(limits.limit_s);
    let measured = run(plan, (server.protocol(), server.protocol_address()), limit, stop)
        .map_err(|error| step_error("calls", &error, server))?;
    let mut outcome = outcome(command_line, &measured);
    if may_find_nothing {
        let percent = 100.0 * measured.found_nothing as f64 / measured.calls.max(1) as f64;
        outcome.extra.push(("found_nothing_percent".to_owned(), rounded(percent, 100.0)));
    }
    Ok(outcome)
}

/// Makes the calls of a plan.
///
/// # Errors
/// As [`measure`].
pub(crate) fn run(
    plan: CallPlan,
    (protocol, address): (Protocol, SocketAddr),
    limit: Duration,
    stop: &AtomicBool,
) -> io::Result<MeasuredCalls> {
    if protocol == Protocol::Sql {
        return sql::run(plan, address, limit, stop);
    }
    let (requests, threads) = (plan.requests, plan.threads);
    // The parties of all connections, those of one party side by side.
    let places: Vec<usize> = plan
        .parties
        .iter()
        .enumerate()
        .flat_map(|(at, party)| iter::repeat_n(at, party.connections_used(requests) as usize))
        .collect();
    allow_open_files(places.len() as u64 + OTHER_FILES).map_err(io::Error::other)?;
    let shared = shared(plan, (protocol, address), limit, stop);
    let threads = threads_count(threads, places.len());
    let workers = (0..threads)
        .map(|thread| {
            let share: Vec<usize> = places.iter().skip(thread).step_by(threads).copied().collect();
            Worker::new(&shared, &share)
        })
        .collect::<io::Result<Vec<_>>>()?;
    let begin = Instant::now();
    let figures = thread::scope(|scope| {
        let run = |worker: Worker<'_>| {
            let done = worker.run(begin);
            if done.is_err() {
                shared.is_failed.store(true, Ordering::Relaxed);
            }
            done
        };
        let threads: Vec<_> = workers.into_iter().map(|worker| scope.spawn(move || run(worker))).collect();
        let done = threads.into_iter().map(|thread| thread.join().expect("a worker does not panic"));
        done.collect::<Vec<_>>().into_iter().collect::<io::Result<Vec<_>>>()
    })?;
    if figures.iter().any(|part| part.ending == Ending::LimitPassed) {
        let done = merged(&figures, begin, None);
        let done: Vec<String> = done.parties.iter().map(|(calls, _)| calls.to_string()).collect();
        return Err(io::Error::other(format!("{} of {requests} calls in time", done.join(" and "))));
    }
    Ok(MeasuredCalls { refusal: shared.refusal.into_text(), ..merged(&figures, begin, shared.duration) })
}

/// Prepares all that the workers share.
fn shared(
    plan: CallPlan,
    (protocol, address): (Protocol, SocketAddr),
    limit: Duration,
    stop: &AtomicBool,
) -> SharedCalls<'_> {
    let (requests, items) = (plan.requests, plan.items);
    let of_party = |party: PartyPlan| SharedParty {
        percents: party.lines.iter().map(|line| line.percent).collect(),
        lines: party.lines.into_iter().map(|line| CheckedLine::new(protocol, line, items)).collect(),
        pipeline: party.pipeline,
        calls_per_connection: party.calls_per_connection,
        handout: Handout::new(requests),
    };
    let parties: Vec<SharedParty> = plan.parties.into_iter().map(of_party).collect();
    let payloads = parties.iter().flat_map(|party| &party.lines).map(|line| line.template.payload_bytes());
    let noise = noise(payloads.max().unwrap_or(0));
    let (is_failed, refusal) = (AtomicBool::new(false), Refusal::new(plan.until_refused));
    let (pace, duration) = (plan.pace, plan.duration);
    SharedCalls { address, parties, noise, pace, duration, limit, stop, is_failed, refusal }
}

/// Returns random letters and digits with room for many different payloads.
pub(crate) fn noise(payload_bytes_max: usize) -> Vec<u8> {
    let mut noise = Vec::new();
    Items::new(Contents::Alphanumerics, NOISE_BYTES_MIN.max(2 * payload_bytes_max)).next_into(&mut noise);
    noise
}

/// Returns the number of threads: as asked for or one a core, but each has a connection.
fn threads_count(wanted: Option<u64>, connections: usize) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    wanted.map_or_else(cores, |wanted| wanted as usize).min(connections).max(1)
}

/// Adds up what the workers measured.
fn merged(figures: &[WorkerFigures], begin: Instant, duration: Option<Duration>) -> MeasuredCalls {
    let mut latency_us = histogram();
    let mut parties: Vec<(u64, Duration)> = Vec::new();
    let mut seconds: Vec<u64> = Vec::new();
    for part in figures {
        latency_us.add(&part.latency_us).expect("histograms of one shape");
        parties.resize(part.parties.len(), (0, Duration::ZERO));
        for (sum, (calls, last)) in parties.iter_mut().zip(&part.parties) {
            sum.0 += calls;
            sum.1 = sum.1.max(last.map_or(Duration::ZERO, |last| last - begin));
        }
        seconds.resize(seconds.len().max(part.timeline.len()), 0);
        seconds.iter_mut().zip(&part.timeline).for_each(|(sum, calls)| *sum += calls);
    }
    // Calls that were complete ended with the last reply; the others when the time was over.
    let stopped = figures.iter().filter(|part| part.ending == Ending::Stopped);
    let elapsed = stopped.map(|part| part.ended - begin).max().map_or_else(
        || parties.iter().map(|(_, elapsed)| *elapsed).max().unwrap_or_default(),
        |elapsed| duration.map_or(elapsed, |duration| elapsed.min(duration)),
    );
    MeasuredCalls {
        calls: parties.iter().map(|(calls, _)| calls).sum(),
        elapsed,
        latency_us,
        found_nothing: figures.iter().map(|part| part.found_nothing).sum(),
        late_calls: figures.iter().map(|part| part.late_calls).sum(),
        own_cpu_us: figures.iter().map(|part| part.times.ran).sum::<Duration>().as_micros() as u64,
        parties,
        timeline: (0..).zip(seconds).map(|(second, calls)| SecondOfCalls { second, calls }).collect(),
        limited_by_generator: is_limit(figures.iter().map(|part| part.times)),
        refusal: None,
    }
}

/// Returns true if the generator had work nearly all the time that it could run.
///
/// A thread runs, waits for a core, or sleeps until a reply comes. With a core of its own it never waits for one, and
/// running for more than 90 % of the time means that replies were ready whenever it looked. When the server shares the
/// cores, a thread that is always busy may yet run for half of the time only, as the server has the core for the other
/// half: so the time in which it could have run but had no core is not counted against it. True then says that server
/// and generator used up the cores together: the rate is that of both, and CPU a request compares servers better.
fn is_limit(threads: impl Iterator<Item = ThreadTimes> + Clone) -> bool {
    let ran: Duration = threads.clone().map(|times| times.ran).sum();
    let could_run: Duration = threads.map(|times| times.lived.saturating_sub(times.waited_for_core)).sum();
    ran.as_secs_f64() > BUSY_SHARE_MAX * could_run.as_secs_f64()
}

fn outcome(command_line: String, measured: &MeasuredCalls) -> Outcome {
    let latency_us = &measured.latency_us;
    let quantile_us = |quantile| latency_us.value_at_quantile(quantile) as f64;
    let calls = measured.calls;
    let per_s = |calls: u64, elapsed: Duration| calls as f64 / elapsed.as_secs_f64().max(1e-9);
    let mut extra = vec![
        ("p95_us".to_owned(), quantile_us(0.95)),
        ("p999_us".to_owned(), quantile_us(0.999)),
        ("max_us".to_owned(), latency_us.max() as f64),
        ("found_nothing".to_owned(), measured.found_nothing as f64),
        ("generator_us_per_request".to_owned(), rounded(measured.own_cpu_us as f64 / calls.max(1) as f64, 1000.0)),
        ("limited_by_generator".to_owned(), f64::from(u8::from(measured.limited_by_generator))),
    ];
    for (place, (calls, elapsed)) in measured.parties.iter().enumerate().filter(|_| measured.parties.len() > 1) {
        extra.push((format!("party_{place}_per_s"), rounded(per_s(*calls, *elapsed), 1.0)));
    }
    Outcome {
        command_line,
        requests: calls,
        late_requests: measured.late_calls,
        requests_per_s: Some(per_s(calls, measured.elapsed)),
        p50_ms: Some(quantile_us(0.5) / 1000.0),
        p99_ms: Some(quantile_us(0.99) / 1000.0),
        extra,
        latency: latency(latency_us),
        rates: rates(measured),
        refusal: measured.refusal.clone(),
        ..Outcome::default()
    }
}

/// Returns quantiles and milliseconds.
fn latency(latency_us: &Histogram<u64>) -> Vec<(f64, f64)> {
    let is_backed = |quantile: &&f64| latency_us.len() as f64 * (1.0 - **quantile) >= 1.0;
    let backed = QUANTILES.iter().filter(is_backed);
    backed.map(|quantile| (*quantile, latency_us.value_at_quantile(*quantile) as f64 / 1000.0)).collect()
}

/// Returns the rate of each second with the time of its end; the last may be shorter.
fn rates(measured: &MeasuredCalls) -> Vec<(f64, f64)> {
    let elapsed_s = measured.elapsed.as_secs_f64();
    let of_second = |part: &SecondOfCalls| {
        let begin_s = part.second as f64;
        let part_s = (elapsed_s - begin_s).min(1.0);
        (part_s >= PART_S_MIN).then(|| (begin_s + part_s, rounded(part.calls as f64 / part_s, 1.0)))
    };
    measured.timeline.iter().filter_map(of_second).collect()
}

/// Returns the calls in words, for the record.
fn command_line(plan: &CallPlan) -> String {
    let payload = |line: &CallLine| line.payload_bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
    let party = |party: &PartyPlan| {
        let requests = if plan.requests == u64::MAX { "any".to_owned() } else { plan.requests.to_string() };
        let usual = &party.lines[0];
        let mut text = format!("{requests} x {}{} over {}", usual.say, payload(usual), party.connections);
        for line in &party.lines[1..] {
            text += &format!(", {} % {}{}", line.percent, line.say, payload(line));
        }
        if party.pipeline > 1 {
            text += &format!(", pipelines of {}", party.pipeline);
        }
        if party.calls_per_connection > 0 {
            text += &format!(", {} a connection", party.calls_per_connection);
        }
        text
    };
    let parties: Vec<String> = plan.parties.iter().map(party).collect();
    let time = plan.duration.map_or(String::new(), |duration| format!(", for at most {} s", duration.as_secs_f64()));
    let pace = plan.pace.map_or(String::new(), |pace| format!(", {} due a second", pace.calls_per_s));
    format!("calls: {}{time}{pace}", parties.join(" beside "))
}
