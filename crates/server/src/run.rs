//! The life of the server: recover, serve, stop.
//!
//! ```text
//! open --> workers, background --> ready ... signal or SHUTDOWN --> workers --> background --> journal --> exit 0
//!                                            a second signal: exit at once
//! ```
//!
//! Nothing changes a key once workers and background threads have ended, so the journal's last mark covers everything.
//!
//! Shards are loaded while it serves. One that cannot be loaded ends the server, in order and with the exit code of a
//! refused start: no key of that shard was returned to anybody, and all other replies are covered by the journal.

use crate::background::Background;
use crate::memory::{self, Limits};
use crate::open::{Open, open};
use crate::sizes::Sizes;
use crate::startup::{Prepared, REFUSED, Ready, Refused};
use crate::worker::Workers;
use engine::Engine;
use journal::Running;
use std::future::poll_fn;
use std::io;
use std::process::ExitCode;
use std::task::Poll;
use std::thread;
use std::time::Instant;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

/// Serves until it is asked to stop. `began` is when the process started.
///
/// # Errors
/// Fails if the data folder cannot be opened, or the system lacks threads.
pub fn run(prepared: Prepared, began: Instant) -> Result<ExitCode, Refused> {
    abort_on_panic();
    let Prepared { settings, listeners, folder, threads } = prepared;
    let limits = Limits::find(settings.current().memory_bytes_max, threads)?;
    let (memory_bytes, maps_first) = (limits.least_bytes(), limits.limit_address_space());
    let Open { engine, journal, store, found } = open(settings, folder.as_ref(), threads, limits)?;
    let lacking = |error: io::Error| Refused::new(format!("cannot create a thread or event loop: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(lacking)?;
    let mut signals = runtime.block_on(async { Signals::new() }).map_err(lacking)?;
    let addresses = listeners.addresses();
    let sizes = folder.as_ref().map_or(Sizes::of(0), |folder| Sizes::at(folder.path()));
    let sizes = memory_bytes.map_or(sizes, |bytes| sizes.within_memory(bytes));
    memory::watch(&engine).map_err(lacking)?;
    let background = Background::start(&engine, store, sizes, threads).map_err(lacking)?;
    let workers = Workers::start(&engine, threads, listeners, maps_first).map_err(lacking)?;
    let ready_ms = began.elapsed().as_millis() as u64;
    let path = folder.as_ref().map(|folder| folder.path());
    info!("{}", Ready { addresses: &addresses, threads, folder: path, found: &found, ready_ms });
    let server = Server { workers, background, journal };
    Ok(runtime.block_on(async {
        let reason = asked_to_stop(&engine, &mut signals).await;
        // Read once, so that the log and the exit code agree.
        let code = match engine.loading.fault() {
            None => {
                info!("stopping: {reason}");
                ExitCode::SUCCESS
            }
            Some(why) => {
                error!("stopping, since the data cannot be fully loaded: {why} {WRITTEN_SINCE}");
                ExitCode::from(REFUSED)
            }
        };
        // A loader in the middle of a shard need not finish it.
        engine.loading.stop();
        server.stop(&mut signals, code).await
    }))
}

/// Added to the remedy of a refused start, which assumes no writes since.
const WRITTEN_SINCE: &str = "What was written since the start is in the journal and in no backup: `bobbin check --repair` \
    keeps it, and what is left of the damaged shard.";

/// All running parts of the server.
struct Server {
    workers: Workers,
    background: Background,
    journal: Option<Running>,
}

impl Server {
    /// Stops everything in order, on a separate thread so that a second signal is still noticed; returns `code` if it
    /// succeeds.
    async fn stop(self, signals: &mut Signals, code: ExitCode) -> ExitCode {
        let (sender, stopped) = oneshot::channel();
        let body = move || {
            self.workers.stop();
            self.background.stop();
            // The receiver is only gone if the process ends anyway.
            let _ = sender.send(self.journal.map_or(Ok(()), Running::stop));
        };
        if let Err(error) = thread::Builder::new().name("stop".to_owned()).spawn(body) {
            error!("cannot stop cleanly: {error}");
            return ExitCode::FAILURE;
        }
        tokio::select! {
            stopped = stopped => match stopped.expect("the thread sends before it ends") {
                Ok(()) => {
                    info!("stopped");
                    code
                }
                Err(why) => {
                    error!("stopped, but the journal was not closed cleanly: {why}");
                    ExitCode::FAILURE
                }
            },
            name = signals.next() => {
                warn!("{name} while stopping: exiting at once, the next start recovers");
                ExitCode::FAILURE
            }
        }
    }
}

/// Waits for a signal or SHUTDOWN, and returns which.
async fn asked_to_stop(engine: &Engine, signals: &mut Signals) -> &'static str {
    let mut is_asked = poll_fn(|context| match engine.is_shutting_down(Some(context.waker())) {
        true => Poll::Ready("SHUTDOWN"),
        false => Poll::Pending,
    });
    tokio::select! {
        reason = &mut is_asked => reason,
        name = signals.next() => name,
    }
}

/// The signals that end the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Aborts on a panic in any thread: it is our own bug, and recovery is the way back.
fn abort_on_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
}
