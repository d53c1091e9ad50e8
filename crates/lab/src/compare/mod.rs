//! Two folders of results side by side: what became better, what became worse, what is noise.
//!
//! ```text
//!  OLD/results.json --.     cells of the same place                .--> a table on the terminal, worst first
//!                      >--> (scenario, table, case, column, side) -+
//!  NEW/results.json --'     ratio of medians, mark                 '--> [merged] Results --> page
//! ```
//!
//! A cell is compared by the figure of its row. It is better or worse if the 95 % interval of the ratio of its medians
//! leaves out 1; otherwise the turns do not show a difference. Cells that only one folder has a figure for are listed.

mod merged;
#[cfg(test)]
mod tests;

use crate::record::cell_name;
use crate::report::{Scale, ratio_noun};
use crate::results::{self, CellResults, Results, RowResults};
use crate::scenario::Figure;
use crate::statistics::{Summary, TURNS_MIN, is_within_noise};
use crate::text_table::{Align, text_table};
use crate::{LabError, file_error, io_error, page};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folders to compare.
#[derive(Debug, clap::Args)]
pub struct CompareArguments {
    /// The folder of the older results, or its results.json.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The folder of the newer results, or its results.json.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Write a page with all figures of both to this file.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Exit with 1 if a cell is worse beyond noise by more than the tolerance, or fails in NEW alone.
    #[arg(long)]
    fail_if_worse: bool,
    /// The loss that `--fail-if-worse` allows.
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    tolerance: f64,
}

/// The place of a cell in results.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct CellPlace<'a> {
    scenario: &'a str,
    table: &'a str,
    case: &'a str,
    column: &'a str,
    side: &'a str,
}

/// The verdict on two cells by their turns, worst first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Mark {
    Worse,
    TooFewTurns,
    WithinNoise,
    Better,
}

/// A cell with figures in both folders.
#[derive(Clone, Debug)]
struct ComparedCell<'a> {
    place: CellPlace<'a>,
    figure: Figure,
    /// Medians.
    old: f64,
    new: f64,
    /// New to old; absent if the old median is not above zero.
    ratio: Option<f64>,
    /// Percent of the old median by which the new one is worse; below zero if it is better.
    loss_percent: f64,
    mark: Mark,
}

/// A cell that cannot be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
struct LoneCell<'a> {
    place: CellPlace<'a>,
    reason: String,
    /// True if it has figures in the old folder, and failed in the new one.
    is_lost: bool,
}

/// Everything that two folders of results say together.
#[derive(Debug)]
struct ResultsComparison<'a> {
    /// Reasons for which the comparison is unfair.
    warnings: Vec<String>,
    /// Worst first.
    cells: Vec<ComparedCell<'a>>,
    lone: Vec<LoneCell<'a>>,
}

/// Compares two folders and prints what it finds.
///
/// # Errors
/// A folder cannot be read, the page cannot be written, or a cell is worse than `--fail-if-worse` allows.
pub(crate) fn run(arguments: &CompareArguments) -> Result<(), LabError> {
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let comparison = ResultsComparison::of(&old, &new);
    put(&comparison.text(&old, &new))?;
    if let Some(path) = &arguments.out {
        let text = page::render(&merged::merged(&old, &new, &comparison.warnings))?;
        fs::write(path, text).map_err(io_error(path.display().to_string()))?;
        put(&format!("{}\n", path.display()))?;
    }
    let worse = comparison.worse_than(arguments.tolerance);
    if arguments.fail_if_worse && worse > 0 {
        let tolerance = arguments.tolerance;
        return Err(LabError::Step(format!("cells that fail, or are worse by more than {tolerance} %: {worse}")));
    }
    Ok(())
}

/// Prints a text. Whoever reads it may stop in the middle, as `head` does.
fn put(text: &str) -> Result<(), LabError> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.map_err(io_error("standard output")),
    }
}

fn read(path: &Path) -> Result<Results, LabError> {
    let results = Results::read(path)?;
    let (format, known) = (results.format, results::FORMAT);
    if format != known {
        return Err(file_error(path, format!("it has form {format} of results, and this program reads form {known}")));
    }
    Ok(results)
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| format!("`{text}` is no percentage"))
}

