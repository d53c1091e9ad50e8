//! Delayed flushes: of which database, what, and when.

use base::Ms;
use base::primitives::Mutex;
use commands::{CommandSpec, REMOVE_QUEUES, REMOVE_TAGGED, REMOVE_TEXTS};
use std::collections::BTreeMap;
use std::task::Waker;
use values::ValueType;

/// The kind of keys to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flushed {
    /// Strings.
    Strings,
    /// Lists and queues.
    Queues,
    /// Tagged lists.
    Tagged,
}

impl Flushed {
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Strings => "MC.FLUSH_ALL",
            Self::Queues => "MQ.FLUSH_ALL",
            Self::Tagged => "TL.DROP",
        }
    }

    /// Returns the command that removes a batch.
    pub(crate) fn part(self) -> &'static CommandSpec {
        match self {
            Self::Strings => &REMOVE_TEXTS,
            Self::Queues => &REMOVE_QUEUES,
            Self::Tagged => &REMOVE_TAGGED,
        }
    }

    pub(crate) fn takes(self, kind: ValueType) -> bool {
        match self {
            Self::Strings => kind == ValueType::String,
            Self::Queues => ValueType::List.is_taken_from(kind),
            Self::Tagged => kind == ValueType::Tagged,
        }
    }
}

/// Delayed flushes. They are lost when the server ends.
#[derive(Default)]
pub(crate) struct Flushes {
    state: Mutex<FlushState>,
}

#[derive(Default)]
struct FlushState {
    /// The time of each flush, by database and kind.
    due: BTreeMap<(u32, Flushed), Ms>,
    /// The number of requests so far.
    asked: u64,
    waker: Option<Waker>,
}

impl Flushes {
    /// Schedules a flush, replacing an earlier one; `None` cancels it.
    pub(crate) fn put(&self, what: (u32, Flushed), at_ms: Option<Ms>) {
        let mut state = self.state.lock().expect("no holder panics");
        state.due.remove(&what);
        state.due.extend(at_ms.map(|at_ms| (what, at_ms)));
        state.asked += 1;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    /// Returns a database whose flush is due, and the kind; otherwise the number of requests so far, and the delay
    /// until the next flush if there is one.
    pub(crate) fn take_due(&self, now: Ms) -> Result<(u32, Flushed), (u64, Option<Ms>)> {
        let mut state = self.state.lock().expect("no holder panics");
        let next = state.due.iter().map(|(what, at_ms)| (*at_ms, *what)).min();
        match next {
            Some((at_ms, what)) if at_ms <= now => {
                state.due.remove(&what);
                Ok(what)
            }
            next => Err((state.asked, next.map(|(at_ms, _)| at_ms - now))),
        }
    }

    /// Returns true if there were more than `asked` requests; if not, registers the waker for the next one.
    pub(crate) fn is_asked(&self, asked: u64, waker: &Waker) -> bool {
        let mut state = self.state.lock().expect("no holder panics");
        if state.asked == asked {
            state.waker = Some(waker.clone());
        }
        state.asked != asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_flush_replaces_the_earlier_one_of_its_database() {
        let flushes = Flushes::default();
        assert_eq!(flushes.take_due(0), Err((0, None)));
        flushes.put((3, Flushed::Strings), Some(50));
        flushes.put((3, Flushed::Strings), Some(70));
        flushes.put((1, Flushed::Strings), Some(90));
        assert_eq!(flushes.take_due(60), Err((3, Some(10))));
        assert_eq!(flushes.take_due(70), Ok((3, Flushed::Strings)));
        flushes.put((1, Flushed::Strings), None);
        assert_eq!(flushes.take_due(100), Err((4, None)));
    }
}
