//! Bodies that are decimal integers: their values, the line they are near, and their spelling.
//!
//! Ids tend to rise (or fall, when pushed at the head) steadily. Each value is kept as its distance above a straight
//! line through the run, so consecutive ids need no bits at all, and rising ones few:
//!
//! ```text
//!   value                    *  .         residual: from the line to the value
//!                    *    .     *
//!              *   .   *                  the line: base + floor(index * slope / 65,536)
//!           .  *
//!      index ->
//! ```
//!
//! All sums wrap at 64 bits, so that a line may begin below zero.

use super::bits::{Writer, mask};
use super::items;
use crate::view::View;

/// Maximum digits of a body: more do not fit 64 bits.
pub(super) const LENGTH_MAX: usize = 19;

/// Fraction bits of a slope.
const FRACTION_BITS: u32 = 16;

/// Steeper slopes, times any index, overflow 64 bits.
const SLOPE_MAX: i128 = 1 << 50;

/// Values further apart get no slope.
const SPREAD_MAX: u64 = 1 << 61;

/// The line near the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) base: u64,
    /// In 65,536ths.
    pub(super) slope: i64,
    /// Bits of each residual.
    pub(super) bits: usize,
}

impl Line {
    /// Bytes of the parameters.
    pub(super) const BYTES: usize = 17;

    /// Returns the line's height at an index.
    #[inline]
    pub(super) fn at(&self, index: usize) -> u64 {
        self.base.wrapping_add(rise(self.slope, index) as u64)
    }

    /// Returns 1 or -1, if every value differs by that from the one before.
    pub(super) fn pace(&self) -> Option<i64> {
        let pace = self.slope >> FRACTION_BITS;
        (self.bits == 0 && pace.abs() == 1 && pace << FRACTION_BITS == self.slope).then_some(pace)
    }

    /// Returns the line of fewest bits: flat, or with the slope from the first value to the last.
    fn through(values: &[u64]) -> Line {
        let (low, high) = values.iter().fold((u64::MAX, 0), |(low, high), &value| (low.min(value), high.max(value)));
        let flat = Line { base: low, slope: 0, bits: bits_of(high - low) };
        let steps = values.len() as i128 - 1;
        if high - low > SPREAD_MAX || steps < 1 {
            return flat;
        }
        let (first, last) = (values[0], values[values.len() - 1]);
        let slope = (i128::from(last) - i128::from(first)) * (1 << FRACTION_BITS) / steps;
        if slope.abs() >= SLOPE_MAX {
            return flat;
        }
        let sloped = Line::below(values, slope as i64);
        if sloped.bits < flat.bits { sloped } else { flat }
    }

    /// Returns the highest line of this slope with no value below it.
    fn below(values: &[u64], slope: i64) -> Line {
        let first = values[0];
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        for (index, value) in values.iter().enumerate() {
            let above = value.wrapping_sub(first) as i64 - rise(slope, index);
            low = low.min(above);
            high = high.max(above);
        }
        Line { base: first.wrapping_add(low as u64), slope, bits: bits_of((high - low) as u64) }
    }
}

fn rise(slope: i64, index: usize) -> i64 {
    slope.wrapping_mul(index as i64) >> FRACTION_BITS
}

