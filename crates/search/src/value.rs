//! Values of expressions and of aggregation: nothing, a number, a text, a list.
//!
//! ```text
//!   condition:   Null false | Number false if 0 | Text false if empty | List false if empty
//!   comparison:  Null with Null only | a text beside a number is read as a number, if it is one | texts by their bytes
//!   sorting:     numbers, then texts by their bytes, then lists; what is missing comes last, whatever the direction
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;

/// A value of a field, of an expression or of a reducer.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Nothing: the result of a function whose arguments do not fit.
    #[default]
    Null,
    /// A number.
    Number(f64),
    /// A text, any bytes.
    Text(Box<[u8]>),
    /// Values in order.
    List(Vec<Value>),
}

/// The bytes that an allocation costs beside its contents.
const ALLOCATION_BYTES: usize = 16;

/// The digits of a number that is not whole: those of C's `%.12g`.
const DIGITS: usize = 12;

impl Value {
    /// Creates a text.
    pub fn text(bytes: impl AsRef<[u8]>) -> Self {
        Self::Text(bytes.as_ref().into())
    }

    /// Creates the number 1 or 0.
    pub fn truth(is_true: bool) -> Self {
        Self::Number(f64::from(u8::from(is_true)))
    }

    /// Returns true if it counts as true in a condition.
    pub fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    /// Returns it as a number: a number, or a text that is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => number_of(text),
            Self::Null | Self::List(_) => None,
        }
    }

    /// Returns it as a text: a text, or the digits of a number; of a list the texts, between them a comma.
    ///
    /// Null is `None`. A list within a list is left out.
    pub fn as_text(&self) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Null => None,
            Self::Number(number) => Some(Cow::Owned(format_number(*number).into_bytes())),
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::List(items) => {
                let texts: Vec<_> =
                    items.iter().filter(|item| !matches!(item, Self::List(_))).filter_map(Self::as_text).collect();
                Some(Cow::Owned(texts.join(&b","[..])))
            }
        }
    }

    /// Compares two values as `==` and `<` do. Null is equal to Null alone and less than everything else.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(number), Self::Text(text)) => compare_mixed(*number, text),
            (Self::Text(text), Self::Number(number)) => compare_mixed(*number, text).reverse(),
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Less,
            (_, Self::Null) => Ordering::Greater,
            _ => self.sorting_order(other),
        }
    }

    /// Compares two values as SORTBY does, in a total order: Null last.
    pub fn sorting_order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => compare_numbers(*left, *right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::List(left), Self::List(right)) => compare_lists(left, right),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Appends bytes that are equal for values that are the same: of the same type, and equal.
    ///
    /// All NaN are the same, and so are both zeros. Of a list within a list only the length counts.
    pub fn append_identity(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.rank());
        match self {
            Self::Null => {}
            Self::Number(number) => bytes.extend_from_slice(&normal_bits(*number).to_be_bytes()),
            Self::Text(text) => append_text(text, bytes),
            Self::List(items) => {
                bytes.extend_from_slice(&(items.len() as u64).to_be_bytes());
                for item in items {
                    match item {
                        Self::List(inner) => bytes.extend_from_slice(&(inner.len() as u64).to_be_bytes()),
                        item => item.append_identity(bytes),
                    }
                }
            }
        }
    }

    /// Returns the bytes that its comparison with another value reads at most. O(items of two lists).
    pub(crate) fn compared_bytes(&self, other: &Self) -> usize {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => left.len().min(right.len()),
            (Self::Text(text), Self::Number(_)) | (Self::Number(_), Self::Text(text)) => {
                text.len().min(NUMBER_BYTES_MAX)
            }
            (Self::List(_), Self::List(_)) => self.heap_bytes().saturating_add(other.heap_bytes()),
            _ => 0,
        }
    }

    /// Returns the bytes that it occupies outside itself. O(items of a list).
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Null | Self::Number(_) => 0,
            Self::Text(text) if text.is_empty() => 0,
            Self::Text(text) => ALLOCATION_BYTES + text.len(),
            Self::List(items) => {
                let inside: usize = items.iter().map(Self::heap_bytes).sum();
                ALLOCATION_BYTES + items.capacity() * size_of::<Self>() + inside
            }
        }
    }

    /// Returns its place among the types.
    fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 1,
            Self::Text(_) => 2,
            Self::List(_) => 3,
            Self::Null => 4,
        }
    }
}

