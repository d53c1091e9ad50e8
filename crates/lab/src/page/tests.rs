//! Tests of the page as a whole: what it must hold whatever the results are.
//!
//! ```text
//!   results --> page --> cells (row, column, side, figure, text) --> as numbers, beside the medians of the results
//! ```

use super::{example, render};
use crate::results::{CellResults, Measurement, Results, RowResults, Sample};
use crate::statistics::Summary;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The text of one figure on the page, and where it is.
#[derive(Clone, Debug, Eq, PartialEq, serde::Deserialize)]
pub(super) struct Shown {
    pub(super) row: String,
    pub(super) column: usize,
    pub(super) side: String,
    pub(super) figure: String,
    pub(super) text: String,
}

fn page(results: &Results) -> String {
    render(results).unwrap()
}

/// The page of a report with all its cells: it takes seconds to make.
pub(super) static MEMLINK_PAGE: LazyLock<String> = LazyLock::new(|| page(&example::memlink()));

/// The value of an attribute of the tag that the text begins with.
fn attribute(text: &str, name: &str) -> Option<String> {
    let tag = text.split('>').next()?;
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    Some(plain(rest.split('"').next()?))
}

/// The text without tags and escapes.
fn plain(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, rest)| rest));
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Reads the figures from the tables of a page.
fn shown(page: &str) -> Vec<Shown> {
    let mut all = Vec::new();
    for table in page.split("<table class=\"figures\"").skip(1) {
        let table = table.split("</table>").next().unwrap();
        let row = attribute(table, "data-row").unwrap();
        let headings: Vec<Option<String>> =
            table.split("<th scope=\"col\"").skip(1).map(|heading| attribute(heading, "data-figure")).collect();
        for group in table.split("<tbody").skip(1) {
            let column = attribute(group, "data-column").unwrap().parse().unwrap();
            for line in group.split("<tr data-side").skip(1) {
                let line = line.split("</tr>").next().unwrap();
                let side = attribute(&format!("<tr data-side{line}"), "data-side").unwrap();
                // The median is the text before any further tag.
                let first_text = |cell: &str| cell.split('>').nth(1).and_then(|rest| rest.split('<').next()).map(plain);
                let cells = line.split("<td").skip(1).map(first_text);
                // The first column is the side's name.
                for (heading, cell) in headings.iter().skip(1).zip(cells) {
                    let Some(figure) = heading.clone() else { continue };
                    all.push(Shown { row: row.clone(), column, side: side.clone(), figure, text: cell.unwrap() });
                }
            }
        }
    }
    all
}

/// Returns the value of a text with a unit, and half of its last digit.
fn parsed(text: &str) -> (f64, f64) {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let times = match unit {
        "k/s" => 1000.0,
        "MiB" => 1_048_576.0,
        "/s" | "ms" | "µs" | "B" | "" => 1.0,
        _ => panic!("an unknown unit: {text}"),
    };
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let value: f64 = number.replace(',', "").parse().unwrap_or_else(|_| panic!("no number: {text}"));
    (value * times, 0.5 * times / 10f64.powi(i32::try_from(decimals).unwrap()))
}

/// Checks that each figure of each cell is shown once, and as the median of its turns.
pub(super) fn assert_all_figures(results: &Results, shown: &[Shown]) {
    let mut count = 0;
    for (s, scenario) in results.scenarios.iter().enumerate() {
        for (t, table) in scenario.tables.iter().enumerate() {
            for (r, row) in table.rows.iter().enumerate() {
                let place = format!("s{}t{}r{}", s + 1, t + 1, r + 1);
                let of_row: Vec<&Shown> = shown.iter().filter(|it| it.row == place).collect();
                count += row.cells.iter().map(|cell| assert_cell(cell, &place, &of_row)).sum::<usize>();
            }
        }
    }
    let texts = shown.iter().filter(|it| it.text != "–").count();
    assert_eq!(texts, count, "the page shows figures that nobody measured");
}

fn assert_cell(cell: &CellResults, place: &str, of_row: &[&Shown]) -> usize {
    let names: BTreeSet<&String> = cell.turns.iter().flat_map(|turn| turn.figures.keys()).collect();
    for name in &names {
        let values: Vec<f64> = cell.turns.iter().filter_map(|turn| turn.figures.get(*name).copied()).collect();
        let median = Summary::of(&values).unwrap().median;
        let is_this = |it: &&&Shown| it.column == cell.column && it.side == cell.side && it.figure == **name;
        let found: Vec<_> = of_row.iter().filter(is_this).collect();
        assert_eq!(found.len(), 1, "{place} {} {name}", cell.side);
        let (value, tolerance) = parsed(&found[0].text);
        assert!(
            (value - median).abs() <= tolerance * 1.001,
            "{place} {} {name}: {} {median}",
            cell.side,
            found[0].text
        );
    }
    names.len()
}

