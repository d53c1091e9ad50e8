//! A shard's hash table, in hash order, and the packed entry. Pure.
//!
//! An entry is one allocation with a key and everything about it (drawn in `entry.rs`); the table is a sorted array of
//! 8-byte slots with gaps (drawn in `table.rs`). It uses these parts of a hash:
//!
//! ```text
//! | shard 10 bits | tag 20 bits | 34 bits, unused |
//! 63              53            33
//! ```
//!
//! All hashes in one table share the shard's bits, so the tag alone places an entry. Hashes with the same tag are
//! distinguished by their keys; such entries are adjacent, in no guaranteed order, and [`Table::scan`] returns the same
//! 30-bit prefix for them. Hence a scan may stop only between prefixes ([`prefix_after`]).
//!
//! Why 20 bits, and no more, and no hasher: an address has 48 bits and our allocations are aligned to 16, which leaves
//! 20 bits of a slot. With 5 million keys in 1,024 tables one lookup in 200 compares with a wrong entry; with 1,000
//! million keys a failed lookup compares with one. So nothing ever needs the rest of the hash: growing and shrinking
//! read only slots, never an entry, and no entry stores its hash.

use base::Ms;

mod edit;
mod entry;
mod shape;
mod size;
mod table;

pub use edit::{EntryMut, OwnedEntry};
pub use entry::Entry;
pub use table::{Scan, Table};

/// Top bits of the hash that all entries of one table share (they number the shard).
pub const SHARED_BITS: u32 = 10;

/// Top bits of the hash that place an entry and that [`Table::scan`] returns: the shared ones and the tag.
pub const PREFIX_BITS: u32 = SHARED_BITS + TAG_BITS;

const TAG_BITS: u32 = 20;

/// Returns the least hash above all hashes with the prefix of `hash`; `None` after the last prefix.
///
/// A scan that has returned everything up to the prefix of `hash` continues here. The result may belong to the next
/// shard.
pub fn prefix_after(hash: u64) -> Option<u64> {
    let step = 1 << (u64::BITS - PREFIX_BITS);
    (hash & !(step - 1)).checked_add(step)
}

/// The data that a protocol keeps beside a string: a byte, plus four for non-zero flags and eight for a non-zero `cas`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The client's flags.
    pub flags: u32,
    /// The CAS number; 0 for none.
    pub cas: u64,
    /// Four signs. Readers may set one too: [`Entry::give_sign`].
    pub signs: u8,
}

/// The parts of an entry beside key and content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The key's expiry time; `None` if it never expires.
    pub expires_at_ms: Option<Ms>,
    /// The extras of a protocol, if any.
    pub extras: Option<Extras>,
}

impl From<Option<Ms>> for Fields {
    fn from(expires_at_ms: Option<Ms>) -> Self {
        Self { expires_at_ms, extras: None }
    }
}

/// A view of an entry's content.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a, V> {
    /// A string inside the entry.
    Bytes(&'a [u8]),
    /// An integer, stored in as few bytes as it needs.
    Int(i64),
    /// The root of a large value.
    Value(&'a V),
}

impl<V> Clone for Content<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Content<'_, V> {}

/// New content for an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewContent<'a, V> {
    /// A string, to be copied into the entry.
    Bytes(&'a [u8]),
    /// An integer.
    Int(i64),
    /// The root of a large value.
    Value(V),
}

/// Content taken out of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedContent<V> {
    /// A string.
    Bytes(Vec<u8>),
    /// An integer.
    Int(i64),
    /// The root of a large value.
    Value(V),
}
