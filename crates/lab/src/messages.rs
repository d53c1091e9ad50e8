//! Messages: a few publishers, many listeners; every delivery is counted, in order.
//!
//! ```text
//! publisher 0   |16 messages|replies|until all listeners have them|16 messages| ...
//! publisher 1      |16 messages|replies| ...
//! listeners     | threads that wait for hundreds of connections each |  --> tally of each publisher --> it continues
//! ```
//!
//! A message begins with its publisher's number and its own sequence number in this channel. So a listener detects
//! lost, duplicate and reordered messages at once; at the end each must have received the last one. No publisher runs
//! ahead of the listeners, since a server may disconnect a listener that is too slow.

use crate::contents::{below, mixed};
use crate::load::{Outcome, allow_open_files, rounded, step_error};
use crate::resp::{Client, encode};
use crate::scenario::Messages;
use crate::server::Server;
use crate::{LabError, io_error, proc};
use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The number of listening threads: on a small machine they must not be the bottleneck.
const LISTENING_THREADS: usize = 2;
const PUBLISHER_DIGITS: usize = 4;
const NUMBER_DIGITS: usize = 12;
/// Bytes of a message's publisher and sequence number; its other bytes are filler.
pub(crate) const MESSAGE_BYTES_MIN: usize = PUBLISHER_DIGITS + NUMBER_DIGITS;
/// The maximum number of bytes of one read.
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 256;
/// The interval at which waiting threads check for the end.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
const LATENCY_US_MAX: u64 = 600_000_000;

/// Publishes `count` messages.
///
/// # Errors
/// The server refused, or a message was lost, duplicated or reordered.
pub(crate) fn measure(server: &Server, work: &Messages, count: u64, limit: Duration) -> Result<Outcome, LabError> {
    allow_open_files(work.channels * work.listeners + work.publishers + 256)?;
    let failed = |error: io::Error| step_error("messages", &error, server);
    let listeners = listen(server, work)?;
    let shared = SharedMessages {
        next: AtomicU64::new(0),
        tallies: (0..work.publishers).map(|_| Tally::default()).collect(),
        over: AtomicBool::new(false),
        end: Instant::now() + limit,
    };
    let begin = Instant::now();
    let own_cpu_us = proc::cpu_us(std::process::id())?;
    let (published, listeners) = exchange(server.address(), work, count, listeners, &shared).map_err(failed)?;
    let own_cpu_us = proc::cpu_us(std::process::id())? - own_cpu_us;
    let elapsed = begin.elapsed();
    for listener in &listeners {
        let sent = published.iter().map(|one| one.sent[listener.channel as usize]);
        if !listener.ear.next.iter().copied().eq(sent) {
            return Err(failed(io::Error::other(format!("{} has not told all", channel_name(listener.channel)))));
        }
    }
    let mut latency_us = histogram();
    published.iter().for_each(|one| latency_us.add(&one.latency_us).expect("histograms of one shape"));
    let deliveries = count * work.listeners;
    let quantile_ms = |quantile| Some(latency_us.value_at_quantile(quantile) as f64 / 1000.0);
    Ok(Outcome {
        command_line: format!(
            "messages: {count} of {} bytes over {} channels with {} listeners each, {} publishers with {} under way each",
            work.message_bytes, work.channels, work.listeners, work.publishers, work.pipeline
        ),
        requests: deliveries,
        requests_per_s: Some(deliveries as f64 / elapsed.as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra: vec![
            ("max_us".to_owned(), latency_us.max() as f64),
            ("messages".to_owned(), count as f64),
            ("generator_us_per_request".to_owned(), rounded(own_cpu_us as f64 / deliveries as f64, 1000.0)),
        ],
        ..Outcome::default()
    })
}

/// The state shared by publishers and listeners.
struct SharedMessages {
    /// The next message of all.
    next: AtomicU64,
    /// The tally of each publisher.
    tallies: Vec<Tally>,
    over: AtomicBool,
    end: Instant,
}

/// The deliveries of a publisher's messages so far, and the number for which it waits.
#[derive(Default)]
struct Tally {
    counts: Mutex<MessageCounts>,
    reached: Condvar,
}

#[derive(Default)]
struct MessageCounts {
    delivered: u64,
    awaited: u64,
}

impl Tally {
    fn add(&self, deliveries: u64) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.delivered += deliveries;
        if counts.delivered >= counts.awaited {
            self.reached.notify_one();
        }
    }

    fn expect(&self, deliveries: u64) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).awaited += deliveries;
    }

    fn wait(&self, shared: &SharedMessages) -> io::Result<()> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        while counts.delivered < counts.awaited {
            if shared.over.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if Instant::now() > shared.end {
                return Err(io::Error::other(format!("{} of {} deliveries", counts.delivered, counts.awaited)));
            }
            counts = self.reached.wait_timeout(counts, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }
}

