//! From rows to figures: medians of a run, the two sides of a case beside each other, and the tables of the documents.
//!
//! The page of figures has every line but those of published reports, whose own pages have them. What the README shows is in
//! `first_page.rs`.

use crate::adapters::Fsync;
use crate::record::{self, Row};
use crate::scenario::report::Report;
use crate::scenario::{Case, Figure, Scenario, Side, Table, Target};
use crate::statistics::median_of_sorted;
use crate::{LabError, file_error, io_error, results};
use std::fs;
use std::path::{Path, PathBuf};

/// The table stands between these lines.
const BEGIN: &str = "<!-- figures: begin (made by `bobbin-lab table`) -->";
const END: &str = "<!-- figures: end -->";

/// The newest of one figure of a case, the subject's beside one other side's: a line of the table.
pub(crate) struct Compared<'a> {
    pub(crate) what: String,
    pub(crate) figure: Figure,
    target: &'a Target,
    /// The bound that the target derives from another case of the first side; absent if that was never run.
    by_other: Option<f64>,
    /// The other case in words.
    other: &'a str,
    /// The name of its cell in the rows.
    pub(crate) cell: String,
    /// True if it is the case's own figure, beside which CPU and p99 are shown.
    pub(crate) is_own: bool,
    /// True if it is compared with the scenario's baseline.
    pub(crate) is_baseline: bool,
    /// The side that it is compared with.
    pub(crate) against: &'a Side,
    /// The subject's, and the other's.
    pub(crate) sides: [Figures; 2],
}

/// A scenario's cases that have rows, and the file they are from.
pub(crate) struct Measured<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) file: PathBuf,
    pub(crate) cases: Vec<Compared<'a>>,
}

/// Medians over the turns of one run of one side.
#[derive(Default)]
pub(crate) struct Figures {
    /// The part of its data that a power failure left.
    pub(crate) durability: String,
    /// The figure of the line; absent where this side has none.
    pub(crate) figure: Option<Spread>,
    cpu_us: Option<Spread>,
    p99_ms: Option<Spread>,
}

/// The spread of a figure over several turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Returns the spread of these values, if there are any.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Self { min, median: median_of_sorted(&values), max })
    }
}

impl Compared<'_> {
    /// First side to second, of the figure shown.
    pub(crate) fn ratio(&self) -> Option<f64> {
        ratio(self.sides[0].figure, self.sides[1].figure)
    }

    /// First side to second, of CPU a request.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        ratio(self.sides[0].cpu_us, self.sides[1].cpu_us)
    }

    fn p99_ratio(&self) -> Option<f64> {
        ratio(self.sides[0].p99_ms, self.sides[1].p99_ms)
    }

    /// Returns the factor by which the first side leads; below 1, the second leads.
    pub(crate) fn lead(&self) -> Option<f64> {
        let ratio = self.ratio()?;
        if self.figure == Figure::RequestsPerS { Some(ratio) } else { (ratio > 0.0).then(|| 1.0 / ratio) }
    }

    /// Returns true if every part of the target is met.
    fn meets_target(&self) -> bool {
        let target = self.target;
        let [first, second] = [self.sides[0].figure, self.sides[1].figure];
        let difference = first.zip(second).map(|(first, second)| first.median - second.median);
        let at_least = |value: Option<f64>, bound: Option<f64>| bound.is_none_or(|b| value.is_some_and(|v| v >= b));
        let at_most = |value: Option<f64>, bound: Option<f64>| bound.is_none_or(|b| value.is_some_and(|v| v <= b));
        at_least(self.ratio(), target.ratio_min)
            && at_most(self.ratio(), target.ratio_max)
            && at_most(self.cpu_ratio(), target.cpu_max)
            && at_most(self.p99_ratio(), target.p99_max)
            && at_most(first.map(|spread| spread.max), target.figure_max)
            && at_most(difference, target.difference_max)
            && (target.times.is_none() || first.zip(self.by_other).is_some_and(|(first, bound)| first.median <= bound))
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
        let cases = compared(scenario, &rows);
        if !cases.is_empty() {
            all.push(Measured { scenario, file, cases });
        }
    }
    Ok(all)
}

