//! A shard's reader-writer lock: it never blocks a thread, and whoever cannot have it parks a waker instead.
//!
//! ```text
//!     state   | writer | parked | barred | shut |  readers (28 bits) |
//!
//!     try_*   one compare-and-swap in, one atomic out; the queue is not looked at
//!     park    in order of arrival: [ read ][ read ][ write ][ read ]   <- newcomers
//!     release the first is woken;   ^       ^ if it reads, so are the readers up to the first writer
//! ```
//!
//! Being woken is a hint: the lock is not kept for the sleeper, which tries its whole set of locks again. Three rules
//! see to it that nobody sleeps for ever:
//!
//! 1. **No wake-up is lost.** Parking sets `parked` and reads the state in one atomic step. Whoever lets go later sees
//!    the bit; whoever let go before left a free lock, and the parker is woken at once.
//! 2. **The baton.** A woken waiter may never come for the lock (it lacks another one, or its connection is gone). So
//!    it keeps its [`Parked`] until it has tried, and dropping that wakes the next for which the lock is free.
//! 3. **The bar.** A parked writer bars new readers for at most 200 µs, once a parking, one writer at a time, and only
//!    while no parked reader is on its way: so neither side starves the other. Whoever finds the bar overdue lifts it
//!    and sends its writer to the next round (the last of which is under the gate). While readers share the lock and
//!    no bar is up, no reader sleeps.
//!
//! A lock is **shut** while what it guards is still to be brought: the writer's bit is set, so that everybody parks as
//! behind a writer, though nobody holds it. Whoever brings the contents opens it, once, and is the writer from then on.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::task::Waker;
use std::time::Duration;

use crate::gate::Raised;
use crate::primitives::atomic::{AtomicU32, Ordering};
use crate::primitives::{Deadline, Mutex, lock};

/// A reader-writer lock around `T` that is tried or parked on, never blocked on.
///
/// Aligned to a pair of cache lines, so that neighbouring shards do not slow each other. The state and the front of
/// `T` share the first line.
#[repr(C, align(128))]
pub struct ShardLock<T> {
    state: AtomicU32,
    #[cfg(shuttle)]
    forgets_to_wake: bool,
    value: UnsafeCell<T>,
    waiting: Mutex<Waiting>,
}

// SAFETY: the state admits either one `Write` or any number of `Read`s, with acquire on entry and release on exit, so
// `T` is shared (`Sync`) or handed from thread to thread (`Send`) exactly as in a standard reader-writer lock.
unsafe impl<T: Send + Sync> Sync for ShardLock<T> {}

/// What a waiter parks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Shared, with other readers.
    Read,
    /// Alone.
    Write,
}

impl<T> ShardLock<T> {
    /// A free lock around `value`.
    pub fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(0),
            #[cfg(shuttle)]
            forgets_to_wake: false,
            value: UnsafeCell::new(value),
            waiting: Mutex::new(Waiting::default()),
        }
    }

    /// Has everybody park until [`ShardLock::open`]: what it guards is still to be brought.
    pub fn shut(&mut self) {
        self.state = AtomicU32::new(WRITER | SHUT);
    }

    /// A broken lock, whose release wakes nobody: the schedule explorer must catch it.
    #[cfg(shuttle)]
    pub fn forgetting_to_wake(value: T) -> Self {
        Self { forgets_to_wake: true, ..Self::new(value) }
    }

    /// The lock shared, or `None` while a writer has it or bars new readers. One compare-and-swap when uncontended.
    #[inline]
    pub fn try_read(&self) -> Option<Read<'_, T>> {
        let entered = self.try_enter(WRITER | BARRED, 1) || self.try_enter_past_bar();
        entered.then(|| Read { lock: self })
    }

    /// The lock alone, or `None` while anybody has it. One compare-and-swap when uncontended.
    #[inline]
    pub fn try_write(&self) -> Option<Write<'_, T>> {
        self.try_enter(WRITER | READERS, WRITER).then(|| Write { lock: self })
    }

    /// The lock shared, under the raised gate: it cannot fail, and the guard cannot outlive the gate.
    ///
    /// # Panics
    /// When a `Write` of the same lock is alive, or somebody took the lock without being inside the gate, or it is shut.
    pub fn read_under<'a>(&'a self, _raised: &'a Raised<'_>) -> Read<'a, T> {
        assert!(self.try_enter(WRITER, 1), "a shard is written to under a raised gate");
        Read { lock: self }
    }

    /// The lock alone, under the raised gate: it cannot fail, and the guard cannot outlive the gate.
    ///
    /// # Panics
    /// When a guard of the same lock is alive, or somebody took the lock without being inside the gate, or it is shut.
    pub fn write_under<'a>(&'a self, _raised: &'a Raised<'_>) -> Write<'a, T> {
        self.try_write().expect("a shard is held under a raised gate")
    }

    /// Opens a lock that was shut: who brings what it guards has it alone, and all others from then on.
    ///
    /// # Panics
    /// When it is not shut: it was opened before.
    pub fn open(&self) -> Write<'_, T> {
        let before = self.state.fetch_and(!SHUT, Ordering::Acquire);
        assert!(before & SHUT != 0, "a lock is opened once");
        debug_assert!(before & (WRITER | READERS) == WRITER);
        Write { lock: self }
    }

    /// Whether it is shut: neither held nor to be had. Never again once it was opened.
    #[inline]
    pub fn is_shut(&self) -> bool {
        self.state.load(Ordering::Relaxed) & SHUT != 0
    }

    /// The value, through a borrow that already proves there is nobody else. Touches no atomic.
    pub fn with_exclusive<R>(&mut self, run: impl FnOnce(&mut T) -> R) -> R {
        run(self.value.get_mut())
    }

    /// Queues `waker` to be woken when the lock may be free for `want`; wakes it at once if it is free right now.
    ///
    /// Keep the [`Parked`] until after the next try. Takes a mutex; O(1), amortised.
    pub fn park(&self, want: Want, waker: &Waker) -> Parked<'_, T> {
        let ticket = self.settle(|waiting, _| waiting.enter(want, waker.clone()));
        if self.is_free_for(want) {
            self.settle(|waiting, woken| woken.extend(waiting.take(want, ticket)));
        }
        Parked { lock: self, want, ticket }
    }

    /// How many waiters are queued and not yet woken. For tests and figures: stale as soon as it is read.
    pub fn parked_count(&self) -> usize {
        lock(&self.waiting).count()
    }

    /// Has the processor fetch the lock and the front of the value, to be held soon: whoever takes several locks waits for
    /// all of their lines at once.
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

    /// Enters as a reader if the bar it met is gone or overdue.
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

    /// Runs `act` on the queue, then wakes all who may try now and raises a bar if one is due.
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
            // The bits first, the state they were set on second: that order is rule 1.
            let state = self.publish(&waiting);
            waiting.wake_due(state, &mut woken);
            woken.extend(lifted.and_then(|writer| waiting.take(Want::Write, writer)));
            waiting.raise_due_bar();
            self.publish(&waiting);
            result
        };
        woken.into_iter().for_each(Waker::wake);
        result
    }

    /// Sets the state's bits to what the queue says, and returns the state as it was before.
    fn publish(&self, waiting: &Waiting) -> u32 {
        let bits = waiting.bits();
        let change = |state| Some(state & !(PARKED | BARRED) | bits);
        self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).unwrap_or_else(|state| state)
    }

    /// Wakes whoever waits for a lock just let go, whose state was `before` that.
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

