//! Doubles in arguments: in decimal, as `inf`, and as in C, in hexadecimal.

/// Returns the double nearest to `text`; `None` if it is no number. NaN is accepted.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let (negative, magnitude) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    match magnitude.strip_prefix("0x").or_else(|| magnitude.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits).map(|number| if negative { -number } else { number }),
        None => text.parse().ok(),
    }
}

/// Parses `1f`, `.8`, `1.8p-3`: the exponent is a power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, power) = match text.split_once(['p', 'P']) {
        Some((mantissa, power)) => (mantissa, power_of(power)?),
        None => (text, 0),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    // The leading bits, and whether any after them is set.
    let (mut bits, mut has_more, mut exponent) = (0_u64, false, power);
    for (digits, places) in [(whole, 0), (part, 4)] {
        for digit in digits.chars() {
            let digit = u64::from(digit.to_digit(16)?);
            exponent -= places;
            if bits >> 60 == 0 {
                bits = bits << 4 | digit;
            } else {
                has_more |= digit != 0;
                exponent += 4;
            }
        }
    }
    Some(nearest(bits, has_more, exponent))
}

/// Beyond these exponents everything is infinite or zero, however many digits an argument has.
const POWER_MAX: i64 = 1 << 40;

fn power_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = digits.parse().unwrap_or(POWER_MAX).min(POWER_MAX);
    Some(if text.starts_with('-') { -power } else { power })
}

/// Bits of a double's fraction, and the least exponent of its last bit.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
const LEAST_POWER: i64 = f64::MIN_EXP as i64 - f64::MANTISSA_DIGITS as i64;

/// Returns the double nearest to `bits` (and a bit more if `has_more`) times two to the power of `exponent`; ties go to
/// even.
fn nearest(bits: u64, has_more: bool, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let zeros = bits.leading_zeros();
    let (bits, exponent) = (u128::from(bits << zeros), exponent - i64::from(zeros));
    // The number of the 64 bits beyond a double's last one.
    let behind = (LEAST_POWER - exponent).max(i64::from(u64::BITS - f64::MANTISSA_DIGITS));
    if behind > i64::from(u64::BITS) {
        return 0.0;
    }
    let kept = (bits >> behind) as u64;
    let rest = bits & ((1 << behind) - 1);
    let half = 1 << (behind - 1);
    let goes_up = rest > half || (rest == half && (has_more || kept & 1 == 1));
    // A carry out of the fraction correctly raises the exponent.
    let biased = (exponent + behind - LEAST_POWER) as u64;
    if biased >= f64::INFINITY.to_bits() >> FRACTION_BITS {
        return f64::INFINITY;
    }
    f64::from_bits((biased << FRACTION_BITS) + kept + u64::from(goes_up))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As C parses them.
    #[test]
    fn hexadecimal_floats_parse_as_in_c() {
        let cases = [
            ("0x10", 16.0),
            ("-0X1F", -31.0),
            ("+0x.8", 0.5),
            ("0x1.", 1.0),
            ("0x1.8p3", 12.0),
            ("0x1p-2", 0.25),
            ("0x0p99999999999999999999", 0.0),
            ("0x1p+1023", 2_f64.powi(1023)),
            ("0x1p1024", f64::INFINITY),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1.fffffffffffff7fp1023", f64::MAX),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1p-1074", f64::from_bits(1)),
            ("0x1p-1075", 0.0),
            ("0x1.0000001p-1075", f64::from_bits(1)),
            ("0x3p-1075", f64::from_bits(2)),
            ("0x1p-1076", 0.0),
            ("0x1p-1200", 0.0),
            ("0x1p-1022", f64::MIN_POSITIVE),
            ("0x0.fffffffffffff8p-1022", f64::MIN_POSITIVE),
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x20000000000003", 9_007_199_254_740_996.0),
            ("0x200000000000010000000000000001p-64", 9_007_199_254_740_994.0),
            ("12.5", 12.5),
            ("-inf", f64::NEG_INFINITY),
        ];
        for (text, number) in cases {
            assert_eq!(parse(text).map(f64::to_bits), Some(number.to_bits()), "{text}");
        }
        for text in ["", "0x", "0x.", "0xp1", "0x1p", "0x1p+", "0x1 ", "0x1.2.3", "0x-1", "x1", "0x1g", "0x1p1.5"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_finite_double_round_trips_in_hexadecimal(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            let (fraction, biased) = (bits & ((1 << 52) - 1), bits >> 52 & 0x7ff);
            let (whole, power) = if biased == 0 { (0, -1022) } else { (1, biased as i64 - 1023) };
            let sign = if number.is_sign_negative() { "-" } else { "" };
            let text = format!("{sign}0x{whole}.{fraction:013x}p{power}");
            prop_assert_eq!(parse(&text).map(f64::to_bits), Some(bits), "{}", text);
        }

        #[test]
        fn hexadecimal_integers_round_like_a_cast_to_f64(number in any::<u64>()) {
            prop_assert_eq!(parse(&format!("0x{number:x}")), Some(number as f64));
        }
    }
}