/// The longest text that is a number: the greatest finite number has 309 digits.
const NUMBER_BYTES_MAX: usize = 400;

/// Parses a decimal number of at most 400 bytes, possibly infinite; `None` for NaN. Minus zero becomes zero.
pub fn parse_number(text: &[u8]) -> Option<f64> {
    if text.len() > NUMBER_BYTES_MAX {
        return None;
    }
    let number: f64 = str::from_utf8(text).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number + 0.0)
}

/// Returns the number that a text in an expression is: white space may precede it.
fn number_of(text: &[u8]) -> Option<f64> {
    if text.len() > NUMBER_BYTES_MAX { None } else { parse_number(text.trim_ascii_start()) }
}

/// Returns a number's digits: all of a whole number below 2^63, else what C's `%.12g` writes.
pub(crate) fn format_number(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if number.trunc() == number && number.abs() < 9_223_372_036_854_775_808.0 {
        return (number as i64).to_string();
    }
    let scientific = format!("{number:.*e}", DIGITS - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= DIGITS as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs());
    }
    let decimals = (DIGITS as i32 - 1 - exponent).unsigned_abs() as usize;
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// Returns digits without the zeros that end a fraction.
fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Compares numbers in a total order: NaN is equal to itself and greater than every other.
pub(crate) fn compare_numbers(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// A number in this order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OrderedNumber(pub(crate) f64);

impl PartialEq for OrderedNumber {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedNumber {}

impl PartialOrd for OrderedNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_numbers(self.0, other.0)
    }
}

fn compare_mixed(number: f64, text: &[u8]) -> Ordering {
    match number_of(text) {
        Some(other) => compare_numbers(number, other),
        None => format_number(number).as_bytes().cmp(text),
    }
}

