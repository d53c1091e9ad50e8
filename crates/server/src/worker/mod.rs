//! The worker threads: each an event loop over its own connections.
//!
//! ```text
//! listeners -- accept (on every worker) --> the seat with the fewest connections, but none whose worker hangs
//!                                                 | worker queue, if it is another's
//!                                                 v
//!              worker: worker context (what its connections share) + one task a connection
//! ```

use crate::accept::{Arrival, Listener, Protocol, accept};
use crate::connection::{Connection, MovingConnection, READ_BYTES_MAX};
use crate::line::dialer;
use crate::log_budget::LogBudget;
use crate::startup::{Listeners, SocketFile};
use engine::client::{LOCAL_RESERVE, locked_clients_max};
use engine::event_loop::SleepFn;
use engine::{Engine, Session, SuspendedScript, Worker};
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::{LocalOptions, LocalRuntime};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tracing::{debug, info, warn};
use wire::{Output, Ranges};

/// Bytes of the buffer that connections read into: a pipeline of some 500 small requests. One read may fill it, so that
/// nothing is queried or zeroed before.
const SCRATCH_BYTES: usize = READ_BYTES_MAX;
/// The maximum time that a stop waits for clients to take their pending output, in milliseconds.
const STOP_MS: u64 = 2_000;

/// The maximum time between two looks at the number of connections left during a stop.
const LEFT_LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A message to a worker from another or from the main thread.
enum Message {
    Arrival(Arrival),
    /// A connection from another worker, which is already counted.
    Moving(Box<MovingConnection>),
    /// Connections may be accepted: the first worker has begun everything that must precede them.
    Accept,
    Stop,
    /// The worker runs this, blocking.
    #[cfg(test)]
    Hang(Box<dyn FnOnce() + Send>),
}

/// One worker as seen by the others.
#[repr(align(128))]
struct Seat {
    connections: AtomicUsize,
    worker_queue: UnboundedSender<Message>,
    pulse: Pulse,
}

/// The sign of life by which others see whether a worker hangs: it neither waits for events nor begins turns.
#[derive(Default)]
struct Pulse {
    /// Incremented at each turn of a connection, and after each wait. Written by the worker alone.
    beats: AtomicU64,
    /// It waits for events.
    is_waiting: AtomicBool,
    /// The value of `beats` at the last check, and since when it has been that, in milliseconds.
    seen_beats: AtomicU64,
    seen_ms: AtomicU64,
}

impl Pulse {
    #[inline]
    fn beat(&self) {
        self.beats.store(self.beats.load(Relaxed) + 1, Relaxed);
    }

    fn set_waiting(&self, is_waiting: bool) {
        self.beat();
        self.is_waiting.store(is_waiting, Relaxed);
    }

    /// Returns true if the worker has hung for at least [`HUNG_MS`], as far as the callers know: the first call
    /// returns false.
    fn is_hung(&self, now_ms: u64) -> bool {
        let beats = self.beats.load(Relaxed);
        if self.is_waiting.load(Relaxed) || self.seen_beats.swap(beats, Relaxed) != beats {
            self.seen_ms.store(now_ms, Relaxed);
            return false;
        }
        now_ms.saturating_sub(self.seen_ms.load(Relaxed)) >= HUNG_MS
    }
}

/// Milliseconds without a new turn after which a worker gets no new connections. Its turns take less than one.
const HUNG_MS: u64 = 500;

/// Warnings that any client can cause, each kind with its limit.
#[derive(Default)]
pub(crate) struct Warnings {
    pub(crate) http: LogBudget,
    pub(crate) passwords: LogBudget,
    pub(crate) crowded: LogBudget,
    pub(crate) exhausted: LogBudget,
}

/// The kind of place given to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionPlace {
    /// One of `maxclients`.
    Ordinary,
    /// One in the reserve for local connections.
    Reserve,
}

/// All workers.
pub(crate) struct Crew {
    seats: Box<[Seat]>,
    /// Connections accepted and not closed.
    admitted: AtomicUsize,
    stopping: AtomicBool,
    began: Instant,
    pub(crate) warnings: Warnings,
}

