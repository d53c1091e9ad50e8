//! Pieces of a query's text: words, quoted texts, names, numbers.
//!
//! ```text
//!   @title|body : ( hello-world  pre*  "can't" ) => { $weight : 2.0 }      @age : [ ( 18  +inf ]
//!    ^name ^name    ^word        ^word ^quoted         ^name    ^number                ^number ^number
//! ```
//!
//! The parser alone knows which piece may come (`-` begins a number in brackets and a negation elsewhere), so it asks
//! for one. A piece that is not there leaves the position where it was.
//!
//! - A word is letters, digits, `_`, every character outside ASCII and whatever a backslash precedes. `-`, `.`, `'` and
//!   `,` belong to it between two such characters: only the segmentation of texts knows whether they divide it.
//! - A backslash is itself, save before punctuation and spaces, which belong to a word then. A word drops any other.

use super::error::QueryError;
use crate::text::{is_escapable, shown};
use crate::value::parse_number;
use std::ops::Range;

/// Punctuation that divides words and means nothing else.
const SEPARATORS: &str = "&+.,!#^/?`";
/// Punctuation that may stand within a word.
const JOINERS: &str = "-.',";

/// A position in a query's text.
#[derive(Clone)]
pub(super) struct QueryLexer<'a> {
    text: &'a str,
    at: usize,
    /// The last word, name or number read: errors repeat it.
    near: Range<usize>,
}

