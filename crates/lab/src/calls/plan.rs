//! The form of `load.calls` in a scenario, and its meaning once all placeholders have values.
//!
//! ```text
//! load.calls = { parties = [{ say = "SET key:{next:12}", bytes = 100, connections = "{clients}" }], seconds = 10 }
//!
//!   Calls    > Party     > Alternative   as written: counts may be texts
//!     |  Calls::resolve
//!     v
//!   CallPlan > PartyPlan > CallLine      counts are numbers; line 0 is the usual one
//! ```

use super::pace::Pace;
use super::template::{DIGITS, replace_numbers};
use crate::LabError;
use crate::scenario::PlaceholderValues;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The place of the payload in a statement of SQL, where it is a text between quotes.
pub(super) const PAYLOAD: &str = "{payload}";
/// The maximum length of a payload.
const PAYLOAD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Parties of connections that make calls at the same time.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calls {
    /// Each party makes as many calls as requests are asked for; without a number of requests, the time ends them.
    pub(crate) parties: Vec<Party>,
    /// The calls end after this time if they have not ended before; the calls answered by then count. 0: only their
    /// number ends them. If absent, they end after the time that the run has for a cell.
    #[serde(default)]
    pub(crate) seconds: Option<u64>,
    /// Calls due in a second, over all connections of all parties; as fast as answered if absent. The latency of a call
    /// counts from the time at which it is due.
    #[serde(default)]
    pub(crate) pace_per_s: Option<Count>,
    /// True if the first error, unexpected reply or lost connection ends the calls instead of failing them: those answered
    /// before count, and the results say what ended them.
    #[serde(default)]
    pub(crate) until_refused: bool,
    /// Threads of the generator; as many as there are cores if absent, and never more than connections.
    #[serde(default)]
    pub(crate) threads: Option<u64>,
}

/// Connections that make one kind of call.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Party {
    /// The call's line without its payload; `{random:12}` is another number below `items` for each call, `{next:12}`
    /// the one after the last, `{zipf:12}` and `{latest:12}` one of few popular ones. `{random%31:2}` is the remainder
    /// of the same number by 31, in two digits.
    pub(crate) say: String,
    /// The length of the payload after the line; SQL has it in the line, at `{payload}`. The payload begins with the
    /// line's first number, if there is room.
    #[serde(default)]
    pub(crate) bytes: Option<Count>,
    pub(crate) connections: Count,
    /// Calls that a connection sends before it waits for replies; the next follow when all are answered. At a pace:
    /// the maximum number of unanswered calls of a connection.
    #[serde(default = "one")]
    pub(crate) pipeline: Count,
    /// A connection is closed after so many calls, and the next call opens a new one; the time that this takes is part
    /// of that call's latency. 0: connections are kept.
    #[serde(default = "zero")]
    pub(crate) calls_per_connection: Count,
    #[serde(default)]
    pub(crate) expect: Expected,
    /// Calls that are made instead of some of these.
    #[serde(default)]
    pub(crate) instead: Vec<Alternative>,
}

/// A call that is made instead of the usual one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Alternative {
    /// As in [`Party`], as is all but the share.
    pub(crate) say: String,
    /// The share of calls in percent; calls are drawn by their numbers.
    pub(crate) percent: u64,
    #[serde(default)]
    pub(crate) bytes: Option<Count>,
    #[serde(default)]
    pub(crate) expect: Expected,
}

/// A number, or a text that is one once its placeholders are filled, such as `{clients}`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Count {
    Number(u64),
    Text(String),
}

/// The expectation as written.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Expected {
    Known(Expect<Count>),
    /// A side's own word for an [`Expect`] without a value: `{stored}` may be `ok` for one and `integer` for another.
    Word(String),
}

/// The reply that a call must have. Any other reply is an error of the cell.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Expect<N> {
    /// No error.
    Any,
    /// The protocol's word for success: `+OK`, `STORED`, `INSERTED 7`, `HD` and the like.
    Ok,
    Integer,
    /// A line or a value with this text; the marks and line ends of the protocol are not part of it.
    Exactly(String),
    /// A value of this length. Without a number in its line, a call that finds nothing is repeated: it takes items from
    /// a queue, and the next item may not be there yet.
    BulkBytes(N),
    /// So many elements.
    Elements(N),
    /// So many elements in the first reply; all other replies equal it, since the data do not change meanwhile.
    SameElements(N),
    /// A value of this length that begins with the number of the call's line, as a payload that was written with that
    /// number does.
    OwnBytes(N),
    /// A value, or nothing.
    FoundOrNothing,
}

