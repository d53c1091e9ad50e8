//! Scans a large sorted set in steps, in the order of the members' hashes: the index has hashes and scores, and the
//! main list has the members of each score.
//!
//! ```text
//!   index   | 00f3.. 7 | 00f9.. 2 | 0104.. 7 | 0110.. 9 |     a step goes from one hash to another
//!                 |          |
//!   main    | ... 2 a | 2 b | ... | 7 c | 7 d | ... |         of the members with that score, the one with that hash
//! ```
//!
//! If that would examine very many members for each one returned, the step covers more hashes. It runs in turns:
//!
//! ```text
//!   Take: the scores of some hashes  -->  Weigh: count the members with them  -->  Show: the members of each score
//!     ^                                      |
//!     '---- too many for the result: --------'
//!           more hashes
//! ```

use super::by_score;
use super::index::{self, MemberHash};
use super::score::split;
use crate::List;
use blocks::Direction;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Members examined for each one returned, before a step covers more hashes.
const LOOKS_MAX: u64 = 128;
/// The smallest part of all members that such a step covers: this many steps cover all.
const STEPS: u64 = 64;
/// Members, and hashes, examined per turn: about 100 µs.
const TURN_LOOKS: u64 = 1024;
/// Bytes of a member that count as one look.
const LOOK_BYTES: u64 = 256;
/// Scores whose members are counted per turn.
const TURN_SCORES: usize = 64;

/// A scan step in progress.
#[derive(Debug)]
pub struct Scan {
    main: List,
    index: List,
    /// The first hash, and the position after the last one.
    from: u64,
    end: u64,
    /// The next position in the index.
    at: u64,
    wanted: u64,
    scores: Vec<f64>,
    known: HashSet<u64>,
    /// The next score, and its next member.
    score: usize,
    member: Option<u64>,
    looks: u64,
    is_wide: bool,
    phase: ScanPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanPhase {
    Take,
    Weigh,
    Show,
    Over,
}

impl Scan {
    /// Starts a step on a large sorted set; `None` if the cursor is beyond all hashes.
    pub(super) fn new(main: &List, index: &List, cursor: u64, wanted: u64) -> Option<Self> {
        let from = index::point(index, index::hash_of(cursor)?);
        let mut scan = Self {
            main: main.clone(),
            index: index.clone(),
            from,
            end: from,
            at: from,
            wanted: wanted.max(1),
            scores: Vec::new(),
            known: HashSet::new(),
            score: 0,
            member: None,
            looks: 0,
            is_wide: false,
            phase: ScanPhase::Take,
        };
        scan.end = scan.end_of(scan.wanted);
        Some(scan)
    }

    /// Runs for about 100 µs and visits members. Returns true when done.
    pub fn turn(&mut self, visit: &mut impl FnMut(f64, &[u8])) -> bool {
        match self.phase {
            ScanPhase::Take => self.take(),
            ScanPhase::Weigh => self.weigh(),
            ScanPhase::Show => self.show(visit),
            ScanPhase::Over => {}
        }
        self.phase == ScanPhase::Over
    }

    /// Returns the cursor for the next step; `None` at the end.
    pub fn next(&self) -> Option<u64> {
        self.hash(self.end).map(index::number_of)
    }

    /// Returns the end of a step of `wanted` hashes: between two distinct ones.
    fn end_of(&self, wanted: u64) -> u64 {
        match self.hash(self.from.saturating_add(wanted)) {
            Some(hash) if self.hash(self.from) == Some(hash) => index::point_behind(&self.index, hash),
            Some(hash) => index::point(&self.index, hash),
            None => self.index.len(),
        }
    }

    fn hash(&self, at: u64) -> Option<MemberHash> {
        self.index.get(at, index::hash_in)
    }

    fn take(&mut self) {
        let count = TURN_LOOKS.min(self.end - self.at);
        let Self { index, known, scores, .. } = self;
        let _ = index.walk(self.at, count, Direction::Forward, &mut |item: &[u8]| {
            let score = index::score_in(item);
            if known.insert(score.to_bits()) {
                scores.push(score);
            }
            ControlFlow::Continue(())
        });
        self.at += count;
        if self.at == self.end {
            self.phase = if self.is_wide { ScanPhase::Show } else { ScanPhase::Weigh };
        }
    }

    fn weigh(&mut self) {
        let until = self.scores.len().min(self.score + TURN_SCORES);
        for score in &self.scores[self.score..until] {
            self.looks += self.place(*score, true) - self.place(*score, false);
        }
        self.score = until;
        let wide = self.index.len() / STEPS;
        if self.looks > LOOKS_MAX * self.wanted && wide > self.wanted {
            (self.is_wide, self.score, self.end) = (true, 0, self.end_of(wide));
            self.phase = ScanPhase::Take;
        } else if self.score == self.scores.len() {
            (self.score, self.phase) = (0, ScanPhase::Show);
        }
    }

    /// Returns the position of the first member with a score, or the position after the last one.
    fn place(&self, score: f64, is_behind: bool) -> u64 {
        let is_before = |item: &[u8]| {
            item.is_empty() || {
                let found = split(item).0;
                found < score || (is_behind && found == score)
            }
        };
        self.main.guided_point(0..self.main.len(), by_score(score), is_before)
    }

    fn show(&mut self, visit: &mut impl FnMut(f64, &[u8])) {
        let (Some(first), behind) = (self.hash(self.from), self.hash(self.end)) else {
            self.phase = ScanPhase::Over;
            return;
        };
        let mut left = TURN_LOOKS;
        while left > 0 {
            let Some(&score) = self.scores.get(self.score) else {
                self.phase = ScanPhase::Over;
                return;
            };
            let mut at = self.member.take().unwrap_or_else(|| self.place(score, false));
            let mut is_tired = false;
            let flow = self.main.walk(at, left.min(self.main.len() - at), Direction::Forward, &mut |item: &[u8]| {
                let (found, member) = split(item);
                if found != score {
                    return ControlFlow::Break(());
                }
                at += 1;
                left = left.saturating_sub(1 + member.len() as u64 / LOOK_BYTES);
                let hash = index::hash(member);
                if hash >= first && behind.is_none_or(|behind| hash < behind) {
                    // The main list keeps the sign of zero.
                    visit(found, member);
                }
                is_tired = left == 0;
                if is_tired { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if (flow.is_break() && !is_tired) || at == self.main.len() {
                self.score += 1;
            } else {
                self.member = Some(at);
            }
            // Finding the next one costs some looks, too.
            left = left.saturating_sub(4);
        }
    }
}
