//! An area search in progress: in steps through the score ranges of its cells, then the results in the requested order.

use crate::in_order::{InOrder, Number};
use blocks::Direction;
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use values::Sorted;
use values::geo::{Area, Cell};
use values::sorted::Bound;

/// Members examined per step: about 50 µs.
const STEP_MEMBERS: u64 = 256;

/// The search parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeoQuery {
    pub(super) area: Area,
    /// Nearest or farthest first; none: unordered.
    pub(super) order: Option<Direction>,
    /// The maximum number of results.
    pub(super) count: Option<u64>,
    /// True if any results will do, up to that number.
    pub(super) any: bool,
}

/// A found member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GeoMatch {
    pub(super) rank: u64,
    pub(super) distance_m: f64,
}

/// A search.
pub(super) struct GeoWalk {
    sorted: Sorted,
    wanted: GeoQuery,
    /// The remaining rank ranges: first rank and count.
    ranges: VecDeque<(u64, u64)>,
    found: Finds,
    returned: u64,
}

enum Finds {
    AsTheyCome(VecDeque<GeoMatch>),
    NearestFirst(InOrder<Number, u64>),
    FarthestFirst(InOrder<Reverse<Number>, u64>),
}

impl GeoWalk {
    /// Starts a search of `sorted`. O(log n).
    pub(super) fn new(sorted: Sorted, wanted: GeoQuery) -> Self {
        let ranges = |cell: Cell| {
            let scores = cell.scores();
            sorted.score_range(Bound::Including(scores.start), Bound::Excluding(scores.end))
        };
        let ranges = wanted.area.cells().into_iter().map(ranges).filter(|(_, count)| *count > 0).collect();
        let found = match wanted.order {
            None => Finds::AsTheyCome(VecDeque::new()),
            Some(Direction::Forward) => Finds::NearestFirst(InOrder::new()),
            Some(Direction::Backward) => Finds::FarthestFirst(InOrder::new()),
        };
        Self { sorted, wanted, ranges, found, returned: 0 }
    }

    pub(super) fn sorted(&self) -> &Sorted {
        &self.sorted
    }

    /// Returns the unit of the search, in meters.
    pub(super) fn unit_m(&self) -> f64 {
        self.wanted.area.unit_m
    }

    /// Returns the number of members still to examine.
    pub(super) fn left(&self) -> u64 {
        self.ranges.iter().map(|(_, count)| count).sum()
    }

    /// Runs for about 50 µs. Returns true when done.
    pub(super) fn step(&mut self) -> bool {
        let Some((start, count)) = self.ranges.pop_front() else { return true };
        let Self { sorted, wanted, found, .. } = self;
        let part = count.min(STEP_MEMBERS);
        let mut rank = start;
        let flow = sorted.walk(start, part, Direction::Forward, &mut |score, _| {
            if let Some(distance_m) = wanted.area.distance_within(Cell::of_score(score).middle()) {
                found.push(GeoMatch { rank, distance_m });
            }
            rank += 1;
            let is_enough = wanted.any && wanted.count.is_some_and(|count| found.len() >= count);
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if flow.is_break() {
            self.ranges.clear();
        } else if part < count {
            self.ranges.push_front((start + part, count - part));
        }
        self.ranges.is_empty()
    }

    /// After the search: returns the number of results left.
    pub(super) fn len(&self) -> u64 {
        self.wanted.count.map_or(u64::MAX, |count| count - self.returned).min(self.found.len())
    }

    /// After the search: returns the next result.
    pub(super) fn next(&mut self) -> Option<GeoMatch> {
        if self.len() == 0 {
            return None;
        }
        self.returned += 1;
        self.found.next()
    }

    /// Returns its memory beyond the sorted set, in bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.found.len() * size_of::<GeoMatch>() as u64
    }
}

impl Finds {
    fn push(&mut self, found: GeoMatch) {
        let GeoMatch { rank, distance_m } = found;
        match self {
            Self::AsTheyCome(all) => all.push_back(found),
            Self::NearestFirst(all) => all.push(Number(distance_m), rank),
            Self::FarthestFirst(all) => all.push(Reverse(Number(distance_m)), rank),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::AsTheyCome(all) => all.len() as u64,
            Self::NearestFirst(all) => all.len() as u64,
            Self::FarthestFirst(all) => all.len() as u64,
        }
    }

    fn next(&mut self) -> Option<GeoMatch> {
        match self {
            Self::AsTheyCome(all) => all.pop_front(),
            Self::NearestFirst(all) => all.next().map(|(Number(distance_m), rank)| GeoMatch { rank, distance_m }),
            Self::FarthestFirst(all) => {
                all.next().map(|(Reverse(Number(distance_m)), rank)| GeoMatch { rank, distance_m })
            }
        }
    }
}
