//! Numbers as memcached and C parse them: blanks and a sign before the digits, and the end or a space after them.

/// Parses the integer at the start of `text`.
pub fn signed(text: &[u8]) -> Option<i64> {
    let (is_negative, magnitude) = leading(text)?;
    if is_negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// Parses the non-negative integer at the start of `text`.
pub fn unsigned(text: &[u8]) -> Option<u64> {
    let (is_negative, magnitude) = leading(text)?;
    (!is_negative || magnitude == 0).then_some(magnitude)
}

/// Returns whether the number is negative, and its magnitude.
fn leading(text: &[u8]) -> Option<(bool, u64)> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().take_while(|byte| is_space(byte)).count();
    let (is_negative, text) = match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = text.get(length).is_none_or(|byte| is_space(byte) || *byte == 0);
    let digits = text[..length].iter().map(|digit| u64::from(digit - b'0'));
    let magnitude = digits.into_iter().try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(digit))?;
    (length > 0 && ends).then_some((is_negative, magnitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_as_in_c() {
        for (text, number) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("+7", Some(7)),
            ("007", Some(7)),
            ("-0", Some(0)),
            (" 7", Some(7)),
            ("7\r", Some(7)),
            ("\t12 ab", Some(12)),
            ("5\0x", Some(5)),
            ("9 ", Some(9)),
            ("-9223372036854775808", Some(i64::MIN)),
        ] {
            assert_eq!(signed(text.as_bytes()), number, "{text:?}");
        }
        for bad in ["", " ", "-", "+", "5x", "x", "--5", "+-5", "- 5", "9223372036854775808", "18446744073709551616"] {
            assert_eq!(signed(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"-0"), Some(0));
        for bad in ["-5", "", "18446744073709551616", "12x"] {
            assert_eq!(unsigned(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
