//! Plays a plan on one server.
//!
//! ```text
//!  calls in the capture's order --> due --> their connection, one under way at a time --> reply --> latency, [Answers]
//!                                    ^
//!     at a speed: (time - first time) / speed       max: all calls of as many connections as were open at once
//!                                                   in order: a call when the one before it is answered
//! ```
//!
//! One thread drives all connections. At a speed, the latency of a call counts from the time at which it was due, even
//! if its connection still waited for the reply before it: a stall of the server shows in every call that it delays. At
//! `max` and in order it counts from when the call was sent.
//!
//! Only in order do calls of different clients run as they were captured. Otherwise replies differ where clients share
//! keys, even between two servers of the same kind. A call that may wait is not awaited: what it waits for comes later.
//!
//! A call that may wait for another client's ends when its reply comes. It is given up, and its connection opened
//! again, if its connection's next call has been due for [`PATIENCE`], or if nothing but such calls is left for so
//! long: what it waited for came earlier, or went to another client.

use super::connection::{Connection, Net, PlayState, UnderWay};
use super::plan::{Plan, PlannedCall};
use super::replies::{Answer, Answers};
use super::rules::ReplyRule;
use hdrhistogram::Histogram;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The time after which a call that waits in vain is given up.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum time that a server may stay silent while calls are under way that need not wait.
const SILENCE: Duration = Duration::from_secs(180);
/// The maximum interval between checks of the stop flag and of calls that wait.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const READ_BYTES: usize = 64 * 1024;
const EVENTS_MAX: usize = 256;
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;
/// A player that is idle for less than the rest limits the rate.
const BUSY_SHARE_MAX: f64 = 0.9;

/// When calls are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Speed {
    /// At their own times, so many times faster.
    Times(f64),
    /// As fast as they are answered.
    Max,
    /// One after another over all connections.
    InOrder,
}

/// The outcome of a plan played on a server.
pub(super) struct Played {
    pub(super) answers: Answers,
    pub(super) elapsed: Duration,
    /// Nanoseconds of all calls that need not wait, and of those of each command.
    pub(super) latency_ns: Histogram<u64>,
    pub(super) command_latency_ns: Vec<Histogram<u64>>,
    /// False if it was stopped before the end.
    pub(super) is_complete: bool,
    /// True if this side was as busy as it can be.
    pub(super) is_generator_bound: bool,
}

struct Player<'a> {
    plan: &'a Plan,
    speed: Speed,
    net: Net,
    connections: Vec<Connection>,
    /// Of each connection, the number of calls that were sent, and of those that are due.
    sent: Vec<usize>,
    due: Vec<usize>,
    /// The next call to become due, or at `max` the next connection to begin.
    next: usize,
    finished: usize,
    /// Calls under way, and those of them that may wait.
    under_way: usize,
    waiting: usize,
    begin: Instant,
    /// When the last call was sent or answered.
    last_progress: Instant,
    last_look: Instant,
    answers: Answers,
    latency_ns: Histogram<u64>,
    command_latency_ns: Vec<Histogram<u64>>,
    room: Vec<u8>,
}

/// Plays a plan on the server at an address.
///
/// # Errors
/// Nobody listens there, or the server breaks the protocol, is silent, or refuses a database.
pub(super) fn play(plan: &Plan, address: SocketAddr, speed: Speed, stop: &AtomicBool) -> io::Result<Played> {
    let now = Instant::now();
    let count = plan.connections.len();
    let mut player = Player {
        plan,
        speed,
        net: Net { address, poll: epoll::create(epoll::CreateFlags::CLOEXEC)? },
        connections: (0..count).map(|_| Connection::default()).collect(),
        sent: vec![0; count],
        due: vec![0; count],
        next: 0,
        finished: 0,
        under_way: 0,
        waiting: 0,
        begin: now,
        last_progress: now,
        last_look: now,
        answers: Answers::new(plan.calls.len()),
        latency_ns: histogram(),
        command_latency_ns: plan.commands.iter().map(|_| histogram()).collect(),
        room: vec![0; READ_BYTES],
    };
    let cpu_before = thread_cpu();
    let is_complete = match player.run(stop) {
        // Whoever stops it may have ended the server too.
        Err(_) if stop.load(Ordering::Relaxed) => false,
        done => done?,
    };
    let lived = player.begin.elapsed();
    let busy_share = (thread_cpu().saturating_sub(cpu_before)).as_secs_f64() / lived.as_secs_f64().max(1e-9);
    Ok(Played {
        elapsed: player.last_progress - player.begin,
        answers: player.answers,
        latency_ns: player.latency_ns,
        command_latency_ns: player.command_latency_ns,
        is_complete,
        is_generator_bound: busy_share > BUSY_SHARE_MAX,
    })
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("valid bounds")
}

