//! Scenarios are data: two sides, the data to load, the load to run, the check afterwards, and the targets.
//!
//! ```text
//! scenario  what, items, side x 2, prepare *, also *   one server start a turn, or one a case
//!   case    what, prepare *, load, check, target       one row a turn
//! ```
//!
//! Counts may be given as text with a name in braces: `{requests}`, `{items}`, `{middle}` (half of the items),
//! `{middle_end}` (99 further), `{last}` (items less one), `{most}` (1.4 times the items). `{middle:12}` is filled with
//! zeros to 12 digits. Other names are a side's own: the two may say the same in different words.

use crate::board::Board;
use crate::contents::Contents;
use crate::programs::Program;
use crate::protocol::Protocol;
use crate::{LabError, file_error, io_error};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A short run divides every count by this.
const QUICK_DIVISOR: u64 = 100;

/// One file of `lab/scenarios`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's stem.
    #[serde(skip)]
    pub(crate) name: String,
    /// The description for the reader of the table.
    pub(crate) what: String,
    /// The size of the data, for the placeholders.
    #[serde(default)]
    pub(crate) items: u64,
    /// Seconds that one load may take.
    #[serde(default = "limit_s_default")]
    pub(crate) limit_s: u64,
    /// The number of turns that is enough for a figure that is the same in each.
    pub(crate) turns_max: Option<u32>,
    /// True if each case has a server of its own, prepared anew.
    #[serde(default)]
    pub(crate) server_each: bool,
    /// The one measured and the one beside it.
    #[serde(rename = "side")]
    pub(crate) sides: [Side; 2],
    #[serde(default)]
    pub(crate) prepare: Vec<Prepare>,
    /// Further figures shown for every case.
    #[serde(default)]
    pub(crate) also: Vec<Also>,
    #[serde(rename = "case")]
    pub(crate) cases: Vec<Case>,
}

/// A further figure of a scenario's cases; where it is a case's own, it only gives that its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Also {
    pub(crate) what: String,
    pub(crate) figure: Figure,
    #[serde(default)]
    pub(crate) target: Target,
}

/// A server with its flags.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Side {
    /// The name in records, which differs from the other side's.
    pub(crate) label: String,
    pub(crate) program: Program,
    /// The protocol of exchanges with it.
    #[serde(default)]
    pub(crate) protocol: Protocol,
    /// The data that a power failure leaves, in words.
    pub(crate) durability: String,
    /// `{folder}` is where it may write.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// The replacements for names in braces in commands, answers and loads.
    #[serde(default)]
    pub(crate) words: BTreeMap<String, String>,
    /// The steps for a load that asks for a side's own steps.
    #[serde(default)]
    pub(crate) steps: Vec<Prepare>,
}

/// One measurement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) what: String,
    #[serde(default)]
    pub(crate) requests: u64,
    #[serde(default)]
    pub(crate) prepare: Vec<Prepare>,
    pub(crate) load: Load,
    /// Checkpoints repeated while the load runs.
    pub(crate) checkpoints: Option<Checkpoints>,
    /// True if only the first side runs: the second has nothing of the kind, or there is no room for it.
    #[serde(default)]
    pub(crate) alone: bool,
    /// The check after the load.
    pub(crate) check: Check,
    /// The figure of a row that the table shows.
    #[serde(default)]
    pub(crate) figure: Figure,
    #[serde(default)]
    pub(crate) target: Target,
    /// The name in the README, which shows ten cases at most; if absent, only the page of figures has the case.
    pub(crate) readme: Option<String>,
}

/// A preparation before a load, unmeasured.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Prepare {
    /// One command; its reply must not be an error.
    Command(String),
    /// Keys `key:000000000000` and on, the names redis-benchmark asks for.
    Strings { count: String, value_bytes: usize },
    /// One list, its first item the oldest.
    List {
        key: String,
        count: String,
        item_bytes: usize,
        #[serde(default)]
        contents: Contents,
    },
    /// Data as a memory load has it.
    Data { count: String, data: Data },
    /// A board of threads, as one tagged list or as sorted sets.
    Board(Board),
    /// The names of as many keys of such data, as members of one sorted set.
    Names { key: String, count: String },
    /// INFO is asked until it has this line.
    Until { line: String },
    /// A checkpoint asked for with this command, and awaited.
    Checkpoint(String),
}

