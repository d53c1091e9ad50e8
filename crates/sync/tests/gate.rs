//! The gate on real threads.
#![cfg(not(shuttle))]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use sync::gate::{Gate, Member};

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<R>(future: impl Future<Output = R>) -> R {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

/// Suspends until `attempt` succeeds; tries again whenever the gate is lowered.
async fn when_open<R>(gate: &Gate, mut attempt: impl FnMut() -> Option<R>) -> R {
    poll_fn(|context| match attempt() {
        Some(result) => Poll::Ready(result),
        None => {
            gate.wait_open(context.waker());
            Poll::Pending
        }
    })
    .await
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn count() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    (Arc::clone(&count), Waker::from(count))
}

#[test]
fn a_raise_waits_for_the_last_member_inside() {
    let gate = Arc::new(Gate::new(3));
    let [one, two, raiser] = [0, 1, 2].map(|index| gate.member(index));
    let (woken, waker) = count();
    let (in_one, in_two) = (one.enter().unwrap(), two.enter().unwrap());
    let mut raising = raiser.try_raise().unwrap();
    assert!(gate.is_raised());
    assert!(raising.ready(&waker).is_none());
    assert!(one.enter().is_none());

    drop(in_one);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(raising.ready(&waker).is_none());
    drop(in_two);
    assert_eq!(woken.0.load(Ordering::SeqCst), 2);
    let raised = raising.ready(&waker).unwrap();
    assert!(two.enter().is_none());

    drop(raised);
    assert!(!gate.is_raised());
    assert!(two.enter().is_some());
}

#[test]
fn members_raise_one_at_a_time_and_waiters_are_woken() {
    let gate = Arc::new(Gate::new(2));
    let [one, two] = [0, 1].map(|index| gate.member(index));
    let (woken, waker) = count();
    let raised = one.try_raise().unwrap().ready(&waker).unwrap();
    assert!(two.try_raise().is_none());
    gate.wait_open(&waker);
    assert_eq!(woken.0.load(Ordering::SeqCst), 0);
    drop(raised);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(two.try_raise().is_some());
    assert!(!gate.is_raised(), "a raise given up lowers the gate");
    gate.wait_open(&waker);
    assert_eq!(woken.0.load(Ordering::SeqCst), 2, "an open gate wakes at once");
}

#[test]
#[should_panic(expected = "must leave before")]
fn raising_from_inside_panics() {
    let member = Arc::new(Gate::new(1)).member(0);
    let _inside = member.enter();
    let _raising = member.try_raise();
}

#[test]
#[should_panic(expected = "room for 2")]
fn a_member_index_beyond_the_capacity_panics() {
    let _member = Arc::new(Gate::new(2)).member(2);
}

#[test]
fn members_never_see_a_partial_change() {
    const ROUNDS: usize = 3_000;
    let gate = Arc::new(Gate::new(4));
    let pair = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let look = |member: Member| {
        for _ in 0..ROUNDS {
            let _inside = block_on(when_open(member.gate(), || member.enter()));
            let [one, two] = [0, 1].map(|index: usize| pair[index].load(Ordering::Relaxed));
            assert_eq!(one, two);
        }
    };
    let change = |member: Member| {
        for _ in 0..ROUNDS / 10 {
            let _raised = block_on(async { when_open(member.gate(), || member.try_raise()).await.await });
            pair[0].fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
            pair[1].fetch_add(1, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let (gate, look, change) = (&gate, &look, &change);
        for index in 0..2 {
            scope.spawn(move || look(gate.member(index)));
            scope.spawn(move || change(gate.member(2 + index)));
        }
    });
    assert_eq!(pair[1].load(Ordering::Relaxed), 2 * (ROUNDS / 10));
}
