//! Parses scores and ranges of them.

use crate::double;
use crate::failure::Failure;
use values::Sorted;
use values::sorted::Bound;

/// Parses a score; anything but NaN.
pub(crate) fn score(argument: &[u8]) -> Result<f64, Failure> {
    number(argument).filter(|score| !score.is_nan()).ok_or(Failure::NotAFloat)
}

/// Like [`score`], with the given error text.
pub(crate) fn score_or(argument: &[u8], text: &'static str) -> Result<f64, Failure> {
    score(argument).map_err(|_| Failure::text(text))
}

/// Parses a number in a double's range. Overflow and underflow are errors.
fn number(argument: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(argument).ok()?;
    let number = double::parse(text)?;
    let is_hexadecimal = text.contains(['x', 'X']);
    let mantissa = text.split(if is_hexadecimal { ['p', 'P'] } else { ['e', 'E'] }).next().unwrap_or_default();
    let has_digit = |is_digit: fn(char) -> bool| mantissa.chars().any(is_digit);
    let overflows = number.is_infinite() && has_digit(|letter| letter.is_ascii_digit());
    let vanishes = number == 0.0 && has_digit(|letter| letter.is_ascii_hexdigit() && letter != '0');
    (!overflows && !vanishes).then_some(number)
}

/// A range of scores.
#[derive(Clone, Copy)]
pub(super) struct Scores {
    pub(super) least: Bound<f64>,
    pub(super) most: Bound<f64>,
}

impl Scores {
    pub(super) fn of(least: &[u8], most: &[u8]) -> Result<Self, Failure> {
        Ok(Self { least: score_bound(least)?, most: score_bound(most)? })
    }

    /// Returns the first rank and the number of members with these scores.
    pub(super) fn ranks(self, sorted: &Sorted) -> (u64, u64) {
        sorted.score_range(self.least, self.most)
    }
}

fn score_bound(argument: &[u8]) -> Result<Bound<f64>, Failure> {
    let parse = |text: &[u8]| {
        let text = std::str::from_utf8(text).ok()?.trim_ascii_start();
        let number = if text.is_empty() { Some(0.0) } else { double::parse(text) };
        number.filter(|number| !number.is_nan())
    };
    let bound = match argument {
        [b'(', rest @ ..] => parse(rest).map(Bound::Excluding),
        all => parse(all).map(Bound::Including),
    };
    bound.ok_or(Failure::text("ERR min or max is not a float"))
}

/// A range of members, in byte order.
#[derive(Clone, Copy)]
pub(super) struct MemberRange<'a> {
    least: Bound<&'a [u8]>,
    most: Bound<&'a [u8]>,
    /// True if the ends are reversed: `+` first, or `-` last.
    is_empty: bool,
}

impl<'a> MemberRange<'a> {
    pub(super) fn of(least: &'a [u8], most: &'a [u8]) -> Result<Self, Failure> {
        let is_empty = least == b"+" || most == b"-";
        Ok(Self { least: lex_bound(least)?, most: lex_bound(most)?, is_empty })
    }

    /// Like [`Scores::ranks`].
    pub(super) fn ranks(self, sorted: &Sorted) -> (u64, u64) {
        if self.is_empty { (0, 0) } else { sorted.lex_range(self.least, self.most) }
    }
}

/// Parses an end of a range in byte order.
pub(crate) fn lex_bound(argument: &[u8]) -> Result<Bound<&[u8]>, Failure> {
    match argument {
        b"-" | b"+" => Ok(Bound::None),
        [b'(', member @ ..] => Ok(Bound::Excluding(member)),
        [b'[', member @ ..] => Ok(Bound::Including(member)),
        _ => Err(Failure::text("ERR min or max not valid string range item")),
    }
}
