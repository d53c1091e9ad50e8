//! The memory limits of this process, and the thread that watches them: see [`engine::memory`] for their effects.

mod limits;
mod meter;

use crate::startup::Refused;
use engine::Engine;
use engine::memory::{Limit, Meter as _};
use limits::Found;
use meter::Meter;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};
use tracing::{info, warn};

const MB: u64 = 1 << 20;
/// The smallest limit on resident memory with which a server starts, in bytes, and what each worker thread adds.
const RESIDENT_BYTES_MIN: u64 = 64 * MB;
const RESIDENT_BYTES_PER_THREAD: u64 = 2 * MB;
/// Likewise, for mapped memory: stacks and buffers are mapped before they are touched.
const MAPPED_BYTES_MIN: u64 = 128 * MB;
const MAPPED_BYTES_PER_THREAD: u64 = 32 * MB;
/// Time between two log lines about the same state.
const SAID: Duration = Duration::from_secs(10);

/// The variable that configures jemalloc.
const JEMALLOC: &str = "_RJEM_MALLOC_CONF";
/// The variable that configures the C library's allocator, which some of its functions use.
const C_LIBRARY: &str = "MALLOC_ARENA_MAX";

/// The limits on this process.
pub(crate) struct Limits {
    found: Vec<Found>,
    meter: Meter,
}

/// If mapped memory is limited, restarts the program, as the same process, with an allocator that unmaps free memory:
/// otherwise memory once mapped would count forever. Call it first of all.
pub fn fit_allocator() {
    let configured = env::var_os(JEMALLOC).unwrap_or_default();
    if limits::of_rlimits().is_empty() || configured.to_string_lossy().contains("retain:") {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    let mut options = configured;
    options.push(if options.is_empty() { "" } else { "," });
    options.push("retain:false");
    let mut arguments = env::args_os();
    let name = arguments.next().unwrap_or_else(|| OsString::from("bobbin"));
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).env(JEMALLOC, options);
    if env::var_os(C_LIBRARY).is_none() {
        command.env(C_LIBRARY, "1");
    }
    // It returns only on failure: then this process continues unchanged, with less of its limit to use.
    let _ = command.exec();
}

impl Limits {
    /// Finds the system's limits, and adds the setting's unless it is 0.
    ///
    /// # Errors
    /// Fails if one is too small for a server of this many `threads`.
    pub(crate) fn find(setting_bytes: u64, threads: usize) -> Result<Self, Refused> {
        let found = limits::find(setting_bytes);
        for limit in &found {
            check(limit, threads as u64)?;
        }
        let meter = Meter::new(&found);
        Ok(Self { found, meter })
    }

    /// Returns no limits.
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        Self { found: Vec::new(), meter: Meter::new(&[]) }
    }

    /// Returns the smallest limit, in bytes.
    pub(crate) fn least_bytes(&self) -> Option<u64> {
        self.found.iter().map(|found| found.limit.bytes).min()
    }

    /// Returns true if mapped memory is limited, touched or not.
    pub(crate) fn limit_address_space(&self) -> bool {
        self.found.iter().any(Found::is_of_address_space)
    }

    /// Checks that the memory in use leaves room for commands that grow.
    ///
    /// # Errors
    /// Fails with a text that names the limit and the amount in use.
    pub(crate) fn check_room(&mut self) -> Result<(), String> {
        let used = self.meter.read();
        let above = self.found.iter().zip(used).find(|(found, used)| used.bytes >= found.limit.refuse_at_bytes());
        let Some((Found { limit: Limit { bytes, source }, .. }, used)) = above else { return Ok(()) };
        Err(format!("{} MB are in use of the memory limit of {} MB ({source})", used.bytes / MB, bytes / MB))
    }

    /// Makes the engine enforce the limits.
    pub(crate) fn hand_over(self, engine: &Engine) {
        engine.memory.set_to_load(engine.loading.bytes_left());
        let limits = self.found.into_iter().map(|found| found.limit).collect();
        engine.memory.obey(limits, Box::new(self.meter));
    }
}

