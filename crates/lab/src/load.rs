//! Carries out what a scenario says: prepares data, applies a load, checks the answer.

use crate::generate::{self, Loop};
use crate::proc;
use crate::programs::{Programs, bounded};
use crate::resp::Client;
use crate::scenario::{Case, Counts, Load, Prepare};
use crate::server::Server;
use crate::{LabError, io_error};
use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Time for a server to give memory back before it is looked at.
const SETTLE: Duration = Duration::from_secs(2);

/// What a load saw; what it cannot see is absent.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) command_line: String,
    pub(crate) requests: u64,
    pub(crate) requests_per_s: Option<f64>,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    /// Memory at the height of the load, when it holds something that is gone afterwards.
    pub(crate) rss_bytes: Option<u64>,
    /// Further figures by name.
    pub(crate) extra: Vec<(&'static str, u64)>,
}

/// Does one unmeasured step.
///
/// # Errors
/// The server did not take it.
pub(crate) fn prepare(server: &Server, step: &Prepare, counts: Counts) -> Result<(), LabError> {
    let mut client = server.client()?;
    let done = match step {
        Prepare::Command(line) => client.call(&counts.fill(line)).map(drop),
        Prepare::Strings { count, value_bytes } => {
            generate::fill_strings(&mut client, counts.number(count)?, *value_bytes)
        }
        Prepare::List { key, count, item_bytes } => {
            generate::fill_list(&mut client, key, counts.number(count)?, *item_bytes)
        }
    };
    done.map_err(|error| step_error("prepare", &error, server))
}

/// Applies the load of a case.
///
/// # Errors
/// The load failed or took longer than `limit_s`.
pub(crate) fn apply(
    case: &Case,
    server: &Server,
    programs: &Programs,
    counts: Counts,
    limit_s: u64,
) -> Result<Outcome, LabError> {
    match &case.load {
        Load::Benchmark(arguments) => benchmark(&counts.fill(arguments), server, programs, counts, limit_s),
        Load::Generator { command, connections, pace_per_s, beside } => {
            let command = counts.fill(command);
            let beside = beside.as_ref().map(|line| counts.fill(line));
            let requests = counts.requests;
            let limit = Duration::from_secs(limit_s);
            let work = Loop {
                port: server.port(),
                command: &command,
                connections: *connections,
                requests,
                pace_per_s: *pace_per_s,
                beside: beside.as_deref(),
                limit,
            };
            let timed = work.run().map_err(|error| step_error("generator", &error, server))?;
            Ok(timed_outcome(&work, &timed))
        }
        Load::Idle { connections } => idle(server, *connections),
        Load::Churn { keys, rounds } => churn(server, counts.number(keys)?, *rounds),
    }
}

/// Asks the case's question.
///
/// # Errors
/// The answer is another.
pub(crate) fn check(case: &Case, server: &Server, counts: Counts) -> Result<(), LabError> {
    let question = counts.fill(&case.check.command);
    let answer = server.client()?.call(&question).map_err(|error| step_error(&question, &error, server))?;
    let expected = counts.fill(&case.check.answer);
    if answer != expected {
        return Err(LabError::Step(format!("{question} answered `{answer}`, expected `{expected}`")));
    }
    Ok(())
}

fn benchmark(
    arguments: &str,
    server: &Server,
    programs: &Programs,
    counts: Counts,
    limit_s: u64,
) -> Result<Outcome, LabError> {
    let mut command = bounded(&programs.benchmark, limit_s);
    let requests = counts.requests.to_string();
    let port = server.port().to_string();
    command.args(["-h", "127.0.0.1", "-p", &port, "-n", &requests, "--csv"]).args(arguments.split_whitespace());
    let text = output(command)?;
    let row = BenchmarkRow::last_of(&text)
        .ok_or_else(|| LabError::Step(format!("redis-benchmark gave no figures: {}", text.trim())))?;
    Ok(Outcome {
        command_line: format!("redis-benchmark -n {requests} {arguments}"),
        requests: counts.requests,
        requests_per_s: Some(row.requests_per_s),
        p50_ms: Some(row.p50_ms),
        p99_ms: Some(row.p99_ms),
        ..Outcome::default()
    })
}

