//! A shard's reader-writer lock: it never blocks a thread; a request that cannot get it parks a waker instead.
//!
//! ```text
//!     state   | writer | parked | barred | shut |  readers (28 bits) |
//!
//!     try_*   one compare-and-swap to enter, one atomic to leave; the queue is not read
//!     park    in order of arrival: [ read ][ read ][ write ][ read ]   <- newcomers
//!     release the first is woken;   ^       ^ if it reads, so are the readers up to the first writer
//! ```
//!
//! A wake-up is a hint: the lock is not reserved for the woken waiter, which tries its whole set of locks again. Three
//! rules ensure that nobody sleeps for ever:
//!
//! 1. **No wake-up is lost.** Parking sets `parked` and reads the state in one atomic step. A later release sees the
//!    bit; an earlier one left the lock free, and the parker is woken at once.
//! 2. **The baton.** A woken waiter may never take the lock (it lacks another one, or its connection is gone). So it
//!    keeps its [`Parked`] until it has tried, and dropping that wakes the next waiter for which the lock is free.
//! 3. **The bar.** A parked writer bars new readers for at most 200 µs, once per parking, one writer at a time, and
//!    only while no reader is parked or on its way: so neither side starves the other. A request that finds the bar
//!    overdue lifts it and sends its writer to the next round (the last round is under the gate). While readers share
//!    the lock and no bar is up, no reader sleeps.
//!
//! The word that a value **publishes** ([`Publish`]) can be read without its lock. Each writer stores it beside the state when it
//! leaves, at the latest; who holds several locks, or tells others of its changes, stores it by [`Write::publish`] before
//! the first is released and anybody is told.
//!
//! A lock is **shut** while its contents are not loaded yet: the writer's bit is set, so that every request parks as if
//! a writer held it, though nobody does. The loader opens it, once, and holds it as the writer from then on.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::task::Waker;
use std::time::Duration;

use crate::gate::Raised;
use crate::primitives::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::primitives::{Deadline, Mutex, lock};

/// The word of a lock before its value is loaded: nothing is known.
pub const UNKNOWN: u64 = u64::MAX;

/// A value of which others may read a word without its lock.
pub trait Publish {
    /// Returns the word; [`UNKNOWN`] says that only a look under the lock can tell.
    #[inline]
    fn published(&self) -> u64 {
        0
    }
}

impl Publish for () {}
impl Publish for u8 {}
impl Publish for i32 {}
impl Publish for usize {}
impl<T> Publish for Vec<T> {}
impl<T, const N: usize> Publish for [T; N] {}

/// A reader-writer lock around `T` that callers try or park on, but never block on.
///
/// Aligned to a pair of cache lines, so that neighbouring shards do not slow each other. The state and the front of `T`
/// share the first line.
#[repr(C, align(128))]
pub struct ShardLock<T: Publish> {
    state: AtomicU32,
    /// The word that the value published last.
    published: AtomicU64,
    #[cfg(shuttle)]
    forgets_to_wake: bool,
    value: UnsafeCell<T>,
    waiting: Mutex<Waiting>,
}

// SAFETY: the state admits either one `Write` or any number of `Read`s, with acquire on entry and release on exit, so
// `T` is shared (`Sync`) or handed from thread to thread (`Send`) exactly as in a standard reader-writer lock.
unsafe impl<T: Publish + Send + Sync> Sync for ShardLock<T> {}

/// The access that a waiter parks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Shared, with other readers.
    Read,
    /// Exclusive.
    Write,
}

