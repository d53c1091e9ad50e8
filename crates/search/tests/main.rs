//! Tests of the crate, in one binary.

mod aggregate_requests;
mod aggregations;
mod definitions;
mod descriptions;
mod expressions;
mod hash_rows;
mod law;
mod pipelines;
mod query;
mod requests;
