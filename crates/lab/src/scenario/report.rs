//! Reports: which scenarios run a published benchmark again, and the scenarios and reports that are in the program.

use super::Scenario;
use crate::{LabError, file_error, io_error};
use include_dir::{Dir, include_dir};
use serde::Deserialize;
use std::fs;
use std::path::Path;

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../lab/scenarios");
static REPORTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../lab/reports");

/// The name under which every report is run.
pub(crate) const ALL: &str = "all";

/// One file of `lab/reports`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    /// The file's stem.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// The line for lists.
    pub(crate) what: String,
    /// The measurement, its authors, its date and where it can be read, in sentences.
    #[serde(default)]
    pub(crate) source: String,
    /// The machine of the published figures; empty if none are published.
    #[serde(default)]
    pub(crate) published_machine: String,
    /// The names of its scenarios, in the order of the page.
    pub(crate) scenarios: Vec<String>,
}

/// All scenarios and reports.
pub(crate) struct Library {
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) reports: Vec<Report>,
}

impl Library {
    /// Reads the scenarios of a folder, or those in the program; the reports are those in the program.
    ///
    /// # Errors
    /// One cannot be read.
    pub(crate) fn read(folder: Option<&Path>) -> Result<Self, LabError> {
        let scenarios = match folder {
            Some(folder) => Scenario::read_all(folder)?,
            None => {
                let files = texts(&SCENARIOS);
                files.iter().map(|(path, text)| Scenario::parse(text, path)).collect::<Result<_, _>>()?
            }
        };
        let reports = texts(&REPORTS).iter().map(|(path, text)| Report::parse(text, path)).collect::<Result<_, _>>()?;
        Ok(Self { scenarios, reports })
    }

    pub(crate) fn report(&self, name: &str) -> Option<&Report> {
        self.reports.iter().find(|report| report.name == name)
    }

    /// Returns a scenario, which is one of these or in a file.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn scenario(&self, name: &str) -> Result<Scenario, LabError> {
        if let Some(scenario) = self.scenarios.iter().find(|scenario| scenario.name == name) {
            return Ok(scenario.clone());
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(path).map_err(io_error(name))?;
            return Scenario::parse(&text, path);
        }
        Err(LabError::Step(format!("no report, scenario or scenario file `{name}`; `bobbin-lab list` has all")))
    }
}

impl Report {
    fn parse(text: &str, path: &Path) -> Result<Self, LabError> {
        let mut report: Self = toml::from_str(text).map_err(|error| file_error(path, error))?;
        report.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(report)
    }
}

/// The TOML files of a folder, by name.
fn texts<'a>(folder: &'a Dir<'_>) -> Vec<(&'a Path, &'a str)> {
    let files = folder.files().filter(|file| file.path().extension().is_some_and(|extension| extension == "toml"));
    let mut texts: Vec<_> = files.filter_map(|file| Some((file.path(), file.contents_utf8()?))).collect();
    texts.sort_unstable();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_has_its_scenarios() {
        let library = Library::read(None).unwrap();
        assert!(!library.reports.is_empty());
        for report in &library.reports {
            assert!(!report.scenarios.is_empty(), "{} runs nothing", report.name);
            for name in &report.scenarios {
                library.scenario(name).unwrap();
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        let library = Library::read(None).unwrap();
        assert!(library.scenario("nonsense").unwrap_err().to_string().contains("`nonsense`"));
        assert!(library.scenario("no/such.toml").is_err());
    }
}
