//! The pace of writers: slowed down smoothly before a bound would stop them.
//!
//! ```text
//!   next ............... goal       a bound should not be met before `due`: the rate is bytes left / time left,
//!                                   that of the slowest goal
//!
//!   connection A  |turn|.. waits ..|turn|.. waits ..|turn|      fair queueing: each may write the same bytes in the
//!   connection B  |t|    |t|    |t|    |t|    |t|    |t|        same time, so one that writes less does not wait
//! ```
//!
//! It is paid for afterwards: a turn runs unhindered, and the connection's next turn begins once virtual time, which is
//! the bytes that each connection may have written, has passed what that one has (A. Demers, S. Keshav, S. Shenker:
//! Analysis and Simulation of a Fair Queueing Algorithm, 1989). How many connections share the rate, and how much of it
//! they want, is not counted: the share of each is raised or lowered until all together write at the rate. The bounds
//! themselves stay in [`crate::journal`]: they hold for those who are not paced.

use crate::journal::{Journal, Purpose};
use crate::{ElapsedUs, Policy};
use base::{Ms, Position};
use sync::primitives::atomic::{AtomicBool, Ordering};
use sync::primitives::{Mutex, lock};

/// The rate at the bound, in bytes a second.
const RATE_MIN: f64 = 1.0;
/// The least time for which the bytes between a goal and its bound are to last: those who write little go on there.
const SLACK_US_MIN: u64 = 500_000;
/// Divisor: a goal that is late is taken to be due after this part of the time since it was set.
const LATE_PART: u64 = 4;
/// The least time left of a goal.
const LEFT_US_MIN: u64 = 1000;
/// The longest wait before the rate is looked at anew.
const WAIT_MS_MAX: Ms = 48;
/// The most that is left beyond the goal for the tail.
const TAIL_SLACK_BYTES_MAX: u64 = 1 << 40;
/// Divisor: the part of the bound of undurable bytes that is left beyond the goal.
const SLACK_PART: u64 = 8;
/// The share is set anew after the first of these times if something was written, after the second in any case, and
/// changes by these factors at most.
const WINDOW_US: u64 = 10_000;
const WINDOW_US_MAX: u64 = 50_000;
const FACTOR_MIN: f64 = 0.25;
const FACTOR_MAX: f64 = 2.0;
/// A share that is too great by more than this is lowered at once; otherwise it follows by the square root, so that it
/// does not swing.
const FAR: f64 = 0.5;
/// The least share: it always finds back.
const SHARE_MIN: f64 = 1e-6;
/// The time without a goal after which nothing is known of the share.
const FORGET_US: u64 = 1_000_000;
const US_PER_S: f64 = 1e6;

/// The bound that a goal keeps writers away from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Bytes that are not yet durable.
    Undurable,
    /// Bytes that are not yet released.
    Tail,
}

/// A position that the journal should not reach before a time; microseconds of the journal's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Goal {
    /// The position.
    pub(crate) position: Position,
    /// When it was set.
    pub(crate) since_us: u64,
    /// When it is likely to be passed without harm.
    pub(crate) due_us: u64,
    /// The bound behind it, which stops writers altogether.
    pub(crate) bound: Position,
}

impl Goal {
    /// Returns the rate that keeps it from `next` on, in bytes a second.
    fn rate(&self, now_us: u64, next: Position) -> f64 {
        let late_us = now_us.saturating_sub(self.since_us) / LATE_PART;
        let left_us = self.due_us.saturating_sub(now_us).max(late_us).max(LEFT_US_MIN);
        let rate = |bytes: u64, us: u64| bytes as f64 * US_PER_S / us as f64;
        let slack_bytes = self.bound.saturating_sub(next.max(self.position));
        rate(self.position.saturating_sub(next), left_us)
            .max(rate(slack_bytes, left_us.max(SLACK_US_MIN)))
            .max(RATE_MIN)
    }
}

/// One connection's place in the virtual time: up to there it has written.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaceTag(u64);

/// The pace of all writers of a journal.
pub(crate) struct Pace {
    is_on: AtomicBool,
    state: Mutex<PaceState>,
    elapsed_us: ElapsedUs,
}

struct PaceState {
    /// By [`Bound`].
    goals: [Option<Goal>; 2],
    /// Bytes that each connection may have written; and a part of one.
    virtual_bytes: u64,
    part_bytes: f64,
    /// When that was so.
    at_us: u64,
    /// The part of the rate that each connection may write.
    share: f64,
    /// When the window began, and the bytes written since.
    window_us: u64,
    window_bytes: u64,
    /// The journal is poisoned: no goal is set any more.
    is_over: bool,
}

