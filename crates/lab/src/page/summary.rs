//! The summary: a line for each table, with the subject's worst ratio beside its best.
//!
//! ```text
//!  question        worst                          best                     cells               elsewhere
//!  Pages of lists  0.62 × the rate  ▼ behind      17.1 × the rate          ▲ 31 ahead          p99: 1.30 × the time
//!                  HSET, 10,000 items             last page, 10^7 items    ▼ 6 behind, ≈ 3 ..  memory: 1.20 × ...
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
}

/// Returns the summary of a run.
pub(super) fn section(results: &Results) -> Markup {
    let standings: Vec<Standing> = results
        .scenarios
        .iter()
        .enumerate()
        .flat_map(|(index, scenario)| {
            let place = Address::scenario(index);
            scenario.tables.iter().enumerate().map(move |(index, table)| standing(scenario, table, place.table(index)))
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

fn standing<'a>(scenario: &'a ScenarioResults, table: &'a TableResults, place: Address) -> Standing<'a> {
    let cells = |figure: Option<Figure>| {
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
                    figure.and_then(|figure| SideRatio::of(row, column, &scenario.subject, &scenario.baseline, figure));
                comparison.map(|comparison| RatioAt { comparison, row, place, column })
            })
        };
        table.rows.iter().enumerate().flat_map(of_row)
    };
    let all: Vec<Option<RatioAt>> = cells(None).collect();
    let beside = BESIDE.into_iter().filter_map(|figure| worst(cells(Some(figure)).flatten()));
    Standing {
        scenario,
        table,
        place,
        missing: all.iter().filter(|found| found.is_none()).count(),
        found: all.into_iter().flatten().collect(),
        beside: beside.collect(),
    }
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
        let not_compared = match missing {
            0 => String::new(),
            count => format!(" {} cannot be compared.", counted(count, "cell")),
        };
        format!(
            "Against {baseline}, {subject} is {} of {}.{not_compared}",
            tally_text(&found.iter().map(|found| found.comparison.verdict).collect::<Vec<_>>()),
            counted(found.len(), "cell"),
        )
    };
    pairs.into_iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// Returns `ahead in 31, behind in 6 and level in 3`.
fn tally_text(verdicts: &[Verdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|it| **it == verdict).count();
    let (ahead, behind, level) = (count(Verdict::Ahead), count(Verdict::Behind), count(Verdict::Level));
    format!("ahead in {ahead}, behind in {behind} and level within noise in {level}")
}

fn line(standing: &Standing) -> Markup {
    let Standing { scenario, table, place, found, missing, beside } = standing;
    let count = |verdict| found.iter().filter(|it| it.comparison.verdict == verdict).count();
    let (ahead, behind, level) = (count(Verdict::Ahead), count(Verdict::Behind), count(Verdict::Level));
    let dash = || html! { "–" };
    html! {
        tr.loss[behind > 0] {
            th.text scope="row" {
                a href=(format!("#{}", place.of_table())) { (table_name(scenario, table)) }
                p.quiet { (scenario.subject) " against " (scenario.baseline) }
            }
            td data-label=(WORST) { (worst(found.iter().copied()).map_or_else(dash, |found| cell(table, found))) }
            td data-label=(BEST) { (best(found.iter().copied()).map_or_else(dash, |found| cell(table, found))) }
            td data-label=(ALL) {
                @if ahead > 0 { p { (ahead) " " (Verdict::Ahead.mark()) } }
                @if behind > 0 { p { (behind) " " (Verdict::Behind.mark()) } }
                @if level > 0 { p { (level) " " (Verdict::Level.mark()) } }
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
