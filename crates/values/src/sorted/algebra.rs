//! Union, intersection and difference of sorted sets, and sets, in steps over clones.
//!
//! ```text
//!   union          members of all --> buckets by hash, in each of which scores meet --.
//!   intersection   the smallest, member by member: is it in all others?  -------------+--> put in order --> sorted set
//!   difference     the first, member by member: is it in no other?  ------------------'
//! ```

use super::build::{BUCKETS_MAX, SortedBuilder, SortedLimits, Sorting};
use super::{Sorted, index};
use crate::set::{Set, SetOperation};
use base::varint;
use blocks::Direction;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Looks into sources in one step: some 50 µs.
const STEP_LOOKS: u64 = 48;
/// Members put into buckets in one step.
const STEP_MEMBERS: u64 = 256;
/// Members of a bucket, about: some 100 µs.
const BUCKET_MEMBERS: u64 = 512;

/// What becomes of the scores of a member that several have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Their sum; that of infinities of both signs is 0.
    Sum,
    /// The lowest.
    Min,
    /// The highest.
    Max,
}

impl Aggregate {
    fn of(self, score: f64, other: f64) -> f64 {
        match self {
            Self::Sum => no_nan(score + other),
            Self::Min if other < score => other,
            Self::Max if other > score => other,
            Self::Min | Self::Max => score,
        }
    }
}

fn no_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// What has members; those of a set have the score 1.
#[derive(Clone, Debug)]
pub enum Members {
    /// A sorted set's.
    Sorted(Sorted),
    /// A set's.
    Set(Set),
}

impl Members {
    /// Number of members. O(1).
    pub fn len(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.len(),
            Self::Set(set) => set.len(),
        }
    }

    /// Whether there is none. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of members and scores, as they are kept. O(1).
    pub fn content_bytes(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.content_bytes(),
            Self::Set(set) => set.content_bytes(),
        }
    }

    /// Bytes of memory. O(1).
    pub fn heap_bytes(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.heap_bytes(),
            Self::Set(set) => set.heap_bytes(),
        }
    }

    fn score(&self, member: &[u8]) -> Option<f64> {
        match self {
            Self::Sorted(sorted) => sorted.score(member),
            Self::Set(set) => set.contains(member).then_some(1.0),
        }
    }

    /// Shows `count` of them from `at` on, each once over all of them.
    fn walk(&self, at: u64, count: u64, mut visit: impl FnMut(f64, &[u8])) {
        match self {
            Self::Sorted(sorted) => {
                let _ = sorted.walk(at, count, Direction::Forward, &mut |score, member| {
                    visit(score, member);
                    ControlFlow::Continue(())
                });
            }
            Self::Set(set) => set.walk(at, count, |member| {
                visit(1.0, member);
                ControlFlow::Continue(())
            }),
        }
    }
}

/// One of those that an operation works on.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its members.
    pub members: Members,
    /// What its scores are multiplied by.
    pub weight: f64,
}

impl Source {
    fn weigh(&self, score: f64) -> f64 {
        no_nan(score * self.weight)
    }

    /// NaN if infinity has no weight: a sum with it is 0, and it is neither the lowest nor the highest, as in Redis.
    fn raw_score(&self, member: &[u8]) -> Option<f64> {
        self.members.score(member).map(|score| score * self.weight)
    }
}

/// What it is about.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Which members.
    pub operation: SetOperation,
    /// With which scores.
    pub aggregate: Aggregate,
    /// No more members than so many.
    pub count_max: u64,
    /// Only how many there are: no sorted set is made of them.
    pub is_counted: bool,
}

/// An operation under way.
#[derive(Debug)]
pub struct SortedAlgebra {
    asked: Asked,
    sources: Vec<Source>,
    /// Whose members are gone through, and from which on.
    source: usize,
    at: u64,
    /// Scores and members of a union, by hash; in each of them in the order of the sources.
    buckets: Vec<Vec<u8>>,
    buckets_bytes: u64,
    bucket: usize,
    counted: u64,
    phase: AlgebraPhase,
    sorting: Sorting,
    building: SortedBuilder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AlgebraPhase {
    Take,
    Meet,
    Build,
    Over,
}

impl SortedAlgebra {
    /// Begins it on these sources, of which there is at least one.
    pub fn new(asked: Asked, mut sources: Vec<Source>, limits: SortedLimits) -> Self {
        assert!(!sources.is_empty());
        if asked.operation != SetOperation::Difference {
            // The sum of doubles hangs on their order: it is Redis's, the smallest first.
            sources.sort_by_key(|source| source.members.len());
        }
        let all = match asked.operation {
            SetOperation::Union => sources.iter().map(|source| source.members.len()).sum(),
            _ => 0,
        };
        let (members_max, buckets) = match asked.operation {
            SetOperation::Union => (all, (all / BUCKET_MEMBERS).min(BUCKETS_MAX).next_power_of_two()),
            _ => (sources[0].members.len(), 0),
        };
        let members_max = if asked.is_counted { 0 } else { members_max };
        Self {
            asked,
            sources,
            source: 0,
            at: 0,
            buckets: vec![Vec::new(); buckets as usize],
            buckets_bytes: 0,
            bucket: 0,
            counted: 0,
            phase: AlgebraPhase::Take,
            sorting: Sorting::default(),
            building: SortedBuilder::new(members_max, limits),
        }
    }

