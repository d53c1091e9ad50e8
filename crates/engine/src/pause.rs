//! CLIENT PAUSE: all commands, or only writes, wait until a given time.

use base::Ms;
use base::primitives::Mutex;
use base::primitives::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::Waker;

/// The pause of a server; usually none.
#[derive(Default)]
pub struct Pause {
    /// 0: none.
    until_ms: AtomicU64,
    writes_only: AtomicBool,
    wakers: Mutex<Vec<Waker>>,
}

impl Pause {
    /// Pauses until `until_ms`, or longer if already paused longer; a pause of all commands remains one.
    pub fn begin(&self, until_ms: Ms, writes_only: bool) {
        let before = self.until_ms.fetch_max(until_ms, Relaxed);
        let narrow = writes_only && (before == 0 || self.writes_only.load(Relaxed));
        self.writes_only.store(narrow, Relaxed);
    }

    /// Ends it.
    pub fn end(&self) {
        self.until_ms.store(0, Relaxed);
        self.wake_all();
    }

    fn wake_all(&self) {
        let wakers = std::mem::take(&mut *self.wakers.lock().expect("no holder panics"));
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns until when a command that writes (or does not) must wait; `None`: not at all.
    #[inline]
    pub fn holds(&self, writes: bool, now: impl FnOnce() -> Ms) -> Option<Ms> {
        let until_ms = self.until_ms.load(Relaxed);
        if until_ms == 0 || (!writes && self.writes_only.load(Relaxed)) {
            return None;
        }
        if until_ms <= now() {
            // Unless it has just been prolonged.
            if self.until_ms.compare_exchange(until_ms, 0, Relaxed, Relaxed).is_ok() {
                self.wake_all();
            }
            return None;
        }
        Some(until_ms)
    }

    /// Registers a waker for an early end; it may just have ended.
    pub fn wait(&self, waker: &Waker) {
        self.wakers.lock().expect("no holder panics").push(waker.clone());
    }
}