/// The worker threads while they run.
pub(crate) struct Workers {
    crew: Arc<Crew>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts `count` workers, all of which accept. Maps the memory for scripts at once if `maps_first`.
    ///
    /// # Errors
    /// Fails if the system has no thread or event loop to give.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        count: usize,
        listeners: Listeners,
        maps_first: bool,
    ) -> io::Result<Self> {
        let (senders, worker_queues): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded_channel()).unzip();
        let crew = Arc::new(Crew::new(senders));
        engine.scripts.set_logger(Box::new(log_of_script));
        let (listeners, mut socket_files) = Listener::all_of(listeners, &engine.settings);
        let (started, starts) = mpsc::channel();
        let mut threads = Vec::new();
        for (index, worker_queue) in worker_queues.into_iter().enumerate() {
            let (engine, crew, started) = (engine.clone(), crew.clone(), started.clone());
            let accepting =
                Accepting { listeners: listeners.clone(), _socket_files: std::mem::take(&mut socket_files) };
            // An event loop is made by the thread that it runs on.
            let body = move || match crew.event_loop(index) {
                Ok(event_loop) => {
                    report(&started, Ok(()));
                    event_loop.block_on(work(engine, crew, index, worker_queue, (accepting, maps_first)));
                }
                Err(error) => report(&started, Err(error)),
            };
            threads.push(thread::Builder::new().name(format!("bobbin-{index}")).spawn(body)?);
        }
        starts.iter().take(count).collect::<io::Result<()>>()?;
        Ok(Self { crew, threads })
    }

    /// Stops accepting, lets each connection finish its turn and receive its pending output, and ends the threads.
    pub(crate) fn stop(self) {
        self.crew.stopping.store(true, Relaxed);
        for seat in &self.crew.seats {
            // A worker whose queue is closed has stopped.
            let _ = seat.worker_queue.send(Message::Stop);
        }
        for thread in self.threads {
            thread.join().expect("a worker aborts rather than panics");
        }
    }
}

/// Reports to the thread that starts workers whether one has an event loop; by now it may have given up.
fn report(started: &mpsc::Sender<io::Result<()>>, result: io::Result<()>) {
    let _ = started.send(result);
}

/// Logs texts from and about scripts, by level.
fn log_of_script(level: u8, text: &str) {
    match level {
        3 => warn!("{text}"),
        2 => info!("{text}"),
        _ => debug!("{text}"),
    }
}

impl Crew {
    fn new(worker_queues: Vec<UnboundedSender<Message>>) -> Self {
        let seat = |worker_queue| Seat { connections: AtomicUsize::new(0), worker_queue, pulse: Pulse::default() };
        Self {
            seats: worker_queues.into_iter().map(seat).collect(),
            admitted: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            began: Instant::now(),
            warnings: Warnings::default(),
        }
    }

    /// Creates the event loop for the worker with this number; it signals when it waits for events.
    fn event_loop(self: &Arc<Self>, index: usize) -> io::Result<LocalRuntime> {
        let (parking, unparking) = (self.clone(), self.clone());
        tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .on_thread_park(move || parking.seats[index].pulse.set_waiting(true))
            .on_thread_unpark(move || unparking.seats[index].pulse.set_waiting(false))
            .build_local(LocalOptions::default())
    }

    /// Takes a place for a connection, if there is one: among `maxclients`, or in the reserve for local ones if
    /// allowed.
    pub(crate) fn take_place(&self, maxclients: usize, may_use_reserve: bool) -> Option<ConnectionPlace> {
        let bound = maxclients + if may_use_reserve { LOCAL_RESERVE } else { 0 };
        let more = |count: usize| (count < bound).then_some(count + 1);
        let before = self.admitted.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(if before < maxclients { ConnectionPlace::Ordinary } else { ConnectionPlace::Reserve })
    }

    /// Returns the worker with the fewest connections among those that do not hang; `own` if no other has fewer.
    fn choose(&self, own: usize) -> usize {
        let load = |index: &usize| {
            let is_hung = *index != own && self.is_hung(*index);
            (is_hung, self.seats[*index].connections.load(Relaxed), *index != own)
        };
        (0..self.seats.len()).min_by_key(load).expect("there is a worker")
    }

    /// Returns true if a worker hangs.
    fn is_hung(&self, index: usize) -> bool {
        self.seats[index].pulse.is_hung(self.began.elapsed().as_millis() as u64)
    }

    /// Counts a closed connection of this worker.
    fn leave(&self, index: usize) {
        self.vacate(index);
        self.admitted.fetch_sub(1, Relaxed);
    }

    /// Counts a connection that this worker no longer has.
    fn vacate(&self, index: usize) {
        self.seats[index].connections.fetch_sub(1, Relaxed);
    }
}

/// The listeners of a worker. The files go when the worker that keeps them ends.
struct Accepting {
    listeners: Vec<Listener>,
    _socket_files: Vec<SocketFile>,
}

