//! Latency histogram of a command's calls: the source of INFO's `latencystats`.
//!
//! ```text
//! | 0 .. 63 ns, one each 4 ns | 64 ns .. | 128 ns .. | 256 ns .. | ... | 8.6 s and more |
//!                               each power of two in 16 steps: a figure is right to 6 %
//! ```
//!
//! One per command and worker, allocated at the first call, with one writer.

use crate::counters::Counter;
use std::sync::OnceLock;

/// Steps per power of two.
const STEPS: usize = 16;
/// Powers of two below 2^[`FIRST`] nanoseconds share its steps.
const FIRST: u32 = 6;
const POWERS: usize = 28;

/// Calls by how long they took.
#[derive(Default)]
pub struct Latency {
    counts: OnceLock<Box<[Counter; POWERS * STEPS]>>,
}

impl Latency {
    /// Counts a call of `took_ns` nanoseconds; by its one writer only.
    #[inline]
    pub fn add(&self, took_ns: u64) {
        let counts = self.counts.get_or_init(|| Box::new(std::array::from_fn(|_| Counter::default())));
        counts[step_of(took_ns)].add(1);
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = &Counter> {
        self.counts.get().into_iter().flat_map(|counts| counts.iter())
    }
}

/// Returns the latencies in nanoseconds within which such a `share` of all calls completed; `None` without a call.
pub fn percentiles_ns<'a, const N: usize>(
    all: impl Iterator<Item = &'a Latency>,
    shares: [f64; N],
) -> Option<[u64; N]> {
    // Most commands are never called, and INFO asks for each.
    let mut called = all.filter(|latency| latency.counts.get().is_some()).peekable();
    called.peek()?;
    let mut sums = vec![0u64; POWERS * STEPS];
    for latency in called {
        latency.counters().zip(&mut sums).for_each(|(counter, sum)| *sum += counter.get());
    }
    let calls: u64 = sums.iter().sum();
    (calls > 0).then(|| {
        shares.map(|share| {
            let wanted = ((calls as f64 * share).ceil() as u64).clamp(1, calls);
            let mut seen = 0;
            let step = sums.iter().position(|sum| {
                seen += sum;
                seen >= wanted
            });
            end_ns_of(step.expect("the last step has seen all calls"))
        })
    })
}

/// Returns how many calls took at most this many microseconds, at those powers of two (1.024 µs, 2.048 µs, ...) where
/// the number grows.
pub fn by_powers_us<'a>(all: impl Iterator<Item = &'a Latency>) -> Vec<(u64, u64)> {
    let mut sums = [0; POWERS];
    for latency in all {
        latency.counters().enumerate().for_each(|(step, counter)| sums[step / STEPS] += counter.get());
    }
    let (mut calls, mut counts) = (0, Vec::new());
    for (power, sum) in sums.into_iter().enumerate() {
        calls += sum;
        let us = (1u64 << (power as u32 + FIRST)) / 1000;
        if us > 0 && counts.last().map_or(0, |(_, before)| *before) < calls {
            counts.push((us, calls));
        }
    }
    counts
}

fn step_of(ns: u64) -> usize {
    let power = (u64::BITS - 1 - (ns | 1).leading_zeros()).max(FIRST - 1);
    let within = if power < FIRST { ns >> (FIRST - 4) } else { (ns >> (power - 4)) & (STEPS as u64 - 1) };
    ((power + 1 - FIRST) as usize * STEPS + within as usize).min(POWERS * STEPS - 1)
}

/// Returns the end of a step.
fn end_ns_of(step: usize) -> u64 {
    let (power, within) = ((step / STEPS) as u32, (step % STEPS) as u64 + 1);
    match power {
        0 => within << (FIRST - 4),
        _ => (STEPS as u64 + within) << (power - 1 + FIRST - 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_contiguous_and_at_most_a_sixteenth_wide() {
        let mut before = 0;
        for step in 0..POWERS * STEPS {
            let end = end_ns_of(step);
            assert_eq!((step_of(before), step_of(end - 1)), (step, step), "{before} to {end}");
            assert!(end - before <= (before / STEPS as u64).max(4), "{before} to {end}");
            before = end;
        }
        assert!(before > 8_000_000_000);
        assert_eq!(step_of(u64::MAX), POWERS * STEPS - 1);
    }

    #[test]
    fn buckets_of_powers_of_two_are_cumulative() {
        let (one, other) = (Latency::default(), Latency::default());
        assert!(by_powers_us([&one, &other].into_iter()).is_empty());
        [50, 900, 1_100, 100_000].into_iter().for_each(|ns| one.add(ns));
        other.add(5_000_000_000);
        let expected = [(1, 2), (2, 3), (131, 4), (8_589_934, 5)];
        assert_eq!(by_powers_us([&one, &other].into_iter()), expected);
    }

    #[test]
    fn percentiles_merge_all_writers() {
        let (one, other) = (Latency::default(), Latency::default());
        assert_eq!(percentiles_ns([&one, &other].into_iter(), [0.5]), None);
        (0..990).for_each(|_| one.add(1_000));
        (0..9).for_each(|_| other.add(50_000));
        other.add(3_000_000);
        let [half, most, nearly_all, all] =
            percentiles_ns([&one, &other].into_iter(), [0.5, 0.99, 0.999, 1.0]).expect("calls");
        let is_about = |reported_ns: u64, ns: u64| (ns..=ns + ns / 15).contains(&reported_ns);
        assert!(is_about(half, 1_000) && is_about(most, 1_000), "{half} {most}");
        assert!(is_about(nearly_all, 50_000) && is_about(all, 3_000_000), "{nearly_all} {all}");
    }
}
