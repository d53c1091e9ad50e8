//! An engine and its sessions without sockets, over a journal on a disk in memory and a clock that the test moves.

use base::clock::Clock;
use base::disk::FakeDisk;
use base::hash::KeyHasher;
use engine::memory::{Limit, Meter, Used};
use engine::settings::{Draft, find};
use engine::{
    AT_ONCE_BYTES_MAX, CheckpointPace, Checkpointer, Engine, Gathering, Loader, Loading, Next, Parts, Session, Slow,
    SuspendedScript, Worker,
};
use journal::{Options, Policy, Preallocator, Running, Step, Writer};
use keyspace::Keyspace;
use std::cell::RefCell;
use std::path::Path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use store::Store;
use wire::client::{Parser, Value};
use wire::{Output, OwnedRequest, Ranges};

/// Initial time of the clock, in milliseconds.
pub(crate) const START_MS: u64 = 1_700_000_000_000;
/// A sleep no longer than this is over at once, any other never.
const SLEEP_MS_MAX: u64 = 100;

/// A task that runs beside requests that wait.
type Background = Rc<RefCell<Pin<Box<dyn Future<Output = ()>>>>>;

/// Rest of a loader that loads only wanted shards, in milliseconds.
const NEVER_MS: u64 = 1 << 40;

/// An engine, one worker, and a checkpointer that works while a request waits.
pub(crate) struct World {
    pub(crate) engine: Arc<Engine>,
    pub(crate) worker: Rc<Worker>,
    /// Other workers.
    others: Vec<Rc<Worker>>,
    /// Suspended scripts, by worker.
    _suspended: Vec<SuspendedScript>,
    now_ms: Arc<AtomicU64>,
    pub(crate) disk: Arc<FakeDisk>,
    background: Background,
    /// None: nothing is journaled.
    journal: Option<Running>,
}

/// When shards are loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    AtOnce,
    /// When a request waits for them.
    Wanted,
}

impl World {
    pub(crate) fn new(settings: &[(&str, &str)]) -> Self {
        Self::over(FakeDisk::new(), START_MS, settings, Load::AtOnce)
    }

    /// A world with this many workers. A long request that a test suspends holds up those of its own worker.
    pub(crate) fn of_workers(count: usize, settings: &[(&str, &str)]) -> Self {
        Self::with(FakeDisk::new(), settings, Options::new(Policy::EverySec, START_MS), (Load::AtOnce, count))
    }

    /// The world after a restart from its disk.
    pub(crate) fn restarted(self, settings: &[(&str, &str)], load: Load) -> Self {
        let now_ms = self.now_ms.load(Relaxed);
        Self::over(self.stopped(), now_ms, settings, load)
    }

    /// A world with small files on a disk of this many bytes; frames leave some of them to the checkpointer.
    pub(crate) fn on_small_disk(bytes: u64) -> Self {
        let disk = FakeDisk::new();
        disk.set_capacity(Some(bytes));
        let mut options = Options::new(Policy::EverySec, START_MS);
        options.segment_bytes_max = (bytes / 64).min(8 << 20);
        options.segment_bytes_first = options.segment_bytes_max.min(1 << 20);
        options.kept_free_bytes = Some((bytes / 32).min(64 << 20));
        Self::with(disk, &[], options, (Load::AtOnce, 1))
    }

    /// Creates a world that keeps nothing, and is not restarted.
    pub(crate) fn without_journal() -> Self {
        let now_ms = Arc::new(AtomicU64::new(START_MS));
        let wall = now_ms.clone();
        let hasher = KeyHasher::new([3; 16]);
        let clock = Clock::new(Arc::new(move || wall.load(Relaxed)), 0).unwrap();
        let settings = Arc::new(Draft::new().finish());
        let keyspace = Keyspace::new(hasher, settings.current().databases);
        let engine = Engine::new(Parts { hasher, clock, settings, workers: 1 }, keyspace, Loading::nothing(), None);
        let suspended = SuspendedScript::default();
        let worker = Rc::new(Worker::new(engine.clone(), 0, Box::new(timer), &suspended));
        Self {
            engine,
            worker,
            others: Vec::new(),
            _suspended: vec![suspended],
            now_ms,
            disk: Arc::new(FakeDisk::new()),
            background: Rc::new(RefCell::new(Box::pin(std::future::pending()))),
            journal: None,
        }
    }

