//! From settings to a server ready to begin: the preconditions are checked here, in this order, before any thread
//! starts.
//!
//! ```text
//! addresses -> protected mode -> ports and socket taken -> data folder locked -> open files -> Prepared
//! ```
//!
//! The folder comes after the ports, so that a start refused for a taken port leaves no folder behind.

mod files;
mod folder;
mod listen;

pub use folder::DataFolder;
pub use listen::{Listeners, SocketFile};

use crate::cli::VERSION;
use engine::settings::{Current, Settings};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tracing::warn;
use wire::memcache::PASSWORD_BYTES_MAX;

/// Exit code of a refused start.
pub const REFUSED: u8 = 2;

/// Why the server does not start: one line with the remedy.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    line: String,
    is_by_disk: bool,
}

impl Refused {
    pub(crate) fn new(line: String) -> Self {
        Self { line, is_by_disk: false }
    }

    /// Returns true if a disk error is the only known reason.
    pub(crate) fn is_by_disk(&self) -> bool {
        self.is_by_disk
    }

    /// Makes a refusal from a disk error under the data folder: with a remedy if the disk is full, otherwise `other`.
    pub(crate) fn by_disk(folder: &Path, error: &io::Error, other: impl FnOnce() -> String) -> Self {
        let folder = folder.display();
        let line = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                format!("the disk under the data folder {folder} is full; make room on it or choose another with --dir")
            }
            _ => other(),
        };
        Self { line, is_by_disk: true }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for Refused {}

/// Everything the workers need to begin.
pub struct Prepared {
    /// The settings, shared.
    pub settings: Arc<Settings>,
    /// Listening already.
    pub listeners: Listeners,
    /// The data folder, locked while this lives; `None` with the journal off.
    pub folder: Option<DataFolder>,
    /// Worker threads, at least one.
    pub threads: usize,
}

/// Starts logging, prepares, and hands over to `run`. A refused start prints one line on standard error.
pub fn serve(settings: Settings, run: impl FnOnce(Prepared) -> Result<ExitCode, Refused>) -> ExitCode {
    crate::log::start(&settings);
    let variables = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for (name, meant) in crate::cli::misspelt_variables(variables) {
        warn!("the environment variable {name} is not a setting and is ignored; did you mean {meant}?");
    }
    prepare(Arc::new(settings)).and_then(run).unwrap_or_else(|refused| {
        eprintln!("bobbin: {refused}");
        ExitCode::from(REFUSED)
    })
}

/// Checks and acquires everything that a server needs.
///
/// # Errors
/// Returns the first problem, with its remedy.
pub fn prepare(settings: Arc<Settings>) -> Result<Prepared, Refused> {
    let current = settings.current();
    if current.memcached_database >= current.databases {
        return Err(Refused::new(format!(
            "there is no database {} for memcached's protocol; see --memcached-db and --databases",
            current.memcached_database
        )));
    }
    if current.queue_database >= current.databases {
        return Err(Refused::new(format!(
            "there is no database {} for queues; see --queue-db and --databases",
            current.queue_database
        )));
    }
    if let Some(text) = unspeakable(&current) {
        warn!("{text}");
    }
    let addresses = listen::Addresses::of(&current)?;
    let all = addresses.all();
    listen::protect(&current, &all)?;
    let reachable = listen::reachable(&all).is_some();
    let listeners = listen::listen(&current, &addresses)?;
    let folder = if current.journal { Some(DataFolder::take(&current.dir)?) } else { None };
    if let Err(possible) = files::raise(current.maxclients, threads(&current)) {
        let wanted = current.maxclients;
        warn!("maxclients lowered from {wanted} to {possible}: the system allows no more open files (see ulimit -n)");
        settings.fit_maxclients(possible);
    }
    settings.on_change(Box::new(move |before, after| check_change(before, after, reachable)));
    Ok(Prepared { threads: threads(&current), settings, listeners, folder })
}

/// Returns a warning if the password is too long for some protocol.
fn unspeakable(current: &Current) -> Option<String> {
    let bytes = current.requirepass.as_ref()?.length();
    let line_bytes_max = PASSWORD_BYTES_MAX - "default ".len();
    let has_lines = current.memcached_port != 0 || current.queue_port != 0;
    (has_lines && bytes > line_bytes_max).then(|| {
        format!(
            "requirepass has {bytes} bytes, and memcached's and MemcacheQ's protocol can carry at most \
             {line_bytes_max}: nobody can authenticate there; choose a shorter one, or --memcached-port 0 \
             --queue-port 0"
        )
    })
}

/// Refuses changes by CONFIG SET that would violate what the start has checked.
fn check_change(before: &Current, after: &Current, reachable: bool) -> Result<(), (&'static str, String)> {
    if reachable && after.requirepass.is_none() {
        let why = "other machines can reach this server, so it needs a password";
        return Err(("requirepass", why.to_owned()));
    }
    if after.maxclients > before.maxclients
        && let Err(possible) = files::raise(after.maxclients, threads(after))
    {
        let why = "The operating system is not able to handle the specified number of clients, try with";
        return Err(("maxclients", format!("{why} {possible}")));
    }
    Ok(())
}

fn threads(current: &Current) -> usize {
    match current.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}

/// The line that reports the server ready.
pub struct Ready<'a> {
    /// The addresses it listens on.
    pub addresses: &'a [String],
    /// Worker threads.
    pub threads: usize,
    /// The data folder; `None` with the journal off.
    pub folder: Option<&'a Path>,
    /// The result of recovery, such as "12 frames to replay"; unused with the journal off.
    pub found: &'a str,
    /// Milliseconds since the process began.
    pub ready_ms: u64,
}

impl fmt::Display for Ready<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads == 1 { "" } else { "s" };
        write!(f, "Bobbin {VERSION} on {}, {} thread{plural}, ", self.addresses.join(" and "), self.threads)?;
        match self.folder {
            Some(folder) => write!(f, "data in {} ({})", folder.display(), self.found)?,
            None => f.write_str("journal off: nothing is kept")?,
        }
        write!(f, ", ready in {} ms", self.ready_ms)
    }
}

#[cfg(test)]
mod tests;
