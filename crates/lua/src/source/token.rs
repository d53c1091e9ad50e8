//! Splits a source into tokens like the engine's own lexer: strings and comments are recognised the same way, so they
//! hide nothing here. Where the engine would find no token, or an invalid number, the source does not compile, and the
//! result does not matter.

use memchr::memmem;

/// The type of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word,
    /// A number.
    Number,
    /// A string, with its quotes or brackets.
    Text,
    /// One symbol; up to three dots are one token.
    Sign,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a [u8],
    pub(super) at: usize,
}

impl Token<'_> {
    /// Returns true if it is a name.
    pub(super) fn is_name(&self) -> bool {
        self.kind == Kind::Word && !KEYWORDS.contains(&self.text)
    }
}

const KEYWORDS: [&[u8]; 21] = [
    b"and",
    b"break",
    b"do",
    b"else",
    b"elseif",
    b"end",
    b"false",
    b"for",
    b"function",
    b"if",
    b"in",
    b"local",
    b"nil",
    b"not",
    b"or",
    b"repeat",
    b"return",
    b"then",
    b"true",
    b"until",
    b"while",
];

/// Reads tokens; comments are skipped.
pub(super) struct Tokens<'a> {
    source: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { source, at: 0 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.source[self.at..];
            let first = *rest.first()?;
            let (kind, length) = match first {
                first if is_space(first) => {
                    self.at += 1;
                    continue;
                }
                b'-' if rest.starts_with(b"--") => {
                    self.at += match bracket(&rest[2..]) {
                        Some(length) => 2 + length,
                        None => rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len()),
                    };
                    continue;
                }
                b'[' => bracket(rest).map_or((Kind::Sign, 1), |length| (Kind::Text, length)),
                b'"' | b'\'' => (Kind::Text, quoted(rest)),
                b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(rest)),
                b'.' => (Kind::Sign, rest.iter().take(3).take_while(|byte| **byte == b'.').count()),
                b'0'..=b'9' => (Kind::Number, number(rest)),
                _ if is_of_word(first) => (Kind::Word, rest.iter().take_while(|byte| is_of_word(**byte)).count()),
                _ => (Kind::Sign, 1),
            };
            let token = Token { kind, text: &rest[..length], at: self.at };
            self.at += length;
            return Some(token);
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the length of the number-like prefix of `text`.
fn number(text: &[u8]) -> usize {
    let is_of_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'_');
    let mut length = 1 + text[1..].iter().take_while(is_of_number).count();
    if matches!(text.get(length), Some(b'e' | b'E')) {
        length += 1;
        length += usize::from(matches!(text.get(length), Some(b'+' | b'-')));
    }
    length + text[length..].iter().take_while(|byte| is_of_word(**byte)).count()
}

/// Returns the length of the long-bracket string or comment at the start of `text`.
fn bracket(text: &[u8]) -> Option<usize> {
    let signs = text.strip_prefix(b"[")?.iter().take_while(|byte| **byte == b'=').count();
    let inside = text.get(1 + signs..)?.strip_prefix(b"[")?;
    let end = [b"]", &text[1..=signs], b"]"].concat();
    let length = memmem::find(inside, &end).map_or(inside.len(), |at| at + end.len());
    Some(signs + 2 + length)
}

/// Returns the length of the quoted string at the start of `text`.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' => {
                let escaped = text.get(at).copied();
                at += 1;
                match escaped {
                    // Spaces and line ends that follow are not part of the string.
                    Some(b'z') => at += text[at..].iter().take_while(|byte| is_space(**byte)).count(),
                    Some(b'\r') if text.get(at) == Some(&b'\n') => at += 1,
                    _ => {}
                }
            }
            b'\n' | b'\r' => return at - 1,
            byte if byte == text[0] => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Vec<&str> {
        Tokens::new(source.as_bytes()).map(|token| std::str::from_utf8(token.text).unwrap()).collect()
    }

    #[test]
    fn strings_and_comments_end_as_in_luau() {
        assert_eq!(read("a --[[ b\n ]] c --[==[ ]] ]==] d -- e\nf -- g\rh"), ["a", "c", "d", "f", "h"]);
        assert_eq!(
            read("'a\\'b' \"\\\\\" '\\z \n ' x '\\\r\n' y"),
            ["'a\\'b'", "\"\\\\\"", "'\\z \n '", "x", "'\\\r\n'", "y"]
        );
        assert_eq!(read("[[a]]..[=[b]]]=]"), ["[[a]]", "..", "[=[b]]]=]"]);
        assert_eq!(read("a[b[1]]"), ["a", "[", "b", "[", "1", "]", "]"]);
        assert_eq!(read("1e-5--c\n0x1e--c\n.5 1.5 a.b ..."), ["1e-5", "0x1e", ".5", "1.5", "a", ".", "b", "..."]);
        assert_eq!(read("'a\nb' c"), ["'a", "b", "' c"]);
        assert_eq!(read("a\x0bb"), ["a", "b"]);
    }
}
