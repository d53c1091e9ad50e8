//! Samples a server while work runs: the memory of its processes, the bytes of its folder.

use crate::checkpoints::Span;
use crate::server::Server;
use crate::{LabError, proc};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// The interval between two samples.
const STEP: Duration = Duration::from_millis(100);
/// The period before a checkpoint whose memory counts as the memory before it.
const BEFORE: Duration = Duration::from_secs(1);

/// The samples.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) folder_bytes_max: u64,
    /// Times with memory in bytes; empty unless requested.
    pub(crate) memory: Vec<(Instant, u64)>,
}

/// Memory around checkpoints, in bytes.
#[derive(Debug, PartialEq)]
pub(crate) struct Growth {
    /// The most in the second before the first.
    pub(crate) before: u64,
    /// The most while one was under way.
    pub(crate) peak: u64,
}

/// Runs `work` and samples meanwhile.
///
/// A memory sample makes the kernel walk the server's pages, so it is taken only if requested.
///
/// # Errors
/// The server is gone.
pub(crate) fn during<T>(server: &Server, wants_memory: bool, work: impl FnOnce() -> T) -> Result<(T, Seen), LabError> {
    let (over, is_over) = mpsc::channel();
    thread::scope(|scope| {
        let looking = scope.spawn(move || look_on(server, wants_memory, &is_over));
        let done = work();
        drop(over);
        Ok((done, looking.join().expect("a worker does not panic")?))
    })
}

/// Runs `work` and looks at a process's memory meanwhile: seconds since the beginning, and bytes. What
/// [`proc::memory_bytes`] reads costs the process nothing. A process that has ended is looked at no more.
pub(crate) fn memory_during<T>(pid: Option<u32>, work: impl FnOnce() -> T) -> (T, Vec<(f64, u64)>) {
    let ((over, is_over), begin) = (mpsc::channel(), Instant::now());
    thread::scope(|scope| {
        let looking = scope.spawn(move || {
            let mut seen = Vec::new();
            while let Some(Ok((bytes, _))) = pid.map(proc::memory_bytes) {
                seen.push((begin.elapsed().as_secs_f64(), bytes));
                if is_over_after_step(&is_over) {
                    break;
                }
            }
            seen
        });
        let done = work();
        drop(over);
        (done, looking.join().expect("a worker does not panic"))
    })
}

/// Waits for a step, or less if the work is over: its end of the channel is gone then.
fn is_over_after_step(is_over: &Receiver<()>) -> bool {
    is_over.recv_timeout(STEP) == Err(RecvTimeoutError::Disconnected)
}

fn look_on(server: &Server, wants_memory: bool, is_over: &Receiver<()>) -> Result<Seen, LabError> {
    let mut seen = Seen::default();
    let mut is_last = false;
    loop {
        seen.folder_bytes_max = seen.folder_bytes_max.max(folder_bytes(server.folder()));
        if wants_memory {
            seen.memory.push((Instant::now(), proc::family_memory_bytes(server.own_pid()?)?));
        }
        if is_last {
            return Ok(seen);
        }
        is_last = is_over_after_step(is_over);
    }
}

/// Returns the disk use of the files in a folder and its subfolders, in bytes. Files removed meanwhile do not count.
pub(crate) fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => folder_bytes(&entry.path()),
        Ok(found) => found.blocks() * 512,
        Err(_) => 0,
    });
    bytes.sum()
}

/// Returns the memory before and during checkpoints; `None` without samples at the right times.
pub(crate) fn growth(memory: &[(Instant, u64)], spans: &[Span]) -> Option<Growth> {
    let (first, _) = *spans.first()?;
    let is_before = |at: Instant| at < first && first - at <= BEFORE;
    let is_within = |at: Instant| spans.iter().any(|(begin, end)| (*begin..=*end).contains(&at));
    let most = |is_meant: &dyn Fn(Instant) -> bool| {
        memory.iter().filter(|(at, _)| is_meant(*at)).map(|(_, bytes)| *bytes).max()
    };
    Some(Growth { before: most(&is_before)?, peak: most(&is_within)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::program_or_skip;

    #[test]
    fn memory_is_looked_at_during_work() {
        let (done, seen) = memory_during(Some(std::process::id()), || 7);
        assert_eq!(done, 7);
        assert!(seen.iter().all(|(second, bytes)| *second >= 0.0 && *bytes > 0) && !seen.is_empty());
        assert!(memory_during(None, || ()).1.is_empty());
    }

    #[test]
    fn growth_is_from_just_before_to_the_highest_peak() {
        let zero = Instant::now();
        let at = |ms| zero + Duration::from_millis(ms);
        let memory = [(500, 90), (2000, 50), (2900, 40), (3100, 60), (5000, 99), (6100, 70), (9000, 80)];
        let memory = memory.map(|(ms, bytes)| (at(ms), bytes));
        let spans = [(at(3000), at(4000)), (at(6000), at(7000))];
        assert_eq!(growth(&memory, &spans), Some(Growth { before: 50, peak: 70 }));
        assert_eq!(growth(&memory, &[]), None);
        assert_eq!(growth(&memory[3..], &spans), None);
    }

    #[test]
    fn folder_bytes_count_blocks_and_tolerate_missing_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        fs::write(folder.path().join("one"), vec![1; 100_000]).unwrap();
        fs::write(folder.path().join("below/two"), vec![1; 100_000]).unwrap();
        for name in ["one", "below/two"] {
            fs::File::open(folder.path().join(name)).unwrap().sync_all().unwrap();
        }
        let both = folder_bytes(folder.path());
        assert!(both <= 2 * 131_072, "{both}");
        assert!(both > folder_bytes(&folder.path().join("below")), "{both}");
        assert_eq!(folder_bytes(&folder.path().join("none")), 0);
    }

    #[test]
    fn memory_is_sampled_while_work_runs() {
        let Some(redis) = program_or_skip("lab::watch", "redis-server") else { return };
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &[], data.path()).unwrap();
        let (done, seen) = during(&server, true, || 7).unwrap();
        assert_eq!(done, 7);
        assert!(seen.memory.iter().all(|(_, bytes)| *bytes > 0) && !seen.memory.is_empty());
        assert_eq!(during(&server, false, || ()).unwrap().1.memory.len(), 0);
    }
}
