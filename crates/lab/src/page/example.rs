//! Results to try the page with: made up, but of the size and form of a run of the Memlink report, with the figures
//! that the report published.
//!
//! ```text
//!   4 tables x 10 rows x 4 columns x 5 sides = 800 cells, three turns each      [memlink]
//!   one table of it, 2 rows x 1 column x 2 sides, a minute of samples           [small]
//! ```

use crate::results::{
    AbsentSide, CellResults, Measurement, PublishedCell, Results, RowResults, Sample, ScenarioResults, SideResults,
    TableResults,
};
use crate::scenario::Figure;

/// Table, row, system, and a value for each size.
const PUBLISHED: &str = include_str!("example.csv");

const SIDES: [(&str, &str); 5] = [
    ("Bobbin", "bobbin --fsync never"),
    ("Redis", "redis-server --save '' --appendonly no"),
    ("Redis, 4 I/O threads", "redis-server --save '' --appendonly no --io-threads 4"),
    ("Valkey", "valkey-server --save '' --appendonly no"),
    ("MariaDB", "mariadbd --innodb-flush-log-at-trx-commit=0"),
];

const TABLES: [(&str, &str); 4] = [
    ("one-long", "One client, one connection."),
    ("one-short", "One client, a connection for each request."),
    ("ten-long", "Ten clients, a connection each."),
    ("ten-short", "Ten clients, a connection for each request."),
];

const SIZES: [(&str, f64); 4] = [("10,000", 1e4), ("100,000", 1e5), ("1,000,000", 1e6), ("10,000,000", 1e7)];

/// Words for the reader, the name in the report, items in the reply, and the share of the list before them.
const ROWS: [(&str, &str, f64, f64); 10] = [
    ("Insert at the head", "insert", 0.0, 0.0),
    ("First page of 100", "range first100", 100.0, 0.0),
    ("First page of 200", "range first200", 200.0, 0.0),
    ("First page of 1,000", "range first1000", 1000.0, 0.0),
    ("Last page of 100", "range last100", 100.0, 1.0),
    ("Last page of 200", "range last200", 200.0, 1.0),
    ("Last page of 1,000", "range last1000", 1000.0, 1.0),
    ("Middle page of 100", "", 100.0, 0.5),
    ("Middle page of 200", "", 200.0, 0.5),
    ("Middle page of 1,000", "", 1000.0, 0.5),
];

const QUANTILES: [(f64, f64); 9] = [
    (0.5, 0.9),
    (0.75, 1.0),
    (0.9, 1.2),
    (0.95, 1.5),
    (0.99, 2.4),
    (0.995, 3.1),
    (0.999, 6.0),
    (0.9999, 14.0),
    (1.0, 31.0),
];

/// Returns a full run of the Memlink report: 800 cells.
pub(super) fn memlink() -> Results {
    let mut random = fastrand::Rng::with_seed(7);
    let tables = (0..TABLES.len()).map(|index| table(index, &mut random)).collect();
    Results {
        format: 1,
        name: "memlink".into(),
        title: "Pages of long lists: the Memlink report, run again".into(),
        source: "In 2010 the authors of Memlink, a store for the lists of threads of a forum, measured how fast it \
                 returns pages from the head and the tail of long lists beside Redis and MySQL."
            .into(),
        published_machine: "2 x Xeon E5520, 24 GB, CentOS 5.3 (2010)".into(),
        began: "2026-03-02T10:20:30Z".into(),
        took_s: 4321.0,
        command: "bobbin-lab report memlink --full".into(),
        machine: "2 cores of AMD EPYC 7763, 8 GiB, Linux 6.8".into(),
        commit: "39e7edc5".into(),
        turns: 3,
        sides: SIDES.iter().map(|side| described(side.0, side.1)).collect(),
        absent: vec![AbsentSide {
            label: "Memlink".into(),
            reason: "its program is not on this machine.".into(),
            remedy: "Build it from github.com/hljyunxi/memlink and put cmemlink on PATH.".into(),
        }],
        scenarios: vec![ScenarioResults {
            name: "memlink".into(),
            what: "How fast are pages from long lists?".into(),
            notes: vec![
                "All servers keep the list in memory and write nothing to disk.".into(),
                "The report's clients were written in C, Python and PHP; here one load generator asks all servers."
                    .into(),
            ],
            baseline: "Redis".into(),
            subject: "Bobbin".into(),
            stack: Vec::new(),
            tables,
        }],
        ..Results::default()
    }
}

/// Returns a run that fits on a screen or two: two rows, two sides, no columns.
pub(super) fn small() -> Results {
    let mut results = memlink();
    results.absent.clear();
    results.sides.truncate(2);
    let scenario = &mut results.scenarios[0];
    scenario.tables.truncate(1);
    let table = &mut scenario.tables[0];
    table.columns = vec![String::new()];
    table.columns_what.clear();
    table.rows.truncate(2);
    let mut random = fastrand::Rng::with_seed(3);
    for row in &mut table.rows {
        row.cells.retain(|cell| cell.column == 0 && SIDES[..2].iter().any(|side| side.0 == cell.side));
        row.published.retain(|cell| cell.column == 0);
        for turn in row.cells.iter_mut().flat_map(|cell| &mut cell.turns) {
            let rate = turn.figures["requests_per_s"];
            turn.timeline = (1..=60).map(|second| sample(second, rate, &mut random)).collect();
        }
    }
    results
}

