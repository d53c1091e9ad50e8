//! When keys of one section fall due: eight bytes a key, no names.
//!
//! ```text
//! | due, in steps of 1,024 ms : 32 | hash bits below the shard's : 32 |     in a binary heap, earliest first
//! ```
//!
//! A hint is never taken back: when it falls due, the key it meant may be gone, or have another deadline, and then
//! nothing happens. Hints beyond twice the keys that do expire are swept by building the heap anew.

use base::Ms;
use base::limits::SHARDS;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const STEP_BITS: u32 = 10;
/// A deadline so long ago lies in a step that is over, in milliseconds.
pub(crate) const STEP_MS: Ms = 1 << STEP_BITS;
const SHARD_BITS: u32 = SHARDS.trailing_zeros();

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

    /// Takes the earliest hint whose step is over at `now`: the least and the greatest hash that it may mean.
    pub(crate) fn pop_due(&mut self, now: Ms) -> Option<(u64, u64)> {
        let Reverse(hint) = *self.heap.peek()?;
        if hint >> 32 >= now >> STEP_BITS {
            return None;
        }
        self.heap.pop();
        let low = (hint & u64::from(u32::MAX)) << (32 - SHARD_BITS);
        Some((low, low | ((1 << (32 - SHARD_BITS)) - 1)))
    }

    /// The time from which [`Deadlines::pop_due`] will give something.
    pub(crate) fn next_due(&self) -> Option<Ms> {
        self.heap.peek().map(|Reverse(hint)| ((hint >> 32) + 1) << STEP_BITS)
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
    let step = (at_ms >> STEP_BITS).min(u64::from(u32::MAX));
    step << 32 | (hash << SHARD_BITS) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_hint_once_its_step_is_over_and_the_hash_lies_within() {
        let mut deadlines = Deadlines::default();
        let hash = 0xabcd_ef01_2345_6789;
        deadlines.push(5_000, hash);
        assert_eq!(deadlines.pop_due(5_000), None);
        let due = deadlines.next_due().unwrap();
        assert!(due > 5_000);
        assert_eq!(deadlines.pop_due(due - 1), None);
        let (low, high) = deadlines.pop_due(due).unwrap();
        // The bounds carry no shard bits: those are the section's own.
        let below_shard = hash << SHARD_BITS >> SHARD_BITS;
        assert!((low..=high).contains(&below_shard));
        assert_eq!(deadlines.pop_due(u64::MAX), None);
    }
}
