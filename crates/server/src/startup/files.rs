//! The limit on open files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files beside the clients: segments, listeners, event queues, logs, and connections in the reserve for this machine.
const RESERVE: u64 = 128 + engine::client::LOCAL_RESERVE as u64;
/// And so many for each worker: its event loop, and what wakes it.
const RESERVE_PER_THREAD: u64 = 4;

/// Raises the limit so that `maxclients` may connect to so many `threads`.
///
/// # Errors
/// How many clients the limit allows where it cannot be raised so far.
pub(super) fn raise(maxclients: usize, threads: usize) -> Result<(), usize> {
    let reserve = RESERVE + RESERVE_PER_THREAD * threads as u64;
    let needed = maxclients as u64 + reserve;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if allows(current, needed) {
        return Ok(());
    }
    // The superuser may raise the upper bound as well; everybody may go up to it.
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

/// No limit allows everything.
fn allows(limit: Option<u64>, files: u64) -> bool {
    limit.is_none_or(|limit| limit >= files)
}
