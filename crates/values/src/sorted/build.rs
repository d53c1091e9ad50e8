//! Sorted sets made in steps: no step is long, however many members there are.
//!
//! ```text
//!   members in any order --> runs of RUN_MEMBERS, each sorted --> merged, the lowest first --.
//!                                                                                            v
//!   main     | score member | score member | ...                                             pushed
//!   index    buckets by the first bits of the hash, each sorted and pushed once all members are there
//! ```

use super::index::{self, MemberHash};
use super::{Sorted, SortedParts, item, order};
use crate::List;
use base::varint;
use blocks::End;

/// Members that are sorted at once: some 100 µs.
const RUN_MEMBERS: usize = 1024;
/// Hashes that are sorted at once, about.
const BUCKET_HASHES: u64 = 512;
/// Buckets at most: where there are more members, each has more.
pub(super) const BUCKETS_MAX: u64 = 1 << 14;
/// Members merged in one step.
const STEP_MEMBERS: usize = 256;

/// Beyond which a sorted set is large.
#[derive(Clone, Copy, Debug)]
pub struct SortedLimits {
    /// Members.
    pub entries: u64,
    /// Bytes of a member.
    pub member_bytes: u64,
}

/// Members that are put in order.
#[derive(Debug, Default)]
pub(super) struct Sorting {
    open: MemberRun,
    runs: Vec<MemberRun>,
    /// Of those runs that have some left the numbers: a heap, the one with the lowest member first.
    heap: Vec<usize>,
    members: u64,
    /// Of all runs.
    bytes: u64,
}

/// Members behind their scores.
#[derive(Debug, Default)]
struct MemberRun {
    bytes: Vec<u8>,
    /// Where each of the open run begins; of one that is sorted, where the next begins.
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

    /// Passes over the first member; whether another follows.
    fn advance(&mut self) -> bool {
        let length = self.first().1.len();
        self.at += size_of::<f64>() + varint::encoded_bytes(length as u64) + length;
        self.at < self.bytes.len()
    }

    fn sorted(self) -> Self {
        let mut starts = self.starts;
        let (bytes, at) = (self.bytes, self.at);
        let unsorted = Self { bytes, starts: Vec::new(), at };
        starts.sort_unstable_by(|one, other| order(unsorted.get(*one), unsorted.get(*other)));
        let mut run = Self { bytes: Vec::with_capacity(unsorted.bytes.len()), ..Self::default() };
        for start in starts {
            let (score, member) = unsorted.get(start);
            run.push(score, member);
        }
        run
    }
}

impl Sorting {
    /// Adds a member that is not there yet. Now and then some 100 µs.
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

    /// No member follows.
    pub(super) fn end(&mut self) {
        if !self.open.starts.is_empty() {
            self.runs.push(std::mem::take(&mut self.open).sorted());
        }
        self.heap = (0..self.runs.len()).collect();
        (0..self.heap.len() / 2).rev().for_each(|at| self.sift_down(at));
    }

    /// Members added.
    pub(super) fn len(&self) -> u64 {
        self.members
    }

    /// Bytes of memory, about. O(1).
    pub(super) fn heap_bytes(&self) -> u64 {
        self.bytes
    }

    /// Shows the lowest of those that are left; `false` if none is.
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

/// A sorted set under way, of members that come in order.
#[derive(Debug)]
pub(super) struct SortedBuilder {
    limits: SortedLimits,
    main: List,
    indexing: Indexing,
    is_large: bool,
    result: Sorted,
}

impl SortedBuilder {
    /// Of `members_max` members at most.
    pub(super) fn new(members_max: u64, limits: SortedLimits) -> Self {
        let indexing = Indexing::new(members_max);
        Self { limits, main: List::new(), indexing, is_large: false, result: Sorted::default() }
    }

    /// Takes some of what is left of `members`, or of what is to be done after them; whether it is over.
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

    /// Goes on with what comes behind the last member; whether it is over.
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

    /// Bytes of memory, about. O(1).
    pub(super) fn heap_bytes(&self) -> u64 {
        self.indexing.heap_bytes() + self.main.heap_bytes() + self.result.heap_bytes()
    }

    /// What came out, once it is over.
    pub(super) fn result(&self) -> &Sorted {
        &self.result
    }
}

/// An index under way.
#[derive(Debug)]
pub(super) struct Indexing {
    index: List,
    /// What the index is to have, by the first bits of the hash.
    buckets: Vec<Vec<(MemberHash, f64)>>,
    /// Of which so many are done.
    done: usize,
    /// Hashes that they have.
    hashes: u64,
}

impl Indexing {
    /// Of `members_max` members at most.
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

    /// Goes on once all members are there; whether it is over.
    pub(super) fn step(&mut self) -> bool {
        let Some(bucket) = self.buckets.get_mut(self.done) else { return true };
        let mut bucket = std::mem::take(bucket);
        bucket.sort_unstable_by_key(|(hash, _)| *hash);
        bucket.iter().for_each(|(hash, score)| self.index.push(End::Tail, &index::item(*hash, *score)));
        self.done += 1;
        self.hashes -= bucket.len() as u64;
        false
    }

    /// What came out, once it is over.
    pub(super) fn take(&mut self) -> List {
        std::mem::take(&mut self.index)
    }

    fn heap_bytes(&self) -> u64 {
        self.hashes * size_of::<(MemberHash, f64)>() as u64 + self.index.heap_bytes()
    }
}
