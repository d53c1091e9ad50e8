//! Redis glob patterns: `*`, `?`, `[a-c]`, `[^a]` and `\` before a literal byte.
//!
//! ```text
//! head*segment*segment*tail        head and tail are matched at the ends of the text, byte by byte
//!                                  each segment is searched for once, from the end of the previous match
//! ```
//!
//! The first match of a segment is as good as any later one, so no star needs backtracking. [`memmem`] searches for a
//! literal segment. A segment with `?` or a class is matched at all offsets at once, with one bit per element (the
//! "shift-and" algorithm). So a match costs O(pattern + text), if no such segment has more than
//! [`SEGMENT_ELEMENTS_MAX`] elements: see [`is_costly`].
//!
//! An empty text matches an empty pattern and a single star, as in Redis: `**` does not match it.

use crate::cost::{self, Work};
use memchr::memmem;
use std::borrow::Cow;

/// Case sensitivity (ASCII only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `a` matches `a` alone.
    Exact,
    /// `a` matches `A`.
    Ignored,
}

/// Maximum elements of a segment with `?` or a class between two stars for which its search is linear.
pub const SEGMENT_ELEMENTS_MAX: usize = 256;
/// Maximum text length times segment length for a search offset by offset: building tables would take longer.
const PLAIN_STEPS_MAX: usize = 16 << 10;

/// Returns true if all of `text` matches `pattern`. O(pattern + text) unless the pattern [`is_costly`].
pub fn matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
    matches_counted(pattern, text, case).0
}

/// As [`matches`]; also returns how many bytes of pattern and text were examined, for callers that work in steps.
pub fn matches_counted(pattern: &[u8], text: &[u8], case: Case) -> (bool, usize) {
    if text.is_empty() {
        return (matches!(pattern, b"" | b"*"), 1);
    }
    let mut matching = Matching { pattern, case, steps: 1 };
    let is_match = matching.run(text);
    cost::count(Work::Bytes, matching.steps);
    (is_match, matching.steps)
}

/// Returns true if `pattern` has special characters.
pub fn is_pattern(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
}

/// Returns true if a match may cost O(pattern x text): more than [`SEGMENT_ELEMENTS_MAX`] elements between two stars,
/// including `?` or a class. Patterns from clients for which this holds must be refused. O(pattern).
pub fn is_costly(pattern: &[u8]) -> bool {
    let (mut at, mut is_floating) = (0, false);
    while at < pattern.len() {
        if pattern[at] == b'*' {
            (at, is_floating) = (at + 1, true);
            continue;
        }
        let segment = Segment::at(pattern, at);
        if is_floating && segment.end < pattern.len() && segment.is_wild && segment.elements > SEGMENT_ELEMENTS_MAX {
            return true;
        }
        at = segment.end;
    }
    false
}

/// The elements between two stars, or at the end of the pattern.
#[derive(Clone, Copy)]
struct Segment {
    from: usize,
    end: usize,
    /// Each takes one byte.
    elements: usize,
    /// It contains `?` or a class.
    is_wild: bool,
    has_escapes: bool,
}

impl Segment {
    /// Returns the segment that begins at `at`.
    fn at(pattern: &[u8], at: usize) -> Self {
        Self::within(pattern, at, usize::MAX).expect("no bound")
    }

    /// Returns the segment that begins at `at`; `None` if it has more than `elements_max` elements.
    fn within(pattern: &[u8], at: usize, elements_max: usize) -> Option<Self> {
        let mut segment = Self { from: at, end: at, elements: 0, is_wild: false, has_escapes: false };
        while segment.end < pattern.len() && pattern[segment.end] != b'*' {
            segment.is_wild |= matches!(pattern[segment.end], b'?' | b'[');
            segment.has_escapes |= pattern[segment.end] == b'\\';
            segment.end = element_end(pattern, segment.end);
            segment.elements += 1;
            if segment.elements > elements_max {
                return None;
            }
        }
        Some(segment)
    }
}

/// A match in progress.
struct Matching<'p> {
    pattern: &'p [u8],
    case: Case,
    steps: usize,
}

