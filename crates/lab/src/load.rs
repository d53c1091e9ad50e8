//! Carries out what a scenario says: prepares data, applies a load, checks the answer.

use crate::board::{self, Board};
use crate::contents::Items;
use crate::fill::{self, Filler};
use crate::generate::{self, Loop};
use crate::programs::{self, bounded};
use crate::resp::{Client, words};
use crate::scenario::{Case, Data, Load, PlaceholderValues, Prepare};
use crate::server::Server;
use crate::{LabError, io_error};
use crate::{answers, calls, checkpoints, interrupt, leftover, messages, node, proc, restart, tools, watch, writes};
use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The time for a server to return memory before a measurement, and for a started one to settle.
const SETTLE: Duration = Duration::from_secs(2);
const SETTLE_EMPTY: Duration = Duration::from_millis(500);
/// jemalloc, which both sides use, keeps pages that are free for ten seconds; memory after steps is measured later.
const SETTLE_FREED: Duration = Duration::from_secs(12);

/// The interval between requests of INFO.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The result of a load; a figure that it cannot measure is absent.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) command_line: String,
    pub(crate) requests: u64,
    /// Requests answered after the end, which are in no figure.
    pub(crate) late_requests: u64,
    pub(crate) requests_per_s: Option<f64>,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    /// Memory at the height of the load, when it holds something that is gone afterwards.
    pub(crate) rss_bytes: Option<u64>,
    /// The CPU of the processes that did the work, where it is no server that did it.
    pub(crate) cpu_us: Option<u64>,
    /// The reply or error that ended the load early, where the scenario allows one.
    pub(crate) refusal: Option<String>,
    /// Further figures by name.
    pub(crate) extra: Vec<(String, f64)>,
    /// Quantiles and milliseconds.
    pub(crate) latency: Vec<(f64, f64)>,
    /// Seconds since the load began, and the rate in the interval that ends there.
    pub(crate) rates: Vec<(f64, f64)>,
    /// Seconds since the load began, and the server's memory in bytes.
    pub(crate) memory: Vec<(f64, u64)>,
}

/// The times that a load may take.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Seconds after which it has failed.
    pub(crate) limit_s: u64,
    /// The lab's own calls end after this time, unless the load says otherwise.
    pub(crate) cell: Duration,
}

/// Runs one unmeasured step.
///
/// # Errors
/// The server did not take it.
pub(crate) fn prepare(server: &Server, step: &Prepare, counts: PlaceholderValues) -> Result<(), LabError> {
    if let (Prepare::Command(line), false) = (step, server.program().speaks_resp()) {
        return server.ask(&counts.fill(line)).map(drop);
    }
    let mut client = server.client()?;
    let done = match step {
        Prepare::Command(line) => client.call(&counts.fill(line)).map(drop),
        Prepare::Strings { count, value_bytes } => fill::fill_strings(&mut client, counts.number(count)?, *value_bytes),
        Prepare::List { key, count, item_bytes, contents } => {
            let mut items = Items::new(*contents, *item_bytes);
            fill::push_items(&mut client, "RPUSH", key, &mut items, counts.number(count)?).map(drop)
        }
        Prepare::Data { count, data } => {
            let count = counts.number(count)?;
            Filler::new(*data, count).fill_to(&mut client, count).map(drop)
        }
        Prepare::Board(board) => board::fill(&mut client, board, counts.number(&board.count)?),
        Prepare::Names { key, count } => fill::add_names(&mut client, key, counts.number(count)?),
        Prepare::Until { line } => until(&mut client, line),
        Prepare::Checkpoint(command) => checkpoints::make(&mut client, command),
        Prepare::Grow { say, length, count } => {
            let count = counts.number(count)?;
            fill::grow(&mut client, &counts.fill(say), &counts.fill(length), count)
        }
        Prepare::OwnSteps => unreachable!("the scenario has put the side's steps in its place"),
    };
    done.map_err(|error| step_error("prepare", &error, server))
}

