//! Curves: a figure over the columns, latency by percentile, and the rate and memory over time.
//!
//! ```text
//!   ms  10 |         #          latency: both axes are logarithmic. To the right each step leaves out one request
//!        1 | # o #  o           in ten of those left: 50 %, 90 %, 99 %, 99.9 % ...
//!          +----------
//! ```
//!
//! Latencies of a side are medians over its turns, percentile by percentile. Over time, the turn with the median figure
//! stands for all.

use super::lines::{self, Axis, Series};
use super::words::{heading, significant, value_text};
use super::{Sides, column_words};
use crate::LabError;
use crate::results::{CellResults, Measurement, RowResults, Sample, TableResults};
use crate::scenario::Figure;
use crate::statistics::Summary;
use maud::{Markup, html};
use std::fmt::Write as _;

/// So many columns make a line worth drawing.
const COLUMNS_MIN: usize = 4;

/// The room of the slowest request beside the last percentile, in nines.
const SLOWEST_APART: f64 = 1.0;

/// A line over time has twice so many points at most: the least and the greatest of each interval.
const INTERVALS_MAX: usize = 60;

/// Draws the figure of a row over its columns, such as latency against load; `None` if they are few.
///
/// # Errors
/// It cannot be drawn.
pub(super) fn by_column(table: &TableResults, row: &RowResults, sides: &Sides) -> Result<Option<Markup>, LabError> {
    if table.columns.len() < COLUMNS_MIN {
        return Ok(None);
    }
    let name = row.figure.name();
    let is_time = name.ends_with("_ms");
    let place = |value: f64| if is_time { value.max(0.001).log10() } else { value };
    let mut names: Vec<&str> = Vec::new();
    row.cells.iter().filter(|cell| !cell.turns.is_empty()).for_each(|cell| {
        if !names.contains(&cell.side.as_str()) {
            names.push(&cell.side);
        }
    });
    let title = format!("{} by {}", heading(name), table.columns_what);
    let mut label = format!("Line chart. {title}.");
    let mut series = Vec::new();
    for side in names {
        write!(label, " {side}:").expect("a string takes all");
        let mut points = Vec::new();
        for (column, words) in table.columns.iter().enumerate() {
            let cell = row.cells.iter().find(|cell| cell.side == side && cell.column == column);
            let Some(summary) = cell.and_then(|cell| Summary::of(&cell.values(row.figure))) else { continue };
            write!(label, " {words} {};", value_text(name, summary.median)).expect("a string takes all");
            points.push((column as f64, place(summary.median)));
        }
        if !points.is_empty() {
            series.push(Series { name: side, side: sides.index(side), points });
        }
    }
    if series.is_empty() {
        return Ok(None);
    }
    let ticks = table.columns.iter().enumerate().map(|(column, words)| (column as f64, words.clone())).collect();
    let x = Axis { from: 0.0, to: (table.columns.len() - 1) as f64, ticks };
    let most = series.iter().flat_map(|one| &one.points).map(|point| point.1).fold(0.0, f64::max);
    let y = if is_time { decades(&series) } else { figure_axis(most, row.figure) };
    let svg = lines::draw(&label, &series, &x, &y, true)?;
    let unit = if is_time { "ms; " } else { "" };
    let better = if row.figure.higher_is_better() { "higher" } else { "lower" };
    let caption = html! { (title) " " span.quiet { "(" (unit) (better) " is better)" } };
    Ok(Some(html! { figure.chart data-chart="columns" { figcaption { (caption) } (svg) } }))
}