/// Checkpoints that are made one after another while something else is measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checkpoints {
    /// `BGSAVE` or `BGREWRITEAOF`.
    pub(crate) command: String,
    /// Seconds of the load before the first.
    #[serde(default)]
    pub(crate) after_s: u64,
}

/// A kind of data to load in some number.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Data {
    /// Items of the list `list`, pushed at its head.
    List { contents: Contents, item_bytes: usize },
    /// Keys `key:000000000000` and on, in an order without pattern.
    Keys {
        contents: Contents,
        value_bytes: usize,
        /// True if each key has a time to live, of weeks.
        #[serde(default)]
        expiring: bool,
    },
    /// Lists `list:000000000000` and on that grow side by side, an item at a time.
    Lists { items: u64, contents: Contents, item_bytes: usize },
    /// Members of the set `set`, as all that follow added one by one.
    Set { contents: Contents, item_bytes: usize },
    /// Fields of the hash `hash`.
    Hash { contents: Contents, name_bytes: usize, value_bytes: usize },
    /// Hashes `hash:000000000000` and on with `fields` fields each, in an order without pattern.
    Hashes { fields: u64, contents: Contents, value_bytes: usize },
    /// Members of the sorted set `sorted`.
    Sorted { contents: Contents, item_bytes: usize, scores: Scores },
    /// Entries of the stream `stream`, each with a sensor's name and a temperature, some milliseconds apart.
    Stream { value_bytes: usize },
}

/// The scores of the members of a sorted set.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scores {
    /// Random doubles below 1, of 53 bits.
    Doubles,
    /// Random integers below a million.
    Integers,
    /// 0, 1, 2 and on: each member is the last one.
    Rising,
}

/// A measured load.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Load {
    /// redis-benchmark with these arguments; host, port, `-n` and `--csv` are added.
    Benchmark(String),
    /// A script for node with its words, after the server's port.
    Node(String),
    /// Our own timed calls; each connection has one under way.
    Generator {
        /// Commands with ` ; ` between are one call; `{random:12}` is another number below `items` for each call,
        /// `{next:12}` one from there on.
        command: String,
        /// Other calls that replace some of these.
        #[serde(default)]
        instead: Vec<Instead>,
        connections: usize,
        /// Calls due in a second, over all connections; as fast as answered if absent.
        pace_per_s: Option<u64>,
        /// Work of other clients meanwhile, uncounted.
        beside: Option<Beside>,
    },
    /// The growth of the server's memory at shares of `count`, above the empty server or the server with the first
    /// share.
    Memory {
        count: String,
        data: Data,
        /// In hundredths of `count`, rising.
        #[serde(default = "marks_percent_default")]
        marks_percent: Vec<u64>,
        /// The hundredths of `count` loaded before, so that the memory of any running server does not count.
        #[serde(default)]
        from_percent: u64,
        /// The server rests for so long before each look.
        #[serde(default = "rest_s_default")]
        rest_s: u64,
    },
    /// The side's own steps, with what they add to the server's memory shared out among the items.
    Steps(Vec<Prepare>),
    /// Calls through the side's protocol; each party makes as many as requests are asked for, all parties at once.
    Exchange { parties: Vec<Party> },
    /// Connections that send one PING and then nothing.
    Idle { connections: u64 },
    /// Keys of changing sizes, overwritten `rounds` times; nine in ten then deleted.
    Churn { keys: String, rounds: u64 },
    /// Pipelined writes for a time, to random keys.
    Writes(Writes),
    /// As many messages as requests are asked for; each delivery counts as one.
    Messages(Messages),
    /// Data loaded, some of it removed, and then a rest; measures the disk use then.
    Fill {
        count: String,
        data: Data,
        /// In hundredths: keys deleted, or items popped at the list's other end.
        dropped_percent: u64,
        rest_s: u64,
    },
    /// The server killed at a random moment of pipelined writes, and started again on what it left.
    Restart {
        writes: Writes,
        /// Seconds of writing before which it is not killed.
        least_s: u64,
    },
}

/// Clients that write as fast as they are answered, each with one pipeline under way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Writes {
    pub(crate) verb: Verb,
    pub(crate) keys: String,
    pub(crate) value_bytes: usize,
    pub(crate) connections: u64,
    pub(crate) pipeline: u64,
    /// The maximum duration.
    pub(crate) seconds: u64,
    /// Records due in a second, over all connections; as fast as answered if absent.
    pub(crate) pace_per_s: Option<u64>,
    /// Seconds in which nothing is written, before the disk is looked at for the last time.
    #[serde(default)]
    pub(crate) rest_s: u64,
}

