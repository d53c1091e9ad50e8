//! Instants to measure how long something took, by the system's monotonic clock. With the feature `set-clock`, a simulation
//! can set the clock of a thread.

use rustix::time::{ClockId, clock_gettime};
use std::ops::{Add, Sub};
use std::time::Duration;

#[cfg(feature = "set-clock")]
pub use set::SetClock;

/// An instant. Each request asks for one and subtracts it from others, which takes some 70 instructions with std's: that has
/// seconds and nanoseconds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant {
    /// Nanoseconds since the clock began.
    ns: u64,
}

impl Instant {
    /// Returns the present instant.
    #[inline]
    pub fn now() -> Self {
        #[cfg(feature = "set-clock")]
        if let Some(ns) = set::now_ns() {
            return Self { ns };
        }
        let time = clock_gettime(ClockId::Monotonic);
        Self { ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
    }

    /// Returns the nanoseconds from `earlier` to this instant, zero if that is later.
    #[inline]
    pub fn ns_since(self, earlier: Self) -> u64 {
        self.ns.saturating_sub(earlier.ns)
    }

    /// Returns the time passed since then.
    #[inline]
    pub fn elapsed(&self) -> Duration {
        Self::now() - *self
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    #[inline]
    fn add(self, span: Duration) -> Self {
        let span_ns = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Self { ns: self.ns.saturating_add(span_ns) }
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Returns the time from `earlier` to this instant, zero if that is later.
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.ns_since(earlier))
    }
}

#[cfg(feature = "set-clock")]
mod set {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    thread_local! {
        static CLOCK: RefCell<Option<SetClock>> = const { RefCell::new(None) };
    }

    /// Returns the instant that the thread's clock has been set to.
    pub(super) fn now_ns() -> Option<u64> {
        CLOCK.with_borrow(|clock| clock.as_ref().map(SetClock::read))
    }

    /// A clock that moves only when it is moved, or by a step at each reading; clones share it.
    #[derive(Clone, Default)]
    pub struct SetClock {
        ns: Arc<AtomicU64>,
        step_ns: u64,
    }

    impl SetClock {
        /// Creates a clock that each reading moves forward by `step`.
        pub fn ticking(step: Duration) -> Self {
            Self { ns: Arc::default(), step_ns: step.as_nanos() as u64 }
        }

        fn read(&self) -> u64 {
            self.ns.fetch_add(self.step_ns, Relaxed)
        }

        /// Moves the clock forward.
        pub fn advance(&self, span: Duration) {
            self.ns.fetch_add(span.as_nanos() as u64, Relaxed);
        }

        /// Runs `work`, in which this is the calling thread's clock.
        pub fn rule<R>(&self, work: impl FnOnce() -> R) -> R {
            struct Before(Option<SetClock>);
            impl Drop for Before {
                fn drop(&mut self) {
                    CLOCK.set(self.0.take());
                }
            }
            let _before = Before(CLOCK.replace(Some(self.clone())));
            work()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_the_time_passed_and_never_negative() {
        let earlier = Instant { ns: 1_999_999_999 };
        let later = earlier + Duration::from_nanos(3);
        assert_eq!((later - earlier, earlier - later), (Duration::from_nanos(3), Duration::ZERO));
        assert!(later > earlier && earlier + Duration::MAX > later);
    }

    #[test]
    fn the_systems_clock_does_not_run_back() {
        let (began, std_began) = (Instant::now(), std::time::Instant::now());
        while std_began.elapsed() < Duration::from_millis(2) {}
        assert!(began.elapsed() >= Duration::from_millis(2));
        assert!(Instant::now() >= began);
    }

    #[cfg(feature = "set-clock")]
    #[test]
    fn each_reading_moves_a_ticking_clock() {
        let step = Duration::from_millis(3);
        SetClock::ticking(step).rule(|| assert_eq!(Instant::now().elapsed(), step));
    }

    #[cfg(feature = "set-clock")]
    #[test]
    fn a_set_clock_stands_still_until_it_is_moved_and_rules_one_thread() {
        let clock = SetClock::default();
        // Longer than any test runs.
        let year = Duration::from_secs(365 * 24 * 3600);
        let outside = Instant::now();
        clock.rule(|| {
            let began = Instant::now();
            assert_eq!(began.elapsed(), Duration::ZERO);
            clock.advance(year);
            assert_eq!(began.elapsed(), year);
            assert!(Instant::now() == began + year);
            assert_eq!(began - Instant::now(), Duration::ZERO);
            let elsewhere = std::thread::spawn(move || outside.elapsed()).join().unwrap();
            assert!(elsewhere < year, "other threads keep the system's clock");
        });
        assert!(outside.elapsed() < year, "the system's clock rules again");
    }
}
