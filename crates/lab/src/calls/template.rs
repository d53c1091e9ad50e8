//! A call encoded once, with places for its numbers and its payload.
//!
//! ```text
//! SET key:{next:12}, 100 bytes:   *3 $3 SET $16 key:............ $100 | payload | \r\n
//!                                 '---------- head ---^---------------'
//!                                                     places: 12 digits each, or those of a remainder
//! ```
//!
//! A call copies the head, writes digits into the places, and appends a part of the noise: no text is formatted and
//! nothing is allocated for a call.

use crate::contents::{below, mixed};
use crate::protocol::Protocol;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, Zipf};

/// The digits of a number in a line that is no remainder.
pub(super) const DIGITS: usize = 12;
/// The exponent of Zipf's law with which YCSB draws.
const ZIPF_EXPONENT: f64 = 0.99;
const LINE_END: &[u8] = b"\r\n";
/// A byte that no line has; so many of them as a number has digits hold its place while the call is encoded.
const MARK: &str = "\u{1}";

/// A number of a line as it is written: `{random:12}`, or `{random%31:2}`, the remainder of the same number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Number {
    draw: Draw,
    divisor: Option<u64>,
    digits: usize,
}

/// The ways to come by a number below the count of items.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Draw {
    /// Any number.
    Random,
    /// The number of the call, modulo the count of items.
    Next,
    /// A number drawn by Zipf's law, the popular ones anywhere among the items.
    Zipf,
    /// The same law, the greatest number being the most popular.
    Latest,
}

impl Number {
    /// Returns the number of this name; absent if it is none, or has digits too few for all its values.
    fn named(name: &str) -> Option<Self> {
        let (draw, digits) = name.split_once(':')?;
        let digits = digits.parse().ok()?;
        let (draw, divisor) = match draw.split_once('%') {
            Some((draw, divisor)) => (draw, Some(divisor.parse().ok()?)),
            None => (draw, None),
        };
        let has_room = match divisor {
            Some(divisor) => divisor > 0 && (1..=DIGITS).contains(&digits) && divisor <= 10_u64.pow(digits as u32),
            None => digits == DIGITS,
        };
        let draw = match draw {
            "random" => Draw::Random,
            "next" => Draw::Next,
            "zipf" => Draw::Zipf,
            "latest" => Draw::Latest,
            _ => return None,
        };
        has_room.then_some(Self { draw, divisor, digits })
    }
}

/// Returns the line with a text in the place of each number.
pub(super) fn replace_numbers(say: &str, mut text_of: impl FnMut(Number) -> String) -> String {
    let mut pieces = say.split('{');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let number = piece.split_once('}').and_then(|(name, after)| Some((Number::named(name)?, after)));
        match number {
            Some((number, after)) => text.extend([&text_of(number), after]),
            None => text.extend(["{", piece]),
        }
    }
    text
}

/// A call with places to fill.
pub(crate) struct Template {
    head: Vec<u8>,
    payload_bytes: Option<usize>,
    places: Vec<(usize, Number)>,
    /// Numbers are below this.
    items: u64,
    /// The ranks of items, from 1 on.
    ranks: Zipf<f64>,
}

impl Template {
    pub(crate) fn new(protocol: Protocol, say: &str, payload_bytes: Option<u64>, items: u64) -> Self {
        let mut numbers = Vec::new();
        let marked = replace_numbers(say, |number| {
            numbers.push(number);
            MARK.repeat(number.digits)
        });
        let payload = payload_bytes.map(|bytes| vec![b'x'; bytes as usize]);
        let mut head = Vec::new();
        protocol.put_call(&mut head, &marked, payload.as_deref());
        let payload_bytes = payload.map(|payload| payload.len());
        if let Some(bytes) = payload_bytes {
            head.truncate(head.len() - bytes - LINE_END.len());
        }
        let mut marks = (0..head.len()).filter(|at| head[*at] == MARK.as_bytes()[0]);
        let place = |number: Number| Some((marks.by_ref().take(number.digits).min()?, number));
        let places = numbers.into_iter().filter_map(place).collect();
        let ranks = Zipf::new(items as f64, ZIPF_EXPONENT).expect("at least one item");
        Self { head, payload_bytes, places, items, ranks }
    }

