//! A buffer filled under locks, of any size: in pieces, since growing a buffer of 100 MB would copy it at once, and in
//! memory prepared before a lock is taken, since page faults may be expensive.

use std::collections::VecDeque;

/// Bytes in pieces, appended at the back and removable from the front.
#[derive(Default)]
pub(crate) struct Pieces(VecDeque<Vec<u8>>);

const PIECE_BYTES: usize = 64 << 10;
/// The usual maximum added under one lock.
const PREPARED_BYTES: usize = 16 << 10;

impl Pieces {
    /// Allocates and touches memory for the data added under the next lock.
    pub(crate) fn prepare(&mut self) {
        let has_room = |piece: &Vec<u8>| piece.capacity() - piece.len() >= PREPARED_BYTES;
        if !self.0.back().is_some_and(has_room) {
            // Zeroed memory may be untouched.
            let mut piece = vec![u8::MAX; PIECE_BYTES];
            piece.clear();
            self.0.push_back(piece);
        }
    }

    /// Returns a piece with space for this many bytes, without moving others.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        if self.0.back().is_none_or(|piece| piece.len() + bytes > PIECE_BYTES) {
            // The first piece is usually small.
            let capacity = if self.0.is_empty() { bytes } else { PIECE_BYTES.max(bytes) };
            self.0.push_back(Vec::with_capacity(capacity));
        }
        self.0.back_mut().expect("just made")
    }

    pub(crate) fn front(&self) -> Option<&[u8]> {
        self.0.front().map(Vec::as_slice)
    }

    pub(crate) fn drop_front(&mut self) {
        self.0.pop_front();
    }

    /// Appends a copy of `bytes`. Its location is valid as long as nothing is removed from the front.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> PieceLocation {
        let piece = self.room(bytes.len());
        let at = piece.len() as u32;
        piece.extend_from_slice(bytes);
        PieceLocation { piece: self.0.len() as u32 - 1, at, bytes: bytes.len() as u32 }
    }

    /// Returns the bytes of a copy.
    pub(crate) fn at(&self, place: PieceLocation) -> &[u8] {
        &self.0[place.piece as usize][place.at as usize..][..place.bytes as usize]
    }

    /// Returns its memory in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}

/// The location of a copy of less than 4 GB.
#[derive(Clone, Copy)]
pub(crate) struct PieceLocation {
    piece: u32,
    at: u32,
    bytes: u32,
}
