//! The string: bytes, or the integer they spell.
//!
//! ```text
//! to 16 KiB      in the entry itself (INLINE_BYTES_MAX); an integer in canonical form as 8 bytes
//! above          a tree of byte blocks, `long_string`: a reader clones it in O(1) and copies without a lock
//! ```

use crate::LongString;

/// The maximum length of a string in the entry itself, in bytes: one copy, which no change under a lock should exceed.
/// With its key such a string takes the allocator's 20 KiB size class, as in redis-server; one byte longer, pieces take
/// 16.1 KiB.
pub const INLINE_BYTES_MAX: usize = 16 << 10;

/// The maximum length of an `i64` in decimal, in bytes.
pub const DIGITS_MAX: usize = 20;

/// A borrowed string of a table.
#[derive(Clone, Copy, Debug)]
pub enum StringValue<'a> {
    /// An integer in canonical form.
    Int(i64),
    /// Bytes in the entry.
    Bytes(&'a [u8]),
    /// A long string.
    Long(&'a LongString),
}

impl<'a> StringValue<'a> {
    /// Returns the length in bytes.
    pub fn bytes_count(&self) -> usize {
        match self {
            Self::Int(number) => digits_count(*number),
            Self::Bytes(bytes) => bytes.len(),
            Self::Long(text) => text.bytes_count(),
        }
    }

    /// Returns the bytes, writing an integer to `digits`; `None` for a long string.
    pub fn short<'b>(&self, digits: &'b mut [u8; DIGITS_MAX]) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        match self {
            Self::Int(number) => Some(format_int(*number, digits)),
            Self::Bytes(bytes) => Some(bytes),
            Self::Long(_) => None,
        }
    }

    /// Visits all bytes in order: a short string at once, a long one piece by piece.
    pub fn for_each_piece(&self, mut visit: impl FnMut(&[u8])) {
        match self {
            Self::Long(text) => text.for_each_piece(0..text.bytes_count(), visit),
            short => visit(short.short(&mut [0; DIGITS_MAX]).expect("it is not long")),
        }
    }

    /// Returns an owned copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes_count());
        self.for_each_piece(|piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// Returns it as a long string: a long one is cloned, a short one copied.
    pub fn to_long(&self) -> LongString {
        match self {
            Self::Long(text) => (*text).clone(),
            short => LongString::of(short.short(&mut [0; DIGITS_MAX]).expect("it is not long")),
        }
    }

    /// Returns the integer it spells, if it is one by Redis's rules.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bytes(bytes) => parse_int(bytes),
            Self::Long(_) => None,
        }
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis for these contents.
    pub fn encoding(&self) -> &'static str {
        match self {
            Self::Int(_) => "int",
            Self::Bytes(bytes) if bytes.len() <= 44 => "embstr",
            _ => "raw",
        }
    }
}

/// Parses a decimal integer in canonical form: no sign `+`, no leading zeros, no spaces, within `i64`.
pub fn parse_int(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let canonical = match digits {
        [] => false,
        [b'0'] => !negative,
        [b'0', ..] => false,
        _ => digits.len() <= 19,
    };
    if !canonical {
        return None;
    }
    let mut magnitude = 0u64;
    for &digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        // Nineteen digits stay below 10^19 < 2^64.
        magnitude = magnitude * 10 + u64::from(value);
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Writes `number` in decimal to the end of `digits` and returns that part.
pub fn format_int(number: i64, digits: &mut [u8; DIGITS_MAX]) -> &[u8] {
    let mut magnitude = number.unsigned_abs();
    let mut at = DIGITS_MAX;
    loop {
        at -= 1;
        digits[at] = b'0' + (magnitude % 10) as u8;
        magnitude /= 10;
        if magnitude == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    &digits[at..]
}

fn digits_count(number: i64) -> usize {
    let magnitude = number.unsigned_abs();
    magnitude.checked_ilog10().map_or(1, |log| log as usize + 1) + usize::from(number < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip_at_every_edge() {
        for number in [0, 1, -1, 9, 10, -10, 99, 100, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1] {
            let mut digits = [0; DIGITS_MAX];
            let text = format_int(number, &mut digits);
            assert_eq!(text, number.to_string().as_bytes());
            assert_eq!(text.len(), StringValue::Int(number).bytes_count());
            assert_eq!(parse_int(text), Some(number));
        }
    }

    #[test]
    fn only_the_canonical_form_is_an_integer() {
        for bad in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "-9223372036854775809"] {
            assert_eq!(parse_int(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
