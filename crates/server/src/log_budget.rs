//! A limit for warnings that any client can cause: a flood of connections must not fill the disk with log lines.
//!
//! ```text
//!   ten lines of a kind per minute, then none; the first line of a later minute has the number of omitted lines
//! ```

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of lines of one kind per period.
const LINES_MAX: u32 = 10;
const PERIOD: Duration = Duration::from_secs(60);

/// The bound for one kind of line.
#[derive(Default)]
pub(crate) struct LogBudget {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    period_began: Option<Instant>,
    logged: u32,
    left_out: u64,
}

/// The number of lines left out since the last one; displayed after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut(u64);

impl LogBudget {
    /// Returns what to append to a line logged `now`, or `None` if it must not be logged.
    pub(crate) fn spend(&self, now: Instant) -> Option<LeftOut> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.period_began.is_none_or(|began| now.saturating_duration_since(began) >= PERIOD) {
            (state.period_began, state.logged) = (Some(now), 0);
        }
        if state.logged == LINES_MAX {
            state.left_out += 1;
            return None;
        }
        state.logged += 1;
        Some(LeftOut(std::mem::take(&mut state.left_out)))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(f, " ({count} more like this were not logged)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_limited_to_ten_lines_a_minute() {
        let (budget, start) = (LogBudget::default(), Instant::now());
        let lines = (0..1000).filter(|_| budget.spend(start).is_some()).count();
        assert_eq!(lines, 10);
        assert_eq!(budget.spend(start + PERIOD / 2), None);
        let next = budget.spend(start + PERIOD);
        assert_eq!(next, Some(LeftOut(991)));
        assert_eq!(next.unwrap().to_string(), " (991 more like this were not logged)");
        assert_eq!(budget.spend(start + PERIOD).unwrap().to_string(), "");
    }
}