    /// Ends it in order; the disk that it leaves.
    pub(crate) fn stopped(self) -> FakeDisk {
        self.journal.expect("a world that keeps something is stopped").stop().unwrap();
        self.disk.copy()
    }

    pub(crate) fn over(disk: FakeDisk, begin_ms: u64, settings: &[(&str, &str)], load: Load) -> Self {
        Self::with(disk, settings, Options::new(Policy::EverySec, begin_ms), (load, 1))
    }

    /// Creates a world under fsync=always, whose journal is written when the test calls the function.
    pub(crate) fn written_by_hand() -> (Self, impl FnMut()) {
        let options = Options::new(Policy::Always, START_MS);
        let (world, mut writer, mut preallocator) = Self::unwritten(FakeDisk::new(), &[], options, (Load::AtOnce, 1));
        let write = move || {
            preallocator.step();
            while !matches!(writer.step(), Step::Rest { .. }) {}
        };
        (world, write)
    }

    fn with(disk: FakeDisk, settings: &[(&str, &str)], options: Options, kind: (Load, usize)) -> Self {
        let (world, writer, preallocator) = Self::unwritten(disk, settings, options, kind);
        Self { journal: Some(Running::start(writer, preallocator)), ..world }
    }

    fn unwritten(
        disk: FakeDisk,
        settings: &[(&str, &str)],
        options: Options,
        (load, workers): (Load, usize),
    ) -> (Self, Writer, Preallocator) {
        let mut draft = Draft::new();
        for (name, value) in settings {
            draft.put_flag(find(name).unwrap(), value).unwrap();
        }
        let settings = Arc::new(draft.finish());
        let (disk, begin_ms) = (Arc::new(disk), options.now_ms);
        let kept_free_bytes = options.kept_free_bytes.unwrap_or(0);
        let mut store_options = store::Options::new(0, begin_ms);
        let mut commit_bytes = 1 << 20;
        if kept_free_bytes > 0 {
            commit_bytes = kept_free_bytes / 8;
            (store_options.segment_bytes_max, store_options.reserve_bytes) =
                (commit_bytes, (kept_free_bytes / 2).min(4 << 20));
            store_options.manifest_bytes_min = commit_bytes;
        }
        let prepared = journal::prepare(disk.clone(), Path::new("/data/journal"), options).unwrap();
        let hasher = KeyHasher::new(prepared.identity.hash_key);
        let mut keyspace = Keyspace::new(hasher, settings.current().databases);
        store_options.identity = u64::from_le_bytes(*prepared.identity.hash_key.first_chunk().unwrap());
        let store = Store::open(disk.clone(), Path::new("/data/store"), store_options).unwrap();
        keyspace.shut();
        let mut gathering = Gathering::new(&keyspace, &store);
        let opened = prepared.open(store.least_position(), &mut gathering).unwrap();
        let loading = gathering.finish(&store);
        if load == Load::AtOnce {
            loading.run(&keyspace).unwrap();
        }
        let now_ms = Arc::new(AtomicU64::new(begin_ms));
        let wall = now_ms.clone();
        let clock = Clock::new(Arc::new(move || wall.load(Relaxed)), 0).unwrap();
        let parts = Parts { hasher, clock, settings, workers };
        let engine = Engine::new(parts, keyspace, loading, Some((opened.journal, opened.recovery)));
        let suspended: Vec<_> = (0..workers).map(|_| SuspendedScript::default()).collect();
        let new_worker = |index: usize| Rc::new(Worker::new(engine.clone(), index, Box::new(timer), &suspended[index]));
        let (worker, others) = (new_worker(0), (1..workers).map(new_worker).collect());
        let pace = CheckpointPace { journal_bytes_max: u64::MAX, commit_bytes, step_entries: 7, kept_free_bytes };
        let checkpointer = Checkpointer::new(engine.clone(), store, Box::new(timer), pace);
        let loader = Loader::new(engine.clone(), Box::new(timer), NEVER_MS, AT_ONCE_BYTES_MAX);
        let background: Background = Rc::new(RefCell::new(Box::pin(async {
            let (mut loader, mut checkpointer) = (Box::pin(loader.run()), Box::pin(checkpointer.run()));
            let mut is_over = false;
            std::future::poll_fn(|context| {
                is_over = is_over || loader.as_mut().poll(context).is_ready();
                checkpointer.as_mut().poll(context)
            })
            .await;
        })));
        let world = Self { engine, worker, others, _suspended: suspended, now_ms, disk, background, journal: None };
        (world, opened.writer, opened.preallocator)
    }

