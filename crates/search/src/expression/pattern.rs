//! Regular expressions of `matches`: compiled within bounds.

use regex::bytes::{Regex, RegexBuilder};

/// The longest pattern.
const PATTERN_BYTES_MAX: usize = 1000;

/// The memory of a compiled pattern.
const COMPILED_BYTES_MAX: usize = 256 << 10;

/// The memory of states that searches with a pattern find.
const SEARCH_BYTES_MAX: usize = 1 << 20;

/// Compiles a pattern; an error is a sentence.
pub(super) fn compile(pattern: &[u8]) -> Result<Regex, Box<str>> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("it exceeds maximum of {PATTERN_BYTES_MAX} bytes").into());
    }
    let pattern = std::str::from_utf8(pattern).map_err(|_| "it is not UTF-8")?;
    let mut builder = RegexBuilder::new(pattern);
    builder.size_limit(COMPILED_BYTES_MAX).dfa_size_limit(SEARCH_BYTES_MAX).nest_limit(50);
    builder.build().map_err(|error| {
        // The crate draws where the error is over several lines; the last one is the sentence.
        error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").into()
    })
}
