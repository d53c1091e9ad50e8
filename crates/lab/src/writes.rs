//! Pipelined writes for a time, and what they cost: answers, disk, memory.
//!
//! ```text
//! connection 1   |16 records|16 records|16 records|      the next pipeline leaves when the last is answered
//! connection 2      |16 records|......stall.......|16      latency: a pipeline's; gap: nobody has an answer
//! ```
//!
//! Each record goes to a key drawn at random, its value begins with the record's number. So two values are never the
//! same, and a key that was never drawn still has what it was loaded with.

use crate::checkpoints::{self, CheckpointCount, Span};
use crate::contents::{below, mixed};
use crate::load::{Outcome, rounded, step_error};
use crate::resp::{Client, encode};
use crate::scenario::{Checkpoints, Verb, Writes};
use crate::server::Server;
use crate::watch::{self, Seen};
use crate::{LabError, proc};
use base::clock::thread_cpu_us;
use hdrhistogram::Histogram;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const LATENCY_US_MAX: u64 = 600_000_000;
/// Digits of a key's number, and of a record's.
const DIGITS: usize = 12;
/// Where keys are spared, these are the multiples of this number.
pub(crate) const SPARED_EVERY: u64 = 1000;

/// Writers, before they begin.
pub(crate) struct Writers<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) writes: &'a Writes,
    /// Their number.
    pub(crate) keys: u64,
    /// True if keys that [`SPARED_EVERY`] divides are spared.
    pub(crate) spares: bool,
}

/// The result of writers.
pub(crate) struct Written {
    pub(crate) records: u64,
    pub(crate) elapsed: Duration,
    /// Microseconds a pipeline.
    pub(crate) latency_us: Histogram<u64>,
    pub(crate) longest_gap_us: u64,
    /// The longest work for one pipeline, made, sent and read, in microseconds of the writer's own CPU: tens of them.
    /// Far higher values come from stalls of the machine, which stalls a server in the same way.
    pub(crate) longest_step_us: u64,
}

impl Writers<'_> {
    /// Writes until the time is over, or until a connection breaks once that is `forgiven`.
    ///
    /// # Errors
    /// A connection broke before, or a reply is an error.
    pub(crate) fn run(&self, forgiven: &AtomicBool) -> io::Result<Written> {
        let count = self.writes.connections;
        let clients = (0..count).map(|_| Client::connect(self.address)).collect::<io::Result<Vec<_>>>()?;
        let shared = SharedWrites {
            begin: Instant::now(),
            next: AtomicU64::new(0),
            answer_us: AtomicU64::new(0),
            gap_us: AtomicU64::new(0),
            step_us: AtomicU64::new(0),
        };
        let parts: Vec<io::Result<Histogram<u64>>> = thread::scope(|scope| {
            let shared = &shared;
            let workers: Vec<_> =
                clients.into_iter().map(|client| scope.spawn(move || self.write(client, shared, forgiven))).collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
        });
        let elapsed = shared.begin.elapsed();
        let mut latency_us = histogram();
        for part in parts {
            latency_us.add(part?).expect("histograms of one shape");
        }
        let (longest_gap_us, longest_step_us) = (shared.gap_us.into_inner(), shared.step_us.into_inner());
        let records = latency_us.len() * self.writes.pipeline;
        Ok(Written { records, elapsed, latency_us, longest_gap_us, longest_step_us })
    }

    /// Writes as [`Writers::run`], beside single writes if some are due; returns their result too.
    ///
    /// # Errors
    /// As [`Writers::run`].
    fn run_with_singles(&self, forgiven: &AtomicBool) -> io::Result<(Written, Option<Written>)> {
        let Some(singles_per_s) = self.writes.singles_per_s else { return Ok((self.run(forgiven)?, None)) };
        let writes = Writes { connections: 1, pipeline: 1, pace_per_s: Some(singles_per_s), ..self.writes.clone() };
        let singles = Writers { writes: &writes, ..*self };
        thread::scope(|scope| {
            let singles = scope.spawn(|| singles.run(forgiven));
            let written = self.run(forgiven);
            let singles = singles.join().expect("a worker does not panic");
            Ok((written?, Some(singles?)))
        })
    }

    fn write(&self, mut client: Client, shared: &SharedWrites, forgiven: &AtomicBool) -> io::Result<Histogram<u64>> {
        let mut latency_us = histogram();
        let mut batch = Batch::new(self.writes);
        let pipeline = self.writes.pipeline;
        let end = Duration::from_secs_f64(self.writes.seconds);
        loop {
            let first = shared.next.fetch_add(pipeline, Ordering::Relaxed);
            let due = self.due(shared.begin, first);
            if due - shared.begin >= end {
                return Ok(latency_us);
            }
            let began_us = thread_cpu_us();
            for (place, number) in (first..first + pipeline).enumerate() {
                batch.put(place, self.key(number), number);
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            match client.send(&batch.bytes).and_then(|()| client.skip_replies(pipeline as usize)) {
                Err(_) if forgiven.load(Ordering::Relaxed) => return Ok(latency_us),
                done => done?,
            }
            latency_us.saturating_record(due.elapsed().as_micros() as u64);
            shared.step_us.fetch_max(thread_cpu_us() - began_us, Ordering::Relaxed);
            shared.note_answer();
        }
    }

    /// When the pipeline that begins with this record is to be sent.
    fn due(&self, begin: Instant, record: u64) -> Instant {
        let offset_s = |pace: u64| record as f64 / pace as f64;
        self.writes.pace_per_s.map_or_else(Instant::now, |pace| begin + Duration::from_secs_f64(offset_s(pace)))
    }

    fn key(&self, number: u64) -> u64 {
        let key = below(mixed(number), self.keys);
        if self.spares && key.is_multiple_of(SPARED_EVERY) { key + 1 } else { key }
    }
}