/// Draws the latencies of one column; `None` if none were measured.
///
/// # Errors
/// It cannot be drawn.
pub(super) fn latency(
    table: &TableResults,
    row: &RowResults,
    column: usize,
    sides: &Sides,
) -> Result<Option<Markup>, LabError> {
    let cells = row.cells.iter().filter(|cell| cell.column == column);
    let curves: Vec<(&CellResults, Vec<(f64, f64)>)> =
        cells.map(|cell| (cell, median_latency(cell))).filter(|(_, curve)| !curve.is_empty()).collect();
    if curves.is_empty() {
        return Ok(None);
    }
    let title = titled("Latency", table, column);
    let mut label = format!("Line chart. {title}, in milliseconds by percentile.");
    for (cell, curve) in &curves {
        write!(label, " {}:", cell.side).expect("a string takes all");
        for (quantile, ms) in curve {
            write!(label, " {} {};", quantile_text(*quantile), significant(*ms)).expect("a string takes all");
        }
    }
    let finest = curves.iter().flat_map(|(_, curve)| curve).filter(|point| point.0 < 1.0);
    let end = finest.map(|point| nines(point.0)).fold(0.0, f64::max) + SLOWEST_APART;
    let place = |(quantile, ms): (f64, f64)| (if quantile < 1.0 { nines(quantile) } else { end }, ms.log10());
    let series: Vec<Series> = curves
        .iter()
        .map(|(cell, curve)| Series {
            name: &cell.side,
            side: sides.index(&cell.side),
            points: curve.iter().copied().map(place).collect(),
        })
        .collect();
    let svg = lines::draw(&label, &series, &percentiles(&curves, end), &decades(&series), true)?;
    Ok(Some(figure("latency", column, html! { (title) " " span.quiet { "(ms by percentile; lower is better)" } }, svg)))
}

/// Draws the rate and the memory of one column over time, where they were sampled.
///
/// # Errors
/// They cannot be drawn.
pub(super) fn timelines(
    table: &TableResults,
    row: &RowResults,
    column: usize,
    sides: &Sides,
) -> Result<Vec<Markup>, LabError> {
    let rate = |sample: &Sample| sample.requests_per_s;
    let memory = |sample: &Sample| sample.rss_bytes as f64;
    let mut charts = Vec::new();
    for (kind, title, figure_name, value) in [
        ("rate", "Rate over time", Figure::RequestsPerS, &rate as &dyn Fn(&Sample) -> f64),
        ("memory", "Memory over time", Figure::RssBytes, &memory),
    ] {
        let series: Vec<Series> = row
            .cells
            .iter()
            .filter(|cell| cell.column == column)
            .filter_map(|cell| Some((cell, median_turn(cell, row.figure)?)))
            .map(|(cell, turn)| Series {
                name: &cell.side,
                side: sides.index(&cell.side),
                points: thinned(turn.timeline.iter().map(|sample| (sample.second, value(sample))).collect()),
            })
            .filter(|series| series.points.iter().any(|point| point.1 > 0.0))
            .collect();
        if series.is_empty() {
            continue;
        }
        let title = titled(title, table, column);
        let label = timeline_label(&title, &series, figure_name);
        let end =
            |axis: fn(&(f64, f64)) -> f64| series.iter().flat_map(|one| &one.points).map(axis).fold(0.0, f64::max);
        let (seconds, most) = (end(|point| point.0), end(|point| point.1));
        let x = even_axis(seconds, 1.0, |second| format!("{} s", significant(second)));
        let y = figure_axis(most, figure_name);
        let svg = lines::draw(&label, &series, &Axis { to: seconds, ..x }, &y, false)?;
        charts.push(figure(kind, column, html! { (title) }, svg));
    }
    Ok(charts)
}

fn figure(kind: &str, column: usize, caption: Markup, svg: Markup) -> Markup {
    html! {
        figure.chart data-chart=(kind) data-column=(column) {
            figcaption { (caption) }
            (svg)
        }
    }
}

fn titled(what: &str, table: &TableResults, column: usize) -> String {
    match column_words(table, column) {
        words if words.is_empty() => what.to_owned(),
        words => format!("{what}, {words}"),
    }
}

/// Returns the median of the turns for each percentile that the first of them has.
fn median_latency(cell: &CellResults) -> Vec<(f64, f64)> {
    let first = cell.turns.iter().find(|turn| !turn.latency.is_empty());
    let quantiles = first.iter().flat_map(|turn| &turn.latency).map(|point| point.0);
    let median = |quantile: f64| {
        let points = cell.turns.iter().flat_map(|turn| &turn.latency).filter(|point| point.0 == quantile);
        // A latency of zero has no logarithm.
        let values: Vec<f64> = points.map(|point| point.1).filter(|ms| *ms > 0.0).collect();
        Some((quantile, Summary::of(&values)?.median))
    };
    quantiles.filter(|quantile| (0.0..=1.0).contains(quantile)).filter_map(median).collect()
}

