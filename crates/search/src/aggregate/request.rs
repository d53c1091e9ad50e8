//! The request of FT.AGGREGATE.

use super::error::AggregateError;
use super::request_parser::RequestParser;
use crate::arguments::ArgumentCursor;
use crate::expression::Expression;
use crate::query::QueryOptions;
use crate::request::QuerySettings;

/// The most steps and reducers of a request together.
pub(super) const STEPS_MAX: usize = 256;

/// The most fields of one SORTBY.
pub(super) const SORT_FIELDS_MAX: usize = 8;

/// The most records that RANDOM_SAMPLE keeps of a group.
pub(super) const SAMPLE_MAX: usize = 1000;

/// A request: everything that follows the query.
#[derive(Clone, Debug, Default)]
pub struct AggregateRequest {
    /// True with VERBATIM: words of the query are not stemmed.
    pub is_verbatim: bool,
    /// True with WITHCOUNT: every match counts, also beyond LIMIT.
    pub is_counted: bool,
    /// The steps, in order.
    pub steps: Vec<PipelineStep>,
    /// WITHCURSOR.
    pub cursor: Option<CursorOptions>,
    /// PARAMS, DIALECT, TIMEOUT.
    pub settings: QuerySettings,
}

/// The options of WITHCURSOR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorOptions {
    /// COUNT: the records of one reply.
    pub records_count: Option<u64>,
    /// MAXIDLE.
    pub idle_ms: Option<u64>,
}

/// A step of the pipeline.
#[derive(Clone, Debug)]
pub enum PipelineStep {
    /// LOAD of named fields.
    Load(Vec<LoadedField>),
    /// LOAD *
    LoadAll,
    /// GROUPBY with its reducers.
    Group {
        /// Names of properties.
        keys: Vec<Box<[u8]>>,
        /// Its reducers.
        reducers: Vec<ReducerCall>,
    },
    /// SORTBY, LIMIT, or both side by side, in whatever order.
    Arrange(Arrangement),
    /// APPLY
    Apply {
        /// The computation.
        expression: Expression,
        /// The name of the result.
        name: Box<[u8]>,
    },
    /// FILTER
    Filter(Expression),
}

/// A field that LOAD names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedField {
    /// Its name in the index or the hash.
    pub identifier: Box<[u8]>,
    /// Its name in the pipeline.
    pub name: Box<[u8]>,
}

/// SORTBY and LIMIT side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// SORTBY.
    pub sort: Option<Vec<SortKey>>,
    /// MAX of SORTBY; 0 is none.
    pub records_max: u64,
    /// LIMIT: offset and count.
    pub limit: Option<(u64, u64)>,
}

/// A field of SORTBY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Its name.
    pub name: Box<[u8]>,
    /// True with DESC.
    pub is_descending: bool,
}

/// REDUCE
#[derive(Clone, Debug, PartialEq)]
pub struct ReducerCall {
    /// Its function.
    pub function: ReducerFunction,
    /// The property that it reads.
    pub property: Option<Box<[u8]>>,
    /// The name of the result.
    pub name: Box<[u8]>,
}

/// The function of a reducer.
#[derive(Clone, Debug, PartialEq)]
pub enum ReducerFunction {
    /// COUNT: the records.
    Count,
    /// COUNT_DISTINCT and COUNT_DISTINCTISH: the different values, exactly.
    CountDistinct,
    /// SUM
    Sum,
    /// MIN
    Minimum,
    /// MAX
    Maximum,
    /// AVG
    Average,
    /// STDDEV: the standard deviation of a sample.
    Deviation,
    /// QUANTILE: the smallest value that this share of the values does not exceed.
    Quantile(f64),
    /// TOLIST: the different values.
    ToList,
    /// FIRST_VALUE
    FirstValue(Option<SortKey>),
    /// RANDOM_SAMPLE of so many values.
    RandomSample(usize),
}

impl AggregateRequest {
    /// Parses the words after the query. O(arguments, and lengths of expressions).
    ///
    /// # Errors
    /// Returns the first thing that is wrong.
    pub fn parse(arguments: &[&[u8]]) -> Result<Self, AggregateError> {
        RequestParser::new(ArgumentCursor::new(arguments)).request()
    }

    /// Returns the options that the query is parsed with.
    pub fn query_options(&self) -> QueryOptions<'_> {
        QueryOptions { is_verbatim: self.is_verbatim, ..self.settings.query_options() }
    }
}
