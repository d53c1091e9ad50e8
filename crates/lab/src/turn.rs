//! Runs scenarios: columns and sides in turns, the first to go changing each time, one measurement a cell and turn.
//!
//! ```text
//! turn 1   column 1: bobbin, redis, mariadb   column 2: bobbin, redis, mariadb
//! turn 2   column 1: redis, mariadb, bobbin   ...
//! turn 3   column 1: mariadb, bobbin, redis   ...
//! ```
//!
//! A machine that becomes slower meanwhile makes all sides slower. A side that fails is named in the results and left
//! out of that turn; the rest runs on.

use crate::adapters::Fsync;
use crate::load::{self, Outcome, rounded};
use crate::machine::Machine;
use crate::programs::Programs;
use crate::progress::Progress;
use crate::record::{self, Row};
use crate::results::{AbsentSide, CellResults, Measurement, PublishedCell, RowResults, Sample};
use crate::results::{ScenarioResults, SideResults, TableResults};
use crate::scenario::{Case, Figure, Load, Scenario, Side, Size, Table};
use crate::server::{Resources, Server};
use crate::{LabError, interrupt, proc, stall, watch};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The time for which the machine's own stalls are measured after a case.
const STALL_SPAN: Duration = Duration::from_secs(2);

/// The environment in which scenarios run.
pub(crate) struct Runner {
    pub(crate) programs: Programs,
    pub(crate) machine: Machine,
    /// The folder to whose records each row is added, if any.
    pub(crate) records: Option<PathBuf>,
    pub(crate) data: PathBuf,
    pub(crate) commit: String,
    pub(crate) turns: u32,
    pub(crate) size: Size,
    /// The durability of all sides that have a choice, instead of their own.
    pub(crate) fsync: Option<Fsync>,
    /// Running servers by the name of their program.
    pub(crate) running: Vec<(String, SocketAddr)>,
    /// The cores on which servers run, in taskset's form.
    pub(crate) pin: Option<String>,
}

/// A side that takes part.
struct Contender {
    side: Side,
    path: PathBuf,
    version: String,
    running: Option<SocketAddr>,
}

/// The outcome of a run of a scenario.
pub(crate) struct ScenarioRun {
    pub(crate) results: ScenarioResults,
    pub(crate) sides: Vec<SideResults>,
    pub(crate) absent: Vec<AbsentSide>,
    pub(crate) rows: Vec<Row>,
    /// The first failure of a cell.
    pub(crate) failure: Option<LabError>,
}

/// A cell in one turn.
#[derive(Clone, Copy)]
struct CellTurn<'a> {
    table: &'a Table,
    column: usize,
    turn: u32,
}

impl Runner {
    /// The number of cells that a scenario has over all turns and sides.
    pub(crate) fn cells(&self, scenario: &Scenario) -> u64 {
        let tables = scenario.tables();
        let cases = |side: usize| {
            let is_run = |case: &&Case| !(case.alone && side > 0);
            let in_tables = |case: &Case| tables.iter().filter(|table| case.is_in(table)).count();
            scenario.cases.iter().filter(is_run).map(in_tables).sum::<usize>()
        };
        let a_column: usize = (0..scenario.sides.len()).map(cases).sum();
        let columns =
            |turn| (0..scenario.columns.count()).filter(|column| is_measured(scenario, *column, turn)).count();
        (1..=self.turns_of(scenario)).map(|turn| (columns(turn) * a_column) as u64).sum()
    }

    fn turns_of(&self, scenario: &Scenario) -> u32 {
        scenario.turns_max.map_or(self.turns, |most| most.min(self.turns))
    }

    /// Runs all turns of a scenario.
    pub(crate) fn run(&self, scenario: &Scenario, progress: &Progress) -> ScenarioRun {
        let mut run = ScenarioRun {
            results: skeleton(scenario),
            sides: Vec::new(),
            absent: Vec::new(),
            rows: Vec::new(),
            failure: None,
        };
        let contenders: Vec<Contender> =
            scenario.sides.iter().filter_map(|side| self.contender(side, &mut run)).collect();
        if let Some(first) = contenders.first() {
            run.results.subject.clone_from(&first.side.label);
        }
        for turn in 1..=self.turns_of(scenario) {
            for column in (0..scenario.columns.count()).filter(|column| is_measured(scenario, *column, turn)) {
                let first = turn as usize - 1;
                for index in 0..contenders.len() {
                    let contender = &contenders[(first + index) % contenders.len()];
                    if interrupt::is_requested() {
                        return run;
                    }
                    self.side_turn(scenario, contender, column, turn, &mut run, progress);
                }
            }
        }
        run
    }