/// Calls whose counts are known.
#[derive(Debug)]
pub(crate) struct CallPlan {
    pub(super) parties: Vec<PartyPlan>,
    /// Calls of each party; `u64::MAX` if only the time ends them.
    pub(super) requests: u64,
    /// Numbers in lines are below this.
    pub(super) items: u64,
    pub(super) duration: Option<Duration>,
    pub(super) pace: Option<Pace>,
    pub(super) threads: Option<u64>,
    pub(super) until_refused: bool,
}

/// A party whose counts are known.
#[derive(Debug)]
pub(super) struct PartyPlan {
    /// The usual line, then those made instead.
    pub(super) lines: Vec<CallLine>,
    pub(super) connections: u64,
    pub(super) pipeline: u64,
    pub(super) calls_per_connection: u64,
}

/// One kind of call.
#[derive(Debug)]
pub(super) struct CallLine {
    pub(super) say: String,
    pub(super) payload_bytes: Option<u64>,
    pub(super) expect: Expect<u64>,
    /// The share of calls if it is made instead of the usual line.
    pub(super) percent: u64,
}

impl Calls {
    /// Lets calls that last a given time last as long as the run has for a cell.
    pub(crate) fn shorten(&mut self) {
        self.seconds = self.seconds.filter(|seconds| *seconds == 0);
    }

    /// Returns the calls with the values of all placeholders; `cell` is the time for them unless they have their own.
    ///
    /// # Errors
    /// A count is no number, an expectation cannot be met, or there is nothing to do.
    pub(crate) fn resolve(&self, values: PlaceholderValues, cell: Option<Duration>) -> Result<CallPlan, LabError> {
        let duration = self.seconds.map_or(cell, |seconds| (seconds > 0).then(|| Duration::from_secs(seconds)));
        if values.requests == 0 && duration.is_none() {
            return Err(wrong("calls need a number of requests, or seconds"));
        }
        let pace_per_s = self.pace_per_s.as_ref().map(|pace| pace.resolve(values)).transpose()?;
        if self.parties.is_empty() || pace_per_s == Some(0) || self.threads == Some(0) {
            return Err(wrong("calls need a party, and a pace and threads above 0"));
        }
        let parties: Vec<PartyPlan> =
            self.parties.iter().map(|party| party.resolve(values)).collect::<Result<_, _>>()?;
        let parties_count = parties.len() as u64;
        Ok(CallPlan {
            parties,
            requests: if values.requests == 0 { u64::MAX } else { values.requests },
            items: values.items.max(1),
            duration,
            pace: pace_per_s.map(|calls_per_s| Pace { calls_per_s, parties: parties_count }),
            threads: self.threads,
            until_refused: self.until_refused,
        })
    }
}

impl CallPlan {
    /// Returns true if a call may find nothing.
    pub(super) fn may_find_nothing(&self) -> bool {
        self.parties.iter().flat_map(|party| &party.lines).any(|line| line.expect == Expect::FoundOrNothing)
    }
}

impl Party {
    fn resolve(&self, values: PlaceholderValues) -> Result<PartyPlan, LabError> {
        let mut lines = vec![CallLine::resolve(&self.say, self.bytes.as_ref(), &self.expect, 0, values)?];
        for instead in &self.instead {
            let Alternative { say, percent, bytes, expect } = instead;
            lines.push(CallLine::resolve(say, bytes.as_ref(), expect, *percent, values)?);
        }
        if lines.iter().map(|line| line.percent).sum::<u64>() > 100 {
            return Err(wrong(&format!("more than all calls of `{}` are made otherwise", self.say)));
        }
        let connections = self.connections.resolve(values)?;
        let pipeline = self.pipeline.resolve(values)?;
        if connections == 0 || pipeline == 0 {
            return Err(wrong(&format!("`{}` needs connections and a pipeline above 0", self.say)));
        }
        let calls_per_connection = self.calls_per_connection.resolve(values)?;
        Ok(PartyPlan { lines, connections, pipeline, calls_per_connection })
    }
}

impl PartyPlan {
    /// The connections that have a call to make.
    pub(super) fn connections_used(&self, requests: u64) -> u64 {
        self.connections.min(requests)
    }
}

