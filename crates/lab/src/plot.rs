//! A bar chart of Bobbin's lead or lag: a bar for each of the first page's figures, on a scale where twice as much and
//! half as much have the same length.
//!
//! ```text
//!   p99 of GET while a checkpoint is written     |========= 17.6 ×
//!   GET, one a round trip, 50 clients            |== 1.86 ×
//!   HSET of one hash, pipelines of 16    0.42 × =|
//!                                   1/4   1/2    1     2    4    8    16
//! ```

use crate::first_page::Chosen;
use crate::{LabError, file_error};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

const WIDTH: i32 = 900;
const HEAD: i32 = 50;
const ROW: i32 = 34;
const BARS_MAX: usize = 8;
const LABELS: i32 = 420;
/// The furthest ends of the scale, as powers of two. A longer bar is cut; its number still says how long it is.
const POWERS: (f64, f64) = (-5.0, 5.0);
const AHEAD_COLOR: RGBColor = RGBColor(46, 125, 90);
const BEHIND_COLOR: RGBColor = RGBColor(176, 84, 60);
const INK: RGBColor = RGBColor(40, 40, 40);

/// Draws the first cases and the last ones, eight in all, into an SVG file.
///
/// # Errors
/// It cannot be written.
pub(crate) fn draw(chosen: &[Chosen], path: &Path) -> Result<(), LabError> {
    paint(chosen, path).map_err(|error| file_error(path, error))
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn paint(chosen: &[Chosen], path: &Path) -> Drawn {
    // Takes cases from both ends, so that lags are shown as well as leads.
    let last = chosen.len().min(BARS_MAX / 2);
    let first = (chosen.len() - last).min(BARS_MAX - last);
    let drawn: Vec<&Chosen> = chosen[..first].iter().chain(&chosen[chosen.len() - last..]).collect();
    let scale = PlotScale::of(drawn.iter().filter_map(|one| one.compared.lead()));
    let bottom = HEAD + ROW * i32::try_from(first + last)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let area = SVGBackend::new(path, (WIDTH as u32, (bottom + ROW) as u32)).into_drawing_area();
    area.fill(&WHITE)?;
    let text = |size: f64, at: HPos| ("sans-serif", size).into_font().color(&INK).pos(Pos::new(at, VPos::Center));
    area.draw_text("Bobbin beside its peers: how many times as fast, or as small", &text(17.0, HPos::Left), (12, 20))?;
    for power in scale.least as i32..=scale.greatest as i32 {
        let x = scale.across(2f64.powi(power));
        let shade = if power == 0 { INK.stroke_width(1) } else { INK.mix(0.15).stroke_width(1) };
        area.draw(&PathElement::new([(x, HEAD - 8), (x, bottom)], shade))?;
        let label = if power < 0 { format!("1/{}", 1 << -power) } else { format!("{}", 1 << power) };
        area.draw_text(&label, &text(12.0, HPos::Center), (x, bottom + 12))?;
    }
    for (row, one) in drawn.into_iter().enumerate() {
        let y = HEAD + ROW * i32::try_from(row)?;
        area.draw_text(one.name, &text(13.0, HPos::Right), (LABELS - 10, y + ROW / 2))?;
        let Some(lead) = one.compared.lead() else { continue };
        let (from, to) = (scale.across(1.0), scale.across(lead));
        let color = if lead < 1.0 { BEHIND_COLOR } else { AHEAD_COLOR };
        area.draw(&Rectangle::new([(from.min(to), y + 8), (from.max(to), y + ROW - 8)], color.filled()))?;
        area.draw_text(&format!("{lead:.2} ×"), &text(12.0, HPos::Left), (from.max(to) + 6, y + ROW / 2))?;
    }
    area.present()?;
    Ok(())
}

/// The ends of the scale, as powers of two.
struct PlotScale {
    least: f64,
    greatest: f64,
}

impl PlotScale {
    fn of(leads: impl Iterator<Item = f64>) -> Self {
        leads.map(f64::log2).fold(Self { least: -1.0, greatest: 1.0 }, |scale, power| Self {
            least: scale.least.min(power.floor()).max(POWERS.0),
            greatest: scale.greatest.max(power.ceil()).min(POWERS.1),
        })
    }

    fn across(&self, times: f64) -> i32 {
        let share = (times.log2().clamp(self.least, self.greatest) - self.least) / (self.greatest - self.least);
        LABELS + (share * f64::from(WIDTH - LABELS - 70)).round() as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::first_page::tests::first_page;
    use crate::record::tests::row;
    use crate::report::{measured, tests::scenario_with_rows};

    #[test]
    fn the_plot_shows_the_lead_of_each_chosen_figure() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [row("bobbin", 1, 300.0, 3.0), row("redis", 1, 200.0, 4.0)];
        let scenarios = [scenario_with_rows(folder.path(), &rows)];
        let picture = folder.path().join("figures.svg");
        let drawn = |cells: &[(&str, &str)]| {
            let (page, all) = (first_page(cells), measured(&scenarios, folder.path()).unwrap());
            draw(&page.chosen(&all).unwrap(), &picture).unwrap();
            std::fs::read_to_string(&picture).unwrap()
        };
        assert!(!drawn(&[]).contains("GET"));
        let svg = drawn(&[("GET at once", "reads/get")]);
        for text in ["<svg", "GET at once", "1.50", "</svg>"] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
