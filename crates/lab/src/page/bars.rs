//! Bars: the figure of one row in one column, a bar for each side, and one for each system of the published report.
//!
//! ```text
//!   Bobbin   |==================|-|  52.1 k/s     the line at the end is the interval of the median
//!   Redis    |==========||  30.4 k/s
//!   Memlink  no figure
//!   published, other hardware
//!   memlink  |----------------|  45.5 k/s         grey
//! ```
//!
//! All panels of a row have one scale, which begins at zero.

use super::canvas::{self, Anchor, Canvas, Ink, Painted, WIDTH};
use super::words::{phrase, published_text, shortened};
use super::{Address, Sides};
use crate::LabError;
use crate::report::Scale;
use crate::results::{RowResults, TableResults};
use crate::scenario::Figure;
use crate::statistics::Summary;
use maud::{Markup, html};
use std::fmt::Write as _;

/// The height of a line.
pub(super) const BAR_ROW: i32 = 22;
const BAR_THICK: i32 = 12;
/// The room of a value right of the longest bar.
pub(super) const VALUE_ROOM: i32 = 74;
const LABEL_MIN: i32 = 56;
const LABEL_MAX: i32 = 144;
/// The width of a letter at most, and of two letters on average.
const LETTER: i32 = 7;
const TWO_LETTERS: i32 = 13;

/// One line of a panel.
struct Bar<'a> {
    name: &'a str,
    ink: Ink,
    /// Absent if the cell has no figure.
    value: Option<Value>,
}

/// A bar's length and the ends of its interval.
#[derive(Clone, Copy)]
struct Value {
    value: f64,
    low: f64,
    high: f64,
}

/// Returns a panel for each column that has a bar.
pub(super) fn panels(
    table: &TableResults,
    row: &RowResults,
    place: Address,
    sides: &Sides,
) -> Result<Vec<Markup>, LabError> {
    let columns: Vec<(Vec<Bar>, Vec<Bar>)> =
        (0..table.columns.len()).map(|column| (measured(row, column, sides), published(row, column))).collect();
    let values = columns.iter().flat_map(|(ours, theirs)| ours.iter().chain(theirs)).filter_map(|bar| bar.value);
    let most = values.map(|value| value.high.max(value.value)).fold(0.0, f64::max);
    let mut panels = Vec::new();
    for (column, (measured, published)) in columns.iter().enumerate() {
        if measured.is_empty() && published.is_empty() {
            continue;
        }
        let what = capitalized_phrase(row.figure, table, column);
        let better = if row.figure.higher_is_better() { "longer is better" } else { "shorter is better" };
        let label = label(&what, measured, published, row.figure);
        let lines = measured.len() + published.len() + usize::from(!published.is_empty());
        let panel = canvas::draw(BAR_ROW * lines as i32 + 2, &label, |canvas| {
            paint(canvas, measured, published, row.figure, most)
        })?;
        panels.push(html! {
            figure.chart id=(place.column(column)) data-chart="bars" data-column=(column) {
                figcaption { (what) " " span.quiet { "(" (better) ")" } }
                (panel)
            }
        });
    }
    Ok(panels)
}

/// Returns `Requests per second, 10,000 items`.
fn capitalized_phrase(figure: Figure, table: &TableResults, column: usize) -> String {
    let phrase = super::words::capitalized(&phrase(figure.name()));
    match super::column_words(table, column) {
        words if words.is_empty() => phrase,
        words => format!("{phrase}, {words}"),
    }
}

fn measured<'a>(row: &'a RowResults, column: usize, sides: &Sides) -> Vec<Bar<'a>> {
    let cells = row.cells.iter().filter(|cell| cell.column == column);
    let bar = |cell: &'a crate::results::CellResults| {
        let value = Summary::of(&cell.values(row.figure));
        let value = value.map(|summary| Value { value: summary.median, low: summary.low, high: summary.high });
        Bar { name: &cell.side, ink: Ink::Side(sides.index(&cell.side)), value }
    };
    cells.map(bar).collect()
}

