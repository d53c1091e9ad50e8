//! Measures the time until a killed server answers again, and until it has loaded everything.
//!
//! ```text
//! load .. writes |=========== kill -9 |  start                                         the page cache stays warm
//!                                        |........ first right reply ... loading:0 |
//! ```
//!
//! The writes spare some keys, whose values are read before the kill and so are known. After a refusal (`LOADING`, or
//! nobody listening yet) the request is repeated; any other answer fails the step.

use crate::LabError;
use crate::checkpoints::field;
use crate::contents::{below, mixed};
use crate::fill::key;
use crate::load::{Outcome, step_error};
use crate::resp::Client;
use crate::scenario::Writes;
use crate::server::Server;
use crate::watch;
use crate::writes::{self, SPARED_EVERY, Writers, Written};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The number of keys read at the end.
const KNOWN: u64 = 100;
const LOADED_WITHIN: Duration = Duration::from_secs(600);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Writes, kills, starts again, asks; `draw` says when it is killed and which keys are asked for. Of the keys, those
/// that [`SPARED_EVERY`] divides must be there.
///
/// # Errors
/// The server did not take the writes, did not come back, or answers otherwise than before.
pub(crate) fn measure(
    server: &mut Server,
    writes: &Writes,
    keys: u64,
    least_s: u64,
    draw: u64,
) -> Result<Outcome, LabError> {
    let before = Before::look(server, keys, draw)?;
    let (written, lived) = killed_while_writing(server, writes, keys, moment(writes, least_s, draw))?;
    let folder_bytes = watch::folder_bytes(server.folder());

    let begin = Instant::now();
    server.start_again()?;
    let (name, value) = &before.known[0];
    let first_reply = first_right_reply(server, begin, name, value)?;
    let loaded = loaded(server, begin)?;
    before.hold_against(server)?;
    let ms = |time: Duration| (time.as_micros() as f64 / 1000.0 * 10.0).round() / 10.0;
    let extra = [
        ("first_reply_ms", ms(first_reply)),
        ("loaded_ms", ms(loaded)),
        ("killed_after_ms", ms(lived)),
        ("records_before", written.records as f64),
        ("folder_bytes", folder_bytes as f64),
    ];
    Ok(Outcome {
        command_line: format!("{}, kill -9 meanwhile, start", writes::line(writes, keys, None)),
        extra: extra.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..Outcome::default()
    })
}

/// Returns the time of the kill, between `least_s` and the end of the writers' time.
fn moment(writes: &Writes, least_s: u64, draw: u64) -> Duration {
    let span_ms = ((writes.seconds - least_s as f64).max(0.0) * 1000.0) as u64;
    Duration::from_millis(least_s * 1000 + below(mixed(draw), span_ms.max(1)))
}

/// The contents of a server before it is killed.
struct Before {
    /// Names and values of keys that nobody writes to.
    known: Vec<(String, String)>,
    keys: String,
}

impl Before {
    fn look(server: &Server, keys: u64, draw: u64) -> Result<Self, LabError> {
        let mut client = server.client()?;
        let mut ask = |line: String| client.call(&line).map_err(|error| step_error(&line, &error, server));
        let mut known = Vec::new();
        for index in 0..KNOWN {
            let name = key(below(mixed(mixed(draw) ^ index), keys.div_ceil(SPARED_EVERY)) * SPARED_EVERY);
            let value = ask(format!("GET {name}"))?;
            known.push((name, value));
        }
        Ok(Self { known, keys: ask("DBSIZE".to_owned())? })
    }

    fn hold_against(&self, server: &Server) -> Result<(), LabError> {
        let mut client = server.client()?;
        let mut ask = |line: String| client.call(&line).map_err(|error| step_error(&line, &error, server));
        for (name, value) in &self.known {
            right(name, value, &ask(format!("GET {name}"))?)?;
        }
        right("DBSIZE", &self.keys, &ask("DBSIZE".to_owned())?)
    }
}

fn right(what: &str, expected: &str, answer: &str) -> Result<(), LabError> {
    let wrong = || LabError::Step(format!("{what} is `{answer}` after the restart, was `{expected}`"));
    (answer == expected).then_some(()).ok_or_else(wrong)
}

