//! Scripts: known ones, long-running ones, and the error that other clients get while one runs.
//!
//! ```text
//!   connection                                     tries EVAL in place; a script that takes 500 us is undone
//!      `----ScriptJob---> Script runner (one a worker)  a fiber that runs it, or EXEC with such commands, as one tx
//!                           |   ^ every 2 ms       keeps its locks, and its part in the gate
//!                           |   `-- driver: others first, then the next slice
//!                           `--> lua::Machine      a fiber in the fiber: yields for each redis.call
//! ```

pub(crate) mod catalogue;
mod known;
pub(crate) mod libraries;
mod memo;
pub(crate) mod runner;

pub(crate) use memo::{By, Memo};

pub(crate) use known::Script;

use base::instant::Instant;
use base::primitives::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use base::primitives::{Mutex, MutexGuard, RwLock};
use catalogue::{Catalogue, Counts};
use commands::{FunctionStats, RunningFunction};
use known::KnownScripts;
use std::sync::{Arc, OnceLock};
use wire::{Args, OwnedRequest};

/// The sink of redis.log and of messages about scripts: a level from 0 (debugging) to 3 (warnings), and a text.
pub type Logger = Box<dyn Fn(u8, &str) + Send + Sync>;

/// The script state shared by the workers.
#[derive(Default)]
pub struct Scripts {
    known: RwLock<KnownScripts>,
    /// Number of SCRIPT FLUSHes: machines with an older count drop their compiled scripts.
    generation: AtomicU64,
    /// Counts the scripts dropped.
    losses: AtomicU64,
    /// Scripts that have been suspended at least once.
    long: Mutex<Vec<Arc<Control>>>,
    /// Number of such scripts.
    resting: AtomicUsize,
    /// [`NOT_BUSY`], [`BUSY_SCRIPT`] or [`BUSY_FUNCTION`].
    busy: AtomicU8,
    stopping: AtomicBool,
    /// The function libraries, for holders of their key.
    pub(crate) catalogue: Catalogue,
    /// The numbers of libraries and functions, for anybody.
    library_counts: [AtomicUsize; 3],
    logger: OnceLock<Logger>,
}

/// The handle through which others reach a running script.
#[derive(Default)]
pub(crate) struct Control {
    is_function: AtomicBool,
    /// The running function, once it has been suspended.
    running: Mutex<Option<Running>>,
    is_busy: AtomicBool,
    is_killed: AtomicBool,
    has_written: AtomicBool,
}

/// A long-running function.
struct Running {
    name: Arc<str>,
    request: OwnedRequest,
    began: Instant,
}

impl Control {
    /// Begins a script or a function.
    pub(crate) fn begin(&self, is_function: bool) {
        self.is_function.store(is_function, Relaxed);
    }

    /// Ends it: a transaction goes on with other commands, for which it no longer runs.
    pub(crate) fn end(&self) {
        *self.running() = None;
    }

    /// Publishes which function runs, since `began`.
    pub(crate) fn publish(&self, name: &str, args: &Args<'_>, began: Instant) {
        let mut running = self.running();
        if self.is_function() && !name.is_empty() && running.is_none() {
            *running = Some(Running { name: name.into(), request: args.to_owned(), began });
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().expect("no holder panics")
    }

    fn is_function(&self) -> bool {
        self.is_function.load(Relaxed)
    }

    pub(crate) fn note_write(&self) {
        self.has_written.store(true, Relaxed);
    }

    pub(crate) fn is_killed(&self) -> bool {
        self.is_killed.load(Relaxed)
    }
}

const NOT_BUSY: u8 = 0;
const BUSY_SCRIPT: u8 = 1;
const BUSY_FUNCTION: u8 = 2;

/// The error for others while a script is busy.
const BUSY_SCRIPT_TEXT: &str = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
const BUSY_FUNCTION_TEXT: &str =
    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";

impl Scripts {
    // ---- known scripts ----

    pub(crate) fn find(&self, name: &str) -> Option<Script> {
        self.known.read().expect("no holder panics").find(name).cloned()
    }

    /// Keeps a script that compiles.
    pub(crate) fn keep(&self, script: &Script, was_loaded: bool) {
        let has_lost = self.known.write().expect("no holder panics").keep(script, was_loaded);
        if has_lost {
            self.losses.fetch_add(1, Relaxed);
        }
    }

    /// Drops all scripts. The result is to be dropped in the background.
    pub(crate) fn flush(&self) -> impl Send + 'static {
        let mut known = self.known.write().expect("no holder panics");
        let before = std::mem::take(&mut *known);
        self.generation.fetch_add(1, Relaxed);
        self.losses.fetch_add(1, Relaxed);
        before
    }

