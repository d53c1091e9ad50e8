//! The summary: a line for each table, with the subject's worst ratio beside its best.
//!
//! ```text
//!  question        worst                          best                     cells               elsewhere
//!  Pages of lists  0.62 × the rate  ▼ behind      17.1 × the rate          ▲ 31 ahead          p99: 1.30 × the time
//!                  HSET, 10,000 items             last page, 10^7 items    ▼ 6 behind ...      memory: 1.20 × ...
//! ```
//!
//! The last column is there so that a good rate cannot hide a bad latency, much CPU or much memory.

use super::comparison::{SideRatio, Verdict};
use super::words::{counted, heading};
use super::{Address, column_words, row_name, table_name};
use crate::results::{Results, RowResults, ScenarioResults, TableResults};
use crate::scenario::Figure;
use maud::{Markup, html};

/// The figures that are compared beside a row's own.
const BESIDE: [Figure; 3] = [Figure::P99Ms, Figure::CpuUsPerRequest, Figure::RssBytes];

/// The headings of the columns, which a phone shows in each line.
const WORST: &str = "Worst cell";
const BEST: &str = "Best cell";
const ALL: &str = "All cells";
const BESIDE_WORST: &str = "Other figures, at their worst";

/// A comparison and the cell it is of.
#[derive(Clone, Copy)]
struct RatioAt<'a> {
    comparison: SideRatio,
    row: &'a RowResults,
    place: Address,
    column: usize,
}

/// How the subject does in a table.
struct Standing<'a> {
    scenario: &'a ScenarioResults,
    table: &'a TableResults,
    place: Address,
    found: Vec<RatioAt<'a>>,
    /// Cells of the subject that cannot be compared, because a figure of either side is missing.
    missing: usize,
    /// The worst of each figure of [`BESIDE`] that was measured.
    beside: Vec<RatioAt<'a>>,
    /// The worst against a peer that is not the baseline, if it is worse than the worst against that.
    other: Option<(&'a str, RatioAt<'a>)>,
}

/// Returns the summary of a run.
pub(super) fn section(results: &Results) -> Markup {
    let standings: Vec<Standing> = results
        .scenarios
        .iter()
        .enumerate()
        .flat_map(|(index, scenario)| {
            let place = Address::scenario(index);
            scenario
                .tables
                .iter()
                .enumerate()
                .map(move |(index, table)| standing(results, scenario, table, place.table(index)))
        })
        .collect();
    html! {
        section.summary aria-labelledby="summary" {
            h2 id="summary" tabindex="-1" { "Summary" }
            @if standings.is_empty() {
                p { "Nothing was measured." }
            } @else {
                p.headline { (headline(&standings)) }
                div.scroll role="region" aria-labelledby="summary" tabindex="0" {
                    table.standings {
                        thead {
                            tr {
                                th scope="col" { "Question" }
                                th scope="col" { (WORST) }
                                th scope="col" { (BEST) }
                                th scope="col" { (ALL) }
                                th scope="col" { (BESIDE_WORST) }
                            }
                        }
                        tbody { @for standing in &standings { (line(standing)) } }
                    }
                }
            }
        }
    }
}

fn standing<'a>(
    results: &'a Results,
    scenario: &'a ScenarioResults,
    table: &'a TableResults,
    place: Address,
) -> Standing<'a> {
    let against = |figure: Option<Figure>, baseline: &'a str| {
        let of_row = move |(index, row): (usize, &'a RowResults)| {
            let place = place.row(index);
            (0..table.columns.len()).map(move |column| {
                // A row's own figure is not compared a second time.
                let figure = match figure {
                    Some(beside) if beside == row.figure => None,
                    Some(beside) => Some(beside),
                    None => Some(row.figure),
                };
                let comparison =
                    figure.and_then(|figure| SideRatio::of(row, column, &scenario.subject, baseline, figure));
                comparison.map(|comparison| RatioAt { comparison, row, place, column })
            })
        };
        table.rows.iter().enumerate().flat_map(of_row)
    };
    let cells = |figure| against(figure, &scenario.baseline);
    let all: Vec<Option<RatioAt>> = cells(None).collect();
    let other = peers(results, scenario)
        .filter_map(|peer| Some((peer, worst(against(None, peer).flatten())?)))
        .min_by(|(_, one), (_, another)| one.comparison.lead.total_cmp(&another.comparison.lead));
    let worst_lead = worst(all.iter().flatten().copied()).map_or(f64::INFINITY, |found| found.comparison.lead);
    let beside = BESIDE.into_iter().filter_map(|figure| worst(cells(Some(figure)).flatten()));
    Standing {
        scenario,
        table,
        place,
        missing: all.iter().filter(|found| found.is_none()).count(),
        found: all.into_iter().flatten().collect(),
        beside: beside.collect(),
        other: other.filter(|(_, found)| found.comparison.lead < worst_lead),
    }
}

