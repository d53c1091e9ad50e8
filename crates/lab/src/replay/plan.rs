//! The calls of a capture, ready to be sent.
//!
//! ```text
//!  capture --> [capture] a line --> [rules] skip or play --> calls in the capture's order, encoded one after another
//!                                                            connections, each with the places of its calls
//! ```
//!
//! All calls are in memory, in about the size of the capture, so that reading it does not disturb the times of calls.

use super::capture::{CapturedCall, Line, parse_line};
use super::rules::{self, ReplyRule, Rule};
use crate::resp;
use crate::{LabError, file_error, io_error};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// The commands with figures of their own; the rest share a line.
const NAMES_MAX: usize = 60;
const OTHER_NAMES: &str = "(others)";
/// The part of an unreadable line that is shown.
const SHOWN_BYTES_MAX: usize = 100;

/// The calls to play.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// In the capture's order.
    pub(super) calls: Vec<PlannedCall>,
    pub(super) connections: Vec<PlannedConnection>,
    /// The names of commands, for the calls.
    pub(super) commands: Vec<String>,
    /// All calls as they are sent.
    bytes: Vec<u8>,
    /// The number of connections that were open at once.
    pub(super) open_max: usize,
    pub(super) counts: CaptureCounts,
    /// True if a call deletes everything.
    pub(super) flushes: bool,
}

/// A call to make.
#[derive(Clone, Debug)]
pub(super) struct PlannedCall {
    pub(super) connection: u32,
    /// The place among the names of commands.
    pub(super) command: u32,
    /// Since the first call.
    pub(super) due_us: u64,
    /// The number of its line, from 1.
    pub(super) line: u64,
    pub(super) check: ReplyRule,
    /// The database that the connection must have selected; any if absent.
    pub(super) database: Option<u32>,
    /// The database that the connection has selected afterwards, if the call changes it.
    pub(super) selects: Option<u32>,
    bytes: Range<usize>,
}

/// A connection of the capture.
#[derive(Debug)]
pub(super) struct PlannedConnection {
    /// The address of the client.
    pub(super) client: String,
    /// The places of its calls, rising.
    pub(super) calls: Vec<u32>,
}

/// The contents of a capture.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct CaptureCounts {
    pub(super) lines: u64,
    /// Addresses that played calls come from.
    pub(super) clients: u64,
    pub(super) played: u64,
    /// Calls that scripts made.
    pub(super) of_scripts: u64,
    pub(super) unreadable: u64,
    /// The first of the lines that cannot be read, with its number and what is wrong.
    pub(super) first_unreadable: Option<String>,
    /// Calls that were not played.
    pub(super) skipped: Vec<CountedCalls>,
    /// Calls that were played, but whose replies are not compared.
    pub(super) not_compared: Vec<CountedCalls>,
}

/// The calls of a command for which something holds.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct CountedCalls {
    pub(super) command: String,
    pub(super) calls: u64,
    pub(super) reason: String,
}

/// The state of a capture that is read.
#[derive(Default)]
struct Reader {
    plan: Plan,
    names: HashMap<String, u32>,
    connections: HashMap<String, u32>,
    states: Vec<ConnectionState>,
    skipped: BTreeMap<(String, &'static str), u64>,
    first_us: Option<u64>,
    has_stream_ids: bool,
}

/// The state of a client's connection at a line.
#[derive(Default)]
struct ConnectionState {
    /// How the replies to calls since MULTI are compared.
    transaction: Option<Vec<ReplyRule>>,
}

impl Plan {
    /// Reads a capture.
    ///
    /// # Errors
    /// It cannot be read, or has no call.
    pub(super) fn read(path: &Path) -> Result<Self, LabError> {
        let shown = || path.display().to_string();
        let file = File::open(path).map_err(io_error(shown()))?;
        let plan = Self::of(BufReader::new(file)).map_err(io_error(shown()))?;
        if plan.calls.is_empty() {
            let first = plan.counts.first_unreadable.map_or(String::new(), |line| format!("; {line}"));
            return Err(file_error(
                path,
                format!("it has no call to play: is it what redis-cli MONITOR printed?{first}"),
            ));
        }
        Ok(plan)
    }