    pub(crate) fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Relaxed)
    }

    /// Returns their number and the bytes of their sources. O(1).
    pub fn count(&self) -> (usize, usize) {
        self.known.read().expect("no holder panics").count()
    }

    // ---- long-running scripts ----

    /// Adds a script that is suspended for the first time.
    pub(crate) fn begin_long(&self, control: &Arc<Control>) {
        self.long.lock().expect("no holder panics").push(control.clone());
        self.resting.fetch_add(1, Relaxed);
    }

    /// Removes a script that has ended.
    pub(crate) fn end_long(&self, control: &Arc<Control>) {
        let mut long = self.long.lock().expect("no holder panics");
        long.retain(|other| !Arc::ptr_eq(other, control));
        self.resting.fetch_sub(1, Relaxed);
        if !long.iter().any(|control| control.is_busy.load(Relaxed)) {
            self.busy.store(NOT_BUSY, Relaxed);
        }
    }

    /// Returns true if any script is suspended, inside the gate or with the gate up.
    pub(crate) fn any_rests(&self) -> bool {
        self.resting.load(Relaxed) > 0
    }

    /// Marks a script that has run for longer than `busy-reply-threshold` as busy. Returns true if that is new.
    pub(crate) fn set_busy(&self, control: &Control) -> bool {
        control.is_busy.store(true, Relaxed);
        let what = if control.is_function() { BUSY_FUNCTION } else { BUSY_SCRIPT };
        self.busy.compare_exchange(NOT_BUSY, what, Relaxed, Relaxed).is_ok()
    }

    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Relaxed) != NOT_BUSY
    }

    /// Returns the error for others while a script is busy.
    pub(crate) fn busy_text(&self) -> Option<&'static str> {
        match self.busy.load(Relaxed) {
            NOT_BUSY => None,
            BUSY_FUNCTION => Some(BUSY_FUNCTION_TEXT),
            _ => Some(BUSY_SCRIPT_TEXT),
        }
    }

    /// SCRIPT KILL, FUNCTION KILL.
    pub(crate) fn kill(&self, functions: bool) -> Result<(), &'static str> {
        let long = self.long.lock().expect("no holder panics");
        let Some(control) = long.iter().find(|control| control.is_function() == functions).or(long.first()) else {
            return Err("NOTBUSY No scripts in execution right now.");
        };
        if control.has_written.load(Relaxed) {
            return Err("UNKILLABLE Sorry the script already executed write commands against the dataset. You can \
                        either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE \
                        command.");
        }
        match (functions, control.is_function()) {
            (true, false) => Err(BUSY_SCRIPT_TEXT),
            (false, true) => Err(BUSY_FUNCTION_TEXT),
            _ => {
                control.is_killed.store(true, Relaxed);
                Ok(())
            }
        }
    }

    /// Returns the data for FUNCTION STATS, with the `own` counts of a tx that has changed libraries.
    pub(crate) fn function_stats(&self, own: Option<Counts>) -> Result<FunctionStats, &'static str> {
        if self.busy.load(Relaxed) == BUSY_SCRIPT {
            return Err(BUSY_SCRIPT_TEXT);
        }
        let long = self.long.lock().expect("no holder panics");
        let running = long.iter().find_map(|control| {
            let running = control.running();
            let Running { name, request, began } = running.as_ref()?;
            let command = request.args().iter().map(<[u8]>::to_vec).collect();
            Some(RunningFunction { name: name.to_string(), command, took_ms: began.elapsed().as_millis() as u64 })
        });
        let Counts { libraries, functions, .. } = own.unwrap_or_else(|| self.library_counts());
        Ok(FunctionStats { running, libraries_count: libraries, functions_count: functions })
    }

    pub(crate) fn library_counts(&self) -> Counts {
        let [libraries, functions, bytes] = &self.library_counts;
        Counts { libraries: libraries.load(Relaxed), functions: functions.load(Relaxed), bytes: bytes.load(Relaxed) }
    }

    /// Publishes the numbers of libraries and functions. The caller holds their key.
    pub(crate) fn note_library_counts(&self, counts: Counts) {
        let Counts { libraries, functions, bytes } = counts;
        if self.library_counts() != counts {
            self.library_counts
                .iter()
                .zip([libraries, functions, bytes])
                .for_each(|(known, now)| known.store(now, Relaxed));
        }
    }

    /// Stops with the server: running scripts are undone.
    pub fn stop(&self) {
        self.stopping.store(true, Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    // ---- redis.log ----

    /// Sets the sink of redis.log.
    pub fn set_logger(&self, logger: Logger) {
        // The first call counts.
        let _ = self.logger.set(logger);
    }

    pub(crate) fn log(&self, level: u8, text: &str) {
        if let Some(logger) = self.logger.get() {
            logger(level, text);
        }
    }
}
