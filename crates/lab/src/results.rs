//! The results of one run: a dated folder with the figures as JSON and CSV, and the page made of them.
//!
//! ```text
//!  [turn] --> Results --> results.json   everything, to be read again by `compare` and by other tools
//!                |------> results.csv    one row a turn of a cell, in the form of [record]
//!                '------> report.html    [page]
//!
//!  Results > ScenarioResults > TableResults > RowResults > CellResults > Measurement (one a turn)
//! ```
//!
//! A table has a row for each case and, in each row, a cell for each column and side. Figures of a cell are those of all
//! its turns; medians and intervals are made by whoever shows them ([`crate::statistics`]).

use crate::record::{self, Row};
use crate::report::{Scale, Spread};
use crate::scenario::{Figure, Side};
use crate::turn::quoted;
use crate::{LabError, file_error, io_error, page};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The form of `results.json`.
pub(crate) const FORMAT: u32 = 1;
/// The names of the files in a folder of results.
pub(crate) const JSON_NAME: &str = "results.json";
pub(crate) const CSV_NAME: &str = "results.csv";
pub(crate) const PAGE_NAME: &str = "report.html";

/// Returns a line for each row and column: the figures of all sides, and the subject's ratio to the baseline.
pub(crate) fn summary(results: &Results) -> String {
    let mut text = String::new();
    for scenario in &results.scenarios {
        for table in &scenario.tables {
            text += &format!(
                "{}{}\n",
                scenario.what,
                if table.what.is_empty() { String::new() } else { format!(": {}", table.what) }
            );
            for row in &table.rows {
                for column in 0..table.columns.len() {
                    text += &summary_line(scenario, table, row, column);
                }
            }
        }
    }
    for absent in &results.absent {
        text += &format!("absent: {}\n", absent.text());
    }
    text
}

fn summary_line(scenario: &ScenarioResults, table: &TableResults, row: &RowResults, column: usize) -> String {
    let median = |side: &str| {
        let cell = row.cells.iter().find(|cell| cell.side == side && cell.column == column)?;
        Spread::of(cell.values(row.figure).into_iter()).map(|spread| spread.median)
    };
    let figure = |cell: &CellResults| {
        let shown = median(&cell.side).map(|median| Scale::of(median, row.figure).text_with_unit(median));
        format!("{} {}", cell.side, shown.unwrap_or_else(|| "-".to_owned()))
    };
    let cells: Vec<String> = row.cells.iter().filter(|cell| cell.column == column).map(figure).collect();
    let ratio = median(&scenario.subject).zip(median(&scenario.baseline)).filter(|(_, against)| *against > 0.0);
    let ratio = ratio.filter(|_| scenario.subject != scenario.baseline);
    let ratio = ratio.map_or(String::new(), |(own, against)| format!("  ({:.2} x)", own / against));
    let column = if table.columns[column].is_empty() { String::new() } else { format!(" @{}", table.columns[column]) };
    format!("  {:<32} {}{ratio}\n", format!("{}{column}", row.what), cells.join(", "))
}

/// One run of the lab.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Results {
    /// The form of this file; raised when a field changes its meaning.
    pub(crate) format: u32,
    /// The names given on the command line: `memlink`, or several.
    pub(crate) name: String,
    pub(crate) title: String,
    /// Where the workload comes from, in sentences; empty for single scenarios.
    pub(crate) source: String,
    /// The machine of the published figures, in words; empty if there are none.
    pub(crate) published_machine: String,
    /// UTC, `2026-03-02T10:20:30Z`.
    pub(crate) began: String,
    pub(crate) took_s: f64,
    /// The command that runs this again.
    pub(crate) command: String,
    pub(crate) machine: String,
    /// The commit of Bobbin's sources, `unknown` outside a repository.
    pub(crate) commit: String,
    /// Turns asked for.
    pub(crate) turns: u32,
    /// True for `--quick`: sizes are smaller than those of the report.
    pub(crate) is_quick: bool,
    /// True if the run was interrupted: what is here was measured, the rest is missing.
    pub(crate) is_partial: bool,
    pub(crate) sides: Vec<SideResults>,
    /// The sides that could not take part.
    pub(crate) absent: Vec<AbsentSide>,
    pub(crate) scenarios: Vec<ScenarioResults>,
}

/// A server that took part.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct SideResults {
    /// The name in tables.
    pub(crate) label: String,
    pub(crate) program: String,
    pub(crate) version: String,
    /// The data that a power failure leaves, in words.
    pub(crate) durability: String,
    /// The command that started it, without folder and port.
    pub(crate) settings: String,
    /// True if this lab's own tests never ran the adapter against its server.
    pub(crate) is_untried: bool,
}

/// A server that did not take part.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct AbsentSide {
    pub(crate) label: String,
    /// The reason: not installed, did not start.
    pub(crate) reason: String,
    /// The remedy, for the reader; empty if there is none but to read the reason.
    pub(crate) remedy: String,
}

impl AbsentSide {
    /// Returns the side that `error` kept away.
    pub(crate) fn of(label: String, error: LabError) -> Self {
        let (reason, remedy) = match error {
            LabError::Missing { what, remedy } => (what, remedy),
            other => (other.to_string(), String::new()),
        };
        Self { label, reason, remedy }
    }

    /// Returns it as one line.
    pub(crate) fn text(&self) -> String {
        let Self { label, reason, remedy } = self;
        format!("{label}: {reason}{}", if remedy.is_empty() { String::new() } else { format!(" ({remedy})") })
    }
}

