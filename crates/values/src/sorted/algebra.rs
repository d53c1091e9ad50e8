//! Union, intersection and difference of sorted sets, and sets, in steps over clones.
//!
//! ```text
//!   union          members of all --> buckets by hash, scores combined in each -------.
//!   intersection   the smallest in a hash table, then the others: who meets all? -----+--> sorted --> sorted set
//!   difference     the first in a hash table, then the others: who meets none? -------'
//! ```
//!
//! If the smallest, or the first, is too large for a table, or only some members are wanted, each of its members is
//! looked up in the others instead; so is each candidate in a source that has many times their number.

use super::build::{BUCKETS_MAX, SortedBuilder, SortedLimits, Sorting};
use super::candidates::Candidates;
use super::{Sorted, index};
use crate::set::{Set, SetOperation};
use base::varint;
use blocks::Direction;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Source lookups per step: about 50 µs.
const STEP_LOOKS: u64 = 48;
/// Members put into buckets per step.
const STEP_MEMBERS: u64 = 256;
/// Members that are met in a table in the time of a lookup.
const LOOK_MEMBERS: u64 = 8;
/// A source with so many times the candidates is searched for each of them.
const SEARCHED_RATIO: u64 = 16;
/// A source whose members have more bytes than this, on average, is searched: meeting means to hash all of them.
const READ_BYTES_MEAN: u64 = 128;
/// The approximate number of members per bucket: about 100 µs.
const BUCKET_MEMBERS: u64 = 512;

/// The function that combines the scores of a member in several sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum; of infinities of both signs it is 0.
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

/// Returns true if each of so many candidates is looked up in a source.
fn is_searched(source: &Source, candidates: u64) -> bool {
    let (len, bytes) = (source.members.len(), source.members.content_bytes());
    len > candidates.saturating_mul(SEARCHED_RATIO) || bytes > len.saturating_mul(READ_BYTES_MEAN)
}

fn no_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

/// A source's members; members of a set have score 1.
#[derive(Clone, Debug)]
pub enum Members {
    /// The members of a sorted set.
    Sorted(Sorted),
    /// The members of a set.
    Set(Set),
}

impl Members {
    /// Returns the number of members. O(1).
    pub fn len(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.len(),
            Self::Set(set) => set.len(),
        }
    }

    /// Returns true if there are none. O(1).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of members and scores, as stored. O(1).
    pub fn content_bytes(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.content_bytes(),
            Self::Set(set) => set.content_bytes(),
        }
    }

    /// Returns its memory in bytes. O(1).
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

    /// Visits `count` of them from `at` on; a full pass visits each once.
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

/// One input of an operation.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its members.
    pub members: Members,
    /// The factor for its scores.
    pub weight: f64,
}

impl Source {
    fn weigh(&self, score: f64) -> f64 {
        no_nan(score * self.weight)
    }

    /// Returns NaN for an infinity with weight 0: a sum with it is 0, and it is neither minimum nor maximum, as in
    /// Redis.
    fn raw_score(&self, member: &[u8]) -> Option<f64> {
        self.members.score(member).map(|score| score * self.weight)
    }
}

/// The requested operation.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The operation on the members.
    pub operation: SetOperation,
    /// The operation on the scores.
    pub aggregate: Aggregate,
    /// The maximum number of members.
    pub count_max: u64,
    /// True if only the number of members is wanted: then no sorted set is built.
    pub is_counted: bool,
}