impl<T: fmt::Debug> fmt::Debug for ShardLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ShardLock");
        match self.try_read() {
            Some(value) => shown.field("value", &*value).finish(),
            None => shown.finish_non_exhaustive(),
        }
    }
}

/// The lock, shared, until dropped.
#[must_use = "dropping it lets the lock go"]
pub struct Read<'a, T> {
    lock: &'a ShardLock<T>,
}

impl<T> Deref for Read<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is counted in the state, so no `Write` exists while it lives.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> Drop for Read<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let before = self.lock.state.fetch_sub(1, Ordering::Release);
        debug_assert!(before & READERS > 0 && before & WRITER == 0);
        self.lock.released(before);
    }
}

/// The lock, alone, until dropped.
#[must_use = "dropping it lets the lock go"]
pub struct Write<'a, T> {
    lock: &'a ShardLock<T>,
}

impl<T> Write<'_, T> {
    /// The same hold through another borrow of the lock, which may last longer.
    ///
    /// # Panics
    /// If that is another lock.
    #[inline]
    pub fn through(self, lock: &ShardLock<T>) -> Write<'_, T> {
        assert!(std::ptr::eq(self.lock, lock), "it is the same lock");
        std::mem::forget(self);
        Write { lock }
    }
}

impl<T> Deref for Write<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard holds the writer's bit, so it is the only guard; its own borrow rules do the rest.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Write<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` makes this the only borrow through the only guard.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Write<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let before = self.lock.state.fetch_and(!WRITER, Ordering::Release);
        debug_assert!(before & (WRITER | READERS) == WRITER);
        self.lock.released(before);
    }
}

/// A place in a lock's queue, given up when dropped.
///
/// Drop it *after* the next try, whatever came of it: a woken waiter carries the wake-up, and hands it on here if it
/// did not take the lock. Forgetting it (`mem::forget`) may leave others asleep.
#[must_use = "dropping it gives up the place in the queue"]
pub struct Parked<'a, T> {
    lock: &'a ShardLock<T>,
    want: Want,
    ticket: u64,
}

impl<T> Drop for Parked<'_, T> {
    fn drop(&mut self) {
        drop(self.lock.settle(|waiting, _| waiting.leave(self.want, self.ticket)));
    }
}

/// Who waits for a lock. Tickets grow, so each queue is sorted by them.
#[derive(Default)]
struct Waiting {
    readers: VecDeque<Waiter>,
    writers: VecDeque<Waiter>,
    /// Readers with a `Parked` alive: queued, or woken and on their way.
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

    /// Forgets a waiter altogether; its waker, if it was still queued, is for the caller to drop.
    fn leave(&mut self, want: Want, ticket: u64) -> Option<Waker> {
        self.readers_alive -= usize::from(want == Want::Read);
        if self.bar.as_ref().is_some_and(|bar| bar.ticket == ticket) {
            self.bar = None;
        }
        self.take(want, ticket)
    }

    /// Takes a waiter out of its queue, if it is still there.
    fn take(&mut self, want: Want, ticket: u64) -> Option<Waker> {
        let queue = self.queue(want);
        let place = queue.binary_search_by_key(&ticket, |waiter| waiter.ticket).ok()?;
        queue.remove(place).map(|waiter| waiter.waker)
    }

    /// Takes out those who may try a lock in `state`: the first; if it reads, all before the first writer; and behind
    /// readers who are in, every reader.
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

    /// Ends a bar that is out of time, and tells whose it was. While a writer is in, it hinders nobody and stays.
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

/// Long against the hold of an ordinary reader (a few microseconds), short against the 2 ms anybody may wait.
const BAR_SPAN: Duration = Duration::from_micros(200);
