//! Memcached commands for its crawler, LRU queues and slabs, which have no effect here.
//!
//! Expired items are removed automatically, nothing is evicted, and memory has no slabs, so commands that only tune
//! these are accepted and answered as in memcached. Commands that would change a limit are refused.

use super::number::{signed, unsigned};
use crate::request::Range;

const OK: &str = "OK";
const ERROR: &str = "ERROR";
const BAD_FORMAT: &str = "CLIENT_ERROR bad command line format";
const BAD_CLASS: &str = "BADCLASS invalid class id";
/// Memcached's class numbers are below this.
const CLASSES: u64 = 64;
const CRAWLER_SLEEP_US_MAX: u64 = 1_000_000;
const MEMORY_MB_MIN: u64 = 8;
/// The maximum share of two queues together, in percent.
const QUEUES_MAX: u64 = 80;

/// Returns the answer to a line that starts with one of these words; `None` for any other.
pub(super) fn answer(input: &[u8], list: &[Range]) -> Option<&'static str> {
    let word = |at: usize| list.get(at).map_or(&b""[..], |word| word.of(input));
    Some(match word(0) {
        b"lru" => lru([word(1), word(2), word(3), word(4), word(5)]),
        b"slabs" => slabs([word(1), word(2), word(3)]),
        b"cache_memlimit" => cache_memlimit(word(1), list.len()),
        _ => return None,
    })
}

pub(super) fn lru_crawler(input: &[u8], list: &[Range]) -> &'static str {
    let word = |at: usize| list.get(at).map_or(&b""[..], |word| word.of(input));
    let is_class = |class: &[u8]| unsigned(class).is_some_and(|class| (1..CLASSES).contains(&class));
    match (word(1), word(2)) {
        (b"enable" | b"disable", _) => OK,
        (_, b"") => ERROR,
        (b"crawl", b"all") => OK,
        (b"crawl", classes) if classes.split(|byte| *byte == b',').all(is_class) => OK,
        (b"crawl", _) => BAD_CLASS,
        (b"tocrawl", count) => unsigned(count).map_or(BAD_FORMAT, |_| OK),
        (b"sleep", us) => match unsigned(us) {
            None => BAD_FORMAT,
            Some(us) if us > CRAWLER_SLEEP_US_MAX => "CLIENT_ERROR sleep must be one second or less",
            Some(_) => OK,
        },
        _ => ERROR,
    }
}

fn lru(words: [&[u8]; 5]) -> &'static str {
    let is_factor = |word: &[u8]| {
        let factor = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
        factor.is_some_and(|factor| factor > 0.0)
    };
    match words {
        [b"mode", b"flat" | b"segmented", ..] => OK,
        [b"temp_ttl", seconds, ..] if signed(seconds).is_some() => OK,
        [b"tune", hot, warm, hot_factor, warm_factor] if is_factor(hot_factor) && is_factor(warm_factor) => {
            match (unsigned(hot), unsigned(warm)) {
                (Some(hot), Some(warm)) if hot.saturating_add(warm) > QUEUES_MAX => {
                    "ERROR hot and warm pcts must not exceed 80"
                }
                (Some(_), Some(_)) => OK,
                _ => ERROR,
            }
        }
        _ => ERROR,
    }
}

fn slabs(words: [&[u8]; 3]) -> &'static str {
    match words {
        [b"automove", b"", _] => ERROR,
        [b"automove", mode, _] => match unsigned(mode) {
            None => BAD_FORMAT,
            Some(0..=2) => OK,
            Some(_) => ERROR,
        },
        [b"reassign", _, b""] => ERROR,
        [b"reassign", from, to] => match (signed(from), signed(to)) {
            (Some(from), Some(to)) if from == to => "SAME src and dst class are identical",
            (Some(-1 | 1..64), Some(1..64)) => "NOSPARE source class has no spare pages",
            (Some(_), Some(_)) => "BADCLASS invalid src or dst class id",
            _ => BAD_FORMAT,
        },
        _ => ERROR,
    }
}

fn cache_memlimit(mb: &[u8], words_count: usize) -> &'static str {
    match unsigned(mb) {
        Some(..MEMORY_MB_MIN) if (2..=3).contains(&words_count) => {
            "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m"
        }
        Some(_) if (2..=3).contains(&words_count) => "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust",
        _ => ERROR,
    }
}