impl CallLine {
    fn resolve(
        say: &str,
        bytes: Option<&Count>,
        expect: &Expected,
        percent: u64,
        values: PlaceholderValues,
    ) -> Result<Self, LabError> {
        let say = values.fill(say);
        if say.trim().is_empty() || has_unknown_name(&say) {
            return Err(wrong(&format!("`{say}` is no call")));
        }
        let expect = expect.resolve(values)?;
        if matches!(expect, Expect::OwnBytes(bytes) if bytes < DIGITS as u64 || !has_number(&say)) {
            return Err(wrong(&format!("`{say}` cannot have {expect}: it needs a number and room for its digits")));
        }
        let payload_bytes = bytes.map(|bytes| bytes.resolve(values)).transpose()?;
        if payload_bytes.is_some_and(|bytes| bytes > PAYLOAD_BYTES_MAX) {
            return Err(wrong(&format!("the payload of `{say}` is longer than {PAYLOAD_BYTES_MAX} bytes")));
        }
        Ok(Self { say, payload_bytes, expect, percent })
    }

    /// Returns true if finding nothing means that there is nothing yet.
    pub(super) fn takes_from_queue(&self) -> bool {
        matches!(self.expect, Expect::BulkBytes(_)) && !has_number(&self.say)
    }
}

impl Count {
    /// Returns the number.
    ///
    /// # Errors
    /// The text is none.
    pub(crate) fn resolve(&self, values: PlaceholderValues) -> Result<u64, LabError> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Text(text) => values.number(text),
        }
    }
}

impl Expected {
    fn resolve(&self, values: PlaceholderValues) -> Result<Expect<u64>, LabError> {
        let known = match self {
            Self::Known(known) => known,
            Self::Word(word) => return Err(wrong(&format!("`{word}` is no expectation"))),
        };
        Ok(match known {
            Expect::Any => Expect::Any,
            Expect::Ok => Expect::Ok,
            Expect::Integer => Expect::Integer,
            Expect::Exactly(text) => Expect::Exactly(values.fill(text)),
            Expect::BulkBytes(bytes) => Expect::BulkBytes(bytes.resolve(values)?),
            Expect::Elements(count) => Expect::Elements(count.resolve(values)?),
            Expect::SameElements(count) => Expect::SameElements(count.resolve(values)?),
            Expect::OwnBytes(bytes) => Expect::OwnBytes(bytes.resolve(values)?),
            Expect::FoundOrNothing => Expect::FoundOrNothing,
        })
    }
}

impl Default for Expected {
    fn default() -> Self {
        Self::Known(Expect::Ok)
    }
}

impl fmt::Display for Expect<u64> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => write!(out, "no error"),
            Self::Ok => write!(out, "success"),
            Self::Integer => write!(out, "an integer"),
            Self::Exactly(text) => write!(out, "exactly `{text}`"),
            Self::BulkBytes(bytes) => write!(out, "a value of {bytes} bytes"),
            Self::Elements(count) => write!(out, "{count} elements"),
            Self::SameElements(count) => write!(out, "the same {count} elements as in the first reply"),
            Self::OwnBytes(bytes) => write!(out, "a value of {bytes} bytes that begins with the call's number"),
            Self::FoundOrNothing => write!(out, "a value or nothing"),
        }
    }
}

fn one() -> Count {
    Count::Number(1)
}

fn zero() -> Count {
    Count::Number(0)
}

fn has_number(say: &str) -> bool {
    replace_numbers(say, |_| String::new()) != say
}

/// Returns true if the text has a name in braces that nothing fills. Other braces are the call's own.
fn has_unknown_name(say: &str) -> bool {
    // A number within other braces must not make a name of them.
    let without = replace_numbers(say, |_| "N".to_owned()).replace(PAYLOAD, "");
    without.split('{').skip(1).any(|rest| {
        let name = rest.split('}').next().unwrap_or_default();
        let is_part = |byte: u8| b"_:%".contains(&byte) || byte.is_ascii_lowercase() || byte.is_ascii_digit();
        name.len() < rest.len()
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(is_part)
    })
}