fn output(mut command: Command) -> Result<String, LabError> {
    let output = command.output().map_err(io_error("redis-benchmark"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Some(124) => Err(LabError::Step("redis-benchmark did not end in time".into())),
        _ => Err(LabError::Step(format!("redis-benchmark: {}: {}", output.status, errors.trim()))),
    }
}

fn timed_outcome(work: &Loop, timed: &generate::Timed) -> Outcome {
    let beside = work.beside.map_or(String::new(), |line| format!(" while another repeats {line}"));
    let pace = work.pace_per_s.map_or(String::new(), |pace| format!(", {pace} due a second"));
    let quantile_ms = |quantile| Some(timed.latency_us.value_at_quantile(quantile) as f64 / 1000.0);
    Outcome {
        command_line: format!(
            "generator: {} x {} over {}{pace}{beside}",
            work.requests, work.command, work.connections
        ),
        requests: timed.requests,
        requests_per_s: Some(timed.requests as f64 / timed.elapsed.as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra: vec![("max_us", timed.latency_us.max()), ("beside_rounds", timed.beside_rounds)],
        ..Outcome::default()
    }
}

fn idle(server: &Server, connections: u64) -> Result<Outcome, LabError> {
    allow_open_files(connections + 256)?;
    let (before, _) = proc::memory_bytes(server.pid())?;
    let begin = Instant::now();
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut client = server.client()?;
        client.call("PING").map_err(|error| step_error("idle", &error, server))?;
        open.push(client);
    }
    let elapsed = begin.elapsed();
    let (after, _) = proc::memory_bytes(server.pid())?;
    Ok(Outcome {
        command_line: format!("{connections} connections, one PING each, then idle"),
        requests: connections,
        requests_per_s: Some(connections as f64 / elapsed.as_secs_f64()),
        rss_bytes: Some(after),
        extra: vec![("bytes_per_connection", after.saturating_sub(before) / connections.max(1))],
        ..Outcome::default()
    })
}

fn churn(server: &Server, keys: u64, rounds: u64) -> Result<Outcome, LabError> {
    let begin = Instant::now();
    let mut client: Client = server.client()?;
    let churned = generate::churn(&mut client, keys, rounds).map_err(|error| step_error("churn", &error, server))?;
    let elapsed = begin.elapsed();
    thread::sleep(SETTLE);
    Ok(Outcome {
        command_line: format!("{keys} keys of 16 to 511 bytes written {rounds} times, nine in ten deleted"),
        requests: churned.commands,
        requests_per_s: Some(churned.commands as f64 / elapsed.as_secs_f64()),
        extra: vec![("live_bytes", churned.live_bytes)],
        ..Outcome::default()
    })
}

/// Both ends of a connection need a descriptor; ours are in this process.
fn allow_open_files(count: u64) -> Result<(), LabError> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < count) {
        limit.current = Some(count);
        setrlimit(Resource::Nofile, limit)
            .map_err(|error| LabError::Step(format!("{count} open files are not allowed here: {error}")))?;
    }
    Ok(())
}

fn step_error(step: &str, error: &io::Error, server: &Server) -> LabError {
    LabError::Step(format!("{step}: {error}; {}", server.last_words()))
}

/// What redis-benchmark says with `--csv`.
///
/// With `--threads` it looks only every 250 ms whether it is done, so its rate may be low by that much of the run:
/// a case with threads needs ten seconds to be right within 2.5 in a hundred. CPU a request does not suffer.
struct BenchmarkRow {
    requests_per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
}

impl BenchmarkRow {
    /// The last test's figures.
    fn last_of(text: &str) -> Option<Self> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().ok()?.clone();
        let row = reader.records().filter_map(Result::ok).last()?;
        let field = |name| row.get(headers.iter().position(|header| header == name)?)?.parse().ok();
        Some(Self { requests_per_s: field("rps")?, p50_ms: field("p50_latency_ms")?, p99_ms: field("p99_latency_ms")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_their_headers() {
        let text = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\
                    \"p99_latency_ms\",\"max_latency_ms\"\n\
                    \"GET\",\"12500.50\",\"0.4\",\"0.1\",\"0.3\",\"0.8\",\"1.5\",\"9.0\"\n";
        let row = BenchmarkRow::last_of(text).unwrap();
        assert_eq!((row.requests_per_s, row.p50_ms, row.p99_ms), (12500.5, 0.3, 1.5));
        assert!(BenchmarkRow::last_of("Could not connect\n").is_none());
    }
}