/// Connections that make one kind of call, each the next when the last is answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Party {
    /// The call's line without its payload; `{random:12}` is another number below `items` for each call, `{next:12}`
    /// the one after the last.
    pub(crate) say: String,
    /// The length of the payload after the line.
    pub(crate) bytes: Option<usize>,
    pub(crate) connections: u64,
}

/// Messages on channels drawn at random, and their listeners.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Messages {
    pub(crate) channels: u64,
    /// Connections of each channel.
    pub(crate) listeners: u64,
    pub(crate) publishers: u64,
    /// Messages that a publisher sends at once; the next follow when all listeners have received them.
    pub(crate) pipeline: u64,
    pub(crate) message_bytes: usize,
}

/// The command of each write.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Verb {
    /// Overwrites `key:000000000000` or one of those that follow.
    Set,
    /// Pushes to `list:000000000000` or one of those that follow.
    Rpush,
}

/// A call that is made instead of the usual one.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Instead {
    /// The command, in the format of the usual one.
    pub(crate) command: String,
    /// The share of calls, in percent, drawn at random.
    pub(crate) percent: u64,
}

/// Clients that keep a server busy while calls are timed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    /// Commands with ` ; ` between are sent one by one.
    pub(crate) command: String,
    /// The number of key names appended to the command.
    #[serde(default)]
    pub(crate) keys: u64,
    /// A client for each; bytes it reads in a second, 0 for as fast as they come.
    #[serde(default = "reads_default")]
    pub(crate) reads_bytes_per_s: Vec<u64>,
    /// Rounds of each client; until all calls are timed if absent, the last reply then being left unread.
    pub(crate) rounds: Option<u64>,
    /// Rounds of each client that are due in a second; as fast as answered if absent.
    pub(crate) pace_per_s: Option<u64>,
}

/// A command and the reply it must have.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    pub(crate) command: String,
    pub(crate) answer: String,
}

/// A figure of a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    #[default]
    RequestsPerS,
    P50Ms,
    P99Ms,
    MaxMs,
    CpuUsPerRequest,
    /// The time that the commands of a request took, as the server reports it.
    ServerUsPerRequest,
    RssBytes,
    BytesPerConnection,
    /// Memory of one item, key or list; the worst of all marks.
    BytesEach,
    /// Reported by the server itself, as the next three.
    LongestTurnUs,
    LongestLockHoldUs,
    LongestLockWaitUs,
    LongestShardTurnUs,
    /// The longest stall of a loop that only writes, just after the case: the machine's own, not a server's.
    MachineStallUs,
    /// The longest work of the generator for one pipeline, during the case.
    LongestGeneratorStepUs,
    /// The longest time in which none of the clients had an answer.
    LongestGapMs,
    /// Memory of the server and its children at the height of a checkpoint, above that before it.
    MemoryGrowthBytes,
    /// The data folder when all is over; and at its greatest.
    FolderBytes,
    FolderBytesMax,
    /// Bytes written to the disk for each byte of keys and values.
    WrittenPerByte,
    /// From the start of the program to the first right answer; and until it has loaded everything.
    FirstReplyMs,
    LoadedMs,
}

/// The targets, all of the first side against the second but for `figure_max`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) ratio_min: Option<f64>,
    pub(crate) ratio_max: Option<f64>,
    pub(crate) cpu_max: Option<f64>,
    pub(crate) p99_max: Option<f64>,
    /// The first side's figure by itself in every turn, in the figure's unit.
    pub(crate) figure_max: Option<f64>,
    /// The maximum by which the first side's figure may exceed the second's, in the figure's unit.
    pub(crate) difference_max: Option<f64>,
    /// Against the first side's figure in another case of the scenario.
    pub(crate) times: Option<Times>,
}

/// A case to be compared with, and how many times its figure is allowed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    pub(crate) case: String,
    pub(crate) max: f64,
}

/// The values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceholderValues {
    pub(crate) requests: u64,
    pub(crate) items: u64,
}

impl Scenario {
    /// Reads one file.
    ///
    /// # Errors
    /// It cannot be read, or is not a scenario.
    pub(crate) fn read(path: &Path) -> Result<Self, LabError> {
        let text = fs::read_to_string(path).map_err(io_error(path.display().to_string()))?;
        let mut scenario: Self = toml::from_str(&text).map_err(|error| file_error(path, error))?;
        scenario.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if scenario.sides[0].label == scenario.sides[1].label {
            return Err(file_error(path, "both sides have one label"));
        }
        Ok(scenario)
    }

