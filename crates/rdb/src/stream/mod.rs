//! Streams: nodes of entries, metadata, groups with their pending deliveries and consumers.
//!
//! ```text
//! nodes        count, then of each: id of the first entry : 16 | a string that is a listpack
//! itself       entries | last id | first id | greatest id deleted | ever added          ids are two lengths here
//! groups       count, then of each: name | last id | entries read
//!              pending: count, id : 16, delivered : 8, deliveries
//!              consumers: count, name, seen : 8, active : 8, owned: count, id : 16
//!
//! listpack     entries | gone | names | name ... | 0        of the first entry
//!              flags | milliseconds on | sequence on | names | name, value ... | how many items that is
//!                                                    only values, where the names are the first entry's
//! ```

mod read;
mod write;

pub(crate) use read::StreamReading;
pub(crate) use write::Writing;

/// Flag of a listpack entry: it was deleted.
const GONE: i64 = 1;
/// Flag: it has the names of the first entry.
const SAME_NAMES: i64 = 2;
/// Means "unknown" for a number of entries read, and "never" for a time.
const UNKNOWN: u64 = u64::MAX;
