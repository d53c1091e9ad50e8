//! The choice of the content of a round: pure functions, without a disk.
//!
//! ```text
//!   base | delta delta delta ...   one shard's runs
//!
//!   base    the whole shard, when the deltas have grown to half of it, or most stored records are gone, or most keys
//!           have changed; on a full disk, for all bases of a segment together, when that frees a twentieth
//!   merge   the deltas and the new changes, joined, when there are DELTAS_MAX; on a full disk, for all shards at once,
//!           in order, and for deltas in a segment with bases that are rewritten
//!   delta   the new changes
//! ```
//!
//! With deltas of up to half a base, an unchanged byte is rewritten once for each half of its shard that changed: about
//! two bytes written for one changed, besides the one in the journal. Only deltas are ever read.

use base::{Ms, Position};

/// Maximum number of deltas of a shard.
pub(super) const DELTAS_MAX: usize = 6;
/// When deltas are joined to regain room, shards with fewer keep theirs.
pub(super) const JOINED_MIN: usize = DELTAS_MAX / 2;
/// Records allowed beyond the bound, so that few keys never have too many.
const RECORDS_SLACK: u64 = 64;
/// Percentage of new or replaced keys above which a shard is written whole: a delta would soon be followed by a base.
const NEW_PERCENT: u64 = 60;
/// A segment is drained when less than this percentage of it is live.
pub(super) const ALIVE_PERCENT: u64 = 60;
/// The same when the disk has no room.
pub(super) const ALIVE_PERCENT_SHORT: u64 = 90;
/// A segment is emptied for room if less than this percentage of its shards' bytes remains.
const WORTH_PERCENT: u64 = 95;
/// The cost in quarters from which emptying gives back no more than it takes.
const COST_MAX: u64 = 4;
/// Live bytes that a round may copy to drain segments, besides as many as it writes anyway.
pub(super) const DRAIN_BYTES: u64 = 64 << 20;

/// The content that a commit writes of its shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// Whatever is cheapest in the long run.
    #[default]
    Usual,
    /// The changes and no more: about as much as they take in the journal.
    Changes,
    /// The changes, joined with the earlier deltas if there are at least this many.
    Joined(usize),
    /// Their data in segments to be emptied: the whole shard, if that is its base.
    Emptied,
}

/// The stored state of a shard.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoredShard {
    pub(super) has_base: bool,
    pub(super) base_bytes: u64,
    pub(super) deltas: usize,
    pub(super) deltas_bytes: u64,
    /// Records in all runs.
    pub(super) records: u64,
    /// True if the base is stored in a segment to be drained.
    pub(super) drains_base: bool,
    /// True if a delta is stored in such a segment.
    pub(super) drains_delta: bool,
    pub(super) form: Form,
}

/// The run that a shard gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The whole shard.
    Base,
    /// The changes, joined with the earlier deltas.
    Merge,
    /// The changes.
    Delta,
}

/// Chooses for a shard of `keys` keys with about `changes` to be written.
pub(super) fn choose(stored: &StoredShard, keys: u64, changes: u64) -> Choice {
    let is_mostly_gone = stored.records >= 2 * keys + RECORDS_SLACK;
    let is_mostly_new = changes * 100 >= keys * NEW_PERCENT;
    let is_outgrown = 2 * stored.deltas_bytes >= stored.base_bytes && stored.deltas > 0;
    match () {
        () if keys == 0 && stored.records == 0 => Choice::Delta,
        () if !stored.has_base => Choice::Base,
        () if stored.form == Form::Changes => Choice::Delta,
        () if stored.form == Form::Emptied => match (stored.drains_base, stored.drains_delta) {
            (true, _) => Choice::Base,
            (false, true) => Choice::Merge,
            (false, false) => Choice::Delta,
        },
        () if let Form::Joined(deltas_min) = stored.form => {
            if stored.deltas >= deltas_min {
                Choice::Merge
            } else {
                Choice::Delta
            }
        }
        () if stored.drains_base || is_mostly_gone || is_mostly_new || is_outgrown => Choice::Base,
        () if stored.deltas >= DELTAS_MAX || stored.drains_delta => Choice::Merge,
        () => Choice::Delta,
    }
}

/// A segment as seen by the choice of segments to drain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    /// All its contents, live or not.
    pub(super) bytes: u64,
    pub(super) live_bytes: u64,
}

impl Segment {
    pub(super) fn of(state: &store::SegmentState) -> Self {
        Self { number: state.number, bytes: state.content_bytes(), live_bytes: state.live_bytes }
    }
}

