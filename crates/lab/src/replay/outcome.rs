//! The outcome of a replay: `replay.json`, the results of which the page is made, and the table on the terminal.
//!
//! ```text
//!  Played, one a server --> ServerReplay --.                        .--> replay.json
//!  Answers of two       --> ReplyComparison +--> ReplayOutcome -----+--> Results --> results.json, report.html
//!  CaptureCounts        -------------------'                        '--> text
//! ```

use super::differences::ReplyComparison;
use super::plan::{CaptureCounts, CountedCalls, Plan};
use super::player::{Played, Speed};
use super::replies::Answer;
use crate::load::rounded;
use crate::results::{CellResults, Measurement, Results, RowResults, ScenarioResults, TableResults};
use crate::scenario::Figure;
use crate::text_table::{Align, text_table};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The form of `replay.json`.
const FORMAT: u32 = 1;
/// The name of the row of all commands.
const ALL: &str = "all commands";
/// The quantiles of latency that are kept, as far as there are calls enough for them.
const QUANTILES: [f64; 10] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999];

/// The outcome of a replay.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ReplayOutcome {
    pub(super) format: u32,
    pub(super) capture: CaptureCounts,
    /// The speed in words.
    pub(super) speed: String,
    /// True if calls of different clients ran in the captured order.
    pub(super) is_in_order: bool,
    pub(super) servers: Vec<ServerReplay>,
    /// The replies of each server compared with those of the first one.
    pub(super) replies: Vec<ReplyComparison>,
}

/// The outcome on one server.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ServerReplay {
    pub(super) label: String,
    pub(super) elapsed_s: f64,
    pub(super) calls_per_s: f64,
    /// Absent if the lab did not start the server.
    pub(super) cpu_us_per_call: Option<f64>,
    pub(super) rss_bytes: Option<u64>,
    /// False if playing was stopped before the end.
    pub(super) is_complete: bool,
    pub(super) is_generator_bound: bool,
    pub(super) all: CommandReplay,
    pub(super) commands: Vec<CommandReplay>,
}

/// The calls of one command on one server.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct CommandReplay {
    pub(super) command: String,
    pub(super) calls: u64,
    /// Replies that are errors, as they may have been when the calls were captured.
    pub(super) errors: u64,
    /// Calls instead of whose reply the server closed the connection.
    pub(super) closed: u64,
    /// Calls that waited in vain for another client's.
    pub(super) given_up: u64,
    /// Absent if all calls may wait.
    pub(super) latency: Option<Latency>,
}

/// Latencies in milliseconds.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Latency {
    pub(super) p50_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) p999_ms: f64,
    pub(super) max_ms: f64,
    /// Pairs of quantile and milliseconds, rising.
    pub(super) curve: Vec<(f64, f64)>,
}

impl ServerReplay {
    pub(super) fn of(label: &str, plan: &Plan, played: &Played) -> Self {
        let mut commands: Vec<CommandReplay> = plan
            .commands
            .iter()
            .zip(&played.command_latency_ns)
            .map(|(name, latency_ns)| CommandReplay::named(name, latency_ns))
            .collect();
        let mut all = CommandReplay::named(ALL, &played.latency_ns);
        for (index, call) in plan.calls.iter().enumerate() {
            let answer = played.answers.answer(index);
            commands[call.command as usize].count(answer);
            all.count(answer);
        }
        let elapsed_s = played.elapsed.as_secs_f64();
        Self {
            label: label.to_owned(),
            elapsed_s: rounded(elapsed_s, 1000.0),
            calls_per_s: if elapsed_s > 0.0 { rounded(all.calls as f64 / elapsed_s, 10.0) } else { 0.0 },
            cpu_us_per_call: None,
            rss_bytes: None,
            is_complete: played.is_complete,
            is_generator_bound: played.is_generator_bound,
            all,
            commands,
        }
    }

    fn row(&self, name: &str) -> Option<&CommandReplay> {
        std::iter::once(&self.all).chain(&self.commands).find(|row| row.command == name && row.calls > 0)
    }
}

impl CommandReplay {
    fn named(name: &str, latency_ns: &Histogram<u64>) -> Self {
        Self { command: name.to_owned(), latency: Latency::of(latency_ns), ..Self::default() }
    }

    fn count(&mut self, answer: Answer) {
        self.calls += u64::from(answer != Answer::None);
        self.errors += u64::from(matches!(answer, Answer::Reply { is_error: true, .. }));
        self.closed += u64::from(answer == Answer::Closed);
        self.given_up += u64::from(answer == Answer::GivenUp);
    }
}

impl Latency {
    fn of(latency_ns: &Histogram<u64>) -> Option<Self> {
        let count = latency_ns.len();
        if count == 0 {
            return None;
        }
        let ms = |ns: u64| rounded(ns as f64 / 1e6, 10_000.0);
        let at = |quantile: f64| ms(latency_ns.value_at_quantile(quantile));
        // A quantile is known if some call is above it.
        let is_known = |quantile: &&f64| (1.0 - **quantile) * count as f64 >= 1.0;
        let mut curve: Vec<(f64, f64)> =
            QUANTILES.iter().filter(is_known).map(|quantile| (*quantile, at(*quantile))).collect();
        curve.push((1.0, ms(latency_ns.max())));
        let max_ms = ms(latency_ns.max());
        Some(Self { p50_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99), p999_ms: at(0.999), max_ms, curve })
    }
}