fn until(client: &mut Client, line: &str) -> io::Result<()> {
    while !client.call("INFO all")?.lines().any(|it| it == line) {
        thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Applies the load of a case; what is left to chance in it comes from `draw`.
///
/// # Errors
/// The load failed or took longer than `limit_s`.
pub(crate) fn apply(
    case: &Case,
    server: &mut Server,
    counts: PlaceholderValues,
    limits: Limits,
    draw: u64,
) -> Result<Outcome, LabError> {
    let wanted = case.checkpoints.as_ref();
    if !server.program().is_server() && !matches!(case.load, Load::Tools(_)) {
        return Err(LabError::Step(format!("{} is a library: its only load is `tools`", server.program().name())));
    }
    match &case.load {
        Load::Writes(work) => writes::measure(server, work, counts.number(&work.keys)?, wanted),
        Load::Restart { writes, least_s } => {
            restart::measure(server, writes, counts.number(&writes.keys)?, *least_s, draw)
        }
        load => {
            let apply = || apply_plain(load, server, counts, limits);
            let done = checkpoints::beside(wanted, server.address(), apply);
            let (outcome, spans) = done.map_err(|error| step_error("checkpoints", &error, server))?;
            let mut outcome = outcome?;
            if let Some(wanted) = wanted {
                outcome.command_line += &format!(" while {} is repeated", wanted.command);
                outcome.extra.push(("checkpoints".to_owned(), spans.len() as f64));
            }
            Ok(outcome)
        }
    }
}

fn apply_plain(load: &Load, server: &Server, counts: PlaceholderValues, limits: Limits) -> Result<Outcome, LabError> {
    let limit_s = limits.limit_s;
    match load {
        Load::Benchmark(arguments) => benchmark(&counts.fill(arguments), server, counts, limit_s),
        Load::Node(line) => node::measure(server, &counts.fill(line), limit_s),
        Load::Generator { command, instead, connections, pace_per_s, beside } => {
            let command = counts.fill(command);
            let mut instead = instead.clone();
            instead.iter_mut().for_each(|it| it.command = counts.fill(&it.command));
            let mut beside = beside.clone();
            if let Some(beside) = &mut beside {
                beside.command = counts.fill(&beside.command);
            }
            let requests = counts.requests;
            let limit = Duration::from_secs(limit_s);
            let work = Loop {
                address: server.address(),
                command: &command,
                instead: &instead,
                random_bound: counts.items.max(1),
                connections: *connections,
                requests,
                pace_per_s: *pace_per_s,
                beside: beside.as_ref(),
                limit,
            };
            let timed = work.run().map_err(|error| step_error("generator", &error, server))?;
            Ok(timed_outcome(&work, &timed))
        }
        Load::Steps(steps) => take_steps(server, steps, counts),
        Load::Memory { count, data, marks_percent, from_percent, rest_s } => {
            let looks = Looks { marks_percent, from_percent: *from_percent, rest: Duration::from_secs(*rest_s) };
            memory(server, counts.number(count)?, *data, &looks)
        }
        Load::Calls(work) => {
            let measure = || calls::measure(server, work, counts, limits, interrupt::requested());
            let (outcome, memory) = watch::memory_during(server.pid(), measure);
            Ok(Outcome { memory, ..outcome? })
        }
        Load::Idle { connections } => idle(server, *connections),
        Load::Churn { keys, rounds } => churn(server, counts.number(keys)?, *rounds),
        Load::Messages(work) => messages::measure(server, work, counts.requests, Duration::from_secs(limit_s)),
        Load::Answers { by } => answers::measure(server, *by, counts.requests, Duration::from_secs(limit_s)),
        Load::Fill { count, data, dropped_percent, rest_s } => {
            leftover::measure(server, counts.number(count)?, *data, *dropped_percent, *rest_s)
        }
        Load::Tools(work) => tools::measure(server, work, counts, Duration::from_secs(limit_s)),
        Load::Writes(_) | Load::Restart { .. } => unreachable!("they see to the server and checkpoints themselves"),
    }
}

/// Runs the check of the case; `{answered}` in it is the number of requests that the server has answered.
///
/// # Errors
/// The answer is another.
pub(crate) fn check(case: &Case, server: &Server, counts: PlaceholderValues, answered: u64) -> Result<(), LabError> {
    let filled = |text: &str| counts.fill(text).replace("{answered}", &answered.to_string());
    let question = filled(&case.check.command);
    let answer = server.ask(&question)?;
    let expected = filled(&case.check.answer);
    if answer != expected {
        return Err(LabError::Step(format!("{question} answered `{answer}`, expected `{expected}`")));
    }
    Ok(())
}

/// Has the server forget what took longest so far, if it knows.
///
/// # Errors
/// The server is gone.
pub(crate) fn forget_longest(server: &Server) -> Result<(), LabError> {
    if !server.program().speaks_resp() {
        return Ok(());
    }
    match server.client()?.call("CONFIG RESETSTAT") {
        // Not every server that speaks the protocol has the command.
        Err(error) if error.kind() != io::ErrorKind::Other => Err(step_error("CONFIG RESETSTAT", &error, server)),
        _ => Ok(()),
    }
}

/// Returns the longest times that the server itself reports, if it reports them.
///
/// # Errors
/// The server is gone.
pub(crate) fn longest(server: &Server) -> Result<Vec<(String, f64)>, LabError> {
    if !server.program().speaks_resp() {
        return Ok(Vec::new());
    }
    let text = server.client()?.call("INFO stats").map_err(|error| step_error("INFO", &error, server))?;
    Ok(longest_in(&text))
}

fn longest_in(info: &str) -> Vec<(String, f64)> {
    let pairs = info.lines().filter_map(|line| line.split_once(':'));
    let longest = pairs.filter(|(name, _)| name.starts_with("longest_"));
    longest.filter_map(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?))).collect()
}