impl<'a> ResultsComparison<'a> {
    fn of(old: &'a Results, new: &'a Results) -> Self {
        let (old_cells, new_cells) = (cells(old), cells(new));
        let places: BTreeSet<CellPlace> = old_cells.keys().chain(new_cells.keys()).copied().collect();
        let mut comparison = Self { warnings: warnings(old, new), cells: Vec::new(), lone: Vec::new() };
        for place in places {
            let (old, new) = (old_cells.get(&place), new_cells.get(&place));
            // A row shows the figure that its newer form shows.
            let Some(figure) = new.or(old).map(|(row, _)| row.figure) else { continue };
            let values = |cell: Option<&FoundCell>| cell.map(|(_, cell)| cell.values(figure)).unwrap_or_default();
            match compared(place, figure, &values(old), &values(new)) {
                Some(cell) => comparison.cells.push(cell),
                None => comparison.lone.push(lone(place, figure, old, new)),
            }
        }
        let by_loss = |one: &ComparedCell, other: &ComparedCell| {
            one.mark.cmp(&other.mark).then(other.loss_percent.total_cmp(&one.loss_percent))
        };
        comparison.cells.sort_by(by_loss);
        comparison
    }

    /// Returns the number of cells that are worse by more than a tolerance, or that fail in the new folder alone.
    fn worse_than(&self, tolerance_percent: f64) -> usize {
        let is_worse = |cell: &&ComparedCell| cell.mark == Mark::Worse && cell.loss_percent > tolerance_percent;
        self.cells.iter().filter(is_worse).count() + self.lone.iter().filter(|cell| cell.is_lost).count()
    }

    fn text(&self, old: &Results, new: &Results) -> String {
        let mut text = format!("old: {}\nnew: {}\n", run_words(old), run_words(new));
        for warning in &self.warnings {
            text += &format!("warning: {warning}\n");
        }
        if !self.cells.is_empty() {
            let heads = ["", "cell", "side", "old", "new", "new to old"].map(str::to_owned).to_vec();
            let rows: Vec<Vec<String>> =
                std::iter::once(heads).chain(self.cells.iter().map(ComparedCell::row)).collect();
            let aligns = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right];
            text += &format!("\n{}\n", text_table(&aligns, &rows));
        }
        let count = |mark| self.cells.iter().filter(|cell| cell.mark == mark).count();
        let of_mark = |mark: Mark| format!("{} {}", count(mark), mark.words());
        let marks = [Mark::Worse, Mark::TooFewTurns, Mark::WithinNoise, Mark::Better].map(of_mark);
        text += &format!("cells compared: {} ({})\n", self.cells.len(), marks.join(", "));
        if !self.lone.is_empty() {
            text += &format!("cells not compared: {}\n", self.lone.len());
        }
        for cell in &self.lone {
            text += &format!("  {}, {}: {}\n", cell.place.name(), cell.place.side, cell.reason);
        }
        text
    }
}

type FoundCell<'a> = (&'a RowResults, &'a CellResults);

/// Returns all cells by their places.
fn cells(results: &Results) -> BTreeMap<CellPlace<'_>, FoundCell<'_>> {
    let mut cells = BTreeMap::new();
    for scenario in &results.scenarios {
        for table in &scenario.tables {
            for row in &table.rows {
                for cell in &row.cells {
                    let place = CellPlace {
                        scenario: &scenario.name,
                        table: &table.name,
                        case: &row.name,
                        column: table.columns.get(cell.column).map_or("", String::as_str),
                        side: &cell.side,
                    };
                    cells.insert(place, (row, cell));
                }
            }
        }
    }
    cells
}

/// Compares the turns of two cells; `None` if one has none.
fn compared<'a>(place: CellPlace<'a>, figure: Figure, old: &[f64], new: &[f64]) -> Option<ComparedCell<'a>> {
    let (old_summary, new_summary) = (Summary::of(old)?, Summary::of(new)?);
    let (old_median, new_median) = (old_summary.median, new_summary.median);
    let loss_percent = loss_percent(figure, old_median, new_median);
    let is_noise = match old_summary.count.min(new_summary.count) {
        turns if turns < TURNS_MIN => None,
        // A ratio to turns that are zero has no interval. Then cells differ if their turns do not overlap.
        _ => is_within_noise(new, old)
            .or_else(|| is_within_noise(old, new))
            .or(Some(old_summary.min <= new_summary.max && new_summary.min <= old_summary.max)),
    };
    let mark = match is_noise {
        None => Mark::TooFewTurns,
        Some(false) if loss_percent > 0.0 => Mark::Worse,
        Some(false) if loss_percent < 0.0 => Mark::Better,
        Some(_) => Mark::WithinNoise,
    };
    let ratio = (old_median > 0.0 && new_median >= 0.0).then(|| new_median / old_median);
    Some(ComparedCell { place, figure, old: old_median, new: new_median, ratio, loss_percent, mark })
}