/// The result of a publisher.
struct PublisherResult {
    /// By channel.
    sent: Vec<u64>,
    /// Microseconds from the start of a pipeline until all listeners had all of it.
    latency_us: Histogram<u64>,
}

/// Runs all publishers and listeners, and returns the listeners with the messages they received.
fn exchange(
    address: SocketAddr,
    work: &Messages,
    count: u64,
    listeners: Vec<Listener>,
    shared: &SharedMessages,
) -> io::Result<(Vec<PublisherResult>, Vec<Listener>)> {
    let clients = (0..work.publishers).map(|_| Client::connect(address)).collect::<io::Result<Vec<_>>>()?;
    let mut parts: Vec<Vec<Listener>> = (0..LISTENING_THREADS).map(|_| Vec::new()).collect();
    listeners.into_iter().enumerate().for_each(|(place, one)| parts[place % LISTENING_THREADS].push(one));
    thread::scope(|scope| {
        let ears: Vec<_> = parts
            .into_iter()
            .map(|part| {
                scope.spawn(|| {
                    let done = hear_all(part, shared);
                    // Publishers must not wait for listeners that have ended.
                    shared.over.store(true, Ordering::Relaxed);
                    done
                })
            })
            .collect();
        let publishers: Vec<_> = clients
            .into_iter()
            .zip(0..)
            .map(|(client, place)| scope.spawn(move || publish(client, place, work, count, shared)))
            .collect();
        let published: Vec<_> =
            publishers.into_iter().map(|one| one.join().expect("a publisher does not panic")).collect();
        shared.over.store(true, Ordering::Relaxed);
        let mut heard = Vec::new();
        // A listener's error says more than the timeout of a publisher that waited for it.
        for ear in ears {
            heard.extend(ear.join().expect("a listener does not panic")?);
        }
        Ok((published.into_iter().collect::<io::Result<_>>()?, heard))
    })
}

fn publish(
    mut client: Client,
    place: u64,
    work: &Messages,
    count: u64,
    shared: &SharedMessages,
) -> io::Result<PublisherResult> {
    let tally = &shared.tallies[place as usize];
    let mut published = PublisherResult { sent: vec![0; work.channels as usize], latency_us: histogram() };
    let receivers = work.listeners.to_string();
    let mut bytes = Vec::new();
    loop {
        let first = shared.next.fetch_add(work.pipeline, Ordering::Relaxed);
        let messages = work.pipeline.min(count.saturating_sub(first));
        if messages == 0 {
            return Ok(published);
        }
        bytes.clear();
        for index in first..first + messages {
            let channel = below(mixed(index), work.channels);
            let number = &mut published.sent[channel as usize];
            let text = message(place, *number, work.message_bytes);
            *number += 1;
            encode(&mut bytes, &[b"PUBLISH", channel_name(channel).as_bytes(), text.as_bytes()]);
        }
        tally.expect(messages * work.listeners);
        let begin = Instant::now();
        client.send(&bytes)?;
        for _ in 0..messages {
            let told = client.reply_text()?;
            if told != receivers {
                return Err(io::Error::other(format!("PUBLISH tells of {told} receivers, there are {receivers}")));
            }
        }
        tally.wait(shared)?;
        published.latency_us.saturating_record(begin.elapsed().as_micros() as u64);
    }
}