fn sample(second: u32, rate: f64, random: &mut fastrand::Rng) -> Sample {
    // Every twentieth second stalls.
    let share = if second.is_multiple_of(20) { 0.4 } else { 0.95 + random.f64() * 0.1 };
    Sample {
        second: f64::from(second),
        requests_per_s: rate * share,
        rss_bytes: 20_000_000 + u64::from(second) * 900_000,
    }
}

fn described(label: &str, settings: &str) -> SideResults {
    SideResults {
        label: label.into(),
        program: settings.split(' ').next().unwrap_or_default().into(),
        version: "7.2.4".into(),
        durability: "nothing: data are in memory alone".into(),
        settings: settings.into(),
        is_untried: label == "MariaDB",
    }
}

fn table(index: usize, random: &mut fastrand::Rng) -> TableResults {
    TableResults {
        name: TABLES[index].0.into(),
        what: TABLES[index].1.into(),
        columns_what: "items in the list".into(),
        columns: SIZES.iter().map(|size| size.0.to_owned()).collect(),
        rows: ROWS.iter().map(|row| self::row(index, row, random)).collect(),
    }
}

fn row(table: usize, row: &(&str, &str, f64, f64), random: &mut fastrand::Rng) -> RowResults {
    let mut cells = Vec::new();
    for (column, size) in SIZES.iter().enumerate() {
        for (side, (label, _)) in SIDES.iter().enumerate() {
            let rate = rate(table, side, size.1, row);
            let turns = (1..=3).map(|turn| turn_of(turn, rate, row, size, random)).collect();
            let mut cell = CellResults { side: (*label).into(), column, turns, failure: None };
            if side == 4 && row.3 > 0.0 && size.1 > 1e6 {
                cell.turns.clear();
                cell.failure = Some("a turn took longer than its limit of 300 s".into());
            }
            cells.push(cell);
        }
    }
    RowResults {
        name: row.0.to_lowercase().replace(' ', "-"),
        what: row.0.into(),
        figure: Figure::RequestsPerS,
        is_checked: true,
        cells,
        published: published(table, row.1),
    }
}

/// A rate such as the sides have: lists of linked blocks are slow in the middle, tables without positions at the tail.
fn rate(table: usize, side: usize, items: f64, row: &(&str, &str, f64, f64)) -> f64 {
    let round_trip = [24.0, 85.0, 11.0, 41.0][table];
    let per_item = [0.045, 0.07, 0.06, 0.068, 0.4][side];
    let own = [1.15, 1.0, 1.1, 0.98, 3.1][side];
    let far = match side {
        0 => 1.0,
        4 => items * row.3 * 0.09,
        _ => items * row.3.min(1.0 - row.3) * 0.0009,
    };
    1e6 / (round_trip * own + row.2 * per_item + far)
}

fn turn_of(
    turn: u32,
    rate: f64,
    row: &(&str, &str, f64, f64),
    size: &(&str, f64),
    random: &mut fastrand::Rng,
) -> Measurement {
    let noise = if random.u8(..) < 8 { 0.3 } else { 0.04 };
    let rate = rate * (1.0 - noise / 2.0 + noise * random.f64());
    let usual_ms = 1000.0 / rate;
    let latency: Vec<(f64, f64)> =
        QUANTILES.iter().map(|(quantile, times)| (*quantile, usual_ms * times * (0.95 + random.f64() * 0.1))).collect();
    let at = |quantile: f64| latency.iter().find(|point| point.0 == quantile).map_or(0.0, |point| point.1);
    let figures = [
        ("requests_per_s", rate),
        ("p50_ms", at(0.5)),
        ("p95_ms", at(0.95)),
        ("p99_ms", at(0.99)),
        ("p999_ms", at(0.999)),
        ("max_ms", at(1.0)),
        ("cpu_us_per_request", 0.7e6 / rate),
        ("rss_bytes", 8e6 + size.1 * 14.0 * (0.9 + random.f64() * 0.02)),
    ];
    let line = match row.2 {
        0.0 => "LPUSH haha {next:12}".to_owned(),
        count => format!("LRANGE haha {:.0} {:.0}", (size.1 - count) * row.3, (size.1 - count) * row.3 + count - 1.0),
    };
    Measurement {
        turn,
        command_line: format!("bobbin-lab calls '{line}' --connections 10 --requests 200000"),
        requests: 200_000,
        figures: figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        latency,
        timeline: Vec::new(),
        is_generator_bound: row.2 == 1000.0 && rate > 15_000.0,
        refusal: None,
    }
}

fn published(table: usize, name: &str) -> Vec<PublishedCell> {
    let mut cells = Vec::new();
    for line in PUBLISHED.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(';').collect();
        if parts[0] != (table + 1).to_string() || parts[1] != name {
            continue;
        }
        for (column, value) in parts[3..].iter().enumerate() {
            // A dash stands where nothing was published.
            if let Ok(value) = value.parse() {
                cells.push(PublishedCell { system: parts[2].into(), column, value });
            }
        }
    }
    cells
}