/// Returns the percentage by which the new figure is worse; infinite if the old one is not above zero.
fn loss_percent(figure: Figure, old: f64, new: f64) -> f64 {
    let growth = match old {
        _ if old == new => 0.0,
        _ if old > 0.0 => (new / old - 1.0) * 100.0,
        _ if new > old => f64::INFINITY,
        _ => f64::NEG_INFINITY,
    };
    if figure.higher_is_better() { -growth } else { growth }
}

fn lone<'a>(place: CellPlace<'a>, figure: Figure, old: Option<&FoundCell>, new: Option<&FoundCell>) -> LoneCell<'a> {
    let has_figure = |cell: Option<&FoundCell>| cell.is_some_and(|(_, cell)| !cell.values(figure).is_empty());
    let failure = |cell: Option<&FoundCell>| cell.and_then(|(_, cell)| cell.failure.clone());
    let why = |cell, folder: &str| match failure(cell) {
        Some(failure) => format!("no figure in {folder}: {failure}"),
        None => format!("no figure in {folder}"),
    };
    let reason = match (old, new) {
        (Some(_), None) => "only in OLD".to_owned(),
        (None, Some(_)) => "only in NEW".to_owned(),
        _ if has_figure(old) => why(new, "NEW"),
        _ if has_figure(new) => why(old, "OLD"),
        _ => "no figure in either".to_owned(),
    };
    LoneCell { place, reason, is_lost: has_figure(old) && failure(new).is_some() }
}

/// Returns what makes a comparison of the two unfair: different machines, sizes or settings.
fn warnings(old: &Results, new: &Results) -> Vec<String> {
    let mut texts = Vec::new();
    let mut differ = |what: &str, old: &str, new: &str| {
        if old != new {
            texts.push(format!("different {what}: {old}; now {new}"));
        }
    };
    let size = |results: &Results| if results.is_quick { "a quick run" } else { "a whole run" };
    differ("machines", &old.machine, &new.machine);
    differ("sizes", size(old), size(new));
    let labels: BTreeSet<&str> = old.sides.iter().map(|side| side.label.as_str()).collect();
    for label in labels {
        let (of_old, of_new) = (settings(old, label), settings(new, label));
        // A run of some scenarios has only some of the settings.
        if !of_old.is_subset(&of_new) && !of_new.is_subset(&of_old) {
            differ(&format!("settings of {label}"), &joined(&of_old), &joined(&of_new));
        }
    }
    for (results, folder) in [(old, "OLD"), (new, "NEW")] {
        if results.is_partial {
            texts.push(format!("{folder} was interrupted, so that some cells or turns are missing"));
        }
        let lacking =
            cells(results).values().filter(|(_, cell)| cell.failure.is_some() && !cell.turns.is_empty()).count();
        if lacking > 0 {
            texts.push(format!("cells of {folder} that lack turns, because these failed: {lacking}"));
        }
    }
    texts
}

/// Returns how the sides of a label were started.
fn settings<'a>(results: &'a Results, label: &str) -> BTreeSet<(&'a str, &'a str)> {
    let sides = results.sides.iter().filter(|side| side.label == label);
    sides.map(|side| (side.settings.as_str(), side.durability.as_str())).collect()
}

fn joined(settings: &BTreeSet<(&str, &str)>) -> String {
    let words = settings.iter().map(|(settings, durability)| format!("`{settings}` (durability: {durability})"));
    words.collect::<Vec<_>>().join(" and ")
}

/// Returns what was run, when, and in which versions.
fn run_words(results: &Results) -> String {
    format!("{}, {}, commit {}, {}", results.name, results.began, results.commit, versions(results))
}

/// Returns `bobbin 0.1.0, redis 7.0.15`.
fn versions(results: &Results) -> String {
    let mut texts: Vec<String> = results.sides.iter().map(|side| format!("{} {}", side.label, side.version)).collect();
    texts.sort();
    texts.dedup();
    texts.join(", ")
}

impl CellPlace<'_> {
    /// Returns the name of the cell without its side.
    fn name(&self) -> String {
        cell_name(self.scenario, self.table, self.case, self.column)
    }
}

impl ComparedCell<'_> {
    fn row(&self) -> Vec<String> {
        let value = |value: f64| Scale::of(value, self.figure).text_with_unit(value);
        let ratio = self.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2} × {}", ratio_noun(self.figure)));
        let mark = self.mark.words().to_owned();
        vec![mark, self.place.name(), self.place.side.to_owned(), value(self.old), value(self.new), ratio]
    }
}

impl Mark {
    fn words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::TooFewTurns => "too few turns",
            Self::WithinNoise => "within noise",
            Self::Better => "better",
        }
    }
}
