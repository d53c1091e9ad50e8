//! Splits a line of words into arguments, for people using telnet.
//!
//! ```text
//!   SET key "a\tb\x00" 'it\'s'     words end at blanks; quotes may begin inside a word, and must end it
//! ```

use super::decode::WireError;
use crate::request::{Range, Ranges};

/// Splits `line` into arguments stored in `ranges` itself.
pub(super) fn split(line: &[u8], ranges: &mut Ranges) -> Result<(), WireError> {
    ranges.inline = true;
    let mut rest = line.trim_ascii_start_c();
    while !rest.is_empty() {
        let start = ranges.unquoted.len();
        rest = word(rest, &mut ranges.unquoted)?.trim_ascii_start_c();
        ranges.list.push(Range::new(start, ranges.unquoted.len() - start));
    }
    Ok(())
}

/// Writes the unquoted word at the start of `line` and returns the rest.
fn word<'a>(mut line: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], WireError> {
    loop {
        match line {
            [] | [b' ' | b'\n' | b'\r' | b'\t', ..] => return Ok(line),
            [b'"', rest @ ..] => return closed(double_quoted(rest, out)?),
            [b'\'', rest @ ..] => return closed(single_quoted(rest, out)?),
            [byte, rest @ ..] => {
                out.push(*byte);
                line = rest;
            }
        }
    }
}

fn double_quoted<'a>(mut line: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], WireError> {
    loop {
        let (byte, rest) = match line {
            [] => return Err(WireError::UnbalancedQuotes),
            [b'"', rest @ ..] => return Ok(rest),
            [b'\\', b'x', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex_digit(*high) << 4 | hex_digit(*low), rest)
            }
            [b'\\', escaped, rest @ ..] => (unescape(*escaped), rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        out.push(byte);
        line = rest;
    }
}

fn single_quoted<'a>(mut line: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], WireError> {
    loop {
        let (byte, rest) = match line {
            [] => return Err(WireError::UnbalancedQuotes),
            [b'\\', b'\'', rest @ ..] => (b'\'', rest),
            [b'\'', rest @ ..] => return Ok(rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        out.push(byte);
        line = rest;
    }
}

/// Checks that a closing quote ends its word.
fn closed(rest: &[u8]) -> Result<&[u8], WireError> {
    match rest.first() {
        Some(byte) if !is_blank(*byte) => Err(WireError::UnbalancedQuotes),
        _ => Ok(rest),
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

/// C's `isspace`, which includes the vertical tab.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

trait TrimStart {
    fn trim_ascii_start_c(&self) -> &Self;
}

impl TrimStart for [u8] {
    fn trim_ascii_start_c(&self) -> &[u8] {
        let blanks = self.iter().take_while(|byte| is_blank(**byte)).count();
        &self[blanks..]
    }
}