impl ReplayOutcome {
    pub(super) fn new(
        capture: CaptureCounts,
        speed: Speed,
        servers: Vec<ServerReplay>,
        replies: Vec<ReplyComparison>,
    ) -> Self {
        let is_in_order = speed == Speed::InOrder;
        Self { format: FORMAT, capture, speed: speed.words(), is_in_order, servers, replies }
    }

    /// Puts a table with a row for each command in the results of a run.
    pub(super) fn put_in(&self, results: &mut Results, speed: Speed) {
        let rows = self.row_names().into_iter().map(|name| self.result_row(name, speed)).collect();
        let label = |place: usize| self.servers.get(place).map(|server| server.label.clone()).unwrap_or_default();
        results.scenarios.push(ScenarioResults {
            name: "replay".to_owned(),
            what: format!("How do the servers do with the captured commands, {}?", self.speed),
            notes: self.notes(speed),
            subject: label(0),
            baseline: label(usize::from(self.servers.len() > 1)),
            stack: Vec::new(),
            tables: vec![TableResults {
                name: "By command".to_owned(),
                what: String::new(),
                columns_what: String::new(),
                columns: vec![String::new()],
                rows,
            }],
        });
    }

    /// All commands first, then each in the order of its number of calls.
    fn row_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for server in &self.servers {
            for row in std::iter::once(&server.all).chain(&server.commands) {
                if row.calls > 0 && !names.contains(&row.command.as_str()) {
                    names.push(&row.command);
                }
            }
        }
        names
    }

    fn result_row(&self, name: &str, speed: Speed) -> RowResults {
        let cell = |server: &ServerReplay| {
            let row = server.row(name)?;
            let turns = vec![server.measurement(row, self.command_line())];
            let failure = (row.errors > 0).then(|| format!("error replies: {} of {}", row.errors, row.calls));
            Some(CellResults { side: server.label.clone(), column: 0, turns, failure })
        };
        // The page shows these words as the heading of the row, so that no difference is overlooked.
        let different = self.replies.iter().filter(|comparison| comparison.counts(name).1 > 0);
        let different: Vec<String> = different.map(|comparison| comparison.words(name)).collect();
        let what = if different.is_empty() { name.to_owned() } else { format!("{name}: {}", different.join(" ")) };
        RowResults {
            name: name.to_owned(),
            what,
            figure: if speed == Speed::Max && name == ALL { Figure::RequestsPerS } else { Figure::P99Ms },
            // Each reply is looked at, whether or not it is compared.
            is_checked: true,
            cells: self.servers.iter().filter_map(cell).collect(),
            published: Vec::new(),
        }
    }

    fn command_line(&self) -> String {
        format!("the calls of the capture, {}", self.speed)
    }

    fn notes(&self, speed: Speed) -> Vec<String> {
        let note = match speed {
            Speed::Max => "Each client has one call under way, and sends the next when that is answered.",
            Speed::InOrder => {
                "One call is under way at a time, so that replies can be compared: latencies are those of servers \
                 without load."
            }
            Speed::Times(_) => {
                "The latency of a call counts from the time at which it is due, even if its client still waits for a \
                 reply: a stall of the server shows in every call that it delays."
            }
        };
        let mut notes = vec![note.to_owned()];
        notes.extend(self.facts());
        notes
    }

    /// Returns what the reader must know about the calls and the replies, in sentences.
    fn facts(&self) -> Vec<String> {
        let counts = &self.capture;
        let mut facts = vec![format!("The capture has {} lines, of which {} are played.", counts.lines, counts.played)];
        if counts.of_scripts > 0 {
            facts.push(format!("Calls made by scripts, which make them again: {}.", counts.of_scripts));
        }
        if let Some(first) = &counts.first_unreadable {
            facts.push(format!("Lines that cannot be read: {}. The first is {first}", counts.unreadable));
        }
        let mut list = |head: &str, calls: &[CountedCalls]| {
            if !calls.is_empty() {
                let texts = calls.iter().map(|it| format!("{} {} ({})", it.calls, it.command, it.reason));
                facts.push(format!("{head}: {}.", texts.collect::<Vec<_>>().join(", ")));
            }
        };
        list("Not played", &counts.skipped);
        list("Played, but replies are not compared", &counts.not_compared);
        for server in &self.servers {
            let row = &server.all;
            let counted =
                [(row.errors, "error replies"), (row.closed, "connections closed"), (row.given_up, "waits given up")];
            let texts: Vec<String> =
                counted.iter().filter(|it| it.0 > 0).map(|(count, what)| format!("{what}: {count}")).collect();
            if !texts.is_empty() {
                facts.push(format!("{}: {}.", server.label, texts.join(", ")));
            }
            if !server.is_complete {
                facts.push(format!("{}: playing was stopped before the end.", server.label));
            }
        }
        for comparison in &self.replies {
            facts.push(format!("Replies: {}", comparison.words(ALL)));
            if comparison.missing > 0 {
                facts.push(format!(
                    "Replies that one of them lacks, because playing ended early: {}.",
                    comparison.missing
                ));
            }
        }
        let different = self.replies.iter().any(|comparison| comparison.different > 0);
        if different && self.capture.clients > 1 && !self.is_in_order {
            facts.push(
                "Calls of different clients did not run in the order they were captured in. Where clients share keys, \
                 replies differ for that alone, even between two servers of the same kind: `--speed in-order` rules it \
                 out."
                    .to_owned(),
            );
        }
        facts
    }

    /// Returns the table of latencies, what the reader must know, and the first differences.
    pub(super) fn text(&self) -> String {
        let heads = ["command", "server", "calls", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "max ms", "errors"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for name in self.row_names() {
            for server in &self.servers {
                rows.extend(server.row(name).map(|row| row.text_cells(&server.label)));
            }
        }
        let mut aligns = [Align::Right; 9];
        aligns[..2].fill(Align::Left);
        let mut text = format!("{}\n", text_table(&aligns, &rows));
        for server in &self.servers {
            let cpu = server.cpu_us_per_call.map_or(String::new(), |us| format!(", {us} µs CPU a call"));
            let (label, seconds, rate) = (&server.label, server.elapsed_s, server.calls_per_s);
            text += &format!("{label}: {seconds} s, {rate} calls a second{cpu}\n");
        }
        for fact in self.facts() {
            text += &format!("{fact}\n");
        }
        for comparison in self.replies.iter().filter(|comparison| !comparison.first.is_empty()) {
            text += &format!("\nThe first {} differing replies:\n", comparison.first.len());
            for difference in &comparison.first {
                text += &format!("line {}, {}: {}\n", difference.line, difference.client, difference.call);
                text += &format!("  {}: {}\n", comparison.side, difference.reply);
                text += &format!("  {}: {}\n", comparison.reference, difference.reference_reply);
            }
        }
        text
    }
}

