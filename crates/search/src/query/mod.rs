//! The query language, dialect 2: text to a tree.
//!
//! ```text
//!   "@title:hello world | @price:[1 5]"
//!         --> lexer --> parser: terms, tags, ranges, attributes --> Query --> explain: FT.EXPLAIN's text
//!
//!     Any
//!      +-- Every
//!      |    +-- Text title "hello"
//!      |    +-- Text title, body "world"       words without a field look into all TEXT fields
//!      +-- Number price 1 to 5
//! ```
//!
//! - Dialects 3 and 4 have the grammar of 2. Dialect 1 is read as 2, so `@title:a b` looks for `b` in all TEXT fields,
//!   `-a b` negates `a` alone and `a b | c d` is the union of two intersections, which dialect 1 read otherwise.
//! - A tree is flat and small: no part is of its parent's kind, and [`DEPTH_MAX`] and [`PARTS_MAX`] bound it.
//! - Absent: phrases, `$slop` and `$inorder` (no positions are indexed), vectors and shapes. Each is refused.
//! - Departures from RediSearch: a hyphen between letters divides words and does not negate; a word that a parameter
//!   gives is divided too; punctuation in a tag needs no backslash, save `| { } $ * "`; `@n!=5` takes rows without `n`.

mod attributes;
mod error;
mod explain;
mod lexer;
mod parser;
mod ranges;
mod tags;
mod terms;

pub use error::QueryError;
pub(crate) use parser::every;
pub(crate) use ranges::range;

use crate::definition::Definition;
use crate::request::QuerySettings;
use parser::QueryParser;
use std::ops::Bound;

/// Parentheses, `-` and `~` within each other at most. RediSearch takes 84 parentheses and refuses 200.
pub const DEPTH_MAX: usize = 128;
/// Operators, terms, fields that each term looks into, and pieces of 64 bytes of each parameter used, at most: they
/// bound the memory of a tree.
pub const PARTS_MAX: usize = 65_536;
/// The maximum length of a pattern in `w'...'`, as it is written: it is compared with many words.
pub const WILDCARD_BYTES_MAX: usize = 1000;
/// The greatest distance of a fuzzy word.
const FUZZY_DISTANCE_MAX: u8 = 3;

/// The options of a query's command.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions<'a> {
    /// PARAMS, DIALECT, TIMEOUT.
    pub settings: &'a QuerySettings,
    /// True with VERBATIM: words match no others of the same stem.
    pub is_verbatim: bool,
    /// True with NOSTOPWORDS: stop words are looked for.
    pub keeps_stop_words: bool,
    /// INFIELDS: the TEXT fields that words look into, also those words that name fields; `None` for all. Unknown names
    /// are ignored.
    pub in_fields: Option<&'a [Box<[u8]>]>,
}

/// Parses a query over an index. O(text + parts).
pub fn parse(text: &[u8], definition: &Definition, options: &QueryOptions<'_>) -> Result<Query, QueryError> {
    let text = std::str::from_utf8(text).map_err(|_| QueryError::NotUtf8)?;
    QueryParser::new(text, definition, options).parse()
}

impl Query {
    /// Returns the text of FT.EXPLAIN for a query parsed with this definition.
    pub fn explain(&self, definition: &Definition) -> String {
        explain::explain(self, definition)
    }

    /// Returns the line of FT.EXPLAIN for an order by this field: whether a page is found by its position in the index,
    /// in O(log n + page), or all matching rows are looked at.
    pub fn explain_order(&self, definition: &Definition, field: usize) -> String {
        explain::explain_order(self, definition, field)
    }
}

/// A query, as it is evaluated. Fields are positions in [`crate::Definition::fields`].
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// `*`: every row.
    All,
    /// No row: only stop words, for one.
    Nothing,
    /// Rows that match every one; at least two.
    Every(Vec<Query>),
    /// Rows that match any; at least two.
    Any(Vec<Query>),
    /// Rows that do not match.
    Not(Box<Query>),
    /// Every row: without scores, an optional part excludes nothing.
    Optional(Box<Query>),
    /// Rows with a word in one of these TEXT fields (positions, ascending; never empty).
    Text {
        /// The fields.
        fields: Vec<usize>,
        /// The word or pattern, folded.
        term: Term,
    },
    /// Rows with a tag; it is folded unless the field is case-sensitive.
    Tag {
        /// A TAG field.
        field: usize,
        /// The tag or pattern.
        term: Term,
    },
    /// Rows with a number in a range.
    Number {
        /// A NUMERIC field.
        field: usize,
        /// The least number.
        from: Bound<f64>,
        /// The greatest number.
        to: Bound<f64>,
    },
    /// Rows within a circle.
    Circle {
        /// A GEO field.
        field: usize,
        /// Degrees east.
        longitude: f64,
        /// Degrees north.
        latitude: f64,
        /// Metres.
        radius_m: f64,
    },
    /// Rows whose hash has no such field.
    Missing {
        /// A field with INDEXMISSING.
        field: usize,
    },
}

/// A word of a text or a whole tag, or a pattern of them. No text of a query gives an empty prefix, suffix or infix.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Equal to this; in a text also words of the same stem, unless `is_verbatim` or its field has no stems.
    Exact {
        /// The word or tag.
        word: Box<str>,
        /// True to match no other words of the same stem.
        is_verbatim: bool,
    },
    /// `word*`: begins with this.
    Prefix(Box<str>),
    /// `*word`: ends with this.
    Suffix(Box<str>),
    /// `*word*`: the field's whole value contains this.
    Contains(Box<str>),
    /// `w'...'`: `?` is any character, `*` any characters, a backslash takes the next character as it stands.
    Wildcard(Box<str>),
    /// `%word%`: within this Levenshtein distance, 1 to 3.
    Fuzzy {
        /// The word.
        word: Box<str>,
        /// Insertions, removals and replacements at most.
        distance_max: u8,
    },
}
