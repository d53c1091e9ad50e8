//! A round for the sake of room: the disk is full, or frames that grow wait.
//!
//! ```text
//!   blocks    those of the emptiest segments are written anew, as many as there is room for      until there is room enough
//!   shards    in small commits: those first whose segments give back most for what is written, the shards of a segment
//!             whole and together where that is worth it
//!   again     those that found no room, as long as others were written; at last each by itself
//! ```
//!
//! A commit takes room before it gives any back, so there is always some that frames leave to it
//! ([`journal::Options::kept_free_bytes`]). Some of that is left to commits that give back more than they take: whatever else
//! comes, they can be made.

use super::Checkpointer;
use super::policy::{self, ALIVE_PERCENT, ALIVE_PERCENT_SHORT, Group, Segment};
use super::round::{Done, Failure, Plan};
use base::limits::SHARDS;
use std::collections::{BTreeMap, VecDeque};
use store::SegmentKind;

/// A commit takes at most such a part of the room there is.
const COMMIT_PART: u64 = 8;
/// But this much, in bytes, if it can.
const COMMIT_BYTES_MIN: u64 = 64 << 10;
/// Such a part of what is kept free is left to commits that give back more than they take.
const LOW_PART: u64 = 4;
/// But no more than this, in bytes: half of the largest reserve.
const LOW_BYTES_MAX: u64 = 2 << 20;
/// So little room other commits leave to themselves: a part of it that they surely fit.
const SURE_PART: u64 = 2;
/// Live blocks that are written anew at once take at most such a part.
const COPY_PART: u64 = 4;
/// And what else is written with them as much again.
const DRAIN_PART: u64 = 2;
/// Blocks are written anew until so many times the room is free that is always kept.
const KEPT_TIMES: u64 = 6;

impl Checkpointer {
    /// Writes every shard, and leaves little that is of no use.
    pub(super) async fn round_for_room(&mut self) -> Result<(), String> {
        self.hands.is_short.set(true);
        let (mut groups, mut done) = (self.groups().await, Done::default());
        loop {
            let count = shards_count(&groups);
            let (mut left, failure) = self.write_once(groups, &mut done).await.map_err(|failure| failure.why)?;
            let Some(failure) = failure else { return Ok(()) };
            if shards_count(&left) == count {
                if !left.iter().any(Group::is_worth_it) {
                    return Err(failure.why);
                }
                left.iter_mut().for_each(Group::part);
            }
            groups = left;
        }
    }

