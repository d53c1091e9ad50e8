//! The index of a list with unique values: for each value, part of its hash and the label of its chunk.
//!
//! ```text
//!   value --> hash --> | hash 3, label 5 | ... --> the chunks with these labels, by descent --> is the value there?
//! ```
//!
//! It is not stored but rebuilt on load. So its hash can use a random per-process key.

use super::chunk::LABEL_BYTES;
use crate::List;
use base::hash::KeyHasher;
use blocks::{Direction, End, Guide};
use std::ops::ControlFlow;
use std::sync::LazyLock;

const HASH_BYTES: usize = 3;
const ENTRY_BYTES: usize = HASH_BYTES + LABEL_BYTES;

static HASHER: LazyLock<KeyHasher> = LazyLock::new(KeyHasher::random);

/// Returns the stored part of a value's hash.
pub(super) fn hash(value: &[u8]) -> u64 {
    HASHER.hash(value) >> (64 - 8 * HASH_BYTES)
}

fn entry(hash: u64, label: u64) -> [u8; ENTRY_BYTES] {
    (hash << (8 * LABEL_BYTES) | label).to_be_bytes()
}

fn number(entry: &[u8]) -> u64 {
    u64::from_be_bytes(entry.try_into().expect("an entry has eight bytes"))
}

fn hash_in(entry: &[u8]) -> u64 {
    number(entry) >> (8 * LABEL_BYTES)
}

fn point(index: &List, hash: u64, label: u64) -> u64 {
    let sought = hash << (8 * LABEL_BYTES) | label;
    let guide = Guide { key: hash, key_of: hash_in, is_even: true };
    index.guided_point(0..index.len(), guide, |entry| number(entry) < sought)
}

/// Returns the labels stored for a hash.
pub(super) fn labels(index: &List, hash: u64) -> Vec<u64> {
    let (at, mut labels) = (point(index, hash, 0), Vec::new());
    let _ = index.walk(at, index.len() - at, Direction::Forward, &mut |entry: &[u8]| {
        if hash_in(entry) != hash {
            return ControlFlow::Break(());
        }
        labels.push(number(entry) & ((1 << (8 * LABEL_BYTES)) - 1));
        ControlFlow::Continue(())
    });
    labels.dedup();
    labels
}

/// Adds a value of a chunk.
pub(super) fn add(index: &mut List, hash: u64, label: u64) {
    index.insert(point(index, hash, label), &entry(hash, label));
}

/// Removes an entry, which must exist.
pub(super) fn remove(index: &mut List, hash: u64, label: u64) {
    let at = point(index, hash, label);
    assert!(index.get(at, |found| *found == entry(hash, label)) == Some(true), "every value is in the index");
    index.remove(at);
}

/// Builds an index of these entries. O(n log n).
pub(super) fn of(mut entries: Vec<(u64, u64)>) -> List {
    entries.sort_unstable();
    let mut index = List::new();
    entries.iter().for_each(|(hash, label)| index.push(End::Tail, &entry(*hash, *label)));
    index
}
