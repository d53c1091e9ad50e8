//! Checkpoints made one after another while something is measured, by whatever name the server knows them.
//!
//! ```text
//! load          |===================================|
//! checkpoints   . after_s |-----|-----|-----|----|--|.....|     the last one is awaited: its cost is of this load
//! ```

use crate::resp::Client;
use crate::scenario::Checkpoints;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum duration of one checkpoint.
const LIMIT: Duration = Duration::from_secs(600);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The start and end of a checkpoint.
pub(crate) type Span = (Instant, Instant);

/// Runs `work` with repeated checkpoints if they are wanted: at least one, and none is running when it returns.
///
/// # Errors
/// The server is gone, made none in time, or refused.
pub(crate) fn beside<T>(
    wanted: Option<&Checkpoints>,
    address: SocketAddr,
    work: impl FnOnce() -> T,
) -> io::Result<(T, Vec<Span>)> {
    let Some(wanted) = wanted else { return Ok((work(), Vec::new())) };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let repeating = scope.spawn(|| repeat(wanted, address, &over));
        let done = work();
        over.store(true, Ordering::Relaxed);
        let spans = repeating.join().expect("a worker does not panic")?;
        Ok((done, spans))
    })
}

fn repeat(wanted: &Checkpoints, address: SocketAddr, over: &AtomicBool) -> io::Result<Vec<Span>> {
    let begin = Instant::now();
    let is_over = || over.load(Ordering::Relaxed);
    while begin.elapsed().as_secs() < wanted.after_s && !is_over() {
        thread::sleep(LOOK_AGAIN);
    }
    let mut client = Client::connect(address)?;
    let mut spans = Vec::new();
    while spans.is_empty() || !is_over() {
        let begin = Instant::now();
        make(&mut client, &wanted.command)?;
        spans.push((begin, Instant::now()));
    }
    Ok(spans)
}

/// Requests one checkpoint and waits for its end; one that is already running counts.
///
/// # Errors
/// The server is gone, refuses, or is not done in time.
pub(crate) fn make(client: &mut Client, command: &str) -> io::Result<()> {
    let rounds_before = CheckpointCount::ask(client)?.rounds;
    match client.call(command) {
        Err(error) if error.to_string().contains("in progress") => {}
        answer => drop(answer?),
    }
    let begin = Instant::now();
    loop {
        let now = CheckpointCount::ask(client)?;
        if now.rounds > rounds_before && !now.is_running {
            return Ok(());
        }
        if begin.elapsed() > LIMIT {
            return Err(io::Error::other(format!("{command} has not ended in {LIMIT:?}")));
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// Checkpoints so far.
#[derive(Debug, PartialEq)]
pub(crate) struct CheckpointCount {
    /// Begun or ended, as the server counts; always more after one.
    pub(crate) rounds: u64,
    pub(crate) is_running: bool,
}

impl CheckpointCount {
    /// Asks the server.
    ///
    /// # Errors
    /// It is gone, or does not report its progress.
    pub(crate) fn ask(client: &mut Client) -> io::Result<Self> {
        Self::read(&client.call("INFO persistence")?).ok_or_else(|| io::Error::other("INFO tells of no checkpoints"))
    }

    fn read(info: &str) -> Option<Self> {
        let field = |name: &str| field(info, name);
        // A peer counts dumps and rewritten logs separately.
        let rounds = field("checkpoint_rounds").or_else(|| Some(field("rdb_saves")? + field("aof_rewrites")?))?;
        let is_running = ["rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled"]
            .into_iter()
            .any(|name| field(name).is_some_and(|value| value > 0));
        Some(Self { rounds, is_running })
    }
}

/// A number of INFO.
pub(crate) fn field(info: &str, name: &str) -> Option<u64> {
    let mut pairs = info.lines().filter_map(|line| line.split_once(':'));
    pairs.find_map(|(found, value)| (found == name).then(|| value.trim().parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;
    use testing::program_or_skip;

    #[test]
    fn progress_is_read_from_both_servers_info() {
        let ours = "# Persistence\r\nrdb_bgsave_in_progress:1\r\ncheckpoint_rounds:4\r\n";
        assert_eq!(CheckpointCount::read(ours), Some(CheckpointCount { rounds: 4, is_running: true }));
        let peers = "rdb_bgsave_in_progress:0\r\nrdb_saves:2\r\naof_rewrite_in_progress:0\r\naof_rewrites:3\r\n";
        assert_eq!(CheckpointCount::read(peers), Some(CheckpointCount { rounds: 5, is_running: false }));
        assert_eq!(CheckpointCount::read("loading:0\r\n"), None);
    }

    #[test]
    fn checkpoints_run_during_the_work_and_end_with_it() {
        let Some(redis) = program_or_skip("lab::checkpoints", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let flags = ["--save", "", "--appendonly", "yes"].map(str::to_owned);
        let server = Server::start(&redis, &flags, data.path()).unwrap();
        let mut client = server.client().unwrap();
        for command in ["BGSAVE", "BGREWRITEAOF"] {
            let before = CheckpointCount::ask(&mut client).unwrap().rounds;
            let wanted = Checkpoints { command: command.to_owned(), after_s: 0 };
            // Work that ends only when a checkpoint has been made.
            let work = || {
                let mut client = server.client().unwrap();
                while CheckpointCount::ask(&mut client).unwrap().rounds == before {
                    thread::sleep(LOOK_AGAIN);
                }
            };
            let ((), spans) = beside(Some(&wanted), server.address(), work).unwrap();
            let after = CheckpointCount::ask(&mut client).unwrap();
            assert!(!after.is_running);
            assert_eq!(after.rounds - before, spans.len() as u64);
            assert!(spans.iter().all(|(begin, end)| begin < end));
        }
        let (seven, spans) = beside(None, server.address(), || 7).unwrap();
        assert_eq!((seven, spans.len()), (7, 0));
        let wrong = Checkpoints { command: "NOSUCH".to_owned(), after_s: 0 };
        beside(Some(&wrong), server.address(), || ()).unwrap_err();
    }
}
