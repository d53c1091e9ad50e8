//! The members of one source of an operation in a hash table, which those of the other sources meet.
//!
//! ```text
//!   slots   | - | 3 | - | 1 | 2 | - | ...      by the hash of the member, then the next free one
//!                 v       v   v
//!   items     | hash, score, met | ...         met: the last source that it was in
//!   bytes     | member | member | ...
//! ```

use super::index;

/// Members in one source that may be in the result.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    bytes: Vec<u8>,
    items: Vec<Candidate>,
    /// Indices in `items`, plus one. At most half of them are taken.
    slots: Vec<u32>,
}

#[derive(Debug)]
struct Candidate {
    hash: u64,
    start: usize,
    length: usize,
    score: f64,
    met: usize,
}

/// The `met` of a candidate that is out.
const OUT: usize = usize::MAX;

impl Candidates {
    /// Members in one, at most.
    pub(super) const MEMBERS_MAX: u64 = 1 << 16;
    /// Bytes of members in one, at most.
    pub(super) const BYTES_MAX: u64 = 4 << 20;

    /// Creates one for up to `members_max` members.
    pub(super) fn new(members_max: u64) -> Self {
        let slots = vec![0; (2 * members_max).next_power_of_two() as usize];
        Self { bytes: Vec::new(), items: Vec::with_capacity(members_max as usize), slots }
    }

    /// Returns the number of members added.
    pub(super) fn len(&self) -> u64 {
        self.items.len() as u64
    }

    /// Returns its memory in bytes. O(1).
    pub(super) fn heap_bytes(&self) -> u64 {
        let items_bytes = self.items.capacity() * size_of::<Candidate>();
        (self.bytes.capacity() + items_bytes + size_of_val(&self.slots[..])) as u64
    }

    /// Adds a member of the first source that is not there yet.
    pub(super) fn add(&mut self, score: f64, member: &[u8]) {
        let hash = index::whole_hash(member);
        let slot = self.slot(hash, member);
        let (start, length) = (self.bytes.len(), member.len());
        self.bytes.extend_from_slice(member);
        self.items.push(Candidate { hash, start, length, score, met: 0 });
        self.slots[slot] = self.items.len() as u32;
    }

    /// Returns the candidate with this member.
    pub(super) fn find(&self, member: &[u8]) -> Option<usize> {
        let at = self.slots[self.slot(index::whole_hash(member), member)].checked_sub(1)?;
        Some(at as usize)
    }

    /// Returns score and member of a candidate, and the last source that it was in; `None` if it is out.
    pub(super) fn get(&self, at: usize) -> Option<(f64, &[u8], usize)> {
        let Candidate { start, length, score, met, .. } = self.items[at];
        (met != OUT).then(|| (score, &self.bytes[start..start + length], met))
    }

    /// Notes that a candidate is in `source`, if it was in all before that one: its score changes to `score` of it.
    pub(super) fn meet(&mut self, at: usize, source: usize, score: impl FnOnce(f64) -> f64) {
        let candidate = &mut self.items[at];
        if candidate.met.checked_add(1) == Some(source) {
            (candidate.score, candidate.met) = (score(candidate.score), source);
        }
    }

    /// Notes that a candidate is out.
    pub(super) fn drop(&mut self, at: usize) {
        self.items[at].met = OUT;
    }

    /// Returns the slot of a member, or the free one where it belongs.
    fn slot(&self, hash: u64, member: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(at) = self.slots[slot].checked_sub(1) {
            let Candidate { hash: other, start, length, .. } = self.items[at as usize];
            if other == hash && &self.bytes[start..start + length] == member {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }
}
