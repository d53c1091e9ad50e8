//! Every transcript of `crates/commands` against the real binary: over a socket in RESP2 and in RESP3, and with the
//! server restarted after each request that may have changed something.
//!
//! ```text
//! *.t --> Wire:       a connection                          replies
//!         Restarting: a connection, and between requests    replies, and DEBUG DIGEST of all data before and after
//! ```

use crate::socket::Socket;
use crate::support::Server;
use commands::registry;
use commands::testing::transcript::{self, Endpoint, Transcript};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wire::OwnedRequest;
use wire::client::Value;

/// The number of transcripts that run concurrently, each against a server of its own: they wait for keys to expire.
const SIDE_BY_SIDE: usize = 4;

/// Runs `check` for each of `transcripts`; what it shows are differences.
#[track_caller]
fn for_each(transcripts: Vec<Transcript>, check: impl Fn(&Transcript) -> Vec<String> + Sync) {
    let left = Mutex::new(transcripts);
    let differences = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(transcript) = next(&left) {
                    let found = check(&transcript);
                    differences.lock().unwrap().extend(found);
                }
            });
        }
    });
    let shown = differences.into_inner().unwrap();
    assert!(shown.is_empty(), "{} differences:\n{}", shown.len(), shown.join("\n"));
}

/// A function of its own, so that the lock is let go before the transcript runs.
fn next(left: &Mutex<Vec<Transcript>>) -> Option<Transcript> {
    left.lock().unwrap().pop()
}

fn every() -> Vec<Transcript> {
    transcript::all().into_iter().chain(transcript::served()).collect()
}

/// A server with these flags beside what some commands need.
fn start(flags: &[&str]) -> Server {
    let server = Server::start(&[flags, &["--key-order", "yes"]].concat());
    server.wait_for_info("key_order", "on");
    server
}

fn connect(server: &Server, is_resp3: bool) -> Socket {
    Socket::connect(&format!("127.0.0.1:{}", server.port), is_resp3).unwrap()
}

#[test]
fn transcripts_pass_in_resp2() {
    for_each(every(), |transcript| check(transcript, || Wire::new(false), drop));
}

#[test]
fn transcripts_pass_in_resp3() {
    for_each(every(), |transcript| check(transcript, || Wire::new(true), drop));
}

/// A connection, and its server.
struct Wire {
    socket: Socket,
    _server: Server,
}

impl Wire {
    fn new(is_resp3: bool) -> Self {
        let server = start(&[]);
        Self { socket: connect(&server, is_resp3), _server: server }
    }
}

impl Endpoint for Wire {
    fn call(&mut self, words: &[Vec<u8>]) -> Value {
        self.socket.call(words)
    }

    fn advance(&mut self, ms: u64) {
        self.socket.advance(ms);
    }

    fn is_resp3(&self) -> bool {
        self.socket.is_resp3()
    }
}

/// An endpoint, and what a transcript has done about time.
struct Timed<E> {
    endpoint: E,
    /// The intervals in which deadlines of keys and fields may pass, and those in which the time was advanced.
    dues: Vec<Interval>,
    advances: Vec<Interval>,
}

type Interval = (Instant, Instant);

/// The runs of a transcript that a machine may be too slow for.
const LATE_RUNS_MAX: usize = 10;

/// Runs a transcript; again, if there are differences, and a deadline may have passed before the time was advanced.
fn check<E: Endpoint>(transcript: &Transcript, new: impl Fn() -> E, finish: impl Fn(E)) -> Vec<String> {
    let mut differences = Vec::new();
    for _ in 0..LATE_RUNS_MAX {
        let mut timed = Timed { endpoint: new(), dues: Vec::new(), advances: Vec::new() };
        differences = transcript::check(transcript, &mut timed);
        let is_over = differences.is_empty() || !timed.is_late();
        finish(timed.endpoint);
        if is_over {
            break;
        }
    }
    differences
}

impl<E> Timed<E> {
    /// Returns true if a deadline may have passed at another time than the transcript says.
    fn is_late(&self) -> bool {
        let now = Instant::now();
        let is_planned = |due: &Interval| self.advances.iter().any(|(from, to)| *from <= due.0 && due.1 <= *to);
        self.dues.iter().any(|due| due.0 <= now && !is_planned(due))
    }
}

impl<E: Endpoint> Endpoint for Timed<E> {
    fn call(&mut self, words: &[Vec<u8>]) -> Value {
        let sent = Instant::now();
        let reply = self.endpoint.call(words);
        let is_option = |word: &Vec<u8>| word.eq_ignore_ascii_case(b"EX") || word.eq_ignore_ascii_case(b"PX");
        let name = words[0].to_ascii_uppercase();
        if name.windows(2).any(|part| part == b"EX") || words.iter().any(is_option) {
            self.dues.extend(dues(words, sent));
        }
        reply
    }

