//! Requests to the checkpointer, and its status: for SAVE, BGSAVE, LASTSAVE and INFO.

use super::CheckpointTask;
use base::limits::SHARDS;
use base::primitives::{Mutex, MutexGuard};
use base::{Ms, Position};
use std::task::{Context, Poll, Waker};
use store::Store;

/// The reason for a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A client requested a save, in Redis's terms.
    Asked,
    /// A client requested a rewrite, in Redis's terms.
    Rewrite,
    /// The journal has grown.
    Journal,
    /// A change is old.
    Age,
    /// Nothing has changed for a while, but there are unstored changes.
    Idle,
    /// The last round failed.
    Again,
    /// The disk has too little room for frames that grow.
    Room,
}

impl Reason {
    /// Returns the word for INFO and the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Rewrite => "rewrite",
            Self::Journal => "journal",
            Self::Age => "age",
            Self::Idle => "idle",
            Self::Again => "again",
            Self::Room => "room",
        }
    }
}

/// Behaviour of a requester if a round is already under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Gives up.
    None,
    /// Gets its own round after one made for another reason.
    Other,
    /// Gets its own round after any that has not begun.
    All,
}

/// A requested round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Its number for [`Orders::poll_ended`].
    pub(crate) number: u64,
    /// No other round comes first.
    pub(crate) is_next: bool,
}

/// A round in progress.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// Its reason.
    pub reason: Reason,
    /// When it began.
    pub began_ms: Ms,
    /// Shards written so far, of [`base::limits::SHARDS`].
    pub shards_done: usize,
    /// Bytes written so far.
    pub bytes: u64,
}

/// A finished round.
#[derive(Clone, Debug)]
pub struct EndedRound {
    /// Its beginning and its figures.
    pub round: Round,
    /// When it ended.
    pub ended_ms: Ms,
    /// The failure, if any: the store is then as old as before.
    pub fault: Option<String>,
}

/// The store after the last commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreFigures {
    /// See [`store::Statistics`].
    pub statistics: store::Statistics,
    /// The journal below this position is not needed.
    pub position: Position,
}

/// The status that INFO reports.
#[derive(Clone, Debug, Default)]
pub struct CheckpointInfo {
    /// The round in progress.
    pub round: Option<Round>,
    /// The previous round.
    pub last: Option<EndedRound>,
    /// When everything was last stored; 0 if not since the start.
    pub saved_ms: Ms,
    /// The journal's end then, and its number of frames.
    pub saved: (Position, u64),
    /// A rewrite comes next.
    pub rewrites_next: bool,
    /// Rounds finished since the start.
    pub rounds: u64,
    /// The store.
    pub stored: StoreFigures,
}

const SAVING: &str = "ERR Background save already in progress";
const REWRITING: &str = "ERR Background append only file rewriting already in progress";
const OTHER: &str = "ERR Another child process is active (AOF?): can't BGSAVE right now. \
    Use BGSAVE SCHEDULE in order to schedule a BGSAVE whenever possible.";

/// The interface to the checkpointer.
#[derive(Default)]
pub struct Orders {
    state: Mutex<CheckpointState>,
}

#[derive(Default)]
struct CheckpointState {
    status: CheckpointInfo,
    asked: Option<Reason>,
    wants_reload: bool,
    /// A client waits for the current round.
    is_waited_for: bool,
    reloads: u64,
    /// The error of the last reload.
    reload_fault: Option<String>,
    waiters: Vec<Waker>,
    checkpointer: Option<Waker>,
}

