//! From rows to figures: medians of a run, the two sides of a case beside each other, and the table of the README.

use crate::record::{self, Row};
use crate::scenario::{Case, Figure, Scenario, Target};
use crate::{LabError, file_error, io_error};
use std::fs;
use std::path::{Path, PathBuf};

/// The table stands between these lines.
const BEGIN: &str = "<!-- figures: begin (made by `bobbin-lab table`) -->";
const END: &str = "<!-- figures: end -->";

/// The newest figures of one case.
pub(crate) struct Compared<'a> {
    pub(crate) case: &'a Case,
    pub(crate) sides: [Figures; 2],
}

/// A scenario's cases that have rows, and the file they are from.
pub(crate) struct Measured<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) file: PathBuf,
    pub(crate) cases: Vec<Compared<'a>>,
}

/// Medians over the turns of one run of one side.
pub(crate) struct Figures {
    /// What the case shows.
    pub(crate) figure: Spread,
    pub(crate) cpu_us: Option<Spread>,
    pub(crate) p99_ms: Option<Spread>,
}

/// What several turns gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self { min, median, max })
    }
}

impl Compared<'_> {
    /// First side to second, of the figure shown.
    pub(crate) fn ratio(&self) -> Option<f64> {
        ratio(Some(self.sides[0].figure), Some(self.sides[1].figure))
    }

    /// First side to second, of CPU a request.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        ratio(self.sides[0].cpu_us, self.sides[1].cpu_us)
    }

    fn p99_ratio(&self) -> Option<f64> {
        ratio(self.sides[0].p99_ms, self.sides[1].p99_ms)
    }

    /// Whether every part of the target is met.
    fn meets(&self, target: &Target) -> bool {
        let at_least = |value: Option<f64>, bound: Option<f64>| bound.is_none_or(|b| value.is_some_and(|v| v >= b));
        let at_most = |value: Option<f64>, bound: Option<f64>| bound.is_none_or(|b| value.is_some_and(|v| v <= b));
        at_least(self.ratio(), target.ratio_min)
            && at_most(self.ratio(), target.ratio_max)
            && at_most(self.cpu_ratio(), target.cpu_max)
            && at_most(self.p99_ratio(), target.p99_max)
            && at_most(Some(self.sides[0].figure.median), target.figure_max)
    }
}

/// The newest figures of all scenarios; those never run are left out.
///
/// # Errors
/// A record cannot be read.
pub(crate) fn measured<'a>(scenarios: &'a [Scenario], records: &Path) -> Result<Vec<Measured<'a>>, LabError> {
    let mut all = Vec::new();
    for scenario in scenarios {
        let Some(file) = record::newest(records, &scenario.name)? else { continue };
        let rows = record::read(&file)?;
        let cases: Vec<_> = scenario.cases.iter().filter_map(|case| compared(scenario, case, &rows)).collect();
        if !cases.is_empty() {
            all.push(Measured { scenario, file, cases });
        }
    }
    Ok(all)
}

/// The table in Markdown; links are relative to `base`.
pub(crate) fn table(measured: &[Measured], base: &Path) -> String {
    let mut text = String::from(
        "| what | Bobbin | beside it | ratio | CPU a request | p99 | target |\n|---|---|---|---|---|---|---|\n",
    );
    for Measured { scenario, file, cases } in measured {
        let [first, second] = &scenario.sides;
        let link = file.strip_prefix(base).unwrap_or(file).display();
        let date = file.file_name().and_then(|name| name.to_str()?.get(..10)).unwrap_or("record");
        text += &format!(
            "| **{}** ([{date}]({link})) | {}: {} | {}: {} | | | | |\n",
            scenario.what, first.label, first.durability, second.label, second.durability
        );
        for compared in cases {
            text += &case_line(compared);
        }
    }
    text
}

/// Puts the table between its marks in `readme`.
///
/// # Errors
/// The file has no marks, or cannot be read or written.
pub(crate) fn put_table(readme: &Path, table: &str) -> Result<(), LabError> {
    let shown = || readme.display().to_string();
    let text = fs::read_to_string(readme).map_err(io_error(shown()))?;
    let parts = text.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| file_error(readme, format!("needs the lines `{BEGIN}` and `{END}`")))?;
    fs::write(readme, format!("{head}{BEGIN}\n\n{table}\n{END}{tail}")).map_err(io_error(shown()))
}

fn compared<'a>(scenario: &Scenario, case: &'a Case, rows: &[Row]) -> Option<Compared<'a>> {
    let name = format!("{}/{}", scenario.name, case.name);
    let [first, second] = &scenario.sides;
    let figures = |label: &str| {
        let run: Vec<&Row> = last_run(rows.iter().filter(|row| row.scenario == name && row.side == label));
        Some(Figures {
            figure: Spread::of(run.iter().filter_map(|row| row.figure(case.figure)))?,
            cpu_us: Spread::of(run.iter().filter_map(|row| row.cpu_us_per_request)),
            p99_ms: Spread::of(run.iter().filter_map(|row| row.p99_ms)),
        })
    };
    Some(Compared { case, sides: [figures(&first.label)?, figures(&second.label)?] })
}

/// A day's file may hold several runs; a new one begins where the turn does not rise.
fn last_run<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let mut run: Vec<&Row> = Vec::new();
    for row in rows {
        if run.last().is_some_and(|last| last.turn >= row.turn) {
            run.clear();
        }
        run.push(row);
    }
    run
}