impl Matching<'_> {
    fn run(&mut self, text: &[u8]) -> bool {
        let pattern = self.pattern;
        let (mut at, mut read) = (0, 0);
        while at < pattern.len() && pattern[at] != b'*' {
            let Some(next) = text.get(read).and_then(|byte| step(pattern, at, *byte, self.case)) else { return false };
            self.steps += next - at;
            (at, read) = (next, read + 1);
        }
        if at == pattern.len() {
            return read == text.len();
        }
        loop {
            let stars = pattern[at..].iter().take_while(|byte| **byte == b'*').count();
            (at, self.steps) = (at + stars, self.steps + stars);
            if at == pattern.len() {
                return true;
            }
            let rest = &text[read..];
            let Some(segment) = Segment::within(pattern, at, rest.len()) else {
                self.steps += rest.len();
                return false;
            };
            self.steps += segment.end - at;
            at = segment.end;
            if at == pattern.len() {
                return self.fits(segment, &rest[rest.len() - segment.elements..]);
            }
            let Some(found) = self.find(segment, rest) else { return false };
            read += found + segment.elements;
        }
    }

    /// Returns true if `text`, which is at least as long, begins with a match of the segment.
    fn fits(&mut self, segment: Segment, text: &[u8]) -> bool {
        let mut at = segment.from;
        for byte in &text[..segment.elements] {
            let Some(next) = step(self.pattern, at, *byte, self.case) else {
                self.steps += 1;
                return false;
            };
            self.steps += next - at;
            at = next;
        }
        true
    }

    /// Returns the first match of a segment in `text`.
    fn find(&mut self, segment: Segment, text: &[u8]) -> Option<usize> {
        let bytes = &self.pattern[segment.from..segment.end];
        if !segment.is_wild && self.case == Case::Exact {
            let literal = if segment.has_escapes { Cow::Owned(unescaped(bytes)) } else { Cow::Borrowed(bytes) };
            let found = match *literal {
                [byte] => memchr::memchr(byte, text),
                _ => memmem::find(text, &literal),
            };
            self.steps += found.map_or(text.len(), |at| at + segment.elements);
            return found;
        }
        let is_short = text.len().saturating_mul(bytes.len()) <= PLAIN_STEPS_MAX;
        if is_short || segment.elements > SEGMENT_ELEMENTS_MAX {
            return (0..=text.len() - segment.elements).find(|at| self.fits(segment, &text[*at..]));
        }
        match segment.elements {
            0..=64 => self.shift_and::<1>(segment, text),
            _ => self.shift_and::<{ SEGMENT_ELEMENTS_MAX / 64 }>(segment, text),
        }
    }

    /// Matches a segment of at most 64 times `WORDS` elements at all offsets at once: bit n is set while the last n + 1
    /// bytes match its first n + 1 elements.
    fn shift_and<const WORDS: usize>(&mut self, segment: Segment, text: &[u8]) -> Option<usize> {
        let takes = self.takes::<WORDS>(segment);
        let last = segment.elements - 1;
        let mut state = [0u64; WORDS];
        for (at, byte) in text.iter().enumerate() {
            let mut carry = 1;
            for (word, takes) in state.iter_mut().zip(&takes[usize::from(*byte)]) {
                let shifted = *word << 1 | carry;
                carry = *word >> 63;
                *word = shifted & takes;
            }
            if state[last / 64] >> (last % 64) & 1 == 1 {
                self.steps += (at + 1) * WORDS;
                return Some(at - last);
            }
        }
        self.steps += text.len() * WORDS;
        None
    }

    /// Returns, for each byte, which elements of a segment match it.
    fn takes<const WORDS: usize>(&mut self, segment: Segment) -> Vec<[u64; WORDS]> {
        let mut takes = vec![[0u64; WORDS]; 256];
        let mut at = segment.from;
        for element in 0..segment.elements {
            let (word, bit) = (element / 64, 1u64 << (element % 64));
            let mut note = |byte: u8| takes[usize::from(byte)][word] |= bit;
            match self.pattern[at] {
                b'?' => (0..=u8::MAX).for_each(note),
                b'[' => {
                    let set = class_set(self.pattern, at + 1, self.case);
                    (0..=u8::MAX).filter(|byte| set[usize::from(fold(*byte, self.case))]).for_each(note);
                }
                byte => {
                    let literal = if byte == b'\\' { *self.pattern.get(at + 1).unwrap_or(&byte) } else { byte };
                    note(literal);
                    if self.case == Case::Ignored {
                        note(literal.to_ascii_lowercase());
                        note(literal.to_ascii_uppercase());
                    }
                }
            }
            at = element_end(self.pattern, at);
        }
        self.steps += 256 + segment.end - segment.from;
        takes
    }
}

/// Returns the literal bytes of plain elements.
fn unescaped(elements: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(elements.len());
    let mut at = 0;
    while at < elements.len() {
        let end = element_end(elements, at);
        bytes.push(elements[end - 1]);
        at = end;
    }
    bytes
}

/// Returns the end of the element at `at` (no star).
fn element_end(pattern: &[u8], at: usize) -> usize {
    match pattern[at..] {
        [b'[', ..] => class_end(pattern, at + 1),
        [b'\\', _, ..] => at + 2,
        _ => at + 1,
    }
}

/// Returns the end of the class that begins at `at` (after its bracket).
fn class_end(pattern: &[u8], at: usize) -> usize {
    let mut end = pattern.len();
    for_each_in_class(pattern, at, |part| {
        if let InClass::End(at) = part {
            end = at;
        }
    });
    end
}

