//! A worker: the state one thread keeps for all its connections.
//!
//! It owns connections, not data. Only its own thread touches anything here, except for the notifier, which the journal
//! rings.

use crate::counters::Counters;
use crate::engine::Engine;
use crate::event_loop::{Dialer, Dialing, Sleep, SleepFn};
use crate::executor::Executor;
use crate::fifo_lock::FifoLock;
use crate::leases::Leases;
use crate::pubsub::{Delivered, Dispatcher, SubscriberQueue};
use crate::script::runner::{ScriptRunner, SuspendedScript};
use crate::settings::Current;
use crate::waits::gate_open;
use crate::watchdog::Beat;
use base::instant::Instant;
use base::random::Random;
use base::{Ms, Position};
use commands::registry::Command;
use journal::{Journal, Level, Reached};
use keyspace::{IndexState, IndexStep};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use sync::gate::{Member, Raised};
use sync::notifier::Notifier;

/// A connection that waits until the data its replies have seen is safe enough.
struct DurabilityWait {
    level: Level,
    position: Position,
    waker: Waker,
}

/// The state of one worker.
pub struct Worker {
    /// The shared engine.
    pub engine: Arc<Engine>,
    /// Its number.
    pub index: usize,
    /// Its gate membership.
    pub member: Member,
    pub(crate) executor: Executor,
    /// Its message dispatcher.
    pub(crate) post: RefCell<Dispatcher>,
    timer: SleepFn,
    dialer: Option<Dialer>,
    notifier: Arc<Notifier>,
    waits: RefCell<Vec<DurabilityWait>>,
    /// Its connections.
    connections: Cell<usize>,
    /// A waiter exists for which the journal has not been asked yet.
    waits_asked: Cell<bool>,
    /// The task that listens.
    listener: RefCell<Option<Waker>>,
    /// Seeded with a secret.
    pub(crate) random: Cell<Random>,
    /// Its connections that are about to help update the order of names.
    helpers: FifoLock,
    /// Its connections whose long requests wait for their next turn.
    long_requests: FifoLock,
    /// The runner of its scripts.
    pub(crate) runner: ScriptRunner,
    /// Open messages of its queue-port connections.
    pub(crate) leases: Leases,
    /// Remaining work for finished requests and closed connections.
    chores: RefCell<VecDeque<Box<dyn Chore>>>,
}

/// A connection that its worker counts.
pub struct ServedConnection(Rc<Worker>);

impl Drop for ServedConnection {
    fn drop(&mut self) {
        self.0.connections.update(|count| count - 1);
    }
}

/// Work that remains when a request or connection has ended, done in steps.
pub(crate) trait Chore {
    /// Does some 100 µs of work. Returns true when it is done.
    fn step(&mut self, worker: &Worker) -> bool;
}

/// Interval at which a waiter for the order of names checks again, in milliseconds.
const BEHIND_MS: Ms = 1;

/// Bytes of notes that may be left when the gate is raised, some hundred names; and steps after which it is raised
/// anyway.
const SETTLED_BYTES: u64 = 8 << 10;
const SETTLING_STEPS_MAX: usize = 64;

impl Worker {
    /// Creates worker number `index` of `engine`, with the event loop's `timer`. `suspended` owns its suspended script
    /// and must outlive all turns of the worker.
    pub fn new(engine: Arc<Engine>, index: usize, timer: SleepFn, suspended: &SuspendedScript) -> Self {
        let notifier = Arc::new(Notifier::new());
        let log_buffer = engine.journal.as_ref().map(|journal| {
            journal.add_notifier(notifier.clone());
            let mut log_buffer = journal.log_buffer();
            log_buffer.keep_credit();
            log_buffer
        });
        let seed = engine.keyspace.hash(&engine.clock.wall().to_le_bytes()) ^ (index as u64) << 32;
        Self {
            member: engine.member(),
            index,
            executor: Executor::new(engine.clone(), index, log_buffer),
            post: RefCell::default(),
            timer,
            dialer: None,
            notifier,
            waits: RefCell::default(),
            connections: Cell::new(0),
            waits_asked: Cell::new(false),
            listener: RefCell::default(),
            random: Cell::new(Random::new(seed)),
            helpers: FifoLock::default(),
            long_requests: FifoLock::default(),
            runner: ScriptRunner::new(suspended),
            leases: Leases::default(),
            chores: RefCell::default(),
            engine,
        }
    }

