//! How long the machine itself stood still while a case was measured.
//!
//! ```text
//!   each processor   a thread of real-time priority:   sleep 500 us | late by 40 us | sleep 500 us | late by 4,812 us | ...
//! ```
//!
//! A virtual machine's host stops a processor now and then, and often the guest counts that as the work of whoever was on
//! it: not even his own CPU clock tells it apart. A thread that goes before all others is late only if its processor did
//! not run, or the kernel kept it. So a server's longest turn means something beside how late these were meanwhile.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

/// How often a watcher looks, and so how long a stall may last unseen.
const SLEEP: Duration = Duration::from_micros(500);
/// Any real-time priority goes before every thread that has none.
const PRIORITY: u8 = 50;

/// Watches all processors.
pub(crate) struct Stalls {
    is_over: Arc<AtomicBool>,
    /// Each ends with the longest stall it saw.
    watchers: Vec<JoinHandle<Option<Duration>>>,
}

impl Stalls {
    /// Begins to watch those that this process may use.
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(None).unwrap_or_default();
        let processors = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor));
        let watch = |processor| {
            let is_over = is_over.clone();
            thread::spawn(move || go_first(processor).then(|| longest_until(&is_over)))
        };
        let watchers = processors.map(watch).collect();
        Self { is_over, watchers }
    }

    /// The longest stall of any, in microseconds; `None` where the system allows nobody to go before all others.
    pub(crate) fn longest_us(mut self) -> Option<u64> {
        self.is_over.store(true, Relaxed);
        let ended = self.watchers.drain(..).map(|watcher| watcher.join().expect("a watcher ends"));
        let longest: Vec<Duration> = ended.collect::<Option<_>>()?;
        longest.into_iter().max().map(|longest| longest.as_micros() as u64)
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
    }
}

/// Has this thread run on `processor` alone, and there before all others. Whether that is allowed.
fn go_first(processor: usize) -> bool {
    let mut only = CpuSet::new();
    only.set(processor);
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::Crossplatform(PRIORITY.try_into().expect("below 100"));
    sched_setaffinity(None, &only).is_ok()
        && thread_priority::set_thread_priority_and_policy(thread_priority::thread_native_id(), priority, policy)
            .is_ok()
}

/// How late it woke at most.
fn longest_until(is_over: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    while !is_over.load(Relaxed) {
        let slept = Instant::now();
        thread::sleep(SLEEP);
        longest = longest.max(slept.elapsed().saturating_sub(SLEEP));
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_is_a_little_late_and_never_later_than_all_took() {
        let (is_over, began) = (AtomicBool::new(false), Instant::now());
        let longest = thread::scope(|scope| {
            let watcher = scope.spawn(|| longest_until(&is_over));
            thread::sleep(Duration::from_millis(20));
            is_over.store(true, Relaxed);
            watcher.join().expect("it ends")
        });
        assert!(Duration::ZERO < longest && longest < began.elapsed(), "{longest:?}");
    }
}
