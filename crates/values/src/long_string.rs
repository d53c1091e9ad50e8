//! A long string: pieces of equal length, so that a byte's offset gives its piece.
//!
//! ```text
//!   LongString ── 8 bytes: a block list
//!                 | 4,080 | 4,080 | 4,080 | ... | 1 to 4,080 |     one block each
//!   byte 9,000 ───────────────────^ piece 2, byte 840
//! ```
//!
//! A clone is O(1); a write copies the pieces it touches and their path, and only while a clone is alive. Zeros far
//! beyond the end are one block referenced many times.

use crate::List;
use crate::string::INLINE_BYTES_MAX;
use blocks::{Direction, End, LEAF_BYTES_MAX};
use std::fmt;
use std::ops::{ControlFlow, Range};

/// Bytes of every piece but the last: with its header it fills a block.
pub const PIECE_BYTES: usize = 4080;

const _: () = assert!(PIECE_BYTES + 16 == LEAF_BYTES_MAX);

/// A string as a tree of byte blocks.
#[derive(Clone, Default)]
pub struct LongString {
    pieces: List,
}

impl LongString {
    /// Creates a string of these bytes. O(n).
    pub fn of(bytes: &[u8]) -> Self {
        let mut text = Self::default();
        text.push_pieces(bytes);
        text
    }

    /// Returns the string of these pieces, taken from another one; `None` if they are invalid. O(pieces).
    pub(crate) fn of_pieces(pieces: List) -> Option<Self> {
        let mut left = pieces.len();
        let flow = pieces.walk(0, left, Direction::Forward, &mut |piece: &[u8]| {
            left -= 1;
            let is_sound = piece.len() == PIECE_BYTES || (left == 0 && (1..PIECE_BYTES).contains(&piece.len()));
            if is_sound { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        flow.is_continue().then_some(Self { pieces })
    }

    pub(crate) fn pieces(&self) -> &List {
        &self.pieces
    }

    /// Returns true if a cheap check shows equal bytes: for clones that neither side has changed, and for short
    /// strings. O(1), or the length of a short string.
    pub fn is_same(&self, other: &Self) -> bool {
        let length = self.bytes_count();
        let is_short = || length == other.bytes_count() && length <= INLINE_BYTES_MAX;
        self.pieces.shares_root_with(&other.pieces) || (is_short() && self.to_vec(0..length) == other.to_vec(0..length))
    }

    /// Stores a piece at `index`, an existing one or the next.
    pub(crate) fn put_piece(&mut self, index: u64, piece: &[u8]) {
        if index < self.pieces.len() {
            self.pieces.set(index, piece);
        } else {
            assert!(index == self.pieces.len());
            self.pieces.push(End::Tail, piece);
        }
    }

    /// Drops all but the first `count` pieces.
    pub(crate) fn keep_pieces(&mut self, count: u64) {
        self.pieces.trim(0, count);
    }

    /// Returns the length in bytes. O(1).
    pub fn bytes_count(&self) -> usize {
        self.pieces.content_bytes() as usize
    }

    /// Returns the bytes allocated; a block counts once per reference, by a clone or by zeros. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.pieces.heap_bytes()
    }

    /// Visits the bytes of `range`, which must be within the string, in order. O(log n + pieces visited).
    pub fn for_each_piece(&self, range: Range<usize>, visit: impl FnMut(&[u8])) {
        assert!(range.end <= self.bytes_count());
        visit_pieces(&self.pieces, range, visit);
    }

    /// Returns a copy of the bytes of `range`.
    pub fn to_vec(&self, range: Range<usize>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(range.len());
        self.for_each_piece(range, |piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// Returns the part in `range`, to be read in steps and freed on the way. O(log n).
    pub fn part(&self, range: Range<usize>) -> Part {
        assert!(range.start <= range.end);
        assert!(range.end <= self.bytes_count());
        let (first, end) = (range.start / PIECE_BYTES, range.end.div_ceil(PIECE_BYTES));
        let mut pieces = self.pieces.clone();
        pieces.trim(first as u64, end.saturating_sub(first) as u64);
        let start = range.start - first * PIECE_BYTES;
        Part { pieces, range: start..start + range.len() }
    }

    /// Appends `bytes`. O(n), n the bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        let (filling, rest) = bytes.split_at(self.room_bytes().min(bytes.len()));
        if !filling.is_empty() {
            let last = self.pieces.len() - 1;
            let length = self.bytes_count() - last as usize * PIECE_BYTES;
            self.edit(last, length, filling);
        }
        self.push_pieces(rest);
    }

    /// Writes `bytes` at `offset`, zero-filling the gap if the string is shorter. O(log n + bytes).
    pub fn overwrite(&mut self, offset: usize, bytes: &[u8]) {
        let bytes_count = self.bytes_count();
        self.append_zeros(offset.saturating_sub(bytes_count));
        let (mut over, behind) = bytes.split_at(bytes.len().min(self.bytes_count() - offset));
        let mut at = offset;
        while !over.is_empty() {
            let start = at % PIECE_BYTES;
            let (here, rest) = over.split_at(over.len().min(PIECE_BYTES - start));
            self.edit((at / PIECE_BYTES) as u64, start, here);
            at += here.len();
            over = rest;
        }
        self.append(behind);
    }

    /// Appends zeros. O(log² n), however many.
    fn append_zeros(&mut self, count: usize) {
        const ZEROS: &[u8] = &[0; PIECE_BYTES];
        let filling = self.room_bytes().min(count);
        self.append(&ZEROS[..filling]);
        let mut pieces_count = (count - filling) / PIECE_BYTES;
        let mut run = List::new();
        if pieces_count > 0 {
            run.push(End::Tail, ZEROS);
        }
        while pieces_count > 0 {
            if pieces_count % 2 == 1 {
                self.pieces.append(run.clone());
            }
            pieces_count /= 2;
            run.append(run.clone());
        }
        self.append(&ZEROS[..(count - filling) % PIECE_BYTES]);
    }

    /// Returns the free space of the last piece.
    fn room_bytes(&self) -> usize {
        self.pieces.len() as usize * PIECE_BYTES - self.bytes_count()
    }

    /// Writes `bytes` into the piece at `index` from `start` on, which is not beyond its end.
    fn edit(&mut self, index: u64, start: usize, bytes: &[u8]) {
        if bytes.len() == PIECE_BYTES {
            return self.pieces.set(index, bytes);
        }
        let mut piece = [0; PIECE_BYTES];
        let length = self.pieces.get(index, |old| {
            piece[..old.len()].copy_from_slice(old);
            old.len()
        });
        let end = start + bytes.len();
        piece[start..end].copy_from_slice(bytes);
        self.pieces.set(index, &piece[..end.max(length.expect("a piece there is"))]);
    }

    fn push_pieces(&mut self, bytes: &[u8]) {
        bytes.chunks(PIECE_BYTES).for_each(|piece| self.pieces.push(End::Tail, piece));
    }
}

impl fmt::Debug for LongString {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "LongString({} bytes, {} on the heap)", self.bytes_count(), self.heap_bytes())
    }
}

/// A snapshot of part of a string, to be read. It keeps alive only the pieces that contain its bytes.
pub struct Part {
    pieces: List,
    /// The range within the bytes of these pieces.
    range: Range<usize>,
}

impl Part {
    /// Returns the bytes left.
    pub fn bytes_count(&self) -> usize {
        self.range.len()
    }

