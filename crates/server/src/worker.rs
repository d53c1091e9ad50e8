//! The worker threads: each an event loop over its own connections.
//!
//! ```text
//! listeners -- accept (on the first worker) --> the seat with the fewest connections
//!                                                 | inbox, if it is another's
//!                                                 v
//!              worker: shelf (what its connections share) + one task a connection
//! ```

use crate::accept::{Arrival, Door, Listener, accept};
use crate::connection::{Connection, READ_BYTES_MAX};
use crate::line::dialer;
use crate::startup::Listeners;
use engine::worker::Timer;
use engine::{Engine, Session, Worker};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{LocalSet, spawn_local};
use tracing::{debug, info, warn};
use wire::{Output, Ranges};

/// Bytes of the buffer that connections read into: a pipeline of some 500 small requests. One read may fill it, so that nothing
/// is asked or zeroed before.
const SCRATCH_BYTES: usize = READ_BYTES_MAX;
/// How long a stop waits for clients to take what is due to them.
const STOP_MS: u64 = 2_000;

/// What one worker tells another, or is told by the main thread.
enum Message {
    Arrival(Arrival),
    Stop,
}

/// One worker as the others see it.
#[repr(align(128))]
struct Seat {
    connections: AtomicUsize,
    inbox: UnboundedSender<Message>,
}

/// All workers.
pub(crate) struct Crew {
    seats: Box<[Seat]>,
    stopping: AtomicBool,
}

/// The worker threads while they run.
pub(crate) struct Workers {
    crew: Arc<Crew>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts `count` workers; the first one accepts. What they map for scripts they map at once if `maps_first`.
    ///
    /// # Errors
    /// The system gives no thread or no event loop.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        count: usize,
        listeners: Listeners,
        maps_first: bool,
    ) -> io::Result<Self> {
        let (senders, inboxes): (Vec<_>, Vec<_>) = (0..count).map(|_| unbounded_channel()).unzip();
        let seats = senders.into_iter().map(|inbox| Seat { connections: AtomicUsize::new(0), inbox });
        let crew = Arc::new(Crew { seats: seats.collect(), stopping: AtomicBool::new(false) });
        engine.scripts.set_logger(Box::new(log_of_script));
        let mut listeners = Some(listeners);
        let mut threads = Vec::new();
        for (index, inbox) in inboxes.into_iter().enumerate() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
            let (engine, crew, listeners) = (engine.clone(), crew.clone(), listeners.take());
            let body = move || {
                let local = LocalSet::new();
                local.block_on(&runtime, work(engine, crew, index, inbox, (listeners, maps_first)));
            };
            threads.push(thread::Builder::new().name(format!("bobbin-{index}")).spawn(body)?);
        }
        Ok(Self { crew, threads })
    }

    /// Stops accepting, lets each connection finish its turn and take what is due to it, and ends the threads.
    pub(crate) fn stop(self) {
        self.crew.stopping.store(true, Relaxed);
        for seat in &self.crew.seats {
            // A worker that is gone has stopped.
            let _ = seat.inbox.send(Message::Stop);
        }
        for thread in self.threads {
            thread.join().expect("a worker aborts rather than panics");
        }
    }
}

/// What scripts say, and what is to be said of them, by its level.
fn log_of_script(level: u8, text: &str) {
    match level {
        3 => warn!("{text}"),
        2 => info!("{text}"),
        _ => debug!("{text}"),
    }
}

impl Crew {
    /// Connections of all workers.
    pub(crate) fn connections(&self) -> usize {
        self.seats.iter().map(|seat| seat.connections.load(Relaxed)).sum()
    }

    /// The worker with the fewest connections, `own` if no other has fewer.
    fn choose(&self, own: usize) -> usize {
        let load = |index: &usize| (self.seats[*index].connections.load(Relaxed), *index != own);
        (0..self.seats.len()).min_by_key(load).expect("there is a worker")
    }
}

/// What the connections of one worker share.
pub(crate) struct Shelf {
    pub(crate) worker: Rc<Worker>,
    /// Read into, by one connection at a time, and never across an await.
    pub(crate) scratch: RefCell<Vec<u8>>,
    pub(crate) ranges: RefCell<Ranges>,
    /// An empty buffer for replies.
    buffer: Cell<Vec<u8>>,
    crew: Arc<Crew>,
    left: Notify,
}

impl Shelf {
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

    /// Whether the server stops: what is due is written, nothing is begun.
    pub(crate) fn is_stopping(&self) -> bool {
        self.crew.stopping.load(Relaxed)
    }