/// An operation in progress.
#[derive(Debug)]
pub struct SortedAlgebra {
    asked: Asked,
    sources: Vec<Source>,
    /// The source whose members are visited, and the next member.
    source: usize,
    at: u64,
    /// The members of the first source, if they are met by those of the others.
    candidates: Option<Candidates>,
    /// Scores and members of a union, by hash; each bucket in the order of the sources.
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
    /// Starts an operation on at least one source.
    pub fn new(asked: Asked, mut sources: Vec<Source>, limits: SortedLimits) -> Self {
        assert!(!sources.is_empty());
        if asked.operation != SetOperation::Difference {
            // A sum of doubles depends on the order: we use the order of Redis, smallest source first.
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
        let first = &sources[0].members;
        let is_met = asked.operation != SetOperation::Union
            && sources.len() > 1
            && asked.count_max >= first.len()
            && first.len() <= Candidates::MEMBERS_MAX
            && first.content_bytes() <= Candidates::BYTES_MAX;
        Self {
            asked,
            candidates: is_met.then(|| Candidates::new(first.len())),
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

    /// Returns the maximum number of source lookups, or of work that takes as long.
    pub fn looks(&self) -> u64 {
        let first_len = self.sources[0].members.len();
        match self.asked.operation {
            SetOperation::Union => self.sources.iter().map(|source| source.members.len()).sum(),
            _ if self.candidates.is_some() => {
                let looks = |source: &Source| match is_searched(source, first_len) {
                    true => first_len,
                    false => source.members.len().div_ceil(LOOK_MEMBERS),
                };
                self.sources.iter().map(looks).fold(0, u64::saturating_add)
            }
            _ => first_len.saturating_mul(self.sources.len() as u64),
        }
    }

    /// Returns the bytes of the members to visit.
    pub fn content_bytes(&self) -> u64 {
        let count = if self.asked.operation == SetOperation::Union { self.sources.len() } else { 1 };
        self.sources[..count].iter().map(|source| source.members.content_bytes()).sum()
    }

    /// Runs for about 50 to 100 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        match self.phase {
            AlgebraPhase::Take if self.asked.operation == SetOperation::Union => self.take_all(),
            AlgebraPhase::Take if self.candidates.is_some() => self.meet_some(),
            AlgebraPhase::Take => self.take_some(),
            AlgebraPhase::Meet => self.meet(),
            AlgebraPhase::Build if self.building.step(&mut self.sorting) => self.phase = AlgebraPhase::Over,
            AlgebraPhase::Build | AlgebraPhase::Over => {}
        }
        self.phase == AlgebraPhase::Over
    }

    /// Returns the number of members found, once it is done.
    pub fn count(&self) -> u64 {
        self.counted
    }

    /// Returns the result, once it is done; empty if only the count was wanted.
    pub fn result(&self) -> &Sorted {
        self.building.result()
    }

    /// Runs it to completion.
    #[must_use]
    pub fn run(mut self) -> Sorted {
        while !self.step() {}
        self.result().clone()
    }

    /// Returns roughly its memory beyond the sources, in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        let candidates_bytes = self.candidates.as_ref().map_or(0, Candidates::heap_bytes);
        candidates_bytes + self.buckets_bytes + self.sorting.heap_bytes() + self.building.heap_bytes()
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

    /// Combines the scores of one bucket.
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

    /// Takes some candidates, lets them meet some members of another source, or keeps some that met all.
    fn meet_some(&mut self) {
        let Self { sources, sorting, asked, counted, candidates, source: pass, at, .. } = self;
        let (pass, from, asked) = (*pass, *at, *asked);
        let candidates = candidates.as_mut().expect("the caller has looked");
        let is_difference = asked.operation == SetOperation::Difference;
        let Some(source) = sources.get(pass) else {
            let end = (from + STEP_MEMBERS).min(candidates.len());
            for (score, member, met) in (from..end).filter_map(|at| candidates.get(at as usize)) {
                if is_difference || met + 1 == sources.len() {
                    *counted += 1;
                    if !asked.is_counted {
                        sorting.add(score, member);
                    }
                }
            }
            *at = end;
            if end == candidates.len() {
                self.candidates = None;
                self.end_taking();
            }
            return;
        };
        let is_searched = pass > 0 && is_searched(source, candidates.len());
        let (items, step) = match is_searched {
            true => (candidates.len(), STEP_LOOKS),
            false => (source.members.len(), STEP_MEMBERS),
        };
        let count = step.min(items - from);
        let meet = |candidates: &mut Candidates, at: usize, score: Option<f64>| match (is_difference, score) {
            (true, Some(_)) | (false, None) => candidates.drop(at),
            (false, Some(score)) => candidates.meet(at, pass, |before| asked.aggregate.of(before, score)),
            (true, None) => {}
        };
        if pass == 0 {
            let weigh = |score| if is_difference { score } else { source.weigh(score) };
            source.members.walk(from, count, |score, member| candidates.add(weigh(score), member));
        } else if is_searched {
            for at in from as usize..(from + count) as usize {
                if let Some((_, member, _)) = candidates.get(at) {
                    let score = source.raw_score(member);
                    meet(candidates, at, score);
                }
            }
        } else {
            source.members.walk(from, count, |score, member| {
                if let Some(at) = candidates.find(member) {
                    meet(candidates, at, Some(score * source.weight));
                }
            });
        }
        self.at += count;
        if self.at == items {
            (self.source, self.at) = (pass + 1, 0);
        }
    }

    /// Looks up some members in the other sources.
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