/// Returns the time that the commands of a request took as the server reports it, if any ran, in microseconds.
///
/// # Errors
/// The server is gone.
pub(crate) fn server_us(server: &Server, requests: u64) -> Result<Option<f64>, LabError> {
    if !server.program().speaks_resp() {
        return Ok(None);
    }
    let text = server.client()?.call("INFO commandstats").map_err(|error| step_error("INFO", &error, server))?;
    Ok((requests > 0).then(|| rounded(commands_us(&text) as f64 / requests as f64, 100.0)))
}

/// The sum over all commands but those by which we look.
fn commands_us(info: &str) -> u64 {
    let is_ours = |line: &&str| !["info", "config"].iter().any(|ours| line.starts_with(&format!("cmdstat_{ours}")));
    let stats = info.lines().filter(is_ours).filter_map(|line| line.strip_prefix("cmdstat_"));
    stats.filter_map(|line| line.split_once("usec=")?.1.split(',').next()?.parse::<u64>().ok()).sum()
}

fn benchmark(arguments: &str, server: &Server, counts: PlaceholderValues, limit_s: u64) -> Result<Outcome, LabError> {
    let mut command = bounded(&programs::benchmark()?, limit_s);
    let requests = counts.requests.to_string();
    let (host, port) = (server.address().ip().to_string(), server.port().to_string());
    command.args(["-h", &host, "-p", &port, "-n", &requests, "--csv"]).args(words(arguments));
    let text = output(command, "redis-benchmark")?;
    let row = BenchmarkRow::last_of(&text)
        .ok_or_else(|| LabError::Step(format!("redis-benchmark gave no figures: {}", text.trim())))?;
    Ok(Outcome {
        command_line: format!("redis-benchmark -n {requests} {arguments}"),
        requests: counts.requests,
        requests_per_s: Some(row.requests_per_s),
        p50_ms: Some(row.p50_ms),
        p99_ms: Some(row.p99_ms),
        extra: vec![("max_us".to_owned(), (row.max_ms * 1000.0).round())],
        ..Outcome::default()
    })
}

/// Returns the output of a program; errors have its name.
pub(crate) fn output(mut command: Command, name: &str) -> Result<String, LabError> {
    let output = command.output().map_err(io_error(name))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Some(124) => Err(LabError::Step(format!("{name} did not end in time"))),
        _ => Err(LabError::Step(format!("{name}: {}: {}", output.status, errors.trim()))),
    }
}

