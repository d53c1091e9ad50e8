//! Bits of strings.

pub(crate) mod bit;
pub(crate) mod count;
pub(crate) mod field;
pub(crate) mod operation;

use crate::failure::Failure;
use base::limits::BULK_BYTES_MAX;
use std::borrow::Cow;
use values::string::{self, parse_int};
use values::{StringValue, bitfield};

/// The error for an invalid bit offset, or one beyond any string.
const OUT_OF_RANGE: Failure = Failure::Text(Cow::Borrowed("ERR bit offset is not an integer or out of range"));

/// Parses a bit offset; with a leading `#`, it counts fields of `field_bits`, if given.
fn offset(argument: &[u8], field_bits: Option<u32>) -> Result<u64, Failure> {
    let offset = match (argument, field_bits) {
        ([b'#', index @ ..], Some(bits)) => parse_int(index).and_then(|index| index.checked_mul(bits.into())),
        _ => parse_int(argument),
    };
    let offset = offset.and_then(|offset| u64::try_from(offset).ok());
    let offset = offset.filter(|offset| offset / 8 < BULK_BYTES_MAX as u64);
    offset.ok_or(OUT_OF_RANGE)
}

/// Returns the bytes from `start` on, zero-padded beyond the string's end.
fn window(string: Option<StringValue<'_>>, start: usize) -> [u8; bitfield::WINDOW_BYTES] {
    let mut window = [0; bitfield::WINDOW_BYTES];
    let Some(string) = string.filter(|string| string.bytes_count() > start) else { return window };
    let count = (string.bytes_count() - start).min(window.len());
    if let Some(bytes) = string.short(&mut [0; string::DIGITS_MAX]) {
        window[..count].copy_from_slice(&bytes[start..start + count]);
    } else if let StringValue::Long(long) = string {
        let mut at = 0;
        long.for_each_piece(start..start + count, |piece| {
            window[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        });
    }
    window
}
