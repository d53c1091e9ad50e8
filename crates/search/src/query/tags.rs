//! Tags of a field: `{ a | b c | "d|e" | pre* | *suf | *mid* | w'p?t*' | $parameter }`.
//!
//! A tag without quotes ends before `|` and `}` and keeps its inner spaces; within quotes only the quote needs its
//! backslash.

use super::error::QueryError;
use super::parser::{QueryParser, any};
use super::{Query, Term};
use crate::definition::FieldType;
use crate::text::{fold, unescape};

impl QueryParser<'_> {
    /// Parses the braces after `@name:`.
    pub(super) fn tags(&mut self, name: &str, offset: usize) -> Result<Query, QueryError> {
        self.require("{")?;
        let field = self.find_of(name, offset, "TAG", |kind| matches!(kind, FieldType::Tag { .. }))?;
        let mut parts = Vec::new();
        loop {
            self.lexer.skip_spaces();
            parts.push(self.tag(field)?);
            self.lexer.skip_spaces();
            if !self.lexer.take("|") {
                break;
            }
        }
        self.require("}")?;
        Ok(any(parts).unwrap_or(Query::Nothing))
    }

    fn tag(&mut self, field: usize) -> Result<Query, QueryError> {
        self.count(1)?;
        if self.is_wildcard() {
            let pattern = self.wildcard_pattern()?;
            return Ok(Query::Tag { field, term: Term::Wildcard(self.tag_text(field, &pattern)) });
        }
        let has_start = self.lexer.take("*");
        if self.is_wildcard() {
            return Err(self.lexer.error());
        }
        let text = match self.parameter()? {
            Some((_, value)) => unescape(value).into_owned(),
            None if matches!(self.lexer.peek(), Some('"' | '\'')) => {
                self.lexer.quoted().ok_or_else(|| self.lexer.error())?
            }
            None => self.lexer.tag().ok_or_else(|| self.lexer.error())?,
        };
        let has_end = self.lexer.take("*");
        let is_empty = text.is_empty();
        let word = self.tag_text(field, &text);
        let term = match (has_start, has_end) {
            (false, false) if is_empty && !self.definition.fields[field].indexes_empty => {
                return Err(QueryError::EmptyNotIndexed);
            }
            (false, false) => Term::Exact { word, is_verbatim: true },
            _ if is_empty => return Ok(Query::Nothing),
            (false, true) => Term::Prefix(word),
            (true, false) => Term::Suffix(word),
            (true, true) => Term::Contains(word),
        };
        Ok(Query::Tag { field, term })
    }

    /// Folds a text as a field's tags are.
    fn tag_text(&self, field: usize, text: &str) -> Box<str> {
        match self.definition.fields[field].field_type {
            FieldType::Tag { is_case_sensitive: true, .. } => text.into(),
            _ => fold(text).into(),
        }
    }
}