    /// Reads the lines of a capture.
    ///
    /// # Errors
    /// They cannot be read, or are more than this can number.
    pub(super) fn of(mut lines: impl BufRead) -> std::io::Result<Self> {
        let (mut reader, mut line) = (Reader::default(), Vec::new());
        while lines.read_until(b'\n', &mut line)? > 0 {
            reader.take(&line)?;
            line.clear();
        }
        Ok(reader.finished())
    }

    /// Returns a call as it is sent.
    pub(super) fn bytes_of(&self, call: &PlannedCall) -> &[u8] {
        &self.bytes[call.bytes.clone()]
    }

    pub(super) fn command_of(&self, call: &PlannedCall) -> &str {
        &self.commands[call.command as usize]
    }
}

impl Reader {
    fn take(&mut self, line: &[u8]) -> std::io::Result<()> {
        let counts = &mut self.plan.counts;
        counts.lines += 1;
        match parse_line(line) {
            Ok(Line::Nothing) => {}
            Ok(Line::OfScript) => counts.of_scripts += 1,
            Ok(Line::Call(call)) => self.add(call)?,
            Err(why) => {
                counts.unreadable += 1;
                if counts.first_unreadable.is_none() {
                    let line = line.trim_ascii_end();
                    let shown = line[..line.len().min(SHOWN_BYTES_MAX)].escape_ascii();
                    counts.first_unreadable = Some(format!("line {}: {why}: {shown}", counts.lines));
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, captured: CapturedCall) -> std::io::Result<()> {
        let name = rules::name_of(&captured.words);
        let check = match rules::rule_of(&name, &captured.words) {
            Rule::Play(check) => check,
            Rule::Skip(reason) => {
                *self.skipped.entry((name, reason)).or_default() += 1;
                return Ok(());
            }
        };
        let call = u32::try_from(self.plan.calls.len()).map_err(|_| std::io::Error::other("too many calls"))?;
        let connection = self.connection(captured.client);
        self.has_stream_ids |= rules::gives_stream_id(&name, check);
        let check = if self.has_stream_ids { rules::check_with_stream_ids(&name, check) } else { check };
        let state = &mut self.states[connection as usize];
        let check = state.check(&name, check);
        let selects = match name.as_str() {
            "SELECT" => captured.words.get(1).and_then(|word| std::str::from_utf8(word).ok()?.parse().ok()),
            "RESET" => Some(0),
            _ => None,
        };
        // The line of SELECT may name the database before or after it, and a SELECT of ours within a transaction would
        // become a part of it.
        let database = (name != "SELECT" && state.transaction.is_none()).then_some(captured.database);
        self.plan.flushes |= name == "FLUSHALL" || name == "FLUSHDB";
        let names = &mut self.names;
        let next_name = names.len() as u32;
        let command = *names.entry(name).or_insert(next_name);
        let begin = self.plan.bytes.len();
        let words: Vec<&[u8]> = captured.words.iter().map(Vec::as_slice).collect();
        resp::encode(&mut self.plan.bytes, &words);
        // The clock of the machine may have been set back.
        let first_us = *self.first_us.get_or_insert(captured.time_us);
        let last_us = self.plan.calls.last().map_or(0, |call| call.due_us);
        let due_us = captured.time_us.saturating_sub(first_us).max(last_us);
        let (line, bytes) = (self.plan.counts.lines, begin..self.plan.bytes.len());
        self.plan.calls.push(PlannedCall { connection, command, due_us, line, check, database, selects, bytes });
        self.plan.connections[connection as usize].calls.push(call);
        Ok(())
    }

    fn connection(&mut self, client: String) -> u32 {
        let next = self.connections.len() as u32;
        *self.connections.entry(client).or_insert_with_key(|client| {
            self.plan.connections.push(PlannedConnection { client: client.clone(), calls: Vec::new() });
            self.states.push(ConnectionState::default());
            next
        })
    }

    fn finished(mut self) -> Plan {
        self.join_rare_names();
        let plan = &mut self.plan;
        plan.counts.played = plan.calls.len() as u64;
        plan.counts.clients = plan.connections.len() as u64;
        plan.open_max = open_max(plan);
        let skipped = self.skipped.into_iter();
        plan.counts.skipped = skipped
            .map(|((command, reason), calls)| CountedCalls { command, calls, reason: reason.to_owned() })
            .collect();
        let mut not_compared: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for call in &plan.calls {
            let reason = match call.check {
                ReplyRule::Same | ReplyRule::AnyOrder { .. } => continue,
                ReplyRule::Varies(reason) => reason,
                ReplyRule::MayWait => "it may wait for another client",
            };
            *not_compared.entry((plan.command_of(call), reason)).or_default() += 1;
        }
        let counted = |((command, reason), calls): ((&str, &str), u64)| CountedCalls {
            command: command.to_owned(),
            calls,
            reason: reason.to_owned(),
        };
        plan.counts.not_compared = not_compared.into_iter().map(counted).collect();
        self.plan
    }

    /// Leaves names to the most frequent commands, and puts them in the order of their numbers of calls.
    fn join_rare_names(&mut self) {
        let mut counts = vec![0_u64; self.names.len()];
        for call in &self.plan.calls {
            counts[call.command as usize] += 1;
        }
        let mut names: Vec<(String, u32)> = std::mem::take(&mut self.names).into_iter().collect();
        names.sort_by(|(name, one), (other_name, other)| {
            counts[*other as usize].cmp(&counts[*one as usize]).then_with(|| name.cmp(other_name))
        });
        let last = NAMES_MAX - 1;
        let is_joined = names.len() > NAMES_MAX;
        let mut places = vec![0_u32; names.len()];
        for (place, (_, command)) in names.iter().enumerate() {
            places[*command as usize] = if is_joined { place.min(last) } else { place } as u32;
        }
        let mut commands: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        if is_joined {
            commands.truncate(last);
            commands.push(OTHER_NAMES.to_owned());
        }
        for call in &mut self.plan.calls {
            call.command = places[call.command as usize];
        }
        self.plan.commands = commands;
    }
}

impl ConnectionState {
    /// Returns how the reply of a call is compared here: calls in a transaction have their replies in that of EXEC.
    fn check(&mut self, name: &str, check: ReplyRule) -> ReplyRule {
        match (name, &mut self.transaction) {
            ("MULTI", transaction) => {
                transaction.get_or_insert_default();
                check
            }
            ("EXEC", transaction) => rules::check_of_exec(&transaction.take().unwrap_or_default()),
            ("DISCARD" | "RESET", transaction) => {
                *transaction = None;
                check
            }
            // The server says that it is queued.
            (_, Some(checks)) => {
                checks.push(check);
                if check == ReplyRule::MayWait { check } else { ReplyRule::Same }
            }
            (_, None) => check,
        }
    }
}

/// Returns the most connections that were between their first and their last call at once.
fn open_max(plan: &Plan) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for (call, place) in plan.calls.iter().zip(0_u32..) {
        let calls = &plan.connections[call.connection as usize].calls;
        open += usize::from(calls.first() == Some(&place));
        most = most.max(open);
        open -= usize::from(calls.last() == Some(&place));
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan of calls `client line`, one a millisecond.
    fn plan(calls: &[(&str, u32, &str)]) -> Plan {
        let lines = calls.iter().zip(1000_u64..).map(|((client, database, words), time_ms)| {
            let words = words.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            let call =
                CapturedCall { time_us: time_ms * 1000, database: *database, client: (*client).to_owned(), words };
            super::super::capture::tests::line_of(&call)
        });
        Plan::of(lines.collect::<Vec<_>>().join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn calls_keep_the_order_of_the_capture() {
        let plan = plan(&[("a", 0, "SET x 1"), ("b", 0, "GET x"), ("a", 0, "get y")]);
        assert_eq!(plan.bytes_of(&plan.calls[1]), b"*2\r\n$3\r\nGET\r\n$1\r\nx\r\n");
        assert_eq!(plan.calls.iter().map(|call| call.due_us).collect::<Vec<_>>(), [0, 1000, 2000]);
        assert_eq!(plan.connections.iter().map(|it| it.calls.clone()).collect::<Vec<_>>(), [vec![0, 2], vec![1]]);
        assert_eq!(plan.commands, ["GET", "SET"]);
    }

    #[test]
    fn lines_that_are_not_played_are_counted() {
        let text = "OK\n1.000000 [0 a] \"PING\"\nrubbish\n1.000000 [0 lua] \"GET\" \"a\"\nmore rubbish\n\
                    1.000000 [0 a] \"AUTH\" \"(redacted)\"\n1.000000 [0 a] \"TIME\"\n1.000000 [0 a] \"cut";
        let plan = Plan::of(text.as_bytes()).unwrap();
        let counts = &plan.counts;
        assert_eq!((counts.lines, counts.played, counts.of_scripts, counts.unreadable), (8, 2, 1, 3));
        let first = counts.first_unreadable.as_deref().unwrap();
        assert!(first.starts_with("line 3: ") && first.contains("rubbish"), "{first}");
        let of = |calls: &[CountedCalls]| calls.iter().map(|it| (it.command.clone(), it.calls)).collect::<Vec<_>>();
        assert_eq!(of(&counts.skipped), [("AUTH".to_owned(), 1)]);
        assert_eq!(of(&counts.not_compared), [("TIME".to_owned(), 1)]);
    }

    #[test]
    fn a_call_has_the_database_of_its_line() {
        let plan = plan(&[("a", 3, "GET x"), ("a", 5, "SELECT 5"), ("a", 5, "GET x"), ("a", 0, "RESET")]);
        let databases: Vec<_> = plan.calls.iter().map(|call| (call.database, call.selects)).collect();
        assert_eq!(databases, [(Some(3), None), (None, Some(5)), (Some(5), None), (Some(0), Some(0))]);
    }

    #[test]
    fn a_transaction_is_compared_in_the_reply_of_exec() {
        let plan = plan(&[("a", 0, "MULTI"), ("b", 0, "TIME"), ("a", 0, "TIME"), ("a", 2, "GET x"), ("a", 2, "EXEC")]);
        let checks: Vec<_> = plan.calls.iter().map(|call| matches!(call.check, ReplyRule::Varies(_))).collect();
        assert_eq!(checks, [false, true, false, false, true]);
        assert_eq!(plan.calls[3].database, None);
    }

    #[test]
    fn ids_of_streams_are_not_compared_once_servers_gave_them() {
        let plan = plan(&[("a", 0, "XRANGE s - +"), ("a", 0, "XADD s * a b"), ("a", 0, "XRANGE s - +")]);
        let checks: Vec<_> = plan.calls.iter().map(|call| call.check == ReplyRule::Same).collect();
        assert_eq!(checks, [true, false, false]);
    }

    #[test]
    fn connections_open_at_once_are_counted() {
        let plan =
            plan(&[("a", 0, "GET x"), ("b", 0, "GET x"), ("a", 0, "GET x"), ("c", 0, "GET x"), ("b", 0, "GET x")]);
        assert_eq!((plan.connections.len(), plan.open_max), (3, 2));
    }

    #[test]
    fn rare_commands_share_a_name() {
        let names: Vec<String> = (0..70).map(|number| format!("C{number:02}")).collect();
        let calls: Vec<_> = names.iter().chain(&names[..5]).map(|name| ("a", 0, name.as_str())).collect();
        let plan = plan(&calls);
        assert_eq!((plan.commands.len(), plan.commands.last().map(String::as_str)), (60, Some("(others)")));
        assert_eq!(plan.commands[..5], names[..5]);
        assert_eq!(plan.command_of(&plan.calls[69]), "(others)");
    }

    #[test]
    fn a_clock_that_is_set_back_delays_no_call() {
        let text = "5.000000 [0 a] \"PING\"\n3.000000 [0 a] \"PING\"\n5.500000 [0 a] \"PING\"";
        let plan = Plan::of(text.as_bytes()).unwrap();
        assert_eq!(plan.calls.iter().map(|call| call.due_us).collect::<Vec<_>>(), [0, 0, 500_000]);
    }
}
