//! Positions of items by the hash of what identifies them: the items themselves are kept elsewhere, in order.
//!
//! ```text
//!   hash --> cell, linear probing --> position + 1 (0 is free)      hashes by position, to grow without the items
//! ```
//!
//! It is released by two deallocations, however many items there are.

/// Cells of the first table.
const CELLS_MIN: usize = 8;

/// A hash table of positions.
#[derive(Debug, Default)]
pub(super) struct PositionTable {
    cells: Vec<u32>,
    hashes: Vec<u64>,
}

impl PositionTable {
    /// Returns how many positions there are.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the position of the item with this hash that `is_same` says is the one, or appends a position.
    ///
    /// The second value is true if it is appended: the caller appends the item. O(1) amortised.
    pub(super) fn find_or_append(&mut self, hash: u64, is_same: impl Fn(usize) -> bool) -> (usize, bool) {
        if (self.hashes.len() + 1) * 4 > self.cells.len() * 3 {
            self.grow();
        }
        let mask = self.cells.len() - 1;
        let mut cell = hash as usize & mask;
        loop {
            match self.cells[cell] as usize {
                0 => break,
                position if self.hashes[position - 1] == hash && is_same(position - 1) => return (position - 1, false),
                _ => cell = (cell + 1) & mask,
            }
        }
        self.hashes.push(hash);
        self.cells[cell] = self.hashes.len() as u32;
        (self.hashes.len() - 1, true)
    }

    /// Returns the bytes that it occupies. O(1)
    pub(super) fn heap_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<u32>() + self.hashes.capacity() * size_of::<u64>()
    }

    fn grow(&mut self) {
        assert!(self.hashes.len() < u32::MAX as usize / 2);
        let mask = (self.cells.len() * 2).max(CELLS_MIN) - 1;
        self.cells = vec![0; mask + 1];
        for (position, hash) in self.hashes.iter().enumerate() {
            let mut cell = *hash as usize & mask;
            while self.cells[cell] != 0 {
                cell = (cell + 1) & mask;
            }
            self.cells[cell] = position as u32 + 1;
        }
    }
}