fn bits_of(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// The values of a run and their line.
#[derive(Default)]
pub(super) struct Values {
    pub(super) line: Line,
    values: Vec<u64>,
}

impl Values {
    /// Returns the values of bodies that are decimal and not too long.
    pub(super) fn of(run: &View<'_>, prefix_bytes: usize) -> Values {
        let values: Vec<u64> = items(run).map(|item| value_of(item, prefix_bytes)).collect();
        Values { line: Line::through(&values), values }
    }

    /// Writes the parameters, and the residuals of the first `count`.
    pub(super) fn write(&self, count: usize, out: &mut [u8]) {
        let (parameters, stream) = out.split_at_mut(Line::BYTES);
        parameters[..8].copy_from_slice(&self.line.base.to_le_bytes());
        parameters[8..16].copy_from_slice(&self.line.slope.to_le_bytes());
        parameters[16] = self.line.bits as u8;
        if self.line.bits == 0 {
            return;
        }
        let mut writer = Writer::new(stream);
        for (index, value) in self.values[..count].iter().enumerate() {
            writer.put(value.wrapping_sub(self.line.at(index)), self.line.bits);
        }
        writer.finish();
    }
}

/// Returns how much of the common prefix can be kept if the bodies are canonical decimals of differing lengths: no
/// leading zero except in "0" itself. "10" and "100" share "10", which must stay in the bodies.
pub(super) fn canonical_prefix(run: &View<'_>, prefix_bytes: usize) -> Option<usize> {
    let first = &run.bytes[..run.length(0)];
    let (shortest, longest) = (0..run.count)
        .map(|index| run.length(index))
        .fold((usize::MAX, 0), |(low, high), length| (low.min(length), high.max(length)));
    let mut cut = prefix_bytes;
    loop {
        if longest - cut > LENGTH_MAX {
            return None;
        }
        let fits = if cut == prefix_bytes {
            cut < shortest && items(run).all(|item| item[cut] != b'0' || item.len() == cut + 1)
        } else {
            cut < shortest && first[cut] != b'0'
        };
        if fits {
            return Some(cut);
        }
        cut = cut.checked_sub(1)?;
        if !first[cut].is_ascii_digit() {
            return None;
        }
    }
}

/// Returns the value of the digits of `item` from `from`, at most nineteen.
fn value_of(item: &[u8], from: usize) -> u64 {
    let Some((rest, last)) = item.split_last_chunk::<8>() else {
        return item[from..].iter().fold(0, |value, &digit| value * 10 + u64::from(digit - b'0'));
    };
    let word = u64::from_le_bytes(*last) ^ DIGITS;
    if from > rest.len() {
        // The prefix is within the eight bytes: as zeros it counts nothing.
        return eight_value(word & !mask(8 * (from - rest.len())));
    }
    if from == rest.len() { eight_value(word) } else { value_of(rest, from) * HUNDRED_MILLION + eight_value(word) }
}

/// Returns the value of a body, if it is decimal and of at most nineteen digits.
pub(super) fn parse(body: &[u8]) -> Option<u64> {
    let is_decimal = (1..=LENGTH_MAX).contains(&body.len()) && body.iter().all(u8::is_ascii_digit);
    is_decimal.then(|| value_of(body, 0))
}

/// "00000000", which also converts digits to their values.
const DIGITS: u64 = 0x3030_3030_3030_3030;

pub(super) const HUNDRED_MILLION: u64 = 100_000_000;

/// Converts eight digit values in bytes, the first lowest, to one number: pairs, then fours, then eights.
#[inline]
fn eight_value(digits: u64) -> u64 {
    const LANES: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & LANES).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & LANES).wrapping_mul(1 + (10_000 << 32));
    upper.wrapping_add(lower) >> 32
}

/// Returns the digits of a value, at most `length` (1 to 8), leading zeros included, the first lowest.
#[inline]
pub(super) fn spelt_8(value: u64, length: usize) -> u64 {
    // Two lanes of four digits, then four of two, then eight of one; the factors divide by 100 and by 10.
    let value = value as u32;
    let fours = u64::from(value / 10_000) | u64::from(value % 10_000) << 32;
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - 100 * hundreds) << 16;
    let tens = (pairs * 103) >> 10 & 0x000f_000f_000f_000f;
    ((tens | (pairs - 10 * tens) << 8) + DIGITS) >> (64 - 8 * length)
}

/// The same for 1 to 4 digits.
#[inline]
pub(super) fn spelt_4(value: u64, length: usize) -> u64 {
    let value = value as u32;
    let hundreds = (value * 10_486) >> 20;
    let pairs = hundreds | (value - 100 * hundreds) << 16;
    let tens = (pairs * 103) >> 10 & 0x000f_000f;
    u64::from(((tens | (pairs - 10 * tens) << 8) + DIGITS as u32) >> (32 - 8 * length))
}

/// Returns the number of digits of a value: one for 0.
#[inline]
pub(super) fn length_of(value: u64) -> usize {
    value.checked_ilog10().unwrap_or(0) as usize + 1
}

/// Returns the first value of more than `length` digits (at most nineteen).
pub(super) fn beyond(length: usize) -> u64 {
    10_u64.pow(length as u32)
}
