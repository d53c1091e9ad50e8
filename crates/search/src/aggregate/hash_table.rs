//! Positions of items by the hash of their identity: the items themselves are kept elsewhere, in order.
//!
//! ```text
//!   hash --> cell, linear probing --> position + 1 (0 is free)      hashes by position, to grow without the items
//!
//!   growing:   old cells    all positions from before
//!              cells        those moved so far, and all that are appended
//! ```
//!
//! A table that grows moves a few positions with each call, so that no call moves all of them. It is released by three
//! deallocations, however many items there are.

/// Cells of the first table.
const CELLS_MIN: usize = 8;

/// The positions that a call moves to the new cells. One would do: a table grows by more items than it has to move.
const MOVED_PER_CALL: usize = 4;

/// A hash table of positions.
#[derive(Debug, Default)]
pub(super) struct PositionTable {
    cells: Vec<u32>,
    /// The cells before the last growth; none once all positions in them are moved.
    old_cells: Vec<u32>,
    /// The positions of the old cells that are moved, from 0 on.
    moved_count: usize,
    /// The positions of the old cells.
    old_count: usize,
    hashes: Vec<u64>,
}

impl PositionTable {
    /// Returns how many positions there are.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the position of the item with this hash that `is_same` says is the one, or appends a position.
    ///
    /// The second value is true if it is appended: the caller appends the item. O(1), beside the array of hashes, which
    /// is copied when it grows.
    pub(super) fn find_or_append(&mut self, hash: u64, is_same: impl Fn(usize) -> bool) -> (usize, bool) {
        self.move_some();
        if (self.hashes.len() + 1) * 4 > self.cells.len() * 3 {
            self.grow();
        }
        let is_it = |position: usize| self.hashes[position] == hash && is_same(position);
        if !self.old_cells.is_empty()
            && let Probe::Found(position) = probe(&self.old_cells, hash, is_it)
        {
            return (position, false);
        }
        match probe(&self.cells, hash, is_it) {
            Probe::Found(position) => (position, false),
            Probe::Free(cell) => {
                self.hashes.push(hash);
                self.cells[cell] = self.hashes.len() as u32;
                (self.hashes.len() - 1, true)
            }
        }
    }

    /// Returns the bytes that it occupies. O(1)
    pub(super) fn heap_bytes(&self) -> usize {
        (self.cells.capacity() + self.old_cells.capacity()) * size_of::<u32>()
            + self.hashes.capacity() * size_of::<u64>()
    }

    /// Doubles the cells; positions follow with later calls.
    fn grow(&mut self) {
        assert!(self.hashes.len() < u32::MAX as usize / 2);
        assert!(self.old_cells.is_empty());
        let cells = vec![0; (self.cells.len() * 2).max(CELLS_MIN)];
        self.old_cells = std::mem::replace(&mut self.cells, cells);
        self.moved_count = 0;
        self.old_count = self.hashes.len();
    }

    /// Moves a few positions from the old cells.
    fn move_some(&mut self) {
        if self.old_cells.is_empty() {
            return;
        }
        let moved_to = self.old_count.min(self.moved_count + MOVED_PER_CALL);
        for position in self.moved_count..moved_to {
            if let Probe::Free(cell) = probe(&self.cells, self.hashes[position], |_| false) {
                self.cells[cell] = position as u32 + 1;
            }
        }
        self.moved_count = moved_to;
        if moved_to == self.old_count {
            self.old_cells = Vec::new();
        }
    }
}

/// The end of a search through cells.
enum Probe {
    /// The position that was searched for.
    Found(usize),
    /// The free cell where it would be.
    Free(usize),
}

/// Searches for the position that `is_it` says is the one. Some cell must be free.
fn probe(cells: &[u32], hash: u64, is_it: impl Fn(usize) -> bool) -> Probe {
    let mask = cells.len() - 1;
    let mut cell = hash as usize & mask;
    loop {
        match cells[cell] as usize {
            0 => return Probe::Free(cell),
            position if is_it(position - 1) => return Probe::Found(position - 1),
            _ => cell = (cell + 1) & mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_found_while_a_table_grows(
            items in proptest::collection::vec(0u16..300, 0..2000),
            bits in 0u32..12,
        ) {
            let mut table = PositionTable::default();
            let mut known: Vec<u16> = Vec::new();
            for item in items {
                let hash = u64::from(item) & ((1 << bits) - 1);
                let expected = known.iter().position(|other| *other == item);
                let found = table.find_or_append(hash, |position| known[position] == item);
                prop_assert_eq!(found, (expected.unwrap_or(known.len()), expected.is_none()));
                if expected.is_none() {
                    known.push(item);
                }
            }
            prop_assert_eq!(table.len(), known.len());
        }
    }

    #[test]
    fn a_call_moves_a_few_positions() {
        let mut table = PositionTable::default();
        let mut growths_count = 0;
        for item in 0..10_000u64 {
            let (moved_before, was_growing) = (table.moved_count, !table.old_cells.is_empty());
            table.find_or_append(item.wrapping_mul(0x9e37_79b9_7f4a_7c15), |position| position as u64 == item);
            if was_growing {
                assert!(table.moved_count - moved_before <= MOVED_PER_CALL);
            }
            growths_count += usize::from(!was_growing && !table.old_cells.is_empty());
        }
        assert!(growths_count > 8);
    }
}
