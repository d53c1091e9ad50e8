//! Options of commands beside the name of an index and the text of a query.
//!
//! ```text
//!   FT.SEARCH idx "@title:word"   RETURN 1 title SORTBY price DESC LIMIT 0 20 ...
//!                                 | SearchRequest::parse
//!   FT.CURSOR   READ idx 7 COUNT 100
//!               | CursorRequest::parse
//! ```
//!
//! - options of every query: `settings`
//! - FT.SEARCH, FT.EXPLAIN, FT.EXPLAINCLI, which take the same: `search`; FILTER and GEOFILTER as a query: `filters`
//! - FT.CURSOR, FT.DELETEBY, and the DD of FT.DROPINDEX and FT.DEL: here
//! - FT.AGGREGATE: `aggregate::request`, with the settings and errors of this module

mod error;
mod filters;
mod search;
mod settings;

pub use error::RequestError;
pub use search::{CircleFilter, NumberFilter, RESULTS_MAX, ReturnedField, SearchRequest, SortField};
pub use settings::QuerySettings;

use crate::arguments::{ArgumentCursor, is_word, parse_count, parse_integer};
use crate::text::shown;
use settings::DIALECT_MAX;

/// A request of FT.CURSOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CursorRequest {
    /// The next records.
    Read {
        /// The index.
        index: Box<[u8]>,
        /// The cursor.
        cursor: u64,
        /// The number of records, as many as there are if COUNT is negative; `None` for the cursor's own number.
        count: Option<u64>,
    },
    /// Its end.
    Delete {
        /// The index.
        index: Box<[u8]>,
        /// The cursor.
        cursor: u64,
    },
}

impl CursorRequest {
    /// Parses the words after FT.CURSOR.
    pub fn parse(arguments: &[&[u8]]) -> Result<Self, RequestError> {
        let mut cursor = ArgumentCursor::new(arguments);
        let mut next = || cursor.next_word().ok_or(RequestError::Arity("FT.CURSOR"));
        let (action, index, id) = (next()?, Box::from(next()?), next()?);
        let id = str::from_utf8(id).ok().and_then(|id| id.parse().ok()).ok_or(RequestError::BadCursor)?;
        if is_word(action, "DEL") {
            return Ok(Self::Delete { index, cursor: id });
        }
        if !is_word(action, "READ") {
            return Err(RequestError::UnknownSubcommand);
        }
        let mut count = None;
        if let Some(option) = cursor.next_word() {
            if !is_word(option, "COUNT") {
                return Err(unknown(option, &cursor));
            }
            let word = cursor.value("COUNT")?;
            let number = parse_integer(word).ok_or_else(|| RequestError::BadCount(shown(word)))?;
            count = (number != 0).then(|| u64::try_from(number).unwrap_or(u64::MAX));
        }
        Ok(Self::Read { index, cursor: id, count })
    }
}

/// The options of FT.DELETEBY.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteByRequest {
    /// PARAMS, DIALECT, TIMEOUT.
    pub settings: QuerySettings,
}

impl DeleteByRequest {
    /// Parses the words after the query.
    pub fn parse(arguments: &[&[u8]]) -> Result<Self, RequestError> {
        let mut cursor = ArgumentCursor::new(arguments);
        let mut request = Self::default();
        while let Some(option) = cursor.next_word() {
            if !request.settings.take(option, &mut cursor)? {
                return Err(unknown(option, &cursor));
            }
        }
        Ok(request)
    }
}

/// Parses the last words of FT.DROPINDEX and FT.DEL. Returns true with DD: hashes are deleted too.
pub fn deletes_hashes(arguments: &[&[u8]]) -> Result<bool, RequestError> {
    match arguments {
        [] => Ok(false),
        [word] if is_word(word, "DD") => Ok(true),
        _ => Err(RequestError::UnknownFlag),
    }
}

/// Reads the two counts of LIMIT: rows that are skipped, and rows that are returned at most.
pub(crate) fn take_limit(cursor: &mut ArgumentCursor<'_>) -> Result<(u64, u64), RequestError> {
    let mut next = || cursor.next_word().ok_or(RequestError::ShortLimit);
    let (offset, count) = (next()?, next()?);
    let limit = parse_count(offset).zip(parse_count(count)).ok_or(RequestError::BadLimit)?;
    if limit.0 > 0 && limit.1 == 0 { Err(RequestError::OffsetOfNothing) } else { Ok(limit) }
}

/// Returns the error of a count or offset that is too large.
pub(crate) fn check_size(word: &'static str, size: u64, maximum: u64) -> Result<(), RequestError> {
    if size > maximum { Err(RequestError::TooLarge { word, maximum }) } else { Ok(()) }
}

/// Returns the error of a word just read that is no option.
pub(crate) fn unknown(word: &[u8], cursor: &ArgumentCursor<'_>) -> RequestError {
    RequestError::UnknownArgument { word: shown(word), position: cursor.read_count() }
}