/// The part of a page between two texts.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    page.split_once(from).and_then(|(_, rest)| Some(rest.split_once(to)?.0)).unwrap()
}

fn summary(page: &str) -> &str {
    between(page, "<section class=\"summary\"", "</section>")
}

/// The first row of the small example, to be changed.
fn first_row(results: &mut Results) -> &mut RowResults {
    &mut results.scenarios[0].tables[0].rows[0]
}

#[test]
fn every_figure_is_shown_as_the_median_of_turns() {
    let (small, memlink) = (example::small(), example::memlink());
    assert_all_figures(&small, &shown(&page(&small)));
    assert_all_figures(&memlink, &shown(&MEMLINK_PAGE));
}

#[test]
fn a_figure_without_a_known_name_is_shown() {
    let mut results = example::small();
    for turn in first_row(&mut results).cells.iter_mut().flat_map(|cell| &mut cell.turns) {
        turn.figures.insert("party_1_per_s".into(), 123.0);
    }
    let page = page(&results);
    assert_all_figures(&results, &shown(&page));
    assert!(page.contains(">party 1 per s</th>"));
}

#[test]
fn hostile_names_are_escaped() {
    const HOSTILE: &str = "<script>alert(\"x\")</script>'&";
    let mut text = serde_json::to_string(&example::small()).unwrap();
    let hostile = serde_json::to_string(HOSTILE).unwrap();
    for name in ["Bobbin", "Redis", "Insert at the head", "One client, one connection.", "memlink"] {
        text = text.replace(&format!("\"{name}\""), &hostile);
    }
    let mut results: Results = serde_json::from_str(&text).unwrap();
    let everywhere = HOSTILE.to_owned();
    (results.title, results.source, results.command, results.machine) =
        (everywhere.clone(), everywhere.clone(), everywhere.clone(), everywhere.clone());
    results.scenarios[0].notes = vec![everywhere.clone()];
    results.sides[0].settings = everywhere.clone();
    let row = first_row(&mut results);
    row.cells[0].failure = Some(everywhere.clone());
    row.cells[0].turns[0].command_line = everywhere;
    let page = page(&results);
    assert!(!page.contains("<script") && !page.contains("alert(\"x\")"));
    assert!(page.matches("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;").count() > 20);
}

#[test]
fn a_failed_cell_says_why() {
    let mut results = example::small();
    let cell = &mut first_row(&mut results).cells[0];
    cell.turns.clear();
    cell.failure = Some("it ended with signal 11".into());
    let page = page(&results);
    assert!(page.contains("Failed: </strong>it ended with signal 11."));
    assert!(page.contains("no figure</text>"));
    assert!(summary(&page).contains("1 without a ratio"));
    assert!(page.contains("1 of 4 cells have no figure or lack turns; the reason"));
}

#[test]
fn a_missing_baseline_leaves_no_ratio() {
    let mut results = example::small();
    results.scenarios[0].baseline = "Memlink".into();
    let page = page(&results);
    assert!(summary(&page).contains("Bobbin cannot be compared with Memlink"));
    assert_all_figures(&results, &shown(&page));
}

#[test]
fn cells_without_turns_are_shown_as_not_run() {
    let mut results = example::small();
    results.is_partial = true;
    for cell in results.scenarios[0].tables[0].rows.iter_mut().flat_map(|row| &mut row.cells) {
        cell.turns.clear();
    }
    let page = page(&results);
    assert_eq!(page.matches("Not run. ").count(), 4);
    assert!(page.contains("The run was interrupted"));
}

#[test]
fn results_without_anything_make_a_page() {
    let page = page(&Results::default());
    assert!(page.contains("Nothing was measured.") && page.contains("<h1>Benchmark</h1>"));
}

#[test]
fn a_nameless_column_has_no_heading() {
    let page = page(&example::small());
    assert!(!page.contains("rowgroup"));
    assert!(page.contains("<details open>"));
}

#[test]
fn eight_hundred_cells_stay_below_two_megabytes() {
    let results = example::memlink();
    let cells: usize = super::rows(&results).map(|(_, row)| row.cells.len()).sum();
    let page = &*MEMLINK_PAGE;
    assert_eq!(cells, 800);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(!page.contains("<details open>"), "figures are closed at first");
    assert_eq!(page.matches("data-chart=\"bars\"").count(), 160);
    assert_eq!(page.matches("data-chart=\"latency\"").count(), 40);
}

