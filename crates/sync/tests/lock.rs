//! Shard locks on real threads.
#![cfg(not(shuttle))]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::thread;

use sync::gate::Gate;
use sync::lock::{Publish, ShardLock, UNKNOWN, Want};

/// Counts how often it is woken, and unparks the thread that made it.
struct Counter {
    woken: AtomicUsize,
    sleeper: thread::Thread,
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, Ordering::SeqCst);
        self.sleeper.unpark();
    }
}

impl Counter {
    fn new() -> (Arc<Self>, Waker) {
        let counter = Arc::new(Self { woken: AtomicUsize::new(0), sleeper: thread::current() });
        (Arc::clone(&counter), Waker::from(counter))
    }

    fn count(&self) -> usize {
        self.woken.load(Ordering::SeqCst)
    }

    fn sleep(&self) {
        while self.woken.swap(0, Ordering::SeqCst) == 0 {
            thread::park();
        }
    }
}

/// Publishes itself.
#[derive(Default)]
struct Number(u64);

impl Publish for Number {
    fn published(&self) -> u64 {
        self.0
    }
}

#[test]
fn what_a_writer_leaves_is_published() {
    let mut lock = ShardLock::new(Number(7));
    assert_eq!(lock.published(), 7);
    {
        let mut write = lock.try_write().unwrap();
        write.0 = 8;
        assert_eq!(lock.published(), 7, "the writer has not left");
        write.publish();
        assert_eq!(lock.published(), 8);
        write.0 = 7;
        write.0 += 1;
    }
    assert_eq!(lock.published(), 8);
    lock.with_exclusive(|number| number.0 = 9);
    assert_eq!(lock.published(), 9);
    lock.shut();
    assert_eq!(lock.published(), UNKNOWN);
    {
        let mut loader = lock.open();
        loader.0 = 10;
        assert_eq!(lock.published(), UNKNOWN, "its contents are not in place");
    }
    assert_eq!((lock.published(), lock.try_read().unwrap().0), (10, 10));
}

#[test]
fn readers_share_the_lock_and_a_writer_excludes_all() {
    let lock = ShardLock::new(7);
    let readers = [lock.try_read().unwrap(), lock.try_read().unwrap()];
    assert_eq!(readers.iter().map(|guard| **guard).sum::<i32>(), 14);
    assert!(lock.try_write().is_none());
    drop(readers);
    *lock.try_write().unwrap() += 1;
    let writer = lock.try_write().unwrap();
    assert!(lock.try_read().is_none());
    assert!(lock.try_write().is_none());
    drop(writer);
    assert_eq!(*lock.try_read().unwrap(), 8);
}

#[test]
fn a_guard_moves_only_to_another_borrow_of_its_lock() {
    let (lock, other) = (ShardLock::new(7), ShardLock::new(7));
    let mut kept = None;
    {
        let short = &lock;
        let write = short.try_write().unwrap();
        kept.replace(write.through(&lock));
    }
    assert!(lock.try_read().is_none());
    **kept.as_mut().unwrap() += 1;
    drop(kept);
    assert_eq!(*lock.try_read().unwrap(), 8);
    let write = lock.try_write().unwrap();
    let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(write.through(&other))));
    assert!(passed.is_err());
    assert!(lock.try_write().is_some() && other.try_write().is_some(), "nobody holds either");
}

#[test]
fn an_exclusive_borrow_needs_no_guard() {
    let mut lock = ShardLock::new(vec![1]);
    assert_eq!(lock.with_exclusive(|value| value.pop()), Some(1));
    assert!(lock.try_read().unwrap().is_empty());
}

#[test]
fn a_shut_lock_parks_requests_until_opened_and_released() {
    let mut lock = ShardLock::new(0);
    assert!(!lock.is_shut());
    lock.shut();
    assert!(lock.is_shut() && lock.try_read().is_none() && lock.try_write().is_none());
    let (reader, read_waker) = Counter::new();
    let (writer, write_waker) = Counter::new();
    let parked = lock.park(Want::Read, &read_waker);
    let other = lock.park(Want::Write, &write_waker);
    assert_eq!((reader.count(), writer.count(), lock.parked_count()), (0, 0, 2));
    let mut opened = lock.open();
    *opened = 7;
    assert!(!lock.is_shut() && lock.try_read().is_none(), "it is open, and held");
    drop(opened);
    assert_eq!((reader.count(), writer.count()), (1, 0));
    assert_eq!(lock.try_read().map(|value| *value), Some(7));
    drop((parked, other));
}

