//! Tests of the page in Chromium, without a window.
//!
//! ```text
//!   frames.html
//!     |-- <iframe width=360  src=page.html>  --.
//!     |-- <iframe width=800  ...>              |-- what each frame found, by a message --> <pre>, read by --dump-dom
//!     '-- <iframe width=1400 ...>            --'
//! ```
//!
//! Frames are used because a window of Chromium may refuse to be as narrow as a phone.

use super::tests::{MEMLINK_PAGE, Shown, assert_all_figures};
use super::{POLICY, canvas, example, render};
use crate::results::Results;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WIDTHS: [i32; 3] = [360, 800, 1400];

/// The findings of a frame in the page.
#[derive(Debug, Deserialize)]
struct FrameFindings {
    width: i32,
    page_width: i32,
    errors: Vec<String>,
    charts: Vec<Chart>,
    shown: Vec<Shown>,
}

#[derive(Debug, Deserialize)]
struct Chart {
    kind: String,
    row: String,
    /// Absent if the chart is over all columns.
    column: Option<usize>,
    label: String,
    /// By the class that colours them: bars, or points of the longest line.
    marks: BTreeMap<String, usize>,
    has_size: bool,
}

/// Looks at the page once it is there, with all its details open.
const LOOK: &str = r#"<script>
const errors = [];
addEventListener('error', event => errors.push(String(event.message)));
addEventListener('load', () => {
  document.querySelectorAll('details').forEach(details => details.open = true);
  const charts = [...document.querySelectorAll('figure.chart')].map(figure => ({
    kind: figure.dataset.chart,
    row: figure.closest('section.row').getAttribute('aria-labelledby'),
    column: Number(figure.dataset.column),
    label: figure.querySelector('svg[role=img]').getAttribute('aria-label'),
    marks: [...figure.querySelectorAll('svg :is(rect, polyline)')].reduce((marks, it) => {
      const name = it.getAttribute('class'), before = marks[name] ?? 0;
      return {...marks, [name]: it.points ? Math.max(before, it.points.length) : before + 1};
    }, {}),
    has_size: figure.querySelector('svg').getBoundingClientRect().width > 100,
  }));
  const shown = [];
  for (const table of document.querySelectorAll('table.figures')) {
    const figures = [...table.tHead.rows[0].cells].map(cell => cell.dataset.figure);
    for (const body of table.tBodies) for (const line of body.querySelectorAll('tr[data-side]')) {
      [...line.cells].forEach((cell, index) => figures[index] && shown.push({
        row: table.dataset.row, column: Number(body.dataset.column), side: line.dataset.side,
        figure: figures[index], text: cell.firstChild.textContent,
      }));
    }
  }
  const page_width = document.documentElement.scrollWidth;
  parent.postMessage(JSON.stringify({width: innerWidth, page_width, errors, charts, shown}), '*');
});
</script>"#;

/// Runs Chromium on a file, and returns the document it made of it and what it printed about it.
fn chromium(program: &Path, folder: &Path, file: &Path) -> (String, String) {
    let output = Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        // The clock of the page, which runs as fast as the page allows.
        .arg("--virtual-time-budget=30000")
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns what each frame found, from the narrowest to the widest.
fn found(program: &Path, page: &str) -> Vec<FrameFindings> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    // The policy of the page forbids scripts, so the copy that is looked at has none.
    let open = page.replace(POLICY, "").replace("</body>", &format!("{LOOK}</body>"));
    file("page.html", &open);
    let frames: String = WIDTHS
        .map(|width| format!("<iframe src=\"page.html\" style=\"width:{width}px;height:800px;border:0\"></iframe>"))
        .concat();
    let frames = format!(
        "<!DOCTYPE html><body><pre id=\"found\"></pre>{frames}<script>
         const all = [];
         addEventListener('message', event => {{
           all.push(JSON.parse(event.data));
           all.sort((one, other) => one.width - other.width);
           document.getElementById('found').textContent = btoa(encodeURIComponent(JSON.stringify(all)));
         }});
         </script></body>"
    );
    let (document, printed) = chromium(program, folder.path(), &file("frames.html", &frames));
    let code = document.split_once("<pre id=\"found\">").and_then(|(_, rest)| Some(rest.split_once("</pre>")?.0));
    let json = decoded(code.filter(|code| !code.is_empty()).unwrap_or_else(|| panic!("nothing was found: {printed}")));
    serde_json::from_str(&json).unwrap()
}

