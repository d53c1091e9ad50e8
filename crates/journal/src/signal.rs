//! Wakes resting threads, and only when it is worth a system call.

use std::time::Duration;
use sync::primitives::atomic::{AtomicU8, Ordering, fence};
use sync::primitives::thread::{self, Thread};
use sync::primitives::{Mutex, lock};

/// News that wakes a resting thread. Stronger news also wakes threads waiting for weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alert {
    /// Any frame.
    Frame = 1,
    /// Many bytes were handed over, or a thread waits.
    Pressure = 2,
}

const AWAKE: u8 = 3;

/// The sleep state of one thread.
#[derive(Default)]
pub(crate) struct Signal {
    /// The weakest news that wakes: an [`Alert`], or [`AWAKE`]; 0 before the first rest, which means awake.
    level: AtomicU8,
    thread: Mutex<Option<Thread>>,
}

impl Signal {
    /// Wakes the thread if it rests and waits for news as strong as `alert` or weaker.
    pub(crate) fn wake(&self, alert: Alert) {
        // Orders what the caller published before the read of the level; pairs with the fence in `arm`.
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

    /// Announces that this thread is about to rest. It must check for work once more, then call [`Self::rest`] or
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

    /// Rests until woken or until `us` microseconds have passed.
    pub(crate) fn rest(&self, us: u64) {
        if self.level.load(Ordering::SeqCst) != AWAKE {
            thread::park_timeout(Duration::from_micros(us));
        }
        self.disarm();
    }
}