/// Kills the server while it is written to; returns the writes, and the time that the server ran meanwhile.
fn killed_while_writing(
    server: &mut Server,
    writes: &Writes,
    keys: u64,
    after: Duration,
) -> Result<(Written, Duration), LabError> {
    // The kill ends the writers, not their own time limit.
    let lasting = Writes { seconds: after.as_secs_f64() + 600.0, ..writes.clone() };
    let writers = Writers { address: server.address(), writes: &lasting, keys, spares: true };
    let forgiven = AtomicBool::new(false);
    let begin = Instant::now();
    let (written, killed) = thread::scope(|scope| {
        let writing = scope.spawn(|| writers.run(&forgiven));
        while begin.elapsed() < after && !writing.is_finished() {
            thread::sleep(LOOK_AGAIN);
        }
        forgiven.store(true, Ordering::Relaxed);
        let killed = server.kill();
        (writing.join().expect("a worker does not panic"), killed)
    });
    killed?;
    let written = written.map_err(|error| LabError::Step(format!("writes before the kill: {error}")))?;
    Ok((written, begin.elapsed()))
}

fn first_right_reply(server: &mut Server, begin: Instant, name: &str, value: &str) -> Result<Duration, LabError> {
    let question = format!("GET {name}");
    wait(server, begin, |address| match ask(address, &question) {
        Ok(answer) => right(name, value, &answer).map(|()| true),
        Err(_) => Ok(false),
    })
}

/// A server that says nothing of loading has loaded when it answers; one that serves meanwhile calls it
/// `async_loading`.
fn loaded(server: &mut Server, begin: Instant) -> Result<Duration, LabError> {
    wait(server, begin, |address| {
        let is_over = |info: &str, name| field(info, name).unwrap_or(0) == 0;
        let info = ask(address, "INFO persistence");
        Ok(info.is_ok_and(|info| is_over(&info, "loading") && is_over(&info, "async_loading")))
    })
}

fn ask(address: SocketAddr, question: &str) -> io::Result<String> {
    Client::connect(address)?.call(question)
}

fn wait(
    server: &mut Server,
    begin: Instant,
    mut is_done: impl FnMut(SocketAddr) -> Result<bool, LabError>,
) -> Result<Duration, LabError> {
    while !is_done(server.address())? {
        server.is_running()?;
        if begin.elapsed() > LOADED_WITHIN {
            return Err(LabError::Step(format!("not back in {LOADED_WITHIN:?}; {}", server.last_words())));
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(begin.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::fill_strings;
    use crate::scenario::Verb;
    use crate::writes::tests::writes;
    use testing::program_or_skip;

    #[test]
    fn kill_times_are_between_the_minimum_and_the_maximum() {
        let writes = Writes { seconds: 5.0, ..writes(Verb::Set) };
        let moments: Vec<Duration> = (0..1000).map(|draw| moment(&writes, 2, draw)).collect();
        assert!(moments.iter().all(|at| (2000..5000).contains(&at.as_millis())));
        assert!(moments.iter().any(|at| at.as_millis() < 2100) && moments.iter().any(|at| at.as_millis() > 4900));
        assert_eq!(moment(&writes, 5, 3), Duration::from_secs(5));
    }

    #[test]
    fn a_server_that_kept_everything_passes() {
        let Some(redis) = program_or_skip("lab::restart", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let flags = ["--save", "", "--appendonly", "yes"].map(str::to_owned);
        let mut server = Server::start(&redis, &flags, data.path()).unwrap();
        fill_strings(&mut server.client().unwrap(), 2500, 7).unwrap();
        let outcome = measure(&mut server, &writes(Verb::Set), 2500, 0, 7).unwrap();
        let extra = |name: &str| outcome.extra.iter().find(|(found, _)| found == name).unwrap().1;
        assert!(extra("first_reply_ms") <= extra("loaded_ms"));
        assert_eq!(server.client().unwrap().call("DBSIZE").unwrap(), "2500");
    }

    #[test]
    fn a_server_that_lost_data_is_detected() {
        let Some(redis) = program_or_skip("lab::restart", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let mut server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        fill_strings(&mut server.client().unwrap(), 2500, 7).unwrap();
        let error = measure(&mut server, &writes(Verb::Set), 2500, 0, 7).err().unwrap().to_string();
        assert!(error.contains("after the restart"), "{error}");
    }
}