fn thread_cpu() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

impl Player<'_> {
    /// Plays until the end, and returns true, or until it is stopped.
    fn run(&mut self, stop: &AtomicBool) -> io::Result<bool> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            self.release()?;
            if self.finished == self.connections.len() {
                return Ok(true);
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            events.clear();
            self.wait(&mut events)?;
            for event in &events {
                let (flags, place) = (event.flags, event.data.u64() as usize);
                if flags.contains(epoll::EventFlags::OUT) {
                    let progress = self.connections[place].flush(&self.net, place as u64)?;
                    self.take(place, progress)?;
                }
                if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
                    let progress = self.connections[place].read(&mut self.room)?;
                    self.take(place, progress)?;
                }
            }
            if self.last_look.elapsed() >= LOOK_AGAIN {
                self.last_look = Instant::now();
                self.end_vain_waits()?;
            }
        }
    }

    /// Sends the calls that have become due.
    fn release(&mut self) -> io::Result<()> {
        match self.speed {
            Speed::Times(_) => {
                while let Some(call) = self.plan.calls.get(self.next).filter(|call| self.due_at(call) <= Instant::now())
                {
                    let place = call.connection as usize;
                    self.next += 1;
                    self.due[place] += 1;
                    self.go_on(place)?;
                }
            }
            Speed::InOrder => {
                while let Some(call) = self.plan.calls.get(self.next).filter(|_| self.under_way == self.waiting) {
                    let place = call.connection as usize;
                    if self.connections[place].under_way().is_some() {
                        break;
                    }
                    self.next += 1;
                    self.due[place] += 1;
                    self.go_on(place)?;
                }
            }
            Speed::Max => {
                while self.next < self.connections.len() && self.next - self.finished < self.plan.open_max {
                    let place = self.next;
                    self.next += 1;
                    self.due[place] = self.plan.connections[place].calls.len();
                    self.go_on(place)?;
                }
            }
        }
        Ok(())
    }

    fn has_due_times(&self) -> bool {
        matches!(self.speed, Speed::Times(_))
    }

    fn due_at(&self, call: &PlannedCall) -> Instant {
        let times = if let Speed::Times(times) = self.speed { times } else { f64::INFINITY };
        self.begin + Duration::from_secs_f64(call.due_us as f64 / 1e6 / times)
    }

    /// Waits until a connection has something, a call is due, or it is time to look.
    fn wait(&self, events: &mut Vec<epoll::Event>) -> io::Result<()> {
        let mut rest = LOOK_AGAIN;
        let next = self.plan.calls.get(self.next).filter(|_| self.has_due_times());
        if let Some(call) = next {
            // epoll waits for whole milliseconds, which is too long for a call that is due.
            let exact = rest.min(self.due_at(call).saturating_duration_since(Instant::now()));
            match poll(&mut [PollFd::new(&self.net.poll, PollFlags::IN)], Some(&timespec(exact))) {
                Err(rustix::io::Errno::INTR) => return Ok(()),
                done => done?,
            };
            rest = Duration::ZERO;
        }
        match epoll::wait(&self.net.poll, spare_capacity(events), Some(&timespec(rest))) {
            Err(rustix::io::Errno::INTR) => Ok(()),
            done => done.map(drop).map_err(io::Error::from),
        }
    }

    /// Notes what a connection made of an event, and sends its next call.
    fn take(&mut self, place: usize, progress: PlayState) -> io::Result<()> {
        match progress {
            PlayState::Waits => return Ok(()),
            PlayState::Closed => self.lose(place, Answer::Closed),
            PlayState::Reply => {
                let now = Instant::now();
                let (plan, answers) = (self.plan, &mut self.answers);
                let taken = self.connections[place].take_reply(|under_way, reply| {
                    answers.put_reply(under_way.call, plan.calls[under_way.call].check, reply).map(|()| under_way)
                });
                if let Some(under_way) = taken.transpose()? {
                    self.end(under_way, now);
                    if !under_way.may_wait {
                        let ns = now.saturating_duration_since(under_way.begin).as_nanos() as u64;
                        self.latency_ns.saturating_record(ns);
                        let command = plan.calls[under_way.call].command as usize;
                        self.command_latency_ns[command].saturating_record(ns);
                    }
                }
            }
        }
        self.go_on(place)
    }

    /// Sends the next call of a connection, if it is due and no other is under way.
    fn go_on(&mut self, place: usize) -> io::Result<()> {
        let calls = &self.plan.connections[place].calls;
        while self.connections[place].under_way().is_none() && self.sent[place] < self.due[place] {
            let call = calls[self.sent[place]] as usize;
            let planned = &self.plan.calls[call];
            let begin = if self.has_due_times() { self.due_at(planned) } else { Instant::now() };
            let may_wait = planned.check == ReplyRule::MayWait;
            let under_way = UnderWay { call, begin, may_wait };
            self.sent[place] += 1;
            self.under_way += 1;
            self.waiting += usize::from(may_wait);
            self.last_progress = Instant::now();
            let bytes = self.plan.bytes_of(planned);
            if self.connections[place].begin(&self.net, place as u64, planned, bytes, under_way)? == PlayState::Closed {
                self.lose(place, Answer::Closed);
            }
        }
        if self.connections[place].under_way().is_none() && self.sent[place] == calls.len() {
            self.finished += 1;
            self.connections[place].close();
        }
        Ok(())
    }

    /// Closes a connection, whose call under way then has another answer than a reply.
    fn lose(&mut self, place: usize, answer: Answer) {
        if let Some(under_way) = self.connections[place].close() {
            self.answers.put(under_way.call, answer);
            self.end(under_way, Instant::now());
        }
    }

    fn end(&mut self, under_way: UnderWay, now: Instant) {
        self.under_way -= 1;
        self.waiting -= usize::from(under_way.may_wait);
        self.last_progress = now;
    }

    /// Gives up calls that wait for something that does not come.
    ///
    /// # Errors
    /// The server is silent although it has calls that need not wait.
    fn end_vain_waits(&mut self) -> io::Result<()> {
        let silent = self.last_progress.elapsed();
        if self.under_way > self.waiting && silent > SILENCE {
            return Err(io::Error::other(format!("no reply within {SILENCE:?}")));
        }
        if self.waiting == 0 {
            return Ok(());
        }
        let is_more_to_come = self.has_due_times() && self.next < self.plan.calls.len();
        let nothing_else = self.under_way == self.waiting && !is_more_to_come && silent > PATIENCE;
        for place in 0..self.connections.len() {
            let Some(_) = self.connections[place].under_way().filter(|under_way| under_way.may_wait) else { continue };
            if nothing_else || self.is_next_overdue(place) {
                self.lose(place, Answer::GivenUp);
                self.go_on(place)?;
            }
        }
        Ok(())
    }

    /// Returns true if a connection's next call has been due for longer than a call may wait.
    fn is_next_overdue(&self, place: usize) -> bool {
        let next = self.plan.connections[place].calls.get(self.sent[place]).filter(|_| self.has_due_times());
        next.is_some_and(|call| {
            let due = self.due_at(&self.plan.calls[*call as usize]);
            Instant::now().saturating_duration_since(due) > PATIENCE
        })
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).expect("a short time")
}