/// Returns, in order, the segments to drain, of those with less than the given percentage live: the emptiest first, as
/// long as the bytes to copy stay within `copy_bytes`.
pub(super) fn drained(segments: impl IntoIterator<Item = Segment>, alive_percent: u64, copy_bytes: u64) -> Vec<u32> {
    let mut sparse: Vec<Segment> =
        segments.into_iter().filter(|segment| segment.live_bytes * 100 < segment.bytes * alive_percent).collect();
    sparse.sort_by_key(|segment| (segment.live_bytes * 1000 / segment.bytes.max(1), segment.number));
    let mut left_bytes = copy_bytes;
    sparse.retain(|segment| {
        let rest = left_bytes.checked_sub(segment.live_bytes);
        left_bytes = rest.unwrap_or(left_bytes);
        rest.is_some()
    });
    let mut numbers: Vec<u32> = sparse.iter().map(|segment| segment.number).collect();
    numbers.sort_unstable();
    numbers
}

/// Segments and the shards with runs in them, as emptied together.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentGroup {
    /// In order.
    pub(super) segments: Vec<u32>,
    /// Bytes of their files, which are deleted with the last of the shards.
    pub(super) bytes: u64,
    /// Bytes elsewhere that become useless: those files go later, with others.
    pub(super) elsewhere_bytes: u64,
    /// Bytes to be written: of shards with their base here, all live data; of the others, their deltas.
    pub(super) kept_bytes: u64,
    /// In order.
    pub(super) shards: Vec<usize>,
}

impl SegmentGroup {
    /// Creates a group of one segment, without its shards.
    pub(super) fn of(segment: &Segment) -> Self {
        Self { segments: vec![segment.number], bytes: segment.bytes, ..Self::default() }
    }

    /// Returns true if it is emptied for room. If only some of its shards were written, it would stay.
    pub(super) fn is_worth_it(&self) -> bool {
        self.kept_bytes * 100 < (self.bytes + self.elsewhere_bytes) * WORTH_PERCENT
    }

    /// Returns true if that gives back at once more than it takes.
    pub(super) fn gives_back(&self) -> bool {
        self.kept_bytes < self.bytes
    }

    /// Adds another group, to be emptied together.
    pub(super) fn join(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.elsewhere_bytes += other.elsewhere_bytes;
        self.kept_bytes += other.kept_bytes;
        self.segments.extend(other.segments);
        self.segments.sort_unstable();
        self.shards.extend(other.shards);
        self.shards.sort_unstable();
        self.shards.dedup();
    }

    /// Returns the bytes written per byte given back at once, in quarters.
    fn cost(&self) -> u64 {
        self.kept_bytes * 4 / self.bytes.max(1)
    }
}

/// Sorts the groups in the order in which they are written when the disk has no room: first those that give back most
/// for the bytes written; equal ones, and those that give back later, in the order of their shards, which is the order
/// of their deltas on disk.
pub(super) fn by_gain(groups: &mut [SegmentGroup]) {
    groups.sort_by_key(|group| (group.cost().min(COST_MAX), group.shards.first().copied()));
}

/// Returns the percentage of its time a round works, when `tail_bytes` of journal follow the oldest shard and a round
/// begins at `size_bytes`: at first it lets others go first; from one and a half times that size on it does not rest.
pub(super) fn work_percent(tail_bytes: u64, size_bytes: u64) -> u64 {
    let half_bytes = (size_bytes / 2).max(1);
    let over_bytes = tail_bytes.saturating_sub(size_bytes).min(half_bytes);
    25 + 75 * over_bytes / half_bytes
}

/// Returns how long to rest after having worked for `worked_us`, in milliseconds.
pub(super) fn rest_ms(worked_us: u64, work_percent: u64) -> Ms {
    worked_us * (100 - work_percent.min(100)) / work_percent.max(1) / 1000
}

