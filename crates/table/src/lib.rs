//! A shard's hash table, in hash order, and the packed entry. Pure.
//!
//! An entry is one allocation that holds everything about a key (drawn in `entry.rs`); the table is a sorted
//! array of 8-byte slots with gaps (drawn in `table.rs`). What of a hash matters here:
//!
//! ```text
//! | shard 10 bits | tag 20 bits | 34 bits, unused |
//! 63              53            33
//! ```
//!
//! All hashes in one table share the shard's bits, so the tag alone places an entry. Two hashes of one tag are
//! told apart by their keys; such entries lie side by side, in no promised order, and [`Table::scan`] gives
//! them the same 30-bit prefix. Hence whoever scans stops only between prefixes ([`prefix_after`]).
//!
//! Why 20 bits, and no more, and no hasher: an address has 48 bits and an allocation of ours is aligned to 16,
//! which leaves 20 bits of a slot. At 5 million keys in 1,024 tables one lookup in 200 compares with a wrong
//! entry; at 1,000 million keys a lookup in vain compares with one. So nothing ever needs the rest of the
//! hash: growing and shrinking read slots alone, never an entry, and no entry stores its hash.

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

/// Top bits of the hash that place an entry and that [`Table::scan`] gives back: the shared ones and the tag.
pub const PREFIX_BITS: u32 = SHARED_BITS + TAG_BITS;

const TAG_BITS: u32 = 20;

/// The least hash behind every hash that has the prefix of `hash`; `None` behind the last of all.
///
/// This is where a scan continues that has seen everything up to the prefix of `hash`. The result may belong
/// to the next shard.
pub fn prefix_after(hash: u64) -> Option<u64> {
    let step = 1 << (u64::BITS - PREFIX_BITS);
    (hash & !(step - 1)).checked_add(step)
}

/// What a protocol keeps beside a text, in an entry that has such. They take a byte, four for flags and eight for a cas
/// that are not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// A client's own.
    pub flags: u32,
    /// The number of a version; 0 for none.
    pub cas: u64,
    /// Four signs. Readers may give one too: [`Entry::give_sign`].
    pub signs: u8,
}

/// What an entry has beside key and content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// When the key expires; `None` is never.
    pub expires_at_ms: Option<Ms>,
    /// What a protocol keeps there, if anything.
    pub extras: Option<Extras>,
}

impl From<Option<Ms>> for Fields {
    fn from(expires_at_ms: Option<Ms>) -> Self {
        Self { expires_at_ms, extras: None }
    }
}

/// What an entry holds, to be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a, V> {
    /// A text inside the entry.
    Bytes(&'a [u8]),
    /// An integer, in as few bytes as it needs.
    Int(i64),
    /// The root of a big value.
    Value(&'a V),
}

impl<V> Clone for Content<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Content<'_, V> {}

/// What an entry shall hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewContent<'a, V> {
    /// A text, to be copied into the entry.
    Bytes(&'a [u8]),
    /// An integer.
    Int(i64),
    /// The root of a big value.
    Value(V),
}

/// What an entry held, taken out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedContent<V> {
    /// A text.
    Bytes(Vec<u8>),
    /// An integer.
    Int(i64),
    /// The root of a big value.
    Value(V),
}