    /// Returns the longest payload's length.
    pub(super) fn payload_bytes(&self) -> usize {
        self.payload_bytes.unwrap_or(0)
    }

    /// Appends the call of this number.
    pub(crate) fn append(&self, out: &mut Vec<u8>, call: u64, noise: &[u8]) {
        let begin = out.len();
        out.extend_from_slice(&self.head);
        for (place, number) in &self.places {
            let at = begin + place;
            put_digits(&mut out[at..at + number.digits], self.value(*number, call));
        }
        let Some(bytes) = self.payload_bytes else { return };
        let payload = out.len();
        let from = below(mixed(mixed(call)), (noise.len() - bytes) as u64 + 1) as usize;
        out.extend_from_slice(&noise[from..from + bytes]);
        if let Some(own) = self.own_digits(call).filter(|_| bytes >= DIGITS) {
            out[payload..payload + DIGITS].copy_from_slice(&own);
        }
        out.extend_from_slice(LINE_END);
    }

    /// Returns the line's first number in a call, in twelve digits.
    pub(super) fn own_digits(&self, call: u64) -> Option<[u8; DIGITS]> {
        let (_, number) = self.places.first()?;
        let mut own = [0; DIGITS];
        put_digits(&mut own, self.value(*number, call));
        Some(own)
    }

    /// Returns the line of a call, for an error's text.
    pub(super) fn text(&self, say: &str, call: u64) -> String {
        replace_numbers(say, |number| format!("{:0digits$}", self.value(number, call), digits = number.digits))
    }

    fn value(&self, number: Number, call: u64) -> u64 {
        let value = match number.draw {
            Draw::Random => below(mixed(call), self.items),
            Draw::Next => call % self.items,
            Draw::Zipf => below(mixed(self.rank(call)), self.items),
            Draw::Latest => self.items - self.rank(call),
        };
        number.divisor.map_or(value, |divisor| value % divisor)
    }

    /// Returns the rank of the item that a call is about, 1 being the most popular.
    fn rank(&self, call: u64) -> u64 {
        let rank = self.ranks.sample(&mut SmallRng::seed_from_u64(mixed(call)));
        (rank as u64).clamp(1, self.items)
    }
}

