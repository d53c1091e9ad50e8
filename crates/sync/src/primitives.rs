//! The atomics, mutex and clock of this crate: those of `base::primitives`, or shuttle's under `--cfg shuttle`, so that
//! shuttle explores the schedules of the same code that ships.

#[cfg(not(shuttle))]
pub use base::primitives::{Mutex, MutexGuard, atomic};
#[cfg(shuttle)]
pub use shuttle::{
    sync::{Arc, Mutex, MutexGuard, atomic},
    thread,
};
#[cfg(not(shuttle))]
pub use std::{sync::Arc, thread};

use std::sync::PoisonError;
use std::time::Duration;

/// A value alone on its pair of cache lines, to avoid false sharing.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Padded<T>(pub T);

/// Locks a mutex whose critical sections cannot panic half-way, so that poison can be ignored.
#[track_caller]
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A future instant. Under shuttle there is no time: whether it has passed is one more choice to explore.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    #[cfg(not(shuttle))]
    at: base::instant::Instant,
}

#[cfg(not(shuttle))]
impl Deadline {
    /// Returns the instant `span` from now.
    pub fn after(span: Duration) -> Self {
        Self { at: base::instant::Instant::now() + span }
    }

    /// Returns true if the instant has passed.
    pub fn has_passed(self) -> bool {
        base::instant::Instant::now() >= self.at
    }
}

#[cfg(shuttle)]
impl Deadline {
    /// Returns the instant `span` from now.
    pub fn after(_span: Duration) -> Self {
        Self {}
    }

    /// Returns true if the instant has passed.
    pub fn has_passed(self) -> bool {
        use shuttle::rand::Rng;
        shuttle::rand::thread_rng().r#gen::<bool>()
    }
}