impl<T: Publish> ShardLock<T> {
    /// Creates a free lock around `value`.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(0),
            published: AtomicU64::new(value.published()),
            #[cfg(shuttle)]
            forgets_to_wake: false,
            value: UnsafeCell::new(value),
            waiting: Mutex::new(Waiting::default()),
        }
    }

    /// Makes every request park until [`ShardLock::open`]: the contents are not loaded yet.
    pub fn shut(&mut self) {
        self.state = AtomicU32::new(WRITER | SHUT);
        self.published = AtomicU64::new(UNKNOWN);
    }

    /// Creates a broken lock, whose release wakes nobody: the schedule explorer must catch it.
    #[cfg(shuttle)]
    pub fn forgetting_to_wake(value: T) -> Self {
        Self { forgets_to_wake: true, ..Self::new(value) }
    }

    /// Locks shared; `None` while a writer holds it or bars new readers. One compare-and-swap when uncontended.
    #[inline]
    pub fn try_read(&self) -> Option<Read<'_, T>> {
        let entered = self.try_enter(WRITER | BARRED, 1) || self.try_enter_past_bar();
        entered.then(|| Read { lock: self })
    }

    /// Locks exclusively; `None` while it is held. One compare-and-swap when uncontended.
    #[inline]
    pub fn try_write(&self) -> Option<Write<'_, T>> {
        self.try_enter(WRITER | READERS, WRITER).then(|| Write { lock: self })
    }

    /// Locks shared, under the raised gate: cannot fail, and the guard cannot outlive the gate.
    ///
    /// # Panics
    /// If a `Write` of the same lock is alive, it was locked from outside the gate, or it is shut.
    pub fn read_under<'a>(&'a self, _raised: &'a Raised<'_>) -> Read<'a, T> {
        assert!(self.try_enter(WRITER, 1), "the shard lock is exclusively held or shut under a raised gate");
        Read { lock: self }
    }

    /// Locks exclusively, under the raised gate: cannot fail, and the guard cannot outlive the gate.
    ///
    /// # Panics
    /// If a guard of the same lock is alive, it was locked from outside the gate, or it is shut.
    pub fn write_under<'a>(&'a self, _raised: &'a Raised<'_>) -> Write<'a, T> {
        self.try_write().expect("the shard lock is held or shut under a raised gate")
    }

    /// Opens a shut lock: the loader holds it exclusively, and from its release on it is available to all.
    ///
    /// # Panics
    /// If it is not shut: it was opened before.
    pub fn open(&self) -> Write<'_, T> {
        let before = self.state.fetch_and(!SHUT, Ordering::Acquire);
        assert!(before & SHUT != 0, "the lock was already opened");
        debug_assert!(before & (WRITER | READERS) == WRITER);
        Write { lock: self }
    }

    /// Returns true if it is shut: neither held nor available. Always false once opened.
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.state.load(Ordering::Relaxed) & SHUT != 0
    }

    /// Runs `run` on the value; the `&mut` borrow proves exclusive access. Touches no atomic.
    pub fn with_exclusive<R>(&mut self, run: impl FnOnce(&mut T) -> R) -> R {
        let value = self.value.get_mut();
        let result = run(value);
        self.published = AtomicU64::new(value.published());
        result
    }

    /// Returns what the value published last: when a writer left, or before. It may have changed since. Touches no lock.
    #[inline]
    pub fn published(&self) -> u64 {
        self.published.load(Ordering::Acquire)
    }

    /// Queues `waker` to be woken when the lock may be free for `want`; wakes it at once if it is free now.
    ///
    /// Keep the [`Parked`] until after the next try. Takes a mutex; O(1), amortised.
    pub fn park(&self, want: Want, waker: &Waker) -> Parked<'_, T> {
        let ticket = self.settle(|waiting, _| waiting.enter(want, waker.clone()));
        if self.is_free_for(want) {
            self.settle(|waiting, woken| woken.extend(waiting.take(want, ticket)));
        }
        Parked { lock: self, want, ticket }
    }

    /// Returns the number of waiters queued and not yet woken. For tests and statistics: stale at once.
    pub fn parked_count(&self) -> usize {
        lock(&self.waiting).count()
    }

    /// Prefetches the lock and the front of the value, so that taking several locks waits for all of their cache lines
    /// at once.
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: a hint; it reads and writes nothing.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>((&raw const *self).cast());
        }
    }

    /// Adds `entrant` to the state unless one of the bits in `against` is set.
    #[inline]
    fn try_enter(&self, against: u32, entrant: u32) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while state & against == 0 {
            debug_assert!(state & READERS != READERS, "the count of readers is full");
            match self.state.compare_exchange_weak(state, state + entrant, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => state = seen,
            }
        }
        false
    }

    /// Enters as a reader if the bar is gone or overdue.
    #[cold]
    fn try_enter_past_bar(&self) -> bool {
        self.state.load(Ordering::Relaxed) & (WRITER | BARRED) == BARRED
            && self.settle(|waiting, _| waiting.bar.is_none() && self.try_enter(WRITER, 1))
    }

    fn is_free_for(&self, want: Want) -> bool {
        let against = match want {
            Want::Read => WRITER | BARRED,
            Want::Write => WRITER | READERS,
        };
        self.state.load(Ordering::Relaxed) & against == 0
    }

    /// Runs `act` on the queue, then wakes all waiters that may try now and raises a bar if one is due.
    ///
    /// Every change of the queue goes through here. Wakers run, and are dropped, outside the mutex: they may drop
    /// another `Parked` of this lock.
    #[cold]
    #[inline(never)]
    fn settle<R>(&self, act: impl FnOnce(&mut Waiting, &mut Vec<Waker>) -> R) -> R {
        let mut woken = Vec::new();
        let result = {
            let mut waiting = lock(&self.waiting);
            let lifted = waiting.lift_overdue_bar(self.state.load(Ordering::Relaxed));
            let result = act(&mut waiting, &mut woken);
            // First the bits, then the state they were set on: rule 1 needs this order.
            let state = self.put_bits(&waiting);
            waiting.wake_due(state, &mut woken);
            woken.extend(lifted.and_then(|writer| waiting.take(Want::Write, writer)));
            waiting.raise_due_bar();
            self.put_bits(&waiting);
            result
        };
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// Updates the state's bits from the queue, and returns the previous state.
    fn put_bits(&self, waiting: &Waiting) -> u32 {
        let bits = waiting.bits();
        let change = |state| Some(state & !(PARKED | BARRED) | bits);
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }

    /// Wakes waiters of a lock just released, whose state was `before` that.
    #[inline]
    fn released(&self, before: u32) {
        #[cfg(shuttle)]
        if self.forgets_to_wake {
            return;
        }
        let still_read = before & READERS > 1;
        if before & PARKED != 0 && !still_read {
            self.settle(|_, _| ());
        }
    }
}

