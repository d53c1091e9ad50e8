//! Errors of requests, in RediSearch's words where they are published.

use crate::arguments::BadArgument;
use crate::expression::ExpressionError;
use crate::request::RequestError;
use crate::text::shown;
use thiserror::Error;

/// The error of the arguments of FT.AGGREGATE, or of how its steps fit together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AggregateError {
    /// An error that other requests may have, too.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// LOAD is followed by neither a number nor `*`.
    #[error("Bad arguments for LOAD: Expected number of fields or `*`")]
    LoadCount,
    /// LOAD follows GROUPBY.
    #[error("LOAD cannot be applied after projectors or reducers")]
    LoadAfterGroup,
    /// A property of GROUPBY lacks its `@`.
    #[error("Bad arguments for GROUPBY: Unknown property `{0}`. Did you mean `@{0}`?")]
    GroupWithoutAt(Box<str>),
    /// Two properties or results of one GROUPBY have one name.
    #[error("Property `{0}` specified more than once")]
    Duplicate(Box<str>),
    /// A reducer that does not exist.
    #[error("No such reducer: {0}")]
    UnknownReducer(Box<str>),
    /// COUNT has arguments.
    #[error("Count accepts 0 values only")]
    CountArguments,
    /// A reducer has arguments that it does not take.
    #[error("Bad arguments for {0}: Unknown argument")]
    ReducerArguments(&'static str),
    /// QUANTILE lies outside 0 and 1.
    #[error("Percentage must be between 0.0 and 1.0")]
    Quantile,
    /// A scorer that does not exist.
    #[error("No such scorer {0}")]
    UnknownScorer(Box<str>),
    /// RANDOM_SAMPLE asks for too many.
    #[error("Sample size too large")]
    SampleSize,
    /// AS has no name.
    #[error("AS needs argument")]
    NoName,
    /// A word after a field of SORTBY is no direction.
    #[error("MISSING ASC or DESC after sort field ({0})")]
    SortDirection(Box<str>),
    /// SORTBY has too many fields.
    #[error("Cannot sort by more than {0} fields")]
    SortFields(usize),
    /// Two SORTBY without another step between them.
    #[error("Multiple SORTBY steps are not allowed. Sort multiple fields in a single step")]
    SortTwice,
    /// A part of FT.SEARCH.
    #[error("{0} is not supported on FT.AGGREGATE")]
    SearchOnly(&'static str),
    /// More steps or reducers than a request may have.
    #[error("Request exceeds maximum of {0} steps and reducers")]
    TooManySteps(usize),
    /// An expression of APPLY or FILTER.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// APPLY or FILTER reads a property that neither the index nor a step before it has.
    #[error("Property `{0}` not loaded nor in pipeline")]
    NotInPipeline(Box<str>),
    /// SORTBY reads a property that neither the index nor a step before it has.
    #[error("Property `{0}` not loaded nor in schema")]
    NotInSchema(Box<str>),
    /// GROUPBY reads a property that neither the index nor a step before it has.
    #[error("No such property `{0}`")]
    NoProperty(Box<str>),
    /// A reducer reads a property that neither the index nor a step before it has.
    #[error("Property `{0}` not present in document or pipeline")]
    NotInDocument(Box<str>),
}

impl From<BadArgument> for AggregateError {
    fn from(error: BadArgument) -> Self {
        Self::Request(error.into())
    }
}

impl AggregateError {
    pub(super) fn duplicate(name: &[u8]) -> Self {
        Self::Duplicate(shown(name))
    }
}