    /// Finds a side's program. A side without one is absent.
    fn contender(&self, side: &Side, run: &mut ScenarioRun) -> Option<Contender> {
        let mut side = side.clone();
        let found = self.settle(&mut side);
        match found {
            Ok((path, version, running)) => {
                run.sides.push(SideResults::of(&side, &version));
                Some(Contender { side, path, version, running })
            }
            Err(error) => {
                run.absent.push(AbsentSide::of(side.label, error));
                None
            }
        }
    }

    fn settle(&self, side: &mut Side) -> Result<(PathBuf, String, Option<SocketAddr>), LabError> {
        side.choose_durability(self.fsync)?;
        let running = self.running.iter().find(|(name, _)| name == side.program.name());
        if let Some((_, address)) = running {
            return Ok((PathBuf::new(), format!("at {address}"), Some(*address)));
        }
        let path = self.programs.path(side.program)?;
        let version = side.program.version(&path)?;
        Ok((path, version, None))
    }

    fn side_turn(
        &self,
        scenario: &Scenario,
        contender: &Contender,
        column: usize,
        turn: u32,
        run: &mut ScenarioRun,
        progress: &Progress,
    ) {
        let tables = scenario.tables();
        let is_first = contender.side.label == scenario.sides[0].label;
        let mut shared = None;
        for case in scenario.cases.iter().filter(|case| is_first || !case.alone) {
            for table in tables.iter().filter(|table| case.is_in(table)) {
                if interrupt::is_requested() {
                    return;
                }
                let place = CellTurn { table, column, turn };
                let name = cell_name(scenario, case, place);
                progress.begin(&format!("{name} {}", contender.side.label));
                if let Some(reason) = contender.side.cannot.get(&case.name) {
                    put(run, case, place, &contender.side.label, Err(reason.clone()));
                    progress.end_cell();
                    continue;
                }
                let done = self.cell(scenario, contender, case, place, &mut shared);
                if interrupt::is_requested() {
                    return;
                }
                if done.is_err() {
                    // What the failure left is unknown: the next case begins anew.
                    shared = None;
                }
                progress.line(&self.keep(&name, contender, case, place, done, run));
                progress.end_cell();
            }
        }
    }

    /// Keeps the measurement of a cell, or its failure, in the results and the records. Returns a line about it.
    fn keep(
        &self,
        name: &str,
        contender: &Contender,
        case: &Case,
        place: CellTurn<'_>,
        done: Result<(Row, Measurement), LabError>,
        run: &mut ScenarioRun,
    ) -> String {
        let label = &contender.side.label;
        let (row, measurement) = match done {
            Ok(measured) => measured,
            Err(error) => {
                let text = format!("{name}, {label}, turn {}: {error}", place.turn);
                put(run, case, place, label, Err(error.to_string()));
                run.failure.get_or_insert(error);
                return text;
            }
        };
        if let Some(records) = &self.records {
            let file = record::path(records, &self.machine.slug, &row.date, &run.results.name);
            if let Err(error) = record::append(&file, &row) {
                run.failure.get_or_insert(error);
            }
        }
        let text = line(&row);
        run.rows.push(row);
        put(run, case, place, label, Ok(measurement));
        text
    }

    /// Measures one cell in one turn, on the server that is there or on a fresh one.
    fn cell(
        &self,
        scenario: &Scenario,
        contender: &Contender,
        case: &Case,
        place: CellTurn<'_>,
        shared: &mut Option<Server>,
    ) -> Result<(Row, Measurement), LabError> {
        if scenario.server_each {
            *shared = None;
        }
        let own = scenario.case_for(case, &contender.side, place.table, place.column)?;
        let server = match shared {
            Some(server) => server,
            none => none.insert(self.prepared(scenario, contender, case, place.column)?),
        };
        let (row, outcome) = self.measure(scenario, &own, place, server)?;
        let row = Row {
            scenario: cell_name(scenario, case, place),
            side: contender.side.label.clone(),
            durability: contender.side.durability.clone(),
            version: contender.version.clone(),
            turn: place.turn,
            ..row
        };
        let measurement = measurement(&row, outcome);
        Ok((row, measurement))
    }

    /// A fresh server with what all cases need.
    fn prepared(
        &self,
        scenario: &Scenario,
        contender: &Contender,
        case: &Case,
        column: usize,
    ) -> Result<Server, LabError> {
        let mut server = match contender.running {
            Some(_) if scenario.memory_max_bytes.is_some() => {
                return Err(LabError::Step("the memory of a running server cannot be limited".to_owned()));
            }
            Some(address) => Server::running(&contender.side, address, &self.data)?,
            None => {
                let resources = Resources { pin: self.pin.as_deref(), memory_max_bytes: scenario.memory_max_bytes };
                Server::of_side(&contender.path, &contender.side, resources, &self.data)?
            }
        };
        server.set_rest_max(self.size.rest_max());
        for step in &scenario.prepare_for(&contender.side, column)? {
            load::prepare(&server, step, scenario.counts(case, column)?)?;
        }
        Ok(server)
    }

