//! A query over a clone of an index, in steps.
//!
//! ```text
//!   deadlines --> Expired: rows and fields that are due
//!                    |
//!   Query --Planner--'--> Plan --collect--> Scan: chunk by chunk, a bitmap of matching rows --> Search: page, count
//! ```
//!
//! A step is given the [`Work`] that it may do, so that a worker can do other things between two. Each loop asks what
//! is left, and keeps its place: in the deadlines, the query, a leaf's items, the nodes of a chunk, the rows of a
//! chunk.

mod bitmap;
mod chunk;
mod cursor;
mod expired;
mod leaf;
mod pattern;
mod plan;
mod planner;
mod scan;
mod search;
mod tag_search;
mod work;

pub(crate) use bitmap::Bitmap;
pub use scan::{Scan, ScanStep, ScannedRow};
pub use search::{Found, Search, SearchOrder, SearchPage};
pub use work::Work;
