//! Lengths, and the strings that begin with one.
//!
//! ```text
//!   00......                       a length below 64
//!   01...... + 1 byte              below 16,384, the highest bits first
//!   10000000 + 4, 10000001 + 8     any, the highest byte first
//!   11......                       no length: 0, 1, 2 an integer of 1, 2, 4 bytes; 3 an LZF text
//!
//!   string   | length | bytes |     | 11 000000 | integer |     | 11 000011 | length packed | length | LZF |
//! ```

use crate::Fault;
use base::limits::BULK_BYTES_MAX;
use std::ops::Range;
use values::string::parse_int;

/// The start of a string.
pub(crate) enum Head {
    /// A length in bytes.
    Length(u64),
    /// A special encoding with this number.
    Special(u8),
}

/// An encoded string.
pub(crate) enum Text {
    /// The range of its bytes.
    Plain(Range<usize>),
    /// The integer it spells.
    Integer(i64),
    /// The range of its LZF form, and its uncompressed length.
    Packed(Range<usize>, usize),
}

const INTEGER_8: u8 = 0xc0;
const INTEGER_16: u8 = 0xc1;
const INTEGER_32: u8 = 0xc2;
const PACKED: u8 = 0xc3;

/// Appends a length.
pub(crate) fn put_length(out: &mut Vec<u8>, length: u64) {
    match length {
        0..0x40 => out.push(length as u8),
        0x40..0x4000 => out.extend_from_slice(&(0x4000 | length as u16).to_be_bytes()),
        0x4000..=0xffff_ffff => {
            out.push(0x80);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend_from_slice(&length.to_be_bytes());
        }
    }
}

/// Appends a string that spells a small integer as such. Returns whether it does.
pub(crate) fn put_integer(out: &mut Vec<u8>, text: &[u8]) -> bool {
    // No four-byte integer has more digits.
    let Some(number) = parse_int(text).filter(|_| text.len() <= 11) else { return false };
    if let Ok(number) = i8::try_from(number) {
        out.extend_from_slice(&[INTEGER_8, number as u8]);
    } else if let Ok(number) = i16::try_from(number) {
        out.push(INTEGER_16);
        out.extend_from_slice(&number.to_le_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(INTEGER_32);
        out.extend_from_slice(&number.to_le_bytes());
    } else {
        return false;
    }
    true
}

/// Appends the header of an LZF-compressed string.
pub(crate) fn put_packed_head(out: &mut Vec<u8>, packed_bytes: u64, bytes: u64) {
    out.push(PACKED);
    put_length(out, packed_bytes);
    put_length(out, bytes);
}

/// Reads the next `N` bytes.
pub(crate) fn take<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<[u8; N], Fault> {
    let taken = bytes.get(*at..).and_then(|rest| rest.first_chunk()).ok_or(Fault::Malformed)?;
    *at += N;
    Ok(*taken)
}

/// Returns the range of the next `length` bytes.
pub(crate) fn take_range(bytes: &[u8], at: &mut usize, length: u64) -> Result<Range<usize>, Fault> {
    let left = bytes.len().saturating_sub(*at);
    let length = usize::try_from(length).ok().filter(|length| *length <= left).ok_or(Fault::Malformed)?;
    let begin = *at;
    *at += length;
    Ok(begin..*at)
}

fn take_head(bytes: &[u8], at: &mut usize) -> Result<Head, Fault> {
    let [first] = take(bytes, at)?;
    Ok(Head::Length(match first {
        0..0x40 => u64::from(first),
        0x40..0x80 => u64::from(first & 0x3f) << 8 | u64::from(take::<1>(bytes, at)?[0]),
        0x80 => u64::from(u32::from_be_bytes(take(bytes, at)?)),
        0x81 => u64::from_be_bytes(take(bytes, at)?),
        0x82..0xc0 => return Err(Fault::Malformed),
        _ => return Ok(Head::Special(first)),
    }))
}

/// Reads a length.
pub(crate) fn take_length(bytes: &[u8], at: &mut usize) -> Result<u64, Fault> {
    match take_head(bytes, at)? {
        Head::Length(length) => Ok(length),
        Head::Special(_) => Err(Fault::Malformed),
    }
}

/// Reads a string in its stored form.
pub(crate) fn take_text(bytes: &[u8], at: &mut usize) -> Result<Text, Fault> {
    Ok(match take_head(bytes, at)? {
        Head::Length(length) => Text::Plain(take_range(bytes, at, length)?),
        Head::Special(INTEGER_8) => Text::Integer(i8::from_le_bytes(take(bytes, at)?).into()),
        Head::Special(INTEGER_16) => Text::Integer(i16::from_le_bytes(take(bytes, at)?).into()),
        Head::Special(INTEGER_32) => Text::Integer(i32::from_le_bytes(take(bytes, at)?).into()),
        Head::Special(PACKED) => {
            let (packed_bytes, length) = (take_length(bytes, at)?, take_length(bytes, at)?);
            let packed = take_range(bytes, at, packed_bytes)?;
            let length = usize::try_from(length).ok().filter(|length| *length <= BULK_BYTES_MAX);
            Text::Packed(packed, length.ok_or(Fault::Malformed)?)
        }
        Head::Special(_) => return Err(Fault::Malformed),
    })
}

/// Reads a score in Redis's oldest format: a length byte and digits, or one of three special bytes.
pub(crate) fn take_spelled_score(bytes: &[u8], at: &mut usize) -> Result<f64, Fault> {
    match take(bytes, at)? {
        [253] => Err(Fault::Malformed),
        [254] => Ok(f64::INFINITY),
        [255] => Ok(f64::NEG_INFINITY),
        [length] => {
            let range = take_range(bytes, at, length.into())?;
            score(&bytes[range])
        }
    }
}

/// Parses a score from digits.
pub(crate) fn score(digits: &[u8]) -> Result<f64, Fault> {
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<f64>().ok());
    number.filter(|number| !number.is_nan()).ok_or(Fault::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_round_trip_at_every_encoding_boundary() {
        for length in [0, 63, 64, 16_383, 16_384, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            let mut bytes = Vec::new();
            put_length(&mut bytes, length);
            let mut at = 0;
            assert_eq!(take_length(&bytes, &mut at), Ok(length));
            assert_eq!(at, bytes.len());
            assert_eq!(take_length(&bytes[..at - 1], &mut 0), Err(Fault::Malformed));
        }
    }

    #[test]
    fn truncated_or_oversized_strings_are_rejected() {
        let packed_of_much = [PACKED, 1, 0x80, 0xff, 0xff, 0xff, 0xff, 0];
        for bytes in
            [&[5, b'a'][..], &[0x81, 255, 255, 255, 255, 255, 255, 255, 255], &[0xc4], &[0x82], &packed_of_much]
        {
            assert!(take_text(bytes, &mut 0).is_err(), "{bytes:?}");
        }
    }
}
