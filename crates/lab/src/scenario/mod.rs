//! Scenarios are data: the sides, the data to load, the load to run, the check afterwards, and the targets.
//!
//! ```text
//! report    title, source, scenarios                             [report]
//! scenario  what, side *, columns, table *, prepare *, also *    one server start a turn and column, or one a case
//!   case    what, prepare *, load, check, target                 one cell a table and column, one row of it a turn
//!
//!                       columns: items = 10^4, 10^5 ...
//!   table A.1           +-------+-------+
//!     case insert       | cell  | cell  |                        a cell has a measurement for each side and turn
//!     case page         | cell  | cell  |
//!   table A.2 ...
//! ```
//!
//! Texts may have names in braces. A side's `words`, a table's and a column's are replaced first, so that two servers may
//! say the same in different words; then the names of [`placeholders`].

mod figure;
pub(crate) mod placeholders;
pub(crate) mod report;
mod size;

pub(crate) use figure::Figure;
pub(crate) use placeholders::PlaceholderValues;
pub(crate) use size::Size;

use crate::adapters::{Fsync, Program};
use crate::board::Board;
use crate::calls::plan::{Calls, Count};
use crate::contents::Contents;
use crate::protocol::Protocol;
use crate::tools::Tools;
use crate::{LabError, file_error, io_error};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// How deep words may be nested.
const WORDS_DEPTH: usize = 3;

/// One file of `lab/scenarios`.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// The smallest size at which all replies are as expected, for short runs.
    #[serde(default = "items_min_default")]
    pub(crate) items_min: u64,
    /// Seconds that one load may take.
    #[serde(default = "limit_s_default")]
    pub(crate) limit_s: u64,
    /// The maximum of each server's memory, the page cache of its files included.
    pub(crate) memory_max_bytes: Option<u64>,
    /// The number of turns that is enough for a figure that is the same in each.
    pub(crate) turns_max: Option<u32>,
    /// True if each case has a server of its own, prepared anew.
    #[serde(default)]
    pub(crate) server_each: bool,
    /// The one measured first, then those beside it.
    #[serde(rename = "side")]
    pub(crate) sides: Vec<Side>,
    /// The label of the side that ratios are against; the second side if absent.
    pub(crate) baseline: Option<String>,
    /// How the comparison is fair, and where it is not, in sentences.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// Sizes for which everything is measured anew; one without a name if absent.
    #[serde(default)]
    pub(crate) columns: Columns,
    /// Circumstances in which each case is measured; one without a name if absent.
    #[serde(default, rename = "table")]
    pub(crate) tables: Vec<Table>,
    /// The figures of the report that the scenario runs again.
    #[serde(default)]
    pub(crate) published: Vec<Published>,
    #[serde(default)]
    pub(crate) prepare: Vec<Prepare>,
    /// Further figures shown for every case.
    #[serde(default)]
    pub(crate) also: Vec<Also>,
    /// Cases of one client that are the parts of a session, in order: the page shows their times as one bar for each
    /// side.
    #[serde(default)]
    pub(crate) stack: Vec<String>,
    #[serde(rename = "case")]
    pub(crate) cases: Vec<Case>,
}

/// The columns of a scenario's tables: a server is started for each.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Columns {
    /// The subject of the columns, such as `items in the list`.
    #[serde(default)]
    pub(crate) what: String,
    /// The name of a column, with the names of `words` in braces.
    #[serde(default)]
    pub(crate) name: String,
    /// Names and the value that each has in each column; `items` is the size of the data.
    #[serde(default)]
    pub(crate) words: BTreeMap<String, Vec<u64>>,
    /// The number of columns that a quick run has, and that a run has without `--full`; all if absent.
    pub(crate) quick: Option<usize>,
    pub(crate) usual: Option<usize>,
    /// Columns from this one on, counted from 0, are measured in one turn.
    pub(crate) once_from: Option<usize>,
}

