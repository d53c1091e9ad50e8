//! The lab's commands, the same under `bobbin-lab` and `bobbin lab`.

use crate::machine::Machine;
use crate::programs::Programs;
use crate::scenario::Scenario;
use crate::turn::{self, Runner};
use crate::{LabError, io_error, plot, report};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What the lab can do.
#[derive(Debug, clap::Subcommand)]
pub enum LabCommand {
    /// Run scenarios (all, if none is named) and add their figures to the records.
    Run(RunArguments),
    /// Make the tables of figures from the newest records: all on the page of figures, the README's choice in the README.
    Table {
        /// Folders of scenarios and records.
        #[command(flatten)]
        place: Place,
        /// The README; as the next one, it has the two marks.
        #[arg(long, default_value = "README.md")]
        readme: PathBuf,
        /// The page of figures.
        #[arg(long, default_value = "docs/figures.md")]
        page: PathBuf,
    },
    /// Draw the README's choice of ratios from the newest records as an SVG picture.
    Plot {
        /// Folders of scenarios and records.
        #[command(flatten)]
        place: Place,
        /// The picture [default: RECORDS/figures.svg].
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// List the scenarios and their cases.
    List {
        /// Folders of scenarios and records.
        #[command(flatten)]
        place: Place,
    },
}

/// Folders of scenarios and records.
#[derive(Debug, clap::Args)]
pub struct Place {
    /// The folder of scenario files.
    #[arg(long, default_value = "lab/scenarios")]
    scenarios: PathBuf,
    /// The folder of records [default: lab/records; with --quick or --calibrate target/lab/records].
    #[arg(long)]
    records: Option<PathBuf>,
}

/// How scenarios are run.
#[derive(Debug, clap::Args)]
pub struct RunArguments {
    /// Names of scenarios, or of single cases as `scenario/case`.
    names: Vec<String>,
    /// One short turn each: a smoke test, measures nothing worth keeping.
    #[arg(long)]
    quick: bool,
    /// Run the peer on both sides: the ratios then show this machine's noise.
    #[arg(long)]
    calibrate: bool,
    /// Turns of each side.
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// The bobbin to measure [default: the one beside this program, else on PATH].
    #[arg(long, value_name = "PATH")]
    bobbin: Option<PathBuf>,
    /// The peer [default: redis-server on PATH].
    #[arg(long, value_name = "PATH")]
    redis: Option<PathBuf>,
    /// Data folder of the servers, on the disk to measure.
    #[arg(long, default_value = "target/lab/data")]
    data: PathBuf,
    #[command(flatten)]
    place: Place,
}

impl Place {
    fn records(&self) -> PathBuf {
        self.records.clone().unwrap_or_else(|| "lab/records".into())
    }
}

/// Runs a command; failures are printed on standard error.
pub fn run(command: LabCommand) -> ExitCode {
    let done = match command {
        LabCommand::Run(arguments) => run_scenarios(arguments),
        LabCommand::Table { place, readme, page } => put_tables(&place, &readme, &page),
        LabCommand::Plot { place, out } => put_plot(&place, out),
        LabCommand::List { place } => list(&place),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bobbin-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_scenarios(arguments: RunArguments) -> Result<(), LabError> {
    let mut scenarios = chosen(Scenario::read_all(&arguments.place.scenarios)?, &arguments.names)?;
    let is_trial = arguments.quick || arguments.calibrate;
    let trial_records = || PathBuf::from(if is_trial { "target/lab/records" } else { "lab/records" });
    if arguments.quick {
        scenarios.iter_mut().for_each(Scenario::shorten);
    }
    if arguments.calibrate {
        scenarios = scenarios.into_iter().filter_map(Scenario::calibrated).collect();
    }
    // Nothing of Bobbin runs in a calibration, so it need not be built.
    let peer = || base::programs::on_path("redis-server");
    let bobbin = arguments.bobbin.or_else(|| peer().filter(|_| arguments.calibrate));
    let programs = Programs::find(bobbin, arguments.redis)?;
    fs::create_dir_all(&arguments.data).map_err(io_error(arguments.data.display().to_string()))?;
    let runner = Runner {
        programs,
        machine: Machine::look(&arguments.data)?,
        records: arguments.place.records.unwrap_or_else(trial_records),
        data: arguments.data,
        commit: turn::commit(),
        turns: if arguments.quick { 1 } else { arguments.turns },
    };
    let mut failed = Vec::new();
    for scenario in &scenarios {
        if runner.run(scenario).is_err() {
            failed.push(scenario.name.as_str());
        }
    }
    print!("\n{}", report::table(&report::measured(&scenarios, &runner.records)?, Path::new("")));
    if failed.is_empty() { Ok(()) } else { Err(LabError::Step(format!("failed: {}", failed.join(", ")))) }
}

/// The scenarios named, cut down to the cases named.
fn chosen(scenarios: Vec<Scenario>, names: &[String]) -> Result<Vec<Scenario>, LabError> {
    if names.is_empty() {
        return Ok(scenarios);
    }
    let mut chosen = Vec::new();
    let mut used = vec![false; names.len()];
    for mut scenario in scenarios {
        let mut wants = |wanted: &str| {
            let index = names.iter().position(|name| name == wanted);
            index.inspect(|index| used[*index] = true).is_some()
        };
        if !wants(&scenario.name) {
            let name = scenario.name.clone();
            scenario.cases.retain(|case| wants(&format!("{name}/{}", case.name)));
        }
        if !scenario.cases.is_empty() {
            chosen.push(scenario);
        }
    }
    match used.iter().position(|used| !used) {
        Some(index) => Err(LabError::Step(format!("no scenario or case `{}`; see `list`", names[index]))),
        None => Ok(chosen),
    }
}

fn put_tables(place: &Place, readme: &Path, page: &Path) -> Result<(), LabError> {
    let scenarios = Scenario::read_all(&place.scenarios)?;
    let measured = report::measured(&scenarios, &place.records())?;
    let base = |page: &Path| page.parent().unwrap_or(Path::new("")).to_owned();
    report::put_table(page, &report::table(&measured, &base(page)))?;
    report::put_table(readme, &report::short_table(&report::chosen(&measured), &base(readme)))
}

fn put_plot(place: &Place, out: Option<PathBuf>) -> Result<(), LabError> {
    let scenarios = Scenario::read_all(&place.scenarios)?;
    let measured = report::measured(&scenarios, &place.records())?;
    plot::draw(&report::chosen(&measured), &out.unwrap_or_else(|| place.records().join("figures.svg")))
}

fn list(place: &Place) -> Result<(), LabError> {
    for scenario in Scenario::read_all(&place.scenarios)? {
        println!("{}: {}", scenario.name, scenario.what);
        for case in &scenario.cases {
            println!("    {}/{}: {}", scenario.name, case.name, case.what);
        }
    }
    Ok(())
}
