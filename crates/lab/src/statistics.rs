//! Statistics of the turns of a cell: the median, its interval, and whether two cells differ by more than noise.
//!
//! ```text
//!  turns 52 50 57 --> sorted 50 52 57 --> median 52
//!           '--> draw three with replacement, 2,000 times --> 2,000 medians, sorted
//!                                                             |-- 2.5 % --|== the interval ==|-- 2.5 % --|
//! ```
//!
//! This is the percentile bootstrap; for an odd number of turns, the limit of very many draws is computed. It assumes nothing
//! about how turns are distributed, only that they are independent of each other. With five turns or fewer the interval reaches
//! from the least to the greatest: readers are told of a range then, not of 95 %.
//! The seed is fixed, so one set of turns has one interval.

/// With fewer turns nobody can tell a difference from noise.
pub(crate) const TURNS_MIN: usize = 3;

/// With more turns than this an interval of 95 % leaves turns out; with so many or fewer it is the range of all turns.
pub(crate) const RANGE_TURNS_MAX: usize = 5;

/// A cell whose turns differ by more than this share of their median is noisy.
pub(crate) const NOISY_SHARE: f64 = 0.10;

/// Up to so many turns, if their number is odd, the distribution of the median is computed instead of drawn.
const EXACT_TURNS_MAX: i32 = 99;
const RESAMPLES: usize = 2000;
const SEED: u64 = 1;
/// The share of values that a 95 % interval leaves out at either end.
const TAIL: f64 = 0.025;

/// The distribution of one figure over the turns of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    /// The ends of the 95 % interval of the median.
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) count: usize,
}

/// The ends of a 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Summary {
    /// Summarizes turns; `None` if there is no finite value.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let sorted = sorted(values);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let Interval { low, high } = Resampling::of(&sorted).interval()?;
        Some(Self { median: median_of_sorted(&sorted), low, high, min, max, count: sorted.len() })
    }

    /// Returns the distance of the least turn from the greatest, as a share of the median; 0 if the median is 0.
    pub(crate) fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.max - self.min) / self.median.abs() }
    }

    /// Returns true if the turns differ too much to be trusted to a few percent.
    pub(crate) fn is_noisy(&self) -> bool {
        self.spread() > NOISY_SHARE
    }
}

impl Interval {
    /// Returns the interval that holds 95 % of the values; `None` if there are none.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let low = (TAIL * last as f64).floor() as usize;
        Some(Self { low: values[low], high: values[last - low] })
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// Returns the 95 % interval of the ratio of the medians, first to second; `None` if there are too few turns, or if the
/// second has a turn that is not above zero.
pub(crate) fn ratio_interval(first: &[f64], second: &[f64]) -> Option<Interval> {
    let (first, second) = (sorted(first), sorted(second));
    if first.len().min(second.len()) < TURNS_MIN || second[0] <= 0.0 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(SEED);
    let (first, second) = (Resampling::of(&first), Resampling::of(&second));
    let ratio = |_| first.median(&mut random) / second.median(&mut random);
    Interval::of((0..RESAMPLES).map(ratio).collect())
}

/// Returns true if the turns of two cells do not show which is greater; `None` if there are too few turns to tell.
pub(crate) fn is_within_noise(first: &[f64], second: &[f64]) -> Option<bool> {
    ratio_interval(first, second).map(|interval| interval.contains(1.0))
}

/// Returns the middle value, or the mean of the two in the middle.
///
/// # Panics
/// There are no values.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { f64::midpoint(sorted[middle - 1], sorted[middle]) } else { sorted[middle] }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The medians of as many draws as there are values, with replacement.
struct Resampling<'s> {
    sorted: &'s [f64],
    /// For an odd number of values: the probability that the median is at most the value of each index.
    at_most: Vec<f64>,
}

impl<'s> Resampling<'s> {
    fn of(sorted: &'s [f64]) -> Self {
        let count = sorted.len() as i32;
        let is_exact = count % 2 == 1 && count <= EXACT_TURNS_MAX;
        // The median of an odd number of draws is at most a value if more than half of the draws are.
        let at_most = |index: i32| at_least(count, f64::from(index + 1) / f64::from(count), count / 2 + 1);
        Self { sorted, at_most: if is_exact { (0..count).map(at_most).collect() } else { Vec::new() } }
    }

    /// Returns one such median.
    fn median(&self, random: &mut fastrand::Rng) -> f64 {
        if !self.at_most.is_empty() {
            return self.quantile(random.f64());
        }
        let draw = |_| self.sorted[random.usize(..self.sorted.len())];
        let mut drawn: Vec<f64> = (0..self.sorted.len()).map(draw).collect();
        drawn.sort_by(f64::total_cmp);
        median_of_sorted(&drawn)
    }

    /// Returns the interval that holds 95 % of the medians; `None` if there are no values.
    fn interval(&self) -> Option<Interval> {
        if !self.at_most.is_empty() {
            return Some(Interval { low: self.quantile(TAIL), high: self.quantile(1.0 - TAIL) });
        }
        let mut random = fastrand::Rng::with_seed(SEED);
        let resamples = if self.sorted.is_empty() { 0 } else { RESAMPLES };
        Interval::of((0..resamples).map(|_| self.median(&mut random)).collect())
    }