    /// Writes the shards of `groups`; those that found no room, each tried for itself.
    async fn write_once(
        &mut self,
        groups: Vec<Group>,
        done: &mut Done,
    ) -> Result<(Vec<Group>, Option<Failure>), Failure> {
        let (mut groups, mut left, mut last) = (VecDeque::from(groups), Vec::new(), None);
        let mut may_drain = true;
        // Of runs that are not written whole, deltas that are joined.
        let drained = policy::drained(self.segments(SegmentKind::Runs), ALIVE_PERCENT, u64::MAX);
        while let Some(mut group) = groups.pop_front() {
            may_drain = may_drain && self.drain_blocks(done).await?;
            let free_bytes = self.free_bytes();
            let bytes = self.commit_bytes(free_bytes);
            let whole = group.is_worth_it() && group.kept_bytes < free_bytes;
            while whole && let Some(next) = groups.pop_front_if(|next| joins(&group, next, bytes)) {
                group.join(next);
            }
            if self.is_low(free_bytes) && !(whole && group.gives_back()) && !self.is_sure(&group, free_bytes) {
                last = Some(Failure { why: "the disk has too little room for it".into(), is_full: true });
                left.push(group);
                continue;
            }
            let plan = Plan { bytes: if whole { u64::MAX } else { bytes }, drained: &drained, whole };
            let (count, result) = self.commit(&group.shards, &plan, done).await;
            match result {
                Ok(()) => {
                    done.shards += count;
                    group.shards.drain(..count);
                    if !group.shards.is_empty() {
                        groups.push_front(group);
                    }
                }
                Err(failure) if failure.is_full => {
                    last = Some(failure);
                    if whole {
                        left.push(group);
                        continue;
                    }
                    // One of them may be larger than all others.
                    let rest = group.split_off(count.div_ceil(2));
                    if !rest.shards.is_empty() {
                        groups.push_front(rest);
                    }
                    if count == 1 {
                        left.push(group);
                    } else {
                        groups.push_front(group);
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok((left, last))
    }

    /// Empties segments of blocks, as far as there is room for what is alive in them, until there is enough. Whether it is
    /// worth another try.
    async fn drain_blocks(&mut self, done: &mut Done) -> Result<bool, Failure> {
        loop {
            let (free_bytes, blocks) = (self.free_bytes(), self.segments(SegmentKind::Blocks));
            if self.is_low(free_bytes) || free_bytes >= self.hands.pace.kept_free_bytes.saturating_mul(KEPT_TIMES) {
                return Ok(true);
            }
            let blocks_bytes = bytes_of(&blocks);
            let drained = policy::drained(blocks, ALIVE_PERCENT_SHORT, free_bytes / COPY_PART);
            let names = |&shard: &usize| {
                let mut blocks = self.store.shard(shard as u32).blocks.iter();
                blocks.any(|share| drained.binary_search(&share.segment).is_ok())
            };
            let mut shards: Vec<usize> = (0..SHARDS).filter(names).collect();
            if shards.is_empty() {
                return Ok(true);
            }
            let plan = Plan { bytes: self.commit_bytes(free_bytes), drained: &drained, whole: false };
            let bytes_max = done.bytes + free_bytes / DRAIN_PART;
            // A segment goes with the last of them.
            while !shards.is_empty() {
                if done.bytes >= bytes_max {
                    return Ok(false);
                }
                match self.commit(&shards, &plan, done).await {
                    (count, Ok(())) => drop(shards.drain(..count)),
                    // The shards that give room back may still be written.
                    (_, Err(failure)) if failure.is_full => return Ok(false),
                    (_, Err(failure)) => return Err(failure),
                }
            }
            if bytes_of(&self.segments(SegmentKind::Blocks)) >= blocks_bytes {
                return Ok(false);
            }
        }
    }

    /// Bytes that commits may take. Once the disk has refused some, little is believed of what it tells: there are quotas.
    fn free_bytes(&self) -> u64 {
        let free_bytes = self.store.free_bytes();
        if self.was_refused { free_bytes.min(self.hands.pace.kept_free_bytes) } else { free_bytes }
    }

    /// Bytes of a commit where so many are free.
    fn commit_bytes(&self, free_bytes: u64) -> u64 {
        (free_bytes / COMMIT_PART).max(COMMIT_BYTES_MIN).min(self.hands.pace.commit_bytes)
    }

    /// Whether so little is free that it is left to commits that give back more than they take.
    fn is_low(&self, free_bytes: u64) -> bool {
        free_bytes < (self.hands.pace.kept_free_bytes / LOW_PART).min(LOW_BYTES_MAX)
    }

    /// Whether all that its shards have, and all that the journal tells, takes but a part of what is free.
    fn is_sure(&self, group: &Group, free_bytes: u64) -> bool {
        let journal = &self.hands.journal;
        group.kept_bytes.saturating_add(journal.tail_bytes(journal.released())) < free_bytes / SURE_PART
    }

    fn segments(&self, kind: SegmentKind) -> Vec<Segment> {
        self.store.segments().iter().filter(|segment| segment.kind == kind).map(Segment::of).collect()
    }

    /// All shards, in the order in which they are to be written, those without a base last.
    async fn groups(&self) -> Vec<Group> {
        let files: BTreeMap<u32, u64> =
            self.segments(SegmentKind::Runs).into_iter().map(|segment| (segment.number, segment.bytes)).collect();
        let (mut groups, mut new) = (BTreeMap::<u32, Group>::new(), Group::default());
        for shard in 0..SHARDS {
            let runs = &self.store.shard(shard as u32).runs;
            let Some(base) = runs.first().filter(|run| run.is_base) else {
                new.shards.push(shard);
                continue;
            };
            let keys = self.hands.keys_count(shard).await;
            let (bytes, records) = runs.iter().fold((0, 0), |sum, run| (sum.0 + run.bytes, sum.1 + run.records));
            let group = groups.entry(base.segment).or_default();
            group.bytes = files.get(&base.segment).copied().unwrap_or(0);
            group.deltas_bytes += bytes - base.bytes;
            group.kept_bytes += (u128::from(bytes) * u128::from(keys.min(records)) / u128::from(records.max(1))) as u64;
            group.shards.push(shard);
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        policy::by_gain(&mut groups);
        groups.extend((!new.shards.is_empty()).then_some(new));
        groups
    }
}

fn bytes_of(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.bytes).sum()
}

fn shards_count(groups: &[Group]) -> usize {
    groups.iter().map(|group| group.shards.len()).sum()
}

/// Whether `next` is written with `group`, which is written whole, in a commit of about `bytes`.
fn joins(group: &Group, next: &Group, bytes: u64) -> bool {
    next.is_worth_it() && group.gives_back() == next.gives_back() && group.kept_bytes + next.kept_bytes <= bytes
}
