//! The limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files besides the clients: segments, listeners, event queues, logs, and the reserve for local connections.
const RESERVE: u64 = 128 + engine::client::LOCAL_RESERVE as u64;
/// Further files per worker: its event loop and its wakers.
const RESERVE_PER_THREAD: u64 = 4;

/// Raises the limit so that `maxclients` may connect to this many `threads`.
///
/// # Errors
/// Returns how many clients the limit allows if it cannot be raised that far.
pub(super) fn raise(maxclients: usize, threads: usize) -> Result<(), usize> {
    let reserve = RESERVE + RESERVE_PER_THREAD * threads as u64;
    let needed = maxclients as u64 + reserve;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if allows(current, needed) {
        return Ok(());
    }
    // The superuser may also raise the hard limit; others may raise up to it.
    let highest = maximum.map(|maximum| maximum.max(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: highest });
    if raised.is_err() {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    match getrlimit(Resource::Nofile).current {
        current if allows(current, needed) => Ok(()),
        current => Err(current.map_or(maxclients, |files| files.saturating_sub(reserve).max(1) as usize)),
    }
}

/// Returns true if a limit allows this many files; no limit allows any number.
fn allows(limit: Option<u64>, files: u64) -> bool {
    limit.is_none_or(|limit| limit >= files)
}