#[test]
fn too_many_curves_are_drawn_for_the_last_column() {
    let mut results = example::memlink();
    for turn in
        results.scenarios[0].tables[0].rows.iter_mut().flat_map(|row| &mut row.cells).flat_map(|it| &mut it.turns)
    {
        turn.timeline = (1..=10).map(|second| Sample { second: second.into(), ..Sample::default() }).collect();
        turn.timeline[3].requests_per_s = 5.0;
    }
    let page = page(&results);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert_eq!(page.matches("data-chart=\"latency\" data-column=\"3\"").count(), 40);
    assert_eq!(page.matches("data-chart=\"latency\"").count(), 40);
    assert_eq!(page.matches("data-chart=\"rate\"").count(), 10);
}

#[test]
fn the_summary_has_the_worst_ratio_beside_the_best() {
    let mut results = example::small();
    let rates = |cell: &mut CellResults, rate: f64| {
        for turn in &mut cell.turns {
            turn.figures.insert("requests_per_s".into(), rate);
        }
    };
    for (row, (ours, theirs)) in [(300.0, 500.0), (900.0, 100.0)].into_iter().enumerate() {
        let cells = &mut results.scenarios[0].tables[0].rows[row].cells;
        rates(&mut cells[0], ours);
        rates(&mut cells[1], theirs);
    }
    let page = page(&results);
    let summary = summary(&page);
    let (worst, best) = (summary.find("0.60 × the rate").unwrap(), summary.find("9.00 × the rate").unwrap());
    assert!(worst < best);
    assert!(summary.contains("<tr class=\"loss\">") && summary.contains("href=\"#s1t1r1c1\""));
    assert!(summary.contains("ahead in 1, behind in 1 and without a clear difference in 0 of 2 cells"));
}

#[test]
fn more_memory_is_in_the_summary_despite_a_better_rate() {
    let mut results = example::small();
    for row in &mut results.scenarios[0].tables[0].rows {
        for turn in &mut row.cells[0].turns {
            turn.figures.insert("rss_bytes".into(), 1e12);
        }
    }
    let page = page(&results);
    let memory = between(summary(&page), ">Memory</a>: ", "</p>");
    assert!(memory.contains("× the memory") && memory.contains("behind"), "{memory}");
}

#[test]
fn published_figures_are_labelled() {
    let page = page(&example::small());
    // Four systems in each of two rows.
    assert_eq!(page.matches("<tr class=\"published\">").count(), 8);
    assert_eq!(page.matches(">published, other hardware:</text>").count(), 2);
    assert!(page.contains("Published, other hardware: memlink 16.3 k/s;"));
}

#[test]
fn doubtful_cells_are_marked() {
    let mut results = example::small();
    results.turns = 2;
    let row = first_row(&mut results);
    row.is_checked = false;
    row.cells[0].turns[0].figures.insert("requests_per_s".into(), 1.0);
    row.cells[1].turns[0].is_generator_bound = true;
    row.cells[1].turns[0].requests = 1234;
    row.cells[1].turns[0].refusal = Some("-OOM no memory".into());
    let page = page(&results);
    for text in [
        "noisy: turns differ by",
        "limited by the load generator: alone, the",
        "Ended after 1,234 calls: </strong>-OOM no memory",
        "Replies unchecked",
        "too few to tell a difference",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn the_page_loads_nothing() {
    let page = &*MEMLINK_PAGE;
    for text in ["http:", "https:", "src=", "url(", "@import", "<script", "<link rel=\"stylesheet"] {
        assert!(!page.contains(text), "{text}");
    }
}

#[test]
fn every_link_leads_to_one_place() {
    let page = &*MEMLINK_PAGE;
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    let links: BTreeSet<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.is_subset(&unique), "{:?}", links.difference(&unique).collect::<Vec<_>>());
}

#[test]
fn a_run_makes_the_same_page_each_time() {
    assert_eq!(page(&example::small()), page(&example::small()));
}

#[test]
fn one_turn_has_no_interval() {
    let mut results = example::small();
    for cell in &mut first_row(&mut results).cells {
        cell.turns = vec![Measurement { timeline: Vec::new(), ..cell.turns[0].clone() }];
    }
    let page = page(&results);
    assert_eq!(page.matches(">one turn</p>").count(), 2);
    assert_all_figures(&results, &shown(&page));
}
