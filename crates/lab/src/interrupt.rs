//! Ctrl-C: the servers that the lab started are ended, what was measured is kept, and the run comes to its end.
//!
//! The first signal ends the servers under test, so that whatever waits for one of them fails at once; the run then sees
//! that it is to stop. The second signal ends the lab itself, and the kernel ends what is tied to it
//! ([`crate::programs::tied`]).

use crate::{LabError, io_error};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// The exit code of a program that a signal ended, by the shell's convention.
const INTERRUPTED: i32 = 130;

/// Watches for SIGINT and SIGTERM from now on.
///
/// # Errors
/// The system refused.
pub(crate) fn watch() -> Result<(), LabError> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(io_error("signals"))?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if REQUESTED.swap(true, Ordering::Relaxed) {
                process::exit(INTERRUPTED);
            }
            eprintln!("\ninterrupted: ending the servers and keeping what was measured (again to stop at once)");
            children(|children| children.iter().for_each(|pid| end(*pid)));
        }
    });
    Ok(())
}

/// Returns true once the user wants the run to stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Returns what [`is_requested`] looks at.
pub(crate) fn requested() -> &'static AtomicBool {
    &REQUESTED
}

/// A program that an interrupt ends; no longer once this is dropped.
pub(crate) struct Ended(u32);

impl Ended {
    /// Makes an interrupt end the process.
    pub(crate) fn on_interrupt(pid: u32) -> Self {
        children(|children| children.push(pid));
        Self(pid)
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        children(|children| children.retain(|pid| *pid != self.0));
    }
}

fn children<T>(look: impl FnOnce(&mut Vec<u32>) -> T) -> T {
    look(&mut CHILDREN.lock().unwrap_or_else(PoisonError::into_inner))
}

fn end(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
}
