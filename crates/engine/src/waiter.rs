//! A blocked command: one atomic state, waiting or claimed, shared by all parties that may end the wait.
//!
//! ```text
//! WAITING --claim--> CLAIMED --answer--> its connection is woken
//!    ^  |               |
//!    |  `-----------.   |    the connection leaves: from either, and for good
//!    `--give back---|---'    a claim made by a tx that was abandoned
//!                   v
//!                 GONE
//! ```
//!
//! It may retry by itself, from its position in the queue: at a set time, or as soon as it is asked to.
//!
//! A writer that serves it, its own timeout, CLIENT UNBLOCK, CLIENT KILL and the closing connection all claim it in the
//! same way, so exactly one of them gets it.

use base::{Ms, Position};
use commands::registry::Command;
use commands::{Failure, Group};
use std::task::{Context, Poll, Waker};
use sync::primitives::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use sync::primitives::{Mutex, lock};
use wire::resp::Protocol;
use wire::{Output, OwnedRequest};

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const GONE: u8 = 2;

/// One blocked command.
pub struct Waiter {
    state: AtomicU8,
    /// True if it must retry from its position in the queue.
    looks: AtomicBool,
    /// When it retries by itself; `Ms::MAX`: never.
    looks_at_ms: AtomicU64,
    slot: Mutex<AnswerSlot>,
    /// Its command.
    pub command: Command,
    /// Its arguments.
    pub request: OwnedRequest,
    /// Its database.
    pub database: u32,
    /// The protocol of its reply.
    pub protocol: Protocol,
}

#[derive(Default)]
struct AnswerSlot {
    answer: Option<Answer>,
    waker: Option<Waker>,
}

/// The outcome of a wait.
pub enum Answer {
    /// Served: the reply, and the position that it has seen.
    Reply(Output, Position),
    /// Nothing will ever arrive: the reason, and the position that this has seen.
    Failure(Failure, Position),
    /// As if the timeout had passed.
    TimedOut,
    /// CLIENT UNBLOCK ... ERROR.
    Unblocked,
}

impl Waiter {
    /// Creates a waiting command.
    pub fn new(command: Command, request: OwnedRequest, database: u32, protocol: Protocol) -> Self {
        let (state, looks, looks_at_ms) = (AtomicU8::new(WAITING), AtomicBool::new(false), AtomicU64::new(Ms::MAX));
        Self { state, looks, looks_at_ms, slot: Mutex::default(), command, request, database, protocol }
    }