    /// Returns the value that this share of medians does not exceed.
    fn quantile(&self, share: f64) -> f64 {
        let index = self.at_most.partition_point(|at_most| *at_most <= share);
        self.sorted[index.min(self.sorted.len() - 1)]
    }
}

/// Returns the probability of at least `least` successes in `count` trials, each of which succeeds with `probability`.
fn at_least(count: i32, probability: f64, least: i32) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for successes in 0..=count {
        if successes >= least {
            sum += ways * probability.powi(successes) * (1.0 - probability).powi(count - successes);
        }
        ways *= f64::from(count - successes) / f64::from(successes + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(count: u32) -> Vec<f64> {
        (1..=count).map(f64::from).collect()
    }

    #[test]
    fn three_turns_have_an_interval_from_least_to_greatest() {
        let summary = Summary::of(&[52.0, 50.0, 57.0]).unwrap();
        assert_eq!(summary, Summary { median: 52.0, low: 50.0, high: 57.0, min: 50.0, max: 57.0, count: 3 });
        assert!(summary.is_noisy());
        assert!((summary.spread() - 7.0 / 52.0).abs() < 1e-12);
    }

    /// A resampled median of eleven is at most the k-th value if six draws or more are: P(Binomial(11, k/11) >= 6) is
    /// 0.006 for k = 2 and 0.044 for k = 3, so the 2.5 % quantile is the third value, and by symmetry the ninth.
    #[test]
    fn eleven_turns_have_the_interval_that_binomials_give() {
        let summary = Summary::of(&rising(11)).unwrap();
        assert_eq!((summary.median, summary.low, summary.high), (6.0, 3.0, 9.0));
    }

    /// Five draws of five have the least as their median if three or more are the least: 5.8 %, of which 2.5 % are cut off.
    #[test]
    fn up_to_five_turns_the_interval_is_the_range() {
        for count in 1..=RANGE_TURNS_MAX as u32 {
            let summary = Summary::of(&rising(count)).unwrap();
            assert_eq!((summary.low, summary.high), (1.0, f64::from(count)), "{count}");
        }
        let summary = Summary::of(&rising(RANGE_TURNS_MAX as u32 + 1)).unwrap();
        assert!(summary.low > 1.0 && summary.high < 6.0);
    }

    /// The computed distribution is that of draws.
    #[test]
    fn computed_medians_are_as_frequent_as_drawn_ones() {
        let values = rising(7);
        let computed = Resampling::of(&values);
        let drawn = Resampling { sorted: &values, at_most: Vec::new() };
        let mut random = fastrand::Rng::with_seed(3);
        for value in &values {
            let mut share = |resampling: &Resampling<'_>| {
                (0..20_000).filter(|_| resampling.median(&mut random) <= *value).count() as f64 / 20_000.0
            };
            let (computed, drawn) = (share(&computed), share(&drawn));
            assert!((computed - drawn).abs() < 0.02, "{value}: {computed} {drawn}");
        }
    }

    #[test]
    fn one_turn_has_an_interval_of_no_width() {
        let summary = Summary::of(&[3.0]).unwrap();
        assert_eq!((summary.low, summary.high, summary.count), (3.0, 3.0, 1));
        assert!(!summary.is_noisy());
    }

    #[test]
    fn no_finite_turn_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN, f64::INFINITY]), None);
    }

    #[test]
    fn an_interval_is_the_same_each_time() {
        let values = [3.0, 9.0, 4.0, 7.0, 1.0, 8.0];
        assert_eq!(Summary::of(&values), Summary::of(&values));
        assert_eq!(ratio_interval(&values, &rising(5)), ratio_interval(&values, &rising(5)));
    }

    #[test]
    fn a_clear_difference_is_not_noise() {
        let (fast, slow) = ([20.0, 21.0, 22.0], [10.0, 10.5, 11.0]);
        assert_eq!(is_within_noise(&fast, &slow), Some(false));
        assert_eq!(is_within_noise(&slow, &fast), Some(false));
        let interval = ratio_interval(&fast, &slow).unwrap();
        assert_eq!((interval.low, interval.high), (20.0 / 11.0, 22.0 / 10.0));
    }

    #[test]
    fn overlapping_turns_are_noise() {
        assert_eq!(is_within_noise(&[10.0, 12.0, 14.0], &[11.0, 12.5, 13.0]), Some(true));
        assert_eq!(is_within_noise(&[5.0; 3], &[5.0; 3]), Some(true));
    }

    #[test]
    fn two_turns_are_too_few_to_tell() {
        assert_eq!(is_within_noise(&[1.0, 1.0], &[9.0, 9.0, 9.0]), None);
        assert_eq!(is_within_noise(&[1.0, 1.0, 1.0], &[]), None);
    }

    #[test]
    fn a_ratio_to_zero_has_no_interval() {
        assert_eq!(ratio_interval(&[1.0; 3], &[0.0, 1.0, 1.0]), None);
    }
}
