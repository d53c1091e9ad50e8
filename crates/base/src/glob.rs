//! Glob patterns as Redis clients write them: `*`, `?`, `[a-c]`, `[^a]` and `\` before a byte meant as itself.
//!
//! A star first takes nothing; at a mismatch only the last star met takes one byte more. Earlier stars need no
//! second look, so a match costs at most pattern times text, whatever the pattern.

/// Whether letters of the other case match too (ASCII only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `a` matches `a` alone.
    Exact,
    /// `a` matches `A`.
    Ignored,
}

/// Tells whether all of `text` matches `pattern`. O(pattern x text), without recursion.
pub fn matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
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
        if let Some(&byte) = text.get(read)
            && let Some(next) = step(pattern, at, byte, case)
        {
            at = next;
            read += 1;
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

/// Whether `pattern` means more than its own bytes.
pub fn is_pattern(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
}

/// Where the pattern goes on if its element at `at` (no star) takes `byte`.
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

/// Whether the class that begins at `at` (after its bracket) holds `byte`, and where the pattern goes on. A class
/// without an end lasts to the end of the pattern.
fn class(pattern: &[u8], mut at: usize, byte: u8, case: Case) -> (bool, usize) {
    let negated = pattern.get(at) == Some(&b'^');
    at += usize::from(negated);
    let mut found = false;
    loop {
        match pattern[at..] {
            [] => return (found != negated, at),
            [b']', ..] => return (found != negated, at + 1),
            [b'\\', literal, ..] => {
                found |= equal(literal, byte, case);
                at += 2;
            }
            [first, b'-', last, ..] => {
                found |= within(first, last, byte, case);
                at += 3;
            }
            [literal, ..] => {
                found |= equal(literal, byte, case);
                at += 1;
            }
        }
    }
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
    fn published_examples() {
        check("h?llo", &["hello", "hallo", "hxllo"], &["hllo", "heello"]);
        check("h*llo", &["hllo", "heeeello"], &["hell"]);
        check("h[ae]llo", &["hello", "hallo"], &["hillo"]);
        check("h[^e]llo", &["hallo", "hbllo"], &["hello"]);
        check("h[a-b]llo", &["hallo", "hbllo"], &["hcllo"]);
    }

    #[test]
    fn corners() {
        check("", &[""], &["a"]);
        check("*", &["", "a"], &[]);
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
    fn many_stars_end_soon() {
        let pattern = "a*".repeat(60) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(2_000).as_bytes(), Case::Exact));
    }
}
