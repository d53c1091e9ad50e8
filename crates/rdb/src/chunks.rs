//! A growing byte buffer that never moves: a single buffer of a gigabyte would be copied as it grew.

use std::collections::VecDeque;

/// The approximate length of a chunk, in bytes.
pub(crate) const CHUNK_BYTES: usize = 32 << 10;

/// Chunks, taken from the front.
#[derive(Default)]
pub(crate) struct Chunks {
    chunks: VecDeque<Vec<u8>>,
    full_bytes: u64,
}

impl Chunks {
    /// Returns the buffer to append to; it will be taken as a whole.
    pub(crate) fn tail(&mut self) -> &mut Vec<u8> {
        if self.chunks.back().is_none_or(|last| last.len() >= CHUNK_BYTES) {
            self.full_bytes += self.chunks.back().map_or(0, |last| last.len() as u64);
            self.chunks.push_back(Vec::with_capacity(CHUNK_BYTES + CHUNK_BYTES / 8));
        }
        self.chunks.back_mut().expect("just made")
    }

    /// Returns the total number of bytes.
    pub(crate) fn bytes_count(&self) -> u64 {
        self.full_bytes + self.chunks.back().map_or(0, |last| last.len() as u64)
    }

    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        self.chunks.pop_front()
    }
}
