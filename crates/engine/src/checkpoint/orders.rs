//! What the checkpointer is asked for, and what it tells: for SAVE, BGSAVE, LASTSAVE and INFO.

use super::Task;
use base::{Ms, Position};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use store::Store;

/// Why a round is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody asked.
    Asked,
    /// The journal has grown.
    Journal,
    /// Something changed long ago.
    Age,
    /// Nothing has changed for a while, and something had before.
    Idle,
    /// The last round failed.
    Again,
}

impl Reason {
    /// In a word, for INFO and the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Journal => "journal",
            Self::Age => "age",
            Self::Idle => "idle",
            Self::Again => "again",
        }
    }
}

/// A round under way.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Why.
    pub reason: Reason,
    /// Since when.
    pub began_ms: Ms,
    /// Shards written so far, of [`base::limits::SHARDS`].
    pub shards_done: usize,
    /// Bytes written so far.
    pub bytes: u64,
}

/// A round that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its beginning and its figures.
    pub round: Round,
    /// When.
    pub ended_ms: Ms,
    /// What went wrong, if anything: what is stored is then as old as it was.
    pub fault: Option<String>,
}

/// What the store was after the last commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored {
    /// See [`store::Statistics`].
    pub statistics: store::Statistics,
    /// The journal below is not needed.
    pub position: Position,
}

/// What INFO tells.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The round under way.
    pub round: Option<Round>,
    /// The round before.
    pub last: Option<Ended>,
    /// When everything was last stored; 0 if not since the start.
    pub saved_ms: Ms,
    /// Rounds ended since the start.
    pub rounds: u64,
    /// The store.
    pub stored: Stored,
}

/// The checkpointer's ear and mouth.
#[derive(Default)]
pub struct Orders {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    told: Told,
    is_asked: bool,
    wants_reload: bool,
    /// Somebody waits for the round under way.
    is_waited_for: bool,
    reloads: u64,
    /// Of the last reload.
    reload_fault: Option<String>,
    waiters: Vec<Waker>,
    checkpointer: Option<Waker>,
}

impl Orders {
    /// Asks for a round; the number by which [`Orders::poll_ended`] knows it. `None` if one is asked for or under way.
    pub fn ask(&self) -> Option<u64> {
        let mut state = self.state();
        if state.is_asked || state.told.round.is_some() {
            return None;
        }
        state.is_asked = true;
        state.checkpointer.take().into_iter().for_each(Waker::wake);
        Some(state.told.rounds + 1)
    }

    /// Ready when round `number` has ended: with what went wrong, if anything did. Until then it does not spare others.
    pub fn poll_ended(&self, number: u64, context: &mut Context<'_>) -> Poll<Option<String>> {
        let mut state = self.state();
        if state.told.rounds < number {
            state.is_waited_for = true;
            state.waiters.push(context.waker().clone());
            return Poll::Pending;
        }
        // A later round has ended by now only if this one had.
        Poll::Ready(state.told.last.as_ref().and_then(|ended| ended.fault.clone()))
    }

    /// Asks that everything be stored and loaded again; the number by which [`Orders::poll_reloaded`] knows it.
    pub fn ask_reload(&self) -> u64 {
        let mut state = self.state();
        state.wants_reload = true;
        state.checkpointer.take().into_iter().for_each(Waker::wake);
        state.reloads + 1
    }

    /// Ready when reload `number` has ended: with what went wrong, if anything did.
    pub fn poll_reloaded(&self, number: u64, context: &mut Context<'_>) -> Poll<Option<String>> {
        let mut state = self.state();
        if state.reloads < number {
            state.waiters.push(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.reload_fault.clone())
    }

    /// What there is to tell.
    pub fn told(&self) -> Told {
        self.state().told.clone()
    }

    // ---- for the checkpointer ----

    /// What it is ordered to do, if anything.
    pub(super) fn order(&self) -> Option<Task> {
        let state = self.state();
        match () {
            () if state.is_asked => Some(Task::Round(Reason::Asked)),
            () if state.wants_reload => Some(Task::Reload),
            () => None,
        }
    }

    /// Ready when there is an order.
    pub(super) fn poll_order(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.is_asked || state.wants_reload {
            return Poll::Ready(());
        }
        state.checkpointer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether somebody waits for the end of the round.
    pub(super) fn is_waited_for(&self) -> bool {
        self.state().is_waited_for
    }

    /// A round begins.
    pub(super) fn begin(&self, reason: Reason, now: Ms) {
        let mut state = self.state();
        state.is_asked = false;
        state.told.round = Some(Round { reason, began_ms: now, shards_done: 0, bytes: 0 });
    }

    /// It goes on.
    pub(super) fn go_on(&self, shards_done: usize, bytes: u64) {
        if let Some(round) = &mut self.state().told.round {
            (round.shards_done, round.bytes) = (shards_done, bytes);
        }
    }

    /// The store has changed.
    pub(super) fn tell_store(&self, store: &Store) {
        let stored = Stored { statistics: store.statistics(), position: store.least_position() };
        self.state().told.stored = stored;
    }

    /// The round ends.
    pub(super) fn end(&self, now: Ms, fault: Option<String>) {
        let mut state = self.state();
        let round = state.told.round.take().expect("it was begun");
        if fault.is_none() {
            state.told.saved_ms = now;
        }
        state.told.rounds += 1;
        state.told.last = Some(Ended { round, ended_ms: now, fault });
        state.is_waited_for = false;
        state.waiters.drain(..).for_each(Waker::wake);
    }

    /// A reload ends.
    pub(super) fn end_reload(&self, result: Result<(), String>) {
        let mut state = self.state();
        state.wants_reload = false;
        state.reloads += 1;
        state.reload_fault = result.err();
        state.waiters.drain(..).for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }
}