/// Circumstances in which the cases are measured, with words of their own.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) what: String,
    #[serde(default)]
    pub(crate) words: BTreeMap<String, String>,
}

/// The figures of one system in one table of a report.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// The system's name in the report.
    pub(crate) system: String,
    /// The table's name; empty if the scenario has none.
    #[serde(default)]
    pub(crate) table: String,
    /// For each case its figures, one a column; NaN where the report has none.
    pub(crate) cases: BTreeMap<String, Vec<f64>>,
}

/// A further figure of a scenario's cases; where it is a case's own, it only gives that its name.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Also {
    pub(crate) what: String,
    pub(crate) figure: Figure,
    #[serde(default)]
    pub(crate) target: Target,
}

/// A server with its flags.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Side {
    /// The name in records, which differs from the other side's.
    pub(crate) label: String,
    pub(crate) program: Program,
    /// The protocol of calls to it, if it has several.
    protocol: Option<Protocol>,
    /// The data that a power failure leaves, in words; with `fsync` it need not be given.
    #[serde(default)]
    pub(crate) durability: String,
    /// When it syncs to the disk: the adapter has the flags for it.
    pub(crate) fsync: Option<Fsync>,
    /// `{folder}` is where it may write.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// The replacements for names in braces in commands, answers and loads.
    #[serde(default)]
    pub(crate) words: BTreeMap<String, String>,
    /// The steps for a load or a preparation that asks for a side's own steps.
    #[serde(default)]
    pub(crate) steps: Vec<Prepare>,
    /// Loads of this side in the place of those of cases with these names.
    #[serde(default)]
    pub(crate) loads: BTreeMap<String, Load>,
    /// Cases that this server has nothing for, and why.
    #[serde(default)]
    pub(crate) cannot: BTreeMap<String, String>,
}

/// One measurement.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) what: String,
    /// A number, or a text that is one in each column, such as `{items}`.
    #[serde(default = "no_requests")]
    pub(crate) requests: Count,
    #[serde(default)]
    pub(crate) prepare: Vec<Prepare>,
    pub(crate) load: Load,
    /// Checkpoints repeated while the load runs.
    pub(crate) checkpoints: Option<Checkpoints>,
    /// True if only the first side runs: the others have nothing of the kind, or there is no room for them.
    #[serde(default)]
    pub(crate) alone: bool,
    /// The names of the tables that have it; all if absent.
    pub(crate) tables: Option<Vec<String>>,
    /// The check after the load.
    pub(crate) check: Check,
    /// The figure of a row that the table shows.
    #[serde(default)]
    pub(crate) figure: Figure,
    #[serde(default)]
    pub(crate) target: Target,
}

/// A preparation before a load, unmeasured.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// A command sent with new numbers as calls have them, pipelined, until the integer that `length` answers is `count`.
    Grow { say: String, length: String, count: String },
    /// The side's own steps.
    OwnSteps,
}

/// Checkpoints that are made one after another while something else is measured.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checkpoints {
    /// `BGSAVE` or `BGREWRITEAOF`.
    pub(crate) command: String,
    /// Seconds of the load before the first.
    #[serde(default)]
    pub(crate) after_s: u64,
}

/// A kind of data to load in some number.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Deserialize, Serialize)]
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
    /// Calls through the side's protocol, their replies checked; all parties at once.
    Calls(Calls),
    /// Commands of a library's own tools.
    Tools(Tools),
    /// Connections that send one PING and then nothing.
    Idle { connections: u64 },
    /// Keys of changing sizes, overwritten `rounds` times; nine in ten then deleted.
    Churn { keys: String, rounds: u64 },
    /// Pipelined writes for a time, to random keys.
    Writes(Writes),
    /// As many messages as requests are asked for; each delivery counts as one.
    Messages(Messages),
    /// As many questions as requests are asked for, one after the other, each answered by another client.
    Answers { by: Means },
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
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Writes {
    pub(crate) verb: Verb,
    pub(crate) keys: String,
    pub(crate) value_bytes: usize,
    pub(crate) connections: u64,
    pub(crate) pipeline: u64,
    /// The maximum duration.
    pub(crate) seconds: f64,
    /// Records due in a second, over all connections; as fast as answered if absent.
    pub(crate) pace_per_s: Option<u64>,
    /// Single records due in a second on one more connection, whose waits are figures of their own.
    pub(crate) singles_per_s: Option<u64>,
    /// Seconds in which nothing is written, before the disk is looked at for the last time.
    #[serde(default)]
    pub(crate) rest_s: u64,
}

