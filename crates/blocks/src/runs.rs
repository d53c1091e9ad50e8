//! Positions, stored as runs of adjacent ones. Ten million runs are never in one allocation: growing it would copy them
//! all at once.

/// Runs in one allocation.
const PART_RUNS: usize = 1 << 14;

/// Ascending or descending positions; adjacent ones are kept as one run of first position and count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Parts of [`PART_RUNS`] runs; the last one may have fewer.
    parts: Vec<Vec<(u64, u64)>>,
    items: u64,
}

impl Runs {
    /// Adds `count` positions from `start` on, all above those added before or all below. O(1).
    pub fn add(&mut self, start: u64, count: u64) {
        assert!(count > 0);
        self.items += count;
        match self.parts.last_mut().and_then(|part| part.last_mut()) {
            Some((last, length)) if *last + *length == start => *length += count,
            Some((last, length)) if start + count == *last => (*last, *length) = (start, *length + count),
            _ => self.push((start, count)),
        }
    }

    fn push(&mut self, run: (u64, u64)) {
        match self.parts.last_mut() {
            Some(part) if part.len() < PART_RUNS => part.push(run),
            _ => self.parts.push(vec![run]),
        }
    }

    /// Returns the total number of positions. O(1).
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Returns the number of runs. O(1).
    pub fn runs(&self) -> usize {
        self.parts.last().map_or(0, |last| (self.parts.len() - 1) * PART_RUNS + last.len())
    }

    /// Returns first position and count of a run, in the order of addition. O(1).
    pub fn run(&self, at: usize) -> (u64, u64) {
        self.parts[at / PART_RUNS][at % PART_RUNS]
    }

    /// As [`Runs::run`], but lowest positions first, in whichever order they were added. O(1).
    pub fn rising(&self, at: usize) -> (u64, u64) {
        let last = self.runs() - 1;
        if self.run(0) <= self.run(last) { self.run(at) } else { self.run(last - at) }
    }

    /// Returns the number of leading runs for which `is_before` holds. O(log runs).
    pub(crate) fn partition_point(&self, is_before: impl Fn(&(u64, u64)) -> bool) -> usize {
        let part = self.parts.partition_point(|part| part.last().is_some_and(&is_before));
        part * PART_RUNS + self.parts.get(part).map_or(0, |part| part.partition_point(is_before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_positions_merge_and_parts_read_as_one_sequence() {
        let mut rising = Runs::default();
        (0..70_000).for_each(|at| rising.add(at * 3, 1 + at % 3));
        assert_eq!(rising.runs(), 70_000 * 2 / 3 + 1);
        assert_eq!(rising.items(), (0..70_000).map(|at| 1 + at % 3).sum());
        let mut falling = Runs::default();
        (0..rising.runs()).rev().map(|at| rising.run(at)).for_each(|(start, count)| {
            (start..start + count).rev().for_each(|at| falling.add(at, 1));
        });
        assert_eq!((falling.runs(), falling.items()), (rising.runs(), rising.items()));
        for at in 0..rising.runs() {
            assert_eq!((rising.rising(at), falling.rising(at)), (rising.run(at), rising.run(at)));
            assert_eq!(rising.partition_point(|run| *run < rising.run(at)), at);
        }
    }
}