    pub(crate) fn lend_buffer(&self) -> Vec<u8> {
        self.buffer.take()
    }

    /// Takes back what [`Shelf::lend_buffer`] gave, if the output has left. The largest is kept: its pages are there.
    pub(crate) fn keep_buffer(&self, output: &mut Output) {
        if let Some(buffer) = output.take_buffer() {
            let kept = self.buffer.take();
            self.buffer.set(if buffer.capacity() < kept.capacity() { kept } else { buffer });
        }
    }

    /// Gives an accepted socket to the worker that has the fewest connections.
    pub(crate) fn place(self: &Rc<Self>, arrival: Arrival) {
        let index = self.crew.choose(self.worker.index);
        let seat = &self.crew.seats[index];
        seat.connections.fetch_add(1, Relaxed);
        if index == self.worker.index {
            self.adopt(arrival);
        } else if seat.inbox.send(Message::Arrival(arrival)).is_err() {
            seat.connections.fetch_sub(1, Relaxed);
        }
    }

    /// Begins to serve a socket, which has been counted.
    fn adopt(self: &Rc<Self>, arrival: Arrival) {
        let engine = &self.worker.engine;
        self.worker.counters().connections.add(1);
        let (address, local_address) = arrival.addresses();
        let client = engine.clients.add(&address, &local_address, arrival.is_local(), engine.clock.now());
        let session = match arrival.door {
            Door::Resp => Session::new(self.worker.clone(), client),
            Door::Memcached => Session::of_memcached(self.worker.clone(), client),
            Door::Queue => Session::of_queues(self.worker.clone(), client),
        };
        match Connection::new(self.clone(), arrival.socket, session) {
            Ok(mut connection) => {
                let shelf = self.clone();
                drop(spawn_local(async move { shelf.worker.in_turns(connection.serve()).await }));
            }
            Err(error) => {
                self.leave();
                warn!("a client at {address} cannot be served: {error}");
            }
        }
    }

    /// A connection of this worker is gone.
    pub(crate) fn leave(&self) {
        self.crew.seats[self.worker.index].connections.fetch_sub(1, Relaxed);
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
    mut inbox: UnboundedReceiver<Message>,
    (listeners, maps_first): (Option<Listeners>, bool),
) {
    let timer: Timer = Box::new(|ms| match ms {
        // Behind all that is ready, once the sockets have been looked at.
        0 => Box::pin(tokio::task::yield_now()),
        _ => Box::pin(tokio::time::sleep(Duration::from_millis(ms))),
    });
    let mut worker = Worker::new(engine, index, timer);
    worker.set_dialer(dialer());
    if maps_first {
        worker.map_for_scripts();
    }
    let shelf = Rc::new(Shelf::new(worker, crew));
    let worker = shelf.worker.clone();
    spawn_local(async move { worker.listen().await });
    let worker = shelf.worker.clone();
    spawn_local(async move { worker.in_turns(Session::keep_leases(worker.clone())).await });
    if index == 0 {
        let worker = shelf.worker.clone();
        spawn_local(async move { worker.in_turns(Session::open_libraries(worker.clone())).await });
        let worker = shelf.worker.clone();
        spawn_local(async move { worker.in_turns(Session::flush_when_due(worker.clone())).await });
    }
    let (listeners, _socket_file) = Listener::all_of(listeners, &shelf.worker.engine.settings);
    let accepting: Vec<_> =
        listeners.into_iter().map(|listener| spawn_local(accept(listener, shelf.clone()))).collect();
    while let Some(Message::Arrival(arrival)) = inbox.recv().await {
        shelf.adopt(arrival);
    }
    accepting.iter().for_each(tokio::task::JoinHandle::abort);
    // What arrived behind the stop is closed unserved; nothing arrives in this inbox any more once all have stopped.
    inbox.close();
    while let Some(message) = inbox.recv().await {
        if let Message::Arrival(_) = message {
            shelf.leave();
        }
    }
    shelf.finish().await;
}

impl Shelf {
    /// Asks every client to go and waits until those of this worker have, for a while.
    async fn finish(&self) {
        let engine = &self.worker.engine;
        engine.scripts.stop();
        let everybody = commands::ClientFilter::default();
        for client in engine.clients.select(&everybody, 0, engine.clock.now()) {
            client.close();
        }
        let all_left = async {
            while !self.is_empty() {
                self.left.notified().await;
            }
        };
        if tokio::time::timeout(Duration::from_millis(STOP_MS), all_left).await.is_err() {
            warn!("clients that did not read what was due to them were cut off");
        }
        self.worker.scripts_ended().await;
    }
}