fn published(row: &RowResults, column: usize) -> Vec<Bar<'_>> {
    let exact = |value| Some(Value { value, low: value, high: value });
    let cells = super::figures::published(row, column);
    cells.map(|cell| Bar { name: &cell.system, ink: Ink::Published, value: exact(cell.value) }).collect()
}

/// Says the panel in text.
fn label(what: &str, measured: &[Bar], published: &[Bar], figure: Figure) -> String {
    let mut text = format!("Bar chart. {what}.");
    let mut add = |bar: &Bar| {
        let value = bar.value.map_or("no figure".to_owned(), |value| value_text(value.value, figure));
        write!(text, " {}: {value}.", bar.name).expect("a string takes all");
    };
    measured.iter().for_each(&mut add);
    if !published.is_empty() {
        text.push_str(" Published, other hardware:");
        for bar in published {
            let value = bar.value.map_or(0.0, |value| value.value);
            write!(text, " {} {};", bar.name, published_text(figure, value)).expect("a string takes all");
        }
    }
    text
}

fn value_text(value: f64, figure: Figure) -> String {
    Scale::of(value, figure).text_with_unit(value)
}

/// Returns where bars begin, so that there is room for these names left of them.
pub(super) fn left_of_bars<'a>(names: impl Iterator<Item = &'a str>) -> i32 {
    let signs = names.map(|name| name.chars().count() as i32).max().unwrap_or(0);
    (signs * LETTER + 8).clamp(LABEL_MIN, LABEL_MAX)
}

/// Writes the name of a bar that begins here, shortened if it is longer than the room.
pub(super) fn write_name(canvas: &Canvas, (left, y): (i32, i32), ink: Ink, name: &str) -> Painted {
    let name = shortened(name, usize::try_from((left - 6) * 2 / TWO_LETTERS).unwrap_or(1).max(2));
    canvas.text((left - 6, y), Anchor::Right, ink, &name)
}

fn paint(canvas: &Canvas, measured: &[Bar], published: &[Bar], figure: Figure, most: f64) -> Painted {
    let left = left_of_bars(measured.iter().chain(published).map(|bar| bar.name));
    let right = WIDTH - VALUE_ROOM;
    let across = |value: f64| {
        let share = if most > 0.0 { value / most } else { 0.0 };
        left + (share * f64::from(right - left)).round() as i32
    };
    let mut y = BAR_ROW / 2;
    let draw = |bar: &Bar, y: i32| -> Painted {
        let ink = if bar.ink == Ink::Published { Ink::Quiet } else { Ink::Text };
        write_name(canvas, (left, y), ink, bar.name)?;
        let Some(Value { value, low, high }) = bar.value else {
            return canvas.text((left + 4, y), Anchor::Left, Ink::Quiet, "no figure");
        };
        // A bar too short to be seen is drawn one unit long.
        let end = across(value).max(left + 1);
        canvas.rectangle((left, y - BAR_THICK / 2), (end, y + BAR_THICK / 2), bar.ink)?;
        let mut text_x = end;
        if across(low) < across(high) {
            canvas.line(vec![(across(low), y), (across(high), y)], Ink::Text)?;
            for x in [across(low), across(high)] {
                canvas.line(vec![(x, y - 3), (x, y + 3)], Ink::Text)?;
            }
            text_x = across(high).max(end);
        }
        let text = if bar.ink == Ink::Published { published_text(figure, value) } else { value_text(value, figure) };
        canvas.text((text_x + 5, y), Anchor::Left, ink, &text)
    };
    for bar in measured {
        draw(bar, y)?;
        y += BAR_ROW;
    }
    if !published.is_empty() {
        canvas.text((left, y), Anchor::Left, Ink::Quiet, "published, other hardware:")?;
        y += BAR_ROW;
    }
    for bar in published {
        draw(bar, y)?;
        y += BAR_ROW;
    }
    Ok(())
}