/// Returns where the journal must not be when, at the steepest: a position, and the microseconds until it is allowed.
/// The shards to be written next lie at `positions` in the store; number `index` of them is out of the way in
/// `left_us(index)`, and the tail may have `bytes_max`. `None` if there are none. O(positions).
pub(super) fn tail_goal(
    positions: &[Position],
    left_us: impl Fn(usize) -> u64,
    bytes_max: u64,
    next: Position,
) -> Option<(Position, u64)> {
    let mut least = Position::MAX;
    let goals = positions.iter().enumerate().rev().map(|(index, position)| {
        least = least.min(*position);
        (least.saturating_add(bytes_max), left_us(index).max(1))
    });
    let rate = |(position, left_us): &(Position, u64)| position.saturating_sub(next) as f64 / *left_us as f64;
    goals.min_by(|one, other| rate(one).total_cmp(&rate(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_run_is_chosen_by_the_stored_state() {
        let stored = StoredShard { has_base: true, base_bytes: 1000, records: 100, ..StoredShard::default() };
        let cases = [
            (StoredShard::default(), 0, Choice::Delta),
            (StoredShard::default(), 1, Choice::Base),
            (stored, 100, Choice::Delta),
            (StoredShard { deltas: 1, deltas_bytes: 499, ..stored }, 100, Choice::Delta),
            (StoredShard { deltas: 1, deltas_bytes: 500, ..stored }, 100, Choice::Base),
            (StoredShard { deltas: DELTAS_MAX, deltas_bytes: 10, ..stored }, 100, Choice::Merge),
            (StoredShard { drains_delta: true, deltas: 1, ..stored }, 100, Choice::Merge),
            (StoredShard { drains_base: true, ..stored }, 100, Choice::Base),
            (StoredShard { records: 1000, ..stored }, 100, Choice::Base),
            (StoredShard { records: 1000, form: Form::Changes, ..stored }, 100, Choice::Delta),
            (StoredShard { deltas: DELTAS_MAX, form: Form::Changes, ..stored }, 100, Choice::Delta),
            (
                StoredShard { deltas: DELTAS_MAX, deltas_bytes: 900, form: Form::Joined(3), ..stored },
                100,
                Choice::Merge,
            ),
            (StoredShard { deltas: 1, deltas_bytes: 900, form: Form::Joined(3), ..stored }, 100, Choice::Delta),
            (StoredShard { drains_base: true, form: Form::Emptied, ..stored }, 100, Choice::Base),
            (StoredShard { drains_delta: true, deltas: 1, form: Form::Emptied, ..stored }, 100, Choice::Merge),
            (StoredShard { records: 1000, form: Form::Emptied, ..stored }, 100, Choice::Delta),
            (StoredShard { form: Form::Changes, ..StoredShard::default() }, 1, Choice::Base),
        ];
        for (stored, keys, choice) in cases {
            assert_eq!(choose(&stored, keys, 0), choice, "{stored:?}");
        }
        assert_eq!([59, 60].map(|changes| choose(&stored, 100, changes)), [Choice::Delta, Choice::Base]);
    }

    #[test]
    fn the_emptiest_segments_are_drained_first_within_the_bound() {
        let segment = |number, live_bytes| Segment { number, bytes: 100, live_bytes };
        let segments = [segment(1, 90), segment(2, 50), segment(3, 10), segment(4, 60), segment(5, 30)];
        assert_eq!(drained(segments, ALIVE_PERCENT, 1000), [2, 3, 5]);
        assert_eq!(drained(segments, ALIVE_PERCENT, 45), [3, 5]);
        assert_eq!(drained(segments, ALIVE_PERCENT, 5), [] as [u32; 0]);
        let large = Segment { number: 6, bytes: 100_000, live_bytes: 1000 };
        assert_eq!(drained(segments.into_iter().chain([large]), ALIVE_PERCENT, 45), [3, 5], "it is passed over");
    }

    #[test]
    fn groups_that_free_most_are_written_first() {
        let group = |kept_bytes, shards: &[usize]| SegmentGroup {
            bytes: 100,
            kept_bytes,
            shards: shards.into(),
            ..SegmentGroup::default()
        };
        let mut groups =
            [group(90, &[5, 6]), group(60, &[7, 8]), group(10, &[1, 9]), group(80, &[2, 3]), group(99, &[0])];
        by_gain(&mut groups);
        assert_eq!(groups.each_ref().map(|group| group.shards[0]), [1, 7, 0, 2, 5]);
        assert_eq!(groups.map(|group| group.is_worth_it()), [true, true, false, true, true]);
    }

    #[test]
    fn a_longer_tail_raises_the_work_percentage() {
        let percents: Vec<u64> = (0..8).map(|half| work_percent(half * 50, 100)).collect();
        assert_eq!(percents, [25, 25, 25, 100, 100, 100, 100, 100]);
        assert_eq!(work_percent(110, 100), 40);
        assert_eq!(rest_ms(1000, 25), 3);
        assert_eq!(rest_ms(1000, 100), 0);
    }

    proptest! {
        /// Beside its definition: before a shard is out of the way, the tail reaches back to the least of those that are
        /// not.
        #[test]
        fn the_steepest_goal_is_found(
            positions in prop::collection::vec(0..2_000u64, 1..50),
            shard_us in 1..100u64,
            bytes_max in 1..3_000u64,
            next in 0..3_000u64,
        ) {
            let left_us = |index: usize| (index as u64 + 1) * shard_us;
            let rate = |(position, left_us): (Position, u64)| position.saturating_sub(next) as f64 / left_us as f64;
            let found = tail_goal(&positions, left_us, bytes_max, next).unwrap();
            let barrier = |index: usize| positions[index..].iter().min().unwrap() + bytes_max;
            let steepest = (0..positions.len()).map(|index| rate((barrier(index), left_us(index))));
            prop_assert_eq!(Some(rate(found)), steepest.min_by(f64::total_cmp));
            prop_assert!((0..positions.len()).any(|index| found == (barrier(index), left_us(index))));
            prop_assert_eq!(tail_goal(&[], left_us, bytes_max, next), None);
        }
    }
}