/// Returns the bytes of a class; only its lower-case letters if the case is ignored.
fn class_set(pattern: &[u8], at: usize, case: Case) -> [bool; 256] {
    // Number of ranges that begin at a byte, less those that ended before it.
    let mut changes = [0i32; 257];
    for_each_in_class(pattern, at, |part| {
        if let InClass::Range(first, last) = part {
            let (first, last) = (fold(first, case), fold(last, case));
            changes[usize::from(first.min(last))] += 1;
            changes[usize::from(first.max(last)) + 1] -= 1;
        }
    });
    let is_negated = pattern.get(at) == Some(&b'^');
    let (mut set, mut covering) = ([false; 256], 0);
    for (is_in, change) in set.iter_mut().zip(changes) {
        covering += change;
        *is_in = (covering > 0) != is_negated;
    }
    set
}

/// A part of a class.
enum InClass {
    /// All bytes between the two, in either order.
    Range(u8, u8),
    /// The class ends there.
    End(usize),
}

/// Visits the parts of the class that begins at `at` (after its bracket). An unterminated class lasts to the end of the
/// pattern.
fn for_each_in_class(pattern: &[u8], mut at: usize, mut visit: impl FnMut(InClass)) {
    at += usize::from(pattern.get(at) == Some(&b'^'));
    loop {
        at += match pattern[at..] {
            [] => return visit(InClass::End(at)),
            [b']', ..] => return visit(InClass::End(at + 1)),
            [b'\\', literal, ..] => {
                visit(InClass::Range(literal, literal));
                2
            }
            [first, b'-', last, ..] => {
                visit(InClass::Range(first, last));
                3
            }
            [literal, ..] => {
                visit(InClass::Range(literal, literal));
                1
            }
        };
    }
}

/// Returns where the pattern continues if its element at `at` (no star) matches `byte`.
fn step(pattern: &[u8], at: usize, byte: u8, case: Case) -> Option<usize> {
    match *pattern.get(at)? {
        b'?' => Some(at + 1),
        b'[' => {
            let (found, next) = class(pattern, at + 1, byte, case);
            found.then_some(next)
        }
        b'\\' if at + 1 < pattern.len() => equal(pattern[at + 1], byte, case).then_some(at + 2),
        literal => equal(literal, byte, case).then_some(at + 1),
    }
}

/// Returns whether the class that begins at `at` (after its bracket) contains `byte`, and where the pattern continues.
fn class(pattern: &[u8], at: usize, byte: u8, case: Case) -> (bool, usize) {
    let (mut is_found, mut end) = (false, pattern.len());
    for_each_in_class(pattern, at, |part| match part {
        InClass::Range(first, last) => is_found |= within(first, last, byte, case),
        InClass::End(at) => end = at,
    });
    (is_found != (pattern.get(at) == Some(&b'^')), end)
}

fn equal(left: u8, right: u8, case: Case) -> bool {
    fold(left, case) == fold(right, case)
}

fn within(first: u8, last: u8, byte: u8, case: Case) -> bool {
    let (first, last) = (fold(first, case), fold(last, case));
    (first.min(last)..=first.max(last)).contains(&fold(byte, case))
}