impl<T: Publish + fmt::Debug> fmt::Debug for ShardLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ShardLock");
        match self.try_read() {
            Some(value) => shown.field("value", &*value).finish(),
            None => shown.finish_non_exhaustive(),
        }
    }
}

/// A shared hold, released on drop.
#[must_use = "dropping it lets the lock go"]
pub struct Read<'a, T: Publish> {
    lock: &'a ShardLock<T>,
}

impl<T: Publish> Deref for Read<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is counted in the state, so no `Write` exists while it lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: Publish> Drop for Read<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let before = self.lock.state.fetch_sub(1, Ordering::Release);
        debug_assert!(before & READERS > 0 && before & WRITER == 0);
        self.lock.released(before);
    }
}

/// An exclusive hold, released on drop.
#[must_use = "dropping it lets the lock go"]
pub struct Write<'a, T: Publish> {
    lock: &'a ShardLock<T>,
}

impl<T: Publish> Write<'_, T> {
    /// Publishes the value as it is now.
    #[inline]
    pub fn publish(&self) {
        // Readers of the word see what led to it: the position of a frame, too.
        self.lock.published.store(self.published(), Ordering::Release);
    }

    /// Returns the same hold through another borrow of the lock, possibly longer-lived.
    ///
    /// # Panics
    /// If that is another lock.
    #[inline]
    pub fn through(self, lock: &ShardLock<T>) -> Write<'_, T> {
        assert!(std::ptr::eq(self.lock, lock), "a guard moves only to its own lock");
        std::mem::forget(self);
        Write { lock }
    }
}

impl<T: Publish> Deref for Write<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the writer's bit, so it is the only guard; its own borrow rules do the rest.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: Publish> DerefMut for Write<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` makes this the only borrow through the only guard.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: Publish> Drop for Write<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.publish();
        let before = self.lock.state.fetch_and(!WRITER, Ordering::Release);
        debug_assert!(before & (WRITER | READERS) == WRITER);
        self.lock.released(before);
    }
}

/// A position in a lock's queue, given up on drop.
///
/// Drop it *after* the next try, whatever the result: a woken waiter carries the wake-up, and passes it on here if it
/// did not take the lock. Forgetting it (`mem::forget`) may leave others asleep.
#[must_use = "dropping it gives up the place in the queue"]
pub struct Parked<'a, T: Publish> {
    lock: &'a ShardLock<T>,
    want: Want,
    ticket: u64,
}