impl<'a> QueryLexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, near: 0..0 }
    }

    /// Returns the bytes before it.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the character after the next.
    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    /// Returns true if the text goes on with this, in any case.
    pub(super) fn is_at(&self, text: &str) -> bool {
        self.rest().as_bytes().get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
    }

    /// Skips a text if it is next, in any case.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.is_at(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Skips spaces.
    pub(super) fn skip_spaces(&mut self) {
        self.skip(|character| character.is_whitespace() || character.is_control());
    }

    /// Skips spaces and punctuation without a meaning.
    pub(super) fn skip_separators(&mut self) {
        self.skip(|character| character.is_whitespace() || character.is_control() || SEPARATORS.contains(character));
    }

    /// Returns the error that the next character is wrong.
    pub(super) fn error(&self) -> QueryError {
        let word = self.rest().find(|character| !is_word(character)).map_or(self.rest(), |end| &self.rest()[..end]);
        let near = if word.is_empty() { &self.text[self.near.clone()] } else { word };
        QueryError::Syntax { offset: self.at, near: shown(near) }
    }

    /// Reads a word, with its escapes as they are written.
    pub(super) fn word(&mut self) -> Option<String> {
        let start = self.at;
        let mut word = String::new();
        while let Some(character) = self.peek() {
            let next = self.peek_second();
            if character == '\\' {
                self.bump(character);
                if let Some(next) = next.filter(|next| is_escapable(*next)) {
                    self.bump(next);
                    word.extend([character, next]);
                }
            } else if is_word(character)
                || (JOINERS.contains(character)
                    && !word.is_empty()
                    && next.is_some_and(|next| is_word(next) || next == '\\'))
            {
                self.bump(character);
                word.push(character);
            } else {
                break;
            }
        }
        (self.at > start).then(|| {
            self.near = start..self.at;
            word
        })
    }

    /// Reads a text between quotes, single or double.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let quote = self.peek().filter(|character| matches!(character, '"' | '\''))?;
        let mut lexer = self.clone();
        lexer.bump(quote);
        let start = lexer.at;
        let mut text = String::new();
        while let Some(character) = lexer.peek() {
            if character == quote {
                lexer.near = start..lexer.at;
                lexer.bump(quote);
                *self = lexer;
                return Some(text);
            }
            text.push(lexer.escaped(character));
        }
        None
    }

    /// Reads such a text, with its escapes as they are written.
    pub(super) fn quoted_as_written(&mut self) -> Option<&'a str> {
        self.quoted()?;
        Some(&self.text[self.near.clone()])
    }

    /// Reads `w'...'` as far as it holds something; only its quotes lose their backslash.
    pub(super) fn wildcard(&mut self) -> Option<String> {
        if !self.is_at("w'") {
            return None;
        }
        let mut lexer = self.clone();
        lexer.at += 2;
        let start = lexer.at;
        let mut pattern = String::new();
        while let Some(character) = lexer.peek() {
            let next = lexer.peek_second();
            lexer.bump(character);
            match (character, next) {
                ('\'', _) if pattern.is_empty() => return None,
                ('\'', _) => {
                    lexer.near = start..lexer.at - 1;
                    *self = lexer;
                    return Some(pattern);
                }
                ('\\', Some(next)) => {
                    lexer.bump(next);
                    if next != '\'' {
                        pattern.push(character);
                    }
                    pattern.push(next);
                }
                _ => pattern.push(character),
            }
        }
        None
    }

    /// Reads a tag without quotes, as far as `|`, `}` or something that it would have to escape; spaces around it are
    /// left out.
    pub(super) fn tag(&mut self) -> Option<String> {
        self.skip_spaces();
        let start = self.at;
        let mut tag = String::new();
        let mut trimmed_bytes = 0;
        while let Some(character) =
            self.peek().filter(|character| !matches!(character, '|' | '}' | '{' | '*' | '$' | '"'))
        {
            let before = self.at;
            tag.push(self.escaped(character));
            if !character.is_whitespace() || self.at > before + character.len_utf8() {
                trimmed_bytes = tag.len();
                self.near = start..self.at;
            }
        }
        let is_trimmed = trimmed_bytes == tag.len();
        tag.truncate(trimmed_bytes);
        (!tag.is_empty() && (is_trimmed || self.peek() != Some('*'))).then_some(tag)
    }

    /// Reads the name of a field.
    pub(super) fn field_name(&mut self) -> Option<String> {
        let start = self.at;
        let mut name = String::new();
        while let Some(character) = self.peek().filter(|character| is_word(*character) || *character == '\\') {
            name.push(self.escaped(character));
        }
        (self.at > start).then(|| {
            self.near = start..self.at;
            name
        })
    }

    /// Reads `$name`.
    pub(super) fn parameter_name(&mut self) -> Option<&'a str> {
        let text = self.rest().strip_prefix('$')?;
        let end =
            text.find(|character: char| !character.is_ascii_alphanumeric() && character != '_').unwrap_or(text.len());
        if end == 0 {
            return None;
        }
        self.near = self.at + 1..self.at + 1 + end;
        self.at = self.near.end;
        Some(&text[..end])
    }

    /// Reads a number without a sign.
    pub(super) fn number(&mut self) -> Option<f64> {
        let bytes = self.rest().as_bytes();
        let mut end = 0;
        while let Some(byte) = bytes.get(end) {
            let is_sign = matches!(byte, b'+' | b'-') && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
            if !byte.is_ascii_alphanumeric() && *byte != b'.' && !is_sign {
                break;
            }
            end += 1;
        }
        let number = number_of(&self.rest()[..end])?;
        self.near = self.at..self.at + end;
        self.at += end;
        Some(number)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn bump(&mut self, character: char) {
        self.at += character.len_utf8();
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        self.at += self.rest().find(|character| !is_skipped(character)).unwrap_or(self.rest().len());
    }

    /// Skips the next character, and returns it or the one that it escapes.
    fn escaped(&mut self, character: char) -> char {
        let next = self.peek_second().filter(|next| character == '\\' && is_escapable(*next));
        self.bump(character);
        next.map_or(character, |next| {
            self.bump(next);
            next
        })
    }
}

/// Returns the number that a word of a query is, with a sign or without; of names only `inf` is one.
pub(super) fn number_of(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let is_finite = digits.starts_with(|character: char| character.is_ascii_digit() || character == '.');
    if is_finite || digits.eq_ignore_ascii_case("inf") { parse_number(word.as_bytes()) } else { None }
}

/// Returns true if a character belongs to words.
pub(super) fn is_word(character: char) -> bool {
    character.is_alphanumeric()
        || character == '_'
        || (!character.is_ascii() && !character.is_whitespace() && !character.is_control())
}