    /// Measures one case; what belongs to the side is left for the caller to fill.
    fn measure(
        &self,
        scenario: &Scenario,
        case: &Case,
        place: CellTurn<'_>,
        server: &mut Server,
    ) -> Result<(Row, Outcome), LabError> {
        let counts = scenario.counts(case, place.column)?;
        for step in &case.prepare {
            load::prepare(server, step, counts)?;
        }
        load::forget_longest(server)?;
        let cpu_before_us = server.pid().map(proc::cpu_us).transpose()?;
        // Different in each run and turn, the same for all sides.
        let draw = (u64::from(std::process::id()) << 32) | u64::from(place.turn);
        let limits = load::Limits { limit_s: scenario.limit_s, cell: self.size.cell() };
        let mut outcome = load::apply(case, server, counts, limits, draw)?;
        // The server may be another process by now.
        let cpu_us = server.pid().map(proc::cpu_us).transpose()?;
        let cpu_us = cpu_us.zip(cpu_before_us).map(|(after, before)| after.saturating_sub(before)).or(outcome.cpu_us);
        let (rss_bytes, rss_bytes_max) = server.pid().map(proc::memory_bytes).transpose()?.unwrap_or_default();
        let longest = load::longest(server)?;
        let server_us = load::server_us(server, outcome.requests)?;
        load::check(case, server, counts, outcome.requests + outcome.late_requests)?;
        let rss_bytes_max = rss_bytes_max.max(outcome.rss_bytes.unwrap_or(0));
        let mut extra = vec![format!("rss_bytes_max={rss_bytes_max}")];
        if scenario.also.iter().any(|also| also.figure == Figure::MachineStallUs) && !longest.is_empty() {
            extra.push(format!("machine_stall_us={}", stall::longest_us(STALL_SPAN.min(self.size.rest_max()))));
        }
        extra.extend(server_us.map(|us| format!("server_us_per_request={us}")));
        extra.extend(outcome.extra.iter().chain(&longest).map(|(name, value)| format!("{name}={value}")));
        if !outcome.extra.iter().any(|(name, _)| name == "folder_bytes") {
            extra.push(format!("folder_bytes={}", watch::folder_bytes(server.folder())));
        }
        let row = Row {
            date: record::date_text(base::clock::system_wall_time()()),
            commit: self.commit.clone(),
            scenario: String::new(),
            side: String::new(),
            version: String::new(),
            turn: 0,
            command_line: std::mem::take(&mut outcome.command_line),
            durability: String::new(),
            machine: self.machine.text.clone(),
            requests_per_s: outcome.requests_per_s.map(shown_rate),
            p50_ms: outcome.p50_ms,
            p99_ms: outcome.p99_ms,
            cpu_us_per_request: cpu_us
                .filter(|_| outcome.requests > 0)
                .map(|cpu_us| rounded(cpu_us as f64 / outcome.requests as f64, 1000.0)),
            rss_bytes: outcome.rss_bytes.unwrap_or(rss_bytes),
            extra: extra.join(" "),
        };
        Ok((row, outcome))
    }
}

