//! Records: one CSV row a turn, added to and never rewritten.

use crate::scenario::Figure;
use crate::{LabError, file_error, io_error};
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// One turn of one case on one side.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Row {
    /// UTC, to the second.
    pub(crate) date: String,
    pub(crate) commit: String,
    /// The cell, as [`cell_name`] has it.
    pub(crate) scenario: String,
    pub(crate) side: String,
    pub(crate) version: String,
    /// Counted from 1.
    pub(crate) turn: u32,
    pub(crate) command_line: String,
    pub(crate) durability: String,
    pub(crate) machine: String,
    pub(crate) requests_per_s: Option<f64>,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    /// The server's own CPU, user and system, in microseconds.
    pub(crate) cpu_us_per_request: Option<f64>,
    pub(crate) rss_bytes: u64,
    /// Further figures, `name=value` with blanks between.
    pub(crate) extra: String,
}

impl Row {
    pub(crate) fn figure(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::RequestsPerS => self.requests_per_s,
            Figure::P50Ms => self.p50_ms,
            Figure::P95Ms => self.extra("p95_us").map(|us| us / 1000.0),
            Figure::P99Ms => self.p99_ms,
            Figure::P999Ms => self.extra("p999_us").map(|us| us / 1000.0),
            Figure::MaxMs => self.extra("max_us").map(|us| us / 1000.0),
            Figure::CpuUsPerRequest => self.cpu_us_per_request,
            Figure::ServerUsPerRequest => self.extra("server_us_per_request"),
            Figure::RssBytes => Some(self.rss_bytes as f64),
            Figure::BytesPerConnection => self.extra("bytes_per_connection"),
            Figure::BytesEach => self.extra("bytes_each"),
            Figure::LongestTurnUs => self.extra("longest_turn_us"),
            Figure::LongestLockHoldUs => self.extra("longest_lock_hold_us"),
            Figure::LongestLockWaitUs => self.extra("longest_lock_wait_us"),
            Figure::LongestShardTurnUs => self.extra("longest_shard_turn_us"),
            Figure::MachineStallUs => self.extra("machine_stall_us"),
            Figure::LongestGeneratorStepUs => self.extra("longest_generator_step_us"),
            Figure::LongestGapMs => self.extra("longest_gap_us").map(|us| us / 1000.0),
            Figure::SingleP999Ms => self.extra("single_p999_us").map(|us| us / 1000.0),
            Figure::SingleMaxMs => self.extra("single_max_us").map(|us| us / 1000.0),
            Figure::MemoryGrowthBytes => self.extra("memory_growth_bytes"),
            Figure::FolderBytes => self.extra("folder_bytes"),
            Figure::FolderBytesMax => self.extra("folder_bytes_max"),
            Figure::WrittenPerByte => self.extra("written_per_byte"),
            Figure::FoundNothingPercent => self.extra("found_nothing_percent"),
            Figure::FirstReplyMs => self.extra("first_reply_ms"),
            Figure::LoadedMs => self.extra("loaded_ms"),
        }
    }

    /// Returns a further figure.
    pub(crate) fn extra(&self, name: &str) -> Option<f64> {
        let pairs = self.extra.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(found, _)| *found == name).find_map(|(_, value)| value.parse().ok())
    }
}

/// Returns `scenario/case`, with `table/` before the case and `@column` behind it where they have names.
pub(crate) fn cell_name(scenario: &str, table: &str, case: &str, column: &str) -> String {
    let table = if table.is_empty() { String::new() } else { format!("{table}/") };
    let column = if column.is_empty() { String::new() } else { format!("@{column}") };
    format!("{scenario}/{table}{case}{column}")
}

/// The file of a scenario's rows of one day: `<records>/<machine>/<date>-<scenario>.csv`.
pub(crate) fn path(records: &Path, machine: &str, date: &str, scenario: &str) -> PathBuf {
    records.join(machine).join(format!("{}-{scenario}.csv", date.get(..10).unwrap_or(date)))
}