/// Undoes base64 and then percent signs, which keep the findings free of anything that HTML would change.
fn decoded(code: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for letter in code.bytes().filter(|letter| *letter != b'=') {
        bits = bits << 6 | u32::try_from(LETTERS.iter().position(|it| *it == letter).unwrap()).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    let text = String::from_utf8(bytes).unwrap();
    let (mut plain, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = (*first == b'%').then(|| std::str::from_utf8(&after[..2]).unwrap());
        plain.push(hex.map_or(*first, |hex| u8::from_str_radix(hex, 16).unwrap()));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(plain).unwrap()
}

/// Checks that each chart of bars has a bar for each side that has a figure, and each chart of lines a line with all
/// its points.
fn assert_series(results: &Results, charts: &[Chart]) {
    let side_of = |label: &str| results.sides.iter().position(|side| side.label == label).unwrap() % canvas::SIDE_INKS;
    for chart in charts {
        assert!(chart.has_size && !chart.label.is_empty(), "{chart:?}");
        let numbers: Vec<usize> = chart.row[1..].split(['t', 'r']).map(|number| number.parse().unwrap()).collect();
        let table = &results.scenarios[numbers[0] - 1].tables[numbers[1] - 1];
        let row = &table.rows[numbers[2] - 1];
        let is_in = |column: usize| chart.column.is_none_or(|own| own == column);
        for cell in row.cells.iter().filter(|cell| is_in(cell.column) && !cell.turns.is_empty()) {
            let of_side = row.cells.iter().filter(|it| it.side == cell.side && !it.turns.is_empty());
            let (letter, expected) = match chart.kind.as_str() {
                "bars" => ('c', 1),
                "columns" => ('l', of_side.count()),
                "latency" => ('l', cell.turns[0].latency.len()),
                _ => ('l', cell.turns[0].timeline.len()),
            };
            let marks = chart.marks.get(&format!("{letter}{}", side_of(&cell.side)));
            assert_eq!(marks, Some(&expected), "{}, {}: {chart:?}", chart.row, cell.side);
            assert!(chart.label.contains(&cell.side), "{} does not name {}", chart.label, cell.side);
        }
        let published = row.published.iter().filter(|cell| is_in(cell.column) && chart.kind == "bars").count();
        assert_eq!(chart.marks.get("c8").copied().unwrap_or(0), published, "{}", chart.row);
    }
}

#[test]
fn the_page_is_whole_at_each_width() {
    let Some(program) = testing::program_or_skip("lab::page", "chromium") else { return };
    let small = example::small();
    for (results, page) in [(&small, &render(&small).unwrap()), (&example::memlink(), &*MEMLINK_PAGE)] {
        let all = found(&program, page);
        assert_eq!(all.iter().map(|found| found.width).collect::<Vec<_>>(), WIDTHS);
        for found in &all {
            assert_eq!(found.errors, [""; 0]);
            assert!(found.page_width <= found.width, "{} wide in {}", found.page_width, found.width);
            assert!(!found.charts.is_empty());
            assert_series(results, &found.charts);
            assert_all_figures(results, &found.shown);
        }
    }
}

#[test]
fn the_browser_has_nothing_to_complain_about() {
    let Some(program) = testing::program_or_skip("lab::page", "chromium") else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, &*MEMLINK_PAGE).unwrap();
    let (document, printed) = chromium(&program, folder.path(), &file);
    assert!(document.contains("How to read this page"), "{printed}");
    assert!(!printed.contains("CONSOLE"), "{printed}");
}
