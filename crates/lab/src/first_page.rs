//! The figures of the first page: a file names ten cells at most.
//!
//! ```text
//!   lab/first-page.toml: cells, their names --> the newest records of each --> table of the README, picture
//! ```

use crate::report::{Compared, Measured, Scale, link, ratio_text, times_text};
use crate::{LabError, file_error, io_error};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The choice of cells.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstPage {
    figure: Vec<NamedCell>,
}

/// A cell with its name on the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedCell {
    name: String,
    /// The cell as in the records: scenario, table, case and column. It is shown beside the scenario's baseline.
    cell: String,
}

/// A figure that the page shows, and where it is from.
pub(crate) struct Chosen<'m, 'a> {
    pub(crate) name: &'m str,
    pub(crate) compared: &'m Compared<'a>,
    measured: &'m Measured<'a>,
}

impl FirstPage {
    /// Reads the choice.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Self, LabError> {
        let text = fs::read_to_string(path).map_err(io_error(path.display().to_string()))?;
        toml::from_str(&text).map_err(|error| file_error(path, error))
    }

    /// Returns the figures, with the greatest lead of the first side first.
    ///
    /// # Errors
    /// A cell has no record.
    pub(crate) fn chosen<'m, 'a>(&'m self, measured: &'m [Measured<'a>]) -> Result<Vec<Chosen<'m, 'a>>, LabError> {
        let mut all = self.figure.iter().map(|named| named.find(measured)).collect::<Result<Vec<_>, _>>()?;
        let lead = |chosen: &Chosen| chosen.compared.lead().unwrap_or(0.0);
        all.sort_by(|one, other| lead(other).total_cmp(&lead(one)));
        Ok(all)
    }
}

impl NamedCell {
    fn find<'m, 'a>(&'m self, measured: &'m [Measured<'a>]) -> Result<Chosen<'m, 'a>, LabError> {
        let is_it = |compared: &Compared<'_>| {
            compared.is_own && compared.is_baseline && compared.cell == self.cell && compared.lead().is_some()
        };
        let of_one = |measured: &'m Measured<'a>| {
            let compared = measured.cases.iter().find(|compared| is_it(compared))?;
            Some(Chosen { name: &self.name, compared, measured })
        };
        let missing = || LabError::Step(format!("no record compares `{}`, which the first page shows", self.cell));
        measured.iter().find_map(of_one).ok_or_else(missing)
    }
}

/// Returns the table of the README, which is in the folder `base`, in Markdown.
pub(crate) fn table(chosen: &[Chosen], base: &Path) -> String {
    let mut text = String::from(
        "| what | persistence | Bobbin | compared with | ratio | CPU per request |\n|---|---|---|---|---|---|\n",
    );
    for Chosen { name, compared, measured } in chosen {
        let [first, second] = &compared.sides;
        let labels = [&measured.scenario.sides[0].label, &compared.against.label];
        let durability = match first.durability == second.durability {
            true => format!("both: {}", first.durability),
            false => format!("{}: {}; {}: {}", labels[0], first.durability, labels[1], second.durability),
        };
        let median = |side: usize| {
            let spread = compared.sides[side].figure;
            spread.map_or("-".to_owned(), |spread| {
                Scale::of(spread.median, compared.figure).text_with_unit(spread.median)
            })
        };
        text += &format!(
            "| [{name}]({}) | {durability} | {} | {} {} | {} | {} |\n",
            link(&measured.file, base),
            median(0),
            labels[1],
            median(1),
            ratio_text(compared),
            times_text(compared.cpu_ratio()),
        );
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::Row;
    use crate::record::tests::row;
    use crate::report::{measured, tests::scenario_with_rows};

    /// Returns a choice of cells with names.
    pub(crate) fn first_page(cells: &[(&str, &str)]) -> FirstPage {
        let named = |(name, cell): &(&str, &str)| NamedCell { name: (*name).into(), cell: (*cell).into() };
        FirstPage { figure: cells.iter().map(named).collect() }
    }

    #[test]
    fn named_cells_are_listed_by_descending_lead() {
        let folder = tempfile::tempdir().unwrap();
        let slow = |side, p99_ms| Row { scenario: "reads/slow".into(), p99_ms: Some(p99_ms), ..row(side, 1, 1.0, 1.0) };
        let rows = [row("bobbin", 1, 300.0, 1.0), row("redis", 1, 200.0, 2.0), slow("bobbin", 2.0), slow("redis", 8.0)];
        let mut scenarios = [scenario_with_rows(folder.path(), &rows)];
        let also = r#"
            name = "slow"
            what = "GET, slowly"
            load.benchmark = "-t get"
            check = { command = "PING", answer = "PONG" }
            figure = "p99_ms"
        "#;
        scenarios[0].cases.push(toml::from_str(also).unwrap());
        let all = measured(&scenarios, folder.path()).unwrap();
        let told = |cells: &[(&str, &str)]| {
            let page = first_page(cells);
            let chosen = page.chosen(&all)?;
            Ok::<_, LabError>(table(&chosen, &folder.path().join("docs")))
        };
        assert!(!told(&[("GET that waits", "reads/slow")]).unwrap().contains("300"));
        let table = told(&[("GET at once", "reads/get"), ("GET that waits", "reads/slow")]).unwrap();
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(lines.len(), 2, "{table}");
        assert!(lines[0].starts_with("| [GET that waits]("), "{table}");
        assert!(lines[0].ends_with(") | both: none | 2.00 ms | redis 8.00 ms | 0.25 × the time | 1.00 × |"), "{table}");
        assert!(lines[1].ends_with(") | both: none | 300 /s | redis 200 /s | 1.50 × the rate | 0.50 × |"), "{table}");
        assert!(told(&[("never", "reads/never")]).unwrap_err().to_string().contains("`reads/never`"));
    }
}
