//! Indexes over hashes: rows are found by what is in their fields. Pure.
//!
//! ```text
//!   FT.CREATE --> Definition               hash --> Row --> Index: row store, dictionary, postings, numbers
//!                     |                                       |
//!   query text --> parse_query --> Query --> Scan or Search over a clone of the index --> rows, counted, in order
//!                     ^                                       |
//!        SearchRequest, AggregateRequest --> Pipeline: GROUPBY, APPLY, FILTER, SORTBY, LIMIT --> records
//! ```
//!
//! - the words of a command, and their errors: `arguments`
//! - the declaration of an index and of its fields: `definition`
//! - options of FT.SEARCH and other commands beside the query: `request`
//! - query language (dialect 2): `query`
//! - words, folding, stems: `text`
//! - the structures of an index, all copy-on-write: `index`
//! - running a query over a clone of an index, in steps: `evaluate`
//! - places on Earth and circles: `place`
//! - values of expressions and records: `value`
//! - expressions of APPLY and FILTER: `expression`
//! - requests and pipelines of FT.AGGREGATE: `aggregate`
//! - FT.INFO: `describe`
//!
//! This crate has no locks, clocks, files or global state, and knows no key semantics beyond a key's name.

#![forbid(unsafe_code)]

mod aggregate;
mod arguments;
mod definition;
mod describe;
mod evaluate;
mod expression;
mod index;
mod place;
mod query;
mod request;
mod text;
mod value;

pub use aggregate::{
    AggregateError, AggregateRecord, AggregateRequest, Arrangement, CursorOptions, FieldReader, LoadedField,
    OutputStep, Pipeline, PipelineLimits, PipelineOutput, PipelineStep, ReducerCall, ReducerFunction, SortKey,
    SourceField, SourceRow,
};
pub use arguments::{BadArgument, BadArgumentReason};
pub use definition::{
    Definition, DefinitionError, FIELDS_MAX, Field, FieldType, Language, NotDefinition, RowFilter, TEXT_FIELDS_MAX,
};
pub use describe::{CursorFigures, FailureFigures, IndexFigures, Reply};
pub use evaluate::{Found, Scan, ScanStep, ScannedRow, Search, SearchOrder, SearchPage, Work};
pub use expression::{EvaluationError, Expression, ExpressionError};
pub use index::{Index, IndexSize, Row, RowError, RowField, RowNumber};
pub use place::CircleError;
pub use query::{
    DEPTH_MAX as QUERY_DEPTH_MAX, PARTS_MAX as QUERY_PARTS_MAX, Query, QueryError, QueryOptions, Term,
    WILDCARD_BYTES_MAX as QUERY_WILDCARD_BYTES_MAX, parse as parse_query,
};
pub use request::{
    CircleFilter, CursorRequest, DeleteByRequest, NumberFilter, QuerySettings, RESULTS_MAX, RequestError,
    ReturnedField, SearchRequest, SortField, deletes_hashes,
};
pub use text::{fold, stem, unescape, words};
pub use value::{Value, parse_number};