/// Returns the sides of other programs than the subject's that are not the baseline.
fn peers<'a>(results: &'a Results, scenario: &'a ScenarioResults) -> impl Iterator<Item = &'a str> {
    let program = |label: &str| results.sides.iter().find(|side| side.label == label).map(|side| side.program.as_str());
    let own = program(&scenario.subject);
    let others = results.sides.iter().filter(move |side| Some(side.program.as_str()) != own);
    others.map(|side| side.label.as_str()).filter(|label| *label != scenario.baseline)
}

fn worst<'a>(found: impl Iterator<Item = RatioAt<'a>>) -> Option<RatioAt<'a>> {
    found.min_by(|one, other| one.comparison.lead.total_cmp(&other.comparison.lead))
}

fn best<'a>(found: impl Iterator<Item = RatioAt<'a>>) -> Option<RatioAt<'a>> {
    found.max_by(|one, other| one.comparison.lead.total_cmp(&other.comparison.lead))
}

/// Says in one sentence for each pair of sides how the subject stands against the baseline.
fn headline(standings: &[Standing]) -> String {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for standing in standings {
        let pair = (standing.scenario.subject.as_str(), standing.scenario.baseline.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let sentence = |(subject, baseline): (&str, &str)| {
        let of_pair = standings
            .iter()
            .filter(|it| (it.scenario.subject.as_str(), it.scenario.baseline.as_str()) == (subject, baseline));
        let (mut found, mut missing): (Vec<&RatioAt>, usize) = (Vec::new(), 0);
        for standing in of_pair {
            found.extend(&standing.found);
            missing += standing.missing;
        }
        if found.is_empty() {
            return format!("{subject} cannot be compared with {baseline}: figures of one of them are missing.");
        }
        if found.iter().all(|found| found.comparison.verdict == Verdict::TooFew) {
            return format!("{subject} and {baseline} were measured too seldom to tell which is ahead.");
        }
        let not_compared = match missing {
            0 => String::new(),
            count => format!(" {} cannot be compared.", counted(count, "cell")),
        };
        format!(
            "Against {baseline}, {subject} is {} of {}.{not_compared}",
            tally_text(&found.iter().map(|found| found.comparison.verdict).collect::<Vec<_>>()),
            counted(found.len(), "cell"),
        ) + &noisy_text(found.iter().filter(|found| found.comparison.is_noisy).count())
    };
    pairs.into_iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// Returns `ahead in 31, behind in 6 and without a clear difference in 3`.
fn tally_text(verdicts: &[Verdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|it| **it == verdict).count();
    let (ahead, behind, unclear) = (count(Verdict::Ahead), count(Verdict::Behind), count(Verdict::Unclear));
    match count(Verdict::TooFew) {
        0 => format!("ahead in {ahead}, behind in {behind} and without a clear difference in {unclear}"),
        few => format!(
            "ahead in {ahead}, behind in {behind}, without a clear difference in {unclear} and measured too seldom to tell in {few}"
        ),
    }
}

fn noisy_text(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " One of these comparisons rests on a noisy cell.".to_owned(),
        count => format!(" {count} of these comparisons rest on noisy cells."),
    }
}

fn line(standing: &Standing) -> Markup {
    let Standing { scenario, table, place, found, missing, beside, other } = standing;
    let count = |verdict| found.iter().filter(|it| it.comparison.verdict == verdict).count();
    let verdicts = [Verdict::Ahead, Verdict::Behind, Verdict::Unclear, Verdict::TooFew];
    let dash = || html! { "–" };
    html! {
        tr.loss[count(Verdict::Behind) > 0] {
            th.text scope="row" {
                a href=(format!("#{}", place.of_table())) { (table_name(scenario, table)) }
                p.quiet { (scenario.subject) " against " (scenario.baseline) }
            }
            td data-label=(WORST) {
                (worst(found.iter().copied()).map_or_else(dash, |found| cell(table, found)))
                @if let Some((peer, found)) = other {
                    p.quiet { "Worse against " (peer) ":" }
                    (cell(table, *found))
                }
            }
            td data-label=(BEST) { (best(found.iter().copied()).map_or_else(dash, |found| cell(table, found))) }
            td data-label=(ALL) {
                @for verdict in verdicts {
                    @if count(verdict) > 0 { p { (count(verdict)) " " (verdict.mark()) } }
                }
                @if *missing > 0 { p.quiet { (missing) " without a ratio" } }
            }
            td data-label=(BESIDE_WORST) {
                @for found in beside {
                    p {
                        a href=(format!("#{}", found.place.of_row())) { (heading(found.comparison.figure.name())) }
                        ": " (found.comparison.words()) " " (found.comparison.verdict.mark())
                    }
                }
                @if beside.is_empty() { "–" }
            }
        }
    }
}

fn cell(table: &TableResults, found: RatioAt) -> Markup {
    let column = column_words(table, found.column);
    html! {
        p { strong { (found.comparison.words()) } " " (found.comparison.verdict.mark()) }
        p {
            a href=(format!("#{}", found.place.column(found.column))) {
                (row_name(found.row)) @if !column.is_empty() { ", " (column) }
            }
        }
    }
}
