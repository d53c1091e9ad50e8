//! Arguments into numbers, with Redis's rules and errors.

use crate::failure::Failure;
use kinds::text::parse_int;

/// An integer in canonical form.
pub(crate) fn int(argument: &[u8]) -> Result<i64, Failure> {
    parse_int(argument).ok_or(Failure::NotAnInteger)
}

/// Whether `argument` is `word`, in any case of letters.
pub(crate) fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// Indices `start` and `stop` of a sequence of `len`, negative from the end, as a start and a count (0: nothing).
pub(crate) fn range(start: i64, stop: i64, len: u64) -> (u64, u64) {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { index.saturating_add(len) } else { index };
    let (start, stop) = (from_end(start).max(0), from_end(stop).min(len - 1));
    if start > stop || start >= len { (0, 0) } else { (start as u64, (stop - start + 1) as u64) }
}
