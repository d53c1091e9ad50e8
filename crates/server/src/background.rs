//! The threads beside the workers: loaders, which end when everything is loaded; the housekeeper; the indexer of names;
//! the watchdog of the workers; one that drops big values; the checkpointer; and two that run big commands
//! speculatively. They yield to the workers.

use crate::log_budget::LogBudget;
use crate::sizes::Sizes;
use engine::client::Client;
use engine::event_loop::SleepFn;
use engine::settings::Settings;
use engine::{AT_ONCE_BYTES_MAX, CheckpointPace, Checkpointer, Engine, ExpireCycle, Indexer, Loader, Watchdog};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use store::Store;
use tokio::sync::oneshot;
use tracing::{debug, info, warn};

/// Milliseconds between two passes of the housekeeper.
const LOOK_MS: u64 = 100;
/// The same while more is pending than one pass does: holders of the needed locks can proceed meanwhile.
const BUSY_MS: u64 = 1;
/// The interval between checks of the bytes that clients pin.
const PINS_LOOK: Duration = Duration::from_millis(250);
/// The interval between searches for idle clients.
const IDLE_LOOK: Duration = Duration::from_secs(1);
/// In the reserve for local connections, the time to authenticate even if there is no bound for others, in seconds.
const RESERVE_TIMEOUT_S: u64 = 10;
/// The niceness of a thread that briefly holds shards: below the workers, but not starved by them.
const LOOKER_NICENESS: i32 = 5;
/// The niceness of the checkpointer: it holds shards too, more briefly.
const CHECKPOINTER_NICENESS: i32 = 5;
/// The niceness of a loader: a client may wait for the next shard.
const LOADER_NICENESS: i32 = 2;
/// The niceness of a thread that runs commands speculatively: a client waits for it.
const OFFLOAD_NICENESS: i32 = 2;
/// Threads that run commands speculatively: a single long one does not keep all others waiting.
const OFFLOAD_THREADS: usize = 2;
/// Maximum number of loader threads.
const LOADERS_MAX: usize = 16;
/// For tests: milliseconds to wait before loading a shard or value that nobody waits for.
const LOADER_REST: &str = "BOBBIN_TEST_LOADER_REST_MS";
/// Milliseconds after which anything still running is logged.
const WATCHDOG_THRESHOLD_MS: u64 = 1_000;
/// Looks of the watchdog per threshold.
const WATCHDOG_LOOKS: u64 = 8;
/// For tests: another threshold, in milliseconds.
const WATCHDOG_MS: &str = "BOBBIN_TEST_WATCHDOG_MS";
/// The niceness of the watchdog, which must run when the others are busiest.
const WATCHDOG_NICENESS: i32 = 0;
/// The niceness of a thread that nobody waits for.
const FREER_NICENESS: i32 = 10;

/// The running background threads.
pub(crate) struct Background {
    /// The housekeeper, the indexer and the watchdog.
    lookers: Vec<JoinHandle<()>>,
    stopping: Arc<AtomicBool>,
    checkpointer: Option<Thread>,
    loaders: Vec<Thread>,
}

/// A thread that ends when its sender is dropped, if not before.
type Thread = (JoinHandle<()>, oneshot::Sender<()>);

