//! What a round writes: pure choices, without a disk.
//!
//! ```text
//!   base | delta delta delta ...   one shard's runs
//!
//!   base    all of the shard, when the deltas have grown to half of it, or most of what is stored is gone
//!   merge   the deltas and what is new, joined, when there are DELTAS_MAX
//!   delta   what is new
//! ```
//!
//! With deltas of up to half a base, a byte that stays is written again once for each half of its shard that changed:
//! about two bytes written for one changed, beside the one in the journal. Nothing is ever read but deltas.

use base::Ms;

/// Deltas that a shard has at most.
pub(super) const DELTAS_MAX: usize = 6;
/// Records of few keys are never too many.
const RECORDS_SLACK: u64 = 64;
/// A segment is drained when less than so much of it is alive, in percent.
const ALIVE_PERCENT: u64 = 60;
/// Live bytes that a round may copy to drain segments, beside as many as it writes anyway.
pub(super) const DRAIN_BYTES: u64 = 64 << 20;

/// What the store has of a shard.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stored {
    pub(super) has_base: bool,
    pub(super) base_bytes: u64,
    pub(super) deltas: usize,
    pub(super) deltas_bytes: u64,
    /// Records in all runs.
    pub(super) records: u64,
    /// Whether the base lies in a segment that is drained.
    pub(super) drains_base: bool,
    /// Whether a delta does.
    pub(super) drains_delta: bool,
}

/// Which run a shard gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// All of it.
    Base,
    /// What is new, joined with the deltas before.
    Merge,
    /// What is new.
    Delta,
}

/// Chooses for a shard of `keys` keys.
pub(super) fn choose(stored: &Stored, keys: u64) -> Choice {
    let is_mostly_gone = stored.records >= 2 * keys + RECORDS_SLACK;
    let is_outgrown = 2 * stored.deltas_bytes >= stored.base_bytes && stored.deltas > 0;
    match () {
        () if keys == 0 && stored.records == 0 => Choice::Delta,
        () if !stored.has_base || stored.drains_base || is_mostly_gone || is_outgrown => Choice::Base,
        () if stored.deltas >= DELTAS_MAX || stored.drains_delta => Choice::Merge,
        () => Choice::Delta,
    }
}

/// A segment as the choice of what to drain sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) bytes: u64,
    pub(super) live_bytes: u64,
}

/// The segments to drain: those with the least alive, as long as what is to be copied stays within `copy_bytes`.
pub(super) fn drained(segments: impl IntoIterator<Item = Segment>, copy_bytes: u64) -> Vec<u32> {
    let mut sparse: Vec<Segment> =
        segments.into_iter().filter(|segment| segment.live_bytes * 100 < segment.bytes * ALIVE_PERCENT).collect();
    sparse.sort_by_key(|segment| (segment.live_bytes * 1000 / segment.bytes.max(1), segment.number));
    let mut copied = 0;
    let mut numbers: Vec<u32> = sparse
        .iter()
        .take_while(|segment| {
            copied += segment.live_bytes;
            copied <= copy_bytes
        })
        .map(|segment| segment.number)
        .collect();
    numbers.sort_unstable();
    numbers
}

/// How much of its time a round works, in percent, when `tail_bytes` of journal lie behind the oldest shard and a
/// round is begun at `size_bytes`: at first it lets others go first, and at three times that size it goes first.
pub(super) fn work_percent(tail_bytes: u64, size_bytes: u64) -> u64 {
    let half_bytes = (size_bytes / 2).max(1);
    let over = tail_bytes.saturating_sub(size_bytes) / half_bytes;
    (25 + 25 * over).min(100)
}

/// How long to rest after having worked for `worked_us`, in milliseconds.
pub(super) fn rest_ms(worked_us: u64, work_percent: u64) -> Ms {
    worked_us * (100 - work_percent.min(100)) / work_percent.max(1) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_chosen_by_what_is_stored() {
        let stored = Stored { has_base: true, base_bytes: 1000, records: 100, ..Stored::default() };
        let cases = [
            (Stored::default(), 0, Choice::Delta),
            (Stored::default(), 1, Choice::Base),
            (stored, 100, Choice::Delta),
            (Stored { deltas: 1, deltas_bytes: 499, ..stored }, 100, Choice::Delta),
            (Stored { deltas: 1, deltas_bytes: 500, ..stored }, 100, Choice::Base),
            (Stored { deltas: DELTAS_MAX, deltas_bytes: 10, ..stored }, 100, Choice::Merge),
            (Stored { drains_delta: true, deltas: 1, ..stored }, 100, Choice::Merge),
            (Stored { drains_base: true, ..stored }, 100, Choice::Base),
            (Stored { records: 1000, ..stored }, 100, Choice::Base),
        ];
        for (stored, keys, choice) in cases {
            assert_eq!(choose(&stored, keys), choice, "{stored:?}");
        }
    }

    #[test]
    fn the_emptiest_segments_are_drained_first_and_within_the_bound() {
        let segment = |number, live_bytes| Segment { number, bytes: 100, live_bytes };
        let segments = [segment(1, 90), segment(2, 50), segment(3, 10), segment(4, 60), segment(5, 30)];
        assert_eq!(drained(segments, 1000), [2, 3, 5]);
        assert_eq!(drained(segments, 45), [3, 5]);
        assert_eq!(drained(segments, 5), [] as [u32; 0]);
    }

    #[test]
    fn a_round_works_more_the_longer_the_tail() {
        let percents: Vec<u64> = (0..8).map(|half| work_percent(half * 50, 100)).collect();
        assert_eq!(percents, [25, 25, 25, 50, 75, 100, 100, 100]);
        assert_eq!(rest_ms(1000, 25), 3);
        assert_eq!(rest_ms(1000, 100), 0);
    }
}