fn timed_outcome(work: &Loop, timed: &generate::Timed) -> Outcome {
    let quantile_ms = |quantile| Some(timed.latency_us.value_at_quantile(quantile) as f64 / 1000.0);
    let mut extra = vec![("max_us".to_owned(), timed.latency_us.max() as f64)];
    if work.beside.is_some() {
        extra.push(("beside_rounds".to_owned(), timed.beside_rounds as f64));
    }
    Outcome {
        command_line: generator_line(work),
        requests: timed.requests,
        requests_per_s: Some(timed.requests as f64 / timed.elapsed.as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra,
        ..Outcome::default()
    }
}

fn generator_line(work: &Loop) -> String {
    let pace = work.pace_per_s.map_or(String::new(), |pace| format!(", {pace} due a second"));
    let beside = work.beside.map_or(String::new(), |beside| {
        let times = beside.rounds.map_or("repeat".to_owned(), |rounds| format!("do {rounds} times"));
        let keys = if beside.keys == 0 { String::new() } else { format!(" of {} keys", beside.keys) };
        let reads: Vec<String> = beside.reads_bytes_per_s.iter().map(u64::to_string).collect();
        let reads = reads.join(" ");
        let pace = beside.pace_per_s.map_or(String::new(), |pace| format!(", {pace} due a second of each"));
        format!(
            " while {} others {times} {}{keys}, reading {reads} B/s{pace}",
            beside.reads_bytes_per_s.len(),
            beside.command
        )
    });
    format!("generator: {} x {} over {}{pace}{beside}", work.requests, work.command, work.connections)
}

/// Runs a side's own steps, and measures the memory they have added.
fn take_steps(server: &Server, steps: &[Prepare], counts: PlaceholderValues) -> Result<Outcome, LabError> {
    server.rest(SETTLE);
    let (before, _) = proc::memory_bytes(server.own_pid()?)?;
    let begin = Instant::now();
    steps.iter().try_for_each(|step| prepare(server, step, counts))?;
    let took = begin.elapsed();
    server.rest(SETTLE_FREED);
    let (after, _) = proc::memory_bytes(server.own_pid()?)?;
    let each = after.saturating_sub(before) as f64 / counts.items.max(1) as f64;
    let texts: Vec<String> = steps.iter().map(|step| counts.fill(&step_text(step))).collect();
    Ok(Outcome {
        command_line: texts.join(", "),
        requests: counts.items,
        requests_per_s: Some(counts.items as f64 / took.as_secs_f64()),
        extra: vec![("bytes_each".to_owned(), rounded(each, 100.0))],
        ..Outcome::default()
    })
}

fn step_text(step: &Prepare) -> String {
    match step {
        Prepare::Command(line) | Prepare::Checkpoint(line) => line.clone(),
        Prepare::Names { key, count } => format!("ZADD of {count} names to {key}, {} at a time", fill::ITEMS_PER_PUSH),
        Prepare::Board(Board { key, count, apart, .. }) => {
            format!("{count} threads to {key}{}", if *apart { ", and to sorted sets" } else { "" })
        }
        Prepare::Until { line } => format!("until INFO says {line}"),
        Prepare::Strings { count, .. } => format!("{count} strings"),
        Prepare::List { key, count, .. } => format!("{count} items to {key}"),
        Prepare::Data { count, data } => format!("{count} of {}", data_text(*data)),
        Prepare::Grow { say, count, .. } => format!("{say} until there are {count}"),
        Prepare::OwnSteps => "its own steps".to_owned(),
    }
}

/// The points at which memory is measured.
struct Looks<'a> {
    marks_percent: &'a [u64],
    from_percent: u64,
    rest: Duration,
}