/// The means by which clients exchange questions and answers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Means {
    /// LPUSH, and BLPOP of a client that waits.
    Lists,
    /// PUBLISH, and a listener.
    Channels,
}

impl Means {
    /// Returns its name in a record.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Channels => "channels",
        }
    }
}

/// Messages on channels drawn at random, and their listeners.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Verb {
    /// Overwrites `key:000000000000` or one of those that follow.
    Set,
    /// Pushes to `list:000000000000` or one of those that follow.
    Rpush,
}

/// A call that is made instead of the usual one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Instead {
    /// The command, in the format of the usual one.
    pub(crate) command: String,
    /// The share of calls, in percent, drawn at random.
    pub(crate) percent: u64,
}

/// Clients that keep a server busy while calls are timed.
#[derive(Clone, Debug, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Check {
    pub(crate) command: String,
    pub(crate) answer: String,
}

/// The targets, all of the first side against the second but for `figure_max`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    pub(crate) case: String,
    pub(crate) max: f64,
}

impl Scenario {
    /// Reads one file.
    ///
    /// # Errors
    /// It cannot be read, or is not a scenario.
    pub(crate) fn read(path: &Path) -> Result<Self, LabError> {
        let text = fs::read_to_string(path).map_err(io_error(path.display().to_string()))?;
        Self::parse(&text, path)
    }

