//! A row: its charts, then the table with every figure, and how to run each cell again.

use super::words::count_text;
use super::{Address, Form, Sides, bars, column_words, curves, figures, row_name};
use crate::LabError;
use crate::results::{CellResults, RowResults, ScenarioResults, TableResults};
use maud::{Markup, html};

/// Returns the section of a row. On a big page its figures are closed until the reader opens them.
///
/// # Errors
/// A chart cannot be drawn.
pub(super) fn section(
    scenario: &ScenarioResults,
    table: &TableResults,
    row: &RowResults,
    place: Address,
    sides: &Sides,
    form: Form,
) -> Result<Markup, LabError> {
    let mut first_charts: Vec<Markup> = curves::by_column(table, row, sides)?.into_iter().collect();
    first_charts.extend(bars::panels(table, row, place, sides)?);
    let drawn = curves::columns(row, form.has_all_curves);
    let curves = curves::of_row(table, row, &drawn, sides)?;
    let left_out = curves::columns(row, true).len() - drawn.len();
    let shown = if form.is_open { curves.len() } else { 0 };
    let id = place.of_row();
    Ok(html! {
        section.row aria-labelledby=(id) {
            h4 id=(id) { (row_name(row)) }
            @if !row.is_checked { p.tag { "Replies unchecked: the tool that makes this load does not look at them." } }
            (charts(&first_charts, &curves[..shown]))
            details open[form.is_open] {
                summary {
                    "Every figure" @if shown < curves.len() { ", with latency and time" } " (" (row_name(row)) ")"
                }
                (charts(&[], &curves[shown..]))
                @if left_out > 0 {
                    p.quiet { "Curves are drawn for one column; the table has the figures of all." }
                }
                (figures::table(scenario, table, row, place, sides))
                (commands(table, row))
            }
        }
    })
}

fn charts(first: &[Markup], second: &[Markup]) -> Markup {
    html! {
        @if !first.is_empty() || !second.is_empty() {
            div.charts { @for chart in first.iter().chain(second) { (chart) } }
        }
    }
}

/// The command line of each cell; cells with the same one share a line.
fn commands(table: &TableResults, row: &RowResults) -> Markup {
    let mut lines: Vec<(&str, Vec<&CellResults>)> = Vec::new();
    for cell in &row.cells {
        for turn in cell.turns.iter().filter(|turn| !turn.command_line.is_empty()) {
            match lines.iter_mut().find(|(line, _)| *line == turn.command_line) {
                Some((_, cells)) if cells.last().is_some_and(|last| std::ptr::eq(*last, cell)) => {}
                Some((_, cells)) => cells.push(cell),
                None => lines.push((&turn.command_line, vec![cell])),
            }
        }
    }
    html! {
        @if !lines.is_empty() {
            details.commands {
                summary { "What the cells did" }
                dl {
                    @for (line, cells) in &lines {
                        dt { (whose(table, row, cells)) }
                        dd { code { (line) } }
                    }
                }
            }
        }
    }
}

/// Returns whose command line it is: `Bobbin, Redis: 10,000 items (1,000,000 requests); ...`.
fn whose(table: &TableResults, row: &RowResults, cells: &[&CellResults]) -> String {
    let mut columns: Vec<usize> = cells.iter().map(|cell| cell.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let parts: Vec<String> = columns
        .into_iter()
        .map(|column| {
            let of_column = || cells.iter().filter(|cell| cell.column == column);
            let is_all = of_column().count() == row.cells.iter().filter(|cell| cell.column == column).count();
            let names: Vec<&str> = of_column().map(|cell| cell.side.as_str()).collect();
            let names = if is_all && names.len() > 1 { "All servers".to_owned() } else { names.join(", ") };
            let words = column_words(table, column);
            let requests = of_column().flat_map(|cell| &cell.turns).map(|turn| turn.requests).max().unwrap_or(0);
            let requests = if requests == 0 { String::new() } else { format!(" ({} requests)", count_text(requests)) };
            let at = if words.is_empty() { String::new() } else { format!(": {words}") };
            format!("{names}{at}{requests}")
        })
        .collect();
    parts.join("; ")
}