    fn advance(&mut self, ms: u64) {
        let began = Instant::now();
        self.endpoint.advance(ms);
        self.advances.push((began, Instant::now()));
    }

    fn is_resp3(&self) -> bool {
        self.endpoint.is_resp3()
    }
}

/// Returns the intervals in which a deadline may pass that was set by a request, now answered: for each number in it.
fn dues(words: &[Vec<u8>], sent: Instant) -> Vec<Interval> {
    let mut dues = Vec::new();
    for number in words.iter().filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok()) {
        let spans = [(1..=DUE_MS_MAX, 1), (1..=DUE_MS_MAX / 1000, 1000)];
        for (_, unit_ms) in spans.into_iter().filter(|(numbers, _)| numbers.contains(&number)) {
            let after = Duration::from_millis(number * unit_ms);
            dues.push((sent + after - CLOCK_SLACK, Instant::now() + after + CLOCK_SLACK));
        }
    }
    dues
}

/// A server that is restarted after each write that changed something, and at the end.
struct Restarting {
    server: Server,
    socket: Socket,
    /// The digest of the data after the last restart.
    digest: Value,
    /// The request that chose the database, if one did.
    select: Option<Vec<Vec<u8>>>,
    /// The intervals in which a deadline set by a request may pass, for each number in the request.
    dues: Vec<Interval>,
    end: fn(&mut Server),
}

impl Restarting {
    fn new(flags: &[&str], end: fn(&mut Server)) -> Self {
        let server = start(&[flags, &["--enable-debug-command", "local"]].concat());
        let socket = connect(&server, false);
        let mut restarting = Self { server, socket, digest: Value::Null, select: None, dues: Vec::new(), end };
        restarting.digest = restarting.digest();
        restarting
    }

    fn digest(&mut self) -> Value {
        let digest = self.socket.call(&[b"DEBUG".to_vec(), b"DIGEST".to_vec()]);
        assert!(matches!(digest, Value::Simple(_)), "DEBUG DIGEST answers {digest}");
        digest
    }

    fn finish(mut self) {
        let before = self.digest();
        self.restart(&before);
    }

    /// Ends the server, whose data has the digest `before`, starts it again, and connects as before.
    fn restart(&mut self, before: &Value) {
        let began = Instant::now();
        (self.end)(&mut self.server);
        self.server.restart();
        self.server.wait_for_info("key_order", "on");
        self.socket = connect(&self.server, false);
        let (after, ended) = (self.digest(), Instant::now());
        self.digest.clone_from(&after);
        // On a slow machine a deadline may pass meanwhile.
        let is_due = self.dues.iter().any(|(from, to)| *from <= ended && *to >= began);
        assert!(after == *before || is_due, "a restart changes nothing, but {before} is {after} now");
        if let Some(select) = &self.select {
            assert_eq!(self.socket.call(select), Value::Simple("OK".to_owned()));
        }
    }
}

/// Deadlines further off than this are beyond the end of a transcript.
const DUE_MS_MAX: u64 = 60_000;
/// The maximum difference between the server's clock and the test's.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

impl Endpoint for Restarting {
    fn call(&mut self, words: &[Vec<u8>]) -> Value {
        let sent = Instant::now();
        let reply = self.socket.call(words);
        if reply.as_error().is_some() {
            return reply;
        }
        self.dues.extend(dues(words, sent));
        if words[0].eq_ignore_ascii_case(b"SELECT") {
            self.select = Some(words.to_vec());
        }
        if let registry::Lookup::Command(command) = registry::find(&OwnedRequest::of(words).args())
            && command.spec().writes()
        {
            // What a write without an effect has left in the journal is replayed at the next restart. The digest does
            // not contain the time of a deadline.
            let has_number = words.iter().any(|word| word.iter().all(u8::is_ascii_digit) && !word.is_empty());
            let digest = self.digest();
            if has_number || digest != self.digest {
                self.restart(&digest);
            }
        }
        reply
    }

    fn advance(&mut self, ms: u64) {
        self.socket.advance(ms);
    }

    fn is_resp3(&self) -> bool {
        false
    }
}

#[test]
fn transcripts_pass_when_restarted_after_each_write() {
    for_each(transcript::all(), |transcript| {
        check(transcript, || Restarting::new(&[], Server::stop), Restarting::finish)
    });
}

#[test]
fn transcripts_pass_when_killed_after_each_write() {
    let flags = ["--fsync", "always"];
    for_each(transcript::all(), |transcript| {
        check(transcript, || Restarting::new(&flags, Server::kill), Restarting::finish)
    });
}
