//! Runs scenarios: sides in turns, the first to go changing each time, one row a case and turn.

use crate::load::{self, rounded};
use crate::machine::Machine;
use crate::programs::{self, Programs};
use crate::record::{self, Row};
use crate::scenario::{Case, Figure, Scenario, Side};
use crate::server::Server;
use crate::{LabError, proc, stall};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The time for which the machine's own stalls are measured after a case.
const STALL_SPAN: Duration = Duration::from_secs(2);

/// The environment in which scenarios run.
pub(crate) struct Runner {
    pub(crate) programs: Programs,
    pub(crate) machine: Machine,
    pub(crate) records: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) commit: String,
    pub(crate) turns: u32,
}

impl Runner {
    /// Runs all turns of a scenario. A side that fails is reported to the user and left out of that turn.
    ///
    /// # Errors
    /// The first failure of a side or of the record, once everything else has run.
    pub(crate) fn run(&self, scenario: &Scenario) -> Result<(), LabError> {
        let mut failure = None;
        for turn in 1..=scenario.turns_max.map_or(self.turns, |most| most.min(self.turns)) {
            let [first, second] = &scenario.sides;
            let order = if turn % 2 == 1 { [first, second] } else { [second, first] };
            for side in order {
                if let Err(error) = self.side_turn(scenario, side, turn) {
                    eprintln!("{}, {}, turn {turn}: {error}", scenario.name, side.label);
                    failure.get_or_insert(error);
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn side_turn(&self, scenario: &Scenario, side: &Side, turn: u32) -> Result<(), LabError> {
        let scenario = &scenario.said_by(side);
        let path = self.programs.path(side.program)?;
        let version = programs::version(side.program, &path)?;
        let mut shared = None;
        let is_second = side.label == scenario.sides[1].label;
        for case in scenario.cases.iter().filter(|case| !(case.alone && is_second)) {
            if scenario.server_each {
                shared = None;
            }
            let server = match &mut shared {
                Some(server) => server,
                none => none.insert(self.prepared(scenario, side, case)?),
            };
            let row = self.case_turn(scenario, case, turn, server)?;
            let row = Row { side: side.label.clone(), durability: side.durability.clone(), turn, ..row };
            let row = Row { version: version.clone(), ..row };
            println!("{}", line(&row));
            let file = record::path(&self.records, &self.machine.slug, &row.date, &scenario.name);
            record::append(&file, &row)?;
        }
        Ok(())
    }

    /// A fresh server with what all cases need.
    fn prepared(&self, scenario: &Scenario, side: &Side, case: &Case) -> Result<Server, LabError> {
        let server = Server::of_side(&self.programs.path(side.program)?, side, &self.data)?;
        for step in &scenario.prepare {
            load::prepare(&server, step, scenario.counts(case))?;
        }
        Ok(server)
    }

    /// Measures one case; what belongs to the side is left for the caller to fill.
    fn case_turn(&self, scenario: &Scenario, case: &Case, turn: u32, server: &mut Server) -> Result<Row, LabError> {
        let counts = scenario.counts(case);
        for step in &case.prepare {
            load::prepare(server, step, counts)?;
        }
        load::forget_longest(server)?;
        let cpu_before_us = proc::cpu_us(server.pid())?;
        // Different in each run and turn, the same for both sides.
        let draw = (u64::from(std::process::id()) << 32) | u64::from(turn);
        let outcome = load::apply(case, server, &self.programs, counts, scenario.limit_s, draw)?;
        let cpu_us = proc::cpu_us(server.pid())?.saturating_sub(cpu_before_us);
        let (rss_bytes, rss_bytes_max) = proc::memory_bytes(server.pid())?;
        let longest = load::longest(server)?;
        let server_us = load::server_us(server, outcome.requests)?;
        load::check(case, server, counts)?;
        let mut extra = vec![format!("rss_bytes_max={rss_bytes_max}")];
        if scenario.also.iter().any(|also| also.figure == Figure::MachineStallUs) && !longest.is_empty() {
            extra.push(format!("machine_stall_us={}", stall::longest_us(STALL_SPAN)));
        }
        extra.extend(server_us.map(|us| format!("server_us_per_request={us}")));
        extra.extend(outcome.extra.iter().chain(&longest).map(|(name, value)| format!("{name}={value}")));
        Ok(Row {
            date: record::date_text(base::clock::system_wall_time()()),
            commit: self.commit.clone(),
            scenario: format!("{}/{}", scenario.name, case.name),
            side: String::new(),
            version: String::new(),
            turn: 0,
            command_line: outcome.command_line,
            durability: String::new(),
            machine: self.machine.text.clone(),
            requests_per_s: outcome.requests_per_s.map(|rate| rounded(rate, 1.0)),
            p50_ms: outcome.p50_ms,
            p99_ms: outcome.p99_ms,
            cpu_us_per_request: (outcome.requests > 0)
                .then(|| rounded(cpu_us as f64 / outcome.requests as f64, 1000.0)),
            rss_bytes: outcome.rss_bytes.unwrap_or(rss_bytes),
            extra: extra.join(" "),
        })
    }
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