impl<T: Publish> Drop for Parked<'_, T> {
    fn drop(&mut self) {
        drop(self.lock.settle(|waiting, _| waiting.leave(self.want, self.ticket)));
    }
}

/// The waiters of a lock. Tickets increase, so each queue is sorted by them.
#[derive(Default)]
struct Waiting {
    readers: VecDeque<Waiter>,
    writers: VecDeque<Waiter>,
    /// Readers with a live `Parked`: queued, or woken and on their way.
    readers_alive: usize,
    bar: Option<Bar>,
    tickets: u64,
}

struct Waiter {
    ticket: u64,
    waker: Waker,
}

/// A writer's bar against new readers.
struct Bar {
    ticket: u64,
    until: Deadline,
}

impl Waiting {
    fn enter(&mut self, want: Want, waker: Waker) -> u64 {
        self.tickets += 1;
        let ticket = self.tickets;
        self.readers_alive += usize::from(want == Want::Read);
        self.queue(want).push_back(Waiter { ticket, waker });
        ticket
    }

    /// Removes a waiter altogether; returns its waker, if still queued, for the caller to drop.
    fn leave(&mut self, want: Want, ticket: u64) -> Option<Waker> {
        self.readers_alive -= usize::from(want == Want::Read);
        if self.bar.as_ref().is_some_and(|bar| bar.ticket == ticket) {
            self.bar = None;
        }
        self.take(want, ticket)
    }

    /// Removes a waiter from its queue, if still there.
    fn take(&mut self, want: Want, ticket: u64) -> Option<Waker> {
        let queue = self.queue(want);
        let place = queue.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()?;
        queue.remove(place).map(|waiter| waiter.waker)
    }

    /// Removes the waiters that may try a lock in `state`: the first; if it reads, all before the first writer; and if
    /// readers hold the lock, every reader.
    fn wake_due(&mut self, state: u32, woken: &mut Vec<Waker>) {
        if state & WRITER != 0 {
            return;
        }
        let is_free = state & READERS == 0;
        let first_ticket = |queue: &VecDeque<Waiter>| queue.front().map_or(u64::MAX, |waiter| waiter.ticket);
        let first_writer = first_ticket(&self.writers);
        if is_free && first_writer < first_ticket(&self.readers) {
            woken.extend(self.writers.pop_front().map(|waiter| waiter.waker));
        } else if self.bar.is_none() {
            let end = if is_free { first_writer } else { u64::MAX };
            let count = self.readers.partition_point(|waiter| waiter.ticket < end);
            woken.extend(self.readers.drain(..count).map(|waiter| waiter.waker));
        }
    }

    fn raise_due_bar(&mut self) {
        if self.bar.is_none() && self.readers_alive == 0 {
            let first = self.writers.front();
            self.bar = first.map(|writer| Bar { ticket: writer.ticket, until: Deadline::after(BAR_SPAN) });
        }
    }

    /// Ends an overdue bar, and returns its writer's ticket. While a writer holds the lock, the bar hinders nobody and
    /// stays.
    fn lift_overdue_bar(&mut self, state: u32) -> Option<u64> {
        let lifted = self.bar.take_if(|bar| state & WRITER == 0 && bar.until.has_passed());
        lifted.map(|bar| bar.ticket)
    }

    fn bits(&self) -> u32 {
        let parked = if self.count() > 0 { PARKED } else { 0 };
        let barred = if self.bar.is_some() { BARRED } else { 0 };
        parked | barred
    }

    fn count(&self) -> usize {
        self.readers.len() + self.writers.len()
    }

    fn queue(&mut self, want: Want) -> &mut VecDeque<Waiter> {
        match want {
            Want::Read => &mut self.readers,
            Want::Write => &mut self.writers,
        }
    }
}

const WRITER: u32 = 1 << 31;
const PARKED: u32 = 1 << 30;
const BARRED: u32 = 1 << 29;
const SHUT: u32 = 1 << 28;
const READERS: u32 = SHUT - 1;

/// Long against an ordinary reader's hold (a few microseconds), short against the 2 ms that a request may wait.
const BAR_SPAN: Duration = Duration::from_micros(200);