/// Compares lists item by item. Lists within count by their length, so that nothing recurs.
fn compare_lists(left: &[Value], right: &[Value]) -> Ordering {
    let compared = left.iter().zip(right).map(|pair| match pair {
        (Value::List(left), Value::List(right)) => left.len().cmp(&right.len()),
        (left, right) => left.sorting_order(right),
    });
    compared.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn normal_bits(number: f64) -> u64 {
    if number.is_nan() {
        return f64::NAN.to_bits();
    }
    if number == 0.0 { 0 } else { number.to_bits() }
}

fn append_text(text: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
    bytes.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Expects the output of C's `printf("%.12g")`, and that of RediSearch's own tests of its values.
    #[test]
    fn numbers_are_printed_as_c_prints_them() {
        for (number, expected) in [
            (0.01, "0.01"),
            (0.001, "0.001"),
            (0.00123, "0.00123"),
            (0.0012345, "0.0012345"),
            (0.000_000_1, "1e-07"),
            (1_581_011_976_800.0, "1581011976800"),
            (637_387_878_524_969_984.0, "637387878524969984"),
            (29.710_594_125_5, "29.7105941255"),
            (1.0 / 3.0, "0.333333333333"),
            (2.0 / 3.0, "0.666666666667"),
            (123_456_789_012.5, "123456789012"),
            (123_456_789_013.5, "123456789014"),
            (999_999_999_999.9, "1e+12"),
            (0.000_123_456_789_012_345, "0.000123456789012"),
            (0.000_099_999_999_999_99, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (1e100, "1e+100"),
            (-1.5e-300, "-1.5e-300"),
            (9_223_372_036_854_775_808.0, "9.22337203685e+18"),
            (-0.0, "0"),
            (-3.0, "-3"),
            (-0.5, "-0.5"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(format_number(number), expected);
        }
    }

    #[test]
    fn texts_are_numbers_if_wholly_so() {
        for (text, expected) in
            [("12", Some(12.0)), ("678.", Some(678.0)), (" 1e3", Some(1000.0)), ("-inf", Some(f64::NEG_INFINITY))]
        {
            assert_eq!(Value::text(text).number(), expected);
        }
        for text in [&b""[..], b"1x", b"x", b"1 ", b"\xff", b"0x1p"] {
            assert_eq!(Value::text(text).number(), None, "{text:?}");
        }
    }

    #[test]
    fn a_text_longer_than_any_number_is_none() {
        assert_eq!(Value::text("1".repeat(309)).number().map(f64::is_finite), Some(true));
        for text in ["1".repeat(401), format!("{}1", " ".repeat(400)), format!("0.{}", "1".repeat(1 << 20))] {
            assert_eq!((Value::text(&text).number(), parse_number(text.as_bytes())), (None, None));
        }
    }

    #[test]
    fn comparisons_of_numbers_and_lists_read_bytes_too() {
        let text = |length| Value::text("1".repeat(length));
        assert_eq!(text(7).compared_bytes(&text(1 << 20)), 7);
        assert_eq!(text(7).compared_bytes(&Value::Number(1.0)), 7);
        assert_eq!(Value::Number(1.0).compared_bytes(&text(1 << 20)), NUMBER_BYTES_MAX);
        let list = Value::List(vec![Value::Null; 1000]);
        assert!(list.compared_bytes(&list) >= 2000 * size_of::<Value>());
        assert_eq!(list.compared_bytes(&Value::Null), 0);
    }

    #[test]
    fn texts_beside_numbers_compare_as_numbers() {
        let number = Value::Number;
        assert_eq!(Value::text("4001").compare(&number(4000.0)), Ordering::Greater);
        assert_eq!(Value::text("4002").compare(&number(4002.0)), Ordering::Equal);
        assert_eq!(Value::text("1023.").compare(&Value::text("123.")), Ordering::Less);
        assert_ne!(number(1.0).compare(&Value::text("foo")), Ordering::Equal);
        assert_ne!(number(0.0).compare(&Value::Null), Ordering::Equal);
        assert_eq!(Value::Null.compare(&Value::Null), Ordering::Equal);
    }

    fn values() -> impl Strategy<Value = Value> {
        let single = prop_oneof![
            Just(Value::Null),
            any::<f64>().prop_map(Value::Number),
            (-3i8..3).prop_map(|number| Value::Number(number.into())),
            proptest::collection::vec(any::<u8>(), 0..4).prop_map(Value::text),
            (0u8..12).prop_map(|number| Value::text(number.to_string())),
        ];
        prop_oneof![4 => single.clone(), 1 => proptest::collection::vec(single, 0..3).prop_map(Value::List)]
    }

    proptest! {
        #[test]
        fn sorting_order_is_total(a in values(), b in values(), c in values()) {
            prop_assert_eq!(a.sorting_order(&b), b.sorting_order(&a).reverse());
            if a.sorting_order(&b).is_le() && b.sorting_order(&c).is_le() {
                prop_assert!(a.sorting_order(&c).is_le());
            }
        }

        #[test]
        fn same_identity_means_equal_in_sorting_order(a in values(), b in values()) {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            a.append_identity(&mut left);
            b.append_identity(&mut right);
            prop_assert_eq!(left == right, a.sorting_order(&b).is_eq());
        }

        #[test]
        fn printed_numbers_are_near_the_number(number in any::<f64>()) {
            prop_assume!(number.is_finite());
            let read: f64 = format_number(number).parse().unwrap();
            prop_assert!((read - number).abs() <= number.abs() * 1e-11 || (read.is_infinite() && number.abs() > 1e308));
        }
    }
}
