//! The lab's commands.

use crate::compare::{self, CompareArguments};
use crate::first_page::{self, FirstPage};
use crate::replay::{self, ReplayArguments};
use crate::run::{self, RunArguments};
use crate::scenario::report::Library;
use crate::{LabError, plot, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The commands of the lab.
#[derive(Debug, clap::Subcommand)]
pub enum LabCommand {
    /// List the reports and scenarios; with a name, the cases of that one.
    List {
        /// A report or a scenario.
        name: Option<String>,
        /// A folder of scenario files instead of those in this program.
        #[arg(long, value_name = "FOLDER")]
        scenarios: Option<PathBuf>,
    },
    /// Run reports or scenarios and leave a folder with a page, JSON and CSV of the results.
    Run(RunArguments),
    /// Compare two folders of results: which cells became better or worse, and which differ by noise alone.
    Compare(CompareArguments),
    /// Play what `redis-cli MONITOR` printed on several servers, and compare their latencies and replies.
    Replay(ReplayArguments),
    /// Make the tables of figures from the newest records: all on the page of figures, the README's choice in the README.
    Table {
        /// Folders of scenarios and records.
        #[command(flatten)]
        place: RecordFolders,
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
        place: RecordFolders,
        /// The picture [default: RECORDS/figures.svg].
        #[arg(long)]
        out: Option<PathBuf>,
    },
}

/// Folders of scenarios and records.
#[derive(Debug, clap::Args)]
pub struct RecordFolders {
    /// A folder of scenario files instead of those in this program.
    #[arg(long, value_name = "FOLDER")]
    scenarios: Option<PathBuf>,
    /// The folder of records.
    #[arg(long, default_value = "lab/records")]
    records: PathBuf,
    /// The file that names the figures of the README and the picture.
    #[arg(long, default_value = "lab/first-page.toml")]
    first_page: PathBuf,
}

/// Runs a command, `list` if there is none; failures are printed on standard error.
pub fn run(command: Option<LabCommand>) -> ExitCode {
    let done = match command.unwrap_or(LabCommand::List { name: None, scenarios: None }) {
        LabCommand::Run(arguments) => run::run(arguments),
        LabCommand::Compare(arguments) => compare::run(&arguments),
        LabCommand::Replay(arguments) => replay::run(&arguments),
        LabCommand::Table { place, readme, page } => put_tables(&place, &readme, &page),
        LabCommand::Plot { place, out } => put_plot(&place, out),
        LabCommand::List { name, scenarios } => list(name.as_deref(), scenarios.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bobbin-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn put_tables(place: &RecordFolders, readme: &Path, page: &Path) -> Result<(), LabError> {
    let library = Library::read(place.scenarios.as_deref())?;
    let measured = report::measured(&library.scenarios, &place.records)?;
    let base = |page: &Path| page.parent().unwrap_or(Path::new("")).to_owned();
    report::put_table(page, &report::table(&measured, &library.reports, &base(page)))?;
    let first_page = FirstPage::read(&place.first_page)?;
    report::put_table(readme, &first_page::table(&first_page.chosen(&measured)?, &base(readme)))
}

fn put_plot(place: &RecordFolders, out: Option<PathBuf>) -> Result<(), LabError> {
    let library = Library::read(place.scenarios.as_deref())?;
    let measured = report::measured(&library.scenarios, &place.records)?;
    let first_page = FirstPage::read(&place.first_page)?;
    plot::draw(&first_page.chosen(&measured)?, &out.unwrap_or_else(|| place.records.join("figures.svg")))
}

fn list(name: Option<&str>, folder: Option<&Path>) -> Result<(), LabError> {
    let library = Library::read(folder)?;
    let Some(name) = name else {
        println!("Reports (bobbin-lab run NAME):");
        library.reports.iter().for_each(|report| println!("  {:<28} {}", report.name, report.what));
        println!("\nScenarios (bobbin-lab run NAME, bobbin-lab list NAME):");
        library.scenarios.iter().for_each(|scenario| println!("  {:<28} {}", scenario.name, scenario.what));
        return Ok(());
    };
    let scenarios = match library.report(name) {
        Some(report) => {
            println!("{}\n{}\n", report.title, report.source);
            report.scenarios.iter().map(|name| library.scenario(name)).collect::<Result<Vec<_>, _>>()?
        }
        None => vec![library.scenario(name)?],
    };
    for scenario in scenarios {
        println!("{}: {}", scenario.name, scenario.what);
        for case in &scenario.cases {
            println!("  {}/{}: {}", scenario.name, case.name, case.what);
        }
    }
    Ok(())
}