/// Loads to each mark and measures the growth of memory there, above the server with the first part of the data.
fn memory(server: &Server, count: u64, data: Data, looks: &Looks<'_>) -> Result<Outcome, LabError> {
    let &Looks { marks_percent, from_percent, rest } = looks;
    let mut client = server.client()?;
    server.rest(SETTLE_EMPTY);
    let at_mark = |percent: u64| count * percent / 100;
    let most = marks_percent.last().map_or(0, |percent| at_mark(*percent));
    let mut filler = Filler::new(data, most);
    let first = at_mark(from_percent);
    if first > 0 {
        filler.fill_to(&mut client, first).map_err(|error| step_error("memory", &error, server))?;
        server.rest(rest);
    }
    let (empty, _) = proc::memory_bytes(server.own_pid()?)?;
    let empty_used = used_bytes(server)?;
    let (mut commands, mut content_bytes, mut worst) = (0, 0, 0.0_f64);
    let mut took = Duration::ZERO;
    let mut extra = vec![("rss_bytes_empty".to_owned(), empty as f64)];
    for percent in marks_percent {
        let begin = Instant::now();
        let filled = filler.fill_to(&mut client, at_mark(*percent));
        let filled = filled.map_err(|error| step_error("memory", &error, server))?;
        took += begin.elapsed();
        commands += filled.commands;
        content_bytes += filled.content_bytes;
        server.rest(rest);
        let (now, _) = proc::memory_bytes(server.own_pid()?)?;
        let added = (at_mark(*percent) - first).max(1) as f64;
        let each = now.saturating_sub(empty) as f64 / added;
        worst = worst.max(each);
        extra.push((format!("bytes_each_{percent}"), rounded(each, 100.0)));
        if let (Some(empty), Some(now)) = (empty_used, used_bytes(server)?) {
            let each = now.saturating_sub(empty) as f64 / added;
            extra.push((format!("used_each_{percent}"), rounded(each, 100.0)));
        }
    }
    extra.push(("bytes_each".to_owned(), rounded(worst, 100.0)));
    extra.push(("content_bytes_each".to_owned(), rounded(content_bytes as f64 / (most - first).max(1) as f64, 100.0)));
    let marks: Vec<String> = marks_percent.iter().map(|percent| at_mark(*percent).to_string()).collect();
    Ok(Outcome {
        command_line: format!("memory with {} of {}", marks.join(", "), data_text(data)),
        requests: commands,
        requests_per_s: (commands > 0).then(|| commands as f64 / took.as_secs_f64()),
        extra,
        ..Outcome::default()
    })
}

/// Returns the memory that the server itself reports as used.
fn used_bytes(server: &Server) -> Result<Option<u64>, LabError> {
    let text = server.client()?.call("INFO memory").map_err(|error| step_error("INFO", &error, server))?;
    Ok(text.lines().find_map(|line| line.strip_prefix("used_memory:")?.trim().parse().ok()))
}

pub(crate) fn data_text(data: Data) -> String {
    match data {
        Data::List { contents, item_bytes } => {
            format!("{item_bytes}-byte {contents:?} in one list, LPUSH of {}", fill::ITEMS_PER_PUSH)
        }
        Data::Keys { contents, value_bytes, expiring } => {
            let time = if expiring { " EX" } else { "" };
            format!("keys of 16 bytes with {value_bytes}-byte {contents:?}, SET{time} in a shuffled order")
        }
        Data::Lists { items, contents, item_bytes } => {
            format!("lists of {items} {item_bytes}-byte {contents:?}, RPUSH of 1 to each in turn")
        }
        Data::Set { contents, item_bytes } => format!("{item_bytes}-byte {contents:?} in one set, SADD of 1"),
        Data::Hash { contents, name_bytes, value_bytes } => {
            format!("fields of {name_bytes} bytes with {value_bytes}, {contents:?}, in one hash, HSET of 1")
        }
        Data::Hashes { fields, contents, value_bytes } => {
            format!(
                "hashes of {fields} fields of 6 bytes with {value_bytes}-byte {contents:?}, HSET in a shuffled order"
            )
        }
        Data::Sorted { contents, item_bytes, scores } => {
            format!("{item_bytes}-byte {contents:?} under {scores:?} in one sorted set, ZADD of 1")
        }
        Data::Stream { value_bytes } => {
            format!("entries of a sensor and a temperature of {value_bytes} digits in one stream, XADD")
        }
    }
}

/// More digits than a figure can back would only make the record longer.
pub(crate) fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

fn idle(server: &Server, connections: u64) -> Result<Outcome, LabError> {
    allow_open_files(connections + 256)?;
    let (before, _) = proc::memory_bytes(server.own_pid()?)?;
    let begin = Instant::now();
    let mut open = Vec::new();
    for _ in 0..connections {
        let mut client = server.client()?;
        client.call("PING").map_err(|error| step_error("idle", &error, server))?;
        open.push(client);
    }
    let elapsed = begin.elapsed();
    let (after, _) = proc::memory_bytes(server.own_pid()?)?;
    Ok(Outcome {
        command_line: format!("{connections} connections, one PING each, then idle"),
        requests: connections,
        requests_per_s: Some(connections as f64 / elapsed.as_secs_f64()),
        rss_bytes: Some(after),
        extra: vec![("bytes_per_connection".to_owned(), (after.saturating_sub(before) / connections.max(1)) as f64)],
        ..Outcome::default()
    })
}

