//! Builds sorted sets in short steps, however many members there are.
//!
//! ```text
//!   members in any order --> runs of RUN_MEMBERS, each sorted --> merged, the lowest first --.
//!                                                                                            v
//!   main     | score member | score member | ...                                             pushed
//!   index    buckets by the first bits of the hash, each sorted and pushed once all members are there
//! ```

use super::index::{self, MemberHash};
use super::{Sorted, SortedParts, item, order, score_key};
use crate::List;
use base::varint;
use blocks::End;

/// Members sorted at once: about 100 µs.
const RUN_MEMBERS: usize = 1024;
/// Hashes sorted at once, approximately.
const BUCKET_HASHES: u64 = 512;
/// The maximum number of buckets; with more members, buckets hold more.
pub(super) const BUCKETS_MAX: u64 = 1 << 14;
/// Members merged in one step.
const STEP_MEMBERS: usize = 256;

/// The limits beyond which a sorted set is large.
#[derive(Clone, Copy, Debug)]
pub struct SortedLimits {
    /// The maximum number of members.
    pub entries: u64,
    /// The maximum size of a member, in bytes.
    pub member_bytes: u64,
}

/// A merge sort of members.
#[derive(Debug, Default)]
pub(super) struct Sorting {
    open: MemberRun,
    runs: Vec<MemberRun>,
    /// The indices of the runs with members left: a heap, the one with the lowest member first.
    heap: Vec<usize>,
    members: u64,
    /// The bytes of all runs.
    bytes: u64,
}

/// Members, each after its score.
#[derive(Debug, Default)]
struct MemberRun {
    bytes: Vec<u8>,
    /// The start of each member in an open run; in a sorted one, where the next member starts.
    starts: Vec<usize>,
    at: usize,
}

impl MemberRun {
    fn push(&mut self, score: f64, member: &[u8]) {
        self.bytes.extend_from_slice(&score.to_le_bytes());
        varint::put_bytes(&mut self.bytes, member);
    }

    fn get(&self, at: usize) -> (f64, &[u8]) {
        let (score, mut rest) = self.bytes[at..].split_first_chunk().expect("a member begins here");
        (f64::from_le_bytes(*score), varint::take_bytes(&mut rest).expect("what was put"))
    }

    fn first(&self) -> (f64, &[u8]) {
        self.get(self.at)
    }

    /// Skips the first member. Returns whether another follows.
    fn advance(&mut self) -> bool {
        let length = self.first().1.len();
        self.at += size_of::<f64>() + varint::encoded_bytes(length as u64) + length;
        self.at < self.bytes.len()
    }

    fn sorted(self) -> Self {
        let mut keys: Vec<(u64, usize)> =
            self.starts.iter().map(|start| (score_key(self.get(*start).0), *start)).collect();
        keys.sort_unstable_by(|(key, start), (other_key, other)| {
            key.cmp(other_key).then_with(|| self.get(*start).1.cmp(self.get(*other).1))
        });
        let mut run = Self { bytes: Vec::with_capacity(self.bytes.len()), ..Self::default() };
        for (_, start) in keys {
            let (score, member) = self.get(start);
            run.push(score, member);
        }
        run
    }
}

impl Sorting {
    /// Adds a member not yet present. Occasionally takes about 100 µs.
    pub(super) fn add(&mut self, score: f64, member: &[u8]) {
        self.open.starts.push(self.open.bytes.len());
        let before = self.open.bytes.len();
        self.open.push(score, member);
        self.bytes += (self.open.bytes.len() - before) as u64;
        self.members += 1;
        if self.open.starts.len() == RUN_MEMBERS {
            self.runs.push(std::mem::take(&mut self.open).sorted());
        }
    }

    /// Marks the end of the members.
    pub(super) fn end(&mut self) {
        if !self.open.starts.is_empty() {
            self.runs.push(std::mem::take(&mut self.open).sorted());
        }
        self.heap = (0..self.runs.len()).collect();
        (0..self.heap.len() / 2).rev().for_each(|at| self.sift_down(at));
    }

    /// Returns the number of members added.
    pub(super) fn len(&self) -> u64 {
        self.members
    }

    /// Returns roughly its memory in bytes. O(1).
    pub(super) fn heap_bytes(&self) -> u64 {
        self.bytes
    }

