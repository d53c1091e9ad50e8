//! Integers of 1 to 64 bits at any bit offset of a string, the highest bit first.
//!
//! ```text
//!   byte 2  |  byte 3  |  byte 4           u12 at bit 21:  5 bits of byte 2, the highest at bit 21, and 7 of byte 3
//!      xxxxx xxxxxxx
//! ```

/// The maximum number of bytes that an integer spans.
pub const WINDOW_BYTES: usize = 9;

/// An integer type: `i16`, `u8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// True if it is in two's complement.
    pub is_signed: bool,
    /// The width in bits: 1 to 64, unsigned to 63.
    pub bits: u32,
}

/// The handling of numbers that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// Drop the high bits.
    Wrap,
    /// Clamp to the nearest number that fits.
    Saturate,
    /// Do not store it.
    Fail,
}

impl Field {
    /// Parses `i1` to `i64`, `u1` to `u63`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (&letter, digits) = text.split_first()?;
        let is_signed = match letter {
            b'i' => true,
            b'u' => false,
            _ => return None,
        };
        let bits = crate::string::parse_int(digits).and_then(|bits| u32::try_from(bits).ok())?;
        let most = if is_signed { 64 } else { 63 };
        (1..=most).contains(&bits).then_some(Self { is_signed, bits })
    }

    /// Returns the integer at bit `at` (0 to 7) of `window`.
    pub fn get(self, window: [u8; WINDOW_BYTES], at: u32) -> i64 {
        let raw = word(window) >> self.shift(at);
        let unused = 128 - self.bits;
        let value = if self.is_signed { (raw << unused) as i128 >> unused } else { (raw << unused >> unused) as i128 };
        i64::try_from(value).expect("64 bits, or 63 without a sign")
    }

    /// Writes `value`, which fits, at bit `at` (0 to 7) of `window`.
    pub fn put(self, window: &mut [u8; WINDOW_BYTES], at: u32, value: i64) {
        let mask = (u128::MAX >> (128 - self.bits)) << self.shift(at);
        let bits = (value as u128) << self.shift(at);
        let word = (word(*window) & !mask) | (bits & mask);
        window.copy_from_slice(&word.to_be_bytes()[16 - WINDOW_BYTES..]);
    }

    /// Returns `value`, adjusted if it does not fit; `None` if it is not to be stored.
    pub fn fit(self, value: i128, overflow: Overflow) -> Option<i64> {
        let (least, most) = if self.is_signed {
            (-(1_i128 << (self.bits - 1)), (1_i128 << (self.bits - 1)) - 1)
        } else {
            (0, (1_i128 << self.bits) - 1)
        };
        let fitting = match overflow {
            _ if (least..=most).contains(&value) => value,
            Overflow::Fail => return None,
            Overflow::Saturate => value.clamp(least, most),
            Overflow::Wrap => {
                let unused = 128 - self.bits;
                let high = value << unused;
                if self.is_signed { high >> unused } else { (high as u128 >> unused) as i128 }
            }
        };
        Some(i64::try_from(fitting).expect("a field holds no more"))
    }

    /// Returns the distance from the window's lowest bit to the integer's, with the window as a 72-bit number.
    fn shift(self, at: u32) -> u32 {
        WINDOW_BYTES as u32 * 8 - at - self.bits
    }
}

fn word(window: [u8; WINDOW_BYTES]) -> u128 {
    window.iter().fold(0, |word, byte| word << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the integer bit by bit, by the definition.
    fn get_plainly(field: Field, bytes: &[u8], at: u32) -> i64 {
        let bit = |index: u32| bytes[index as usize / 8] >> (7 - index % 8) & 1;
        let bits = (at..at + field.bits).fold(0_i128, |value, index| value << 1 | i128::from(bit(index)));
        let is_negative = field.is_signed && bit(at) == 1;
        (bits - if is_negative { 1 << field.bits } else { 0 }) as i64
    }

    #[test]
    fn put_fields_read_back_and_adjacent_bits_stay_unchanged() {
        let background = [0xa5, 0x3c, 0xff, 0x00, 0x81, 0x7e, 0x12, 0xed, 0x5a];
        for (letter, most) in [("i", 64), ("u", 63)] {
            for bits in 1..=most {
                let field = Field::parse(format!("{letter}{bits}").as_bytes()).unwrap();
                for at in 0..8 {
                    assert_eq!(field.get(background, at), get_plainly(field, &background, at));
                    for value in [0, 1, -1, i64::MAX, i64::MIN, 0x1234_5678_9abc_def0] {
                        let value = field.fit(value.into(), Overflow::Wrap).unwrap();
                        let mut window = background;
                        field.put(&mut window, at, value);
                        assert_eq!(field.get(window, at), value, "{letter}{bits} at {at}");
                        let before = field.get(background, at);
                        field.put(&mut window, at, before);
                        assert_eq!(window, background, "{letter}{bits} at {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn malformed_field_types_are_refused() {
        for text in ["", "i", "u64", "i65", "i0", "u0", "8", "I8", "u08", "i-1", "u8 ", "x8"] {
            assert_eq!(Field::parse(text.as_bytes()), None, "{text}");
        }
    }
}