    /// Returns the scenario of a file with this text.
    ///
    /// # Errors
    /// It is not a scenario.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, LabError> {
        let mut scenario: Self = toml::from_str(text).map_err(|error| file_error(path, error))?;
        scenario.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        scenario.find_contradiction().map_or(Ok(()), |why| Err(file_error(path, why)))?;
        Ok(scenario)
    }

    fn find_contradiction(&self) -> Option<String> {
        let mut labels: Vec<&str> = self.sides.iter().map(|side| side.label.as_str()).collect();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("two sides have the label `{}`", pair[0]));
        }
        if self.sides.is_empty() {
            return Some("needs a [[side]]".to_owned());
        }
        if let Some(label) = self.baseline.as_ref().filter(|label| !labels.contains(&label.as_str())) {
            return Some(format!("no side has the label `{label}` of the baseline"));
        }
        let lengths: Vec<usize> = self.columns.words.values().map(Vec::len).collect();
        if lengths.contains(&0) || lengths.windows(2).any(|pair| pair[0] != pair[1]) {
            return Some("the words of `columns` need values, equally many each".to_owned());
        }
        if let Some(part) = self.stack.iter().find(|part| !self.cases.iter().any(|case| case.name == **part)) {
            return Some(format!("`{part}` of `stack` is no case"));
        }
        let columns = self.columns.count();
        self.published.iter().find_map(|published| {
            let is_table = |table: &Table| table.name == published.table;
            if !self.tables().iter().any(is_table) {
                return Some(format!("figures are published for `{}`, which is no table", published.table));
            }
            let wrong = published
                .cases
                .iter()
                .find(|(case, values)| !self.cases.iter().any(|it| it.name == **case) || values.len() != columns)?;
            Some(format!("published figures of `{}` need a case of that name and {columns} values", wrong.0))
        })
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

    /// Puts another value in the place of a word: `requests` (or `n`) of all cases, `items`, or a word of the columns,
    /// tables or sides.
    ///
    /// # Errors
    /// There is no such word, or it needs a number.
    pub(crate) fn replace(&mut self, name: &str, value: &str) -> Result<(), LabError> {
        let number = || {
            value.parse::<u64>().map_err(|_| LabError::Step(format!("{name} needs a number, and `{value}` is none")))
        };
        let mut is_known = false;
        if matches!(name, "n" | "requests") {
            let requests = number()?;
            self.cases.iter_mut().for_each(|case| case.requests = Count::Number(requests));
            is_known = true;
        }
        if name == "items" {
            self.items = number()?;
            is_known = true;
        }
        if self.columns.words.contains_key(name) {
            // One column is left.
            self.columns.keep(Some(1));
            self.columns.words.insert(name.to_owned(), vec![number()?]);
            self.published.clear();
            is_known = true;
        }
        let tables = self.tables.iter_mut().map(|table| &mut table.words);
        for words in self.sides.iter_mut().map(|side| &mut side.words).chain(tables) {
            if let Some(word) = words.get_mut(name) {
                value.clone_into(word);
                is_known = true;
            }
        }
        let unknown = || LabError::Step(format!("{} has no word `{name}`", self.name));
        is_known.then_some(()).ok_or_else(unknown)
    }

    /// Puts the baseline in the first side's place too. Absent if there is no peer.
    pub(crate) fn calibrated(mut self) -> Option<Self> {
        let peer = self.baseline().filter(|side| !side.program.is_bobbin())?.clone();
        let first = Side { label: format!("{}, played by {}", self.sides[0].label, peer.label), ..peer.clone() };
        self.sides = vec![first, peer];
        Some(self)
    }

    /// Returns the case as a side is to run it in a table and a column: with their words and the side's steps.
    ///
    /// # Errors
    /// With its words it is no case.
    pub(crate) fn case_for(&self, case: &Case, side: &Side, table: &Table, column: usize) -> Result<Case, LabError> {
        let mut case = case.clone();
        if let Some(load) = side.loads.get(&case.name) {
            case.load.clone_from(load);
        }
        let mut case = self.with_words(&case, side, table, column)?;
        case.prepare = own_steps(std::mem::take(&mut case.prepare), side);
        if let Load::Steps(steps) = &mut case.load {
            *steps = own_steps(vec![Prepare::OwnSteps], side);
        }
        Ok(case)
    }

    /// Returns the steps before all cases, as [`Scenario::case_for`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn prepare_for(&self, side: &Side, column: usize) -> Result<Vec<Prepare>, LabError> {
        #[derive(Deserialize, Serialize)]
        struct Steps {
            steps: Vec<Prepare>,
        }
        let steps = Steps { steps: own_steps(self.prepare.clone(), side) };
        Ok(self.with_words(&steps, side, &Table::default(), column)?.steps)
    }

    fn with_words<T>(&self, of: &T, side: &Side, table: &Table, column: usize) -> Result<T, LabError>
    where
        T: Serialize + DeserializeOwned,
    {
        let wrong = |error: &dyn std::fmt::Display| LabError::Step(format!("{}, {}: {error}", self.name, side.label));
        let mut value = toml::Value::try_from(of).map_err(|error| wrong(&error))?;
        let mut words: Vec<(String, String)> = Vec::new();
        words.extend(side.words.clone());
        words.extend(table.words.clone());
        words.extend(self.columns.values(column).map(|(name, value)| (format!("{name}:12"), format!("{value:012}"))));
        words.extend(self.columns.values(column).map(|(name, value)| (name.to_owned(), value.to_string())));
        words.iter_mut().for_each(|(name, _)| *name = format!("{{{name}}}"));
        // A word may have other words in it.
        (0..WORDS_DEPTH).for_each(|_| replace_words(&mut value, &words));
        value.try_into().map_err(|error| wrong(&error))
    }

    /// The size of the data in a column.
    pub(crate) fn items(&self, column: usize) -> u64 {
        self.columns.values(column).find(|(name, _)| *name == "items").map_or(self.items, |(_, items)| items)
    }

    /// Returns the values of placeholders in a column.
    ///
    /// # Errors
    /// The requests of the case are no number.
    pub(crate) fn counts(&self, case: &Case, column: usize) -> Result<PlaceholderValues, LabError> {
        let values = PlaceholderValues { requests: 0, items: self.items(column) };
        Ok(PlaceholderValues { requests: case.requests.resolve(values)?, ..values })
    }

    /// The side that ratios are against, if there is more than one.
    pub(crate) fn baseline(&self) -> Option<&Side> {
        let named = |label: &String| self.sides.iter().find(|side| side.label == *label);
        self.baseline.as_ref().map_or(self.sides.get(1), named)
    }

    /// The tables, at least one.
    pub(crate) fn tables(&self) -> Vec<Table> {
        if self.tables.is_empty() { vec![Table::default()] } else { self.tables.clone() }
    }
}

