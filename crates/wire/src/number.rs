//! Numbers as text: RESP lengths, and doubles formatted as in Redis.

/// Parses a plain integer: no blanks, no `+`, no leading zeros, not `-0`. `None` for anything else and for numbers
/// outside `i64`.
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut value: u64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        // At most 19 digits: no overflow of a u64.
        value = value * 10 + u64::from(digit - b'0');
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// A double as text: the shortest digits that read back as the same double, formatted as in Redis 7.2 and later.
///
/// ```text
///   3        3.0                     whole numbers up to 2^62 in full
///   1e+20    beyond, more than seven zeros after the digits: exponent, sign always, no padding
///   0.000001 1e-7                    six places after the point stand, then the exponent
///   inf -inf nan -0
/// ```
pub struct Double {
    text: [u8; DOUBLE_BYTES_MAX],
    length: usize,
}

/// The longest is 25: a sign, 17 digits and seven zeros.
const DOUBLE_BYTES_MAX: usize = 32;

impl Double {
    /// Formats `value`.
    pub fn new(value: f64) -> Double {
        let mut double = Double { text: [0; DOUBLE_BYTES_MAX], length: 0 };
        double.write(value);
        double
    }

    /// Returns the text, in ASCII.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    fn write(&mut self, value: f64) {
        if value.is_nan() {
            return self.put(b"nan");
        }
        if value.is_sign_negative() {
            self.put(b"-");
        }
        let value = value.abs();
        if value.is_infinite() {
            self.put(b"inf");
        } else if value <= WHOLE_MAX && value.fract() == 0.0 {
            self.put(itoa::Buffer::new().format(value as u64).as_bytes());
        } else {
            self.write_shortest(value);
        }
    }

    fn write_shortest(&mut self, value: f64) {
        let shortest = Shortest::of(value);
        let (digits, count) = (shortest.digits(), shortest.count as i32);
        // value = 0.digits * 10^point
        let point = shortest.point;
        let zeros_after = point - count;
        let exponent = point - 1;
        if zeros_after >= 0 && exponent < count + 7 {
            self.put(digits);
            self.zeros(zeros_after);
        } else if zeros_after < 0 && (zeros_after > -7 || exponent.abs() < 4) {
            self.write_with_point(digits, point);
        } else {
            self.write_with_exponent(digits, exponent);
        }
    }

    fn write_with_point(&mut self, digits: &[u8], point: i32) {
        if point <= 0 {
            self.put(b"0.");
            self.zeros(-point);
            self.put(digits);
        } else {
            let (whole, rest) = digits.split_at(point as usize);
            self.put(whole);
            self.put(b".");
            self.put(rest);
        }
    }

    fn write_with_exponent(&mut self, digits: &[u8], exponent: i32) {
        self.put(&digits[..1]);
        if digits.len() > 1 {
            self.put(b".");
            self.put(&digits[1..]);
        }
        self.put(if exponent < 0 { b"e-" } else { b"e+" });
        self.put(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.text[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn zeros(&mut self, count: i32) {
        for _ in 0..count {
            self.put(b"0");
        }
    }
}

/// Integers up to this are written in full: half of what an `i64` holds.
const WHOLE_MAX: f64 = (1u64 << 62) as f64;

/// A finite double above zero as `0.digits * 10^point`, without leading or trailing zeros.
struct Shortest {
    text: [u8; 20],
    count: usize,
    point: i32,
}

impl Shortest {
    fn of(value: f64) -> Shortest {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(value).as_bytes();
        let mantissa_bytes = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
        let exponent = text.get(mantissa_bytes + 1..).map_or(0, parse_exponent);
        let (mut text_digits, mut count, mut point) = ([0; 20], 0, None);
        let mut leading_zeros = 0;
        for &byte in &text[..mantissa_bytes] {
            match byte {
                b'.' => point = Some(count as i32 - leading_zeros),
                b'0' if count == 0 => leading_zeros += i32::from(point.is_some()),
                digit => {
                    text_digits[count] = digit;
                    count += 1;
                }
            }
        }
        let point = point.map_or(count as i32, |point| point - leading_zeros) + exponent;
        while count > 1 && text_digits[count - 1] == b'0' {
            count -= 1;
        }
        Shortest { text: text_digits, count, point }
    }

    fn digits(&self) -> &[u8] {
        &self.text[..self.count]
    }
}

fn parse_exponent(text: &[u8]) -> i32 {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    sign * digits.iter().fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'))
}