#[test]
#[should_panic(expected = "already opened")]
fn opening_a_lock_twice_panics() {
    let mut lock = ShardLock::new(());
    lock.shut();
    drop(lock.open());
    drop(lock.open());
}

#[test]
fn a_lock_fills_whole_pairs_of_cache_lines() {
    assert_eq!(align_of::<ShardLock<u8>>(), 128);
    assert_eq!(size_of::<ShardLock<[u64; 64]>>() % 128, 0);
}

#[test]
fn parking_on_a_free_lock_wakes_at_once() {
    let lock = ShardLock::new(());
    for want in [Want::Read, Want::Write] {
        let (counter, waker) = Counter::new();
        let parked = lock.park(want, &waker);
        assert_eq!((counter.count(), lock.parked_count()), (1, 0));
        drop(parked);
    }
    let reader = lock.try_read().unwrap();
    let (counter, waker) = Counter::new();
    let parked = lock.park(Want::Read, &waker);
    assert_eq!((counter.count(), lock.parked_count()), (1, 0));
    drop((parked, reader));
}

#[test]
fn waiters_are_woken_in_order_and_readers_together() {
    let lock = ShardLock::new(());
    let held = lock.try_write().unwrap();
    let wants = [Want::Read, Want::Read, Want::Write, Want::Read];
    let (counters, wakers): (Vec<_>, Vec<_>) = wants.iter().map(|_| Counter::new()).unzip();
    let mut parked: Vec<_> = wants.iter().zip(&wakers).map(|(want, waker)| Some(lock.park(*want, waker))).collect();
    let woken = || counters.iter().map(|counter| counter.count()).collect::<Vec<_>>();
    assert_eq!((woken(), lock.parked_count()), (vec![0, 0, 0, 0], 4));

    drop(held);
    assert_eq!((woken(), lock.parked_count()), (vec![1, 1, 0, 0], 2), "all readers in front of the writer");
    let readers = [lock.try_read().unwrap(), lock.try_read().unwrap()];
    drop(parked[0].take());
    assert_eq!((woken(), lock.parked_count()), (vec![1, 1, 0, 1], 1), "while readers are in, readers may follow");
    drop((parked[1].take(), parked[3].take()));
    drop(readers);
    assert_eq!((woken(), lock.parked_count()), (vec![1, 1, 1, 1], 0));
}

#[test]
fn a_writer_is_woken_alone() {
    let lock = ShardLock::new(());
    let held = lock.try_write().unwrap();
    let ((first, first_waker), (second, second_waker)) = (Counter::new(), Counter::new());
    let (first_parked, _second_parked) = (lock.park(Want::Write, &first_waker), lock.park(Want::Read, &second_waker));
    drop(held);
    assert_eq!((first.count(), second.count()), (1, 0));
    let held = lock.try_write().unwrap();
    drop(first_parked);
    assert_eq!((first.count(), second.count()), (1, 0));
    drop(held);
    assert_eq!((first.count(), second.count()), (1, 1));
}

#[test]
fn a_woken_waiter_that_leaves_wakes_the_next() {
    let lock = ShardLock::new(());
    let held = lock.try_write().unwrap();
    let ((first, first_waker), (second, second_waker)) = (Counter::new(), Counter::new());
    let first_parked = lock.park(Want::Write, &first_waker);
    let _second_parked = lock.park(Want::Write, &second_waker);
    drop(held);
    assert_eq!((first.count(), second.count()), (1, 0));
    drop(first_parked);
    assert_eq!((first.count(), second.count()), (1, 1));
}

#[test]
fn a_waiter_that_leaves_is_not_woken() {
    let lock = ShardLock::new(());
    let held = lock.try_write().unwrap();
    let (counter, waker) = Counter::new();
    drop(lock.park(Want::Write, &waker));
    assert_eq!(lock.parked_count(), 0);
    drop(held);
    assert_eq!(counter.count(), 0);
    assert_eq!(Arc::strong_count(&counter), 2, "the lock keeps no waker of one who left");
}

