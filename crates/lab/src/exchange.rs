//! Exchanges: parties of connections that each have one call under way, in whatever protocol the side speaks.
//!
//! ```text
//! party 0   say = "set key:{next:12} 0 0", bytes = 100, 50 connections   |call|call|call| ...
//! party 1   say = "get key:{random:12}", 50 connections                   |call|call| ...     at once
//! ```
//!
//! One thread waits for all connections, so that a thousand cost no more than ten. Each party makes as many calls as
//! requested. A call that finds nothing is repeated, so a consumer of a queue takes as much as was put in.

use crate::contents::{Contents, Items, below, mixed};
use crate::load::{Outcome, allow_open_files, rounded, step_error};
use crate::protocol::{Answer, Protocol};
use crate::scenario::{Party, PlaceholderValues};
use crate::server::Server;
use crate::{LabError, proc};
use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// The maximum number of bytes of one read.
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 256;
/// The interval between checks of the time limit.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
const LATENCY_US_MAX: u64 = 600_000_000;
/// The number of random letters and digits; a payload begins anywhere in them.
const NOISE_BYTES: usize = 1 << 20;
const NEXT: &str = "{next:12}";
const RANDOM: &str = "{random:12}";

/// Runs the calls of all parties.
///
/// # Errors
/// The server refused, or the limit has passed.
pub(crate) fn measure(
    server: &Server,
    parties: &[Party],
    counts: PlaceholderValues,
    limit: Duration,
) -> Result<Outcome, LabError> {
    allow_open_files(parties.iter().map(|party| party.connections).sum::<u64>() + 256)?;
    let own_cpu_us = proc::cpu_us(std::process::id())?;
    let mut exchange = Exchange::new(server, parties, counts);
    let callers = exchange.connect();
    let (poll, callers) = callers.map_err(|error| step_error("connect", &error, server))?;
    let begin = Instant::now();
    exchange.run(&poll, callers, begin + limit).map_err(|error| step_error("exchange", &error, server))?;
    let elapsed = begin.elapsed();
    let own_cpu_us = proc::cpu_us(std::process::id())? - own_cpu_us;
    let calls = counts.requests * parties.len() as u64;
    let latency_us = &exchange.latency_us;
    let quantile_ms = |quantile| Some(latency_us.value_at_quantile(quantile) as f64 / 1000.0);
    let mut extra = vec![
        ("max_us".to_owned(), latency_us.max() as f64),
        ("found_nothing".to_owned(), exchange.nothing as f64),
        ("generator_us_per_request".to_owned(), rounded(own_cpu_us as f64 / calls as f64, 1000.0)),
    ];
    for (place, work) in exchange.works.iter().enumerate().filter(|_| parties.len() > 1) {
        let took_s = work.ended.map_or(elapsed, |ended| ended - begin).as_secs_f64();
        extra.push((format!("party_{place}_per_s"), rounded(counts.requests as f64 / took_s, 1.0)));
    }
    let told = |party: &Party| {
        let payload = party.bytes.map_or(String::new(), |bytes| format!(" of {bytes} bytes"));
        format!("{} x {}{payload} over {}", counts.requests, party.say, party.connections)
    };
    Ok(Outcome {
        command_line: format!("exchange: {}", parties.iter().map(told).collect::<Vec<_>>().join(" beside ")),
        requests: calls,
        requests_per_s: Some(calls as f64 / elapsed.as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra,
        ..Outcome::default()
    })
}

/// The progress of a party.
struct Work {
    say: String,
    payload_bytes: Option<usize>,
    connections: u64,
    begun: u64,
    done: u64,
    ended: Option<Instant>,
}

/// A connection.
struct Caller {
    stream: TcpStream,
    party: usize,
    /// The number, within its party, of the call in progress.
    number: u64,
    begin: Instant,
    /// The beginning of an answer whose end has not come.
    heard: Vec<u8>,
}

struct Exchange {
    protocol: Protocol,
    port: u16,
    requests: u64,
    items: u64,
    works: Vec<Work>,
    noise: Vec<u8>,
    latency_us: Histogram<u64>,
    nothing: u64,
}

impl Exchange {
    fn new(server: &Server, parties: &[Party], counts: PlaceholderValues) -> Self {
        let work = |party: &Party| Work {
            say: counts.fill(&party.say),
            payload_bytes: party.bytes,
            connections: party.connections,
            begun: 0,
            done: 0,
            ended: None,
        };
        let mut noise = Vec::new();
        Items::new(Contents::Alphanumerics, NOISE_BYTES).next_into(&mut noise);
        Self {
            protocol: server.protocol(),
            port: server.protocol_port(),
            requests: counts.requests,
            items: counts.items.max(1),
            works: parties.iter().map(work).collect(),
            noise,
            latency_us: Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit"),
            nothing: 0,
        }
    }

    /// All connections, and what waits for them. How long that takes is not measured.
    fn connect(&self) -> io::Result<(OwnedFd, Vec<Caller>)> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut callers = Vec::new();
        for (party, work) in self.works.iter().enumerate() {
            for _ in 0..work.connections.min(self.requests) {
                let stream = TcpStream::connect(("127.0.0.1", self.port))?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                let place = epoll::EventData::new_u64(callers.len() as u64);
                epoll::add(&poll, &stream, place, epoll::EventFlags::IN)?;
                callers.push(Caller { stream, party, number: 0, begin: Instant::now(), heard: Vec::new() });
            }
        }
        Ok((poll, callers))
    }

    fn run(&mut self, poll: &OwnedFd, mut callers: Vec<Caller>, end: Instant) -> io::Result<()> {
        for caller in &mut callers {
            self.begin_call(caller)?;
        }
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let mut room = vec![0; READ_BYTES];
        while self.works.iter().any(|work| work.done < self.requests) {
            if Instant::now() > end {
                let done: Vec<String> = self.works.iter().map(|work| work.done.to_string()).collect();
                return Err(io::Error::other(format!("{} of {} calls in time", done.join(" and "), self.requests)));
            }
            match epoll::wait(poll, spare_capacity(&mut events), Some(&LOOK_AGAIN)) {
                Err(rustix::io::Errno::INTR) => continue,
                done => done?,
            };
            for event in events.drain(..) {
                let caller = &mut callers[event.data.u64() as usize];
                let bytes = match caller.stream.read(&mut room) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    done => done?,
                };
                self.hear(caller, &room[..bytes])?;
            }
        }
        Ok(())
    }

    fn begin_call(&mut self, caller: &mut Caller) -> io::Result<()> {
        let work = &mut self.works[caller.party];
        if work.begun == self.requests {
            return Ok(());
        }
        caller.number = work.begun;
        work.begun += 1;
        caller.begin = Instant::now();
        self.send_call(caller)
    }

    fn send_call(&self, caller: &mut Caller) -> io::Result<()> {
        let work = &self.works[caller.party];
        let drawn = mixed(caller.number);
        let say = work.say.replace(NEXT, &format!("{:012}", caller.number % self.items));
        let say = say.replace(RANDOM, &format!("{:012}", below(drawn, self.items)));
        let payload = work.payload_bytes.map(|bytes| {
            let from = below(mixed(drawn), (NOISE_BYTES - bytes) as u64) as usize;
            &self.noise[from..from + bytes]
        });
        let mut call = Vec::new();
        self.protocol.put_call(&mut call, &say, payload);
        send(&mut caller.stream, &call)
    }

    fn hear(&mut self, caller: &mut Caller, bytes: &[u8]) -> io::Result<()> {
        caller.heard.extend_from_slice(bytes);
        let Some((length, answer)) = self.protocol.answer(&caller.heard)? else { return Ok(()) };
        if length != caller.heard.len() {
            return Err(io::Error::other("more came than was asked for"));
        }
        caller.heard.clear();
        match answer {
            Answer::Next(call) => send(&mut caller.stream, &call),
            Answer::Nothing => {
                self.nothing += 1;
                self.send_call(caller)
            }
            Answer::Done => {
                self.latency_us.saturating_record(caller.begin.elapsed().as_micros() as u64);
                let work = &mut self.works[caller.party];
                work.done += 1;
                if work.done == self.requests {
                    work.ended = Some(Instant::now());
                }
                self.begin_call(caller)
            }
        }
    }
}

