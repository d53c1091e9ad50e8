//! When keys of one section fall due: eight bytes a key, no names.
//!
//! ```text
//! | due, in ms since 1970 : 44 | hash bits that place the key in its table : 20 |   in a binary heap, earliest first
//! ```
//!
//! A hint is never taken back: when it falls due, the key it meant may be gone, or have another deadline, and then
//! nothing happens. Hints beyond twice the keys that do expire are swept by building the heap anew.

use base::Ms;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use table::{PREFIX_BITS, SHARED_BITS};

const TAG_BITS: u32 = PREFIX_BITS - SHARED_BITS;
/// The last due time that a hint can tell, in the year 2527: what falls due later waits for a reader or writer.
const DUE_MS_MAX: Ms = (1 << (u64::BITS - TAG_BITS)) - 1;

/// The due times of one section's keys.
#[derive(Default)]
pub(crate) struct Deadlines {
    heap: BinaryHeap<Reverse<u64>>,
}

impl Deadlines {
    /// Notes that the key of `hash` falls due at `at_ms`.
    pub(crate) fn push(&mut self, at_ms: Ms, hash: u64) {
        self.heap.push(Reverse(hint(at_ms, hash)));
    }

    /// Takes the earliest hint that is due at `now`: the hash of the key it means, but for the bits that all keys of
    /// the section share and those that their table does not look at. Gives memory back as hints go.
    pub(crate) fn pop_due(&mut self, now: Ms) -> Option<u64> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse(hint) = self.heap.pop()?;
        if self.heap.len() < self.heap.capacity() / 4 {
            self.heap.shrink_to(2 * self.heap.len());
        }
        Some(hint << (u64::BITS - TAG_BITS) >> SHARED_BITS)
    }

    /// When the next key may fall due.
    pub(crate) fn next_due(&self) -> Option<Ms> {
        self.heap.peek().map(|Reverse(hint)| hint >> TAG_BITS)
    }

    /// How many hints there are, outdated ones included.
    pub(crate) fn hints_count(&self) -> usize {
        self.heap.len()
    }

    /// Replaces all hints.
    pub(crate) fn rebuild(&mut self, keys: impl Iterator<Item = (Ms, u64)>) {
        self.heap = keys.map(|(at_ms, hash)| Reverse(hint(at_ms, hash))).collect();
    }

    /// Bytes of memory.
    pub(crate) fn heap_bytes(&self) -> u64 {
        self.heap.capacity() as u64 * 8
    }
}

fn hint(at_ms: Ms, hash: u64) -> u64 {
    at_ms.min(DUE_MS_MAX) << TAG_BITS | hash << SHARED_BITS >> (u64::BITS - TAG_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_hint_once_it_is_due_and_leads_to_its_hash() {
        let mut deadlines = Deadlines::default();
        deadlines.push(5_000, 0xabcd_ef01_2345_6789);
        deadlines.push(Ms::MAX, 0);
        assert_eq!(deadlines.next_due(), Some(5_000));
        assert_eq!(deadlines.pop_due(4_999), None);
        // Ten bits are the section's own; twenty follow.
        assert_eq!(deadlines.pop_due(5_000), Some(0x000d_ef00_0000_0000));
        assert_eq!(deadlines.pop_due(Ms::MAX - 1), Some(0));
        assert_eq!(deadlines.pop_due(Ms::MAX), None);
    }

    #[test]
    fn hints_that_went_leave_no_memory() {
        let mut deadlines = Deadlines::default();
        (0..10_000).for_each(|at_ms| deadlines.push(at_ms, at_ms));
        let full_bytes = deadlines.heap_bytes();
        (0..9_000).for_each(|_| assert!(deadlines.pop_due(10_000).is_some()));
        assert!(deadlines.heap_bytes() < full_bytes / 2);
        while deadlines.pop_due(10_000).is_some() {}
        assert_eq!(deadlines.heap_bytes(), 0);
    }
}
