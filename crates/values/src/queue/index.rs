//! Indices of a queue: ordered lists of (number, id). They are not stored but rebuilt on load.

use crate::List;
use base::hash::KeyHasher;
use blocks::{Direction, End};
use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

/// The due time of buried messages, after all times.
pub(super) const NEVER: u64 = u64::MAX;

static HASHER: LazyLock<KeyHasher> = LazyLock::new(KeyHasher::random);

/// Returns the index number of a dedup id.
pub(super) fn hash(dedup: &[u8]) -> u64 {
    HASHER.hash(dedup)
}

type Entry = [u8; 16];

fn entry(number: u64, id: i64) -> Entry {
    let ordered = (id as u64) ^ (1 << 63);
    (u128::from(number) << 64 | u128::from(ordered)).to_be_bytes()
}

fn parts(entry: &[u8]) -> (u64, i64) {
    let whole = u128::from_be_bytes(entry.try_into().expect("an entry has sixteen bytes"));
    ((whole >> 64) as u64, (whole as u64 ^ (1 << 63)) as i64)
}

/// Adds an entry. O(log n).
pub(super) fn add(index: &mut List, number: u64, id: i64) {
    let entry = entry(number, id);
    let is_last =
        index.len().checked_sub(1).is_none_or(|last| index.get(last, |other| *other < entry[..]) == Some(true));
    if is_last {
        return index.push(End::Tail, &entry);
    }
    index.insert(index.partition_point(|other| *other < entry[..]), &entry);
}

/// Removes an entry, if it is there. O(log n).
pub(super) fn remove(index: &mut List, number: u64, id: i64) {
    let entry = entry(number, id);
    let at = index.partition_point(|other| *other < entry[..]);
    if index.get(at, |other| *other == entry[..]) == Some(true) {
        index.remove(at);
    }
}

/// Returns the first entry.
pub(super) fn first(index: &List) -> Option<(u64, i64)> {
    index.get(0, parts)
}

/// Returns the entry at a position.
pub(super) fn get(index: &List, at: u64) -> Option<(u64, i64)> {
    index.get(at, parts)
}

/// Returns the number of entries below this number.
pub(super) fn below(index: &List, number: u64) -> u64 {
    index.partition_point(|other| parts(other).0 < number)
}

/// Returns the ids of the entries at these positions.
pub(super) fn ids(index: &List, range: Range<u64>) -> Vec<i64> {
    let mut ids = Vec::new();
    if !range.is_empty() {
        let _ = index.walk(range.start, range.end - range.start, Direction::Forward, &mut |entry: &[u8]| {
            ids.push(parts(entry).1);
            ControlFlow::Continue(())
        });
    }
    ids
}

/// Builds the index of these entries. O(n log n).
pub(super) fn build(mut entries: Vec<(u64, i64)>) -> List {
    entries.sort_unstable();
    let mut index = List::new();
    entries.into_iter().for_each(|(number, id)| index.push(End::Tail, &entry(number, id)));
    index
}