/// Writes the last digits of a value.
fn put_digits(text: &mut [u8], value: u64) {
    let mut rest = value;
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: [u8; 64] = [b'n'; 64];

    fn call(protocol: Protocol, say: &str, payload_bytes: Option<u64>, number: u64) -> String {
        let mut out = b"before".to_vec();
        Template::new(protocol, say, payload_bytes, 1000).append(&mut out, number, &NOISE);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn a_call_has_the_wire_form_of_its_protocol() {
        assert_eq!(call(Protocol::Resp, "PING", None, 0), "*1\r\n$4\r\nPING\r\n");
        let set = "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000007\r\n$14\r\n000000000007nn\r\n";
        assert_eq!(call(Protocol::Resp, "SET key:{next:12}", Some(14), 7), set);
        let stored = "set k:000000000007 0 0 13\r\n000000000007n\r\n";
        assert_eq!(call(Protocol::Memcached, "set k:{next:12} 0 0", Some(13), 7), stored);
        assert_eq!(call(Protocol::Beanstalk, "put 0 0 60", Some(3), 7), "put 0 0 60 3\r\nnnn\r\n");
        assert_eq!(call(Protocol::Queue, "get q", None, 7), "get q\r\n");
    }

    #[test]
    fn a_short_payload_has_no_digits() {
        assert_eq!(call(Protocol::Memcached, "set {next:12} 0 0", Some(5), 3), "set 000000000003 0 0 5\r\nnnnnn\r\n");
        assert_eq!(call(Protocol::Memcached, "set {next:12} 0 0", Some(0), 3), "set 000000000003 0 0 0\r\n\r\n");
    }

    #[test]
    fn numbers_stay_below_the_count_of_items() {
        let template = Template::new(Protocol::Resp, "GET {random:12}", None, 10);
        let values: std::collections::BTreeSet<u64> = (0..500)
            .map(|call| String::from_utf8(template.own_digits(call).unwrap().to_vec()).unwrap().parse().unwrap())
            .collect();
        assert!(values.into_iter().eq(0..10));
        assert!(call(Protocol::Resp, "GET {next:12}", None, 1002).contains("000000000002"));
    }

    /// How often each of a thousand items is drawn in 100,000 calls.
    fn draws(say: &str) -> Vec<u64> {
        let template = Template::new(Protocol::Resp, say, None, 1000);
        let mut draws = vec![0; 1000];
        for call in 0..100_000 {
            let text = String::from_utf8(template.own_digits(call).unwrap().to_vec()).unwrap();
            draws[text.parse::<usize>().unwrap()] += 1;
        }
        draws
    }

    /// The shares of ranks follow 1 / rank^0.99, of which the sum over 1,000 ranks is 7.7289.
    #[test]
    fn popular_items_are_drawn_by_zipfs_law() {
        let latest = draws("GET {latest:12}");
        for (rank, share) in [(1, 0.12938), (2, 0.06514), (10, 0.01324), (100, 0.001355)] {
            let expected = share * 100_000.0;
            let drawn = latest[1000 - rank] as f64;
            assert!((drawn - expected).abs() < 5.0 * expected.sqrt(), "rank {rank}: {drawn}, expected {expected}");
        }
        let mut anywhere = draws("GET {zipf:12}");
        assert!(anywhere[0].abs_diff(12_938) > 1000 && anywhere[999].abs_diff(12_938) > 1000);
        anywhere.sort_unstable_by(|a, b| b.cmp(a));
        // Two ranks may fall on one item.
        assert!(anywhere[0] >= 12_300 && anywhere[0] < 20_000, "{}", anywhere[0]);
    }

    #[test]
    fn the_payload_has_the_first_of_several_numbers() {
        let say = "HSET {next:12}{random:12} {next:12}";
        let template = Template::new(Protocol::Resp, say, Some(12), 1000);
        let mut out = Vec::new();
        template.append(&mut out, 5, &NOISE);
        assert_eq!(template.places.len(), 3);
        assert!(out.ends_with(b"$12\r\n000000000005\r\n"));
        let words = resp_words(&out);
        assert_eq!(template.text(say, 5), words[..3].join(" "));
    }

    #[test]
    fn a_remainder_is_that_of_the_same_number() {
        let say = "SEARCH {p{random%31:2}} {{next%310:3}}{next%7:1} {random:12}";
        let template = Template::new(Protocol::Sql, say, None, 1000);
        for call in 0..2000 {
            let mut out = Vec::new();
            template.append(&mut out, call, &[]);
            let text = String::from_utf8(out).unwrap();
            let random: u64 = text[text.len() - DIGITS..].parse().unwrap();
            let next = call % 1000;
            let (p, c, last) = (random % 31, next % 310, next % 7);
            assert_eq!(text, format!("SEARCH {{p{p:02}}} {{{c:03}}}{last} {random:012}"));
            assert_eq!(template.text(say, call), text);
        }
    }

    #[test]
    fn a_number_has_digits_for_all_its_values() {
        assert!(Number::named("next%1000:3").is_some());
        for name in ["next%1001:3", "next%0:1", "next:3", "random%7", "random%1:0", "random%7:13", "other:12", "12", ""]
        {
            assert_eq!(Number::named(name), None, "{name}");
        }
    }

    /// The words of a request, without the last.
    fn resp_words(request: &[u8]) -> Vec<String> {
        let text = String::from_utf8(request.to_vec()).unwrap();
        text.split("\r\n").skip(2).step_by(2).map(str::to_owned).collect()
    }
}
