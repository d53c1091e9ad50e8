//! Decimal numbers of any length, as INCRBYFLOAT reads, adds and writes them.
//!
//! Redis uses the machine's long double, whose precision depends on the machine: 64 bits on x86, where 1234567.1 plus
//! 0.1 is 1234567.20000000000004547, and 113 on others, where ordinary sums show no such tail. Our sums are exact
//! everywhere, and written as Redis does, in full, with at most seventeen digits after the point. So 0.1 plus 0.2 is
//! 0.3, and 1234567.1 plus 0.1 is 1234567.2.

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::{BigDecimal, RoundingMode, Zero};

/// The maximum length of a number's text, in bytes (Redis).
const TEXT_BYTES_MAX: usize = 5 * 1024 - 1;
/// The range of a long double in powers of ten.
const EXPONENT_MAX: i64 = 4932;
const EXPONENT_MIN: i64 = -4951;
/// The range of a long double's highest bit, in powers of two.
const BIT_MAX: i64 = 16_383;
const BIT_MIN: i64 = -16_445;
/// The maximum number of digits after the point.
const PLACES: i64 = 17;

/// A number, possibly infinite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decimal {
    /// A finite number.
    Finite(BigDecimal),
    /// `inf`, of either sign.
    Infinite,
}

impl Decimal {
    /// Parses `12`, `-1.5`, `.5e3`, `0x1.8p3`, `inf`; `None` for anything else and for what no long double can hold.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (negative, text) = sign(text);
        if let [b'0', b'x' | b'X', digits @ ..] = text {
            return hexadecimal(negative, digits).map(Self::Finite);
        }
        if [&b"inf"[..], b"infinity"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
            return Some(Self::Infinite);
        }
        let e = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e'));
        let (mantissa, exponent) = match e {
            Some(e) => (&text[..e], parse_exponent(&text[e + 1..])?),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
        let places = mantissa[point..].len().saturating_sub(1);
        let digits: Vec<u8> =
            mantissa.iter().enumerate().filter(|(at, _)| *at != point).map(|(_, byte)| *byte).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let magnitude = BigInt::parse_bytes(&digits, 10)?;
        let leading_zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        let scale = (places as i64).saturating_sub(exponent);
        let power = (digits.len() - leading_zeros) as i64 - 1 - scale;
        if magnitude.sign() == Sign::NoSign {
            return Some(Self::Finite(BigDecimal::zero()));
        }
        let fits = (EXPONENT_MIN..=EXPONENT_MAX).contains(&power);
        fits.then(|| Self::Finite(BigDecimal::new(if negative { -magnitude } else { magnitude }, scale)))
    }

    /// Returns the sum as text; `None` if it is infinite.
    pub(crate) fn sum(&self, other: &Self) -> Option<String> {
        let (Self::Finite(left), Self::Finite(right)) = (self, other) else { return None };
        let sum = (left + right).with_scale_round(PLACES, RoundingMode::HalfEven).normalized();
        let power = sum.digits() as i64 - 1 - sum.as_bigint_and_exponent().1;
        (power <= EXPONENT_MAX).then(|| sum.to_plain_string())
    }
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

/// Parses `1f`, `.8`, `1.8p-3`: the exponent is a power of two.
fn hexadecimal(negative: bool, text: &[u8]) -> Option<BigDecimal> {
    let p = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'p'));
    let (mantissa, power) = match p {
        Some(p) => (&text[..p], parse_exponent(&text[p + 1..])?),
        None => (text, 0),
    };
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let places = mantissa[point..].len().saturating_sub(1);
    let digits = [&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default()].concat();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let magnitude = BigInt::parse_bytes(&digits, 16)?;
    if magnitude.sign() == Sign::NoSign {
        return Some(BigDecimal::zero());
    }
    let power = power.saturating_sub(4 * places as i64);
    let highest = power.saturating_add(magnitude.bits() as i64 - 1);
    if !(BIT_MIN..=BIT_MAX).contains(&highest) {
        return None;
    }
    let signed = if negative { -magnitude } else { magnitude };
    // A half is five tenths.
    Some(match u32::try_from(power) {
        Ok(power) => BigDecimal::new(signed << power, 0),
        Err(_) => BigDecimal::new(signed * BigInt::from(5).pow(power.unsigned_abs() as u32), -power),
    })
}

/// Parses digits with an optional sign; on overflow, returns the greatest exponent.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let bound = 10 * TEXT_BYTES_MAX as i64;
    let magnitude = digits.iter().fold(0, |sum: i64, digit| (sum * 10 + i64::from(digit - b'0')).min(bound));
    Some(if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, right: &str, sum: Option<&str>) {
        let read = |text: &str| Decimal::parse(text.as_bytes()).expect("a number");
        assert_eq!(read(left).sum(&read(right)).as_deref(), sum, "{left} + {right}");
    }

    /// The first three are the examples in the command's documentation.
    #[test]
    fn sums_are_exact_and_written_in_full() {
        check("10.50", "0.1", Some("10.6"));
        check("10.6", "-5", Some("5.6"));
        check("5.0e3", "2.0e2", Some("5200"));
        check("0.1", "0.2", Some("0.3"));
        check("1", "-1", Some("0"));
        check("-0.0", "-0", Some("0"));
        check("0", "1e-17", Some("0.00000000000000001"));
        check("0", "1e-18", Some("0"));
        check("0", "1e30", Some("1000000000000000000000000000000"));
        check("1234567.1", ".1", Some("1234567.2"));
        check("+5.", "0", Some("5"));
        check("9.9e4932", "9.9e4932", None);
        check("0x10", "1", Some("17"));
        check("-0X1F", "0x.8", Some("-30.5"));
        check("0x1.8p3", "0x1p-2", Some("12.25"));
        check("1", "-inf", None);
    }

    #[test]
    fn malformed_decimals_are_rejected() {
        for text in [
            "",
            " 1",
            "1 ",
            "1.2.3",
            "e5",
            "1e",
            "1e+",
            "nan",
            "0x",
            "0xg",
            "0x1p",
            "0x1p16384",
            "0x1p-16446",
            ".",
            "-",
            "1e5000",
            "1e-5000",
            "1e99999999999999999999",
        ] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Decimal::parse(&[b'1'; TEXT_BYTES_MAX + 1]), None);
        assert_eq!(Decimal::parse(b"0e999999999999999999999"), Some(Decimal::Finite(BigDecimal::zero())));
    }
}
