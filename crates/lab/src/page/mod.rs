//! The page of a run: one HTML file without scripts that needs nothing else, not even the network.
//!
//! ```text
//!  Results --> [head]     title, warnings, machine, servers, who is absent
//!         |--> [summary]  a line for each table: the worst ratio beside the best
//!         |--> [section]  scenario > table: the question, ratios at a glance, sessions by their parts: [stack]
//!         |                 [row]      charts: [bars], [curves] drawn by [lines], all on a [canvas]
//!         |                 [figures]  the table with every figure, and the command lines
//!         '--> [help]     how to read the page
//! ```
//!
//! A figure is shown in words of [words], and beside the baseline's by a [comparison]. The page is made of what a run
//! measured alone, so the same results make the same page.

mod bars;
#[cfg(test)]
mod browser;
mod canvas;
mod comparison;
mod curves;
#[cfg(test)]
mod example;
mod figures;
mod head;
mod help;
mod lines;
mod row;
mod section;
mod stack;
mod summary;
#[cfg(test)]
mod tests;
mod words;

use crate::LabError;
use crate::results::{Results, RowResults, ScenarioResults, SideResults, TableResults};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// With more cells than this, figures and curves of each row are closed until the reader opens them.
const CELLS_OPEN_MAX: usize = 60;

/// With more charts of curves than this, they are drawn for one column of each row alone: the page would be too big.
const CURVES_MAX: usize = 120;

/// Nothing is loaded from anywhere and nothing is run.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Makes the page of a run.
///
/// # Errors
/// A chart cannot be drawn.
pub(crate) fn render(results: &Results) -> Result<String, LabError> {
    let sides = Sides(&results.sides);
    let count = |of: fn(&RowResults) -> usize| rows(results).map(|(_, row)| of(row)).sum::<usize>();
    let form = Form {
        is_open: count(|row| row.cells.len()) <= CELLS_OPEN_MAX,
        has_all_curves: count(curves::count) <= CURVES_MAX,
    };
    let sections = results
        .scenarios
        .iter()
        .enumerate()
        .map(|(index, scenario)| section::scenario(scenario, Address::scenario(index), &sides, form))
        .collect::<Result<Vec<_>, _>>()?;
    let title = head::title(results);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#summary" { "Skip to the summary" }
                (head::header(results))
                main {
                    (summary::section(results))
                    (contents(results))
                    @for section in &sections { (section) }
                    (help::again(results))
                    (help::section())
                }
            }
        }
    };
    Ok(page.into_string())
}

/// How much of a row is drawn and open, which depends on how much there is on the whole page.
#[derive(Clone, Copy)]
struct Form {
    is_open: bool,
    has_all_curves: bool,
}

/// The sides of a run, in the order of their colours.
#[derive(Clone, Copy)]
struct Sides<'a>(&'a [SideResults]);

impl Sides<'_> {
    /// Returns the index of a side; sides that nobody announced share the place after the last.
    fn index(&self, label: &str) -> usize {
        self.0.iter().position(|side| side.label == label).unwrap_or(self.0.len())
    }

    /// Returns a side's name with its colour beside it.
    fn named(&self, label: &str) -> Markup {
        let class = format!("swatch b{}", self.index(label) % canvas::SIDE_INKS);
        html! { span class=(class) aria-hidden="true" {} (label) }
    }
}

/// Where something is among the results, and so the name of its place on the page.
#[derive(Clone, Copy, Debug)]
struct Address {
    scenario: usize,
    table: usize,
    row: usize,
}

impl Address {
    fn scenario(scenario: usize) -> Self {
        Self { scenario, table: 0, row: 0 }
    }

    fn table(self, table: usize) -> Self {
        Self { table, ..self }
    }

    fn row(self, row: usize) -> Self {
        Self { row, ..self }
    }

    fn of_scenario(self) -> String {
        format!("s{}", self.scenario + 1)
    }

    fn of_table(self) -> String {
        format!("{}t{}", self.of_scenario(), self.table + 1)
    }

    fn of_row(self) -> String {
        format!("{}r{}", self.of_table(), self.row + 1)
    }

    fn column(self, column: usize) -> String {
        format!("{}c{}", self.of_row(), column + 1)
    }
}

/// Returns `10,000 items in the list`, or nothing if the table has one nameless column.
fn column_words(table: &TableResults, column: usize) -> String {
    match (table.columns.get(column).map_or("", String::as_str), table.columns_what.as_str()) {
        ("", _) => String::new(),
        (name, "") => name.to_owned(),
        (name, what) => format!("{name} {what}"),
    }
}

/// Returns a scenario's question as a heading.
fn scenario_name(scenario: &ScenarioResults) -> String {
    heading_of(&scenario.what, &scenario.name)
}

/// Returns what a table is about as a heading: its scenario's question if it says nothing itself.
fn table_name(scenario: &ScenarioResults, table: &TableResults) -> String {
    match heading_of(&table.what, &table.name) {
        name if name.is_empty() => scenario_name(scenario),
        name => name,
    }
}

/// Returns what a row measures as a heading.
fn row_name(row: &RowResults) -> String {
    heading_of(&row.what, &row.name)
}

/// Returns words for readers as a heading, or the name if there are none.
fn heading_of(what: &str, name: &str) -> String {
    words::capitalized(if what.is_empty() { name } else { what.strip_suffix('.').unwrap_or(what) })
}

/// All rows with their tables.
fn rows(results: &Results) -> impl Iterator<Item = (&TableResults, &RowResults)> {
    let tables = results.scenarios.iter().flat_map(|scenario| &scenario.tables);
    tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)))
}

/// The contents: rows are listed behind the name of their table.
fn contents(results: &Results) -> Markup {
    html! {
        nav.contents aria-labelledby="contents" {
            h2 id="contents" { "Contents" }
            ol {
                @for (index, scenario) in results.scenarios.iter().enumerate() {
                    @let place = Address::scenario(index);
                    @for (index, table) in scenario.tables.iter().enumerate() {
                        @let place = place.table(index);
                        li {
                            a href=(format!("#{}", place.of_table())) { (table_name(scenario, table)) }
                            @if table.rows.len() > 1 {
                                ul {
                                    @for (index, row) in table.rows.iter().enumerate() {
                                        li { a href=(format!("#{}", place.row(index).of_row())) { (row_name(row)) } }
                                    }
                                }
                            }
                        }
                    }
                }
                li { a href="#again" { "Run it again" } }
                li { a href="#help" { "How to read this page" } }
            }
        }
    }
}
