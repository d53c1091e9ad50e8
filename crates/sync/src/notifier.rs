//! The notifier by which the journal wakes a worker, once, when the position its connections wait for is written, or
//! durable.
//!
//! ```text
//!   worker                         journal
//!   want(level, position)          written, or durable := up to here
//!   already there? go on           a wanted position reached? clear the want, wake
//! ```
//!
//! Each side writes its own word before it reads the other's, so at least one of them sees that the wait is over.

use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};
use std::task::{Context, Poll, Waker};

const NOTHING: u64 = u64::MAX;

/// The level of safety waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Survives a crash of the process.
    Written = 0,
    /// Survives a crash of the machine.
    Durable = 1,
}

/// One worker's notifier.
#[derive(Debug)]
pub struct Notifier {
    /// For each [`Level`], the least position that any of the worker's connections awaits.
    wanted: [AtomicU64; 2],
    notified: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Default for Notifier {
    fn default() -> Self {
        Self {
            wanted: [AtomicU64::new(NOTHING), AtomicU64::new(NOTHING)],
            notified: AtomicBool::new(false),
            waker: Mutex::new(None),
        }
    }
}

impl Notifier {
    /// Creates a notifier without any want.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests a wake-up once everything below `position` has reached `level`. The least position requested counts.
    /// The caller must check the reached position after this call, not before.
    pub fn want(&self, level: Level, position: u64) {
        self.wanted[level as usize].fetch_min(position, Ordering::SeqCst);
    }

    /// Returns the least position requested, if any.
    pub fn wanted(&self, level: Level) -> Option<u64> {
        Some(self.wanted[level as usize].load(Ordering::SeqCst)).filter(|&position| position != NOTHING)
    }

    /// Notifies if the wanted position is at or below `reached`. Clears the want: each want is notified once.
    pub fn notify_at(&self, level: Level, reached: u64) {
        let word = &self.wanted[level as usize];
        let mut wanted = word.load(Ordering::SeqCst);
        while wanted != NOTHING && wanted <= reached {
            match word.compare_exchange(wanted, NOTHING, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return self.notify(),
                Err(lowered) => wanted = lowered,
            }
        }
    }

    /// Notifies unconditionally, for events that concern all workers, such as a failed sync.
    pub fn notify(&self) {
        self.notified.store(true, Ordering::SeqCst);
        let waker = lock(&self.waker).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ready if the notifier was notified since it was last ready; for one task of the worker.
    pub fn poll_notified(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.notified.swap(false, Ordering::SeqCst) {
            return Poll::Ready(());
        }
        *lock(&self.waker) = Some(context.waker().clone());
        match self.notified.swap(false, Ordering::SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_notified_once_for_the_lowest_position() {
        let notifier = Notifier::new();
        let mut context = Context::from_waker(Waker::noop());
        notifier.want(Level::Durable, 30);
        notifier.want(Level::Durable, 20);
        notifier.want(Level::Durable, 40);
        notifier.notify_at(Level::Written, 100);
        notifier.notify_at(Level::Durable, 19);
        assert!(notifier.poll_notified(&mut context).is_pending());
        notifier.notify_at(Level::Durable, 20);
        assert!(notifier.poll_notified(&mut context).is_ready());
        assert_eq!(notifier.wanted(Level::Durable), None);
        notifier.notify_at(Level::Durable, 100);
        assert!(notifier.poll_notified(&mut context).is_pending());
    }
}

#[cfg(all(test, shuttle))]
mod schedules {
    use super::*;
    use crate::primitives::{Arc, thread};

    #[test]
    fn every_wait_ends_under_any_schedule() {
        shuttle::check_random(
            || {
                let notifier = Arc::new(Notifier::new());
                let durable = Arc::new(AtomicU64::new(0));
                let (ringer, level) = (notifier.clone(), durable.clone());
                let journal = thread::spawn(move || {
                    for position in 1..=3 {
                        level.store(position, Ordering::SeqCst);
                        ringer.notify_at(Level::Written, position);
                    }
                });
                for position in 1..=3 {
                    notifier.want(Level::Written, position);
                    if durable.load(Ordering::SeqCst) < position {
                        shuttle::future::block_on(std::future::poll_fn(|context| notifier.poll_notified(context)));
                    }
                }
                journal.join().unwrap();
            },
            5_000,
        );
    }
}