fn fold(byte: u8, case: Case) -> u8 {
    match case {
        Case::Exact => byte,
        Case::Ignored => byte.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A naive reference matcher: on a mismatch the last star takes one more byte.
    fn plainly_matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
        if text.is_empty() {
            return pattern.is_empty() || pattern == b"*";
        }
        let (mut at, mut read) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            if pattern.get(at) == Some(&b'*') {
                at += 1;
                star = Some((at, read));
                continue;
            }
            if read == text.len() && at == pattern.len() {
                return true;
            }
            if let Some(next) = text.get(read).and_then(|byte| step(pattern, at, *byte, case)) {
                (at, read) = (next, read + 1);
                continue;
            }
            match star {
                Some((after, taken)) if taken < text.len() => {
                    star = Some((after, taken + 1));
                    (at, read) = (after, taken + 1);
                }
                _ => return false,
            }
        }
    }

    proptest! {
        #[test]
        fn results_equal_those_of_a_naive_matcher(
            pattern in proptest::collection::vec(proptest::sample::select(b"ab*?[]^-\\\\A".to_vec()), 0..24),
            text in proptest::collection::vec(proptest::sample::select(b"abA]^-\\\\".to_vec()), 0..40),
            is_ignored: bool,
        ) {
            let case = if is_ignored { Case::Ignored } else { Case::Exact };
            prop_assert_eq!(matches(&pattern, &text, case), plainly_matches(&pattern, &text, case));
        }

        /// Texts too long for a search offset by offset.
        #[test]
        fn results_for_long_segments_equal_those_of_a_naive_matcher(
            elements in proptest::collection::vec(proptest::sample::select(vec!["a", "b", "?", "[ab]", "[^b]", "[a-b]", "\\a"]), 1..200),
            text in proptest::collection::vec(proptest::sample::select(b"aaaab".to_vec()), 0..20_000),
            is_ignored: bool,
            tail in proptest::sample::select(vec!["", "b", "*a*"]),
        ) {
            let case = if is_ignored { Case::Ignored } else { Case::Exact };
            let pattern = format!("*{}*{tail}", elements.concat()).into_bytes();
            prop_assert_eq!(matches(&pattern, &text, case), plainly_matches(&pattern, &text, case));
        }
    }

    #[test]
    fn matching_takes_linear_time_unless_the_pattern_is_costly() {
        let (text, wild) = (vec![b'a'; 1 << 20], "?a".repeat(SEGMENT_ELEMENTS_MAX / 2 - 1) + "b");
        let patterns = [
            format!("*{}b", "a".repeat(200_000)),
            format!("*{}b*", "a".repeat(200_000)),
            "*a".repeat(100_000) + "*b*",
            "*".repeat(200_000) + "b",
            format!("*{wild}*"),
            format!("*{wild}*{wild}*{wild}"),
            format!("*[{}]b*", "c".repeat(200_000)),
            format!("*[^{}]b*", "a-b".repeat(70_000)),
            format!("*{}*", "\\a".repeat(100_000) + "b"),
            format!("{}*", "?".repeat(200_000)),
        ];
        for pattern in patterns {
            assert!(!is_costly(pattern.as_bytes()));
            let (_, steps) = matches_counted(pattern.as_bytes(), &text, Case::Exact);
            let bound = 4 * (text.len() + pattern.len()) + 1024;
            assert!(steps <= bound, "{steps} steps for {}...", &pattern[..16]);
        }
    }

    #[test]
    fn patterns_with_thousands_of_stars_match_correctly() {
        let text = "ab".repeat(5_000);
        check(&"*a*b".repeat(5_000), &[&text], &[&text[..9_998], &text[1..]]);
        check(&("*".repeat(9_000) + "b"), &[&text], &[&text[..9_999]]);
    }

    #[test]
    fn only_long_wildcard_segments_between_two_stars_are_costly() {
        let wild = "?".repeat(SEGMENT_ELEMENTS_MAX);
        let plain = "a".repeat(100_000);
        for cheap in
            [&*plain, &format!("*{plain}*"), &format!("*{wild}*"), &format!("{wild}?*?{wild}"), "", "*", "*[ab"]
        {
            assert!(!is_costly(cheap.as_bytes()));
        }
        assert!(is_costly(format!("*{wild}?*").as_bytes()));
        assert!(is_costly(format!("a*b*{plain}[ab]*").as_bytes()));
    }

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        for text in yes {
            assert!(matches(pattern.as_bytes(), text.as_bytes(), Case::Exact), "{pattern} takes {text}");
        }
        for text in no {
            assert!(!matches(pattern.as_bytes(), text.as_bytes(), Case::Exact), "{pattern} refuses {text}");
        }
    }

    #[test]
    fn examples_from_the_keys_documentation_hold() {
        check("h?llo", &["hello", "hallo", "hxllo"], &["hllo", "heello"]);
        check("h*llo", &["hllo", "heeeello"], &["hell"]);
        check("h[ae]llo", &["hello", "hallo"], &["hillo"]);
        check("h[^e]llo", &["hallo", "hbllo"], &["hello"]);
        check("h[a-b]llo", &["hallo", "hbllo"], &["hcllo"]);
    }

    #[test]
    fn edge_cases_of_stars_escapes_and_classes_are_correct() {
        check("", &[""], &["a"]);
        check("*", &["", "a"], &[]);
        check("**", &["a"], &[""]);
        check("a**", &["a", "ab"], &[""]);
        check("a**b*c", &["abc", "axbxbc"], &["acb"]);
        check("\\*", &["*"], &["a", ""]);
        check("a\\", &["a\\"], &["a"]);
        check("[z-a]", &["m"], &["M"]);
        check("[abc", &["a", "c"], &["d", "ab"]);
        check("[\\]x]", &["]", "x"], &["\\"]);
        check("*a?", &["aaab", "aa"], &["a", "ab_"]);
    }

    #[test]
    fn case_can_be_ignored() {
        assert!(matches(b"TIME*", b"timeout", Case::Ignored));
        assert!(matches(b"[A-Z]x", b"bX", Case::Ignored));
        assert!(!matches(b"TIME*", b"timeout", Case::Exact));
    }

    #[test]
    fn a_mismatch_after_many_stars_is_found_quickly() {
        let pattern = "a*".repeat(60) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(2_000).as_bytes(), Case::Exact));
    }
}