/// Sends all bytes, however few the socket takes at once.
fn send(stream: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(&*stream, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::program_or_skip;

    fn party(say: &str, bytes: Option<usize>, connections: u64) -> Party {
        Party { say: say.to_owned(), bytes, connections }
    }

    #[test]
    fn all_items_put_are_taken() {
        let Some(redis) = program_or_skip("lab::exchange", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let counts = PlaceholderValues { requests: 1000, items: 100 };
        let measured = |parties: &[Party]| measure(&server, parties, counts, Duration::from_secs(60)).unwrap();
        let extra = |outcome: &Outcome, name: &str| outcome.extra.iter().find(|(found, _)| found == name).unwrap().1;
        let ask = |line: &str| server.client().unwrap().call(line).unwrap();

        measured(&[party("RPUSH q", Some(300_000), 7)]);
        assert_eq!(ask("LLEN q"), "1000");
        // More than a socket takes at once, in both directions.
        assert_eq!(ask("LINDEX q 999").len(), 300_000);
        let outcome = measured(&[party("LPOP q", None, 5)]);
        assert_eq!((outcome.requests, extra(&outcome, "found_nothing")), (1000, 0.0));
        assert_eq!(ask("EXISTS q"), "0");
        let outcome = measured(&[party("RPUSH q", Some(10), 3), party("LPOP q", None, 20)]);
        assert_eq!(outcome.requests, 2000);
        assert!(extra(&outcome, "party_0_per_s") > 0.0);
        assert_eq!(ask("EXISTS q"), "0");
        measured(&[party("SET key:{next:12}", Some(5), 4)]);
        assert_eq!(ask("DBSIZE"), "100");
        assert_eq!(extra(&measured(&[party("GET key:{random:12}", None, 4)]), "found_nothing"), 0.0);
    }

    #[test]
    fn an_error_or_a_timeout_fails_the_exchange() {
        let Some(redis) = program_or_skip("lab::exchange", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let counts = PlaceholderValues { requests: 10, items: 1 };
        let failed =
            |say: &str, limit| measure(&server, &[party(say, None, 1)], counts, limit).err().unwrap().to_string();
        assert!(failed("NOSUCH", Duration::from_secs(60)).contains("unknown command"));
        assert!(failed("LPOP nothing", Duration::from_millis(50)).contains("0 of 10 calls in time"));
    }
}
