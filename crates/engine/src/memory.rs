//! The memory limit of the process. A failed allocation ends the process, so commands that grow are refused before.
//!
//! ```text
//!   0                          refuse_at         growth_end     last_at     limit
//!   |  all commands            |                                             |     `margin` = limit - refuse_at
//!   |                          |  commands that grow get the OOM error       |
//!   |                          |  (pages half empty after deletions:         |
//!   |                          |   allowed up to growth_end)                 |
//!   |                          |                              | large input, large replies and loading stop too
//! ```
//!
//! A [`Meter`] reads the memory in use: from time to time on a server thread, and at once when a request asks for more
//! than the last reading left. Between readings each request subtracts its estimate from what was left, so growth is
//! bounded however late the next reading is.

use base::instant::Instant;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;
use std::time::Duration;

/// The share of the limit, as a divisor, that stays free for restarts, checkpoints and replies.
const MARGIN_DIVISOR: u64 = 16;
/// The margin is at least this, in bytes, where that is no more than a quarter of the limit.
const MARGIN_BYTES_MIN: u64 = 64 << 20;
/// Pages in use may be empty to this share, as a divisor, before the empty part counts as free.
const IDLE_DIVISOR: u64 = 8;
/// Bytes that a script may always take.
const SCRIPT_BYTES_MIN: i64 = 1 << 20;
/// A reading that is older than this is repeated before a request is refused.
const READING_AGE_MAX: Duration = Duration::from_millis(1);
/// The fastest growth that the reading thread assumes, in bytes per millisecond.
const GROWTH_BYTES_PER_MS: u64 = 1 << 20;
/// The longest and the shortest pause between two readings, in milliseconds.
const PAUSE_MS_MAX: u64 = 100;
const PAUSE_MS_MIN: u64 = 5;

/// One limit on the memory of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// In bytes.
    pub bytes: u64,
    /// Its source, in words for INFO and the log.
    pub source: String,
}

impl Limit {
    /// Returns how much of it stays free when commands that grow are refused, in bytes.
    pub fn margin_bytes(&self) -> u64 {
        (self.bytes / MARGIN_DIVISOR).max(MARGIN_BYTES_MIN).min(self.bytes / 4)
    }

    /// Returns the use from which commands that grow are refused, in bytes.
    pub fn refuse_at_bytes(&self) -> u64 {
        self.bytes - self.margin_bytes()
    }

    /// Returns the use from which nothing that takes much memory is accepted, in bytes.
    fn last_at_bytes(&self) -> u64 {
        self.bytes - self.margin_bytes() / 4
    }

    /// Returns the bytes that commands that grow may take; not above 0 if they are refused.
    fn room_bytes(&self, used: Used) -> i64 {
        let growth_end_bytes = self.bytes - self.margin_bytes() / 2;
        left_bytes(self.refuse_at_bytes(), growth_end_bytes, used)
    }

    /// Likewise, for short-lived memory and loading.
    fn reserve_bytes(&self, used: Used) -> i64 {
        left_bytes(self.last_at_bytes(), self.bytes - self.margin_bytes() / 8, used)
    }
}

/// The use of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Bytes that count against the limit and cannot be given back.
    pub bytes: u64,
    /// The part of these that is free inside pages in use: new values of the same sizes can use it.
    pub idle_bytes: u64,
    /// Further bytes that [`Meter::give_back`] gives back.
    pub free_bytes: u64,
}

/// Returns the bytes left up to `bound`, or up to `end` if pages in use are half empty.
fn left_bytes(bound: u64, end: u64, used: Used) -> i64 {
    let idle_bytes = used.idle_bytes.saturating_sub(used.bytes / IDLE_DIVISOR);
    let left_bytes = bound as i64 - used.bytes.saturating_sub(idle_bytes) as i64;
    left_bytes.min(end as i64 - used.bytes as i64)
}

/// Reads the memory in use.
pub trait Meter: Send {
    /// Returns the use of each limit, in the order in which the limits were given. Costs some 100 µs.
    fn read(&mut self) -> Vec<Used>;

    /// Gives free pages back to the system, which may take some milliseconds.
    fn give_back(&mut self);
}

/// The memory left by the limits. Without limits everything is allowed.
#[derive(Default)]
pub struct Memory {
    /// Bytes that commands that grow may take until the next reading.
    room_bytes: AtomicI64,
    /// Likewise, for large input and loading.
    reserve_bytes: AtomicI64,
    /// Bytes still to be loaded, for which growth leaves room.
    to_load_bytes: AtomicU64,
    refusals: AtomicU64,
    watched: OnceLock<WatchedMemory>,
}

struct WatchedMemory {
    limits: Vec<Limit>,
    state: Mutex<MemoryState>,
}

struct MemoryState {
    meter: Box<dyn Meter>,
    used: Vec<Used>,
    read_at: Instant,
}

