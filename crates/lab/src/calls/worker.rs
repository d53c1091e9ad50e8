//! A thread of the generator: its share of the connections, and one epoll that waits for all of them.
//!
//! ```text
//! closed   take numbers of a pipeline's calls | send | ... wait ... | all replies | take the next numbers
//! paced    wait until a call is due | take its number | send it on the connection that is free for longest
//! ```
//!
//! Threads share only the [`Handout`] of each party, from which a number or a pipeline's worth is taken at a time. A
//! worker ends when no number is left and all its calls are answered, when the time is over, or when it is stopped.
//! Replies that are still under way then are awaited for a moment but do not count, so that connections close orderly.

use super::check::CheckedLine;
use super::connection::{CallUnderWay, Heard, PartyConnection, Repeating};
use super::pace::{Handout, Pace};
use super::refusal::Refusal;
use crate::contents::{below, mixed};
use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The maximum number of bytes of one read.
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 256;
/// The maximum interval between checks of the stop flag and the time.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// The maximum time for replies under way when the time is over.
const REST_MAX: Duration = Duration::from_secs(2);
const LATENCY_US_MAX: u64 = 600_000_000;

/// State that all workers share.
pub(super) struct SharedCalls<'a> {
    pub(super) address: SocketAddr,
    pub(super) parties: Vec<SharedParty>,
    pub(super) noise: Vec<u8>,
    pub(super) pace: Option<Pace>,
    /// The calls end after this time, without an error.
    pub(super) duration: Option<Duration>,
    /// After this time the calls have failed.
    pub(super) limit: Duration,
    pub(super) stop: &'a AtomicBool,
    /// True once a worker has failed.
    pub(super) is_failed: AtomicBool,
    pub(super) refusal: Refusal,
}

/// A party as all workers see it.
pub(super) struct SharedParty {
    /// The usual line, then those made instead, each with its share in percent.
    pub(super) lines: Vec<CheckedLine>,
    pub(super) percents: Vec<u64>,
    pub(super) pipeline: u64,
    pub(super) calls_per_connection: u64,
    pub(super) handout: Handout,
}

/// The measurements of one worker.
pub(super) struct WorkerFigures {
    /// Calls and the time of the last, by party.
    pub(super) parties: Vec<(u64, Option<Instant>)>,
    pub(super) latency_us: Histogram<u64>,
    pub(super) found_nothing: u64,
    /// Calls answered after the end.
    pub(super) late_calls: u64,
    /// Calls answered in each second.
    pub(super) timeline: Vec<u64>,
    pub(super) ending: Ending,
    /// When the calls ended.
    pub(super) ended: Instant,
    pub(super) times: ThreadTimes,
}

/// How a thread spent its time; what is missing to the whole it slept.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadTimes {
    pub(super) lived: Duration,
    /// On a core.
    pub(super) ran: Duration,
    /// Ready to run while others had the cores.
    pub(super) waited_for_core: Duration,
}

/// Why a worker ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// All calls are answered.
    Complete,
    /// The time asked for is over, or a stop was asked for.
    Stopped,
    /// The limit has passed.
    LimitPassed,
}

/// A thread's connections.
pub(super) struct Worker<'a> {
    shared: &'a SharedCalls<'a>,
    poll: OwnedFd,
    connections: Vec<PartyConnection>,
    /// At a pace: the connections that may make a call, by party, free for longest first.
    free: Vec<VecDeque<usize>>,
    under_way: usize,
    begin: Instant,
    /// True once nothing counts any more and no call is made.
    is_over: bool,
    room: Vec<u8>,
    heard: Heard,
    figures: WorkerFigures,
}

impl SharedParty {
    /// The line of a call: the usual one, or one that is made instead.
    fn line_of(&self, call: u64) -> u32 {
        drawn_line(&self.percents, call) as u32
    }

    /// The number of calls that a connection may make now.
    fn room(&self, connection: &PartyConnection) -> u64 {
        let room = self.pipeline.saturating_sub(connection.under_way.len() as u64);
        match self.calls_per_connection {
            0 => room,
            most => room.min(most - if connection.is_open() { connection.made } else { 0 }),
        }
    }
}

