//! The gate: stops access to all shards at once, by waiting for threads instead of locks.
//!
//! ```text
//!     member                              raiser (one at a time, its own count at zero)
//!     inside += 1     \ both orders       raised = true      \ one total order over these four:
//!     raised?         / are total         every inside == 0? / one of the two must see the other
//!       no:  in; take and release locks     no:  sleep; a member that leaves wakes it
//!       yes: inside -= 1; wait              yes: every shard is free, and stays so
//! ```
//!
//! A raise costs O(threads), not O(shards); entering and leaving cost a member one atomic each on its own cache line.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::primitives::atomic::{AtomicBool, AtomicU32, Ordering};
use crate::primitives::{Arc, Mutex, Padded, lock};

/// Stops access to all shards at once. Shared by all threads that take shard locks, each through its [`Member`].
pub struct Gate {
    raised: Padded<AtomicBool>,
    /// Per member, its nesting count inside.
    inside: Box<[Padded<AtomicU32>]>,
    sleepers: Mutex<Sleepers>,
    #[cfg(shuttle)]
    looks_too_early: bool,
}

#[derive(Default)]
struct Sleepers {
    /// The raiser, waiting for all members to leave.
    raiser: Option<Waker>,
    /// Members and would-be raisers, waiting for the gate to be lowered.
    outside: Vec<Waker>,
}

impl Gate {
    /// Creates a lowered gate with room for `members_max` threads.
    pub fn new(members_max: usize) -> Self {
        Self {
            raised: Padded::default(),
            inside: (0..members_max).map(|_| Padded::default()).collect(),
            sleepers: Mutex::default(),
            #[cfg(shuttle)]
            looks_too_early: false,
        }
    }

    /// Creates a broken gate, whose members look before they count themselves in: the schedule explorer must catch it.
    #[cfg(shuttle)]
    pub fn looking_too_early(members_max: usize) -> Self {
        Self { looks_too_early: true, ..Self::new(members_max) }
    }

    /// Returns the member with this number, below `members_max`; one per thread that takes shard locks.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn member(self: &Arc<Self>, index: usize) -> Member {
        assert!(index < self.inside.len(), "the gate has room for {} members", self.inside.len());
        Member { gate: Arc::clone(self), index }
    }

    /// Returns true if the gate is raised; a hint to check between requests: one relaxed load.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.raised.0.load(Ordering::Relaxed)
    }

    /// Wakes `waker` when the gate is lowered; at once if it is down. A wake-up is only a hint: try again.
    ///
    /// There is no way to cancel: a waiter that loses interest is woken once in vain.
    pub fn wait_open(&self, waker: &Waker) {
        let mut sleepers = lock(&self.sleepers);
        if self.raised.0.load(Ordering::SeqCst) {
            sleepers.outside.push(waker.clone());
        } else {
            drop(sleepers);
            waker.wake_by_ref();
        }
    }

    fn is_empty(&self) -> bool {
        self.inside.iter().all(|count| count.0.load(Ordering::SeqCst) == 0)
    }

    fn lower(&self) {
        let Sleepers { raiser, outside } = {
            let mut sleepers = lock(&self.sleepers);
            // Under the mutex, or the next raiser could put its waker there just before all are taken away.
            self.raised.0.store(false, Ordering::SeqCst);
            std::mem::take(&mut *sleepers)
        };
        drop(raiser);
        outside.into_iter().for_each(Waker::wake);
    }

    #[cold]
    fn wake_raiser(&self) {
        let raiser = lock(&self.sleepers).raiser.take();
        raiser.into_iter().for_each(Waker::wake);
    }
}

/// One thread's membership of the gate.
#[derive(Clone)]
pub struct Member {
    gate: Arc<Gate>,
    index: usize,
}

impl Member {
    /// Enters, or returns `None` while the gate is raised. Must be held whenever a shard lock is.
    #[inline]
    pub fn enter(&self) -> Option<Inside<'_>> {
        #[cfg(shuttle)]
        if self.gate.looks_too_early {
            let open = !self.gate.is_raised();
            return open.then(|| self.count_in());
        }
        // Only raisers wait for changing counts, so leave the count alone under a raised gate.
        if self.gate.is_raised() {
            return None;
        }
        let inside = self.count_in();
        // Dropped if the gate was raised in between, which wakes the raiser.
        (!self.gate.raised.0.load(Ordering::SeqCst)).then_some(inside)
    }

    /// Raises the gate, unless another member has raised it: then see [`Gate::wait_open`].
    ///
    /// # Panics
    /// If this member is inside: it would wait for itself.
    pub fn try_raise(&self) -> Option<Raising<'_>> {
        assert!(self.count().load(Ordering::Relaxed) == 0, "a member must leave before it raises the gate");
        let swap = self.gate.raised.0.compare_exchange(false, true, Ordering::SeqCst, Ordering::Relaxed);
        swap.is_ok().then(|| Raising { raised: Some(Raised { gate: &self.gate }) })
    }

    /// Returns the gate.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    #[inline]
    fn count_in(&self) -> Inside<'_> {
        self.count().fetch_add(1, Ordering::SeqCst);
        Inside { member: self }
    }

    #[inline]
    fn count(&self) -> &AtomicU32 {
        &self.gate.inside[self.index].0
    }
}

/// A member inside: while it exists no raise can complete. Never held across an await.
#[must_use = "dropping it goes out again"]
pub struct Inside<'a> {
    member: &'a Member,
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.member.count().fetch_sub(1, Ordering::SeqCst);
        if self.member.gate.raised.0.load(Ordering::SeqCst) {
            self.member.gate.wake_raiser();
        }
    }
}

/// A gate being raised: nobody enters any more. Await it, or poll [`Raising::ready`]. Lowers the gate on drop.
#[must_use = "dropping it lowers the gate"]
pub struct Raising<'a> {
    raised: Option<Raised<'a>>,
}

impl<'a> Raising<'a> {
    /// Returns the raised gate once all members are out; until then `None`, and wakes `waker` to ask again. O(members).
    ///
    /// # Panics
    /// If called again after it returned the gate.
    pub fn ready(&mut self, waker: &Waker) -> Option<Raised<'a>> {
        let gate = self.raised.as_ref().expect("`ready` was called after it returned the gate").gate;
        // First the waker, then the counts: a member that leaves later finds it. The previous waker is dropped outside
        // the mutex.
        let before = lock(&gate.sleepers).raiser.replace(waker.clone());
        drop(before);
        if gate.is_empty() { self.raised.take() } else { None }
    }
}

impl<'a> Future for Raising<'a> {
    type Output = Raised<'a>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Raised<'a>> {
        self.get_mut().ready(context.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

/// The raised gate: nobody is inside, every shard lock is free. Serves as proof for `read_under` and `write_under`. On
/// drop, lowers the gate and wakes all waiters.
#[must_use = "dropping it lowers the gate"]
pub struct Raised<'a> {
    gate: &'a Gate,
}

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.gate.lower();
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("is_raised", &self.is_raised()).finish_non_exhaustive()
    }
}