/// The state of memory that INFO reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryStatus {
    /// The smallest limit.
    pub limit: Limit,
    /// Bytes of it in use, as of the last reading.
    pub used_bytes: u64,
    /// Bytes that commands that grow may take; 0 while they are refused.
    pub room_bytes: u64,
}

impl Memory {
    /// Enforces these limits from now on; call it once, before serving. Does nothing without a limit.
    pub fn obey(&self, limits: Vec<Limit>, meter: Box<dyn Meter>) {
        if limits.is_empty() {
            return;
        }
        let used = vec![Used::default(); limits.len()];
        let state = Mutex::new(MemoryState { meter, used, read_at: Instant::now() });
        assert!(self.watched.set(WatchedMemory { limits, state }).is_ok(), "called once");
        self.look();
    }

    /// Sets the bytes still to be loaded: growth leaves room for them from the next reading on.
    pub fn set_to_load(&self, bytes: u64) {
        self.to_load_bytes.store(bytes, Relaxed);
    }

    /// Returns true if there is a limit.
    pub fn is_limited(&self) -> bool {
        self.watched.get().is_some()
    }

    /// Returns the smallest limit, in bytes.
    pub fn limit_bytes(&self) -> Option<u64> {
        self.watched.get()?.limits.iter().map(|limit| limit.bytes).min()
    }

    /// Takes bytes for a command that grows; `false` if not enough are left.
    pub fn take(&self, bytes: u64) -> bool {
        self.take_of(&self.room_bytes, bytes)
    }

    /// Takes bytes for something short-lived; `false` if it would come too close to the limit.
    pub fn take_briefly(&self, bytes: u64) -> bool {
        self.take_of(&self.reserve_bytes, bytes)
    }

    /// Returns the bytes that a script may take; `None` without a limit. Half of what is left, since others run beside
    /// it, but always enough for one that builds little.
    pub(crate) fn scripts_room_bytes(&self) -> Option<usize> {
        let room_bytes = (self.reserve_bytes.load(Relaxed) / 2).max(SCRIPT_BYTES_MIN);
        self.is_limited().then(|| usize::try_from(room_bytes).unwrap_or(usize::MAX))
    }

    /// Returns true if memory is so close to the limit that whatever takes much of it must end.
    pub fn is_nearly_out(&self) -> bool {
        self.is_limited() && self.reserve_bytes.load(Relaxed) <= 0
    }

    /// Returns true if commands that grow are refused, as of the last reading.
    pub fn is_refusing(&self) -> bool {
        self.is_limited() && self.room_bytes.load(Relaxed) <= 0
    }

    /// Counts a refused request.
    pub fn note_refusal(&self) {
        self.refusals.fetch_add(1, Relaxed);
    }

    /// Returns the number of refused requests.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Relaxed)
    }

    /// Returns the current status, if there is a limit.
    pub fn status(&self) -> Option<MemoryStatus> {
        let watched = self.watched.get()?;
        let used = watched.state().used.clone();
        let (limit, used) = watched.limits.iter().zip(used).min_by_key(|(limit, _)| limit.bytes)?;
        let room_bytes = self.room_bytes.load(Relaxed).max(0) as u64;
        Some(MemoryStatus { limit: limit.clone(), used_bytes: used.bytes, room_bytes })
    }

    /// Reads the memory in use, and gives free pages back if they are needed. Returns after how many milliseconds to
    /// read again; `None` without a limit.
    pub fn watch(&self) -> Option<u64> {
        let watched = self.watched.get()?;
        if self.look() {
            watched.state().meter.give_back();
            self.look();
        }
        let room_bytes = self.room_bytes.load(Relaxed).max(0) as u64;
        Some((room_bytes / GROWTH_BYTES_PER_MS / 2).clamp(PAUSE_MS_MIN, PAUSE_MS_MAX))
    }

    /// Reads the memory in use. Returns true if free pages must be given back because a limit is near.
    pub fn look(&self) -> bool {
        let Some(watched) = self.watched.get() else { return false };
        self.look_at(watched, &mut watched.state())
    }

    fn look_at(&self, watched: &WatchedMemory, state: &mut MemoryState) -> bool {
        state.used = state.meter.read();
        state.read_at = Instant::now();
        let all = || watched.limits.iter().zip(&state.used);
        let least = |left: &dyn Fn(&Limit, Used) -> i64| {
            all().map(|(limit, used)| left(limit, *used)).min().expect("there is a limit")
        };
        let to_load_bytes = i64::try_from(self.to_load_bytes.load(Relaxed)).unwrap_or(i64::MAX);
        self.room_bytes.store(least(&Limit::room_bytes).saturating_sub(to_load_bytes), Relaxed);
        self.reserve_bytes.store(least(&Limit::reserve_bytes), Relaxed);
        all().any(|(limit, used)| used.free_bytes > 0 && used.bytes + used.free_bytes >= limit.refuse_at_bytes())
    }

    fn take_of(&self, left: &AtomicI64, bytes: u64) -> bool {
        let Some(watched) = self.watched.get() else { return true };
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let take = || {
            let less = |left: i64| (left >= bytes).then(|| left - bytes);
            left.fetch_update(Relaxed, Relaxed, less).is_ok()
        };
        if take() {
            return true;
        }
        // If another thread is reading, it is not waited for: the estimate stands.
        let Ok(mut state) = watched.state.try_lock() else { return false };
        if state.read_at.elapsed() < READING_AGE_MAX {
            return false;
        }
        self.look_at(watched, &mut state);
        take()
    }
}

