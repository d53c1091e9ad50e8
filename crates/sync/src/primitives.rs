//! The atomics, mutex and clock that this crate stands on: the standard ones, or shuttle's under `--cfg shuttle`,
//! so that the very code that ships is the code whose schedules are explored.

#[cfg(shuttle)]
pub use shuttle::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread,
};
#[cfg(not(shuttle))]
pub use std::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread,
};

use std::sync::PoisonError;
use std::time::Duration;

/// A value alone on its pair of cache lines, so that neighbours written by other threads do not slow it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// Locks a mutex whose critical sections cannot panic half-way, so poison carries no news.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An instant to come. Under shuttle there is no time: whether it has passed is one more choice to explore.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    #[cfg(not(shuttle))]
    at: quanta::Instant,
}

#[cfg(not(shuttle))]
impl Deadline {
    /// The instant `span` from now.
    pub fn after(span: Duration) -> Self {
        Self { at: quanta::Instant::now() + span }
    }

    /// Whether the instant has come.
    pub fn has_passed(self) -> bool {
        quanta::Instant::now() >= self.at
    }
}

#[cfg(shuttle)]
impl Deadline {
    /// The instant `span` from now.
    pub fn after(_span: Duration) -> Self {
        Self {}
    }

    /// Whether the instant has come.
    pub fn has_passed(self) -> bool {
        use shuttle::rand::Rng;
        shuttle::rand::thread_rng().r#gen::<bool>()
    }
}
