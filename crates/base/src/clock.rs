//! The one engine clock: milliseconds, monotonic.
//!
//! ```text
//! engine  ----------*  wall ahead: jump to it at once
//!                   |
//! engine  --/--/--  wall behind: run at half speed until it catches up
//! ```
//!
//! At start-up it is the later of the wall clock and the time of the last frame or mark. The source of wall time is a
//! function, so that a simulation controls time.

use crate::Ms;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of wall time, in milliseconds since the epoch; it may jump either way.
pub type WallTime = Arc<dyn Fn() -> Ms + Send + Sync>;

/// Maximum lead of the last frame over the wall clock at start-up, in milliseconds.
pub const AHEAD_MS_MAX: Ms = 3_600_000;

/// Returns the system's wall clock.
pub fn system_wall_time() -> WallTime {
    Arc::new(|| system_wall_us() / 1000)
}

/// Reads the system's wall clock, in microseconds since the epoch.
fn system_wall_us() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system for the time")]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// Returns the CPU time of the calling thread, in microseconds, without time scheduled to others.
pub fn thread_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000 + time.tv_nsec as u64 / 1000
}

/// The engine clock; clones share it.
#[derive(Clone)]
pub struct Clock {
    shared: Arc<SharedTime>,
}

struct SharedTime {
    wall: WallTime,
    /// Wall time in microseconds, if the source is that fine.
    wall_us: Option<fn() -> u64>,
    published: AtomicU64,
    /// Wall time at the last reading: while ahead, half of the time passed since is added.
    wall_seen: AtomicU64,
    jumps: AtomicU64,
}

impl Clock {
    /// Creates a clock that starts at the later of wall time and `last`, the time of the last frame (0 if none).
    ///
    /// # Errors
    /// The milliseconds by which `last` is ahead, if more than [`AHEAD_MS_MAX`].
    pub fn new(wall: WallTime, last: Ms) -> Result<Self, Ms> {
        Self::with(wall, None, last)
    }

    /// As [`Clock::new`], over the system's wall clock.
    ///
    /// # Errors
    /// See [`Clock::new`].
    pub fn of_system(last: Ms) -> Result<Self, Ms> {
        Self::with(system_wall_time(), Some(system_wall_us), last)
    }

    fn with(wall: WallTime, wall_us: Option<fn() -> u64>, last: Ms) -> Result<Self, Ms> {
        let now = wall();
        if last > now.saturating_add(AHEAD_MS_MAX) {
            return Err(last - now);
        }
        let shared = SharedTime {
            published: AtomicU64::new(now.max(last)),
            wall_seen: AtomicU64::new(now),
            jumps: AtomicU64::new(0),
            wall,
            wall_us,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns the current time, at least the greatest value ever returned. Meant to be called once per batch.
    pub fn now(&self) -> Ms {
        let shared = &*self.shared;
        let wall = (shared.wall)();
        let published = shared.published.load(Ordering::Relaxed);
        // Nearly always the same millisecond as the last reader's: no shared write.
        if wall == published { published } else { shared.follow(wall, published) }
    }

    /// Returns unadjusted wall time, for human readers only.
    pub fn wall(&self) -> Ms {
        (self.shared.wall)()
    }

    /// Returns wall time in microseconds since the epoch, as fine as its source.
    pub fn wall_us(&self) -> u64 {
        self.shared.wall_us.map_or_else(|| self.wall() * 1000, |wall_us| wall_us())
    }

    /// Returns the number of forward jumps of more than a minute so far.
    pub fn jumps(&self) -> u64 {
        self.shared.jumps.load(Ordering::Relaxed)
    }
}

impl SharedTime {
    fn follow(&self, wall: Ms, published: Ms) -> Ms {
        let target = if wall >= published {
            self.wall_seen.store(wall, Ordering::Relaxed);
            if published > 0 && wall - published > 60_000 {
                self.jumps.fetch_add(1, Ordering::Relaxed);
            }
            wall
        } else {
            published + self.half_passed(wall)
        };
        self.published.fetch_max(target, Ordering::Relaxed).max(target)
    }

    /// Returns half of the wall time passed since the last reading, to only one of concurrent readers. An odd
    /// millisecond is left for a later reading, or a clock read every millisecond would stand still.
    fn half_passed(&self, wall: Ms) -> Ms {
        let seen = self.wall_seen.load(Ordering::Relaxed);
        let half = wall.saturating_sub(seen) / 2;
        let next = if wall < seen { wall } else { seen + 2 * half };
        let is_mine = self.wall_seen.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_mine { half } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(start: Ms) -> (Arc<AtomicU64>, WallTime) {
        let wall = Arc::new(AtomicU64::new(start));
        let source = wall.clone();
        (wall, Arc::new(move || source.load(Ordering::Relaxed)))
    }

    #[test]
    fn time_follows_the_wall_clock_and_never_goes_back() {
        let (wall, source) = world(1_000_000);
        let clock = Clock::new(source, 0).unwrap();
        assert_eq!(clock.now(), 1_000_000);
        wall.store(1_000_500, Ordering::Relaxed);
        assert_eq!(clock.now(), 1_000_500);
        wall.store(1_000_000, Ordering::Relaxed);
        assert_eq!(clock.now(), 1_000_500);
        wall.store(1_000_100, Ordering::Relaxed);
        assert_eq!(clock.now(), 1_000_550, "half speed while ahead");
        wall.store(1_000_600, Ordering::Relaxed);
        assert_eq!(clock.now(), 1_000_600);
    }

    #[test]
    fn a_clock_ahead_runs_at_half_speed_however_often_read() {
        let (wall, source) = world(2_000_000);
        let clock = Clock::new(source, 0).unwrap();
        wall.store(1_000_000, Ordering::Relaxed);
        assert_eq!(clock.now(), 2_000_000);
        for ms in 1..=1_000 {
            wall.store(1_000_000 + ms, Ordering::Relaxed);
            assert_eq!(clock.now(), 2_000_000 + ms / 2);
            assert_eq!(clock.now(), 2_000_000 + ms / 2);
        }
    }

    #[test]
    fn a_clock_starts_at_a_frame_under_an_hour_ahead() {
        let (_, source) = world(1_000_000);
        assert_eq!(Clock::new(source.clone(), 1_060_000).unwrap().now(), 1_060_000);
        assert_eq!(Clock::new(source, 1_000_001 + AHEAD_MS_MAX).err(), Some(AHEAD_MS_MAX + 1));
    }
}
