//! Words of texts and patterns of them: `word`, `"word"`, `pre*`, `*suf`, `*mid*`, `w'p?t*'`, `%fuzzy%`, `$parameter`.
//!
//! A word goes the way of a hash's text: folded, then divided as Unicode divides it. `hello-world` are two words, of
//! which stop words are left out; `hello\-world` is one. A pattern is folded only.

use super::error::QueryError;
use super::lexer::{is_word, number_of};
use super::parser::{QueryParser, QueryPart, every};
use super::{FUZZY_DISTANCE_MAX, Query, Term, WILDCARD_BYTES_MAX};
use crate::text::{fold, unescape, words};

impl QueryParser<'_> {
    /// Parses a word or a pattern.
    pub(super) fn text(&mut self) -> QueryPart {
        match self.lexer.peek() {
            Some('%') => self.fuzzy(),
            Some('*') => {
                self.lexer.take("*");
                self.ending()
            }
            Some('"' | '\'') => {
                let text = self.lexer.quoted_as_written().ok_or_else(|| self.lexer.error())?;
                self.literal(text)
            }
            _ if self.is_wildcard() => {
                let pattern = self.wildcard_pattern()?;
                self.text_query(Term::Wildcard(fold(&pattern).into())).map(Some)
            }
            _ => self.word_or_prefix(),
        }
    }

    /// Returns true if a pattern in `w'...'` begins here.
    pub(super) fn is_wildcard(&self) -> bool {
        self.lexer.is_at("w'") && !self.lexer.is_at("w''")
    }

    /// Reads the pattern in `w'...'`; it may be a parameter.
    pub(super) fn wildcard_pattern(&mut self) -> Result<String, QueryError> {
        let pattern = self.lexer.wildcard().ok_or_else(|| self.lexer.error())?;
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let pattern = match pattern.strip_prefix('$') {
            Some(name) if !name.is_empty() && is_name(name) => self.parameter_value(name)?.to_owned(),
            _ => pattern,
        };
        if pattern.len() > WILDCARD_BYTES_MAX { Err(QueryError::LongWildcard) } else { Ok(pattern) }
    }

    /// Parses the rest after the first star of `*suf` or `*mid*`.
    fn ending(&mut self) -> QueryPart {
        let text = self.pattern_text()?;
        let is_contained = self.lexer.take("*");
        self.pattern(&text, if is_contained { Term::Contains } else { Term::Suffix })
    }

    fn word_or_prefix(&mut self) -> QueryPart {
        // A number's sign, which no word keeps.
        self.lexer.take("-");
        if !self.lexer.peek().is_some_and(|character| is_word(character) || matches!(character, '\\' | '$')) {
            return Err(self.lexer.error());
        }
        let text = match self.parameter()? {
            Some((_, value)) => value.to_owned(),
            None => self.lexer.word().ok_or_else(|| self.lexer.error())?,
        };
        if self.lexer.take("*") { self.pattern(&unescape(&text), Term::Prefix) } else { self.words(&text, false) }
    }

    /// Reads the text of a pattern: a word, a parameter or a text between quotes.
    fn pattern_text(&mut self) -> Result<String, QueryError> {
        if let Some(text) = self.parameter_or_quoted()? {
            return Ok(text);
        }
        self.lexer.word().map(|word| unescape(&word).into_owned()).ok_or_else(|| self.lexer.error())
    }

    /// Returns the query of a pattern; an empty one matches nothing.
    fn pattern(&mut self, text: &str, make: fn(Box<str>) -> Term) -> QueryPart {
        if text.is_empty() { Ok(Some(Query::Nothing)) } else { self.text_query(make(fold(text).into())).map(Some) }
    }

    /// Returns the query of all words of a text, in which a backslash may be before a separator.
    fn words(&mut self, text: &str, is_quoted: bool) -> QueryPart {
        let folded = fold(text);
        let mut parts = Vec::new();
        for word in words(&folded) {
            if !self.options.keeps_stop_words && self.definition.is_stop_word(&word) {
                continue;
            }
            // A number has no stem, and RediSearch does not expand negated words.
            let is_verbatim = is_quoted || self.options.is_verbatim || self.negations > 0 || number_of(&word).is_some();
            parts.push(self.text_query(Term::Exact { word: (*word).into(), is_verbatim })?);
        }
        Ok(every(parts))
    }

    /// Returns the query of a text between quotes.
    fn literal(&mut self, text: &str) -> QueryPart {
        if text.is_empty() {
            return self.empty().map(Some);
        }
        if words(&fold(text)).nth(1).is_some() {
            return Err(QueryError::Unsupported("phrases"));
        }
        self.words(text, true)
    }

    /// Returns the query of `""`.
    fn empty(&mut self) -> Result<Query, QueryError> {
        let fields = self.fields_where(|field| field.indexes_empty);
        if fields.is_empty() && self.scope.is_some() {
            return Err(QueryError::EmptyNotIndexed);
        }
        self.text_query_in(fields, Term::Exact { word: "".into(), is_verbatim: true })
    }

    fn fuzzy(&mut self) -> QueryPart {
        let mut distance_max = 0;
        while distance_max < FUZZY_DISTANCE_MAX && self.lexer.take("%") {
            distance_max += 1;
        }
        let word = self.pattern_text()?;
        for _ in 0..distance_max {
            self.require("%")?;
        }
        if word.is_empty() {
            return Ok(Some(Query::Nothing));
        }
        self.text_query(Term::Fuzzy { word: fold(&word).into(), distance_max }).map(Some)
    }
}
