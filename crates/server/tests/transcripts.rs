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
    for_each(every(), |transcript| transcript::check(transcript, &mut connect(&start(&[]), false)));
}

#[test]
fn transcripts_pass_in_resp3() {
    for_each(every(), |transcript| transcript::check(transcript, &mut connect(&start(&[]), true)));
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
    dues: Vec<(Instant, Instant)>,
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

    fn check(mut self, transcript: &Transcript) -> Vec<String> {
        let differences = transcript::check(transcript, &mut self);
        let before = self.digest();
        self.restart(&before);
        differences
    }

    fn digest(&mut self) -> Value {
        let digest = self.socket.call(&[b"DEBUG".to_vec(), b"DIGEST".to_vec()]);
        assert!(matches!(digest, Value::Simple(_)), "DEBUG DIGEST answers {digest}");
        digest
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
        for number in words.iter().filter_map(|word| std::str::from_utf8(word).ok()?.parse().ok()) {
            let spans = [(1..=DUE_MS_MAX, 1), (1..=DUE_MS_MAX / 1000, 1000)];
            for (_, unit_ms) in spans.into_iter().filter(|(numbers, _)| numbers.contains(&number)) {
                let after = Duration::from_millis(number * unit_ms);
                self.dues.push((sent + after - CLOCK_SLACK, Instant::now() + after + CLOCK_SLACK));
            }
        }
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
    for_each(transcript::all(), |transcript| Restarting::new(&[], Server::stop).check(transcript));
}

#[test]
fn transcripts_pass_when_killed_after_each_write() {
    let flags = ["--fsync", "always"];
    for_each(transcript::all(), |transcript| Restarting::new(&flags, Server::kill).check(transcript));
}
