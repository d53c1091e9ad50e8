//! Parses histories from text, one event per line, in Display form: a counterexample can be pasted into a test.

use crate::event::{End, Event, Key, Step, Value};
use std::fmt;

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line number, from 1.
    pub line: usize,
    /// The line's text.
    pub text: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is no event: {}", self.line, self.text)
    }
}

impl std::error::Error for ParseError {}

/// Parses a history from the Display form of [`Event`]s. Empty lines and those that begin with `#` are skipped.
///
/// # Errors
/// The first invalid line.
pub fn parse(text: &str) -> Result<Vec<Event>, ParseError> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| event(line).ok_or_else(|| ParseError { line: at + 1, text: line.to_owned() })).collect()
}

fn event(line: &str) -> Option<Event> {
    let (client, rest) = line.split_once(' ')?;
    let (times, steps) = rest.trim_start().split_once(' ')?;
    let (called, end) = times.split_once("..")?;
    let end = match end.strip_prefix('?') {
        Some(until) => End::Lost(until.parse().ok()?),
        None if end == "!" => End::Refused,
        None => End::Answered(end.parse().ok()?),
    };
    let is_answered = matches!(end, End::Answered(_));
    let steps: Option<Vec<Step>> = steps.split(';').map(|text| step(text.trim(), is_answered)).collect();
    Some(Event { client: client.parse().ok()?, called_ns: called.parse().ok()?, end, steps: steps? })
}

/// Parses a step; its result must be given if and only if it was answered.
fn step(text: &str, is_answered: bool) -> Option<Step> {
    let (call, found) = match text.split_once(" = ") {
        Some((call, found)) if is_answered => (call, Some(found)),
        Some(_) => return None,
        None => (text, None),
    };
    let words: Vec<&str> = call.split_whitespace().collect();
    let one = || if is_answered { element(found?) } else { Some(None) };
    let many = || if is_answered { elements(found?) } else { Some(Vec::new()) };
    Some(match words.as_slice() {
        ["GET", key] => Step::Get { key: number(key, 'r')?, found: one()? },
        ["SET", key, value] => Step::Set { key: number(key, 'r')?, value: value.parse().ok()? },
        ["RPUSH", queue, value] if queue.starts_with('q') => {
            Step::Push { queue: number(queue, 'q')?, value: value.parse().ok()? }
        }
        ["RPUSH", key, value] => {
            let length = found.map(str::parse).transpose().ok()?;
            Step::Append { key: number(key, 'l')?, value: value.parse().ok()?, length }
        }
        ["LPOP", queue] => Step::Pop { queue: number(queue, 'q')?, found: one()? },
        ["LMOVE", from, to] => Step::Move { from: number(from, 'q')?, to: number(to, 'q')?, found: one()? },
        ["LRANGE", queue] if queue.starts_with('q') => Step::Look { queue: number(queue, 'q')?, found: many()? },
        ["LRANGE", key] => Step::Range { key: number(key, 'l')?, found: many()? },
        _ => return None,
    })
}

fn number(key: &str, kind: char) -> Option<Key> {
    key.strip_prefix(kind)?.parse().ok()
}

/// Parses a value, or `Some(None)` for nil.
fn element(text: &str) -> Option<Option<Value>> {
    if text == "nil" { Some(None) } else { Some(Some(text.parse().ok()?)) }
}

fn elements(text: &str) -> Option<Vec<Value>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    inner.split_whitespace().map(|value| value.parse().ok()).collect()
}
