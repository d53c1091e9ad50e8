//! Parses numeric arguments, with Redis's rules and errors.

use crate::failure::Failure;
use base::raw_text;
use base::{Ms, glob};
use std::borrow::Cow;
use values::string::parse_int;
use wire::Args;

/// Parses an integer in canonical form.
pub(crate) fn int(argument: &[u8]) -> Result<i64, Failure> {
    parse_int(argument).ok_or(Failure::NotAnInteger)
}

/// Parses an integer from `min` to `max`; `text` is the error for anything else.
pub(crate) fn int_or(argument: &[u8], min: i64, max: i64, text: &'static str) -> Result<i64, Failure> {
    parse_int(argument).filter(|number| (min..=max).contains(number)).ok_or(Failure::text(text))
}

/// Parses an integer from `min` to `max`, with Redis's plain error if it is out of range.
pub(crate) fn int_within(argument: &[u8], min: i64, max: i64) -> Result<i64, Failure> {
    let number = int(argument)?;
    if (min..=max).contains(&number) {
        return Ok(number);
    }
    Err(Failure::text(format!("ERR value is out of range, value must between {min} and {max}")))
}

/// Checks that matching a glob pattern costs no more than its length and the text's.
pub(crate) fn pattern(argument: &[u8]) -> Result<&[u8], Failure> {
    if glob::is_costly(argument) {
        return Err(Failure::text(format!(
            "ERR the pattern is too costly: between two '*' at most {} characters may be matched where '?' or '[' is among them",
            glob::SEGMENT_ELEMENTS_MAX
        )));
    }
    Ok(argument)
}

/// Parses a count of elements: 0 or more.
pub(crate) fn count(argument: &[u8]) -> Result<u64, Failure> {
    int_or(argument, 0, i64::MAX, "ERR value is out of range, must be positive").map(|count| count as u64)
}

/// Parses `[COUNT count]`, the rest of a request that takes elements from the first of several keys: 1 if it is empty.
pub(crate) fn count_option(words: &Args<'_>) -> Result<u64, Failure> {
    if words.is_empty() {
        return Ok(1);
    }
    if words.len() < 2 || !is(words.get(0), "COUNT") {
        return Err(Failure::Syntax);
    }
    let count = int_or(words.get(1), 1, i64::MAX, "ERR count should be greater than 0")?;
    if words.len() > 2 { Err(Failure::Syntax) } else { Ok(count as u64) }
}

/// Parses the number of one of `databases` databases.
pub(crate) fn database(argument: &[u8], databases: u32) -> Result<u32, Failure> {
    let number = int_within(argument, i64::from(i32::MIN), i64::from(i32::MAX))?;
    let number = u32::try_from(number).ok().filter(|number| *number < databases);
    number.ok_or(Failure::text("ERR DB index is out of range"))
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

impl Unit {
    /// Converts `number` of this unit to milliseconds; `None` on overflow of an `i64`.
    pub(crate) fn ms(self, number: i64) -> Option<i64> {
        match self {
            Self::Seconds => number.checked_mul(1000),
            Self::Milliseconds => Some(number),
        }
    }
}

/// A time option: EX, PX, EXAT, PXAT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time<'a> {
    /// The number.
    pub(crate) argument: &'a [u8],
    /// Its unit.
    pub(crate) unit: Unit,
    /// True if it is relative to now rather than to the epoch.
    pub(crate) from_now: bool,
}

impl Time<'_> {
    /// Returns the instant, which may have passed already.
    pub(crate) fn instant(&self, now: Ms, args: &Args<'_>) -> Result<Ms, Failure> {
        let ms = self.unit.ms(int(self.argument)?).filter(|ms| *ms > 0);
        let base = if self.from_now { now as i64 } else { 0 };
        let instant = ms.and_then(|ms| ms.checked_add(base));
        instant.map(|instant| instant as Ms).ok_or_else(|| Failure::expire_time(args))
    }
}

/// Returns an argument as quoted in an error: up to its first NUL, where Redis's strings end.
pub fn repeated(argument: &[u8]) -> Cow<'_, str> {
    raw_text::from_bytes(argument.split(|byte| *byte == 0).next().unwrap_or_default())
}

/// Returns true if `argument` is `word`, ignoring case.
pub(crate) fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// Converts indices `start` and `stop` of a sequence of `len`, negative from the end, to a start and a count (0:
/// empty).
pub(crate) fn range(start: i64, stop: i64, len: u64) -> (u64, u64) {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
    let (start, stop) = (from_end(start).max(0), from_end(stop).min(len - 1));
    if start > stop || start >= len { (0, 0) } else { (start as u64, (stop - start + 1) as u64) }
}
