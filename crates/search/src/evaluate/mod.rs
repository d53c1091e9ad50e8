//! A query over a clone of an index, in steps.
//!
//! ```text
//!   Query --Plan::of--> Plan --collect--> Scan: chunk by chunk, a bitmap of matching rows --> Search: page, count
//!                                           |
//!                rows of which something is due are left out of the bitmaps and looked at one by one
//! ```
//!
//! A step takes the work that it may do, in units of about 100 ns, so that a worker can do other things between two.

mod bitmap;
mod direct;
mod leaf;
mod pattern;
mod plan;
mod scan;
mod search;

pub(crate) use bitmap::Bitmap;
pub use scan::{Scan, ScanStep, ScannedRow};
pub use search::{Found, Search, SearchOrder, SearchPage};