    /// Visits and removes the lowest member; returns `false` if none is left.
    fn pop(&mut self, visit: impl FnOnce(f64, &[u8])) -> bool {
        let Some(&lowest) = self.heap.first() else { return false };
        let run = &mut self.runs[lowest];
        let (score, member) = run.first();
        visit(score, member);
        if !run.advance() {
            self.bytes -= run.bytes.len() as u64;
            *run = MemberRun::default();
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        true
    }

    fn sift_down(&mut self, mut at: usize) {
        let lowest = |one: usize, other: usize| order(self.runs[one].first(), self.runs[other].first()).is_lt();
        loop {
            let children = (2 * at + 1..2 * at + 3).filter(|child| *child < self.heap.len());
            let child =
                children.reduce(|one, other| if lowest(self.heap[other], self.heap[one]) { other } else { one });
            match child {
                Some(child) if lowest(self.heap[child], self.heap[at]) => {
                    self.heap.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }
}

/// A sorted set being built from members in order.
#[derive(Debug)]
pub(super) struct SortedBuilder {
    limits: SortedLimits,
    main: List,
    indexing: Indexing,
    is_large: bool,
    result: Sorted,
}

impl SortedBuilder {
    /// Creates one for at most `members_max` members.
    pub(super) fn new(members_max: u64, limits: SortedLimits) -> Self {
        let indexing = Indexing::new(members_max);
        Self { limits, main: List::new(), indexing, is_large: false, result: Sorted::default() }
    }

    /// Consumes some of `members`, or does some of the work after them. Returns true when done.
    pub(super) fn step(&mut self, members: &mut Sorting) -> bool {
        for _ in 0..STEP_MEMBERS {
            if !members.pop(|score, member| self.push(score, member)) {
                return self.finish();
            }
        }
        false
    }

    fn push(&mut self, score: f64, member: &[u8]) {
        self.is_large |= self.main.len() == self.limits.entries || member.len() as u64 > self.limits.member_bytes;
        self.indexing.add(score, member);
        self.main.push(End::Tail, &item(score, member));
    }

    /// Does some of the work after the last member. Returns true when done.
    fn finish(&mut self) -> bool {
        if self.is_large && !self.indexing.step() {
            return false;
        }
        if !self.main.is_empty() {
            let (mut main, index) = (std::mem::take(&mut self.main), self.indexing.take());
            if self.is_large {
                main.push(End::Head, b"");
            }
            self.result = Sorted { parts: Some(Box::new(SortedParts { main, index })) };
        }
        true
    }

    /// Returns roughly its memory in bytes. O(1).
    pub(super) fn heap_bytes(&self) -> u64 {
        self.indexing.heap_bytes() + self.main.heap_bytes() + self.result.heap_bytes()
    }

    /// Returns the result, once it is done.
    pub(super) fn result(&self) -> &Sorted {
        &self.result
    }
}

/// An index being built.
#[derive(Debug)]
pub(super) struct Indexing {
    index: List,
    /// The entries of the index, by the first bits of the hash.
    buckets: Vec<Vec<(MemberHash, f64)>>,
    /// The number of finished buckets.
    done: usize,
    /// The number of hashes in all buckets.
    hashes: u64,
}

impl Indexing {
    /// Creates one for at most `members_max` members.
    pub(super) fn new(members_max: u64) -> Self {
        let buckets = (members_max / BUCKET_HASHES).min(BUCKETS_MAX).next_power_of_two();
        Self { index: List::new(), buckets: vec![Vec::new(); buckets as usize], done: 0, hashes: 0 }
    }

    pub(super) fn add(&mut self, score: f64, member: &[u8]) {
        let hash = index::hash(member);
        let bucket = index::number_of(hash) as usize * self.buckets.len() / index::HASHES_COUNT as usize;
        self.buckets[bucket].push((hash, score));
        self.hashes += 1;
    }

    /// Runs one step once all members are there. Returns true when done.
    pub(super) fn step(&mut self) -> bool {
        let Some(bucket) = self.buckets.get_mut(self.done) else { return true };
        let mut bucket = std::mem::take(bucket);
        bucket.sort_unstable_by_key(|(hash, _)| *hash);
        bucket.iter().for_each(|(hash, score)| self.index.push(End::Tail, &index::item(*hash, *score)));
        self.done += 1;
        self.hashes -= bucket.len() as u64;
        false
    }

    /// Returns the result, once it is done.
    pub(super) fn take(&mut self) -> List {
        std::mem::take(&mut self.index)
    }

    fn heap_bytes(&self) -> u64 {
        self.hashes * size_of::<(MemberHash, f64)>() as u64 + self.index.heap_bytes()
    }
}
