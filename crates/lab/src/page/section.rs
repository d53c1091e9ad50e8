//! The sections: a scenario with its notes, and each of its tables with the ratios at a glance and then its rows.

use super::comparison::SideRatio;
use super::row;
use super::stack;
use super::words::capitalized;
use super::{Address, Form, Sides, row_name, scenario_name, table_name};
use crate::LabError;
use crate::results::{ScenarioResults, TableResults};
use maud::{Markup, html};

/// Returns the section of a scenario.
///
/// # Errors
/// A chart cannot be drawn.
pub(super) fn scenario(
    scenario: &ScenarioResults,
    place: Address,
    sides: &Sides,
    form: Form,
) -> Result<Markup, LabError> {
    let tables = scenario
        .tables
        .iter()
        .enumerate()
        .map(|(index, it)| table(scenario, it, place.table(index), sides, form))
        .collect::<Result<Vec<_>, _>>()?;
    let id = place.of_scenario();
    Ok(html! {
        section.scenario aria-labelledby=(id) {
            h2 id=(id) { (scenario_name(scenario)) }
            @if !scenario.notes.is_empty() {
                h3 { "How fair this is" }
                ul.notes { @for note in &scenario.notes { li { (note) } } }
            }
            @for table in &tables { (table) }
        }
    })
}

fn table(
    scenario: &ScenarioResults,
    table: &TableResults,
    place: Address,
    sides: &Sides,
    form: Form,
) -> Result<Markup, LabError> {
    let rows = table
        .rows
        .iter()
        .enumerate()
        .map(|(index, it)| row::section(scenario, table, it, place.row(index), sides, form))
        .collect::<Result<Vec<_>, _>>()?;
    let stacks = stack::charts(scenario, table)?;
    let id = place.of_table();
    Ok(html! {
        section.table aria-labelledby=(id) {
            h3 id=(id) { (table_name(scenario, table)) }
            @if table.rows.len() * table.columns.len() > 1 { (glance(scenario, table, place)) }
            @if !stacks.is_empty() { div.charts { @for chart in &stacks { (chart) } } }
            @if table.rows.is_empty() { p { "Nothing was measured." } }
            @for row in &rows { (row) }
        }
    })
}

/// The ratios of the subject to the baseline, a line for each row.
fn glance(scenario: &ScenarioResults, table: &TableResults, place: Address) -> Markup {
    let caption = format!("{} against {}", scenario.subject, scenario.baseline);
    let compared = |row, column, figure| SideRatio::of(row, column, &scenario.subject, &scenario.baseline, figure);
    let has_columns = table.columns.iter().any(|column| !column.is_empty());
    html! {
        div.scroll role="region" aria-label=(format!("{}: {caption}", table_name(scenario, table))) tabindex="0" {
            table.glance {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { @if has_columns { (capitalized(&table.columns_what)) } @else { "Row" } }
                        @for column in &table.columns {
                            th scope="col" { @if column.is_empty() { "Ratio" } @else { (column) } }
                        }
                    }
                }
                tbody {
                    @for (index, row) in table.rows.iter().enumerate() {
                        @let place = place.row(index);
                        tr {
                            th.text scope="row" { a href=(format!("#{}", place.of_row())) { (row_name(row)) } }
                            @for column in 0..table.columns.len() {
                                td {
                                    @match compared(row, column, row.figure) {
                                        Some(comparison) => {
                                            (comparison.words()) br; (comparison.verdict.mark())
                                        },
                                        None => { span.quiet { "no ratio" } },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