/// Returns the turn with a timeline whose figure is nearest to the median of all turns.
fn median_turn(cell: &CellResults, figure: Figure) -> Option<&Measurement> {
    let median = Summary::of(&cell.values(figure)).map_or(0.0, |summary| summary.median);
    let distance = |turn: &&Measurement| turn.figure(figure).map_or(f64::INFINITY, |value| (value - median).abs());
    let sampled = cell.turns.iter().filter(|turn| !turn.timeline.is_empty());
    sampled.min_by(|one, other| distance(one).total_cmp(&distance(other)))
}

/// Returns the least and the greatest of each interval of time, so that no stall and no peak is lost.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= 2 * INTERVALS_MAX {
        return points;
    }
    let extremes = |chunk: &[(f64, f64)]| {
        let least = chunk.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1))?;
        let most = chunk.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(if least.0 <= most.0 { [least, most] } else { [most, least] })
    };
    points.chunks(points.len().div_ceil(INTERVALS_MAX)).filter_map(extremes).flatten().collect()
}

/// Returns how many nines a quantile has: 1 for 0.9, 2 for 0.99.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).log10()
}

/// Returns `99.9 %`.
fn quantile_text(quantile: f64) -> String {
    if quantile >= 1.0 {
        return "slowest".to_owned();
    }
    // Rounded where doubles end, so that 0.999 is not 99.90000000000001 %.
    let percent = format!("{:.6}", quantile * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

fn percentiles(curves: &[(&CellResults, Vec<(f64, f64)>)], end: f64) -> Axis {
    let points = || curves.iter().flat_map(|(_, curve)| curve).map(|point| point.0);
    let has_slowest = points().any(|quantile| quantile >= 1.0);
    let from = points().filter(|quantile| *quantile < 1.0).map(nines).fold(f64::INFINITY, f64::min).min(end);
    let last = if has_slowest { end } else { end - SLOWEST_APART };
    let usual = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];
    let inside = |quantile: &f64| nines(*quantile) >= from - 1e-9 && nines(*quantile) <= end - SLOWEST_APART + 1e-9;
    let mut ticks: Vec<_> =
        usual.into_iter().filter(inside).map(|quantile| (nines(quantile), quantile_text(quantile))).collect();
    if has_slowest {
        ticks.push((end, "slowest".to_owned()));
    }
    Axis { from, to: last, ticks }
}

/// Returns an axis of decimal logarithms from values that are such already, with ticks at 1, 2 and 5 if it is short.
fn decades(series: &[Series]) -> Axis {
    let values = || series.iter().flat_map(|one| &one.points).map(|point| point.1);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let factors: &[f64] = if most - least > 2.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let steps: Vec<(f64, String)> = (-7..10)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)))
        .map(|value| (value.log10(), significant(value)))
        .collect();
    let below = steps.iter().rposition(|step| step.0 <= least + 1e-9).unwrap_or(0);
    let above = steps.iter().position(|step| step.0 >= most - 1e-9).unwrap_or(steps.len() - 1);
    let above = above.max(below + 1).min(steps.len() - 1);
    Axis { from: steps[below].0, to: steps[above].0, ticks: steps[below..=above].to_vec() }
}

/// Returns an axis from zero to a round number of units not below the greatest value, in one to five even steps.
fn even_axis(most: f64, unit: f64, text: impl Fn(f64) -> String) -> Axis {
    let most = most / unit;
    let rough = (most / 4.0).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(most.max(1.0));
    let count = (most / step - 1e-9).ceil().max(1.0) as usize;
    let ticks = (0..=count).map(|index| index as f64 * step * unit);
    Axis { from: 0.0, to: count as f64 * step * unit, ticks: ticks.map(|value| (value, text(value))).collect() }
}