/// One scenario.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct ScenarioResults {
    pub(crate) name: String,
    /// The question, in one sentence.
    pub(crate) what: String,
    /// How it is fair, and where it is not: sentences.
    pub(crate) notes: Vec<String>,
    /// The label of the side that ratios are against.
    pub(crate) baseline: String,
    /// The label of the side whose lead is reported in the summary: the first one.
    pub(crate) subject: String,
    /// The rows that are parts of one session, in order.
    #[serde(default)]
    pub(crate) stack: Vec<String>,
    pub(crate) tables: Vec<TableResults>,
}

/// A table of the page: rows of cases, columns of sizes (or of numbers of clients), cells of sides.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct TableResults {
    pub(crate) name: String,
    /// The table's question or circumstances, in one sentence.
    pub(crate) what: String,
    /// The subject of the columns, such as `items in the list`; empty if there is one column only.
    pub(crate) columns_what: String,
    /// At least one; a single one without a name if the scenario has no columns.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<RowResults>,
}

/// A case of a table.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct RowResults {
    pub(crate) name: String,
    pub(crate) what: String,
    /// The figure that the table shows.
    pub(crate) figure: Figure,
    /// False if the load is another tool's, which does not check replies.
    pub(crate) is_checked: bool,
    pub(crate) cells: Vec<CellResults>,
    /// The figures of the report.
    pub(crate) published: Vec<PublishedCell>,
}

/// One side in one column of a row.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct CellResults {
    /// A side's label.
    pub(crate) side: String,
    /// The index of the column.
    pub(crate) column: usize,
    /// One for each turn that succeeded.
    pub(crate) turns: Vec<Measurement>,
    /// Why it has no figure, or not all turns: the side cannot do this, or failed.
    pub(crate) failure: Option<String>,
}

/// A figure of the report that a table runs again.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct PublishedCell {
    /// The system as the report names it, such as `memlink`.
    pub(crate) system: String,
    /// The index of the column; the sizes of a quick run may lack a published column, which is then left out.
    pub(crate) column: usize,
    pub(crate) value: f64,
}

/// One turn of a cell.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Measurement {
    /// Counted from 1.
    pub(crate) turn: u32,
    /// The work in words: calls, connections, time.
    pub(crate) command_line: String,
    pub(crate) requests: u64,
    /// The figures that were measured, by the names of [`Figure`] in its serialized form (`requests_per_s`, `p50_ms`,
    /// `p95_ms`, `p99_ms`, `p999_ms`, `max_ms`, `cpu_us_per_request`, `rss_bytes`, ...).
    pub(crate) figures: BTreeMap<String, f64>,
    /// Latency by quantile: pairs of quantile (0.5, 0.9, 0.99 ...) and milliseconds, rising; empty if not measured.
    pub(crate) latency: Vec<(f64, f64)>,
    /// Figures over time; empty if not sampled.
    pub(crate) timeline: Vec<Sample>,
    /// True if the load generator was as busy as it can be, so that the server may be faster than this.
    pub(crate) is_generator_bound: bool,
    /// The reply or error that ended the load early, where a scenario expects one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
}

/// A moment of a measurement.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Seconds since the load began.
    pub(crate) second: f64,
    /// The rate in the interval that ends here.
    pub(crate) requests_per_s: f64,
    pub(crate) rss_bytes: u64,
}

impl SideResults {
    /// Describes a side whose program says this version.
    pub(crate) fn of(side: &Side, version: &str) -> Self {
        let mut words = vec![side.program.program().to_owned()];
        words.extend(side.program.settings());
        words.extend(side.flags.iter().cloned());
        Self {
            label: side.label.clone(),
            program: side.program.name().to_owned(),
            version: version.to_owned(),
            durability: side.durability.clone(),
            settings: words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            is_untried: !side.program.is_tried(),
        }
    }
}

impl CellResults {
    /// Returns the values of a figure, one for each turn that has it.
    pub(crate) fn values(&self, figure: Figure) -> Vec<f64> {
        self.turns.iter().filter_map(|turn| turn.figure(figure)).collect()
    }
}

impl Measurement {
    /// Returns a figure, if it was measured.
    pub(crate) fn figure(&self, figure: Figure) -> Option<f64> {
        self.figures.get(figure.name()).copied()
    }
}

impl Results {
    /// Writes all files into a new folder.
    ///
    /// # Errors
    /// One cannot be written.
    pub(crate) fn write(&self, folder: &Path, rows: &[Row]) -> Result<(), LabError> {
        fs::create_dir_all(folder).map_err(io_error(folder.display().to_string()))?;
        let put = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(io_error(path.display().to_string()))
        };
        let json = serde_json::to_string(self).map_err(|error| file_error(&folder.join(JSON_NAME), error))?;
        put(JSON_NAME, json)?;
        rows.iter().try_for_each(|row| record::append(&folder.join(CSV_NAME), row))?;
        put(PAGE_NAME, page::render(self)?)
    }

    /// Reads a folder of results, or its `results.json`.
    ///
    /// # Errors
    /// It is missing or of another form.
    pub(crate) fn read(path: &Path) -> Result<Self, LabError> {
        let path: PathBuf = if path.is_dir() { path.join(JSON_NAME) } else { path.to_owned() };
        let text = fs::read_to_string(&path).map_err(io_error(path.display().to_string()))?;
        serde_json::from_str(&text).map_err(|error| file_error(&path, error))
    }
}
