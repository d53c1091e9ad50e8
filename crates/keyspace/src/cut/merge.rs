//! Joining deltas: of each key the newest record, whatever it is.
//!
//! A removal is kept, since the base below may have the key.

use crate::effect::{DecodeError, take_name};

/// Records of some deltas of one shard.
#[derive(Default)]
pub struct Merge {
    bytes: Vec<u8>,
    records: Vec<Piece>,
}

/// Where a record begins, where its table and key end, where it ends.
struct Piece {
    start: usize,
    name_end: usize,
    end: usize,
}

impl Merge {
    /// Adds a record; those of the oldest delta come first.
    ///
    /// # Errors
    /// If it begins with no name.
    pub fn add(&mut self, record: &[u8]) -> Result<(), DecodeError> {
        let mut input = record;
        take_name(&mut input)?;
        let start = self.bytes.len();
        let name_end = start + record.len() - input.len();
        self.bytes.extend_from_slice(record);
        self.records.push(Piece { start, name_end, end: self.bytes.len() });
        Ok(())
    }

    /// Bytes of the records added.
    pub fn bytes_count(&self) -> usize {
        self.bytes.len()
    }

    /// Gives the newest record of each key to `visit`, in the order of their names. O(n log n).
    ///
    /// # Errors
    /// The first of `visit`.
    pub fn finish<E>(self, mut visit: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let Self { bytes, mut records } = self;
        // One byte of number stands before each name.
        let name = |piece: &Piece| &bytes[piece.start + 1..piece.name_end];
        records.sort_unstable_by(|one, other| name(one).cmp(name(other)).then(one.start.cmp(&other.start)));
        let newest = records.iter().zip(records.iter().skip(1).map(Some).chain([None]));
        let newest = newest.filter(|(piece, next)| next.is_none_or(|next| name(piece) != name(next)));
        newest.map(|(piece, _)| piece).try_for_each(|piece| visit(&bytes[piece.start..piece.end]))
    }
}