/// The context shared by the connections of one worker.
pub(crate) struct WorkerContext {
    pub(crate) worker: Rc<Worker>,
    /// The read buffer, used by one connection at a time, and never across an await.
    pub(crate) scratch: RefCell<Vec<u8>>,
    pub(crate) ranges: RefCell<Ranges>,
    /// An empty buffer for replies.
    buffer: Cell<Vec<u8>>,
    crew: Arc<Crew>,
    left: Notify,
}

impl WorkerContext {
    fn new(worker: Worker, crew: Arc<Crew>) -> Self {
        Self {
            worker: Rc::new(worker),
            scratch: RefCell::new(Vec::with_capacity(SCRATCH_BYTES)),
            ranges: RefCell::default(),
            buffer: Cell::default(),
            crew,
            left: Notify::new(),
        }
    }

    pub(crate) fn crew(&self) -> &Crew {
        &self.crew
    }

    /// Notes that a turn begins.
    #[inline]
    pub(crate) fn beat(&self) {
        self.crew.seats[self.worker.index].pulse.beat();
    }

    /// Returns true if the server is stopping: pending output is written, nothing new is begun.
    pub(crate) fn is_stopping(&self) -> bool {
        self.crew.stopping.load(Relaxed)
    }

    pub(crate) fn lend_buffer(&self) -> Vec<u8> {
        self.buffer.take()
    }

    /// Takes back a buffer lent by [`WorkerContext::lend_buffer`], if the output has been sent. Keeps the largest: its
    /// pages are mapped.
    pub(crate) fn keep_buffer(&self, output: &mut Output) {
        if let Some(buffer) = output.take_buffer() {
            let kept = self.buffer.take();
            self.buffer.set(if buffer.capacity() < kept.capacity() { kept } else { buffer });
        }
    }

    /// Passes an accepted socket to the worker with the fewest connections.
    pub(crate) fn place(self: &Rc<Self>, arrival: Arrival) {
        let index = self.crew.choose(self.worker.index);
        let seat = &self.crew.seats[index];
        seat.connections.fetch_add(1, Relaxed);
        if index == self.worker.index {
            self.adopt(arrival);
        } else if seat.worker_queue.send(Message::Arrival(arrival)).is_err() {
            self.crew.leave(index);
        }
    }

    /// Begins to serve a socket, which is already counted.
    fn adopt(self: &Rc<Self>, arrival: Arrival) {
        let engine = &self.worker.engine;
        self.worker.counters().connections.add(1);
        let (address, local_address) = arrival.addresses();
        let client = engine.clients.add(&address, &local_address, arrival.is_local(), engine.clock.now());
        let session = match arrival.protocol {
            Protocol::Resp => Session::new(self.worker.clone(), client),
            Protocol::Memcached => Session::of_memcached(self.worker.clone(), client),
            Protocol::Queue => Session::of_queues(self.worker.clone(), client),
        };
        session.client().is_in_reserve.store(arrival.is_in_reserve, Relaxed);
        if session.is_locked() {
            let count = engine.clients.note_locked(session.client(), engine.clock.now());
            if !arrival.is_in_reserve && count > locked_clients_max(self.worker.settings().maxclients) {
                arrival.refuse_locked(self);
                return self.leave();
            }
        }
        self.serve(Connection::new(self.clone(), arrival.socket, session), &address);
    }

    fn serve(self: &Rc<Self>, connection: io::Result<Connection>, address: &str) {
        match connection {
            Ok(mut connection) => {
                let context = self.clone();
                drop(spawn_local(async move {
                    let _served = context.worker.add_connection();
                    let destination = context.worker.in_turns(pin!(connection.serve())).await;
                    match destination {
                        Some(worker) => connection.move_to(worker),
                        None => connection.leave(),
                    }
                }));
            }
            Err(error) => {
                self.leave();
                warn!("a client at {address} cannot be served: {error}");
            }
        }
    }

    /// Returns true if a connection may move to a worker now.
    pub(crate) fn may_move_to(&self, index: usize) -> bool {
        !self.is_stopping() && !self.crew.is_hung(index)
    }

    /// Returns the other worker with the fewest connections if it has fewer than this one.
    pub(crate) fn lightest(&self) -> Option<usize> {
        let own = self.worker.index;
        Some(self.crew.choose(own)).filter(|index| *index != own && !self.is_stopping())
    }

