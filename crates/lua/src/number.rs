//! Formats numbers like C's `%.Ng`.

/// Returns `number` with up to `digits` significant digits, as C's `%.{digits}g`.
pub(crate) fn general(number: f64, digits: usize) -> String {
    if number.is_nan() {
        return if number.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let digits = digits.max(1);
    let scientific = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("scientific form has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a number");
    if exponent < -4 || exponent >= digits as i32 {
        let mantissa = trimmed(mantissa);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{number:.decimals$}")).to_owned()
}

/// Removes trailing zeros of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Truncates a double to an integer as x86 does: values out of range become the minimum.
pub(crate) fn cut(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_by_printf_g() {
        let known = [
            (0.1, 17, "0.10000000000000001"),
            (1e15, 17, "1000000000000000"),
            (1e17, 17, "1e+17"),
            (1e300, 17, "1.0000000000000001e+300"),
            (1.5, 14, "1.5"),
            (0.0, 14, "0"),
            (-3.25, 14, "-3.25"),
            (1e-5, 14, "1e-05"),
            (0.0001, 14, "0.0001"),
            (3.0, 14, "3"),
            (123_456_789_012_345_680.0, 17, "1.2345678901234568e+17"),
            (0.35333609737146, 14, "0.35333609737146"),
            (99999.5, 5, "1e+05"),
        ];
        for (number, digits, text) in known {
            assert_eq!(general(number, digits), text);
        }
        assert_eq!((general(f64::INFINITY, 14), general(f64::NEG_INFINITY, 14)), ("inf".into(), "-inf".into()));
    }

    #[test]
    fn unrepresentable_numbers_become_i64_min() {
        assert_eq!([cut(1.9), cut(-3.7), cut(1e300), cut(f64::NAN)], [1, -3, i64::MIN, i64::MIN]);
    }
}
