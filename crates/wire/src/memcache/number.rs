//! Numbers as memcached reads them.

/// A whole number with or without a sign, all of `token`.
pub fn signed(token: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match token {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let magnitude = magnitude(digits)?;
    if is_negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

/// A whole number without a sign but `+`, all of `token`.
pub fn unsigned(token: &[u8]) -> Option<u64> {
    magnitude(token.strip_prefix(b"+").unwrap_or(token))
}

fn magnitude(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, digit| {
        let value = digit.wrapping_sub(b'0');
        if value > 9 { None } else { sum.checked_mul(10)?.checked_add(u64::from(value)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_whole_or_not_at_all() {
        for (token, expected) in [("0", Some(0)), ("-1", Some(-1)), ("+7", Some(7)), ("007", Some(7)), ("", None)] {
            assert_eq!(signed(token.as_bytes()), expected, "{token}");
        }
        for bad in ["-", "+", "5x", " 5", "--5", "+-5", "9223372036854775808", "18446744073709551616"] {
            assert_eq!(signed(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!((unsigned(b"-0"), unsigned(b"18446744073709551616")), (None, None));
    }
}
