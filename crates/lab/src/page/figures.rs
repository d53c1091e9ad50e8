//! The table of a row with every figure: a group of lines for each column, a line for each side, and grey lines for
//! the published figures.
//!
//! ```text
//!             rate, median       against Redis          p50     p99     CPU a request   memory   errors and notes
//!  10,000 items in the list
//!   Bobbin    52.1 k/s           1.71 × the rate ahead  0.1 ms  0.4 ms  12.00 µs        21 MiB   No errors. 3 turns.
//!             51.0 to 53.0 k/s   1.68 to 1.75 ×
//!   Redis     30.4 k/s           baseline
//!   memlink   45.5 k/s           published, other hardware
//! ```

use super::comparison::SideRatio;
use super::words::{
    count_text, counted, heading, number_text, order, percent_text, phrase, published_text, range_text, sentence,
    value_text,
};
use super::{Address, Sides, column_words, row_name};
use crate::results::{CellResults, PublishedCell, RowResults, ScenarioResults, TableResults};
use crate::statistics::{RANGE_TURNS_MAX, Summary};
use maud::{Markup, html};

/// The columns that are there in each table, beside those of further figures.
const FIXED_COLUMNS: usize = 4;

/// Returns the table of a row.
pub(super) fn table(
    scenario: &ScenarioResults,
    table: &TableResults,
    row: &RowResults,
    place: Address,
    sides: &Sides,
) -> Markup {
    let further = further(row);
    let name = row.figure.name();
    let turns = row.cells.iter().map(|cell| cell.turns.len()).max().unwrap_or(0);
    let interval = if turns > RANGE_TURNS_MAX { "95 % interval" } else { "range of the turns" };
    html! {
        div.scroll role="region" aria-label=(format!("Every figure: {}", row_name(row))) tabindex="0" {
            table.figures data-row=(place.of_row()) {
                thead {
                    tr {
                        th scope="col" { "Server" }
                        th scope="col" data-figure=(name) title=(phrase(name)) {
                            (heading(name)) ", median" br; span.quiet { (interval) }
                        }
                        th scope="col" { "Against " (scenario.baseline) br; span.quiet { (interval) } }
                        @for figure in &further {
                            th scope="col" data-figure=(figure) title=(phrase(figure)) { (heading(figure)) }
                        }
                        th scope="col" { "Errors and notes" }
                    }
                }
                @for column in 0..table.columns.len() {
                    @let cells = row.cells.iter().filter(|cell| cell.column == column);
                    @let published = published(row, column);
                    @let words = column_words(table, column);
                    tbody data-column=(column) {
                        @if !words.is_empty() {
                            tr.group { th scope="rowgroup" colspan=(FIXED_COLUMNS + further.len()) { (words) } }
                        }
                        @for cell in cells { (line(scenario, row, cell, sides, &further)) }
                        @for cell in published { (published_line(row, cell, further.len())) }
                    }
                }
            }
        }
    }
}

/// Returns the names of all figures of a row but its own, in the order of the page.
fn further(row: &RowResults) -> Vec<&str> {
    let turns = row.cells.iter().flat_map(|cell| &cell.turns);
    let mut names: Vec<&str> = turns.flat_map(|turn| turn.figures.keys()).map(String::as_str).collect();
    names.retain(|name| *name != row.figure.name());
    names.sort_by_key(|name| (order(name), *name));
    names.dedup();
    names
}

fn line(scenario: &ScenarioResults, row: &RowResults, cell: &CellResults, sides: &Sides, further: &[&str]) -> Markup {
    let summary = Summary::of(&cell.values(row.figure));
    let dash = || "–".to_owned();
    html! {
        tr data-side=(cell.side) {
            th scope="row" { (sides.named(&cell.side)) }
            td {
                (summary.map_or_else(dash, |it| value_text(row.figure.name(), it.median)))
                @if let Some(summary) = summary { p.quiet { (interval_text(row, &summary)) } }
            }
            td { (ratio(scenario, row, cell)) }
            @for name in further {
                td { (median(cell, name).map_or_else(dash, |value| value_text(name, value))) }
            }
            td.text { (notes(row, cell, summary)) }
        }
    }
}

fn median(cell: &CellResults, name: &str) -> Option<f64> {
    let values: Vec<f64> = cell.turns.iter().filter_map(|turn| turn.figures.get(name).copied()).collect();
    Summary::of(&values).map(|summary| summary.median)
}

fn interval_text(row: &RowResults, summary: &Summary) -> String {
    match summary.count {
        1 => "one turn".to_owned(),
        _ => range_text(row.figure, summary.low, summary.median, summary.high),
    }
}

fn ratio(scenario: &ScenarioResults, row: &RowResults, cell: &CellResults) -> Markup {
    if cell.side == scenario.baseline {
        return html! { span.quiet { "baseline" } };
    }
    let Some(comparison) = SideRatio::of(row, cell.column, &cell.side, &scenario.baseline, row.figure) else {
        return html! { span.quiet { "no ratio" } };
    };
    html! {
        (comparison.words()) " " (comparison.verdict.mark())
        @if let Some(interval) = comparison.interval {
            p.quiet { (number_text(interval.low)) " to " (number_text(interval.high)) " ×" }
        }
    }
}

fn notes(row: &RowResults, cell: &CellResults, summary: Option<Summary>) -> Markup {
    let noise = summary.filter(Summary::is_noisy).map(|summary| summary.spread());
    html! {
        @match &cell.failure {
            Some(failure) => { strong.failure { "Failed: " } (sentence(failure)) " " },
            None if cell.turns.is_empty() => { "Not run. " },
            None if row.is_checked => { "No errors. " },
            None => { "Replies unchecked. " },
        }
        @if !cell.turns.is_empty() { span.quiet { (counted(cell.turns.len(), "turn")) ". " } }
        @if let Some(share) = noise { span.tag { "noisy: turns differ by " (percent_text(share)) } " " }
        @if let Some((calls, refusal)) = refusal(cell) {
            strong { "Ended after " (count_text(calls)) " calls: " } (sentence(refusal)) " "
        }
        @if cell.turns.iter().any(|turn| turn.is_generator_bound) {
            span.tag { "limited by the load generator: alone, the server may be faster" }
        }
    }
}

/// Returns what ended the load of a turn early, after how many calls.
fn refusal(cell: &CellResults) -> Option<(u64, &str)> {
    cell.turns.iter().find_map(|turn| Some((turn.requests, turn.refusal.as_deref()?)))
}

/// Returns the published figures of a column.
pub(super) fn published(row: &RowResults, column: usize) -> impl Iterator<Item = &PublishedCell> {
    row.published.iter().filter(move |cell| cell.column == column && cell.value.is_finite())
}

fn published_line(row: &RowResults, cell: &PublishedCell, further: usize) -> Markup {
    html! {
        tr.published {
            th scope="row" { span.swatch.b8 aria-hidden="true" {} (cell.system) }
            td { (published_text(row.figure, cell.value)) }
            td colspan=(FIXED_COLUMNS + further - 2) { "published, other hardware" }
        }
    }
}
