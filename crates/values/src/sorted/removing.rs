//! Removes very many members of a sorted set, in short steps.
//!
//! ```text
//!   main     | kept ...... | cut ........ | kept ..... |     cut out at once
//!   index    few removed: each entry is removed; many: rebuilt from the kept members
//! ```

use super::build::Indexing;
use super::index;
use super::score::split;
use super::{Sorted, SortedParts};
use crate::List;
use blocks::Direction;
use std::ops::ControlFlow;

/// If more than a fourth of what remains is removed at once, the index is rebuilt.
const REBUILD_SHARE: u64 = 4;
/// Members removed from the index per step: about 60 µs.
const STEP_REMOVALS: u64 = 32;
/// Members put into an index per step.
const STEP_MEMBERS: u64 = 512;

/// A removal in progress.
#[derive(Debug)]
pub struct Removing {
    main: List,
    index: List,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// The removed members, from a position on, are removed from the index one by one.
    Each {
        cut: List,
        at: u64,
    },
    /// The kept members, from a position on, are put into a new index.
    Anew {
        indexing: Indexing,
        at: u64,
    },
    Over,
}

impl Removing {
    /// Starts to remove the `count` members from `rank` on, which must exist.
    pub fn new(sorted: Sorted, rank: u64, count: u64) -> Self {
        assert!(rank + count <= sorted.len());
        let (is_large, at, kept) = (sorted.is_large(), rank + sorted.start(), sorted.len() - count);
        let SortedParts { mut main, index } = sorted.parts.map_or_else(SortedParts::default, |parts| *parts);
        let mut cut = main.split_off(at);
        main.append(cut.split_off(count));
        let work = match is_large && count > 0 {
            false => Work::Over,
            true if kept / REBUILD_SHARE < count => Work::Anew { indexing: Indexing::new(kept), at: 1 },
            true => Work::Each { cut, at: 0 },
        };
        Self { main, index, work }
    }

    /// Runs for about 100 µs. Returns true when done.
    pub fn step(&mut self) -> bool {
        let Self { main, index, work } = self;
        match work {
            Work::Each { cut, at } => {
                let count = STEP_REMOVALS.min(cut.len() - *at);
                walk(cut, *at, count, |score, member| index::remove(index, index::hash(member), score));
                *at += count;
                if *at == cut.len() {
                    *work = Work::Over;
                }
            }
            Work::Anew { indexing, at } if *at < main.len() => {
                let count = STEP_MEMBERS.min(main.len() - *at);
                walk(main, *at, count, |score, member| indexing.add(score, member));
                *at += count;
            }
            Work::Anew { indexing, .. } => {
                if indexing.step() {
                    *index = indexing.take();
                    *work = Work::Over;
                }
            }
            Work::Over => {}
        }
        matches!(self.work, Work::Over)
    }

    /// Returns the remaining set, once it is done.
    pub fn result(&self) -> Sorted {
        // A set without members has no head.
        let has_members = self.main.len() > u64::from(self.main.get(0, <[u8]>::is_empty) == Some(true));
        let parts = || Box::new(SortedParts { main: self.main.clone(), index: self.index.clone() });
        Sorted { parts: has_members.then(parts) }
    }

    /// Runs it to completion.
    #[must_use]
    pub fn run(mut self) -> Sorted {
        while !self.step() {}
        self.result()
    }
}

fn walk(main: &List, at: u64, count: u64, mut visit: impl FnMut(f64, &[u8])) {
    let _ = main.walk(at, count, Direction::Forward, &mut |item: &[u8]| {
        let (score, member) = split(item);
        visit(score, member);
        ControlFlow::Continue(())
    });
}