/// The state shared by writers.
struct SharedWrites {
    begin: Instant,
    next: AtomicU64,
    /// When the last answer came, from the beginning on.
    answer_us: AtomicU64,
    gap_us: AtomicU64,
    step_us: AtomicU64,
}

impl SharedWrites {
    fn note_answer(&self) {
        let now_us = self.begin.elapsed().as_micros() as u64;
        let last_us = self.answer_us.fetch_max(now_us, Ordering::Relaxed);
        self.gap_us.fetch_max(now_us.saturating_sub(last_us), Ordering::Relaxed);
    }
}

/// The bytes of a pipeline: records of one length, in which only digits change.
struct Batch {
    bytes: Vec<u8>,
    record_bytes: usize,
    /// The offset in a record of the digits of its key; `value_at`, of its value.
    key_at: usize,
    value_at: usize,
    value_digits: usize,
}

impl Batch {
    fn new(writes: &Writes) -> Self {
        let (verb, name) = match writes.verb {
            Verb::Set => ("SET", "key:"),
            Verb::Rpush => ("RPUSH", "list:"),
        };
        let value = vec![b'x'; writes.value_bytes];
        let mut record = Vec::new();
        encode(&mut record, &[verb.as_bytes(), format!("{name}{:012}", 0).as_bytes(), &value]);
        let value_at = record.len() - 2 - value.len();
        let key_end = value_at - format!("\r\n${}\r\n", value.len()).len();
        Self {
            record_bytes: record.len(),
            key_at: key_end - DIGITS,
            value_at,
            value_digits: DIGITS.min(value.len()),
            bytes: record.repeat(writes.pipeline as usize),
        }
    }

    fn put(&mut self, place: usize, key: u64, number: u64) {
        let record = &mut self.bytes[place * self.record_bytes..][..self.record_bytes];
        put_digits(&mut record[self.key_at..][..DIGITS], key);
        put_digits(&mut record[self.value_at..][..self.value_digits], number);
    }
}

