//! CPU time of a thread: the time it worked, without the time the scheduler gave to others.
//!
//! ```text
//!   mark (a system call)     begin      end
//!   |---- age at most -------|--- span ---|     own time <= CPU time from mark to end, asked only if the span is long
//! ```

use base::clock::thread_cpu_us;
use base::instant::Instant;
use std::cell::Cell;

/// The CPU time of one thread, read as seldom as its bounds allow.
pub(crate) struct ThreadCpuTime {
    /// When the CPU time was last read, and its value in microseconds.
    mark: Cell<(Option<Instant>, u64)>,
    age_us_max: u128,
    short_ns: u64,
}

impl ThreadCpuTime {
    /// For a worker, which has a turn every few microseconds: up to 200 microseconds too high; spans below 500 count
    /// fully as its own.
    pub(crate) fn of_worker() -> Self {
        Self { mark: Cell::default(), age_us_max: 200, short_ns: 500_000 }
    }

    /// For a background thread, whose shard holds are measured more exactly: up to a microsecond too high; spans below
    /// 20 count fully as its own.
    pub(crate) fn of_background() -> Self {
        Self { mark: Cell::default(), age_us_max: 0, short_ns: 20_000 }
    }

    /// Begins a span at `now`, or several nested ones.
    #[inline]
    pub(crate) fn begin(&self, now: Instant) {
        if self.mark.get().0.is_none_or(|at| (now - at).as_micros() > self.age_us_max) {
            self.mark.set((Some(now), thread_cpu_us()));
        }
    }

    /// Returns an upper bound of the thread's own time in a span that has just ended, in nanoseconds.
    #[inline]
    pub(crate) fn of(&self, took_ns: u64) -> u64 {
        let (marked, cpu_us) = self.mark.get();
        if took_ns < self.short_ns || marked.is_none() {
            return took_ns;
        }
        took_ns.min(thread_cpu_us().saturating_sub(cpu_us) * 1000)
    }
}
