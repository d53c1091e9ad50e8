//! Errors of requests, in the words that RediSearch uses.

use crate::arguments::BadArgument;
use crate::place::CircleError;

/// The error of the words beside a query. Words of the client are shown up to a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A value is missing or of the wrong form.
    #[error(transparent)]
    BadArgument(#[from] BadArgument),
    /// There is no such option.
    #[error("Unknown argument `{word}` at position {position} for <main>")]
    UnknownArgument {
        /// The word.
        word: Box<str>,
        /// Its position, 1 after the query.
        position: usize,
    },
    /// FT.DROPINDEX or FT.DEL ends with something else than DD.
    #[error("Unknown argument")]
    UnknownFlag,
    /// RediSearch has it, Bobbin does not.
    #[error("{0} is not supported yet")]
    NotSupported(&'static str),
    /// FILTER is followed by fewer than three words.
    #[error("FILTER requires 3 arguments")]
    ShortFilter,
    /// The lower end of FILTER is not a number.
    #[error("Bad lower range: {0}")]
    BadLowerEnd(Box<str>),
    /// The upper end of FILTER is not a number.
    #[error("Bad upper range: {0}")]
    BadUpperEnd(Box<str>),
    /// GEOFILTER is followed by fewer than five words.
    #[error("GEOFILTER requires 5 arguments")]
    ShortCircle,
    /// A unit is none of m, km, mi, ft.
    #[error("Unknown distance unit {0}")]
    UnknownUnit(Box<str>),
    /// A circle that is none.
    #[error(transparent)]
    Circle(#[from] CircleError),
    /// FILTER names a field that does not exist.
    #[error("Unknown Field '{0}'")]
    UnknownFilterField(Box<str>),
    /// FILTER names a field of another type.
    #[error("Field is not a numeric field, field: {0}")]
    FieldNotNumeric(Box<str>),
    /// GEOFILTER names a field that does not exist.
    #[error("Unknown Field, field: {0}")]
    UnknownCircleField(Box<str>),
    /// GEOFILTER names a field of another type.
    #[error("Field is not a geo field, field: {0}")]
    FieldNotGeo(Box<str>),
    /// FILTER and GEOFILTER together are more than a request may have.
    #[error("Request exceeds maximum of {0} filters")]
    TooManyFilters(usize),
    /// `AS` of RETURN is the last of its words.
    #[error("RETURN path AS name - must be accompanied with NAME")]
    NoReturnedName,
    /// RETURN names a field `AS`.
    #[error("Alias for RETURN cannot be `AS`")]
    ReturnedAsAs,
    /// No field follows SORTBY.
    #[error("Bad SORTBY arguments")]
    NoSortField,
    /// SORTBY occurs twice.
    #[error("Multiple SORTBY steps are not allowed")]
    SecondSort,
    /// LIMIT is followed by fewer than two words.
    #[error("LIMIT requires two arguments")]
    ShortLimit,
    /// LIMIT is followed by something else than two counts.
    #[error("LIMIT needs two numeric arguments")]
    BadLimit,
    /// LIMIT skips rows and takes none.
    #[error("The `offset` of the LIMIT must be 0 when `num` is 0")]
    OffsetOfNothing,
    /// A count or offset is too large.
    #[error("{word} exceeds maximum of {maximum}")]
    TooLarge {
        /// LIMIT, OFFSET or MAX.
        word: &'static str,
        /// The greatest that is allowed.
        maximum: u64,
    },
    /// No time follows TIMEOUT.
    #[error("Need argument for TIMEOUT")]
    NoTimeout,
    /// TIMEOUT is followed by something else than milliseconds.
    #[error("TIMEOUT requires a non negative integer")]
    BadTimeout,
    /// PARAMS is followed by an odd count, or 0.
    #[error("Parameters must be specified in PARAM VALUE pairs")]
    OddParameters,
    /// PARAMS occurs twice.
    #[error("Multiple PARAMS are not allowed. Parameters can be defined only once")]
    SecondParameters,
    /// PARAMS names a parameter twice.
    #[error("Duplicate parameter `{0}`")]
    DuplicateParameter(Box<str>),
    /// No word follows this option.
    #[error("Need an argument for {0}")]
    NoValue(&'static str),
    /// There is no such dialect.
    #[error("DIALECT requires a non negative integer >=1 and <= {}", super::DIALECT_MAX)]
    UnknownDialect,
    /// There is no such language.
    #[error("No such language")]
    UnknownLanguage,
    /// FORMAT EXPAND, which hashes do not have.
    #[error("EXPAND format is only supported with JSON")]
    ExpandedHash,
    /// There is no such format.
    #[error("FORMAT {0} is not supported")]
    UnknownFormat(Box<str>),
    /// The id of a cursor is not a number.
    #[error("Bad cursor ID")]
    BadCursor,
    /// COUNT of FT.CURSOR is not a number.
    #[error("Bad value for COUNT: `{0}`")]
    BadCount(Box<str>),
    /// FT.CURSOR is followed by neither READ nor DEL.
    #[error("Unknown subcommand")]
    UnknownSubcommand,
    /// The command ends too early.
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arity(&'static str),
}
