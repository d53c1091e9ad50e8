//! A large sorted set step by step, in the order of the members' hashes: the index has hashes and scores, and of each score
//! the main list has the members.
//!
//! ```text
//!   index   | 00f3.. 7 | 00f9.. 2 | 0104.. 7 | 0110.. 9 |     a step goes from one hash to another
//!                 |          |
//!   main    | ... 2 a | 2 b | ... | 7 c | 7 d | ... |         of those with that score, the one with that hash
//! ```
//!
//! Where one score has very many members, all of them are looked at once, and the step takes in more hashes.

use super::by_score;
use super::index::{self, Hash};
use super::score::split;
use crate::List;
use blocks::Direction;
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};

/// So many members of one score are looked through for each member of a step.
const FEW: u64 = 64;

/// Least part of all members that a step takes in which meets a score of many: so many steps see all.
const STEPS: u64 = 64;

/// See [`super::Sorted::scan`].
pub(super) fn step(
    main: &List,
    index: &List,
    cursor: u64,
    wanted: u64,
    visit: &mut impl FnMut(f64, &[u8]),
) -> Option<u64> {
    let from = index::point(index, index::hash_of(cursor)?);
    let scores = Scores { main, index };
    let mut end = scores.end(from, wanted);
    if scores.in_range(from..end).iter().any(|score| !scores.is_few(*score)) {
        end = scores.end(from, wanted.max(index.len() / STEPS));
    }
    let met = scores.in_range(from..end);
    let bounds = (scores.hash(from)?, scores.hash(end));
    let mut seen = HashSet::new();
    for score in met.into_iter().filter(|score| seen.insert(score.to_bits())) {
        scores.for_each_member(score, |score, member| {
            let hash = index::hash(member);
            if hash >= bounds.0 && bounds.1.is_none_or(|end| hash < end) {
                visit(score, member);
            }
        });
    }
    bounds.1.map(index::number_of)
}

struct Scores<'a> {
    main: &'a List,
    index: &'a List,
}

impl Scores<'_> {
    /// Where a step ends that begins at `from`: between two hashes.
    fn end(&self, from: u64, wanted: u64) -> u64 {
        match self.hash(from.saturating_add(wanted.max(1))) {
            Some(hash) if self.hash(from) == Some(hash) => index::point_behind(self.index, hash),
            Some(hash) => index::point(self.index, hash),
            None => self.index.len(),
        }
    }

    fn hash(&self, at: u64) -> Option<Hash> {
        self.index.get(at, index::hash_in)
    }

    fn in_range(&self, range: Range<u64>) -> Vec<f64> {
        let mut scores = Vec::new();
        let _ = self.index.walk(range.start, range.end - range.start, Direction::Forward, &mut |item: &[u8]| {
            scores.push(index::score_in(item));
            ControlFlow::Continue(())
        });
        scores
    }

    /// Whether few members have this score.
    fn is_few(&self, score: f64) -> bool {
        let start = self.first(score);
        let behind = self.main.get(start + FEW, |item| split(item).0 == score);
        behind != Some(true)
    }

    fn first(&self, score: f64) -> u64 {
        let is_before = |item: &[u8]| item.is_empty() || split(item).0 < score;
        self.main.guided_point(0..self.main.len(), by_score(score), is_before)
    }

    /// Shows all members whose score is this one, zeros with their sign.
    fn for_each_member(&self, score: f64, mut visit: impl FnMut(f64, &[u8])) {
        let start = self.first(score);
        let _ = self.main.walk(start, self.main.len() - start, Direction::Forward, &mut |item: &[u8]| {
            let (found, member) = split(item);
            if found != score {
                return ControlFlow::Break(());
            }
            visit(found, member);
            ControlFlow::Continue(())
        });
    }
}