impl ServerReplay {
    fn measurement(&self, row: &CommandReplay, command_line: String) -> Measurement {
        let mut figures = vec![("errors".to_owned(), row.errors as f64)];
        let mut put =
            |figure: Figure, value: Option<f64>| figures.extend(value.map(|it| (figure.name().to_owned(), it)));
        if let Some(latency) = &row.latency {
            put(Figure::P50Ms, Some(latency.p50_ms));
            put(Figure::P95Ms, Some(latency.p95_ms));
            put(Figure::P99Ms, Some(latency.p99_ms));
            put(Figure::P999Ms, Some(latency.p999_ms));
            put(Figure::MaxMs, Some(latency.max_ms));
        }
        if row.command == ALL {
            put(Figure::RequestsPerS, Some(self.calls_per_s));
            put(Figure::CpuUsPerRequest, self.cpu_us_per_call);
            put(Figure::RssBytes, self.rss_bytes.map(|bytes| bytes as f64));
        }
        Measurement {
            turn: 1,
            command_line,
            requests: row.calls,
            figures: figures.into_iter().collect(),
            latency: row.latency.as_ref().map(|latency| latency.curve.clone()).unwrap_or_default(),
            timeline: Vec::new(),
            is_generator_bound: self.is_generator_bound,
            refusal: None,
        }
    }
}

impl CommandReplay {
    fn text_cells(&self, label: &str) -> Vec<String> {
        let mut cells = vec![self.command.clone(), label.to_owned(), self.calls.to_string()];
        let latency = self.latency.as_ref();
        let of = |pick: fn(&Latency) -> f64| latency.map_or("-".to_owned(), |latency| format!("{:.3}", pick(latency)));
        cells.extend([
            of(|it| it.p50_ms),
            of(|it| it.p95_ms),
            of(|it| it.p99_ms),
            of(|it| it.p999_ms),
            of(|it| it.max_ms),
        ]);
        cells.push(self.errors.to_string());
        cells
    }
}

impl ReplyComparison {
    /// Returns the numbers of compared and of different replies of a command.
    fn counts(&self, name: &str) -> (u64, u64) {
        if name == ALL {
            return (self.compared, self.different);
        }
        let command = self.commands.iter().find(|command| command.command == name);
        command.map_or((0, 0), |command| (command.compared, command.different))
    }

    fn words(&self, name: &str) -> String {
        let (side, reference) = (&self.side, &self.reference);
        match self.counts(name) {
            (0, _) => format!("replies of {side} and {reference} are not compared."),
            (compared, 0) => format!("all {compared} replies of {side} equal those of {reference}."),
            (compared, different) => {
                format!("{different} of {compared} replies of {side} differ from those of {reference}.")
            }
        }
    }
}
