//! Stacked bars: the time of a session by its parts, which are cases of one client, a bar for each side.
//!
//! ```text
//!   Bobbin   |==|====|=|  81 µs
//!   MariaDB  |==========|======|====|  310 µs
//!   [] Connect   [] Update 10 rows   ...              a colour for each part, in the order of the session
//! ```
//!
//! A part takes the time between two of the calls that its client makes one after another. The scale begins at zero.

use super::bars::{BAR_ROW, VALUE_ROOM, left_of_bars, write_name};
use super::canvas::{self, Anchor, Canvas, Ink, Painted, WIDTH};
use super::words::{capitalized, significant};
use super::{column_words, row_name};
use crate::LabError;
use crate::results::{RowResults, ScenarioResults, TableResults};
use crate::scenario::Figure;
use crate::statistics::Summary;
use maud::{Markup, html};
use std::fmt::Write as _;

const STACK_THICK: i32 = 14;
const SWATCH: i32 = 10;

/// A side's session.
struct Stack<'a> {
    side: &'a str,
    /// The time of each part, in microseconds.
    parts_us: Vec<f64>,
}

impl Stack<'_> {
    fn total_us(&self) -> f64 {
        self.parts_us.iter().sum()
    }
}

/// Returns a chart for each column in which a side has figures of all parts.
///
/// # Errors
/// A chart cannot be drawn.
pub(super) fn charts(scenario: &ScenarioResults, table: &TableResults) -> Result<Vec<Markup>, LabError> {
    let part = |name: &String| table.rows.iter().find(|row| row.name == *name);
    let Some(parts) = scenario.stack.iter().map(part).collect::<Option<Vec<&RowResults>>>() else {
        return Ok(Vec::new());
    };
    let Some(first) = parts.first() else { return Ok(Vec::new()) };
    let mut charts = Vec::new();
    for column in 0..table.columns.len() {
        let sides = first.cells.iter().filter(|cell| cell.column == column).map(|cell| cell.side.as_str());
        let stacks: Vec<Stack> = sides.filter_map(|side| stack(&parts, side, column)).collect();
        if stacks.is_empty() {
            continue;
        }
        let names: Vec<String> = parts.iter().map(|row| row_name(row)).collect();
        let words = column_words(table, column);
        let what = if words.is_empty() { String::new() } else { format!(", {words}") };
        let what = capitalized(&format!("time of a session by its parts, one client{what}"));
        let height = BAR_ROW * (stacks.len() + names.len()) as i32 + 2;
        let chart = canvas::draw(height, &label(&what, &names, &stacks), |canvas| paint(canvas, &names, &stacks))?;
        charts.push(html! {
            figure.chart data-chart="stack" data-column=(column) {
                figcaption { (what) " " span.quiet { "(shorter is better)" } }
                (chart)
            }
        });
    }
    Ok(charts)
}

fn stack<'a>(parts: &[&RowResults], side: &'a str, column: usize) -> Option<Stack<'a>> {
    let part_us = |row: &&RowResults| {
        let cell = row.cells.iter().find(|cell| cell.side == side && cell.column == column)?;
        let rate = Summary::of(&cell.values(Figure::RequestsPerS))?.median;
        (rate > 0.0).then(|| 1e6 / rate)
    };
    Some(Stack { side, parts_us: parts.iter().map(part_us).collect::<Option<_>>()? })
}

/// Says the chart in text.
fn label(what: &str, names: &[String], stacks: &[Stack]) -> String {
    let mut text = format!("Stacked bar chart. {what}.");
    for stack in stacks {
        write!(text, " {}: {} µs", stack.side, significant(stack.total_us())).expect("a string takes all");
        for (name, us) in names.iter().zip(&stack.parts_us) {
            write!(text, ", {name} {}", significant(*us)).expect("a string takes all");
        }
        text.push('.');
    }
    text
}

