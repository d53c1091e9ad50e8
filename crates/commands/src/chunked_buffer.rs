//! Bytes that are gathered under locks, as many as there may be: in pieces, since a buffer of 100 MB that grows is copied
//! in one turn, and of memory made ready before a lock is held, since fresh pages may cost much.

use std::collections::VecDeque;

/// Bytes in pieces, which are added behind and may be taken away in front.
#[derive(Default)]
pub(crate) struct Pieces(VecDeque<Vec<u8>>);

const PIECE_BYTES: usize = 64 << 10;
/// What is added under one lock as a rule, or less.
const PREPARED_BYTES: usize = 16 << 10;

impl Pieces {
    /// Has memory at hand, and has touched it, for what will be added under the next lock.
    pub(crate) fn prepare(&mut self) {
        let has_room = |piece: &Vec<u8>| piece.capacity() - piece.len() >= PREPARED_BYTES;
        if !self.0.back().is_some_and(has_room) {
            // Zeros may be had without a touch.
            let mut piece = vec![u8::MAX; PIECE_BYTES];
            piece.clear();
            self.0.push_back(piece);
        }
    }

    /// A piece to which so many bytes are to be added: they move no others.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        if self.0.back().is_none_or(|piece| piece.len() + bytes > PIECE_BYTES) {
            // The first is small as a rule.
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

    /// Adds a copy of `bytes`. Its place holds as long as nothing is taken away in front.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> PieceLocation {
        let piece = self.room(bytes.len());
        let at = piece.len() as u32;
        piece.extend_from_slice(bytes);
        PieceLocation { piece: self.0.len() as u32 - 1, at, bytes: bytes.len() as u32 }
    }

    /// The bytes of a copy.
    pub(crate) fn at(&self, place: PieceLocation) -> &[u8] {
        &self.0[place.piece as usize][place.at as usize..][..place.bytes as usize]
    }

    /// What all of it takes, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}

/// Where a copy of less than 4 GB lies.
#[derive(Clone, Copy)]
pub(crate) struct PieceLocation {
    piece: u32,
    at: u32,
    bytes: u32,
}
