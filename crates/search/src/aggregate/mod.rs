//! FT.AGGREGATE: a request, and the pipeline that it describes.
//!
//! ```text
//!   arguments --> AggregateRequest --names become slots--> Pipeline --rows in--> PipelineOutput --steps--> records
//! ```
//!
//! - the request: `request`, parsed by `request_parser` and `reducer_parser`
//! - stages and the fields that the source gives: `plan`, `stage`
//! - stages that keep rows: `group` with `reducer`, `quantile` and `hash_table`; `sorter`
//! - rows through the stages: `pipeline`
//!
//! Memory grows with groups, with rows that SORTBY keeps, and with records not taken. It is released bit by bit as
//! records come out. Dropping a pipeline before that releases all of it at once.

mod error;
mod group;
mod hash_table;
mod pipeline;
mod plan;
mod quantile;
mod reducer;
mod reducer_parser;
mod request;
mod request_parser;
mod row;
mod sorter;
mod stage;

pub use error::AggregateError;
pub use pipeline::{OutputStep, Pipeline, PipelineLimits, PipelineOutput};
pub use plan::{FieldReader, SourceField};
pub use request::{
    AggregateRequest, Arrangement, CursorOptions, LoadedField, PipelineStep, ReducerCall, ReducerFunction, SortKey,
};
pub use row::{AggregateRecord, SourceRow};