    /// Like [`LongString::heap_bytes`]. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.pieces.heap_bytes()
    }

    /// Visits the next bytes, about `bytes_max` of them, and frees their pieces.
    pub fn take(&mut self, bytes_max: usize, visit: impl FnMut(&[u8])) {
        let pieces_count = (bytes_max / PIECE_BYTES).max(1).min(self.pieces.len() as usize);
        let end = self.range.end.min(pieces_count * PIECE_BYTES);
        visit_pieces(&self.pieces, self.range.start..end, visit);
        self.pieces.trim(pieces_count as u64, self.pieces.len() - pieces_count as u64);
        self.range = 0..self.range.end - end;
    }
}

fn visit_pieces(pieces: &List, range: Range<usize>, mut visit: impl FnMut(&[u8])) {
    if range.is_empty() {
        return;
    }
    let (first, end) = (range.start / PIECE_BYTES, range.end.div_ceil(PIECE_BYTES));
    let mut at = first * PIECE_BYTES;
    let _ = pieces.walk(first as u64, (end - first) as u64, Direction::Forward, &mut |piece: &[u8]| {
        let from = range.start.saturating_sub(at);
        let to = piece.len().min(range.end - at);
        at += PIECE_BYTES;
        visit(&piece[from..to]);
        ControlFlow::Continue(())
    });
}