impl Background {
    /// Starts the threads, with `loaders` loaders if there is anything to load; the checkpointer continues with `store`
    /// and `sizes`.
    ///
    /// # Errors
    /// Fails if the system has no thread to give.
    pub(crate) fn start(engine: &Arc<Engine>, store: Option<Store>, sizes: Sizes, loaders: usize) -> io::Result<Self> {
        let loaders = if engine.loading.is_over() { 0 } else { loaders.min(LOADERS_MAX) };
        let loaders = (0..loaders).map(|_| load(engine.clone())).collect::<io::Result<_>>()?;
        let Sizes { journal_bytes_max, commit_bytes, kept_free_bytes, .. } = sizes;
        let pace =
            CheckpointPace { journal_bytes_max, commit_bytes, step_entries: keyspace::STEP_ENTRIES, kept_free_bytes };
        let checkpointer = store.map(|store| checkpoint(engine.clone(), store, pace)).transpose()?;
        let garbage = engine.deferred_drop.receiver().expect("one process has one freer");
        thread::Builder::new().name("freer".to_owned()).spawn(move || {
            lower(FREER_NICENESS);
            garbage.into_iter().for_each(drop);
        })?;
        let jobs = Arc::new(Mutex::new(engine.offload.receiver().expect("one process takes it once")));
        for _ in 0..OFFLOAD_THREADS {
            let jobs = jobs.clone();
            thread::Builder::new().name("offload".to_owned()).spawn(move || {
                lower(OFFLOAD_NICENESS);
                loop {
                    let next = jobs.lock().expect("a thread aborts rather than panics").recv();
                    let Ok(job) = next else { return };
                    job();
                }
            })?;
        }
        let stopping = Arc::new(AtomicBool::new(false));
        let (mut indexer, watched, engine) = (Indexer::new(engine.clone()), engine.clone(), engine.clone());
        let keep = move || {
            let mut housekeeper = Housekeeper::new(engine);
            move || if housekeeper.look() { BUSY_MS } else { LOOK_MS }
        };
        let order = move || move || indexer.pass();
        let lookers = vec![
            look("housekeeper", LOOKER_NICENESS, &stopping, keep)?,
            look("indexer", LOOKER_NICENESS, &stopping, order)?,
            look("watchdog", WATCHDOG_NICENESS, &stopping, || watch(watched))?,
        ];
        Ok(Self { lookers, stopping, checkpointer, loaders })
    }

    /// Ends the housekeeper, after which nothing here changes a key, and the others, wherever they are.
    pub(crate) fn stop(self) {
        let (threads, stops): (Vec<_>, Vec<_>) = self.loaders.into_iter().chain(self.checkpointer).unzip();
        drop(stops);
        threads.into_iter().for_each(|thread| thread.join().expect("a thread aborts rather than panics"));
        self.stopping.store(true, Relaxed);
        self.lookers.iter().for_each(|looker| looker.thread().unpark());
        self.lookers.into_iter().for_each(|looker| looker.join().expect("a thread aborts rather than panics"));
    }
}

/// Starts a thread that calls a function repeatedly, which returns the milliseconds until the next call.
fn look<P: FnMut() -> u64>(
    name: &str,
    niceness: i32,
    stopping: &Arc<AtomicBool>,
    begin: impl FnOnce() -> P + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let is_stopping = stopping.clone();
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        lower(niceness);
        let mut pass = begin();
        while !is_stopping.load(Relaxed) {
            match pass() {
                0 => thread::yield_now(),
                rest_ms => thread::park_timeout(Duration::from_millis(rest_ms)),
            }
        }
    })
}

/// Returns the watchdog function, which logs what takes too long.
fn watch(engine: Arc<Engine>) -> impl FnMut() -> u64 {
    let threshold_ms = number_of(WATCHDOG_MS).unwrap_or(WATCHDOG_THRESHOLD_MS);
    let mut watchdog = Watchdog::new(Duration::from_millis(threshold_ms));
    move || {
        engine.look_after(&mut watchdog).iter().for_each(|report| warn!("{report}"));
        (threshold_ms / WATCHDOG_LOOKS).max(1)
    }
}

/// Reads a number from the environment.
fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Starts the checkpointer thread.
fn checkpoint(engine: Arc<Engine>, store: Store, pace: CheckpointPace) -> io::Result<Thread> {
    run("checkpointer", CHECKPOINTER_NICENESS, async move |timer| {
        Checkpointer::new(engine, store, timer, pace).run().await;
    })
}

/// Starts a loader thread.
fn load(engine: Arc<Engine>) -> io::Result<Thread> {
    let rest_ms = number_of(LOADER_REST).unwrap_or(0);
    run("loader", LOADER_NICENESS, async move |timer| {
        let began = Instant::now();
        if Loader::new(engine, timer, rest_ms, AT_ONCE_BYTES_MAX).run().await {
            info!("everything is loaded, in {} ms", began.elapsed().as_millis());
        }
    })
}