impl WatchedMemory {
    fn state(&self) -> base::primitives::MutexGuard<'_, MemoryState> {
        self.state.lock().expect("no holder panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const MB: u64 = 1 << 20;

    struct FakeMeter(Arc<Mutex<Used>>);

    impl Meter for FakeMeter {
        fn read(&mut self) -> Vec<Used> {
            vec![*self.0.lock().unwrap()]
        }

        fn give_back(&mut self) {
            self.0.lock().unwrap().free_bytes = 0;
        }
    }

    fn limit(bytes: u64) -> Limit {
        Limit { bytes, source: "a test".to_owned() }
    }

    fn limited(bytes: u64) -> (Memory, Arc<Mutex<Used>>) {
        let used = Arc::new(Mutex::new(Used::default()));
        let memory = Memory::default();
        memory.obey(vec![limit(bytes)], Box::new(FakeMeter(used.clone())));
        (memory, used)
    }

    #[test]
    fn margins_are_a_sixteenth_within_their_bounds() {
        let margins = [100 * MB, 512 * MB, 1024 * MB, 16 << 30].map(|bytes| limit(bytes).margin_bytes());
        assert_eq!(margins, [25 * MB, 64 * MB, 64 * MB, 1 << 30]);
    }

    #[test]
    fn without_a_limit_everything_is_allowed() {
        let memory = Memory::default();
        memory.obey(Vec::new(), Box::new(FakeMeter(Arc::default())));
        assert!(memory.take(u64::MAX) && memory.take_briefly(u64::MAX));
        assert!(!memory.is_refusing() && !memory.is_nearly_out() && !memory.is_limited());
        assert_eq!((memory.watch(), memory.status(), memory.limit_bytes()), (None, None, None));
    }

    #[test]
    fn taken_memory_is_unavailable_until_the_next_reading() {
        let (memory, used) = limited(1024 * MB);
        assert!(memory.take(900 * MB), "960 MB are there");
        used.lock().unwrap().bytes = 700 * MB;
        memory.look();
        assert!(memory.take(200 * MB) && memory.take(60 * MB), "the reading counts alone");
        assert!(!memory.take(MB), "no reading was old enough since");
        used.lock().unwrap().bytes = 960 * MB;
        memory.look();
        assert!(memory.is_refusing() && !memory.is_nearly_out());
        assert!(memory.take_briefly(30 * MB), "what does not last may take more");
        used.lock().unwrap().bytes = 1010 * MB;
        memory.look();
        assert!(memory.is_nearly_out());
    }

    #[test]
    fn idle_bytes_beyond_an_eighth_count_as_room() {
        let of = |bytes: u64, idle_bytes: u64| Used { bytes: bytes * MB, idle_bytes: idle_bytes * MB, free_bytes: 0 };
        let limit = limit(1024 * MB);
        assert_eq!(limit.room_bytes(of(960, 100)), 0, "an eighth is usual");
        assert_eq!(limit.room_bytes(of(960, 400)), 32 * MB as i64, "up to half of the margin");
        assert_eq!(limit.room_bytes(of(800, 400)), 192 * MB as i64);
    }

    #[test]
    fn free_pages_are_returned_when_usage_nears_the_limit() {
        let (memory, used) = limited(1024 * MB);
        *used.lock().unwrap() = Used { bytes: 500 * MB, idle_bytes: 0, free_bytes: 100 * MB };
        assert_eq!(memory.watch(), Some(PAUSE_MS_MAX));
        assert_eq!(used.lock().unwrap().free_bytes, 100 * MB);
        used.lock().unwrap().free_bytes = 480 * MB;
        memory.watch();
        assert_eq!(used.lock().unwrap().free_bytes, 0);
        used.lock().unwrap().bytes = 940 * MB;
        assert_eq!(memory.watch(), Some(10));
    }

    #[test]
    fn status_reports_the_tightest_limit_and_every_limit_applies() {
        struct Two;
        impl Meter for Two {
            fn read(&mut self) -> Vec<Used> {
                [100 * MB, 2040 * MB].map(|bytes| Used { bytes, ..Used::default() }).to_vec()
            }
            fn give_back(&mut self) {}
        }
        let memory = Memory::default();
        memory.obey(vec![limit(1024 * MB), limit(2048 * MB)], Box::new(Two));
        assert!(memory.is_refusing());
        let status = memory.status().unwrap();
        assert_eq!((status.limit.bytes, status.used_bytes, status.room_bytes), (1024 * MB, 100 * MB, 0));
    }
}
