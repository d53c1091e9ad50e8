//! A side's figure beside the baseline's: the ratio in words, and which is ahead.
//!
//! ```text
//!   ratio  side / baseline     0.40 × the memory        2.31 × the rate
//!   lead   above 1: ahead      2.5 (less is better)     2.31 (more is better)
//! ```

use super::words::times_text;
use crate::report::ratio_noun;
use crate::results::{CellResults, RowResults};
use crate::scenario::Figure;
use crate::statistics::{Interval, Summary, is_within_noise, ratio_interval};
use maud::{Markup, html};

/// The side that is ahead, if the turns show one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Ahead,
    Behind,
    /// The turns do not show which is ahead.
    Unclear,
    /// There are too few turns to show anything.
    TooFew,
}

/// The ratio of one side's median to the baseline's.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideRatio {
    pub(super) figure: Figure,
    pub(super) ratio: f64,
    /// The interval of the ratio; absent with too few turns.
    pub(super) interval: Option<Interval>,
    /// The factor by which the side is ahead; below 1 it is behind.
    pub(super) lead: f64,
    pub(super) verdict: Verdict,
    /// True if the turns of either side differ too much.
    pub(super) is_noisy: bool,
}

impl SideRatio {
    /// Compares two sides in one column of a row; `None` if either has no figure or the baseline's is zero.
    pub(super) fn of(row: &RowResults, column: usize, side: &str, baseline: &str, figure: Figure) -> Option<Self> {
        let values = |label| cell(row, column, label).map(|cell| cell.values(figure)).unwrap_or_default();
        Self::between(&values(side), &values(baseline), figure).filter(|_| side != baseline)
    }

    fn between(first: &[f64], second: &[f64], figure: Figure) -> Option<Self> {
        let (ours, theirs) = (Summary::of(first)?, Summary::of(second)?);
        let is_noisy = ours.is_noisy() || theirs.is_noisy();
        let ratio = ours.median / theirs.median;
        if !ratio.is_finite() || ratio < 0.0 {
            return None;
        }
        let lead = if figure.higher_is_better() { ratio } else { 1.0 / ratio };
        let verdict = match is_within_noise(first, second) {
            None => Verdict::TooFew,
            Some(true) => Verdict::Unclear,
            _ if lead > 1.0 => Verdict::Ahead,
            _ if lead < 1.0 => Verdict::Behind,
            _ => Verdict::Unclear,
        };
        Some(Self { figure, ratio, interval: ratio_interval(first, second), lead, verdict, is_noisy })
    }

    /// Returns `2.31 × the rate`.
    pub(super) fn words(&self) -> String {
        format!("{} {}", times_text(self.ratio), ratio_noun(self.figure))
    }
}

impl Verdict {
    /// Returns the mark that stands beside a ratio, with its meaning for readers who do not see it.
    pub(super) fn mark(self) -> Markup {
        let (class, sign, words) = match self {
            Self::Ahead => ("ahead", "▲", "ahead"),
            Self::Behind => ("behind", "▼", "behind"),
            Self::Unclear => ("unclear", "≈", "no clear difference"),
            Self::TooFew => ("unclear", "?", "too few turns"),
        };
        html! { span class=(class) { span aria-hidden="true" { (sign) } " " (words) } }
    }
}

/// Returns the cell of a side in a column.
pub(super) fn cell<'a>(row: &'a RowResults, column: usize, side: &str) -> Option<&'a CellResults> {
    row.cells.iter().find(|cell| cell.column == column && cell.side == side)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(first: &[f64], second: &[f64], figure: Figure) -> SideRatio {
        SideRatio::between(first, second, figure).unwrap()
    }

    #[test]
    fn a_higher_rate_is_ahead() {
        let compared = between(&[20.0; 3], &[10.0; 3], Figure::RequestsPerS);
        assert_eq!((compared.words().as_str(), compared.verdict), ("2.00 × the rate", Verdict::Ahead));
    }

    #[test]
    fn more_memory_is_behind() {
        let compared = between(&[20.0; 3], &[10.0; 3], Figure::RssBytes);
        assert_eq!((compared.words().as_str(), compared.verdict), ("2.00 × the memory", Verdict::Behind));
        assert!((compared.lead - 0.5).abs() < 1e-12);
    }

    #[test]
    fn noise_is_no_clear_difference() {
        let compared = between(&[9.0, 10.0, 11.0], &[9.0, 10.1, 12.0], Figure::RequestsPerS);
        assert_eq!((compared.verdict, compared.is_noisy), (Verdict::Unclear, true));
    }

    #[test]
    fn few_turns_have_a_ratio_and_no_verdict() {
        let compared = between(&[9.0], &[10.0], Figure::RequestsPerS);
        assert_eq!((compared.verdict, compared.interval), (Verdict::TooFew, None));
        assert_eq!(compared.words(), "0.90 × the rate");
    }

    #[test]
    fn a_zero_baseline_has_no_ratio() {
        assert!(SideRatio::between(&[1.0], &[0.0], Figure::RequestsPerS).is_none());
        assert!(SideRatio::between(&[0.0], &[0.0], Figure::RequestsPerS).is_none());
    }
}