    /// Maps the stacks for scripts, which otherwise happens at the first script.
    ///
    /// # Panics
    /// Panics if the system has no memory for them.
    pub fn map_for_scripts(&self) {
        self.runner.map(self);
    }

    /// Enables connections to other servers.
    pub fn set_dialer(&mut self, dialer: Dialer) {
        self.dialer = Some(dialer);
    }

    /// Connects to another server; `None` without a dialer.
    pub(crate) fn dial(&self, host: &str, port: u16) -> Option<Dialing> {
        self.dialer.as_ref().map(|dialer| dialer(host.to_owned(), port))
    }

    /// Returns true if a buffer of this many bytes may be allocated for client input.
    pub fn may_receive(&self, bytes: u64) -> bool {
        let is_granted = bytes == 0 || self.engine.memory.take(bytes);
        if !is_granted {
            self.engine.memory.note_refusal();
        }
        is_granted
    }

    /// Its counters.
    #[inline]
    pub fn counters(&self) -> &Counters {
        self.executor.counters()
    }

    /// Returns the milliseconds that a query may take: its own, or those of the setting `search-timeout`; `None`: any.
    pub(crate) fn query_timeout_ms(&self, own_ms: Option<Ms>) -> Option<Ms> {
        let timeout_ms = own_ms.unwrap_or_else(|| self.executor.with_settings(|settings| settings.search_timeout_ms));
        Some(timeout_ms).filter(|timeout_ms| *timeout_ms > 0)
    }

    /// Returns the slow log's bound in nanoseconds, without touching counters of other threads.
    pub(crate) fn slow_bound_ns(&self) -> u64 {
        let us = self.executor.with_settings(|settings| settings.slowlog_slower_than_us);
        us.map_or(u64::MAX, |us| us.saturating_mul(1000))
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> Arc<Current> {
        self.executor.with_settings(Arc::clone)
    }

    /// Returns a sleep of `ms` milliseconds.
    pub fn sleep(&self, ms: Ms) -> Sleep {
        (self.timer)(ms)
    }

    /// Returns a random number from a secret seed.
    pub fn random(&self) -> u64 {
        Random::draw(&self.random)
    }

    /// Counts each poll of a connection's task as a turn: its requests, its writes to the socket, its steps of replies
    /// or searches in parts. The caller pins the task: by value it would be stored twice, as argument and pinned.
    pub async fn in_turns<R>(&self, mut task: Pin<&mut impl Future<Output = R>>) -> R {
        poll_fn(|context| self.in_turn(|| task.as_mut().poll(context))).await
    }

    /// Counts `work` as a turn.
    #[inline]
    pub(crate) fn in_turn<R>(&self, work: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        self.executor.own_time.begin(began);
        self.engine.watch.begin_turn(self.index, began);
        let result = work();
        self.engine.watch.end_turn(self.index);
        self.note_turn(began.elapsed());
        result
    }

    /// Waits for the next turn of a long request: one turn between two polls of the sockets, however many long requests
    /// there are, in order of arrival. A task that only woke itself would run again before the sockets are polled.
    pub(crate) async fn long_turn(&self) {
        let _place = self.long_requests.enter().await;
        self.sleep(0).await;
    }

    /// Waits until the order of names and the indexes of hashes are up to date, and helps meanwhile, a step at a time.
    /// One connection at a time helps, in order of arrival: the others' turns are for those that only read. A step of it
    /// waits for the sockets, but not in line with long requests: however many there are, writers go on.
    pub(crate) async fn help_order(&self) {
        let _place = self.helpers.enter().await;
        let keyspace = &self.engine.keyspace;
        // Yields first, and at the end: what led here was a turn, and so is what follows.
        self.sleep(0).await;
        while keyspace.order().is_behind() {
            self.step_order().await;
        }
        while self.engine.indexes.is_behind() {
            match self.member.enter().map(|_inside| self.engine.indexes.help(keyspace)) {
                Some(true) => self.sleep(0).await,
                Some(false) => self.sleep(BEHIND_MS).await,
                None => gate_open(&self.engine.gate).await,
            }
        }
    }

    /// Brings the order of names almost up to date, in turns, before the gate is raised for a reader of it: the rest is
    /// done under the gate.
    pub(crate) async fn settle_order(&self) {
        let order = self.engine.keyspace.order();
        for _ in 0..SETTLING_STEPS_MAX {
            if order.state() != IndexState::On || order.backlog_bytes() <= SETTLED_BYTES {
                break;
            }
            self.step_order().await;
        }
    }

    async fn step_order(&self) {
        let step = self.member.enter().map(|_inside| self.engine.keyspace.help_order());
        match step {
            Some(IndexStep::More) => self.sleep(0).await,
            Some(IndexStep::Garbage(names)) => self.engine.deferred_drop.free(names),
            Some(IndexStep::Idle | IndexStep::Blocked | IndexStep::Sort(_)) => self.sleep(BEHIND_MS).await,
            None => gate_open(&self.engine.gate).await,
        }
    }

    /// Returns the part of its state that the watchdog sees.
    #[inline]
    pub(crate) fn beat(&self) -> &Beat {
        self.executor.beat().expect("each worker has one")
    }

    /// Runs a request of this command, pinned by the caller as for [`Worker::in_turns`], and publishes the command
    /// whenever it continues.
    pub(crate) async fn named<R>(&self, command: &Command, mut request: Pin<&mut impl Future<Output = R>>) -> R {
        let command = command.index();
        poll_fn(|context| {
            self.beat().set_command(command);
            request.as_mut().poll(context)
        })
        .await
    }

    /// Raises the gate for a worker, after any other holder, and after scripts suspended inside: meanwhile it stays down.
    pub(crate) async fn raise(&self) -> Raised<'_> {
        let scripts = &self.engine.scripts;
        loop {
            while scripts.any_rests() {
                self.sleep(1).await;
            }
            if let Some(mut raising) = self.member.try_raise() {
                self.engine.watch.note_raise(Some(self.index));
                let mut look_again = self.sleep(1);
                let raised = poll_fn(|context| {
                    if let Some(raised) = raising.ready(context.waker()) {
                        return Poll::Ready(Some(raised));
                    }
                    while look_again.as_mut().poll(context).is_ready() {
                        if scripts.any_rests() {
                            return Poll::Ready(None);
                        }
                        look_again = self.sleep(1);
                    }
                    Poll::Pending
                })
                .await;
                match raised {
                    Some(raised) => return raised,
                    None => continue,
                }
            }
            gate_open(&self.engine.gate).await;
        }
    }