/// The bar ends by itself: the reader enters though the writer never takes the lock.
#[test]
fn a_waiting_writer_bars_readers_for_a_limited_time() {
    let lock = ShardLock::new(());
    let reader = lock.try_read().unwrap();
    let (counter, waker) = Counter::new();
    let parked = lock.park(Want::Write, &waker);
    let barred_or_overdue = lock.try_read();
    drop(barred_or_overdue);
    let second = loop {
        if let Some(guard) = lock.try_read() {
            break guard;
        }
        thread::yield_now();
    };
    assert_eq!(counter.count(), 1, "the writer whose bar was lifted goes on to its next round");
    drop((second, reader, parked));
    assert!(lock.try_read().is_some());
}

#[test]
fn access_under_a_raised_gate_ignores_the_bar() {
    let gate = Arc::new(Gate::new(1));
    let (member, lock) = (gate.member(0), ShardLock::new(1));
    let reader = lock.try_read().unwrap();
    let (_, waker) = Counter::new();
    let _parked = lock.park(Want::Write, &waker);
    drop(reader);
    let raised = member.try_raise().unwrap().ready(&waker).unwrap();
    assert_eq!(*lock.read_under(&raised), 1);
    *lock.write_under(&raised) = 2;
    drop(raised);
    assert_eq!(*lock.try_write().unwrap(), 2);
}

/// A waker may own anything its task owned, including another `Parked` of the same lock.
#[test]
fn wakers_run_and_drop_outside_the_queue_lock() {
    struct Owner(std::sync::Mutex<Option<sync::lock::Parked<'static, u8>>>);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }
    static LOCK: std::sync::LazyLock<ShardLock<u8>> = std::sync::LazyLock::new(|| ShardLock::new(0));
    let held = LOCK.try_write().unwrap();
    let other = LOCK.park(Want::Read, Waker::noop());
    let owner = Arc::new(Owner(std::sync::Mutex::new(Some(other))));
    let woken = LOCK.park(Want::Read, &Waker::from(Arc::clone(&owner)));
    drop(held);
    assert!(owner.0.lock().unwrap().is_none());
    drop(woken);

    let held = LOCK.try_write().unwrap();
    let other = LOCK.park(Want::Read, Waker::noop());
    let owner = Arc::new(Owner(std::sync::Mutex::new(Some(other))));
    drop(LOCK.park(Want::Read, &Waker::from(owner)));
    assert_eq!(LOCK.parked_count(), 0);
    drop(held);
}

/// Four threads take two locks in opposite orders: no increment is lost, and both values are equal.
#[test]
fn parking_threads_lose_no_increments() {
    const ROUNDS: usize = 5_000;
    let locks = [ShardLock::new(0usize), ShardLock::new(0usize)];
    let worker = |first: usize| {
        let (counter, waker) = Counter::new();
        for round in 0..ROUNDS {
            let mut parked = None;
            loop {
                let missing = match (locks[first].try_write(), locks[1 - first].try_write()) {
                    (Some(mut one), Some(mut other)) => {
                        *one += 1;
                        *other += 1;
                        break;
                    }
                    (None, _) => first,
                    (_, None) => 1 - first,
                };
                drop(parked.replace(locks[missing].park(Want::Write, &waker)));
                counter.sleep();
            }
            drop(parked);
            if round % 4 == 0 {
                let value = locks[first].try_read().map(|guard| *guard);
                assert!(value.is_none_or(|value| value <= 4 * ROUNDS));
            }
        }
    };
    thread::scope(|scope| {
        for index in 0..4 {
            let worker = &worker;
            scope.spawn(move || worker(index % 2));
        }
    });
    assert_eq!(locks.map(|lock| *lock.try_read().unwrap()), [4 * ROUNDS; 2]);
}

#[test]
fn a_stream_of_readers_does_not_starve_a_writer() {
    const WRITES: usize = 200;
    let lock = ShardLock::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let (counter, waker) = Counter::new();
                let mut parked = None;
                loop {
                    let seen = lock.try_read().map(|guard| *guard);
                    drop(parked.take());
                    match seen {
                        Some(WRITES) => break,
                        Some(_) => {}
                        None => {
                            parked = Some(lock.park(Want::Read, &waker));
                            counter.sleep();
                        }
                    }
                }
            });
        }
        let (counter, waker) = Counter::new();
        let mut parked = None;
        let mut written = 0;
        while written < WRITES {
            let guard = lock.try_write();
            drop(parked.take());
            if let Some(mut value) = guard {
                *value += 1;
                written += 1;
            } else {
                parked = Some(lock.park(Want::Write, &waker));
                counter.sleep();
            }
        }
    });
}
