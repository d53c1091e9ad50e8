//! Foreign patterns: what matches is what a naive twin says, and the time is at most pattern times text.
//!
//! ```text
//!   | case, pattern's length, 1 + 1 | pattern | text ... |
//! ```

#![no_main]

use base::glob::{Case, matches};
use libfuzzer_sys::fuzz_target;

/// Texts and patterns above are looked at for time alone: the twin is exponential.
const TWIN_BYTES_MAX: usize = 12;

fuzz_target!(|data: &[u8]| {
    let [case, length, rest @ ..] = data else { return };
    let case = if case & 1 == 0 { Case::Exact } else { Case::Ignored };
    let (pattern, text) = rest.split_at(rest.len().min(usize::from(*length)));
    let matched = matches(pattern, text, case);
    if pattern.len() <= TWIN_BYTES_MAX && text.len() <= TWIN_BYTES_MAX {
        // As in Redis, several stars do not take an empty text.
        let expected = if text.is_empty() { matches!(pattern, b"" | b"*") } else { twin(pattern, text, case) };
        assert_eq!(matched, expected, "{pattern:?} {text:?}");
    }
    // The worst there is, long: stars that could each take anything, and an end that never comes.
    matches(&[pattern, b"*".as_slice()].concat().repeat(100), &text.repeat(100), case);
});

/// By trying whatever a star might take.
fn twin(pattern: &[u8], text: &[u8], case: Case) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|taken| twin(rest, &text[taken..], case)),
        [b'[', rest @ ..] => {
            let Some((&byte, text)) = text.split_first() else { return false };
            let (found, rest) = class(rest, byte, case);
            found && twin(rest, text, case)
        }
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => {
            let Some((&byte, text)) = text.split_first() else { return false };
            (*literal == b'?' && pattern[0] == b'?' || equal(*literal, byte, case)) && twin(rest, text, case)
        }
    }
}

fn equal(a: u8, b: u8, case: Case) -> bool {
    if case == Case::Ignored { a.eq_ignore_ascii_case(&b) } else { a == b }
}

/// Returns whether a class contains a byte, and the bytes after the class.
fn class(class: &[u8], byte: u8, case: Case) -> (bool, &[u8]) {
    let (negated, mut rest) = match class {
        [b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut found = false;
    loop {
        rest = match rest {
            [] => return (found != negated, rest),
            [b']', rest @ ..] => return (found != negated, rest),
            [b'\\', literal, rest @ ..] => {
                found |= equal(*literal, byte, case);
                rest
            }
            [first, b'-', last, rest @ ..] => {
                let fold = |byte: u8| if case == Case::Ignored { byte.to_ascii_lowercase() } else { byte };
                let [first, last, byte] = [*first, *last, byte].map(fold);
                found |= (first.min(last)..=first.max(last)).contains(&byte);
                rest
            }
            [literal, rest @ ..] => {
                found |= equal(*literal, byte, case);
                rest
            }
        };
    }
}