fn put_digits(room: &mut [u8], mut value: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// Writes, rests, and returns the cost.
///
/// # Errors
/// The server did not take it, or made no checkpoint where some were wanted.
pub(crate) fn measure(
    server: &Server,
    writes: &Writes,
    keys: u64,
    wanted: Option<&Checkpoints>,
) -> Result<Outcome, LabError> {
    let failed = |error: io::Error| step_error("writes", &error, server);
    let writers = Writers { address: server.address(), writes, keys, spares: false };
    let disk_before = proc::written_bytes(server.own_pid()?)?;
    let rounds_before = rounds(server);
    let never = AtomicBool::new(false);
    let work = || {
        let done = checkpoints::beside(wanted, server.address(), || writers.run_with_singles(&never));
        server.rest(Duration::from_secs(writes.rest_s));
        done
    };
    let (done, seen) = watch::during(server, wanted.is_some(), work)?;
    let (written, spans) = done.map_err(failed)?;
    let (written, singles) = written.map_err(failed)?;
    let disk_bytes = proc::written_bytes(server.own_pid()?)? - disk_before;
    let records = written.records + singles.as_ref().map_or(0, |singles| singles.records);
    let content_bytes = records * content_bytes_each(writes);
    let mut extra = vec![
        ("max_us", written.latency_us.max()),
        ("longest_gap_us", written.longest_gap_us),
        ("longest_generator_step_us", written.longest_step_us),
        ("rounds", rounds(server).saturating_sub(rounds_before)),
        ("content_bytes", content_bytes),
        ("written_bytes", disk_bytes),
        ("folder_bytes", watch::folder_bytes(server.folder())),
        ("folder_bytes_max", seen.folder_bytes_max),
    ];
    if writes.verb == Verb::Set {
        extra.push(("live_bytes", keys * content_bytes_each(writes)));
    }
    if let Some(singles) = singles {
        let latency_us = &singles.latency_us;
        extra.push(("singles", singles.records));
        extra.push(("single_p50_us", latency_us.value_at_quantile(0.5)));
        extra.push(("single_p999_us", latency_us.value_at_quantile(0.999)));
        extra.push(("single_max_us", latency_us.max()));
    }
    extra.extend(memory_around(&seen, &spans));
    let mut extra: Vec<_> = extra.into_iter().map(|(name, value)| (name.to_owned(), value as f64)).collect();
    extra.push(("written_per_byte".to_owned(), rounded(disk_bytes as f64 / content_bytes.max(1) as f64, 1000.0)));
    let quantile_ms = |quantile| Some(written.latency_us.value_at_quantile(quantile) as f64 / 1000.0);
    Ok(Outcome {
        command_line: line(writes, keys, wanted),
        requests: written.records,
        requests_per_s: Some(written.records as f64 / written.elapsed.as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra,
        ..Outcome::default()
    })
}

/// Writes in words.
pub(crate) fn line(writes: &Writes, keys: u64, wanted: Option<&Checkpoints>) -> String {
    let Writes { verb, value_bytes, connections, pipeline, seconds, pace_per_s, singles_per_s, rest_s, .. } = writes;
    let verb = format!("{verb:?}").to_uppercase();
    let pace = pace_per_s.map_or(String::new(), |pace| format!(", {pace} due a second"));
    let singles = singles_per_s.map_or(String::new(), |count| format!(" beside {count} single ones due a second"));
    let wanted = wanted.map_or(String::new(), |wanted| format!(" while {} is repeated", wanted.command));
    let rest = if *rest_s == 0 { String::new() } else { format!(", then {rest_s} s rest") };
    format!(
        "{verb} of {value_bytes} bytes among {keys}, {connections} connections, pipeline of {pipeline}{pace}{singles}, \
         {seconds} s{wanted}{rest}"
    )
}

fn memory_around(seen: &Seen, spans: &[Span]) -> Vec<(&'static str, u64)> {
    let Some(growth) = watch::growth(&seen.memory, spans) else { return Vec::new() };
    vec![
        ("checkpoints", spans.len() as u64),
        ("memory_before_bytes", growth.before),
        ("memory_peak_bytes", growth.peak),
        ("memory_growth_bytes", growth.peak.saturating_sub(growth.before)),
    ]
}

/// Returns the number of checkpoints so far, 0 if the server reports none.
fn rounds(server: &Server) -> u64 {
    let asked = server.client().map(|mut client| CheckpointCount::ask(&mut client));
    asked.ok().and_then(Result::ok).map_or(0, |progress| progress.rounds)
}

/// Bytes of key and value; of lists, the items alone.
fn content_bytes_each(writes: &Writes) -> u64 {
    let name = match writes.verb {
        Verb::Set => "key:".len() + DIGITS,
        Verb::Rpush => 0,
    };
    (name + writes.value_bytes) as u64
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::resp::encode_line;
    use testing::program_or_skip;

    pub(crate) fn writes(verb: Verb) -> Writes {
        let keys = "{items}".to_owned();
        let (pace_per_s, singles_per_s) = (None, None);
        Writes {
            verb,
            keys,
            value_bytes: 20,
            connections: 3,
            pipeline: 4,
            seconds: 1.0,
            pace_per_s,
            singles_per_s,
            rest_s: 0,
        }
    }

    #[test]
    fn a_batch_encodes_its_commands() {
        let mut batch = Batch::new(&Writes { pipeline: 2, ..writes(Verb::Set) });
        batch.put(0, 7, 123);
        batch.put(1, 999_999_999_999, 5);
        let expected = [
            encode_line("SET key:000000000007 000000000123xxxxxxxx"),
            encode_line("SET key:999999999999 000000000005xxxxxxxx"),
        ];
        assert_eq!(batch.bytes, expected.concat());
        let mut batch = Batch::new(&Writes { pipeline: 1, value_bytes: 3, ..writes(Verb::Rpush) });
        batch.put(0, 4, 12_345);
        assert_eq!(batch.bytes, encode_line("RPUSH list:000000000004 345"));
    }

    #[test]
    fn spared_keys_are_never_drawn() {
        let writes = writes(Verb::Set);
        let writers =
            Writers { address: SocketAddr::from(([127, 0, 0, 1], 0)), writes: &writes, keys: 3000, spares: true };
        assert!(
            (0..100_000).all(|number| !writers.key(number).is_multiple_of(SPARED_EVERY) && writers.key(number) < 3000)
        );
        let all = Writers { spares: false, ..writers };
        assert!((0..100_000).any(|number| all.key(number) == 0));
    }

    #[test]
    fn all_writes_are_stored_and_counted() {
        let Some(redis) = program_or_skip("lab::writes", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let flags = ["--save", "", "--appendonly", "yes"].map(str::to_owned);
        let server = Server::start(&redis, &flags, data.path()).unwrap();
        let mut client = server.client().unwrap();
        let wanted = Checkpoints { command: "BGREWRITEAOF".to_owned(), after_s: 0 };
        let sets = measure(&server, &writes(Verb::Set), 50, Some(&wanted)).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "50");
        assert_eq!(client.call("STRLEN key:000000000049").unwrap(), "20");
        let extra = |name: &str| sets.extra.iter().find(|(found, _)| found == name).unwrap().1;
        assert_eq!(extra("content_bytes"), (sets.requests * 36) as f64);
        assert_eq!(extra("live_bytes"), 50.0 * 36.0);
        assert!(extra("rounds") >= 1.0);
        assert!(sets.requests > 0 && sets.requests.is_multiple_of(4));

        let paced = Writes { pace_per_s: Some(400), ..writes(Verb::Rpush) };
        let pushes = measure(&server, &paced, 1, None).unwrap();
        // The records of one second, whatever stalls: each record that is due is sent.
        assert_eq!(pushes.requests, 400);
        assert_eq!(client.call("LLEN list:000000000000").unwrap(), "400");

        let beside = Writes { singles_per_s: Some(200), ..paced };
        let beside = measure(&server, &beside, 1, None).unwrap();
        let extra = |name: &str| beside.extra.iter().find(|(found, _)| found == name).unwrap().1;
        // Pipelines alone are the case's requests; all of both are in the list.
        assert_eq!((beside.requests, extra("singles")), (400, 200.0));
        assert_eq!(extra("content_bytes"), 600.0 * 20.0);
        assert_eq!(client.call("LLEN list:000000000000").unwrap(), "1000");
        assert!(extra("single_p50_us") <= extra("single_p999_us"));
        assert!(extra("single_p999_us") <= extra("single_max_us"));
    }

    #[test]
    fn a_broken_connection_is_an_error_unless_forgiven() {
        let Some(redis) = program_or_skip("lab::writes", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        for is_forgiven in [false, true] {
            let mut server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
            let writes = Writes { seconds: 600.0, ..writes(Verb::Set) };
            let writers = Writers { address: server.address(), writes: &writes, keys: 10, spares: false };
            let forgiven = AtomicBool::new(is_forgiven);
            let done = thread::scope(|scope| {
                let writing = scope.spawn(|| writers.run(&forgiven));
                let mut client = server.client().unwrap();
                while client.call("DBSIZE").unwrap() != "10" {
                    thread::yield_now();
                }
                server.kill().unwrap();
                writing.join().unwrap()
            });
            assert_eq!(done.is_ok(), is_forgiven);
        }
    }
}