fn paint(canvas: &Canvas, names: &[String], stacks: &[Stack]) -> Painted {
    let most_us = stacks.iter().map(Stack::total_us).fold(0.0, f64::max);
    let left = left_of_bars(stacks.iter().map(|stack| stack.side));
    let room = f64::from(WIDTH - VALUE_ROOM - left);
    let across = |us: f64| left + (us / most_us * room).round() as i32;
    let mut y = BAR_ROW / 2;
    for stack in stacks {
        write_name(canvas, (left, y), Ink::Text, stack.side)?;
        let mut begin_us = 0.0;
        for (part, us) in stack.parts_us.iter().enumerate() {
            let (from, to) = (across(begin_us), across(begin_us + us));
            canvas.rectangle((from, y - STACK_THICK / 2), (to, y + STACK_THICK / 2), Ink::Side(part))?;
            begin_us += us;
        }
        let total = format!("{} µs", significant(begin_us));
        canvas.text((across(begin_us) + 5, y), Anchor::Left, Ink::Text, &total)?;
        y += BAR_ROW;
    }
    for (part, name) in names.iter().enumerate() {
        canvas.rectangle((left, y - SWATCH / 2), (left + SWATCH, y + SWATCH / 2), Ink::Side(part))?;
        canvas.text((left + SWATCH + 6, y), Anchor::Left, Ink::Text, name)?;
        y += BAR_ROW;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{CellResults, Measurement};
    use std::collections::BTreeMap;

    fn row(name: &str, rates: &[(&str, f64)]) -> RowResults {
        let cell = |&(side, rate): &(&str, f64)| {
            let figures = BTreeMap::from([("requests_per_s".to_owned(), rate)]);
            CellResults {
                side: side.to_owned(),
                turns: vec![Measurement { turn: 1, figures, ..Measurement::default() }],
                ..CellResults::default()
            }
        };
        RowResults {
            name: name.to_owned(),
            what: format!("{name} rows"),
            figure: Figure::RequestsPerS,
            is_checked: true,
            cells: rates.iter().map(cell).collect(),
            published: Vec::new(),
        }
    }

    fn drawn(rows: Vec<RowResults>) -> Vec<String> {
        let table = TableResults { columns: vec![String::new()], rows, ..TableResults::default() };
        let stack = ["read", "write"].map(str::to_owned).into();
        let scenario = ScenarioResults { stack, ..ScenarioResults::default() };
        charts(&scenario, &table).unwrap().into_iter().map(Markup::into_string).collect()
    }

    #[test]
    fn parts_follow_one_another_at_the_scale_of_the_slowest_session() {
        let rows = vec![
            row("read", &[("quick", 10_000.0), ("slow", 2_500.0)]),
            row("write", &[("quick", 10_000.0), ("slow", 1_666.666_666_7)]),
        ];
        let [chart] = &drawn(rows)[..] else { panic!("one chart") };
        // 210 units stand for the 1,000 µs of the slow side.
        for (x, width, class) in [(56, 21, 0), (77, 21, 1), (56, 84, 0), (140, 126, 1)] {
            let rectangle = format!("<rect x=\"{x}\" y=\"");
            let end = format!("width=\"{width}\" height=\"14\" class=\"c{class}\"");
            let is_there = chart.split("/>").any(|shape| shape.contains(&rectangle) && shape.contains(&end));
            assert!(is_there, "{x} {width} {class}: {chart}");
        }
        let says = "quick: 200 µs, Read rows 100, Write rows 100. slow: 1,000 µs, Read rows 400, Write rows 600.";
        assert!(chart.contains(says), "{chart}");
    }

    #[test]
    fn a_side_without_a_part_has_no_bar() {
        let both = row("read", &[("quick", 10_000.0), ("slow", 2_500.0)]);
        let [chart] = &drawn(vec![both.clone(), row("write", &[("quick", 10_000.0)])])[..] else { panic!("one chart") };
        assert!(chart.contains("quick: 200 µs") && !chart.contains("slow"), "{chart}");
        assert!(drawn(vec![both]).is_empty(), "the scenario was run without a part");
    }
}