    /// Loads all remaining shards and values.
    pub(crate) fn load_all(&self) {
        let timer = |_| -> engine::event_loop::Sleep { Box::pin(std::future::pending()) };
        block_on(Loader::new(self.engine.clone(), Box::new(timer), 0, AT_ONCE_BYTES_MAX).run());
    }

    /// Returns the number of shards still to be loaded.
    pub(crate) fn shards_left(&self) -> usize {
        self.engine.loading.progress().shards_left
    }

    pub(crate) fn client(&self) -> Client {
        let client = self.engine.clients.add("test:0", "test:1", true, START_MS);
        let (worker, background) = (self.worker.clone(), self.background.clone());
        Client { session: Session::new(worker.clone(), client), worker, background, input: Vec::new() }
    }

    /// Creates a client of the worker with this number.
    pub(crate) fn client_of(&self, index: usize) -> Client {
        self.client_on(if index == 0 { &self.worker } else { &self.others[index - 1] }.clone())
    }

    /// Creates a client of this worker.
    pub(crate) fn client_on(&self, worker: Rc<Worker>) -> Client {
        let client = self.engine.clients.add("test:0", "test:1", true, START_MS);
        Client { session: Session::new(worker.clone(), client), worker, ..self.client() }
    }

    /// Creates a client of the memcached port.
    pub(crate) fn client_of_memcached(&self) -> Client {
        let client = self.engine.clients.add("test:4", "test:5", true, START_MS);
        let session = Session::of_memcached(self.worker.clone(), client);
        Client { session, ..self.client() }
    }

    /// Creates a client of the queue port.
    pub(crate) fn client_of_queues(&self) -> Client {
        let client = self.engine.clients.add("test:2", "test:3", true, START_MS);
        let session = Session::of_queues(self.worker.clone(), client);
        Client { session, ..self.client() }
    }

    /// Limits memory to `limit_bytes`; the test sets the used bytes through the returned counter.
    pub(crate) fn limit_memory(&self, limit_bytes: u64) -> Arc<AtomicU64> {
        struct FakeMeter(Arc<AtomicU64>);
        impl Meter for FakeMeter {
            fn read(&mut self) -> Vec<Used> {
                vec![Used { bytes: self.0.load(Relaxed), ..Used::default() }]
            }

            fn give_back(&mut self) {}
        }
        let used_bytes = Arc::new(AtomicU64::new(0));
        let limit = Limit { bytes: limit_bytes, source: "a test".to_owned() };
        self.engine.memory.obey(vec![limit], Box::new(FakeMeter(used_bytes.clone())));
        used_bytes
    }

    pub(crate) fn advance(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Relaxed);
    }

    /// Extends the leases of connections, as a server does every few seconds.
    pub(crate) fn extend_leases(&self) {
        run_beside(&self.worker, &self.background, Session::extend_leases(&self.worker));
    }

    /// Drops temporary indexes whose time is up, as a server does every second.
    pub(crate) fn drop_unused_indexes(&self) {
        run_beside(&self.worker, &self.background, Session::drop_unused_indexes(&self.worker));
    }
}

/// One connection.
pub(crate) struct Client {
    pub(crate) session: Session,
    pub(crate) worker: Rc<Worker>,
    background: Background,
    /// The last request sent.
    pub(crate) input: Vec<u8>,
}

impl Client {
    /// Sends a request; returns the next action, such as a wait.
    pub(crate) fn send(&mut self, words: &[&[u8]], output: &mut Output) -> Next {
        self.input.clear();
        wire::resp::request(&mut self.input, OwnedRequest::of(words).args());
        let mut ranges = Ranges::new();
        loop {
            let turn = self.session.run_turn(&self.input, &mut ranges, output);
            self.input.drain(..turn.used);
            // A slow machine may end a turn before a long request is read.
            if !matches!(turn.next, Next::Again) {
                return turn.next;
            }
        }
    }

    /// Returns the reply to a request, in RESP.
    pub(crate) fn call_bytes(&mut self, words: &[&[u8]]) -> String {
        read(self.output_of(words))
    }

