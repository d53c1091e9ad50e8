//! A member as stored in a block: a canonical integer in binary, any other string as is.
//!
//! ```text
//!   first byte      the item is
//!   below f8        the string itself (or nothing: the empty string)
//!   f8              a string that begins with f8 or above, after this byte
//!   f9, fa, fb      an integer from 0 up, big-endian, in 3, 5 or 8 bytes: the fewest that hold it
//!   fc, fd, fe      a negative integer n likewise, as -1 - n
//! ```
//!
//! No UTF-8 string starts with f8 or above. There are only three widths, so that nearly all integers of a set have the
//! same length and a block needs no length for each.

use crate::string::{DIGITS_MAX, format_int, parse_int};
use std::ops::Deref;

const ESCAPE: u8 = 0xf8;
const POSITIVE: u8 = 0xf9;
const NEGATIVE: u8 = 0xfc;
/// The number of bytes after each of the three first bytes for a sign.
const WIDTHS: [usize; 3] = [3, 5, 8];

/// A member in stored form.
pub(crate) enum MemberItem<'a> {
    Text(&'a [u8]),
    Escaped(Vec<u8>),
    Integer { bytes: [u8; 9], length: usize },
}

impl Deref for MemberItem<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Escaped(bytes) => bytes,
            Self::Integer { bytes, length } => &bytes[..*length],
        }
    }
}

impl<'a> MemberItem<'a> {
    /// Encodes `member`. O(length).
    pub(crate) fn of(member: &'a [u8]) -> Self {
        if let Some(number) = parse_int(member) {
            return Self::of_integer(number);
        }
        match member.first() {
            Some(ESCAPE..) => Self::Escaped([&[ESCAPE], member].concat()),
            _ => Self::Text(member),
        }
    }

    fn of_integer(number: i64) -> Self {
        let (first, magnitude) = if number < 0 { (NEGATIVE, !number as u64) } else { (POSITIVE, number as u64) };
        let which = WIDTHS.iter().position(|width| holds(*width, magnitude)).expect("eight bytes hold any");
        let (width, mut bytes) = (WIDTHS[which], [0; 9]);
        bytes[0] = first + which as u8;
        bytes[1..=width].copy_from_slice(&magnitude.to_be_bytes()[8 - width..]);
        Self::Integer { bytes, length: 1 + width }
    }
}

fn magnitude(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |magnitude, byte| magnitude << 8 | u64::from(*byte))
}

fn holds(width: usize, magnitude: u64) -> bool {
    width == 8 || magnitude < 1 << (8 * width)
}

/// Returns the integer of an item, if it is one. For invalid bytes, returns nothing or some integer.
pub(crate) fn integer(item: &[u8]) -> Option<i64> {
    let (&first, bytes) = item.split_first()?;
    if !(POSITIVE..NEGATIVE + 3).contains(&first) {
        return None;
    }
    let magnitude = magnitude(bytes);
    Some(if first < NEGATIVE { magnitude as i64 } else { !(magnitude as i64) })
}

/// Applies `visit` to the member an item encodes.
pub(crate) fn spell<R>(item: &[u8], visit: impl FnOnce(&[u8]) -> R) -> R {
    match item.first() {
        Some(&ESCAPE) => visit(&item[1..]),
        Some(ESCAPE..) => {
            let number = integer(item).expect("items begin with no other byte");
            visit(format_int(number, &mut [0; DIGITS_MAX]))
        }
        _ => visit(item),
    }
}

/// Returns true if these untrusted bytes are a valid item.
pub(crate) fn is_item(bytes: &[u8]) -> bool {
    match bytes.split_first() {
        Some((&ESCAPE, text)) => text.first().is_some_and(|first| *first >= ESCAPE),
        Some((&first @ POSITIVE.., bytes)) => {
            let which = usize::from(first - POSITIVE);
            let Some(&width) = WIDTHS.get(which % 3).filter(|_| which < 6) else { return false };
            if bytes.len() != width {
                return false;
            }
            let magnitude = magnitude(bytes);
            let is_fewest = which % 3 == 0 || !holds(WIDTHS[which % 3 - 1], magnitude);
            is_fewest && i64::try_from(magnitude).is_ok()
        }
        _ => parse_int(bytes).is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_round_trips_through_its_item() {
        let edges = [0, 1, 9_999_999, (1 << 24) - 1, 1 << 24, (1 << 40) - 1, 1 << 40, i64::MAX];
        let integers = edges.iter().flat_map(|edge| [*edge, !*edge, -*edge]).map(|number| number.to_string());
        let texts = ["", "a", "+1", "-0", "01", "9223372036854775808", " 1"].map(str::to_owned);
        let bytes = (0..=255u8).flat_map(|first| [vec![first], vec![first, 0, 0, 7]]);
        for member in integers.chain(texts).map(String::into_bytes).chain(bytes) {
            let item = MemberItem::of(&member);
            assert!(is_item(&item), "{member:?}");
            assert_eq!(integer(&item), parse_int(&member), "{member:?}");
            assert!(spell(&item, |spelled| spelled == member), "{member:?}");
        }
    }

    #[test]
    fn non_canonical_member_items_are_refused() {
        let wide = [0xfb, 0x80, 0, 0, 0, 0, 0, 0, 0];
        let bad: [&[u8]; 12] = [
            b"12",
            b"-7",
            &[0xf8],
            &[0xf8, b'a'],
            &[0xf9],
            &[0xf9, 0, 0],
            &[0xfa, 0, 0, 1, 1, 1],
            &[0xfb, 0, 0, 0, 1, 1, 1, 1, 1],
            &[0xfd, 0, 0, 1, 1, 1],
            &[0xff],
            &[0xff, 1, 1, 1],
            &wide,
        ];
        for bytes in bad {
            assert!(!is_item(bytes), "{bytes:?}");
        }
    }
}