/// A rate in whole requests a second, unless it is a low one.
fn shown_rate(rate: f64) -> f64 {
    rounded(rate, if rate < 100.0 { 1000.0 } else { 1.0 })
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,+{}".contains(letter);
    let is_plain = !word.is_empty() && word.chars().all(is_plain);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Returns the command that runs this again anywhere: without the folders that were here.
pub(crate) fn command_again(mut arguments: impl Iterator<Item = String>) -> String {
    let mut words = vec!["bobbin-lab".to_owned()];
    while let Some(word) = arguments.next() {
        let name = word.split('=').next().unwrap_or_default();
        if !["--out", "--data", "--records"].contains(&name) {
            words.push(quoted(&word));
        } else if name == word {
            arguments.next();
        }
    }
    words.join(" ")
}

/// Returns true if a column is measured in this turn.
fn is_measured(scenario: &Scenario, column: usize, turn: u32) -> bool {
    turn == 1 || scenario.columns.once_from.is_none_or(|from| column < from)
}

/// `scenario/case`, with the table before the case and the column behind it where there are several.
fn cell_name(scenario: &Scenario, case: &Case, place: CellTurn<'_>) -> String {
    record::cell_name(&scenario.name, &place.table.name, &case.name, &scenario.columns.name_of(place.column))
}

/// The tables of a scenario without any measurement.
fn skeleton(scenario: &Scenario) -> ScenarioResults {
    let columns: Vec<String> = (0..scenario.columns.count()).map(|column| scenario.columns.name_of(column)).collect();
    let published = |table: &Table, case: &Case| {
        let mut cells = Vec::new();
        for published in scenario.published.iter().filter(|it| it.table == table.name) {
            let values = published.cases.get(&case.name).into_iter().flatten().enumerate();
            cells.extend(
                values
                    .filter(|(column, value)| *column < columns.len() && !value.is_nan())
                    .map(|(column, value)| PublishedCell { system: published.system.clone(), column, value: *value }),
            );
        }
        cells
    };
    let row = |table: &Table, case: &Case| RowResults {
        name: case.name.clone(),
        what: case.what.clone(),
        figure: case.figure,
        is_checked: !matches!(case.load, Load::Benchmark(_) | Load::Node(_)),
        cells: Vec::new(),
        published: published(table, case),
    };
    let table = |table: &Table| TableResults {
        name: table.name.clone(),
        what: table.what.clone(),
        columns_what: scenario.columns.what.clone(),
        columns: columns.clone(),
        rows: scenario.cases.iter().filter(|case| case.is_in(table)).map(|case| row(table, case)).collect(),
    };
    ScenarioResults {
        name: scenario.name.clone(),
        what: scenario.what.clone(),
        notes: scenario.notes.clone(),
        baseline: scenario.baseline().map(|side| side.label.clone()).unwrap_or_default(),
        subject: scenario.sides[0].label.clone(),
        stack: scenario.stack.clone(),
        tables: scenario.tables().iter().map(table).collect(),
    }
}

/// Puts a measurement, or the reason for its absence, in its cell.
fn put(run: &mut ScenarioRun, case: &Case, place: CellTurn<'_>, side: &str, done: Result<Measurement, String>) {
    let table = run.results.tables.iter_mut().find(|table| table.name == place.table.name);
    let row = table.and_then(|table| table.rows.iter_mut().find(|row| row.name == case.name));
    let row = row.expect("the skeleton has all rows");
    let index = row.cells.iter().position(|cell| cell.side == side && cell.column == place.column);
    let index = index.unwrap_or_else(|| {
        row.cells.push(CellResults { side: side.to_owned(), column: place.column, ..CellResults::default() });
        row.cells.len() - 1
    });
    match done {
        Ok(measurement) => row.cells[index].turns.push(measurement),
        Err(reason) => row.cells[index].failure = Some(reason),
    }
}

fn measurement(row: &Row, outcome: Outcome) -> Measurement {
    let figures = Figure::ALL.iter().filter_map(|figure| Some((figure.name().to_owned(), row.figure(*figure)?)));
    Measurement {
        turn: row.turn,
        command_line: row.command_line.clone(),
        requests: outcome.requests,
        figures: figures.collect(),
        latency: outcome.latency,
        timeline: timeline(&outcome.rates, &outcome.memory),
        is_generator_bound: row.extra("limited_by_generator") == Some(1.0),
        refusal: outcome.refusal,
    }
}

/// Joins the rates of each second with the memory at its end.
fn timeline(rates: &[(f64, f64)], memory: &[(f64, u64)]) -> Vec<Sample> {
    let memory_at = |second: f64| {
        let before = memory.iter().take_while(|(at, _)| *at <= second).last();
        before.or(memory.first()).map_or(0, |(_, bytes)| *bytes)
    };
    let sample =
        |&(second, requests_per_s): &(f64, f64)| Sample { second, requests_per_s, rss_bytes: memory_at(second) };
    rates.iter().map(sample).collect()
}

/// The commit that is measured, with `+` when the sources differ from it; `unknown` outside a repository.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".into() };
    let changed = git(&["status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock"]);
    let mark = if changed.is_none_or(|changed| !changed.is_empty()) { "+" } else { "" };
    format!("{}{mark}", commit.trim())
}

fn line(row: &Row) -> String {
    let figure = |value: Option<f64>, unit: &str| value.map_or(String::new(), |value| format!("  {value} {unit}"));
    format!(
        "{:<28} turn {} {:<10}{}{}{}  {} MiB",
        row.scenario,
        row.turn,
        row.side,
        figure(row.requests_per_s, "requests/s"),
        figure(row.p99_ms, "ms p99"),
        figure(row.cpu_us_per_request, "us CPU/request"),
        row.rss_bytes / (1024 * 1024)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_shown_without_folders() {
        let arguments =
            ["run", "redigo", "--out", "/tmp/here", "--set", "n=10", "--records=lab/records", "my scenario.toml"];
        let shown = command_again(arguments.into_iter().map(str::to_owned));
        assert_eq!(shown, "bobbin-lab run redigo --set n=10 'my scenario.toml'");
    }
}
