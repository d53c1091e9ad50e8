//! A chart of lines: one for each side, a legend above, and axes whose ticks the caller names.
//!
//! ```text
//!   -o- Bobbin   -#- Redis        the legend
//!   10 |              #
//!    1 |    # o   # o   o
//!      +--------------------
//!        50 %   90 %   99 %
//! ```

use super::canvas::{self, Anchor, Canvas, Ink, Painted, WIDTH};
use super::words::shortened;
use crate::LabError;
use maud::Markup;

const PLOT_HEIGHT: i32 = 150;
const LEFT: i32 = 62;
const RIGHT: i32 = 14;
const BOTTOM: i32 = 24;
const LEGEND_ROW: i32 = 20;
const LETTER: i32 = 7;
/// The least room between two texts of the x axis.
const TICK_APART: i32 = 6;

/// The line of a side.
pub(super) struct Series<'a> {
    pub(super) name: &'a str,
    /// The index of the side, for its colour and mark.
    pub(super) side: usize,
    /// Rising x; both in the units of the axes.
    pub(super) points: Vec<(f64, f64)>,
}

/// One axis, already in the unit in which it is even: a logarithm, if the axis is logarithmic.
pub(super) struct Axis {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ticks: Vec<(f64, String)>,
}

/// Draws the lines, with a mark at each point if there are to be marks.
///
/// # Errors
/// It cannot be drawn.
pub(super) fn draw(label: &str, series: &[Series], x: &Axis, y: &Axis, marks: bool) -> Result<Markup, LabError> {
    let legend = legend(series);
    let top = LEGEND_ROW * (legend.iter().map(|entry| entry.row).max().unwrap_or(0) + 1) + 8;
    canvas::draw(top + PLOT_HEIGHT + BOTTOM, label, |canvas| {
        for (entry, one) in legend.iter().zip(series) {
            let (x, y) = (entry.x, LEGEND_ROW * entry.row + LEGEND_ROW / 2);
            canvas.line(vec![(x, y), (x + 24, y)], Ink::Side(one.side))?;
            canvas.mark((x + 12, y), one.side)?;
            canvas.text((x + 29, y), Anchor::Left, Ink::Text, &entry.name)?;
        }
        let plot = Plot { top, x, y };
        plot.axes(canvas)?;
        series.iter().try_for_each(|one| plot.line(canvas, one, marks))
    })
}

/// A name in the legend, and where it is.
struct Entry {
    name: String,
    row: i32,
    x: i32,
}

fn legend(series: &[Series]) -> Vec<Entry> {
    let (mut row, mut x) = (0, 0);
    let place = |one: &Series| {
        let name = shortened(one.name, 40);
        let width = 29 + name.chars().count() as i32 * LETTER + 12;
        if x > 0 && x + width > WIDTH {
            (row, x) = (row + 1, 0);
        }
        let entry = Entry { name, row, x };
        x += width;
        entry
    };
    series.iter().map(place).collect()
}

struct Plot<'a> {
    top: i32,
    x: &'a Axis,
    y: &'a Axis,
}

impl Plot<'_> {
    fn across(&self, value: f64) -> i32 {
        LEFT + (self.x.share(value) * f64::from(WIDTH - LEFT - RIGHT)).round() as i32
    }

    fn down(&self, value: f64) -> i32 {
        self.top + ((1.0 - self.y.share(value)) * f64::from(PLOT_HEIGHT)).round() as i32
    }

    fn axes(&self, canvas: &Canvas) -> Painted {
        let bottom = self.top + PLOT_HEIGHT;
        for (value, text) in &self.y.ticks {
            let y = self.down(*value);
            canvas.line(vec![(LEFT, y), (WIDTH - RIGHT, y)], Ink::Grid)?;
            canvas.text((LEFT - 6, y), Anchor::Right, Ink::Quiet, text)?;
        }
        // From the right, so that the last tick has its text; it stays inside.
        let mut free = WIDTH + TICK_APART;
        for (value, text) in self.x.ticks.iter().rev() {
            let x = self.across(*value);
            canvas.line(vec![(x, self.top), (x, bottom)], Ink::Grid)?;
            let half = text.chars().count() as i32 * LETTER / 2;
            let middle = x.min(WIDTH - half);
            if middle + half + TICK_APART <= free {
                canvas.text((middle, bottom + 13), Anchor::Middle, Ink::Quiet, text)?;
                free = middle - half;
            }
        }
        Ok(())
    }

    fn line(&self, canvas: &Canvas, series: &Series, marks: bool) -> Painted {
        let points: Vec<_> = series.points.iter().map(|(x, y)| (self.across(*x), self.down(*y))).collect();
        canvas.line(points.clone(), Ink::Side(series.side))?;
        // A line of one point is only seen by its mark.
        if marks || points.len() == 1 {
            points.into_iter().try_for_each(|point| canvas.mark(point, series.side))?;
        }
        Ok(())
    }
}

impl Axis {
    fn share(&self, value: f64) -> f64 {
        if self.to > self.from { ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0) } else { 0.5 }
    }
}