/// Starts a thread for an async task, which sleeps by the given timer.
fn run(name: &str, niceness: i32, task: impl AsyncFnOnce(SleepFn) + Send + 'static) -> io::Result<Thread> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (stop, stopped) = oneshot::channel();
    let body = move || {
        lower(niceness);
        let timer =
            Box::new(|ms| -> engine::event_loop::Sleep { Box::pin(tokio::time::sleep(Duration::from_millis(ms))) });
        runtime.block_on(async {
            tokio::select! {
                biased;
                _ = stopped => {}
                () = task(timer) => {}
            }
        });
    };
    Ok((thread::Builder::new().name(name.to_owned()).spawn(body)?, stop))
}

/// Expires keys, samples the rates, and disconnects idle clients.
struct Housekeeper {
    engine: Arc<Engine>,
    expire_cycle: ExpireCycle,
    jumps: u64,
    pins_looked: Instant,
    idle_looked: Instant,
    late_warnings: LogBudget,
}

impl Housekeeper {
    fn new(engine: Arc<Engine>) -> Self {
        let expire_cycle = ExpireCycle::new(engine.clone());
        let now = Instant::now();
        let late_warnings = LogBudget::default();
        Self { expire_cycle, jumps: engine.clock.jumps(), pins_looked: now, idle_looked: now, late_warnings, engine }
    }

    /// Does pending work. Returns true if there is more.
    fn look(&mut self) -> bool {
        let more = self.expire_cycle.pass();
        self.engine.sample();
        let jumps = self.engine.clock.jumps();
        if std::mem::replace(&mut self.jumps, jumps) != jumps {
            warn!("the system's clock jumped forward by more than a minute: keys may have expired early");
        }
        if self.pins_looked.elapsed() >= PINS_LOOK {
            self.pins_looked = Instant::now();
            for (client, bytes) in engine::close_greatest_pinners(&self.engine) {
                let (id, address) = (client.id, &client.address);
                warn!(
                    "client {id} at {address} reads more slowly than others write: disconnected while its replies \
                     keep {bytes} bytes, see client-pinned-limit"
                );
            }
        }
        if self.idle_looked.elapsed() >= IDLE_LOOK {
            self.idle_looked = Instant::now();
            self.close_idle(&self.engine.settings);
            self.close_locked(&self.engine.settings);
        }
        more
    }

    fn close_idle(&self, settings: &Settings) {
        let timeout_ms = u64::from(settings.current().timeout_s) * 1000;
        if timeout_ms == 0 {
            return;
        }
        let now = self.engine.clock.now();
        let everybody = commands::ClientFilter::default();
        for client in self.engine.clients.select(&everybody, 0, now) {
            // A blocked or subscribed client waits for us.
            let waits = client.is_waiting() || client.is_subscribed();
            let is_idle = now.saturating_sub(client.last_ms.load(Relaxed)) > timeout_ms && !waits;
            if is_idle {
                debug!("client {} at {} was idle too long", client.id, client.address);
                client.close();
            }
        }
    }
}

impl Housekeeper {
    /// Closes connections that have not authenticated in time.
    fn close_locked(&self, settings: &Settings) {
        let current = settings.current();
        if current.requirepass.is_none() {
            return;
        }
        let bound_s = |client: &Client| match current.authentication_timeout_s {
            0 if client.is_in_reserve.load(Relaxed) => RESERVE_TIMEOUT_S,
            seconds => u64::from(seconds),
        };
        let bound_ms = |client: &Client| Some(bound_s(client) * 1000).filter(|ms| *ms > 0);
        let counters = self.engine.counters.last().expect("there is one for background threads");
        for client in self.engine.clients.close_locked(self.engine.clock.now(), bound_ms) {
            counters.passwords_late.add(1);
            if let Some(left_out) = self.late_warnings.spend(Instant::now()) {
                let (id, address, seconds) = (client.id, &client.address, bound_s(&client));
                warn!(
                    "client {id} at {address} did not authenticate within {seconds} s: closed, see \
                     authentication-timeout{left_out}"
                );
            }
        }
    }
}

/// Lowers the calling thread's priority below the process's other threads.
fn lower(niceness: i32) {
    // For the calling thread alone, as on Linux. If the system refuses, all stay at one priority.
    let _ = rustix::process::setpriority_process(None, niceness);
}