    /// Makes all workers check whether a script is busy.
    pub(crate) fn ring_all(&self) {
        (0..self.engine.workers()).for_each(|worker| self.engine.registry.worker_queue(worker).notifier.notify());
    }

    fn note_turn(&self, took: Duration) {
        let counters = self.counters();
        let own_ns = self.executor.own_time.of(took.as_nanos() as u64);
        counters.turns.add(own_ns);
        counters.longest_turn_us.raise(own_ns / 1000);
    }

    /// Returns true if this thread itself has worked for `us` in a span of its turn that has just ended, without the
    /// time the scheduler gave to others.
    #[inline]
    pub(crate) fn has_worked_for(&self, us: u64, span: Duration) -> bool {
        let span_ns = span.as_nanos() as u64;
        span_ns > us * 1000 && self.executor.own_time.of(span_ns) > us * 1000
    }

    /// Counts a wait for shards or for the gate, if there was any. It is no thread's own time, so wall-clock time is
    /// recorded.
    pub(crate) fn note_wait(&self, took: Duration) {
        if took.is_zero() {
            return;
        }
        let counters = self.counters();
        counters.lock_waits.add(took.as_nanos() as u64);
        counters.longest_lock_wait_us.raise(took.as_micros() as u64);
    }

    /// Ready once everything below `position` is written, or durable; `false` if it never will be.
    ///
    /// [`Worker::listen`] asks the journal, after the connections that were ready together have run: one write or one
    /// sync then serves them all.
    pub fn poll_reached(&self, level: Level, position: Position, context: &mut Context<'_>) -> Poll<bool> {
        let Some(journal) = &self.engine.journal else { return Poll::Ready(true) };
        if journal.reached(level) >= position {
            return Poll::Ready(true);
        }
        if journal.is_poisoned() {
            return Poll::Ready(false);
        }
        self.waits.borrow_mut().push(DurabilityWait { level, position, waker: context.waker().clone() });
        if !self.waits_asked.replace(true)
            && let Some(listener) = &*self.listener.borrow()
        {
            listener.wake_by_ref();
        }
        Poll::Pending
    }