fn wrong(why: &str) -> LabError {
    LabError::Step(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: PlaceholderValues = PlaceholderValues { requests: 10, items: 1000 };

    fn read(text: &str) -> Calls {
        toml::from_str(text).unwrap()
    }

    fn refused(text: &str, why: &str) {
        let error = read(text).resolve(VALUES, None).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }

    #[test]
    fn absent_fields_have_their_defaults() {
        let calls = read("parties = [{ say = 'SET key:{next:12}', connections = 5 }]");
        let plan = calls.resolve(VALUES, None).unwrap();
        let party = &plan.parties[0];
        assert_eq!((party.connections, party.pipeline, party.calls_per_connection), (5, 1, 0));
        assert_eq!((&party.lines[0].expect, party.lines[0].payload_bytes), (&Expect::Ok, None));
        assert_eq!((plan.requests, plan.items, plan.duration), (10, 1000, None));
        assert!(plan.pace.is_none());
    }

    #[test]
    fn counts_and_expectations_may_have_placeholders() {
        let calls = read(
            "parties = [{ say = 'LRANGE l 0 {last}', bytes = '{requests}', connections = '{items}', pipeline = '16',
             expect = { elements = '{items}' },
             instead = [{ say = 'PING', percent = 5, expect = { exactly = 'P{requests}' } }] }]\nseconds = 3",
        );
        let plan = calls.resolve(VALUES, None).unwrap();
        let party = &plan.parties[0];
        assert_eq!((party.connections, party.pipeline, party.lines[0].payload_bytes), (1000, 16, Some(10)));
        assert_eq!((&*party.lines[0].say, &party.lines[0].expect), ("LRANGE l 0 999", &Expect::Elements(1000)));
        assert_eq!((party.lines[1].percent, &party.lines[1].expect), (5, &Expect::Exactly("P10".to_owned())));
        assert_eq!(plan.duration, Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_word_in_place_of_an_expectation_is_replaced_by_text() {
        let calls = read("parties = [{ say = 'RPUSH q', connections = 1, expect = '{stored}' }]");
        assert_eq!(calls.parties[0].expect, Expected::Word("{stored}".to_owned()));
        let written = toml::to_string(&calls).unwrap().replace("{stored}", "integer");
        assert_eq!(read(&written).parties[0].expect, Expected::Known(Expect::Integer));
    }

    #[test]
    fn written_calls_are_read_again_unchanged() {
        let text =
            "parties = [{ say = 'GET k', bytes = 3, connections = 1, expect = { own_bytes = 256 } }]\nthreads = 2";
        let calls = read(text);
        assert_eq!(format!("{:?}", read(&toml::to_string(&calls).unwrap())), format!("{calls:?}"));
    }

    #[test]
    fn own_seconds_win_over_those_of_the_run() {
        let cell = Some(Duration::from_secs(10));
        for (own, expected) in [("", cell), ("seconds = 3", Some(Duration::from_secs(3))), ("seconds = 0", None)] {
            let calls = read(&format!("parties = [{{ say = 'PING', connections = 1 }}]\n{own}"));
            assert_eq!(calls.resolve(VALUES, cell).unwrap().duration, expected, "{own}");
        }
    }

    #[test]
    fn impossible_calls_are_refused() {
        refused("parties = []", "need a party");
        refused("parties = [{ say = 'PING', connections = 1 }]\npace_per_s = 0", "above 0");
        refused("parties = [{ say = 'PING', connections = 0 }]", "above 0");
        refused("parties = [{ say = 'PING', connections = 'many' }]", "`many` is no count");
        refused("parties = [{ say = '{insert} x', connections = 1 }]", "is no call");
        refused("parties = [{ say = 'PING', connections = 1, expect = 'okay' }]", "`okay` is no expectation");
        refused("parties = [{ say = 'GET k', connections = 1, expect = { own_bytes = 20 } }]", "needs a number");
        refused("parties = [{ say = 'GET {next:12}', connections = 1, expect = { own_bytes = 11 } }]", "room");
        let instead = "{ say = 'A', percent = 60 }, { say = 'B', percent = 41 }";
        refused(&format!("parties = [{{ say = 'PING', connections = 1, instead = [{instead}] }}]"), "more than all");
        let calls = read("parties = [{ say = 'PING', connections = 1 }]");
        calls.resolve(PlaceholderValues { requests: 0, items: 1 }, None).unwrap_err();
    }

    #[test]
    fn braces_of_a_script_are_no_placeholder() {
        assert!(!has_unknown_name("EVAL \"return {1, 2}\" 0 {random:12}"));
        assert!(!has_unknown_name("SET k {"));
        assert!(!has_unknown_name("FT.SEARCH i @city:{c{random%310:3}}"));
        assert!(has_unknown_name("GET {clients}"));
        assert!(has_unknown_name("GET {random%310:2}"));
    }
}
