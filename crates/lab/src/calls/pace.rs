//! When calls are due at a pace, and which calls are handed out.
//!
//! ```text
//! party 0   0     1     2          calls of all parties are due at equal intervals, each party in turn;
//! party 1      0     1     2       a late call is sent as soon as a connection is free for it
//!           |--|--|--|--|--|--> time
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SECOND_NS: u128 = 1_000_000_000;

/// The rate of calls of an open loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Over all parties.
    pub(super) calls_per_s: u64,
    pub(super) parties: u64,
}

impl Pace {
    /// Returns the time from the start until a party's call is due.
    pub(super) fn due(self, party: usize, call: u64) -> Duration {
        let position = u128::from(call) * u128::from(self.parties) + party as u128;
        let due_ns = (position * SECOND_NS).div_ceil(u128::from(self.calls_per_s));
        Duration::from_nanos(u64::try_from(due_ns).unwrap_or(u64::MAX))
    }

    /// Returns the number of a party's calls that are due by now.
    pub(super) fn due_count(self, party: usize, elapsed: Duration) -> u64 {
        let last_position = elapsed.as_nanos() * u128::from(self.calls_per_s) / SECOND_NS;
        let of_party = last_position.checked_sub(party as u128).map_or(0, |rest| rest / u128::from(self.parties) + 1);
        u64::try_from(of_party).unwrap_or(u64::MAX)
    }
}

/// Hands out the numbers of a party's calls to all threads.
pub(super) struct Handout {
    next: AtomicU64,
    total: u64,
}

impl Handout {
    pub(super) fn new(total: u64) -> Self {
        Self { next: AtomicU64::new(0), total }
    }

    /// Takes at most `most` numbers below `bound`. No number is taken twice.
    pub(super) fn take(&self, most: u64, bound: u64) -> Range<u64> {
        let bound = bound.min(self.total);
        let end_of = |next: u64| next.saturating_add(most).min(bound);
        let taken = self
            .next
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |next| (next < bound && most > 0).then(|| end_of(next)));
        taken.map_or(0..0, |next| next..end_of(next))
    }

    /// Returns the next number, if one is left.
    pub(super) fn next(&self) -> Option<u64> {
        let next = self.next.load(Ordering::Relaxed);
        (next < self.total).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn calls_are_due_at_equal_intervals_over_all_parties() {
        let pace = Pace { calls_per_s: 200, parties: 2 };
        let due_ms = |party, call| pace.due(party, call).as_micros();
        assert_eq!([due_ms(0, 0), due_ms(1, 0), due_ms(0, 1), due_ms(1, 1)], [0, 5_000, 10_000, 15_000]);
    }

    #[test]
    fn a_call_counts_as_due_from_its_time_on() {
        for calls_per_s in [1, 3, 7, 1000, 999_983] {
            let pace = Pace { calls_per_s, parties: 3 };
            for (party, call) in (0..3).flat_map(|party| (0..50).map(move |call| (party, call))) {
                let due = pace.due(party, call);
                assert_eq!(pace.due_count(party, due), call + 1, "{party} {call} of {calls_per_s}");
                if let Some(before) = due.checked_sub(Duration::from_nanos(1)) {
                    assert_eq!(pace.due_count(party, before), call, "{party} {call} of {calls_per_s}");
                }
            }
        }
    }

    #[test]
    fn each_number_is_handed_out_once_over_threads() {
        let handout = Handout::new(10_001);
        let take_all = || {
            let mut own = Vec::new();
            loop {
                let taken = handout.take(7, u64::MAX);
                if taken.is_empty() {
                    return own;
                }
                own.extend(taken);
            }
        };
        let mut all: Vec<u64> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take_all)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert!(all.into_iter().eq(0..10_001));
        assert_eq!(handout.next(), None);
    }

    #[test]
    fn numbers_that_are_not_due_are_not_handed_out() {
        let handout = Handout::new(10);
        assert_eq!(handout.take(5, 0), 0..0);
        assert_eq!(handout.take(5, 3), 0..3);
        assert_eq!(handout.take(5, 3), 0..0);
        assert_eq!(handout.next(), Some(3));
        assert_eq!(handout.take(0, 5), 0..0);
        assert_eq!(handout.take(50, u64::MAX), 3..10);
    }
}