    /// Asks the journal for what connections wait for, and passes on its progress, and messages. One task of each
    /// worker awaits this forever.
    pub async fn listen(&self) {
        let mut scripts = pin!(self.drive_scripts());
        poll_fn(|context| {
            let _ = scripts.as_mut().poll(context);
            self.listener.replace(Some(context.waker().clone()));
            while self.waits_asked.replace(false) | self.notifier.poll_notified(context).is_ready() {
                self.wake_waits();
            }
            while self.engine.registry.worker_queue(self.index).notifier.poll_notified(context).is_ready() {
                if self.engine.scripts.is_busy() {
                    self.runner.wake_impatient();
                }
            }
            if (self.deliver() == Delivered::Some) | self.do_chore() {
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        })
        .await;
    }

    /// Counts a connection until the result is dropped.
    pub fn add_connection(self: &Rc<Self>) -> ServedConnection {
        self.connections.update(|count| count + 1);
        ServedConnection(self.clone())
    }

    /// Returns true if nobody else waits when its only connection waits for a disk: the next one is served elsewhere, if
    /// another worker has none, and no script rests here.
    fn has_one_connection(&self) -> bool {
        self.connections.get() == 1 && self.engine.workers() > 1 && !self.runner.is_taken()
    }

    /// Queues work to be done in turns of its own, between those of connections.
    pub(crate) fn add_chore(&self, chore: Box<dyn Chore>) {
        self.chores.borrow_mut().push_back(chore);
        self.listener.borrow().iter().for_each(Waker::wake_by_ref);
    }

    /// Does a step of the first chore, as a turn. Returns true if there is more to do.
    fn do_chore(&self) -> bool {
        let Some(mut chore) = self.chores.borrow_mut().pop_front() else { return false };
        if !self.in_turn(|| chore.step(self)) {
            self.chores.borrow_mut().push_front(chore);
        }
        !self.chores.borrow().is_empty()
    }

    /// Delivers messages to connections in a turn of its own, if there are any.
    fn deliver(&self) -> Delivered {
        let mut post = self.post.borrow_mut();
        if !post.has_publications(&self.engine.registry, self.index) {
            return Delivered::All;
        }
        let began = Instant::now();
        self.executor.own_time.begin(began);
        self.engine.watch.begin_turn(self.index, began);
        let delivered =
            post.deliver(&self.engine.registry, self.index, self.mail_bytes_max(), &self.engine.deferred_drop);
        self.engine.watch.end_turn(self.index);
        self.note_turn(began.elapsed());
        delivered
    }

    /// Delivers to one connection the messages that are there for it, ahead of others.
    pub(crate) fn catch_up(&self, subscriber_queue: &SubscriberQueue) {
        let (registry, deferred_drop) = (&self.engine.registry, &self.engine.deferred_drop);
        if !subscriber_queue.is_caught_up(registry, self.index) {
            self.post.borrow_mut().catch_up(
                registry,
                self.index,
                subscriber_queue,
                self.mail_bytes_max(),
                deferred_drop,
            );
        }
    }

    pub(crate) fn mail_bytes_max(&self) -> u64 {
        self.executor.with_settings(|settings| settings.output_limits.pubsub.hard_bytes)
    }

    fn wake_waits(&self) {
        let Some(journal) = &self.engine.journal else { return };
        self.executor.return_recalled_credit();
        let (mut has_written, mut has_synced) = (false, false);
        loop {
            let least = self.wake_reached(journal);
            let is_waiting = |level: Level| least[level as usize] != Position::MAX;
            // Done here, since a round trip to another thread would take longer.
            if is_waiting(Level::Written) && !std::mem::replace(&mut has_written, true) {
                self.in_turn(|| journal.write_here());
                continue;
            }
            if is_waiting(Level::Durable) && self.has_one_connection() && !std::mem::replace(&mut has_synced, true) {
                // Not a turn: the watchdog would take a slow disk for a long one, and no other connection waits.
                journal.sync_here(least[Level::Durable as usize]);
                continue;
            }
            let ask = |level: Level| {
                let position = least[level as usize];
                position != Position::MAX && journal.want(&self.notifier, level, position) != Reached::Waiting
            };
            // Both are requested; progress made meanwhile wakes the waiters.
            if !(ask(Level::Written) | ask(Level::Durable)) {
                return;
            }
        }
    }

    /// Wakes those whose wait is over; returns for each level the least position that others still wait for.
    fn wake_reached(&self, journal: &Journal) -> [Position; 2] {
        let reached = [journal.written(), journal.durable()];
        let poisoned = journal.is_poisoned();
        let mut least = [Position::MAX; 2];
        self.waits.borrow_mut().retain(|wait| {
            let level = wait.level as usize;
            let over = poisoned || wait.position <= reached[level];
            if over {
                wait.waker.wake_by_ref();
            } else {
                least[level] = least[level].min(wait.position);
            }
            !over
        });
        least
    }
}