    /// Runs a request and ignores its reply.
    pub(crate) fn run(&mut self, words: &[Vec<u8>]) {
        self.output_of(&words.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }

    /// Returns the reply to a request.
    pub(crate) fn value_of(&mut self, words: &[&[u8]]) -> Value {
        let mut parser = Parser::new();
        parser.feed(&read_bytes(self.output_of(words)));
        parser.next_value().unwrap().unwrap()
    }

    fn output_of(&mut self, words: &[&[u8]]) -> Output {
        let mut output = Output::new();
        if let Next::Slow(slow) = self.send(words, &mut output) {
            self.finish(slow, &mut output);
        }
        output
    }

    /// Returns the replies to pipelined requests.
    pub(crate) fn call_all(&mut self, lines: &[&str]) -> String {
        let output = Output::new();
        self.input.clear();
        for line in lines {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            wire::resp::request(&mut self.input, OwnedRequest::of(&words).args());
        }
        self.run_input(output)
    }

    /// Returns the replies to raw bytes.
    pub(crate) fn ask(&mut self, bytes: &str) -> String {
        self.input.clear();
        self.input.extend_from_slice(bytes.as_bytes());
        self.run_input(Output::new())
    }

    fn run_input(&mut self, mut output: Output) -> String {
        while !self.input.is_empty() {
            let turn = self.session.run_turn(&self.input, &mut Ranges::new(), &mut output);
            self.input.drain(..turn.used);
            match turn.next {
                Next::Again => {}
                Next::Slow(slow) => {
                    let request_bytes = slow.request_bytes();
                    self.finish(slow, &mut output);
                    self.input.drain(..request_bytes);
                }
                Next::Input(_) | Next::Gate | Next::Paced(_) | Next::Close | Next::Http => break,
            }
        }
        assert!(self.input.is_empty());
        read(output)
    }

    /// Runs a request that waits to its end.
    pub(crate) fn finish(&mut self, slow: Box<Slow>, output: &mut Output) {
        run_beside(&self.worker, &self.background, self.session.run_slowly(slow, &self.input, output));
    }

    /// Polls a request and the background task a few times.
    pub(crate) fn try_slowly(&mut self, slow: Box<Slow>, output: &mut Output) {
        let mut run = pin!(self.session.run_slowly(slow, &self.input, output));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..20 {
            let _ = self.background.borrow_mut().as_mut().poll(&mut context);
            if run.as_mut().poll(&mut context).is_ready() {
                return;
            }
        }
    }

    /// Polls the background task once.
    pub(crate) fn rest(&self) {
        let _ = self.background.borrow_mut().as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.session.client().is_waiting()
    }

    /// Begins a request that waits, calls `look` with whether the client counts as waiting, and drops the request.
    pub(crate) fn poll_slowly_once(&mut self, slow: Box<Slow>, output: &mut Output, look: impl FnOnce(bool)) {
        let client = self.session.client().clone();
        let mut run = pin!(self.session.run_slowly(slow, &self.input, output));
        assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        look(client.is_waiting());
    }

    pub(crate) fn call(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.call_bytes(&words)
    }
}

/// Runs a future to its end, beside the worker's listener and the background task.
fn run_beside(worker: &Worker, background: &Background, future: impl Future<Output = ()>) {
    let (mut listen, mut run) = (pin!(worker.listen()), pin!(future));
    block_on(std::future::poll_fn(|context| {
        let _ = listen.as_mut().poll(context);
        let _ = background.borrow_mut().as_mut().poll(context);
        run.as_mut().poll(context)
    }));
}

pub(crate) fn read(output: Output) -> String {
    String::from_utf8(read_bytes(output)).unwrap()
}

fn read_bytes(mut output: Output) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        output.fill();
        let Some(front) = output.front() else { break };
        bytes.extend_from_slice(front);
        let count = front.len();
        output.consume(count);
    }
    bytes
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

pub(crate) fn block_on<R>(future: impl Future<Output = R>) -> R {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return result;
        }
        thread::park();
    }
}

/// Sleeps until the next poll, or forever if that is longer than a test waits.
pub(crate) fn timer(ms: u64) -> engine::event_loop::Sleep {
    if ms <= SLEEP_MS_MAX { Box::pin(yield_now()) } else { Box::pin(std::future::pending()) }
}

async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