/// A link to `file` from a page in the folder `base`, both relative to the root.
pub(crate) fn link(file: &Path, base: &Path) -> String {
    match file.strip_prefix(base) {
        Ok(inside) => inside.display().to_string(),
        Err(_) => format!("{}{}", "../".repeat(base.components().count()), file.display()),
    }
}

/// Returns the table in Markdown for a page in the folder `base`: of the scenarios of published `reports` only the links.
pub(crate) fn table(measured: &[Measured], reports: &[Report], base: &Path) -> String {
    let mut text = String::from(
        "| what | Bobbin | compared with | ratio | target | CPU per request | p99 |\n|---|---|---|---|---|---|---|\n",
    );
    for Measured { scenario, file, cases } in measured {
        let link = link(file, base);
        let date = file.file_name().and_then(|name| name.to_str()?.get(..10)).unwrap_or("record");
        let page = page_of(scenario, file, reports);
        let page_link = page.as_ref().map_or(String::new(), |page| format!(", [page]({})", self::link(page, base)));
        text += &format!(
            "| **{}** ([{date}]({link}){page_link}) | {} | {} | | | | |\n",
            scenario.what,
            durability(&scenario.sides[..1]),
            durability(&scenario.sides[1..]),
        );
        if page.is_some() {
            continue;
        }
        let names_peer = scenario.sides.len() > 2;
        for compared in cases {
            text += &case_line(compared, names_peer);
        }
    }
    text
}

/// Returns the page that was kept beside the record, if a published report has the scenario.
fn page_of(scenario: &Scenario, file: &Path, reports: &[Report]) -> Option<PathBuf> {
    let is_of = |report: &&Report| !report.published_machine.is_empty() && report.scenarios.contains(&scenario.name);
    let report = reports.iter().find(is_of)?;
    let page = file.parent()?.join("reports").join(&report.name).join(results::PAGE_NAME);
    page.is_file().then_some(page)
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

/// A line for each case, further figure of it that the first side has rows of, and other side.
fn compared<'a>(scenario: &'a Scenario, rows: &[Row]) -> Vec<Compared<'a>> {
    let mut lines = Vec::new();
    let subject = &scenario.sides[0];
    // A scenario of one side has only its own figures.
    let others = if scenario.sides.len() > 1 { &scenario.sides[1..] } else { &scenario.sides[..] };
    for cell in cells(scenario) {
        let run = |side: &Side| run_of(rows, &cell.name, side);
        let own = run(subject);
        for against in others {
            let beside = if against.label == subject.label { Vec::new() } else { run(against) };
            // A peer that never ran has no line, unless it is the only one.
            if beside.is_empty() && others.len() > 1 {
                continue;
            }
            cell_lines(scenario, rows, &cell, against, [&own, &beside], &mut lines);
        }
    }
    lines
}

/// A case in a table and a column.
struct Cell<'a> {
    case: &'a Case,
    /// As in the rows.
    name: String,
    /// With the table and the column in words.
    what: String,
}

fn cells(scenario: &Scenario) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    for table in &scenario.tables() {
        for case in scenario.cases.iter().filter(|case| case.is_in(table)) {
            for column in 0..scenario.columns.count() {
                let name_of_column = scenario.columns.name_of(column);
                let name = record::cell_name(&scenario.name, &table.name, &case.name, &name_of_column);
                cells.push(Cell { case, name, what: words_of(case, table, &scenario.columns.what, &name_of_column) });
            }
        }
    }
    cells
}

fn words_of(case: &Case, table: &Table, columns: &str, column: &str) -> String {
    let table = if table.what.is_empty() { String::new() } else { format!("{}: ", table.what) };
    let column = if column.is_empty() { String::new() } else { format!(", {columns}: {column}") };
    format!("{table}{}{column}", case.what)
}

