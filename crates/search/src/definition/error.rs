//! Errors of declarations, in the words that RediSearch uses.

use crate::arguments::BadArgument;
use crate::expression::ExpressionError;

/// The error of FT.CREATE or FT.ALTER. Words of the client are shown up to a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// A value is missing or of the wrong form.
    #[error(transparent)]
    BadArgument(#[from] BadArgument),
    /// There is no such option.
    #[error("Unknown argument `{0}`")]
    UnknownArgument(Box<str>),
    /// RediSearch has it, Bobbin does not.
    #[error("{0} is not supported yet")]
    NotSupported(&'static str),
    /// `ON` is followed by neither HASH nor JSON.
    #[error("Invalid rule type: {0}")]
    UnknownKeyType(Box<str>),
    /// FILTER is followed by something else than an expression.
    #[error(transparent)]
    Filter(#[from] ExpressionError),
    /// There is no such language.
    #[error("Invalid language")]
    UnknownLanguage,
    /// The score is not a number from 0 to 1.
    #[error("Invalid score")]
    InvalidScore,
    /// `INDEXALL` is followed by neither ENABLE nor DISABLE.
    #[error("Invalid argument for `INDEXALL`, use ENABLE/DISABLE")]
    InvalidIndexAll,
    /// A stop word is not UTF-8.
    #[error("Invalid stop word `{0}`: it is not UTF-8")]
    InvalidStopWord(Box<str>),
    /// The command ends before SCHEMA.
    #[error("No schema found")]
    NoSchema,
    /// No field follows SCHEMA.
    #[error("Fields arguments are missing")]
    NoFields,
    /// Two fields have one name in queries.
    #[error("Duplicate field in schema - {0}")]
    DuplicateField(Box<str>),
    /// There are more than [`super::FIELDS_MAX`] fields.
    #[error("Schema is limited to {} fields", super::FIELDS_MAX)]
    TooManyFields,
    /// There are more than [`super::TEXT_FIELDS_MAX`] indexed TEXT fields.
    #[error("Too many TEXT fields in schema")]
    TooManyTextFields,
    /// The command ends before the type of a field.
    #[error("Field `{0}` does not have a type")]
    NoType(Box<str>),
    /// The type of a field is unknown.
    #[error("Invalid field type for field `{0}`")]
    UnknownType(Box<str>),
    /// The command ends before the value of an option of a field.
    #[error("{0} requires an argument")]
    NoValue(&'static str),
    /// A separator is not one byte.
    #[error("Tag separator must be a single character. Got `{0}`")]
    InvalidSeparator(Box<str>),
    /// A field has both NOINDEX and INDEXMISSING. The odd quotes are those of RediSearch.
    #[error("'Field cannot be defined with both `NOINDEX` and `INDEXMISSING` `{0}` '")]
    MissingNotIndexed(Box<str>),
    /// FT.ALTER is followed by something else than SCHEMA.
    #[error("ALTER must be followed by SCHEMA")]
    NoAlteredSchema,
    /// SCHEMA of FT.ALTER is followed by something else than ADD.
    #[error("Unknown action passed to ALTER SCHEMA")]
    UnknownAlteration,
    /// ADD of FT.ALTER is followed by no field.
    #[error("No fields provided")]
    NoAddedFields,
}