fn check(found: &Found, threads: u64) -> Result<(), Refused> {
    let Limit { bytes, source } = &found.limit;
    let least_bytes = match found.is_of_address_space() {
        true => MAPPED_BYTES_MIN + MAPPED_BYTES_PER_THREAD * threads,
        false => RESIDENT_BYTES_MIN + RESIDENT_BYTES_PER_THREAD * threads,
    };
    if *bytes >= least_bytes {
        return Ok(());
    }
    let (mb, least_mb) = (bytes / MB, least_bytes / MB);
    Err(Refused::new(format!(
        "the memory limit of {mb} MB ({source}) is too small for {threads} worker threads, which need {least_mb} MB; raise \
         the limit or lower --threads"
    )))
}

/// Starts the thread that watches the limits, if there are any; it ends with the engine.
///
/// # Errors
/// Fails if the system has no thread to give.
pub(crate) fn watch(engine: &Arc<Engine>) -> io::Result<()> {
    let Some(status) = engine.memory.status() else { return Ok(()) };
    let (bytes, refuse_at) = (status.limit.bytes / MB, status.limit.refuse_at_bytes() / MB);
    info!(
        "memory is limited to {bytes} MB ({}): commands that need memory are refused from {refuse_at} MB on",
        status.limit.source
    );
    let engine = Arc::downgrade(engine);
    thread::Builder::new().name("memory".to_owned()).spawn(move || {
        let mut said = Said::default();
        while let Some(pause_ms) = look(&engine, &mut said) {
            thread::sleep(Duration::from_millis(pause_ms));
        }
    })?;
    Ok(())
}

fn look(engine: &Weak<Engine>, said: &mut Said) -> Option<u64> {
    let engine = engine.upgrade()?;
    engine.memory.set_to_load(engine.loading.bytes_left());
    let pause_ms = engine.memory.watch();
    said.say(&engine);
    pause_ms
}

/// The log lines, one per change but not too often.
#[derive(Default)]
struct Said {
    is_short: bool,
    is_halted: bool,
    short_at: Option<Instant>,
    halted_at: Option<Instant>,
}

impl Said {
    fn say(&mut self, engine: &Engine) {
        let Some(status) = engine.memory.status() else { return };
        let (used_mb, limit_mb, source) = (status.used_bytes / MB, status.limit.bytes / MB, &status.limit.source);
        // During loading, refusals are expected: they leave room for the remaining data.
        let is_short = engine.memory.is_refusing() && engine.loading.is_over();
        let is_halted = engine.loading.is_halted();
        if is_short != self.is_short && is_due(&mut self.short_at) {
            self.is_short = is_short;
            if is_short {
                warn!(
                    "memory is short: {used_mb} of {limit_mb} MB ({source}) are in use. Commands that need memory are \
                     refused until there is room: delete keys, or restart with a larger limit"
                );
            } else {
                info!("there is room in memory again: {used_mb} of {limit_mb} MB are in use");
            }
        }
        if is_halted != self.is_halted && is_due(&mut self.halted_at) {
            self.is_halted = is_halted;
            if is_halted {
                let progress = engine.loading.progress();
                warn!(
                    "the data does not fit the memory limit of {limit_mb} MB ({source}): {} of 1024 shards and {} large values \
                     are not loaded. Keys in them are answered with an OOM error, all others are served and may be deleted; \
                     loading continues when that makes room. Or restart with a larger limit",
                    progress.shards_left, progress.values_left
                );
            } else {
                info!("there is room in memory: loading continues");
            }
        }
    }
}

fn is_due(at: &mut Option<Instant>) -> bool {
    let is_due = at.is_none_or(|at| at.elapsed() >= SAID);
    if is_due {
        *at = Some(Instant::now());
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_a_too_small_limit_suggests_a_remedy() {
        let refused = Limits::find(65 * MB, 2).err().expect("2 threads need 68 MB").to_string();
        for word in ["65 MB", "memory-hard-limit", "2 worker threads", "68 MB", "raise", "--threads"] {
            assert!(refused.contains(word), "{word} in {refused}");
        }
        assert!(Limits::find(68 * MB, 2).is_ok());
    }

    #[test]
    fn there_is_room_under_a_large_limit_and_without_one() {
        assert!(Limits::find(1 << 50, 2).unwrap().check_room().is_ok());
        assert!(Limits::none().check_room().is_ok());
        assert_eq!(Limits::none().least_bytes(), None);
    }
}