    /// Claims the wait; only one claim succeeds.
    pub fn claim(&self) -> bool {
        self.state.compare_exchange(WAITING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Returns true if it still waits.
    pub fn is_waiting(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITING
    }

    /// Gives a claim back. The connection checks its timeout again.
    pub fn give_back(&self) {
        // Unless its connection has left meanwhile: then nobody may serve it.
        let _ = self.state.compare_exchange(CLAIMED, WAITING, Ordering::AcqRel, Ordering::Acquire);
        let waker = lock(&self.slot).waker.take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Returns true if it must retry by itself when a message falls due, while it is the first such waiter in a line.
    pub fn is_watchful(&self) -> bool {
        self.command.group == Group::Queue
    }

    /// Returns when it retries by itself.
    pub fn looks_at(&self) -> Option<Ms> {
        Some(self.looks_at_ms.load(Ordering::SeqCst)).filter(|at_ms| *at_ms != Ms::MAX)
    }

    /// Sets when it retries by itself.
    pub fn set_looks_at(&self, at_ms: Option<Ms>) {
        self.looks_at_ms.store(at_ms.unwrap_or(Ms::MAX), Ordering::SeqCst);
    }

    /// Makes its connection retry, from its position in the queue.
    pub fn look(&self) {
        self.looks.store(true, Ordering::SeqCst);
        let waker = lock(&self.slot).waker.take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Returns true if it was asked to retry since the last call; call it after [`Waiter::poll_end`], which registers
    /// for it.
    pub fn takes_look(&self) -> bool {
        self.looks.swap(false, Ordering::SeqCst)
    }

    /// Ends the connection's wait, served or not.
    pub fn leave(&self) {
        self.state.store(GONE, Ordering::Release);
    }

    /// Ends a claimed wait.
    pub fn answer(&self, answer: Answer) {
        let mut slot = lock(&self.slot);
        slot.answer = Some(answer);
        let waker = slot.waker.take();
        drop(slot);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Polls the end of the wait for its connection, whose time `is_over`.
    pub fn poll_end(&self, is_over: bool, context: &mut Context<'_>) -> Poll<Answer> {
        let mut slot = lock(&self.slot);
        if let Some(answer) = slot.answer.take() {
            return Poll::Ready(answer);
        }
        slot.waker = Some(context.waker().clone());
        drop(slot);
        // If the claim fails, another claimer will answer, or give it back and wake this.
        if is_over && self.claim() { Poll::Ready(Answer::TimedOut) } else { Poll::Pending }
    }

    /// Returns true if its command moves the element it takes to another key.
    pub fn has_target(&self) -> bool {
        self.command.keys.iter().any(|spec| spec.flags.contains("INSERT"))
    }

    /// Visits its command's source keys and targets, with whether the key's flags include INSERT.
    pub fn for_each_key(&self, mut visit: impl FnMut(&[u8], bool)) {
        let args = self.request.args();
        for spec in self.command.keys {
            spec.for_each(&args, |at| visit(args.get(at), spec.flags.contains("INSERT")));
        }
    }
}

/// Run with `RUSTFLAGS="--cfg shuttle" cargo test -p engine --lib waiter`.
#[cfg(all(test, shuttle))]
mod schedules {
    use super::*;
    use commands::registry::{self, Lookup};
    use shuttle::future::block_on;
    use std::future::poll_fn;
    use sync::primitives::atomic::AtomicUsize;
    use sync::primitives::{Arc, thread};

    fn waiter() -> Arc<Waiter> {
        let Lookup::Command(command) = registry::by_name(b"BLPOP") else { panic!("a command") };
        Arc::new(Waiter::new(command, OwnedRequest::of(&["BLPOP", "queue", "0"]), 0, Protocol::Resp2))
    }

    /// A timeout.
    #[derive(Default)]
    struct Timer {
        is_over: AtomicBool,
        waker: Mutex<Option<Waker>>,
    }

    impl Timer {
        fn end(&self) {
            self.is_over.store(true, Ordering::SeqCst);
            lock(&self.waker).take().into_iter().for_each(Waker::wake);
        }

        fn poll(&self, context: &mut Context<'_>) -> bool {
            *lock(&self.waker) = Some(context.waker().clone());
            self.is_over.load(Ordering::SeqCst)
        }
    }

    fn wait(waiter: &Waiter, timer: &Timer) -> Answer {
        block_on(poll_fn(|context| {
            let is_over = timer.poll(context);
            waiter.poll_end(is_over, context)
        }))
    }

    /// A writer with one element: its first tx is abandoned. Counts in `served`.
    fn serve(waiter: &Waiter, served: &AtomicUsize) {
        for is_abandoned in [true, false] {
            if !waiter.claim() {
                continue;
            }
            if is_abandoned {
                waiter.give_back();
            } else {
                served.fetch_add(1, Ordering::SeqCst);
                waiter.answer(Answer::Reply(Output::new(), 1));
            }
        }
    }

    #[test]
    fn an_element_reaches_the_waiter_or_stays() {
        shuttle::check_random(
            || {
                let (waiter, timer, served) = (waiter(), Arc::new(Timer::default()), Arc::new(AtomicUsize::new(0)));
                let writers = [0, 1].map(|_| {
                    let (waiter, served) = (waiter.clone(), served.clone());
                    thread::spawn(move || serve(&waiter, &served))
                });
                let clock = {
                    let timer = timer.clone();
                    thread::spawn(move || timer.end())
                };
                let answer = wait(&waiter, &timer);
                let was_served = matches!(answer, Answer::Reply(..));
                waiter.leave();
                writers.into_iter().for_each(|writer| writer.join().unwrap());
                clock.join().unwrap();
                assert_eq!(served.load(Ordering::SeqCst), usize::from(was_served), "an element is lost or given twice");
                assert!(!waiter.is_waiting() && !waiter.claim(), "nobody serves a connection that has left");
            },
            20_000,
        );
    }

    #[test]
    fn a_client_that_leaves_while_claimed_is_not_served_again() {
        shuttle::check_random(
            || {
                let (waiter, served) = (waiter(), Arc::new(AtomicUsize::new(0)));
                let writer = {
                    let (waiter, served) = (waiter.clone(), served.clone());
                    thread::spawn(move || serve(&waiter, &served))
                };
                waiter.leave();
                assert!(!waiter.claim());
                writer.join().unwrap();
                assert!(!waiter.claim(), "a claim that is given back later does not open the wait again");
            },
            20_000,
        );
    }

    #[test]
    fn a_notified_waiter_looks_again() {
        shuttle::check_random(
            || {
                let waiter = waiter();
                let notifier = {
                    let waiter = waiter.clone();
                    thread::spawn(move || waiter.look())
                };
                block_on(poll_fn(|context| {
                    assert!(waiter.poll_end(false, context).is_pending());
                    if waiter.takes_look() { Poll::Ready(()) } else { Poll::Pending }
                }));
                notifier.join().unwrap();
            },
            20_000,
        );
    }
}
