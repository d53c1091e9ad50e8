//! The words of a command, read from left to right.
//!
//! ```text
//!   PREFIX 2 doc: note: SCHEMA ...
//!          |            ^ the next word
//!          +-- a count, then as many words
//! ```

use crate::value::parse_number;
use std::ops::Bound;

/// The words not yet read.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentCursor<'a> {
    words: &'a [&'a [u8]],
    read_count: usize,
}

/// An option whose value is missing or of the wrong form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Bad arguments for {option}: {reason}")]
pub struct BadArgument {
    /// The option.
    pub option: &'static str,
    /// The fault of its value.
    pub reason: BadArgumentReason,
}

/// The fault of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadArgumentReason {
    /// The command ends too early.
    #[error("Expected an argument, but none provided")]
    Missing,
    /// It is not a number.
    #[error("Could not convert argument to expected type")]
    NotNumber,
    /// It is a negative count.
    #[error("Value is outside acceptable bounds")]
    OutOfBounds,
}

impl BadArgumentReason {
    /// Returns the error of the option that has such a value.
    pub(crate) fn of(self, option: &'static str) -> BadArgument {
        BadArgument { option, reason: self }
    }
}

impl<'a> ArgumentCursor<'a> {
    /// Returns a cursor before the first word.
    pub(crate) fn new(words: &'a [&'a [u8]]) -> Self {
        Self { words, read_count: 0 }
    }

    /// Returns the number of words that were read.
    pub(crate) fn read_count(&self) -> usize {
        self.read_count
    }

    /// Returns the number of words that are left.
    pub(crate) fn left_count(&self) -> usize {
        self.words.len()
    }

    /// Reads the next word, if there is one.
    pub(crate) fn next_word(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        self.read_count += 1;
        Some(first)
    }

    /// Reads the next word if it is this one, in any case. Returns false and reads nothing if it is another.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let is_next = self.words.first().is_some_and(|next| is_word(next, word));
        is_next && self.next_word().is_some()
    }

    /// Reads the value of an option.
    pub(crate) fn value(&mut self, option: &'static str) -> Result<&'a [u8], BadArgument> {
        self.next_word().ok_or(BadArgumentReason::Missing.of(option))
    }

    /// Reads the value of an option, an integer of at least 0.
    pub(crate) fn integer(&mut self, option: &'static str) -> Result<u64, BadArgument> {
        let number = parse_integer(self.value(option)?).ok_or(BadArgumentReason::NotNumber.of(option))?;
        u64::try_from(number).map_err(|_| BadArgumentReason::OutOfBounds.of(option))
    }

    /// Reads the value of an option, a number.
    pub(crate) fn number(&mut self, option: &'static str) -> Result<f64, BadArgument> {
        parse_number(self.value(option)?).ok_or(BadArgumentReason::NotNumber.of(option))
    }

    /// Reads a count and as many words.
    pub(crate) fn list(&mut self, option: &'static str) -> Result<&'a [&'a [u8]], BadArgument> {
        let count = self.integer(option)?;
        self.several(count, option)
    }

    /// Reads so many words.
    pub(crate) fn several(&mut self, count: u64, option: &'static str) -> Result<&'a [&'a [u8]], BadArgument> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (several, rest) = self.words.split_at_checked(count).ok_or(BadArgumentReason::Missing.of(option))?;
        self.words = rest;
        self.read_count += count;
        Ok(several)
    }
}

/// Returns true if a client's word is this one, in any case.
pub(crate) fn is_word(word: &[u8], known: &str) -> bool {
    word.eq_ignore_ascii_case(known.as_bytes())
}

/// Returns the name of a field without the `@` before it.
pub(crate) fn without_at(word: &[u8]) -> &[u8] {
    word.strip_prefix(b"@").unwrap_or(word)
}

/// Parses a decimal integer.
pub(crate) fn parse_integer(word: &[u8]) -> Option<i64> {
    str::from_utf8(word).ok()?.parse().ok()
}

/// Parses a decimal integer of at least 0.
pub(crate) fn parse_count(word: &[u8]) -> Option<u64> {
    parse_integer(word).and_then(|number| u64::try_from(number).ok())
}

/// Parses an end of a range: a number, after `(` if the range excludes it.
pub(crate) fn parse_bound(word: &[u8]) -> Option<Bound<f64>> {
    match word {
        [b'(', number @ ..] => parse_number(number).map(Bound::Excluded),
        number => parse_number(number).map(Bound::Included),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_in_any_case() {
        let mut cursor = ArgumentCursor::new(&[b"asc", b"x"]);
        assert!(!cursor.take("DESC"));
        assert!(cursor.take("ASC"));
        assert_eq!((cursor.read_count(), cursor.left_count()), (1, 1));
    }

    #[test]
    fn a_list_longer_than_the_command_is_refused() {
        let mut cursor = ArgumentCursor::new(&[b"18446744073709551615", b"x"]);
        assert_eq!(cursor.list("PREFIX"), Err(BadArgumentReason::NotNumber.of("PREFIX")));
        let mut cursor = ArgumentCursor::new(&[b"2", b"x"]);
        assert_eq!(cursor.list("PREFIX"), Err(BadArgumentReason::Missing.of("PREFIX")));
    }

    #[test]
    fn a_parenthesis_excludes_the_end_of_a_range() {
        assert_eq!(parse_bound(b"(1.5"), Some(Bound::Excluded(1.5)));
        assert_eq!(parse_bound(b"+inf"), Some(Bound::Included(f64::INFINITY)));
        assert_eq!(parse_bound(b"nan"), None);
        assert_eq!(parse_bound(b"("), None);
    }
}
