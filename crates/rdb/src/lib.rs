//! The DUMP format as Redis writes and reads it, to and from values; and the FUNCTION DUMP format.
//!
//! ```text
//! payload   | type : u8 | the value, as its type has it | version : u16 | CRC-64 of all before : u64 |    little-endian
//!
//! value --Dumping, in steps--> payload          some 50 µs a step, so that nobody waits for a big value
//! payload --Restoring, in steps--> value
//! ```
//!
//! We write version 10, which Redis 7.0 and later read; only a hash with field deadlines needs version 12. We read all
//! versions back to the first. Every length is checked against the bytes available before it is trusted. Layout of each
//! type: `docs/formats/dump.md`.

#![forbid(unsafe_code)]

mod build;
mod chunks;
mod dump;
mod feed;
mod footer;
mod libraries;
mod lzf;
mod number;
mod packed;
mod restore;
mod stream;
mod tagged;

pub use dump::Dumping;
pub use libraries::{LibrariesDump, LibrariesFault, LibrariesReading, dump_libraries, restore_libraries};
pub use restore::Restoring;

use values::Value;

/// Why a payload is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A later version, or a wrong checksum.
    #[error("DUMP payload version or checksum are wrong")]
    Footer,
    /// Not a valid value.
    #[error("Bad data format")]
    Malformed,
}

/// The type byte of a value. Numbers missing here belong to modules or are unused.
mod types {
    pub(crate) const TEXT: u8 = 0;
    pub(crate) const LIST: u8 = 1;
    pub(crate) const SET: u8 = 2;
    pub(crate) const SORTED_SPELLED: u8 = 3;
    pub(crate) const HASH: u8 = 4;
    pub(crate) const SORTED: u8 = 5;
    pub(crate) const HASH_ZIPMAP: u8 = 9;
    pub(crate) const LIST_ZIPLIST: u8 = 10;
    pub(crate) const SET_INTSET: u8 = 11;
    pub(crate) const SORTED_ZIPLIST: u8 = 12;
    pub(crate) const HASH_ZIPLIST: u8 = 13;
    pub(crate) const LIST_OF_ZIPLISTS: u8 = 14;
    pub(crate) const STREAM_1: u8 = 15;
    pub(crate) const HASH_LISTPACK: u8 = 16;
    pub(crate) const SORTED_LISTPACK: u8 = 17;
    pub(crate) const LIST_OF_NODES: u8 = 18;
    pub(crate) const STREAM_2: u8 = 19;
    pub(crate) const SET_LISTPACK: u8 = 20;
    pub(crate) const STREAM_3: u8 = 21;
    pub(crate) const HASH_TIMED: u8 = 24;
    pub(crate) const HASH_TIMED_LISTPACK: u8 = 25;
    /// A tagged list, which Redis does not know.
    pub(crate) const TAGGED: u8 = 200;
    /// A function library rather than a value.
    pub(crate) const LIBRARY: u8 = 245;
}

/// Dumps a value at once. O(n).
pub fn dump(value: &Value) -> Vec<u8> {
    let mut dumping = Dumping::new(value.clone());
    while !dumping.step() {}
    let mut payload = Vec::with_capacity(dumping.bytes_count() as usize);
    while let Some(part) = dumping.take() {
        payload.extend_from_slice(&part);
    }
    payload
}

/// Restores a payload at once. O(n), for values indexed by hash or score O(n log n).
///
/// # Errors
/// If it is invalid.
pub fn restore(payload: &[u8]) -> Result<Value, Fault> {
    let mut restoring = Restoring::of(payload);
    while !restoring.step() {}
    restoring.result()
}

/// Appends the footer to type and value.
pub fn seal(mut body: Vec<u8>) -> Vec<u8> {
    let mut checksum = footer::Checksum::default();
    checksum.add(&body);
    body.extend_from_slice(&checksum.footer(dump::VERSION));
    body
}