fn cell_lines<'a>(
    scenario: &'a Scenario,
    rows: &[Row],
    cell: &Cell<'a>,
    against: &'a Side,
    runs: [&[&Row]; 2],
    lines: &mut Vec<Compared<'a>>,
) {
    let case = cell.case;
    let words = |figure: &str| format!("{}: {figure}", cell.what);
    let (same, others): (Vec<_>, Vec<_>) = scenario.also.iter().partition(|also| also.figure == case.figure);
    let own_what = same.first().map_or(cell.what.clone(), |also| words(&also.what));
    let own = (own_what, case.figure, &case.target);
    let also = others.into_iter().map(|also| (words(&also.what), also.figure, &also.target));
    for (index, (what, figure, target)) in std::iter::once(own).chain(also).enumerate() {
        let sides = runs.map(|run| Figures::of(run, figure));
        if sides[0].figure.is_some() {
            let is_own = index == 0;
            let is_baseline = scenario.baseline().is_none_or(|baseline| baseline.label == against.label);
            let (by_other, other) = other_of(scenario, rows, target, figure);
            let cell = cell.name.clone();
            lines.push(Compared { what, figure, target, by_other, other, cell, is_own, is_baseline, against, sides });
        }
    }
}

/// Returns the bound that a target derives from another case, and that case in words.
fn other_of<'a>(scenario: &'a Scenario, rows: &[Row], target: &Target, figure: Figure) -> (Option<f64>, &'a str) {
    let Some(times) = &target.times else { return (None, "") };
    let name = record::cell_name(&scenario.name, "", &times.case, "");
    let other = Figures::of(&run_of(rows, &name, &scenario.sides[0]), figure);
    let what = scenario.cases.iter().find(|case| case.name == times.case).map_or("", |case| case.what.as_str());
    (other.figure.map(|spread| spread.median * times.max), what)
}

/// The last run of a cell on one side.
fn run_of<'a>(rows: &'a [Row], cell: &str, side: &Side) -> Vec<&'a Row> {
    last_run(rows.iter().filter(|row| row.scenario == cell && row.side == side.label))
}

impl Figures {
    fn of(run: &[&Row], figure: Figure) -> Self {
        Self {
            durability: run.first().map_or(String::new(), |row| row.durability.clone()),
            figure: Spread::of(run.iter().filter_map(|row| row.figure(figure))),
            cpu_us: Spread::of(run.iter().filter_map(|row| row.cpu_us_per_request)),
            p99_ms: Spread::of(run.iter().filter_map(|row| row.p99_ms)),
        }
    }
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

fn durability(sides: &[Side]) -> String {
    let of = |side: &Side| {
        let by_setting = side.fsync.map_or("", Fsync::name);
        format!("{}: {}", side.label, if side.durability.is_empty() { by_setting } else { &side.durability })
    };
    sides.iter().map(of).collect::<Vec<_>>().join("; ")
}

fn case_line(compared: &Compared, names_peer: bool) -> String {
    let Compared { what, figure, .. } = compared;
    let peer = if names_peer { format!("{} ", compared.against.label) } else { String::new() };
    let is_own = compared.is_own;
    let target = target_text(compared);
    let mark = match (target.is_empty(), compared.meets_target()) {
        (true, _) => "",
        (false, true) => ": met",
        (false, false) => ": missed",
    };
    format!(
        "| {what} | {} | {peer}{} | {} | {target}{mark} | {} | {} |\n",
        spread_text(compared.sides[0].figure, *figure),
        spread_text(compared.sides[1].figure, *figure),
        ratio_text(compared),
        times_text(compared.cpu_ratio().filter(|_| is_own)),
        times_text(compared.p99_ratio().filter(|_| is_own && *figure != Figure::P99Ms)),
    )
}

pub(crate) fn times_text(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("{ratio:.2} ×"))
}

/// The ratio with what it is a ratio of, so that nobody has to know whether more is better.
pub(crate) fn ratio_text(compared: &Compared) -> String {
    compared.ratio().map_or("-".into(), |ratio| format!("{ratio:.2} × {}", ratio_noun(compared.figure)))
}

