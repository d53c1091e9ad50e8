//! Options that every command with a query has: PARAMS, DIALECT, TIMEOUT.

use super::RequestError;
use crate::arguments::{ArgumentCursor, is_word, parse_count};
use crate::query::QueryOptions;
use crate::text::shown;
use std::collections::BTreeMap;

/// The greatest dialect.
pub(super) const DIALECT_MAX: u8 = 4;

/// Options about the text of a query, and about patience.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuerySettings {
    /// Values that `$name` in a query stands for, by name.
    pub parameters: BTreeMap<Box<[u8]>, Box<[u8]>>,
    /// The dialect, 1 to 4; 2 if none is given.
    pub dialect: u8,
    /// Milliseconds after which it fails; 0 for never, `None` for the server's.
    pub timeout_ms: Option<u64>,
}

impl Default for QuerySettings {
    fn default() -> Self {
        Self { parameters: BTreeMap::new(), dialect: 2, timeout_ms: None }
    }
}

impl QuerySettings {
    /// Returns the options of a query that has no others.
    pub fn query_options(&self) -> QueryOptions<'_> {
        QueryOptions { settings: self, is_verbatim: false, keeps_stop_words: false, in_fields: None }
    }

    /// Reads the values of an option. Returns false and reads nothing if it is none of these.
    pub(crate) fn take(&mut self, option: &[u8], cursor: &mut ArgumentCursor<'_>) -> Result<bool, RequestError> {
        if is_word(option, "PARAMS") {
            self.take_parameters(cursor)?;
        } else if is_word(option, "DIALECT") {
            let word = cursor.next_word().ok_or(RequestError::NoValue("DIALECT"))?;
            let dialect = parse_count(word).and_then(|number| u8::try_from(number).ok());
            let dialect = dialect.filter(|dialect| (1..=DIALECT_MAX).contains(dialect));
            self.dialect = dialect.ok_or(RequestError::UnknownDialect)?;
        } else if is_word(option, "TIMEOUT") {
            let word = cursor.next_word().ok_or(RequestError::NoTimeout)?;
            self.timeout_ms = Some(parse_count(word).ok_or(RequestError::BadTimeout)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn take_parameters(&mut self, cursor: &mut ArgumentCursor<'_>) -> Result<(), RequestError> {
        let words = cursor.list("PARAMS")?;
        if !self.parameters.is_empty() {
            return Err(RequestError::SecondParameters);
        }
        let (pairs, []) = words.as_chunks::<2>() else { return Err(RequestError::OddParameters) };
        if pairs.is_empty() {
            return Err(RequestError::OddParameters);
        }
        for [name, value] in pairs {
            if self.parameters.insert((*name).into(), (*value).into()).is_some() {
                return Err(RequestError::DuplicateParameter(shown(name)));
            }
        }
        Ok(())
    }
}
