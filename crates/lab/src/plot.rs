//! The ratios as a picture: one bar a case for its rate, one for CPU a request, and a line where both sides are equal.
//! Cases that are no headlines, or show another figure than a rate, are in the table alone.
//!
//! ```text
//!  One command a round trip
//!    GET   |=========|======      1.62 ×
//!          |======   |            0.70 × CPU
//!          0         1        2
//! ```

use crate::report::{Compared, Measured};
use crate::scenario::Figure;
use crate::{LabError, file_error};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const WIDTH: i32 = 900;
const HEAD: i32 = 60;
const ROW: i32 = 30;
const LABELS: i32 = 330;
/// Bars longer than this are cut; their number still says how long they are.
const RATIO_MAX: f64 = 3.0;
const RATE_COLOR: RGBColor = RGBColor(46, 125, 90);
const CPU_COLOR: RGBColor = RGBColor(150, 160, 170);
const INK: RGBColor = RGBColor(40, 40, 40);

/// Draws the ratios of headlines into an SVG file.
///
/// # Errors
/// It cannot be written.
pub(crate) fn draw(measured: &[Measured], path: &Path) -> Result<(), LabError> {
    paint(measured, path).map_err(|error| file_error(path, error))
}

type Painted = Result<(), Box<dyn std::error::Error>>;

fn paint(measured: &[Measured], path: &Path) -> Painted {
    let drawn: Vec<(&Measured, Vec<&Compared>)> = measured.iter().map(|one| (one, rates(one))).collect();
    let drawn: Vec<_> = drawn.into_iter().filter(|(_, cases)| !cases.is_empty()).collect();
    let rows: usize = drawn.iter().map(|(_, cases)| 1 + cases.len()).sum();
    let height = HEAD + ROW * i32::try_from(rows)? + ROW;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let area = SVGBackend::new(path, (WIDTH as u32, height as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    let text =
        |size: f64, across: HPos| ("sans-serif", size).into_font().color(&INK).pos(Pos::new(across, VPos::Center));
    area.draw_text("Bobbin to the one beside it", &text(18.0, HPos::Left), (12, 20))?;
    legend(&area, RATE_COLOR, "requests a second (longer is better)", 300)?;
    legend(&area, CPU_COLOR, "CPU a request (shorter is better)", 600)?;

    let mut y = HEAD;
    for (one, cases) in drawn {
        area.draw_text(&one.scenario.what, &text(14.0, HPos::Left), (12, y + ROW / 2))?;
        y += ROW;
        for compared in cases {
            area.draw_text(&compared.what, &text(13.0, HPos::Right), (LABELS - 10, y + ROW / 2))?;
            bar(&area, compared.ratio(), RATE_COLOR, y + 3)?;
            bar(&area, compared.cpu_ratio(), CPU_COLOR, y + 15)?;
            y += ROW;
        }
    }
    area.draw(&PathElement::new([(across(1.0), HEAD), (across(1.0), y)], INK.stroke_width(1)))?;
    area.draw_text("1 ×", &text(12.0, HPos::Center), (across(1.0), y + 12))?;
    area.present()?;
    Ok(())
}

fn rates<'a>(measured: &'a Measured) -> Vec<&'a Compared<'a>> {
    measured.cases.iter().filter(|compared| compared.is_headline && compared.figure == Figure::RequestsPerS).collect()
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn legend(area: &Area, color: RGBColor, words: &str, x: i32) -> Painted {
    area.draw(&Rectangle::new([(x, 15), (x + 12, 25)], color.filled()))?;
    let style = ("sans-serif", 12.0).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw_text(words, &style, (x + 18, 20))?;
    Ok(())
}

fn bar(area: &Area, ratio: Option<f64>, color: RGBColor, y: i32) -> Painted {
    let Some(ratio) = ratio else { return Ok(()) };
    let end = across(ratio.min(RATIO_MAX));
    area.draw(&Rectangle::new([(LABELS, y), (end, y + 11)], color.filled()))?;
    let style = ("sans-serif", 11.0).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw_text(&format!("{ratio:.2}"), &style, (end + 5, y + 6))?;
    Ok(())
}

fn across(ratio: f64) -> i32 {
    LABELS + (ratio / RATIO_MAX * f64::from(WIDTH - LABELS - 60)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::row;
    use crate::report::{measured, tests::scenario_with_rows};
    use crate::scenario::Scenario;

    #[test]
    fn a_picture_shows_both_ratios_of_a_headline() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [row("bobbin", 1, 300.0, 3.0), row("redis", 1, 200.0, 4.0)];
        let mut scenarios = [scenario_with_rows(folder.path(), &rows)];
        let picture = folder.path().join("figures.svg");
        let drawn = |scenarios: &[Scenario]| {
            draw(&measured(scenarios, folder.path()).unwrap(), &picture).unwrap();
            std::fs::read_to_string(&picture).unwrap()
        };
        assert!(!drawn(&scenarios).contains("GET"));
        scenarios[0].cases[0].headline = true;
        let svg = drawn(&scenarios);
        for text in ["<svg", "Reads", "GET", "1.50", "0.75", "</svg>"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
