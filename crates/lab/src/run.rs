//! One run: which scenarios, in which sizes, on which servers, and the folder of its results.

use crate::adapters::Fsync;
use crate::interrupt;
use crate::machine::Machine;
use crate::programs::{self, Programs};
use crate::progress::Progress;
use crate::record;
use crate::results::{self, Results};
use crate::scenario::report::{ALL, Library, Report};
use crate::scenario::{Scenario, Side, Size};
use crate::turn::{self, Runner, ScenarioRun};
use crate::{LabError, io_error};
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Instant;

/// How scenarios are run.
#[derive(Debug, clap::Args)]
pub struct RunArguments {
    /// Reports, scenarios, single cases as `scenario/case`, files of scenarios, or `all` for all reports.
    #[arg(required = true)]
    names: Vec<String>,
    /// The smallest sizes, without rests: shows that everything works, measures nothing.
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    tiny: bool,
    /// Small sizes, one short turn each: shows that everything works, measures little.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The sizes of the report, also those that take long.
    #[arg(long)]
    full: bool,
    /// Turns of each side.
    #[arg(long, visible_alias = "repeat", value_name = "TURNS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    turns: u32,
    /// Another value: `requests` (or `n`) of every case, `items` of the data, or any word of the scenario.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
    /// Only these sides, tables or cases, by name.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// When servers sync to the disk, where the scenario leaves the choice.
    #[arg(long, value_name = "WHEN")]
    durability: Option<Fsync>,
    /// A running server to measure instead of one that the lab starts. Needs --flush.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = name_and_value)]
    peers: Vec<(String, String)>,
    /// Delete all data of the running servers, before each turn and column.
    #[arg(long, requires = "peers")]
    flush: bool,
    /// The cores on which servers run, as taskset has them: `0`, `0-3`.
    #[arg(long, value_name = "CORES")]
    pin: Option<String>,
    /// Run the baseline on both sides: the ratios then show this machine's noise.
    #[arg(long)]
    calibrate: bool,
    /// The bobbin to measure [default: the one beside this program, else on PATH].
    #[arg(long, value_name = "PATH")]
    bobbin: Option<PathBuf>,
    /// The redis-server to measure [default: the one on PATH].
    #[arg(long, value_name = "PATH")]
    redis: Option<PathBuf>,
    /// The folder in which the folder of results is made.
    #[arg(long, value_name = "FOLDER", default_value = "lab-results")]
    out: PathBuf,
    /// The folder in which servers have their data, on the disk to measure [default: in the folder of results].
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Add each row to the records in this folder, from which `table` and `plot` are made.
    #[arg(long, value_name = "FOLDER")]
    records: Option<PathBuf>,
    /// A folder of scenario files instead of those in this program.
    #[arg(long, value_name = "FOLDER")]
    scenarios: Option<PathBuf>,
}

/// Runs what the arguments name, and leaves the folder of its results.
///
/// # Errors
/// Nothing could be run, a cell failed, or the results cannot be written.
pub(crate) fn run(arguments: RunArguments) -> Result<(), LabError> {
    let library = Library::read(arguments.scenarios.as_deref())?;
    let reports = chosen_reports(&library, &arguments.names);
    let mut scenarios = chosen_scenarios(&library, &arguments.names)?;
    for scenario in &mut scenarios {
        fit(scenario, &arguments)?;
    }
    scenarios.retain(|scenario| !scenario.cases.is_empty() && !scenario.sides.is_empty());
    if arguments.calibrate {
        scenarios = scenarios.into_iter().filter_map(Scenario::calibrated).collect();
    }
    if scenarios.is_empty() {
        return Err(LabError::Step("nothing is left to run".to_owned()));
    }
    if !arguments.peers.is_empty() && !arguments.flush {
        let why = "measuring a running server deletes all of its data: say so with --flush";
        return Err(LabError::Step(why.to_owned()));
    }
    programs::check_helpers()?;
    interrupt::watch()?;
    let (began, begin) = (record::date_text(base::clock::system_wall_time()()), Instant::now());
    let folder = arguments.out.join(format!(
        "{}-{}",
        began.replace(':', "").trim_end_matches('Z'),
        folder_name(&arguments.names)
    ));
    let data = arguments.data.clone().unwrap_or_else(|| folder.join("data"));
    fs::create_dir_all(&data).map_err(io_error(data.display().to_string()))?;
    let runner = runner(&arguments, data)?;
    let runs = run_all(&runner, &scenarios);
    if arguments.data.is_none() {
        // Servers have removed their own folders; one that is not empty says which did not.
        let _ = fs::remove_dir(&runner.data);
    }
    let (results, rows, failed) = gathered(&arguments, &reports, &runner, runs, began, begin);
    results.write(&folder, &rows)?;
    println!("\n{}", results::summary(&results));
    println!("{}", folder.join(results::PAGE_NAME).display());
    if failed.is_empty() { Ok(()) } else { Err(LabError::Step(format!("failed: {}", failed.join(", ")))) }
}

impl RunArguments {
    fn size(&self) -> Size {
        match (self.tiny, self.quick, self.full) {
            (true, ..) => Size::Tiny,
            (_, true, _) => Size::Quick,
            (.., true) => Size::Full,
            _ => Size::Usual,
        }
    }
}

