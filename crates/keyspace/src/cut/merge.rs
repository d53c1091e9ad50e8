//! Merges deltas: keeps the newest record of each key.
//!
//! Removals are kept, since the base below may have the key.

use crate::effect::{DecodeError, take_name};

/// Records of several deltas of one shard.
#[derive(Default)]
pub struct Merge {
    bytes: Vec<u8>,
    records: Vec<Piece>,
}

/// Offsets of a record: its start, the end of table and key, its end.
struct Piece {
    start: usize,
    name_end: usize,
    end: usize,
}

impl Merge {
    /// Adds a record; the oldest delta's records come first.
    ///
    /// # Errors
    /// If it does not begin with a name.
    pub fn add(&mut self, record: &[u8]) -> Result<(), DecodeError> {
        let mut input = record;
        take_name(&mut input)?;
        let start = self.bytes.len();
        let name_end = start + record.len() - input.len();
        self.bytes.extend_from_slice(record);
        self.records.push(Piece { start, name_end, end: self.bytes.len() });
        Ok(())
    }

    /// Returns the total bytes of the records added.
    pub fn bytes_count(&self) -> usize {
        self.bytes.len()
    }

    /// Passes the newest record of each key to `visit`, in name order. O(n log n).
    ///
    /// # Errors
    /// The first from `visit`.
    pub fn finish<E>(self, mut visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Self { bytes, mut records } = self;
        // A one-byte number precedes each name.
        let name = |piece: &Piece| &bytes[piece.start + 1..piece.name_end];
        records.sort_unstable_by(|one, other| name(one).cmp(name(other)).then(one.start.cmp(&other.start)));
        let newest = records.iter().zip(records.iter().skip(1).map(Some).chain([None]));
        let newest = newest.filter(|(piece, next)| next.is_none_or(|next| name(piece) != name(next)));
        newest.map(|(piece, _)| piece).try_for_each(|piece| visit(&bytes[piece.start..piece.end]))
    }
}
