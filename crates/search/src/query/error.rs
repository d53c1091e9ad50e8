//! Errors of queries, in the words of RediSearch where it has published them.

use crate::place::CircleError;
use thiserror::Error;

/// The reason why a text is no query.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum QueryError {
    /// No query has this here.
    #[error("Syntax error at offset {offset} near {near}")]
    Syntax {
        /// Bytes before the fault.
        offset: usize,
        /// The word there, or the last before it.
        near: Box<str>,
    },
    /// The definition has no such field, or has it with NOINDEX.
    #[error("Unknown field at offset {offset} near {name}")]
    UnknownField {
        /// Bytes before it.
        offset: usize,
        /// Its name.
        name: Box<str>,
    },
    /// The field is of another type.
    #[error("Expected a {expected} field at offset {offset} near {name}")]
    FieldType {
        /// The type that is asked for.
        expected: &'static str,
        /// Bytes before the field.
        offset: usize,
        /// Its name.
        name: Box<str>,
    },
    /// PARAMS has no such name.
    #[error("No such parameter `{0}`")]
    NoParameter(Box<str>),
    /// A parameter stands for a number and is none.
    #[error("Invalid numeric value ({value}) for parameter `{name}`")]
    ParameterNumber {
        /// Its name.
        name: Box<str>,
        /// Its value.
        value: Box<str>,
    },
    /// A unit other than `m`, `km`, `ft` and `mi`.
    #[error("Invalid GeoFilter unit")]
    GeoUnit,
    /// A circle that is none.
    #[error(transparent)]
    Circle(#[from] CircleError),
    /// `ismissing` of a field without INDEXMISSING.
    #[error("'ismissing' requires field '{0}' to be defined with 'INDEXMISSING'")]
    MissingNotIndexed(Box<str>),
    /// An empty value of a field without INDEXEMPTY.
    #[error("Use `INDEXEMPTY` in field creation in order to index and query for empty strings")]
    EmptyNotIndexed,
    /// An attribute that does not exist.
    #[error("Invalid attribute {0}")]
    Attribute(Box<str>),
    /// An attribute's value that it does not take.
    #[error("Invalid value ({value}) for `{name}`")]
    AttributeValue {
        /// The attribute.
        name: &'static str,
        /// The value.
        value: Box<str>,
    },
    /// `$phonetic: true`: no field is declared with PHONETIC.
    #[error("field does not support phonetics")]
    Phonetic,
    /// Parentheses, `-` and `~` more than [`super::DEPTH_MAX`] deep.
    #[error("Parser stack overflow.")]
    TooDeep,
    /// More than [`super::PARTS_MAX`] parts.
    #[error("Query has more than {} parts", super::PARTS_MAX)]
    TooLong,
    /// A pattern in `w'...'` has more than [`super::WILDCARD_BYTES_MAX`] bytes.
    #[error("Wildcard pattern exceeds maximum of {} bytes", super::WILDCARD_BYTES_MAX)]
    LongWildcard,
    /// The query or a parameter in it is not UTF-8.
    #[error("Query is not valid UTF-8")]
    NotUtf8,
    /// Something of RediSearch that is left out.
    #[error("{0} are not supported yet")]
    Unsupported(&'static str),
}