    /// All scenarios of a folder, by name.
    ///
    /// # Errors
    /// As [`Scenario::read`].
    pub(crate) fn read_all(folder: &Path) -> Result<Vec<Self>, LabError> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(io_error(folder.display().to_string()))? {
            let path = entry.map_err(io_error(folder.display().to_string()))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    /// Makes every count small: a test that everything works, not a measurement.
    pub(crate) fn shorten(&mut self) {
        self.items = self.items.div_ceil(QUICK_DIVISOR);
        for case in &mut self.cases {
            case.requests = case.requests.div_ceil(QUICK_DIVISOR);
            if let Some(checkpoints) = &mut case.checkpoints {
                checkpoints.after_s = checkpoints.after_s.min(1);
            }
            match &mut case.load {
                Load::Idle { connections } => *connections = connections.div_ceil(QUICK_DIVISOR),
                Load::Generator { beside: Some(beside), .. } => beside.keys = beside.keys.div_ceil(QUICK_DIVISOR),
                Load::Fill { rest_s, .. } => *rest_s = (*rest_s).min(1),
                Load::Writes(writes) => writes.shorten(),
                Load::Restart { writes, least_s } => {
                    *least_s = 0;
                    writes.shorten();
                }
                _ => {}
            }
        }
    }

    /// Puts the second side in the first side's place too. Absent if the second side is Bobbin: there is no peer.
    pub(crate) fn calibrated(mut self) -> Option<Self> {
        let [first, second] = &mut self.sides;
        if second.program == Program::Bobbin {
            return None;
        }
        *first = Side { label: format!("{}, played by {}", first.label, second.label), ..second.clone() };
        Some(self)
    }

    /// Returns the scenario with the words and steps of one side.
    pub(crate) fn said_by(&self, side: &Side) -> Self {
        let mut said = self.clone();
        let own = |text: &mut String| {
            side.words.iter().for_each(|(name, words)| *text = text.replace(&format!("{{{name}}}"), words));
        };
        let prepares = said.cases.iter_mut().flat_map(|case| &mut case.prepare).chain(&mut said.prepare);
        for prepare in prepares {
            if let Prepare::Command(line) = prepare {
                own(line);
            }
        }
        for case in &mut said.cases {
            own(&mut case.check.command);
            own(&mut case.check.answer);
            match &mut case.load {
                Load::Benchmark(arguments) | Load::Node(arguments) => own(arguments),
                Load::Generator { command, instead, .. } => {
                    own(command);
                    instead.iter_mut().for_each(|it| own(&mut it.command));
                }
                Load::Exchange { parties } => parties.iter_mut().for_each(|party| own(&mut party.say)),
                Load::Steps(steps) => steps.clone_from(&side.steps),
                _ => {}
            }
        }
        said
    }

    pub(crate) fn counts(&self, case: &Case) -> PlaceholderValues {
        PlaceholderValues { requests: case.requests, items: self.items }
    }
}

impl Writes {
    fn shorten(&mut self) {
        self.seconds = self.seconds.min(2);
        self.rest_s = self.rest_s.min(1);
    }
}

impl PlaceholderValues {
    /// The text with its placeholders filled; unknown ones stay as they are.
    pub(crate) fn fill(self, text: &str) -> String {
        let middle = self.items / 2;
        let values = [
            ("requests", self.requests),
            ("items", self.items),
            ("middle", middle),
            ("middle_end", middle + 99),
            ("last", self.items.saturating_sub(1)),
            ("most", self.items * 14 / 10),
        ];
        let mut text = text.to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
            text = text.replace(&format!("{{{name}:12}}"), &format!("{value:012}"));
        }
        text
    }

    /// A count given as text.
    ///
    /// # Errors
    /// The text is no number.
    pub(crate) fn number(self, text: &str) -> Result<u64, LabError> {
        let filled = self.fill(text);
        filled.parse().map_err(|_| LabError::Step(format!("`{filled}` is no count")))
    }
}

fn limit_s_default() -> u64 {
    300
}

fn marks_percent_default() -> Vec<u64> {
    vec![100]
}

fn rest_s_default() -> u64 {
    2
}