impl<'a> Worker<'a> {
    /// Makes a worker with connections of these parties. Those that are kept are opened at once.
    ///
    /// # Errors
    /// The server refuses a connection.
    pub(super) fn new(shared: &'a SharedCalls<'a>, parties: &[usize]) -> io::Result<Self> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections: Vec<PartyConnection> = parties.iter().map(|party| PartyConnection::new(*party)).collect();
        for (connection, place) in connections.iter_mut().zip(0..) {
            if shared.parties[connection.party].calls_per_connection == 0 {
                connection.open_and_wait(&poll, place, shared.address)?;
            }
        }
        let now = Instant::now();
        Ok(Self {
            shared,
            poll,
            connections,
            free: vec![VecDeque::new(); shared.parties.len()],
            under_way: 0,
            begin: now,
            is_over: false,
            room: vec![0; READ_BYTES],
            heard: Heard::default(),
            figures: WorkerFigures {
                parties: vec![(0, None); shared.parties.len()],
                latency_us: histogram(),
                found_nothing: 0,
                late_calls: 0,
                timeline: Vec::new(),
                ending: Ending::Complete,
                ended: now,
                times: ThreadTimes::default(),
            },
        })
    }

    /// Makes calls until the end; all workers count from the same `begin`.
    ///
    /// # Errors
    /// A connection broke, or a reply is not as expected.
    pub(super) fn run(mut self, begin: Instant) -> io::Result<WorkerFigures> {
        let (born, waited_before) = (Instant::now(), waited_for_core());
        self.begin = begin;
        let mut events = Vec::with_capacity(EVENTS_MAX);
        let done = self.make_calls(&mut events);
        self.figures.ended = Instant::now();
        let is_stopped = self.shared.stop.load(Ordering::Relaxed);
        match done.and_then(|ending| self.finish(ending, &mut events).map(|()| ending)) {
            Ok(ending) => self.figures.ending = ending,
            // Whoever stops the calls may have ended the server too.
            Err(_) if is_stopped => self.figures.ending = Ending::Stopped,
            Err(error) => self.figures.ending = self.shared.refusal.take(error, &self.shared.is_failed)?,
        }
        self.figures.times = ThreadTimes {
            lived: born.elapsed(),
            ran: Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default(),
            waited_for_core: waited_for_core().saturating_sub(waited_before),
        };
        Ok(self.figures)
    }

    /// Makes calls, and returns why they ended.
    fn make_calls(&mut self, events: &mut Vec<epoll::Event>) -> io::Result<Ending> {
        for place in 0..self.connections.len() {
            self.go_on(place)?;
        }
        loop {
            self.send_due()?;
            if let Some(ending) = self.ending() {
                return Ok(ending);
            }
            self.wait_and_serve(events)?;
        }
    }

    /// Waits for replies under way if the calls ended before their number.
    fn finish(&mut self, ending: Ending, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        self.is_over = true;
        while ending == Ending::Stopped && self.under_way > 0 && self.figures.ended.elapsed() < REST_MAX {
            self.wait_and_serve(events)?;
        }
        Ok(())
    }

    /// Returns why the calls end, if they do.
    fn ending(&self) -> Option<Ending> {
        let elapsed = self.begin.elapsed();
        let is_complete =
            self.under_way == 0 && self.connections.iter().all(|one| self.handout(one.party).next().is_none());
        let is_stopped = || self.shared.stop.load(Ordering::Relaxed) || self.shared.is_failed.load(Ordering::Relaxed);
        match () {
            () if is_complete => Some(Ending::Complete),
            () if self.shared.duration.is_some_and(|duration| elapsed >= duration) => Some(Ending::Stopped),
            () if is_stopped() => Some(Ending::Stopped),
            () if elapsed >= self.shared.limit => Some(Ending::LimitPassed),
            () => None,
        }
    }

    fn handout(&self, party: usize) -> &Handout {
        &self.shared.parties[party].handout
    }

    fn wait_and_serve(&mut self, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        self.wait(events)?;
        for event in events.drain(..) {
            let (place, flags) = (event.data.u64() as usize, event.flags);
            if flags.contains(epoll::EventFlags::OUT) {
                self.connections[place].flush(&self.poll, place as u64)?;
            }
            if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
                self.serve(place)?;
            }
        }
        Ok(())
    }

    /// Waits until a connection has something, a call is due, or it is time to look at the flags.
    fn wait(&self, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let elapsed = self.begin.elapsed();
        let until = self.shared.duration.unwrap_or(self.shared.limit).min(self.shared.limit);
        let mut rest = LOOK_AGAIN;
        if !self.is_over {
            rest = rest.min(until.saturating_sub(elapsed));
        }
        if let Some(due) = self.next_due() {
            // epoll waits for whole milliseconds, which is too long for a call that is due.
            let exact = timespec(rest.min(due.saturating_sub(elapsed)));
            match poll(&mut [PollFd::new(&self.poll, PollFlags::IN)], Some(&exact)) {
                Err(rustix::io::Errno::INTR) => return Ok(()),
                done => done?,
            };
            rest = Duration::ZERO;
        }
        match epoll::wait(&self.poll, spare_capacity(events), Some(&timespec(rest))) {
            Err(rustix::io::Errno::INTR) => Ok(()),
            done => done.map(drop).map_err(io::Error::from),
        }
    }

    /// Returns when the next call is due that a connection here is free for, if calls have a pace.
    fn next_due(&self) -> Option<Duration> {
        let pace = self.shared.pace.filter(|_| !self.is_over)?;
        let parties = (0..self.free.len()).filter(|party| !self.free[*party].is_empty());
        parties.filter_map(|party| Some(pace.due(party, self.handout(party).next()?))).min()
    }

    /// Reads from a connection, notes what was answered, and makes further calls.
    fn serve(&mut self, place: usize) -> io::Result<()> {
        let connection = &mut self.connections[place];
        let party = connection.party;
        let before = connection.under_way.len();
        let lines = &self.shared.parties[party].lines;
        let repeating = Repeating { lines, noise: &self.shared.noise, is_over: self.is_over };
        connection.read(&mut self.room, &repeating, &mut self.heard)?;
        self.under_way = self.under_way + connection.under_way.len() - before;
        self.note(party);
        self.go_on(place)
    }

    /// Notes the calls that are complete, unless their time is over.
    fn note(&mut self, party: usize) {
        let now = Instant::now();
        let elapsed = now - self.begin;
        self.is_over |= self.shared.duration.is_some_and(|duration| elapsed >= duration);
        let counts = !self.is_over;
        let calls = self.heard.completed.len() as u64;
        if counts && calls > 0 {
            for begin in &self.heard.completed {
                self.figures.latency_us.saturating_record((now - *begin).as_micros() as u64);
            }
            self.figures.parties[party].0 += calls;
            self.figures.parties[party].1 = Some(now);
            let second = elapsed.as_secs() as usize;
            if self.figures.timeline.len() <= second {
                self.figures.timeline.resize(second + 1, 0);
            }
            self.figures.timeline[second] += calls;
        }
        if counts {
            self.figures.found_nothing += self.heard.found_nothing;
        } else {
            self.figures.late_calls += calls;
        }
        self.heard.completed.clear();
        self.heard.found_nothing = 0;
    }

    /// Has a connection do what comes next: close, make calls, or wait until a call is due.
    fn go_on(&mut self, place: usize) -> io::Result<()> {
        let connection = &mut self.connections[place];
        let party = &self.shared.parties[connection.party];
        let is_used_up = party.calls_per_connection > 0 && connection.made >= party.calls_per_connection;
        if is_used_up && connection.is_open() && connection.under_way.is_empty() {
            connection.close();
        }
        let has_room = party.room(connection) > 0;
        if self.shared.pace.is_some() {
            if has_room && !connection.is_free {
                connection.is_free = true;
                self.free[connection.party].push_back(place);
            }
        } else if connection.under_way.is_empty() && !self.is_over {
            let calls = party.handout.take(party.room(connection), u64::MAX);
            if !calls.is_empty() {
                let begin = Instant::now();
                calls.into_iter().try_for_each(|call| self.make(place, call, begin))?;
            }
        }
        // Also what the replies made necessary: repeated calls and deletions.
        self.connections[place].flush(&self.poll, place as u64)
    }

    /// Sends the calls that are due by now, as far as connections are free for them.
    fn send_due(&mut self) -> io::Result<()> {
        let Some(pace) = self.shared.pace else { return Ok(()) };
        for party in 0..self.free.len() {
            let elapsed = self.begin.elapsed();
            if self.shared.duration.is_some_and(|duration| elapsed >= duration) {
                return Ok(());
            }
            let due_count = pace.due_count(party, elapsed);
            while let Some(place) = self.free[party].front().copied() {
                let Some(call) = self.handout(party).take(1, due_count).next() else { break };
                self.free[party].pop_front();
                self.connections[place].is_free = false;
                self.make(place, call, self.begin + pace.due(party, call))?;
                self.go_on(place)?;
            }
        }
        Ok(())
    }

    /// Adds a call to a connection, and opens the connection if it is closed.
    fn make(&mut self, place: usize, call: u64, begin: Instant) -> io::Result<()> {
        let connection = &mut self.connections[place];
        let party = &self.shared.parties[connection.party];
        if !connection.is_open() {
            connection.open(&self.poll, place as u64, self.shared.address)?;
        }
        let line = party.line_of(call);
        let under_way = CallUnderWay { call, line, is_deletion: false, begin };
        connection.add(&party.lines[line as usize], under_way, &self.shared.noise);
        self.under_way += 1;
        Ok(())
    }
}

/// Returns the place of a call's line: 0 for the usual one, or that of one which is made instead in so many of 100
/// calls.
pub(super) fn drawn_line(percents: &[u64], call: u64) -> usize {
    if percents.len() == 1 {
        return 0;
    }
    let mut drawn = below(mixed(!call), 100);
    for (place, percent) in percents.iter().enumerate().skip(1) {
        match drawn.checked_sub(*percent) {
            Some(left) => drawn = left,
            None => return place,
        }
    }
    0
}

pub(super) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).expect("bounds that fit")
}

/// Returns the time in which this thread could have run but had no core; nothing if the kernel does not count it.
pub(super) fn waited_for_core() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited_ns = text.split_whitespace().nth(1).and_then(|field| field.parse().ok());
    Duration::from_nanos(waited_ns.unwrap_or(0))
}

fn timespec(time: Duration) -> Timespec {
    Timespec::try_from(time).expect("a short time")
}