fn churn(server: &Server, keys: u64, rounds: u64) -> Result<Outcome, LabError> {
    let begin = Instant::now();
    let mut client: Client = server.client()?;
    let churned = fill::churn(&mut client, keys, rounds).map_err(|error| step_error("churn", &error, server))?;
    let elapsed = begin.elapsed();
    server.rest(SETTLE);
    Ok(Outcome {
        command_line: format!("{keys} keys of 16 to 511 bytes written {rounds} times, nine in ten deleted"),
        requests: churned.commands,
        requests_per_s: Some(churned.commands as f64 / elapsed.as_secs_f64()),
        extra: vec![("live_bytes".to_owned(), churned.content_bytes as f64)],
        ..Outcome::default()
    })
}

/// Both ends of a connection need a descriptor; ours are in this process.
pub(crate) fn allow_open_files(count: u64) -> Result<(), LabError> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < count) {
        limit.current = Some(count);
        setrlimit(Resource::Nofile, limit)
            .map_err(|error| LabError::Step(format!("{count} open files are not allowed here: {error}")))?;
    }
    Ok(())
}

pub(crate) fn step_error(step: &str, error: &io::Error, server: &Server) -> LabError {
    LabError::Step(format!("{step}: {error}; {}", server.last_words()))
}

/// The output of redis-benchmark with `--csv`.
///
/// With `--threads` it looks only every 250 ms whether it is done, so its rate may be low by that much of the run:
/// a case with threads needs ten seconds to be right within 2.5 in a hundred. CPU a request does not suffer.
struct BenchmarkRow {
    requests_per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl BenchmarkRow {
    /// The last test's figures.
    fn last_of(text: &str) -> Option<Self> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().ok()?.clone();
        let row = reader.records().filter_map(Result::ok).last()?;
        let field = |name| row.get(headers.iter().position(|header| header == name)?)?.parse().ok();
        Some(Self {
            requests_per_s: field("rps")?,
            p50_ms: field("p50_latency_ms")?,
            p99_ms: field("p99_latency_ms")?,
            max_ms: field("max_latency_ms")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_times_are_read_from_info() {
        let info = "# Stats\r\ntotal_forks:0\r\nlongest_turn_us:512\r\nlongest_lock_hold_us:7\r\n";
        let longest = [("longest_turn_us".to_owned(), 512.0), ("longest_lock_hold_us".to_owned(), 7.0)];
        assert_eq!(longest_in(info), longest);
    }

    #[test]
    fn command_times_are_summed() {
        let info = "# Commandstats\r\ncmdstat_set:calls=2,usec=30,usec_per_call=15.00\r\n\
                    cmdstat_config|resetstat:calls=1,usec=9,usec_per_call=9.00\r\n\
                    cmdstat_info:calls=1,usec=70,usec_per_call=70.00\r\ncmdstat_zadd:calls=2,usec=12,usec_per_call=6.00\r\n";
        assert_eq!(commands_us(info), 42);
    }

    #[test]
    fn benchmark_figures_are_found_by_header() {
        let text = "\"test\",\"rps\",\"avg_latency_ms\",\"min_latency_ms\",\"p50_latency_ms\",\"p95_latency_ms\",\
                    \"p99_latency_ms\",\"max_latency_ms\"\n\
                    \"GET\",\"12500.50\",\"0.4\",\"0.1\",\"0.3\",\"0.8\",\"1.5\",\"9.0\"\n";
        let row = BenchmarkRow::last_of(text).unwrap();
        assert_eq!((row.requests_per_s, row.p50_ms, row.p99_ms, row.max_ms), (12500.5, 0.3, 1.5, 9.0));
        assert!(BenchmarkRow::last_of("Could not connect\n").is_none());
    }
}