impl PaceState {
    /// Returns the rate of the slowest goal, in bytes a second; `None` without a goal.
    fn rate(&self, now_us: u64, next: Position) -> Option<f64> {
        self.goals.iter().flatten().map(|goal| goal.rate(now_us, next)).min_by(f64::total_cmp)
    }

    /// Lets virtual time pass; returns its rate. `None` without a goal.
    fn pass(&mut self, now_us: u64, next: Position) -> Option<f64> {
        let rate = self.rate(now_us, next)?;
        let passed_us = now_us.saturating_sub(self.at_us);
        let window_us = now_us.saturating_sub(self.window_us);
        if window_us >= WINDOW_US && self.window_bytes > 0 || window_us >= WINDOW_US_MAX {
            // At a bound nothing is to be learned of shares: admission decides there.
            if rate > RATE_MIN {
                let allowed_bytes = rate * window_us as f64 / US_PER_S;
                let factor = allowed_bytes / (self.window_bytes as f64).max(allowed_bytes / FACTOR_MAX.powi(2));
                let factor = if factor < FAR { factor.max(FACTOR_MIN) } else { factor.sqrt() };
                self.share = (self.share * factor).clamp(SHARE_MIN, 1.0);
            }
            (self.window_us, self.window_bytes) = (now_us, 0);
        }
        let passed_bytes = self.share * rate * passed_us as f64 / US_PER_S + self.part_bytes;
        self.virtual_bytes = self.virtual_bytes.saturating_add(passed_bytes as u64);
        self.part_bytes = passed_bytes.fract();
        self.at_us = self.at_us.max(now_us);
        Some(self.share * rate)
    }
}

impl Pace {
    pub(crate) fn new(elapsed_us: ElapsedUs) -> Self {
        let state = PaceState {
            goals: [None; 2],
            virtual_bytes: 0,
            part_bytes: 0.0,
            at_us: 0,
            share: 1.0,
            window_us: 0,
            window_bytes: 0,
            is_over: false,
        };
        Self { is_on: AtomicBool::new(false), state: Mutex::new(state), elapsed_us }
    }

    /// Returns true if there is a goal.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    pub(crate) fn now_us(&self) -> u64 {
        (self.elapsed_us)()
    }

    /// Sets the goal for a bound, or takes it away.
    pub(crate) fn set(&self, bound: Bound, goal: Option<Goal>, next: Position) {
        let mut state = lock(&self.state);
        if state.goals[bound as usize] == goal || state.is_over {
            return;
        }
        let now_us = self.now_us();
        if state.pass(now_us, next).is_none() {
            // Nobody was paced until now.
            if now_us.saturating_sub(state.at_us) >= FORGET_US {
                state.share = 1.0;
            }
            (state.at_us, state.window_us, state.window_bytes) = (now_us, now_us, 0);
        }
        state.goals[bound as usize] = goal;
        self.is_on.store(state.goals.iter().any(Option::is_some), Ordering::Relaxed);
    }

    /// Takes all goals away, for good.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        (state.goals, state.is_over) = ([None; 2], true);
        self.is_on.store(false, Ordering::Relaxed);
    }

    /// Adds `bytes` to what the connection with this tag has written.
    pub(crate) fn note_written(&self, tag: &mut PaceTag, bytes: u64, next: Position) {
        let mut state = lock(&self.state);
        if state.pass(self.now_us(), next).is_some() {
            tag.0 = tag.0.max(state.virtual_bytes).saturating_add(bytes);
            state.window_bytes += bytes;
        }
    }

    /// Returns how long the connection with this tag waits before it is looked at again; `None`: its turn may begin.
    pub(crate) fn wait_ms(&self, tag: PaceTag, next: Position) -> Option<Ms> {
        let mut state = lock(&self.state);
        let rate = state.pass(self.now_us(), next)?;
        let wait_ms = (tag.0.saturating_sub(state.virtual_bytes) as f64 * 1000.0 / rate) as Ms;
        (wait_ms > 0).then_some(wait_ms.min(WAIT_MS_MAX))
    }
}

