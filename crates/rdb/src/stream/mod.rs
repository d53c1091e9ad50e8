//! Streams: nodes of entries, what the stream knows of itself, groups with what is pending and for whom.
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

/// Of an entry in a listpack: it was deleted.
const GONE: i64 = 1;
/// It has the names of the first one.
const SAME_NAMES: i64 = 2;
/// What stands for "not known" where a number of entries read is told, and for "never" where a time is.
const UNKNOWN: u64 = u64::MAX;
