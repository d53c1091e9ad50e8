//! A blocked command: one atomic state, waiting or claimed, whoever ends the wait.
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
//! A writer that serves it, its own time-out, CLIENT UNBLOCK, CLIENT KILL and the closing connection all claim it in
//! the same way, so exactly one of them has it.

use base::Position;
use commands::table::Row;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};
use wire::resp::Protocol;
use wire::{Output, OwnedRequest};

const WAITING: u8 = 0;
const CLAIMED: u8 = 1;
const GONE: u8 = 2;

/// One blocked command.
pub struct Waiter {
    state: AtomicU8,
    slot: Mutex<Slot>,
    /// Its row.
    pub row: Row,
    /// Its arguments.
    pub request: OwnedRequest,
    /// Its database.
    pub database: u32,
    /// How its reply is to be written.
    pub protocol: Protocol,
}

#[derive(Default)]
struct Slot {
    answer: Option<Answer>,
    waker: Option<Waker>,
}

/// How a wait ended.
pub enum Answer {
    /// Served: the reply, and the position that it has seen.
    Reply(Output, Position),
    /// As if the time were up.
    TimedOut,
    /// CLIENT UNBLOCK ... ERROR.
    Unblocked,
}

impl Waiter {
    /// A command that waits.
    pub fn new(row: Row, request: OwnedRequest, database: u32, protocol: Protocol) -> Self {
        Self { state: AtomicU8::new(WAITING), slot: Mutex::default(), row, request, database, protocol }
    }

    /// Claims the wait; only one claim succeeds.
    pub fn claim(&self) -> bool {
        self.state.compare_exchange(WAITING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether it still waits.
    pub fn is_waiting(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITING
    }

    /// Gives a claim back. The connection looks again whether its time is up.
    pub fn give_back(&self) {
        // Unless its connection left meanwhile: nobody may serve it then.
        let _ = self.state.compare_exchange(CLAIMED, WAITING, Ordering::AcqRel, Ordering::Acquire);
        let waker = self.slot.lock().expect("no holder panics").waker.take();
        waker.into_iter().for_each(Waker::wake);
    }

    /// Its connection waits no more, served or not.
    pub fn leave(&self) {
        self.state.store(GONE, Ordering::Release);
    }

    /// Ends a claimed wait.
    pub fn answer(&self, answer: Answer) {
        let mut slot = self.slot.lock().expect("no holder panics");
        slot.answer = Some(answer);
        let waker = slot.waker.take();
        drop(slot);
        waker.into_iter().for_each(Waker::wake);
    }

    /// The answer, once there is one.
    pub fn poll_answer(&self, context: &mut Context<'_>) -> Poll<Answer> {
        let mut slot = self.slot.lock().expect("no holder panics");
        match slot.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// The keys that its row takes from, and its targets, by whether the key's flags say INSERT.
    pub fn for_each_key(&self, mut visit: impl FnMut(&[u8], bool)) {
        let args = self.request.args();
        for spec in self.row.keys {
            spec.for_each(&args, |at| visit(args.get(at), spec.flags.contains("INSERT")));
        }
    }
}