impl Journal {
    /// Returns true if writers are paced at the moment.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pace.is_on()
    }

    /// Counts a frame of `bytes` of the connection with this tag. O(1).
    pub fn note_paced(&self, tag: &mut PaceTag, bytes: u64) {
        self.pace.note_written(tag, bytes, self.next());
    }

    /// Returns how long the connection with this tag waits before it is looked at again; `None`: its turn may begin.
    /// O(1).
    pub fn pace_wait_ms(&self, tag: PaceTag) -> Option<Ms> {
        self.pace.wait_ms(tag, self.next())
    }

    /// Returns the time of the journal's clock, in microseconds.
    pub fn elapsed_us(&self) -> u64 {
        self.pace.now_us()
    }

    /// Paces writers so that the journal does not reach `position` in the next `left_us` microseconds; `None`: does so no
    /// longer. O(1).
    pub fn pace_tail(&self, goal: Option<(Position, u64)>) {
        let now_us = self.elapsed_us();
        let barrier = self.barrier.position(Purpose::Grow);
        let goal = goal.map(|(position, left_us)| {
            let bound = barrier.min(position.saturating_add(TAIL_SLACK_BYTES_MAX));
            Goal { position, since_us: now_us, due_us: now_us + left_us, bound }
        });
        self.pace.set(Bound::Tail, goal, self.next());
    }

    /// Paces writers while a sync up to `synced` is under way that is expected to take `expected_us`: at its end half of
    /// the bound is left for the next one.
    pub(crate) fn pace_sync(&self, synced: Position, begun_us: u64, expected_us: u64) {
        if self.policy() != Policy::EverySec {
            return;
        }
        let bytes_max = self.undurable_bytes_max;
        let bound = self.durable() + bytes_max;
        let position = (synced + bytes_max / 2).min(bound - bytes_max / SLACK_PART);
        let goal = Goal { position, since_us: begun_us, due_us: begun_us + expected_us, bound };
        self.pace.set(Bound::Undurable, Some(goal), self.next());
        // It may have changed meanwhile.
        if self.policy() != Policy::EverySec {
            self.end_pace_sync();
        }
    }

    pub(crate) fn end_pace_sync(&self) {
        self.pace.set(Bound::Undurable, None, self.next());
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;
    use sync::primitives::atomic::AtomicU64;

    const LIGHT_BYTES: u64 = 100;
    const LIGHT_MS: u64 = 5;
    const LIGHT_WAIT_MS_MAX: u64 = 20;
    /// Bytes that a connection can write in a millisecond.
    const TURNS_BYTES_MAX: u64 = 5_000;

    /// A pace whose clock is set by the test.
    fn paced(clock_us: &Arc<AtomicU64>) -> Pace {
        let clock_us = clock_us.clone();
        Pace::new(Arc::new(move || clock_us.load(Ordering::Relaxed)))
    }

    fn goal(position: Position, due_ms: u64) -> Option<Goal> {
        Some(Goal { position, since_us: 0, due_us: due_ms * 1000, bound: position / 8 * 9 })
    }

    /// A connection that writes turns of some bytes as fast as it may.
    struct Heavy {
        tag: PaceTag,
        bytes: u64,
        wakes_ms: u64,
    }

    impl Heavy {
        /// Runs its turns of one millisecond, as long as it need not wait; returns the bytes that it writes.
        fn step(&mut self, pace: &Pace, now_ms: u64, next: Position) -> u64 {
            let mut bytes = 0;
            while self.wakes_ms <= now_ms && bytes < TURNS_BYTES_MAX {
                match pace.wait_ms(self.tag, next + bytes) {
                    Some(wait_ms) => self.wakes_ms = now_ms + wait_ms,
                    None => {
                        bytes += self.bytes;
                        pace.note_written(&mut self.tag, self.bytes, next + bytes);
                    }
                }
            }
            bytes
        }
    }

    #[test]
    fn without_a_goal_nobody_waits() {
        let clock_us = Arc::default();
        let pace = paced(&clock_us);
        let mut tag = PaceTag::default();
        assert!(!pace.is_on());
        pace.note_written(&mut tag, 1 << 40, 0);
        assert_eq!(pace.wait_ms(tag, 0), None);
        pace.set(Bound::Tail, goal(1 << 20, 1000), 0);
        assert!(pace.is_on());
        pace.note_written(&mut tag, 1 << 20, 0);
        assert_eq!(pace.wait_ms(tag, 0), Some(WAIT_MS_MAX));
        pace.set(Bound::Undurable, goal(1 << 10, 1), 0);
        pace.set(Bound::Tail, None, 0);
        assert!(pace.is_on());
        pace.set(Bound::Undurable, None, 0);
        assert!(!pace.is_on());
        assert_eq!(pace.wait_ms(tag, 0), None);
        pace.set(Bound::Tail, goal(1 << 20, 1000), 0);
        assert!(pace.wait_ms(tag, 0).is_some());
        pace.end();
        pace.set(Bound::Tail, goal(1 << 20, 1000), 0);
        assert_eq!((pace.is_on(), pace.wait_ms(tag, 0)), (false, None));
    }

    #[test]
    fn a_share_finds_back_from_a_bound_that_was_met() {
        let clock_us = Arc::default();
        let pace = paced(&clock_us);
        let mut tag = PaceTag::default();
        pace.set(Bound::Tail, goal(1 << 20, 100), 0);
        // Half a minute at the bound, with far too much written.
        for step in 0..3000 {
            clock_us.store(step * 10_000, Ordering::Relaxed);
            pace.note_written(&mut tag, 1 << 20, 2 << 20);
        }
        let now_us = clock_us.load(Ordering::Relaxed);
        let (since_us, due_us) = (now_us, now_us + 1_000_000);
        let goal = Goal { position: 100 << 20, since_us, due_us, bound: 200 << 20 };
        pace.set(Bound::Tail, Some(goal), 2 << 20);
        assert!(lock(&pace.state).share >= 1e-3, "at a bound nothing is learned");
        let mut fresh = PaceTag::default();
        for step in 1..=100 {
            clock_us.store(now_us + step * 10_000, Ordering::Relaxed);
            if pace.wait_ms(fresh, 2 << 20).is_none() {
                pace.note_written(&mut fresh, 1000, 2 << 20);
            }
        }
        // It is back at what one connection may write, which is all.
        assert!(lock(&pace.state).share > 0.5);
    }

    #[test]
    fn who_owes_little_goes_on_soon_after_a_bound_was_met() {
        let clock_us = Arc::default();
        let pace = paced(&clock_us);
        let mut tag = PaceTag::default();
        pace.set(Bound::Tail, goal(1 << 20, 100), 0);
        lock(&pace.state).share = 0.02;
        // Two seconds at the bound, in which nobody writes and many look.
        for step in 0..1000 {
            clock_us.store(step * 2000, Ordering::Relaxed);
            pace.wait_ms(tag, 2 << 20);
        }
        pace.note_written(&mut tag, 10_000, 2 << 20);
        let now_us = clock_us.load(Ordering::Relaxed);
        let goal = Goal { position: 102 << 20, since_us: now_us, due_us: now_us + 1_000_000, bound: 200 << 20 };
        pace.set(Bound::Tail, Some(goal), 2 << 20);
        clock_us.store(now_us + 20_000, Ordering::Relaxed);
        // Its share is 2 MB a second, or more by now.
        assert_eq!(pace.wait_ms(tag, 2 << 20), None);
    }

    #[test]
    fn the_slowest_goal_counts_and_a_late_one_slows_down_further() {
        let pace = paced(&Arc::default());
        assert_eq!(lock(&pace.state).rate(0, 0), None);
        pace.set(Bound::Undurable, goal(4 << 20, 1000), 0);
        pace.set(Bound::Tail, goal(6 << 20, 3000), 0);
        assert_eq!(lock(&pace.state).rate(0, 0), Some((2 << 20) as f64));
        let one = goal(8 << 20, 1000).unwrap();
        // Four seconds after it was set, it is taken to be due in one.
        assert_eq!(one.rate(4_000_000, 4 << 20), (4 << 20) as f64);
        assert_eq!(one.rate(8_000_000, 4 << 20), (2 << 20) as f64);
        // Beyond it, the rest up to the bound lasts as long, and half a second at least.
        let one = Goal { bound: 10 << 20, ..one };
        assert_eq!(one.rate(8_000_000, 9 << 20), (1 << 19) as f64);
        assert_eq!(one.rate(1_000_000, 9 << 20), (2 << 20) as f64);
        assert_eq!(one.rate(8_000_000, 10 << 20), 1.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Those who write as fast as they may come up to the goal in its time, and no farther than their turns are long;
        /// one that writes far less than its share waits next to nothing.
        #[test]
        fn a_goal_is_kept_and_who_writes_little_hardly_waits(
            turns in prop::collection::vec(500..5_000u64, 10..60),
            rate in 10_000_000..40_000_000u64,
            due_ms in 600..2_000u64,
        ) {
            let clock_us = Arc::default();
            let pace = paced(&clock_us);
            let position = rate * due_ms / 1000;
            pace.set(Bound::Tail, goal(position, due_ms), 0);
            let new = |bytes: &u64| Heavy { tag: PaceTag::default(), bytes: *bytes, wakes_ms: 0 };
            let mut heavy: Vec<Heavy> = turns.iter().map(new).collect();
            let (mut light, mut light_ms, mut next) = (PaceTag::default(), 0, 0);
            for now_ms in 0..due_ms {
                clock_us.store(now_ms * 1000, Ordering::Relaxed);
                if now_ms >= light_ms {
                    match pace.wait_ms(light, next) {
                        None => {
                            next += LIGHT_BYTES;
                            pace.note_written(&mut light, LIGHT_BYTES, next);
                            light_ms += LIGHT_MS;
                        }
                        Some(_) => prop_assert!(now_ms - light_ms < LIGHT_WAIT_MS_MAX),
                    }
                }
                for one in &mut heavy {
                    next += one.step(&pace, now_ms, next);
                }
            }
            let turns_bytes: u64 = turns.iter().sum();
            prop_assert!(next <= position + 2 * turns_bytes, "{} of {}", next, position);
            prop_assert!(next + 2 * turns_bytes >= position * 9 / 10, "{} of {}", next, position);
        }
    }
}