fn ratio(first: Option<Spread>, second: Option<Spread>) -> Option<f64> {
    let (first, second) = (first?.median, second?.median);
    (second > 0.0).then(|| first / second)
}

fn case_line(compared: &Compared) -> String {
    let case = compared.case;
    let times = |ratio: Option<f64>| ratio.map_or("-".into(), |ratio| format!("{ratio:.2} ×"));
    let p99 = case.figure != Figure::P99Ms;
    let target = target_text(&case.target, case.figure);
    let mark = match (target.is_empty(), compared.meets(&case.target)) {
        (true, _) => "",
        (false, true) => " ✓",
        (false, false) => " ✗",
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {target}{mark} |\n",
        case.what,
        spread_text(compared.sides[0].figure, case.figure),
        spread_text(compared.sides[1].figure, case.figure),
        times(compared.ratio()),
        times(compared.cpu_ratio()),
        times(compared.p99_ratio().filter(|_| p99)),
    )
}

fn target_text(target: &Target, figure: Figure) -> String {
    let part = |bound: Option<f64>, text: &str| bound.map(|bound| format!("{text} {bound} ×"));
    let parts = [
        part(target.ratio_min, "≥"),
        part(target.ratio_max, "≤"),
        part(target.cpu_max, "CPU ≤"),
        part(target.p99_max, "p99 ≤"),
        target.figure_max.map(|bound| {
            let scale = Scale::of(bound, figure);
            format!("≤ {} {}", scale.text(bound), scale.unit)
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn spread_text(spread: Spread, figure: Figure) -> String {
    let scale = Scale::of(spread.median, figure);
    let median = scale.text(spread.median);
    if spread.min == spread.max {
        return format!("{median} {}", scale.unit);
    }
    format!("{median} {} ({} to {})", scale.unit, scale.text(spread.min), scale.text(spread.max))
}

/// How values of about one size are written.
struct Scale {
    divisor: f64,
    decimals: usize,
    unit: &'static str,
}

impl Scale {
    fn of(value: f64, figure: Figure) -> Self {
        let (divisor, decimals, unit) = match figure {
            Figure::RequestsPerS if value >= 100_000.0 => (1000.0, 0, "k/s"),
            Figure::RequestsPerS if value >= 10_000.0 => (1000.0, 1, "k/s"),
            Figure::RequestsPerS => (1.0, 0, "/s"),
            Figure::P99Ms => (1.0, 2, "ms"),
            Figure::CpuUsPerRequest => (1.0, 2, "µs"),
            Figure::RssBytes => (1_048_576.0, 0, "MiB"),
            Figure::BytesPerConnection => (1.0, 0, "B"),
        };
        Self { divisor, decimals, unit }
    }

    fn text(&self, value: f64) -> String {
        format!("{:.*}", self.decimals, value / self.divisor)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::tests::row;

    const SCENARIO: &str = r#"
        what = "Reads"
        [[side]]
        label = "bobbin"
        program = "bobbin"
        durability = "none"
        [[side]]
        label = "redis"
        program = "redis"
        durability = "none"
        [[case]]
        name = "get"
        what = "GET"
        load.benchmark = "-t get"
        check = { command = "PING", answer = "PONG" }
        target = { ratio_min = 1.4, cpu_max = 0.5 }
    "#;

    pub(crate) fn scenario_with_rows(folder: &Path, rows: &[Row]) -> Scenario {
        let path = folder.join("reads.toml");
        fs::write(&path, SCENARIO).unwrap();
        for row in rows {
            record::append(&record::path(folder, "box", &row.date, "reads"), row).unwrap();
        }
        Scenario::read(&path).unwrap()
    }

    #[test]
    fn medians_of_the_last_run_are_compared() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows = vec![row("bobbin", 1, 1.0, 1.0), row("redis", 1, 1.0, 1.0)];
        for (turn, bobbin, redis) in [(1, 30_000.0, 20_000.0), (2, 10_000.0, 10_000.0), (3, 40_000.0, 30_000.0)] {
            rows.push(row("bobbin", turn, bobbin, 3.0));
            rows.push(row("redis", turn, redis, 4.0));
        }
        let scenarios = [scenario_with_rows(folder.path(), &rows)];
        let measured = measured(&scenarios, folder.path()).unwrap();
        let table = table(&measured, folder.path());
        let expected = "| GET | 30.0 k/s (10.0 to 40.0) | 20.0 k/s (10.0 to 30.0) | 1.50 × | 0.75 × | 1.00 × \
                        | ≥ 1.4 ×, CPU ≤ 0.5 × ✗ |";
        assert!(table.contains(expected), "{table}");
        assert!(table.contains("([2026-03-02](box/2026-03-02-reads.csv))"), "{table}");
    }

    #[test]
    fn the_readme_keeps_what_is_around_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let readme = folder.path().join("README.md");
        fs::write(&readme, format!("before\n{BEGIN}\nold\n{END}\nafter\n")).unwrap();
        put_table(&readme, "new\n").unwrap();
        put_table(&readme, "newer\n").unwrap();
        assert_eq!(fs::read_to_string(&readme).unwrap(), format!("before\n{BEGIN}\n\nnewer\n\n{END}\nafter\n"));
        fs::write(&readme, "no marks").unwrap();
        assert!(put_table(&readme, "new").unwrap_err().to_string().contains("needs the lines"));
    }

    #[test]
    fn an_even_count_has_its_median_between() {
        let spread = Spread::of([4.0, 1.0, 2.0, 3.0].into_iter()).unwrap();
        assert_eq!(spread, Spread { min: 1.0, median: 2.5, max: 4.0 });
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