/// Returns what a ratio of this figure is a ratio of.
pub(crate) fn ratio_noun(figure: Figure) -> &'static str {
    match figure {
        Figure::RequestsPerS => "the rate",
        Figure::CpuUsPerRequest | Figure::ServerUsPerRequest => "the CPU",
        Figure::RssBytes | Figure::BytesPerConnection | Figure::BytesEach | Figure::MemoryGrowthBytes => "the memory",
        Figure::FolderBytes | Figure::FolderBytesMax => "the disk",
        Figure::WrittenPerByte => "the writing",
        Figure::FoundNothingPercent => "the share",
        _ => "the time",
    }
}

fn target_text(compared: &Compared) -> String {
    let Compared { target, figure, other, .. } = *compared;
    let part = |bound: Option<f64>, text: &str| bound.map(|bound| format!("{text} {bound} ×"));
    let parts = [
        part(target.ratio_min, "≥"),
        part(target.ratio_max, "≤"),
        part(target.cpu_max, "CPU ≤"),
        part(target.p99_max, "p99 ≤"),
        target.figure_max.map(|bound| format!("≤ {}", Scale::of(bound, figure).text_with_unit(bound))),
        target.difference_max.map(|bound| format!("≤ + {}", Scale::of(bound, figure).text_with_unit(bound))),
        target.times.as_ref().map(|times| format!("≤ {} × \"{other}\"", times.max)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn spread_text(spread: Option<Spread>, figure: Figure) -> String {
    let Some(spread) = spread else { return "-".to_owned() };
    let scale = Scale::of(spread.median, figure);
    let median = scale.text_with_unit(spread.median);
    if spread.min == spread.max {
        return median;
    }
    format!("{median} ({} to {})", scale.text(spread.min), scale.text(spread.max))
}

/// The number format for values of about one size.
pub(crate) struct Scale {
    divisor: f64,
    decimals: usize,
    unit: &'static str,
}

impl Scale {
    pub(crate) fn of(value: f64, figure: Figure) -> Self {
        let (divisor, decimals, unit) = match figure {
            Figure::RequestsPerS if value >= 100_000.0 => (1000.0, 0, "k/s"),
            Figure::RequestsPerS if value >= 10_000.0 => (1000.0, 1, "k/s"),
            Figure::RequestsPerS if value >= 100.0 => (1.0, 0, "/s"),
            Figure::RequestsPerS if value >= 10.0 => (1.0, 1, "/s"),
            Figure::RequestsPerS => (1.0, 2, "/s"),
            Figure::P50Ms
            | Figure::P95Ms
            | Figure::P99Ms
            | Figure::P999Ms
            | Figure::MaxMs
            | Figure::LongestGapMs
            | Figure::SingleP999Ms
            | Figure::SingleMaxMs => (1.0, if value < 0.1 { 3 } else { 2 }, "ms"),
            Figure::FirstReplyMs | Figure::LoadedMs => (1.0, 0, "ms"),
            Figure::CpuUsPerRequest | Figure::ServerUsPerRequest => (1.0, 2, "µs"),
            Figure::RssBytes | Figure::MemoryGrowthBytes | Figure::FolderBytes | Figure::FolderBytesMax => {
                (1_048_576.0, if value < 104_857_600.0 { 1 } else { 0 }, "MiB")
            }
            Figure::WrittenPerByte => (1.0, 2, "B"),
            Figure::FoundNothingPercent => (1.0, 1, "%"),
            Figure::BytesPerConnection => (1.0, 0, "B"),
            Figure::BytesEach if value < 1000.0 => (1.0, 2, "B"),
            Figure::BytesEach => (1.0, 0, "B"),
            Figure::LongestTurnUs | Figure::LongestLockHoldUs | Figure::LongestLockWaitUs => (1.0, 0, "µs"),
            Figure::LongestShardTurnUs | Figure::MachineStallUs | Figure::LongestGeneratorStepUs => (1.0, 0, "µs"),
        };
        Self { divisor, decimals, unit }
    }

    pub(crate) fn text(&self, value: f64) -> String {
        format!("{:.*}", self.decimals, value / self.divisor)
    }

    pub(crate) fn text_with_unit(&self, value: f64) -> String {
        format!("{} {}", self.text(value), self.unit)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::tests::row;
    use crate::scenario::Also;

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
        let table = table(&measured, &[], folder.path());
        let expected = "| GET | 30.0 k/s (10.0 to 40.0) | 20.0 k/s (10.0 to 30.0) | 1.50 × the rate \
                        | ≥ 1.4 ×, CPU ≤ 0.5 ×: missed | 0.75 × | 1.00 × |";
        assert!(table.contains(expected), "{table}");
        assert!(table.contains("([2026-03-02](box/2026-03-02-reads.csv))"), "{table}");
    }

    #[test]
    fn a_case_is_compared_with_another_of_its_side() {
        let folder = tempfile::tempdir().unwrap();
        let slow =
            |turn, p99_ms| Row { scenario: "reads/slow".into(), p99_ms: Some(p99_ms), ..row("bobbin", turn, 1.0, 1.0) };
        let rows = [row("bobbin", 1, 3.0, 1.0), slow(1, 2.0), slow(2, 9.0), slow(3, 1.5)];
        let mut scenarios = [scenario_with_rows(folder.path(), &rows)];
        let also = r#"
            name = "slow"
            what = "GET, slowly"
            load.benchmark = "-t get"
            check = { command = "PING", answer = "PONG" }
            figure = "p99_ms"
            target = { times = { case = "get", max = 2.0 } }
        "#;
        scenarios[0].cases.push(toml::from_str(also).unwrap());
        scenarios[0].cases[0].target = Target::default();
        let told = |scenarios: &[Scenario]| table(&measured(scenarios, folder.path()).unwrap(), &[], folder.path());
        let line = "| GET, slowly | 2.00 ms (1.50 to 9.00) | - | - | ≤ 2 × \"GET\": met | - | - |";
        assert!(told(&scenarios).contains(line), "{}", told(&scenarios));
        scenarios[0].cases[1].target.times.as_mut().unwrap().max = 1.9;
        assert!(told(&scenarios).contains("≤ 1.9 × \"GET\": missed"));
    }

    #[test]
    fn further_figures_get_lines_even_if_one_side_lacks_them() {
        let folder = tempfile::tempdir().unwrap();
        let longest = |turn, us: u64| Row { extra: format!("longest_turn_us={us}"), ..row("bobbin", turn, 2.0, 1.0) };
        let rows = [longest(1, 90), longest(2, 2001), longest(3, 80), row("redis", 1, 1.0, 1.0)];
        let mut scenarios = [scenario_with_rows(folder.path(), &rows)];
        let target = Target { figure_max: Some(2000.0), ..Target::default() };
        scenarios[0].also = vec![Also { what: "turn".into(), figure: Figure::LongestTurnUs, target }];
        let all = measured(&scenarios, folder.path()).unwrap();
        let table = table(&all, &[], folder.path());
        // Each turn must hold, not the median alone.
        assert!(table.contains("| GET: turn | 90 µs (80 to 2001) | - | - | ≤ 2000 µs: missed | - | - |"), "{table}");
        // The case's own figure has its name from there, and but one line.
        scenarios[0].cases[0].figure = Figure::LongestTurnUs;
        let all = measured(&scenarios, folder.path()).unwrap();
        assert_eq!((all[0].cases.len(), all[0].cases[0].what.as_str()), (1, "GET: turn"));
    }

    #[test]
    fn links_are_relative_to_the_page() {
        let file = Path::new("lab/records/box/day.csv");
        assert_eq!(link(file, Path::new("")), "lab/records/box/day.csv");
        assert_eq!(link(file, Path::new("docs")), "../lab/records/box/day.csv");
        assert_eq!(link(file, Path::new("lab/records")), "box/day.csv");
    }

    #[test]
    fn the_readme_keeps_the_text_around_the_table() {
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
    fn the_median_of_an_even_count_is_interpolated() {
        let spread = Spread::of([4.0, 1.0, 2.0, 3.0].into_iter()).unwrap();
        assert_eq!(spread, Spread { min: 1.0, median: 2.5, max: 4.0 });
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}