/// A connection that listens to one channel.
struct Listener {
    stream: TcpStream,
    channel: u64,
    ear: Ear,
}

/// Connects and subscribes all listeners.
fn listen(server: &Server, work: &Messages) -> Result<Vec<Listener>, LabError> {
    let mut listeners = Vec::new();
    for channel in (0..work.channels).flat_map(|channel| (0..work.listeners).map(move |_| channel)) {
        let name = channel_name(channel);
        let mut client = server.client()?;
        let told =
            client.call(&format!("SUBSCRIBE {name}")).map_err(|error| step_error("SUBSCRIBE", &error, server))?;
        if told != format!("subscribe {name} 1") {
            return Err(LabError::Step(format!("SUBSCRIBE {name} answered `{told}`")));
        }
        let stream = client.into_stream();
        stream.set_nonblocking(true).map_err(io_error("a listener"))?;
        listeners.push(Listener { stream, channel, ear: Ear::new(&name, work) });
    }
    Ok(listeners)
}

/// Listens on all of these connections until the end.
fn hear_all(mut listeners: Vec<Listener>, shared: &SharedMessages) -> io::Result<Vec<Listener>> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (listener, place) in listeners.iter().zip(0..) {
        epoll::add(&poll, &listener.stream, epoll::EventData::new_u64(place), epoll::EventFlags::IN)?;
    }
    let rest = Timespec::try_from(LOOK_AGAIN).expect("a short time");
    let mut events = Vec::with_capacity(EVENTS_MAX);
    let mut room = vec![0; READ_BYTES];
    let mut delivered = vec![0; shared.tallies.len()];
    while !shared.over.load(Ordering::Relaxed) {
        match epoll::wait(&poll, spare_capacity(&mut events), Some(&rest)) {
            Err(rustix::io::Errno::INTR) => continue,
            done => done?,
        };
        for event in events.drain(..) {
            let listener = &mut listeners[event.data.u64() as usize];
            let bytes = match listener.stream.read(&mut room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                done => done?,
            };
            listener.ear.hear(&room[..bytes], &mut delivered)?;
        }
        for (tally, deliveries) in shared.tallies.iter().zip(&mut delivered).filter(|(_, deliveries)| **deliveries > 0)
        {
            tally.add(std::mem::take(deliveries));
        }
    }
    Ok(listeners)
}

/// The messages received by one listener.
struct Ear {
    /// The bytes before each message's numbers.
    head: Vec<u8>,
    /// The bytes after each message's numbers.
    tail: Vec<u8>,
    /// The number of the next message, by publisher.
    next: Vec<u64>,
    /// The beginning of a message whose end has not come.
    held: Vec<u8>,
}

impl Ear {
    fn new(channel: &str, work: &Messages) -> Self {
        let text = message(0, 0, work.message_bytes);
        let mut whole = Vec::new();
        encode(&mut whole, &[b"message", channel.as_bytes(), text.as_bytes()]);
        let says_at = whole.len() - 2 - text.len();
        let tail = whole.split_off(says_at + MESSAGE_BYTES_MIN);
        whole.truncate(says_at);
        Self { head: whole, tail, next: vec![0; work.publishers as usize], held: Vec::new() }
    }

    /// Counts the messages that are complete now, by publisher.
    fn hear(&mut self, bytes: &[u8], delivered: &mut [u64]) -> io::Result<()> {
        if self.held.is_empty() {
            let done = self.whole_ones(bytes, delivered)?;
            self.held.extend_from_slice(&bytes[done..]);
        } else {
            let mut held = std::mem::take(&mut self.held);
            held.extend_from_slice(bytes);
            let done = self.whole_ones(&held, delivered)?;
            held.drain(..done);
            self.held = held;
        }
        Ok(())
    }