impl Side {
    /// Returns a side without words of its own.
    ///
    /// # Errors
    /// The server has no such durability.
    pub(crate) fn plain(label: &str, program: Program, fsync: Fsync) -> Result<Self, LabError> {
        let mut side = Self {
            label: label.to_owned(),
            program,
            protocol: None,
            durability: String::new(),
            fsync: Some(fsync),
            flags: Vec::new(),
            words: BTreeMap::new(),
            steps: Vec::new(),
            cannot: BTreeMap::new(),
            loads: BTreeMap::new(),
        };
        side.choose_durability(None)?;
        Ok(side)
    }

    /// Adds the flags for its durability, or for another one instead; a side that leaves no choice keeps its own flags.
    ///
    /// # Errors
    /// The server has no such durability.
    pub(crate) fn choose_durability(&mut self, instead: Option<Fsync>) -> Result<(), LabError> {
        let Some(own) = self.fsync else { return Ok(()) };
        let fsync = instead.unwrap_or(own);
        self.flags.splice(0..0, self.program.durability_flags(fsync)?);
        self.durability = self.program.durability_words(fsync);
        Ok(())
    }

    /// Returns the protocol of calls to it.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol.unwrap_or_else(|| self.program.protocol())
    }
}

impl Case {
    pub(crate) fn is_in(&self, table: &Table) -> bool {
        self.tables.as_ref().is_none_or(|tables| tables.contains(&table.name))
    }
}

impl Columns {
    /// The number of columns, at least one.
    pub(crate) fn count(&self) -> usize {
        self.words.values().map(Vec::len).min().unwrap_or(1)
    }

    /// The names and values of a column.
    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = (&str, u64)> {
        self.words.iter().map(move |(name, values)| (name.as_str(), values[column]))
    }

    /// The name of a column; empty if there is one without a name.
    pub(crate) fn name_of(&self, column: usize) -> String {
        let fill = |text: String, (name, value): (&str, u64)| text.replace(&format!("{{{name}}}"), &value.to_string());
        self.values(column).fold(self.name.clone(), fill)
    }

    /// Leaves only the first columns.
    fn keep(&mut self, count: Option<usize>) {
        if let Some(count) = count {
            self.words.values_mut().for_each(|values| values.truncate(count));
        }
    }
}

/// Puts a side's own steps where they are asked for.
fn own_steps(steps: Vec<Prepare>, side: &Side) -> Vec<Prepare> {
    let own = |step| if matches!(step, Prepare::OwnSteps) { side.steps.clone() } else { vec![step] };
    steps.into_iter().flat_map(own).collect()
}

fn replace_words(value: &mut toml::Value, words: &[(String, String)]) {
    match value {
        toml::Value::String(text) => words.iter().for_each(|(name, word)| *text = text.replace(name, word)),
        toml::Value::Array(values) => values.iter_mut().for_each(|value| replace_words(value, words)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| replace_words(value, words)),
        _ => {}
    }
}

fn no_requests() -> Count {
    Count::Number(0)
}

fn items_min_default() -> u64 {
    1000
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
mod tests;