    /// Passes a connection to another worker.
    pub(crate) fn hand_over(&self, moving: MovingConnection, index: usize) {
        let seat = &self.crew.seats[index];
        seat.connections.fetch_add(1, Relaxed);
        if let Err(unsent) = seat.worker_queue.send(Message::Moving(Box::new(moving))) {
            self.crew.vacate(index);
            return self.close_moving(unsent.0);
        }
        self.crew.vacate(self.worker.index);
        self.note_left();
    }

    /// Closes a connection on its way between workers that stop.
    fn close_moving(&self, message: Message) {
        if let Message::Moving(moving) = message {
            moving.close(self);
            self.leave();
        }
    }

    /// Notes that a connection of this worker is closed.
    pub(crate) fn leave(&self) {
        self.crew.leave(self.worker.index);
        self.note_left();
    }

    fn note_left(&self) {
        if self.is_stopping() {
            self.left.notify_one();
        }
    }

    fn is_empty(&self) -> bool {
        self.crew.seats[self.worker.index].connections.load(Relaxed) == 0
    }
}

async fn work(
    engine: Arc<Engine>,
    crew: Arc<Crew>,
    index: usize,
    mut worker_queue: UnboundedReceiver<Message>,
    (accepting, maps_first): (Accepting, bool),
) {
    let timer: SleepFn = Box::new(|ms| match ms {
        // After everything that is ready, once the sockets have been polled.
        0 => Box::pin(tokio::task::yield_now()),
        _ => Box::pin(tokio::time::sleep(Duration::from_millis(ms))),
    });
    let suspended = SuspendedScript::default();
    let mut worker = Worker::new(engine, index, timer, &suspended);
    worker.set_dialer(dialer());
    if maps_first {
        worker.map_for_scripts();
    }
    let context = Rc::new(WorkerContext::new(worker, crew));
    let worker = context.worker.clone();
    spawn_local(async move {
        let _owned = suspended;
        worker.listen().await;
    });
    let worker = context.worker.clone();
    spawn_local(async move { worker.in_turns(pin!(Session::keep_leases(worker.clone()))).await });
    if index == 0 {
        let worker = context.worker.clone();
        spawn_local(async move { worker.in_turns(pin!(Session::open_libraries(worker.clone()))).await });
        let worker = context.worker.clone();
        spawn_local(async move { worker.in_turns(pin!(Session::flush_when_due(worker.clone()))).await });
        let worker = context.worker.clone();
        spawn_local(async move { worker.in_turns(pin!(Session::drop_unused_indexes_when_due(worker.clone()))).await });
    }
    let Accepting { listeners, _socket_files } = accepting;
    if index == 0 {
        // After the tasks spawned above.
        tokio::task::yield_now().await;
        for seat in &context.crew().seats {
            // A worker whose queue is closed has stopped.
            let _ = seat.worker_queue.send(Message::Accept);
        }
    }
    let mut accepting = Vec::new();
    while let Some(message) = worker_queue.recv().await {
        match message {
            Message::Arrival(arrival) => context.adopt(arrival),
            Message::Moving(moving) => {
                let address = moving.address();
                context.serve(Connection::arrive(context.clone(), *moving), &address);
            }
            Message::Accept => {
                let begin = |listener: &Listener| spawn_local(accept(listener.clone(), context.clone()));
                accepting.extend(listeners.iter().map(begin));
            }
            #[cfg(test)]
            Message::Hang(hang) => hang(),
            Message::Stop => break,
        }
    }
    drop(listeners);
    accepting.iter().for_each(tokio::task::JoinHandle::abort);
    // Sockets that arrive after the stop are closed unserved; none arrive here once all workers have stopped.
    worker_queue.close();
    while let Some(message) = worker_queue.recv().await {
        match message {
            Message::Arrival(_) => context.leave(),
            moving => context.close_moving(moving),
        }
    }
    context.finish().await;
}

impl WorkerContext {
    /// Asks every client to close and waits, for a limited time, until the clients of this worker have closed.
    async fn finish(&self) {
        let engine = &self.worker.engine;
        engine.scripts.stop();
        let everybody = commands::ClientFilter::default();
        for client in engine.clients.select(&everybody, 0, engine.clock.now()) {
            client.close();
        }
        let all_left = async {
            while !self.is_empty() {
                // Another worker that cannot hand over a connection here takes back its count silently.
                let _ = tokio::time::timeout(LEFT_LOOK_AGAIN, self.left.notified()).await;
            }
        };
        if tokio::time::timeout(Duration::from_millis(STOP_MS), all_left).await.is_err() {
            warn!("disconnected clients that did not read their output");
        }
        self.worker.scripts_ended().await;
    }
}

#[cfg(test)]
mod tests;