/// Returns an even axis of a figure. Bytes are shown in MiB, so that is what their steps are counted in.
fn figure_axis(most: f64, figure: Figure) -> Axis {
    let is_in_mib = value_text(figure.name(), most).ends_with("MiB");
    even_axis(most, if is_in_mib { 1_048_576.0 } else { 1.0 }, |value| value_text(figure.name(), value))
}

fn timeline_label(title: &str, series: &[Series], figure: Figure) -> String {
    let mut text = format!("Line chart. {title}.");
    for one in series {
        let values = || one.points.iter().map(|point| point.1);
        let shown = |value: f64| value_text(figure.name(), value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let last = values().next_back().unwrap_or(0.0);
        write!(text, " {}: {} to {}, at the end {}.", one.name, shown(least), shown(most), shown(last))
            .expect("a string takes all");
    }
    text
}

/// Returns the number of charts that all curves of a row would take, about.
pub(super) fn count(row: &RowResults) -> usize {
    let columns = |is_there: fn(&Measurement) -> bool| columns_with(row, is_there).len();
    columns(|turn| !turn.latency.is_empty()) + 2 * columns(|turn| !turn.timeline.is_empty())
}

/// Returns the columns whose curves are drawn: all that have any, or the last of these.
pub(super) fn columns(row: &RowResults, all: bool) -> Vec<usize> {
    let there = columns_with(row, |turn| !turn.latency.is_empty() || !turn.timeline.is_empty());
    if all { there } else { there.last().copied().into_iter().collect() }
}

fn columns_with(row: &RowResults, is_there: fn(&Measurement) -> bool) -> Vec<usize> {
    let cells = row.cells.iter().filter(|cell| cell.turns.iter().any(is_there));
    let mut columns: Vec<usize> = cells.map(|cell| cell.column).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Draws the curves of a row: latency first, then those over time, column by column.
///
/// # Errors
/// They cannot be drawn.
pub(super) fn of_row(
    table: &TableResults,
    row: &RowResults,
    columns: &[usize],
    sides: &Sides,
) -> Result<Vec<Markup>, LabError> {
    let mut charts = Vec::new();
    for column in columns {
        charts.extend(latency(table, row, *column, sides)?);
        charts.extend(timelines(table, row, *column, sides)?);
    }
    Ok(charts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_named_without_rounding_errors() {
        let texts = [0.5, 0.999, 0.99999, 1.0].map(quantile_text);
        assert_eq!(texts, ["50 %", "99.9 %", "99.999 %", "slowest"]);
    }

    #[test]
    fn an_even_axis_ends_at_or_above_the_greatest_value() {
        for most in [0.0, 0.3, 1.0, 7.0, 52_100.0, 99_999.0] {
            let axis = even_axis(most, 1.0, significant);
            assert!(axis.to >= most && axis.to <= (most * 2.0).max(1.0), "{most}: {}", axis.to);
            assert!((2..=6).contains(&axis.ticks.len()), "{most}: {:?}", axis.ticks);
        }
    }

    #[test]
    fn thinning_keeps_stalls_and_peaks() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|second| (f64::from(second), 100.0)).collect();
        (points[4321].1, points[7000].1) = (0.0, 900.0);
        let thin = thinned(points);
        assert!(thin.len() <= 2 * INTERVALS_MAX);
        assert!(thin.contains(&(4321.0, 0.0)) && thin.contains(&(7000.0, 900.0)));
        assert!(thin.is_sorted_by(|one, other| one.0 <= other.0));
    }

    #[test]
    fn latency_is_the_median_of_turns_at_each_percentile() {
        let turn = |ms: f64| Measurement { latency: vec![(0.5, ms), (0.99, ms * 10.0)], ..Measurement::default() };
        let cell = CellResults { turns: vec![turn(1.0), turn(3.0), turn(2.0)], ..CellResults::default() };
        assert_eq!(median_latency(&cell), [(0.5, 2.0), (0.99, 20.0)]);
    }
}
