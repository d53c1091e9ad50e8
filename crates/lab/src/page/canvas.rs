//! The drawing surface of a chart: plotters draws, and the result is dressed for the page.
//!
//! ```text
//!  <rect fill="#F00F02" opacity="1" stroke="none" .../>   what plotters writes
//!  <rect class="c2" .../>                                 what the page has: style.css gives class c2 its colour,
//!                                                         another one in the dark
//! ```
//!
//! Every ink has a colour of its own that nobody sees, by which it is found again.

use crate::LabError;
use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// All charts are so wide that a phone shows their text at its own size.
pub(super) const WIDTH: i32 = 340;

/// The number of colours for sides in style.css; further sides begin again.
pub(super) const SIDE_INKS: usize = 8;

/// plotters writes 1/1.24 of this.
const TEXT_SIZE: f64 = 14.0;

/// The color and style of a shape.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ink {
    /// The colour of the side with this index.
    Side(usize),
    /// The figures of a published report.
    Published,
    Text,
    /// Text that matters less.
    Quiet,
    Grid,
}

/// Where a text is in respect of its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
}

pub(super) type Painted = Result<(), Box<dyn std::error::Error>>;

/// A surface, with the origin at the upper left.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Ink {
    const ALL: usize = SIDE_INKS + 4;

    fn index(self) -> usize {
        match self {
            Self::Side(side) => side % SIDE_INKS,
            Self::Published => SIDE_INKS,
            Self::Text => SIDE_INKS + 1,
            Self::Quiet => SIDE_INKS + 2,
            Self::Grid => SIDE_INKS + 3,
        }
    }

    fn color(self) -> RGBColor {
        RGBColor(0xF0, 0x0F, self.index() as u8)
    }
}

impl Canvas<'_> {
    /// Writes a text whose middle line is at `y`.
    pub(super) fn text(&self, (x, y): (i32, i32), anchor: Anchor, ink: Ink, text: &str) -> Painted {
        let at = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let style = ("sans-serif", TEXT_SIZE).into_font().color(&ink.color()).pos(Pos::new(at, VPos::Center));
        Ok(self.area.draw_text(text, &style, (x, y))?)
    }

    pub(super) fn rectangle(&self, from: (i32, i32), to: (i32, i32), ink: Ink) -> Painted {
        Ok(self.area.draw(&Rectangle::new([from, to], ink.color().filled()))?)
    }

    pub(super) fn line(&self, points: Vec<(i32, i32)>, ink: Ink) -> Painted {
        Ok(self.area.draw(&PathElement::new(points, ink.color().stroke_width(1)))?)
    }

    /// Draws the mark of a side: its form tells sides apart where colours do not.
    pub(super) fn mark(&self, (x, y): (i32, i32), side: usize) -> Painted {
        let style = Ink::Side(side).color().filled();
        let polygon = |corners: &[(i32, i32)]| {
            Polygon::new(corners.iter().map(|corner| (x + corner.0, y + corner.1)).collect::<Vec<_>>(), style)
        };
        match side % 5 {
            0 => self.area.draw(&Circle::new((x, y), 3, style))?,
            1 => self.area.draw(&Rectangle::new([(x - 3, y - 3), (x + 3, y + 3)], style))?,
            2 => self.area.draw(&polygon(&[(0, -4), (4, 3), (-4, 3)]))?,
            3 => self.area.draw(&polygon(&[(0, -4), (4, 0), (0, 4), (-4, 0)]))?,
            _ => self.area.draw(&polygon(&[(-4, -3), (4, -3), (0, 4)]))?,
        }
        Ok(())
    }
}

/// Draws a chart of a height. The label says in text what the chart shows.
///
/// # Errors
/// It cannot be drawn.
pub(super) fn draw(height: i32, label: &str, paint: impl FnOnce(&Canvas) -> Painted) -> Result<Markup, LabError> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
    let canvas = Canvas { area };
    let painted = paint(&canvas).and_then(|()| Ok(canvas.area.present()?));
    drop(canvas);
    painted.map_err(|error| LabError::Step(format!("a chart cannot be drawn: {error}")))?;
    Ok(html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img" aria-label=(label) {
            (PreEscaped(dressed(&svg)))
        }
    })
}

/// Returns what is inside the `<svg>`, with classes for colours and without attributes that say nothing.
///
/// Texts cannot be mistaken for attributes, because plotters escapes their quotes.
fn dressed(svg: &str) -> String {
    let inside = svg.split_once('>').map_or("", |(_, rest)| rest);
    let mut text = inside.rsplit_once("</svg>").map_or(inside, |(inside, _)| inside).to_owned();
    let size = format!(" font-size=\"{}\"", TEXT_SIZE / 1.24);
    let dull = [
        "opacity=\"1\"",
        "stroke=\"none\"",
        "stroke-width=\"1\"",
        "text-anchor=\"start\"",
        "font-family=\"sans-serif\"",
    ];
    for attribute in dull {
        text = text.replace(&format!(" {attribute}"), "");
    }
    text = text.replace(&size, "").replace('\n', "").replace(" \"/>", "\"/>").replace(" dy=\"0.5ex\"", "");
    for index in 0..Ink::ALL {
        let color = format!("#F00F{index:02X}");
        text = text.replace(&format!("fill=\"{color}\""), &format!("class=\"c{index}\""));
        text = text.replace(&format!("stroke=\"{color}\""), &format!("class=\"l{index}\""));
    }
    text.replace(" fill=\"none\"", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_classes_instead_of_colours() {
        let chart = draw(50, "two \"marks\"", |canvas| {
            canvas.line(vec![(1, 2), (3, 4)], Ink::Side(1))?;
            canvas.rectangle((0, 0), (5, 6), Ink::Published)?;
            canvas.text((7, 8), Anchor::Left, Ink::Text, "a < \"b\"")
        });
        let expected = "<svg viewBox=\"0 0 340 50\" width=\"340\" height=\"50\" role=\"img\" \
                        aria-label=\"two &quot;marks&quot;\"><polyline class=\"l1\" points=\"1,2 3,4\"/>\
                        <rect x=\"0\" y=\"0\" width=\"5\" height=\"6\" class=\"c8\"/>\
                        <text x=\"7\" y=\"8\" class=\"c9\">a &lt; &quot;b&quot;</text></svg>";
        assert_eq!(chart.unwrap().into_string(), expected);
    }

    #[test]
    fn every_mark_can_be_drawn() {
        for side in 0..SIDE_INKS {
            let chart = draw(9, "", |canvas| canvas.mark((4, 4), side)).unwrap().into_string();
            assert!(chart.contains(&format!("class=\"c{side}\"")), "{chart}");
        }
    }
}
