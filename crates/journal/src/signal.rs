//! How a thread that rests is woken, and by what: most news is not worth a system call.

use std::time::Duration;
use sync::primitives::atomic::{AtomicU8, Ordering, fence};
use sync::primitives::thread::{self, Thread};
use sync::primitives::{Mutex, lock};

/// What wakes a thread that rests. Stronger news wakes whoever waits for weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alert {
    /// Any frame.
    Frame = 1,
    /// So many frames that a log buffer fills, or somebody who waits.
    Pressure = 2,
}

const AWAKE: u8 = 3;

/// The rest of one thread.
#[derive(Default)]
pub(crate) struct Signal {
    /// The weakest news that wakes: an [`Alert`], or [`AWAKE`]; 0 before the first rest, which is as good as awake.
    level: AtomicU8,
    thread: Mutex<Option<Thread>>,
}

impl Signal {
    /// Wakes the thread if it rests and `alert` is news to it.
    pub(crate) fn wake(&self, alert: Alert) {
        // Between what the caller has published and the look at the level; its twin is in `arm`.
        fence(Ordering::SeqCst);
        let level = self.level.load(Ordering::Relaxed);
        let is_news = level != 0 && level <= alert as u8;
        if is_news
            && self.level.swap(AWAKE, Ordering::SeqCst) != AWAKE
            && let Some(thread) = &*lock(&self.thread)
        {
            thread.unpark();
        }
    }

    /// Says that this thread is about to rest. It looks for work once more, then calls [`Self::rest`] or
    /// [`Self::disarm`].
    pub(crate) fn arm(&self, alert: Alert) {
        let mut resting = lock(&self.thread);
        if resting.is_none() {
            *resting = Some(thread::current());
        }
        drop(resting);
        self.level.store(alert as u8, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    pub(crate) fn disarm(&self) {
        self.level.store(AWAKE, Ordering::SeqCst);
    }

    /// Rests until woken or `us` microseconds have passed.
    pub(crate) fn rest(&self, us: u64) {
        if self.level.load(Ordering::SeqCst) != AWAKE {
            thread::park_timeout(Duration::from_micros(us));
        }
        self.disarm();
    }
}