    /// How many looks into sources are to be made, at most.
    pub fn looks(&self) -> u64 {
        match self.asked.operation {
            SetOperation::Union => self.sources.iter().map(|source| source.members.len()).sum(),
            _ => self.sources[0].members.len().saturating_mul(self.sources.len() as u64),
        }
    }

    /// Bytes of the members that are gone through.
    pub fn content_bytes(&self) -> u64 {
        let count = if self.asked.operation == SetOperation::Union { self.sources.len() } else { 1 };
        self.sources[..count].iter().map(|source| source.members.content_bytes()).sum()
    }

    /// Goes on for some 50 to 100 µs; whether it is over.
    pub fn step(&mut self) -> bool {
        match self.phase {
            AlgebraPhase::Take if self.asked.operation == SetOperation::Union => self.take_all(),
            AlgebraPhase::Take => self.take_some(),
            AlgebraPhase::Meet => self.meet(),
            AlgebraPhase::Build if self.building.step(&mut self.sorting) => self.phase = AlgebraPhase::Over,
            AlgebraPhase::Build | AlgebraPhase::Over => {}
        }
        self.phase == AlgebraPhase::Over
    }

    /// Members that it found, once it is over.
    pub fn count(&self) -> u64 {
        self.counted
    }

    /// What came out, once it is over; nothing if only their number was wanted.
    pub fn result(&self) -> &Sorted {
        self.building.result()
    }

    /// Does all of it.
    #[must_use]
    pub fn run(mut self) -> Sorted {
        while !self.step() {}
        self.result().clone()
    }

    /// Bytes of memory beside the sources, about. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.buckets_bytes + self.sorting.heap_bytes() + self.building.heap_bytes()
    }

    /// Puts some members of a union into their buckets.
    fn take_all(&mut self) {
        let Self { sources, buckets, buckets_bytes, .. } = self;
        let Some(source) = sources.get(self.source) else {
            self.phase = AlgebraPhase::Meet;
            return;
        };
        let count = STEP_MEMBERS.min(source.members.len() - self.at);
        let shift = 64 - buckets.len().trailing_zeros();
        source.members.walk(self.at, count, |score, member| {
            let bucket = &mut buckets[index::whole_hash(member).checked_shr(shift).unwrap_or(0) as usize];
            let before = bucket.len();
            bucket.extend_from_slice(&source.weigh(score).to_le_bytes());
            varint::put_bytes(bucket, member);
            *buckets_bytes += (bucket.len() - before) as u64;
        });
        self.pass(count);
    }

    /// Has the scores of one bucket meet.
    fn meet(&mut self) {
        let Some(bucket) = self.buckets.get_mut(self.bucket).map(std::mem::take) else {
            self.end_taking();
            return;
        };
        let mut scores: HashMap<&[u8], f64> = HashMap::new();
        let mut rest = &bucket[..];
        while let Some((score, behind)) = rest.split_first_chunk() {
            rest = behind;
            let member = varint::take_bytes(&mut rest).expect("what was put");
            let score = f64::from_le_bytes(*score);
            let aggregate = self.asked.aggregate;
            scores.entry(member).and_modify(|before| *before = aggregate.of(*before, score)).or_insert(score);
        }
        scores.into_iter().for_each(|(member, score)| self.sorting.add(score, member));
        self.buckets_bytes -= bucket.len() as u64;
        self.bucket += 1;
    }

    /// Looks for some members in the other sources.
    fn take_some(&mut self) {
        let Self { sources, sorting, asked, counted, .. } = self;
        let (first, others) = sources.split_first().expect("at least one source");
        if self.at == first.members.len() || *counted >= asked.count_max {
            self.end_taking();
            return;
        }
        let looks = others.len().max(1) as u64;
        let count = (STEP_LOOKS / looks).clamp(1, first.members.len() - self.at);
        first.members.walk(self.at, count, |score, member| {
            let found = match asked.operation {
                SetOperation::Difference => {
                    let is_elsewhere = others.iter().any(|other| other.members.score(member).is_some());
                    (!is_elsewhere).then_some(score)
                }
                _ => others.iter().try_fold(first.weigh(score), |sum, other| {
                    other.raw_score(member).map(|score| asked.aggregate.of(sum, score))
                }),
            };
            if let Some(score) = found.filter(|_| *counted < asked.count_max) {
                *counted += 1;
                if !asked.is_counted {
                    sorting.add(score, member);
                }
            }
        });
        self.at += count;
    }

    fn pass(&mut self, count: u64) {
        self.at += count;
        if self.at == self.sources[self.source].members.len() {
            (self.source, self.at) = (self.source + 1, 0);
        }
    }

    fn end_taking(&mut self) {
        self.counted = self.counted.max(self.sorting.len());
        self.sorting.end();
        self.phase = AlgebraPhase::Build;
    }
}