fn reads_default() -> Vec<u64> {
    vec![0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::MESSAGE_BYTES_MIN;
    use std::collections::BTreeSet;

    fn ours() -> Vec<Scenario> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/scenarios");
        Scenario::read_all(&folder).unwrap()
    }

    #[test]
    fn every_scenario_is_valid() {
        let scenarios = ours();
        assert!(!scenarios.is_empty());
        for scenario in scenarios.iter().flat_map(|it| it.sides.iter().map(|side| it.said_by(side))) {
            let mut names = BTreeSet::new();
            for case in &scenario.cases {
                let place = format!("{}/{}", scenario.name, case.name);
                assert!(names.insert(&case.name), "{place} is there twice");
                let counts = scenario.counts(case);
                for prepare in scenario.prepare.iter().chain(&case.prepare) {
                    match prepare {
                        Prepare::Command(_) | Prepare::Checkpoint(_) | Prepare::Until { .. } => {}
                        Prepare::Board(Board { count, .. })
                        | Prepare::Strings { count, .. }
                        | Prepare::List { count, .. }
                        | Prepare::Names { count, .. }
                        | Prepare::Data { count, .. } => {
                            assert!(counts.number(count).unwrap() > 0, "{place} loads nothing");
                        }
                    }
                }
                let filled = counts.fill(&format!("{:?} {:?}", case.load, case.check));
                assert!(!filled.contains("{middle"), "{place}: an unknown placeholder");
                if let Load::Memory { count, marks_percent, from_percent, .. } = &case.load {
                    counts.number(count).unwrap();
                    assert!(marks_percent.iter().all(|mark| mark > from_percent), "{place}: marks are above the first");
                    assert!(!marks_percent.is_empty() && marks_percent.is_sorted(), "{place}: marks rise");
                }
                if let Load::Writes(writes) | Load::Restart { writes, .. } = &case.load {
                    counts.number(&writes.keys).unwrap();
                    assert!(writes.connections > 0 && writes.pipeline > 0, "{place} writes nothing");
                }
                if let Load::Node(line) = &case.load {
                    let script = line.split(' ').next().unwrap_or_default();
                    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                    assert!(root.join(script).is_file(), "{place}: there is no {script}");
                }
                if let Load::Messages(work) = &case.load {
                    let counts = [work.channels, work.listeners, work.publishers, work.pipeline];
                    assert!(
                        counts.iter().all(|count| *count > 0) && work.publishers < 10_000,
                        "{place}: nobody is there"
                    );
                    assert!(work.message_bytes >= MESSAGE_BYTES_MIN, "{place}: messages too short to be told apart");
                }
                if let Load::Exchange { parties } = &case.load {
                    assert!(parties.iter().all(|party| party.connections > 0), "{place}: nobody calls");
                    let says: String = parties.iter().map(|party| counts.fill(&party.say)).collect();
                    let left = says.replace("{random:12}", "").replace("{next:12}", "");
                    assert!(!says.is_empty() && !left.contains('{'), "{place}: an unknown word in {says}");
                }
                if let Load::Steps(steps) = &case.load {
                    assert!(scenario.items > 0 && !steps.is_empty(), "{place}: a side has no steps");
                }
                if let Some(times) = &case.target.times {
                    assert!(scenario.cases.iter().any(|it| it.name == times.case), "{place}: no case to compare with");
                }
                assert!(!case.check.command.is_empty(), "{place}: nothing is checked");
            }
        }
    }

    #[test]
    fn a_side_may_override_commands() {
        let scenario = ours().into_iter().find(|scenario| scenario.name == "key-order").unwrap();
        let page = |side: usize| {
            let case = scenario.said_by(&scenario.sides[side]).cases.swap_remove(1);
            let Load::Generator { command, .. } = case.load else { panic!("{}", case.name) };
            command
        };
        assert_eq!(page(0), "KEYRANGE [key:{random:12} + LIMIT 100");
        assert_eq!(page(1), "ZRANGEBYLEX names [key:{random:12} + LIMIT 0 100");
    }

    #[test]
    fn placeholders_are_filled() {
        let counts = PlaceholderValues { requests: 70, items: 1000 };
        assert_eq!(counts.fill("{requests} {items} {middle} {middle_end} {last} {most}"), "70 1000 500 599 999 1400");
        assert_eq!(counts.fill("{middle:12}"), "000000000500");
        assert_eq!(counts.number("{items}").unwrap(), 1000);
        counts.number("{other}").unwrap_err();
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("odd.toml");
        fs::write(&path, "what = \"x\"\nspeed = 1\n").unwrap();
        assert!(Scenario::read(&path).unwrap_err().to_string().contains("speed"));
    }
}