impl Orders {
    /// Requests a round for `reason`: [`Reason::Asked`] or [`Reason::Rewrite`].
    ///
    /// # Errors
    /// Returns the full error text if a round is running or requested and `patience` does not allow for it.
    pub(crate) fn ask(&self, reason: Reason, patience: Patience) -> Result<Asked, &'static str> {
        let mut state = self.state();
        let under_way = state.status.round.map(|round| round.reason);
        let current = under_way.or(state.asked);
        if let Some(current) = current {
            let is_like = (current == Reason::Rewrite) == (reason == Reason::Rewrite);
            match (is_like, reason, patience) {
                (true, _, Patience::All) if under_way.is_none() => {}
                (true, Reason::Rewrite, _) => return Err(REWRITING),
                (true, ..) => return Err(SAVING),
                (false, _, Patience::None) => return Err(OTHER),
                (false, ..) => {}
            }
        }
        state.asked.get_or_insert(reason);
        state.checkpointer.take().into_iter().for_each(Waker::wake);
        let number = state.status.rounds + 1 + u64::from(under_way.is_some());
        Ok(Asked { number, is_next: current.is_none() && patience != Patience::All })
    }

    /// Ready when round `number` has ended, with its error if there was one. Until then the round does not yield to
    /// others.
    pub fn poll_ended(&self, number: u64, context: &mut Context<'_>) -> Poll<Option<String>> {
        let mut state = self.state();
        if state.status.rounds < number {
            state.is_waited_for = true;
            state.waiters.push(context.waker().clone());
            return Poll::Pending;
        }
        // A later round can only have ended if this one had.
        Poll::Ready(state.status.last.as_ref().and_then(|ended| ended.fault.clone()))
    }

    /// Requests a reload: everything is stored and loaded again. Returns its number for [`Orders::poll_reloaded`].
    pub fn ask_reload(&self) -> u64 {
        let mut state = self.state();
        state.wants_reload = true;
        state.checkpointer.take().into_iter().for_each(Waker::wake);
        state.reloads + 1
    }

    /// Ready when reload `number` has ended, with its error if there was one.
    pub fn poll_reloaded(&self, number: u64, context: &mut Context<'_>) -> Poll<Option<String>> {
        let mut state = self.state();
        if state.reloads < number {
            state.waiters.push(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.reload_fault.clone())
    }

    /// Returns the status.
    pub fn status(&self) -> CheckpointInfo {
        let state = self.state();
        CheckpointInfo { rewrites_next: state.asked == Some(Reason::Rewrite), ..state.status.clone() }
    }

    // ---- for the checkpointer ----

    /// Returns the pending order, if any.
    pub(super) fn order(&self) -> Option<CheckpointTask> {
        let state = self.state();
        match () {
            () if state.wants_reload && state.asked.is_none() => Some(CheckpointTask::Reload),
            () => state.asked.map(CheckpointTask::Round),
        }
    }

    /// Ready when there is an order.
    pub(super) fn poll_order(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.asked.is_some() || state.wants_reload {
            return Poll::Ready(());
        }
        state.checkpointer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Returns true if a client waits for the end of the round.
    pub(super) fn is_waited_for(&self) -> bool {
        self.state().is_waited_for
    }

    /// Begins a round.
    pub(super) fn begin(&self, reason: Reason, now: Ms) {
        let mut state = self.state();
        state.asked = None;
        state.status.round = Some(Round { reason, began_ms: now, shards_done: 0, bytes: 0 });
    }

    /// Records progress: the number of shards written, some of them twice in a round for room.
    pub(super) fn go_on(&self, shards_done: usize, bytes: u64) {
        if let Some(round) = &mut self.state().status.round {
            (round.shards_done, round.bytes) = (shards_done.min(SHARDS), bytes);
        }
    }

    /// Records the store's new state.
    pub(super) fn note_store(&self, store: &Store) {
        let stored = StoreFigures { statistics: store.statistics(), position: store.least_position() };
        self.state().status.stored = stored;
    }

    /// Ends the round, at whose beginning the journal had the end and the frames in `stored`.
    pub(super) fn end(&self, now: Ms, stored: (Position, u64), fault: Option<String>) {
        let mut state = self.state();
        let round = state.status.round.take().expect("it was begun");
        if fault.is_none() {
            (state.status.saved_ms, state.status.saved) = (now, stored);
        }
        state.status.rounds += 1;
        state.status.last = Some(EndedRound { round, ended_ms: now, fault });
        state.is_waited_for = false;
        state.waiters.drain(..).for_each(Waker::wake);
    }

    /// Ends a reload.
    pub(super) fn end_reload(&self, result: Result<(), String>) {
        let mut state = self.state();
        state.wants_reload = false;
        state.reloads += 1;
        state.reload_fault = result.err();
        state.waiters.drain(..).for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, CheckpointState> {
        self.state.lock().expect("no holder panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Patience = Patience::None;
    const LATER: Patience = Patience::Other;
    const EXEC: Patience = Patience::All;

    /// Requests a round; returns whether it is next, or the error's first words.
    fn ask(orders: &Orders, reason: Reason, patience: Patience) -> Result<(u64, bool), &'static str> {
        let asked = orders.ask(reason, patience);
        let first_words = |text: &'static str| text.split([':', '(']).next().unwrap_or(text).trim_end();
        asked.map(|asked| (asked.number, asked.is_next)).map_err(first_words)
    }

    /// Replies of redis-server 7.0 while it saves, while it rewrites, and in MULTI.
    #[test]
    fn save_and_rewrite_requests_queue_as_in_redis() {
        let (saving, rewriting) = (Err(SAVING), Err(REWRITING));
        let orders = Orders::default();
        assert_eq!(ask(&orders, Reason::Asked, NOW), Ok((1, true)));
        assert_eq!(ask(&orders, Reason::Asked, LATER), saving, "asked for, and as good as begun");
        orders.begin(Reason::Asked, 0);
        assert_eq!(ask(&orders, Reason::Asked, NOW), saving);
        assert_eq!(ask(&orders, Reason::Asked, LATER), saving);
        assert_eq!(ask(&orders, Reason::Asked, EXEC), saving);
        assert!(!orders.status().rewrites_next);
        assert_eq!(ask(&orders, Reason::Rewrite, LATER), Ok((2, false)));
        assert_eq!(ask(&orders, Reason::Rewrite, LATER), Ok((2, false)));
        assert!(orders.status().rewrites_next);
        orders.end(0, (0, 0), None);
        assert!(matches!(orders.order(), Some(CheckpointTask::Round(Reason::Rewrite))));
        orders.begin(Reason::Rewrite, 0);
        assert!(!orders.status().rewrites_next);
        assert_eq!(ask(&orders, Reason::Rewrite, LATER), rewriting);
        assert_eq!(ask(&orders, Reason::Rewrite, EXEC), rewriting);
        assert_eq!(ask(&orders, Reason::Asked, NOW), Err("ERR Another child process is active"));
        assert_eq!(ask(&orders, Reason::Asked, LATER), Ok((3, false)));
        orders.end(0, (0, 0), None);
        orders.begin(Reason::Asked, 0);
        orders.end(0, (0, 0), None);
        assert!(orders.order().is_none());
        for reason in [Reason::Asked, Reason::Asked, Reason::Rewrite] {
            assert_eq!(ask(&orders, reason, EXEC), Ok((4, false)), "EXEC may ask twice");
        }
    }
}