    /// Counts the complete messages in `bytes` and returns their length.
    fn whole_ones(&mut self, bytes: &[u8], delivered: &mut [u64]) -> io::Result<usize> {
        let all = bytes.chunks_exact(self.head.len() + MESSAGE_BYTES_MIN + self.tail.len());
        let done = bytes.len() - all.remainder().len();
        for one in all {
            let says = one.strip_prefix(&self.head[..]).and_then(|rest| rest.strip_suffix(&self.tail[..]));
            let (publisher, number) = says.and_then(said).ok_or_else(|| unexpected(one))?;
            let next = self.next.get_mut(publisher).ok_or_else(|| unexpected(one))?;
            if number != *next {
                return Err(io::Error::other(format!("message {number} of publisher {publisher}, {next} was next")));
            }
            *next += 1;
            delivered[publisher] += 1;
        }
        Ok(done)
    }
}

fn unexpected(bytes: &[u8]) -> io::Error {
    io::Error::other(format!("a listener was told `{}`", String::from_utf8_lossy(bytes).escape_default()))
}

/// The publisher and the number that a message says.
fn said(digits: &[u8]) -> Option<(usize, u64)> {
    let text = std::str::from_utf8(digits).ok()?;
    let (publisher, number) = text.split_at_checked(PUBLISHER_DIGITS)?;
    Some((publisher.parse().ok()?, number.parse().ok()?))
}

fn message(publisher: u64, number: u64, bytes: usize) -> String {
    format!("{publisher:0PUBLISHER_DIGITS$}{number:0NUMBER_DIGITS$}{:x>1$}", "", bytes - MESSAGE_BYTES_MIN)
}

fn channel_name(channel: u64) -> String {
    format!("channel:{channel:06}")
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::program_or_skip;

    const WORK: Messages = Messages { channels: 3, listeners: 4, publishers: 2, pipeline: 5, message_bytes: 20 };

    fn told(channel: &str, publisher: u64, number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(&mut bytes, &[b"message", channel.as_bytes(), message(publisher, number, 20).as_bytes()]);
        bytes
    }

    #[test]
    fn messages_are_counted_wherever_they_are_cut() {
        let all = [told("a", 0, 0), told("a", 1, 0), told("a", 0, 1)].concat();
        assert!(all.ends_with(b"\r\n$20\r\n0000000000000001xxxx\r\n"));
        for cut in 0..=all.len() {
            let (mut ear, mut delivered) = (Ear::new("a", &WORK), [0; 2]);
            ear.hear(&all[..cut], &mut delivered).unwrap();
            ear.hear(&all[cut..], &mut delivered).unwrap();
            assert_eq!((delivered, ear.held.len()), ([2, 1], 0));
        }
    }

    #[test]
    fn lost_duplicate_and_foreign_messages_are_detected() {
        let heard = |messages: &[Vec<u8>]| Ear::new("a", &WORK).hear(&messages.concat(), &mut [0; 2]);
        heard(&[told("a", 0, 0), told("a", 0, 1)]).unwrap();
        heard(&[told("a", 0, 1)]).unwrap_err();
        heard(&[told("a", 0, 0), told("a", 0, 0)]).unwrap_err();
        heard(&[told("b", 0, 0)]).unwrap_err();
        heard(&[told("a", 2, 0)]).unwrap_err();
        heard(&[b"-ERR nobody told us to expect errors here, but they may come\r\n".to_vec()]).unwrap_err();
    }

    #[test]
    fn every_delivery_is_counted() {
        let Some(redis) = program_or_skip("lab::messages", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let outcome = measure(&server, &WORK, 103, Duration::from_secs(30)).unwrap();
        assert_eq!(outcome.requests, 412);
        assert_eq!(outcome.extra[1], ("messages".to_owned(), 103.0));
    }

    #[test]
    fn an_extra_subscriber_is_detected() {
        let Some(redis) = program_or_skip("lab::messages", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let mut another = server.client().unwrap();
        another.call("SUBSCRIBE channel:000001").unwrap();
        let error = measure(&server, &WORK, 103, Duration::from_secs(30)).err().unwrap();
        assert!(error.to_string().contains("5 receivers"), "{error}");
    }
}
