//! The index of a large sorted set: a few hash bytes and the score of each member.

use super::score::{SCORE_BYTES_MAX, ScoreForm, split};
use crate::List;
use base::hash::KeyHasher;
use blocks::{Cursor, Direction, End, Guide};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// Hash bytes stored: of ten million members, two in five share them with another.
const HASH_BYTES: usize = 3;
/// The number of distinct hashes.
pub(super) const HASHES_COUNT: u64 = 1 << (8 * HASH_BYTES);

/// Members whose hashes are sorted at a time when an index is built: 64 MiB of them.
const BATCH: u64 = 4 << 20;

static HASHER: LazyLock<KeyHasher> = LazyLock::new(KeyHasher::random);

/// The stored part of a member's hash.
pub(super) type MemberHash = [u8; HASH_BYTES];

pub(super) fn whole_hash(member: &[u8]) -> u64 {
    HASHER.hash(member)
}

fn short(hash: u64) -> MemberHash {
    let [a, b, c, ..] = hash.to_be_bytes();
    [a, b, c]
}

pub(super) fn hash(member: &[u8]) -> MemberHash {
    short(whole_hash(member))
}

/// Encodes an index entry. It has no negative zero: the main list stores both zeros in one position.
pub(super) fn item(hash: MemberHash, score: f64) -> SmallVec<[u8; HASH_BYTES + SCORE_BYTES_MAX]> {
    let mut item = SmallVec::from_slice(&hash);
    item.extend_from_slice(ScoreForm::of(score + 0.0).as_bytes());
    item
}

/// Returns the position of the first entry with this hash, or its insertion point.
pub(super) fn point(index: &List, hash: MemberHash) -> u64 {
    index.guided_point(0..index.len(), by_hash(hash), |item| item[..HASH_BYTES] < hash[..])
}

/// Like [`point`], with the score of the entry there, if it has this hash.
pub(super) fn first_beside(index: &List, hash: MemberHash) -> (Cursor, Option<f64>) {
    let is_before = |item: &[u8]| item[..HASH_BYTES] < hash[..];
    let (at, seen) = index.find_cursor(0..index.len(), Some(by_hash(hash)), is_before, |item| score_beside(item, hash));
    (at, seen.flatten())
}

/// Returns the position after the entries with this hash.
pub(super) fn point_behind(index: &List, hash: MemberHash) -> u64 {
    index.guided_point(0..index.len(), by_hash(hash), |item| item[..HASH_BYTES] <= hash[..])
}

fn by_hash(hash: MemberHash) -> Guide {
    Guide { key: number_of(hash), key_of: |item| number_of(hash_in(item)), is_even: true }
}

/// Converts a hash to a number; the reverse conversion fails if it is out of range.
pub(super) fn number_of([a, b, c]: MemberHash) -> u64 {
    u64::from(u32::from_be_bytes([0, a, b, c]))
}

pub(super) fn hash_of(number: u64) -> Option<MemberHash> {
    let [0, a, b, c] = u32::try_from(number).ok()?.to_be_bytes() else { return None };
    Some([a, b, c])
}

/// Returns the hash of an item.
pub(super) fn hash_in(item: &[u8]) -> MemberHash {
    item[..HASH_BYTES].try_into().expect("an item begins with its hash")
}

/// Returns the score of an item.
pub(super) fn score_in(item: &[u8]) -> f64 {
    split(&item[HASH_BYTES..]).0
}

/// Returns the score of an item, if it has this hash.
pub(super) fn score_beside(item: &[u8], hash: MemberHash) -> Option<f64> {
    (hash_in(item) == hash).then(|| score_in(item))
}

/// Removes one of the items with this hash and score, which are all equal.
pub(super) fn remove(index: &mut List, hash: MemberHash, score: f64) {
    let (first_at, first) = first_beside(index, hash);
    if first == Some(score) {
        return index.remove_at(first_at);
    }
    let mut at = index.index_of(first_at);
    let flow = index.walk(at, index.len() - at, Direction::Forward, &mut |item: &[u8]| {
        let found = score_beside(item, hash).expect("every member is in the index");
        if found == score {
            return ControlFlow::Break(());
        }
        at += 1;
        ControlFlow::Continue(())
    });
    assert!(flow.is_break(), "every member is in the index");
    index.remove(at);
}

/// Returns the index of a main list, and the hashes that occur more than once. O(n log n).
pub(super) fn of(main: &List) -> (List, HashSet<u64>) {
    let (mut index, mut met) = (List::new(), HashSet::new());
    let bits = main.len().div_ceil(BATCH).next_power_of_two().trailing_zeros();
    for batch in 0..1u64 << bits {
        let mut hashes = Vec::with_capacity((main.len() >> bits) as usize);
        let _ = for_each(main, |score, member| {
            let hash = whole_hash(member);
            if hash.checked_shr(64 - bits).unwrap_or(0) == batch {
                hashes.push((hash, score));
            }
            true
        });
        hashes.sort_unstable_by_key(|(hash, _)| *hash);
        hashes.iter().for_each(|(hash, score)| index.push(End::Tail, &item(short(*hash), *score)));
        met.extend(hashes.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0));
    }
    (index, met)
}

/// Returns true if no member whose hash is among these is in a main list twice. O(n).
pub(super) fn has_no_member_twice(main: &List, hashes: &HashSet<u64>) -> bool {
    let mut members = HashSet::new();
    hashes.is_empty()
        || for_each(main, |_, member| !hashes.contains(&whole_hash(member)) || members.insert(member.to_vec()))
            .is_continue()
}

/// Visits members with their scores until `visit` stops it.
fn for_each(main: &List, mut visit: impl FnMut(f64, &[u8]) -> bool) -> ControlFlow<()> {
    main.walk(0, main.len(), Direction::Forward, &mut |item: &[u8]| {
        if item.is_empty() {
            return ControlFlow::Continue(());
        }
        let (score, member) = split(item);
        if visit(score, member) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
}