/// Adds one row, with the headers first if the file is new.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn append(path: &Path, row: &Row) -> Result<(), LabError> {
    let shown = || path.display().to_string();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(io_error(shown()))?;
    }
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(io_error(shown()))?;
    let is_new = file.metadata().map_err(io_error(shown()))?.len() == 0;
    let mut writer = csv::WriterBuilder::new().has_headers(is_new).from_writer(file);
    writer.serialize(row).map_err(|error| file_error(path, error))?;
    writer.flush().map_err(io_error(shown()))
}

/// All rows of a file.
///
/// # Errors
/// It cannot be read, or is not of our form.
pub(crate) fn read(path: &Path) -> Result<Vec<Row>, LabError> {
    let mut reader = csv::Reader::from_path(path).map_err(|error| file_error(path, error))?;
    reader.deserialize().collect::<Result<_, _>>().map_err(|error| file_error(path, error))
}

/// The newest file of a scenario on any machine.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn newest(records: &Path, scenario: &str) -> Result<Option<PathBuf>, LabError> {
    let mut best: Option<(String, PathBuf)> = None;
    for machine in entries(records)? {
        for file in if machine.is_dir() { entries(&machine)? } else { Vec::new() } {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let Some((date, rest)) = stem.split_at_checked(10) else { continue };
            let is_ours = rest.strip_prefix('-') == Some(scenario) && file.extension().is_some_and(|it| it == "csv");
            if is_ours && best.as_ref().is_none_or(|(newest, _)| newest.as_str() < date) {
                best = Some((date.to_owned(), file));
            }
        }
    }
    Ok(best.map(|(_, file)| file))
}

/// UTC as `2026-03-02T10:20:30Z`, from milliseconds since the epoch.
pub(crate) fn date_text(now: base::Ms) -> String {
    let seconds = now / 1000;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day counted from 1970-01-01.
fn civil_date(mut day: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    (year, month as u64 + 1, day + 1)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let shown = || folder.display().to_string();
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error(shown()))? {
        paths.push(entry.map_err(io_error(shown()))?.path());
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row(side: &str, turn: u32, requests_per_s: f64, cpu_us: f64) -> Row {
        Row {
            date: "2026-03-02T10:20:30Z".into(),
            commit: "abc".into(),
            scenario: "reads/get".into(),
            side: side.into(),
            version: "1.0".into(),
            turn,
            command_line: "a, \"b\"".into(),
            durability: "none".into(),
            machine: "m".into(),
            requests_per_s: Some(requests_per_s),
            p50_ms: None,
            p99_ms: Some(1.0),
            cpu_us_per_request: Some(cpu_us),
            rss_bytes: 4096,
            extra: "max_us=7 bytes_per_connection=900".into(),
        }
    }

    #[test]
    fn rows_come_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = path(folder.path(), "box-1c-1g", "2026-03-02T10:20:30Z", "reads");
        assert!(file.ends_with("box-1c-1g/2026-03-02-reads.csv"));
        let rows = [row("bobbin", 1, 1.5, 2.0), row("redis", 1, 1.0, 2.5)];
        for row in &rows {
            append(&file, row).unwrap();
        }
        assert_eq!(read(&file).unwrap(), rows);
        assert_eq!(rows[0].figure(Figure::BytesPerConnection), Some(900.0));
    }

    #[test]
    fn the_newest_record_of_the_scenario_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for (machine, date, scenario) in
            [("a", "2026-03-02", "reads"), ("b", "2026-03-04", "reads"), ("a", "2026-03-09", "more-reads")]
        {
            append(&path(folder.path(), machine, date, scenario), &row("x", 1, 1.0, 1.0)).unwrap();
        }
        let found = newest(folder.path(), "reads").unwrap().unwrap();
        assert!(found.ends_with("b/2026-03-04-reads.csv"));
        assert_eq!(newest(folder.path(), "writes").unwrap(), None);
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date_text(0), "1970-01-01T00:00:00Z");
        assert_eq!(date_text(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(date_text(1_709_251_199_999), "2024-02-29T23:59:59Z");
        assert_eq!(date_text(1_709_251_200_000), "2024-03-01T00:00:00Z");
    }
}