fn runner(arguments: &RunArguments, data: PathBuf) -> Result<Runner, LabError> {
    let bobbin = arguments.bobbin.clone();
    let programs = Programs { bobbin, redis: arguments.redis.clone() };
    let running = arguments.peers.iter().map(|(name, place)| Ok((name.clone(), resolve(place)?)));
    Ok(Runner {
        programs,
        machine: Machine::look(&data)?,
        records: arguments.records.clone(),
        data,
        commit: turn::commit(),
        turns: if arguments.size().is_short() { 1 } else { arguments.turns },
        size: arguments.size(),
        fsync: arguments.durability,
        running: running.collect::<Result<_, LabError>>()?,
        pin: arguments.pin.clone(),
    })
}

fn run_all(runner: &Runner, scenarios: &[Scenario]) -> Vec<ScenarioRun> {
    let progress = Progress::new(scenarios.iter().map(|scenario| runner.cells(scenario)).sum());
    let mut runs = Vec::new();
    for scenario in scenarios {
        runs.push(runner.run(scenario, &progress));
        if interrupt::is_requested() {
            break;
        }
    }
    runs
}

/// Joins the runs of all scenarios; returns the rows and the names of those that failed, too.
fn gathered(
    arguments: &RunArguments,
    reports: &[&Report],
    runner: &Runner,
    runs: Vec<ScenarioRun>,
    began: String,
    begin: Instant,
) -> (Results, Vec<record::Row>, Vec<String>) {
    let joined = |text: fn(&Report) -> &str| {
        let texts: Vec<&str> = reports.iter().map(|report| text(report)).filter(|text| !text.is_empty()).collect();
        texts.join(" ")
    };
    let mut results = Results {
        format: results::FORMAT,
        name: arguments.names.join(" "),
        title: if reports.is_empty() { arguments.names.join(", ") } else { joined(|report| &report.title) },
        source: joined(|report| &report.source),
        published_machine: joined(|report| &report.published_machine),
        began,
        command: turn::command_again(std::env::args().skip(1)),
        machine: runner.machine.text.clone(),
        commit: runner.commit.clone(),
        turns: runner.turns,
        is_quick: arguments.size().is_short(),
        is_partial: interrupt::is_requested(),
        ..Results::default()
    };
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    for run in runs {
        if run.failure.is_some() {
            failed.push(run.results.name.clone());
        }
        for side in run.sides {
            if !results.sides.contains(&side) {
                results.sides.push(side);
            }
        }
        for side in run.absent {
            if !results.absent.contains(&side) {
                results.absent.push(side);
            }
        }
        rows.extend(run.rows);
        results.scenarios.push(run.results);
    }
    results.took_s = begin.elapsed().as_secs_f64().round();
    (results, rows, failed)
}

fn chosen_reports<'a>(library: &'a Library, names: &[String]) -> Vec<&'a Report> {
    library.reports.iter().filter(|report| names.iter().any(|name| *name == report.name || name == ALL)).collect()
}

/// The scenarios named, each once; where only cases of one are named, those.
fn chosen_scenarios(library: &Library, names: &[String]) -> Result<Vec<Scenario>, LabError> {
    let mut chosen: Vec<Scenario> = Vec::new();
    let mut add = |scenario: Scenario| match chosen.iter_mut().find(|it| it.name == scenario.name) {
        Some(present) => {
            let is_new = |case: &crate::scenario::Case| !present.cases.iter().any(|it| it.name == case.name);
            let new: Vec<_> = scenario.cases.into_iter().filter(is_new).collect();
            present.cases.extend(new);
        }
        None => chosen.push(scenario),
    };
    for name in names {
        let reports: Vec<&Report> = chosen_reports(library, std::slice::from_ref(name));
        if !reports.is_empty() {
            for scenario in reports.iter().flat_map(|report| &report.scenarios) {
                add(library.scenario(scenario)?);
            }
            continue;
        }
        let of_case = name.rsplit_once('/').filter(|_| !name.ends_with(".toml"));
        match of_case {
            Some((scenario, case)) => {
                let mut scenario = library.scenario(scenario)?;
                scenario.cases.retain(|it| it.name == case);
                if scenario.cases.is_empty() {
                    return Err(LabError::Step(format!("{} has no case `{case}`", scenario.name)));
                }
                add(scenario);
            }
            None => add(library.scenario(name)?),
        }
    }
    Ok(chosen)
}

/// Applies sizes, choices and replacements.
fn fit(scenario: &mut Scenario, arguments: &RunArguments) -> Result<(), LabError> {
    scenario.fit(arguments.size());
    for (name, value) in &arguments.set {
        scenario.replace(name, value)?;
    }
    if arguments.only.is_empty() {
        return Ok(());
    }
    let is_named = |name: &str| arguments.only.iter().any(|only| only == name);
    if scenario.sides.iter().any(|side| is_named(&side.label)) {
        scenario.sides.retain(|side: &Side| is_named(&side.label));
        scenario.baseline = scenario.baseline.take().filter(|label| is_named(label));
    }
    if scenario.tables.iter().any(|table| is_named(&table.name)) {
        scenario.tables.retain(|table| is_named(&table.name));
    }
    if scenario.cases.iter().any(|case| is_named(&case.name)) {
        scenario.cases.retain(|case| is_named(&case.name));
    }
    Ok(())
}

pub(crate) fn resolve(place: &str) -> Result<SocketAddr, LabError> {
    let found = place.to_socket_addrs().map_err(io_error(place))?.next();
    found.ok_or_else(|| LabError::Step(format!("{place}: no such host")))
}

fn folder_name(names: &[String]) -> String {
    let name = names.join("+").replace(['/', ' '], "-");
    name.chars().take(60).collect()
}

pub(crate) fn name_and_value(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| format!("`{text}` is not NAME=VALUE"))
}
