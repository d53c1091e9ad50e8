//! A round to regain room: the disk is full, or frames that grow wait.
//!
//! ```text
//!   changes   of every shard, and no more: frames leave room for that; then the journal is cut   in small commits
//!   joined    deltas of shards that keep a mostly dead segment                                   while that frees room
//!   blocks    of the emptiest segments are rewritten, as many as there is room for               until there is room
//!   emptied   segments with bases, where that frees room: all shards of one together, largest gain first
//!   again     changes of shards that found no room, as long as others were written
//! ```
//!
//! A commit takes room before it gives any back, so frames always leave it some
//! ([`journal::Options::kept_free_bytes`]). Part of that is left to commits that give back more than they take: these
//! can always be made.

use super::Checkpointer;
use super::policy::{self, ALIVE_PERCENT_SHORT, DELTAS_MAX, Form, JOINED_MIN, Segment, SegmentGroup};
use super::round::{COPY_PART, Failure, Plan, RoundResult};
use base::limits::SHARDS;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use store::{Run, SegmentKind};

/// A commit takes at most this part (as a divisor) of the free room.
const COMMIT_PART: u64 = 8;
/// But this much, in bytes, if possible.
const COMMIT_BYTES_MIN: u64 = 64 << 10;
/// The part (as a divisor) of the reserve that is left to commits that give back more than they take.
const LOW_PART: u64 = 4;
/// But no more than this, in bytes: half of the largest reserve.
const LOW_BYTES_MAX: u64 = 2 << 20;
/// But a commit that surely takes no more than this part of the free room may have it.
const SURE_PART: u64 = 2;
/// And rewritten blocks, with what else is written, this part.
const DRAIN_PART: u64 = 2;
/// Blocks are rewritten until this many times the reserve is free.
const KEPT_TIMES: u64 = 6;

impl Checkpointer {
    /// Writes every shard, and leaves little useless data.
    pub(super) async fn round_for_room(&mut self) -> Result<(), String> {
        self.hands.is_short.set(true);
        self.hands.journal.pace_tail(None);
        let (mut left, mut done) = ((0..SHARDS).collect::<Vec<_>>(), RoundResult::default());
        let mut left_before = None;
        loop {
            let failure = self.write_changes(&mut left, &mut done).await.map_err(|failure| failure.why)?;
            match failure {
                Some(failure) if left_before == Some(left.len()) => return Err(failure.why),
                _ => left_before = Some(left.len()),
            }
            self.give_back(&mut left, &mut done).await.map_err(|failure| failure.why)?;
            if left.is_empty() {
                return Ok(());
            }
        }
    }

    /// Writes the changes of the shards in `left`, which then holds those that found no room.
    async fn write_changes(
        &mut self,
        left: &mut Vec<usize>,
        done: &mut RoundResult,
    ) -> Result<Option<Failure>, Failure> {
        let (mut shards, mut failure) = (std::mem::take(left), None);
        while !shards.is_empty() {
            let free_bytes = self.free_bytes();
            if self.is_low(free_bytes) && self.hands.unreleased_bytes() >= free_bytes / SURE_PART {
                left.append(&mut shards);
                return Ok(Some(Failure { why: "the disk has too little room for it".into(), is_full: true }));
            }
            let form = self.form_of_changes(free_bytes);
            let plan = Plan { bytes: self.commit_bytes(free_bytes), drained: &[], form };
            match self.commit(&shards, &plan, done).await {
                (count, Ok(())) => {
                    done.shards += count;
                    shards.drain(..count);
                }
                // One may be larger than all others: the last one, as far as is known.
                (count, Err(full)) if full.is_full => {
                    left.push(shards.remove(count - 1));
                    failure = Some(full);
                }
                (_, Err(other)) => return Err(other),
            }
        }
        Ok(failure)
    }

    /// Joins the deltas of all shards, in order, so that segments with deltas are freed one after the other; but only
    /// with room not needed for the journal's changes: some segments are freed late, while joined deltas take room at
    /// once.
    fn form_of_changes(&self, free_bytes: u64) -> Form {
        let deltas = (0..SHARDS).map(|shard| self.deltas(shard).len()).max().unwrap_or(0);
        let needed_bytes = self.hands.pace.kept_free_bytes.saturating_add(self.hands.unreleased_bytes());
        let may_join = deltas >= DELTAS_MAX && free_bytes >= needed_bytes;
        if may_join { Form::Joined(JOINED_MIN) } else { Form::Changes }
    }

    fn deltas(&self, shard: usize) -> &[Run] {
        let runs = &self.store.shard(shard as u32).runs;
        &runs[usize::from(runs.first().is_some_and(|run| run.is_base))..]
    }

    /// Frees segments with much useless data. Removes the shards written for that from `left`.
    async fn give_back(&mut self, left: &mut Vec<usize>, done: &mut RoundResult) -> Result<(), Failure> {
        self.join_deltas(left, done).await?;
        let mut may_drain = self.drain_blocks(left, done).await?;
        let mut groups = self.groups().await;
        while let Some(mut group) = groups.pop_front() {
            let free_bytes = self.free_bytes_beside(left);
            let bytes = self.commit_bytes(free_bytes);
            while let Some(next) = groups.pop_front_if(|next| joins(&group, next, bytes)) {
                group.join(next);
            }
            let needed_bytes = if group.gives_back() { group.kept_bytes } else { self.spare_of(group.kept_bytes) };
            if free_bytes <= needed_bytes {
                continue;
            }
            let plan = Plan { bytes: u64::MAX, drained: &group.segments, form: Form::Emptied };
            match self.commit(&group.shards, &plan, done).await {
                (_, Ok(())) => left.retain(|shard| !group.shards.contains(shard)),
                (_, Err(failure)) if failure.is_full => {}
                (_, Err(failure)) => return Err(failure),
            }
            may_drain = may_drain && self.drain_blocks(left, done).await?;
        }
        Ok(())
    }

    /// Empties segments with deltas of few shards by joining those shards' deltas, as long as that takes less room than
    /// the freed segment. Not after a failed commit: its turned shards must be written whole, which takes more.
    async fn join_deltas(&mut self, left: &[usize], done: &mut RoundResult) -> Result<(), Failure> {
        while !self.was_refused
            && left.is_empty()
            && let Some(group) = self.deltas_to_join()
        {
            if group.kept_bytes >= self.free_bytes_beside(left) / SURE_PART {
                return Ok(());
            }
            let plan = Plan { bytes: u64::MAX, drained: &[], form: Form::Joined(1) };
            match self.commit(&group.shards, &plan, done).await {
                (_, Ok(())) => {}
                (_, Err(failure)) if failure.is_full => return Ok(()),
                (_, Err(failure)) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Returns, of the segments with deltas and no base, the one that gives back most if its shards' deltas are joined,
    /// if any gives back more than that takes.
    fn deltas_to_join(&self) -> Option<SegmentGroup> {
        let mut groups: BTreeMap<u32, SegmentGroup> = self
            .segments(SegmentKind::Runs)
            .into_iter()
            .map(|segment| (segment.number, SegmentGroup::of(&segment)))
            .collect();
        for shard in 0..SHARDS {
            let (runs, deltas) = (&self.store.shard(shard as u32).runs, self.deltas(shard));
            let joined_bytes: u64 = deltas.iter().map(|run| run.bytes).sum();
            let bases = &runs[..runs.len() - deltas.len()];
            bases.iter().for_each(|run| drop(groups.remove(&run.segment)));
            let segments: BTreeSet<u32> = deltas.iter().map(|run| run.segment).collect();
            for segment in segments {
                if let Some(group) = groups.get_mut(&segment) {
                    group.kept_bytes += joined_bytes;
                    group.shards.push(shard);
                }
            }
        }
        let groups = groups.into_values().filter(|group| !group.shards.is_empty() && group.gives_back());
        groups.max_by_key(|group| group.bytes - group.kept_bytes)
    }

    /// Empties block segments, as far as there is room for their live blocks, until there is enough room. Returns true
    /// if another try is worthwhile.
    async fn drain_blocks(&mut self, left: &[usize], done: &mut RoundResult) -> Result<bool, Failure> {
        loop {
            let (free_bytes, blocks) = (self.free_bytes_beside(left), self.segments(SegmentKind::Blocks));
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
            let plan = Plan { bytes: self.commit_bytes(free_bytes), drained: &drained, form: Form::Changes };
            let bytes_max = done.bytes + free_bytes / DRAIN_PART;
            // A segment is deleted with the last of them.
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

    /// Returns the bytes that commits may take. Once the disk has refused some, its report is not trusted: there are
    /// quotas.
    fn free_bytes(&self) -> u64 {
        let free_bytes = self.store.free_bytes();
        if self.was_refused { free_bytes.min(self.hands.pace.kept_free_bytes) } else { free_bytes }
    }

    /// Returns the same minus what the next round needs for the journal's changes; all of it while shards of this round
    /// are `left`.
    fn free_bytes_beside(&self, left: &[usize]) -> u64 {
        let needed_bytes = if left.is_empty() { self.hands.unreleased_bytes() } else { 0 };
        self.free_bytes().saturating_sub(needed_bytes)
    }

    /// Returns the bytes of a commit when this many are free.
    fn commit_bytes(&self, free_bytes: u64) -> u64 {
        (free_bytes / COMMIT_PART).max(COMMIT_BYTES_MIN).min(self.hands.pace.commit_bytes)
    }

    /// Returns true if so little is free that it is left to commits that give back more than they take.
    fn is_low(&self, free_bytes: u64) -> bool {
        free_bytes < (self.hands.pace.kept_free_bytes / LOW_PART).min(LOW_BYTES_MAX)
    }

    fn segments(&self, kind: SegmentKind) -> Vec<Segment> {
        self.store.segments().iter().filter(|segment| segment.kind == kind).map(Segment::of).collect()
    }

    /// Returns what must be free for a commit of `bytes` that gives nothing back at once: frames written to the
    /// journal's existing files must find room after it.
    fn spare_of(&self, bytes: u64) -> u64 {
        bytes.saturating_add(self.hands.pace.kept_free_bytes).saturating_add(self.hands.journal.ahead_bytes())
    }

    /// Returns the segments with bases that are worth emptying, in that order.
    async fn groups(&self) -> VecDeque<SegmentGroup> {
        let base = |shard: usize| self.store.shard(shard as u32).runs.first().filter(|run| run.is_base);
        let bases: BTreeSet<u32> = (0..SHARDS).filter_map(base).map(|run| run.segment).collect();
        let segments = self.segments(SegmentKind::Runs).into_iter().filter(|segment| bases.contains(&segment.number));
        let mut groups: BTreeMap<u32, SegmentGroup> =
            segments.map(|segment| (segment.number, SegmentGroup::of(&segment))).collect();
        for shard in 0..SHARDS {
            let keys = self.hands.keys_count(shard).await;
            let runs = &self.store.shard(shard as u32).runs;
            let base = runs.first().filter(|run| run.is_base).map(|base| base.segment);
            let sum = |sum: (u64, u64), run: &Run| (sum.0 + run.bytes, sum.1 + run.records);
            let (bytes, records) = runs.iter().fold((0, 0), sum);
            let (deltas_bytes, _) = self.deltas(shard).iter().fold((0, 0), sum);
            let of_use_bytes = u128::from(bytes) * u128::from(keys.min(records)) / u128::from(records.max(1));
            for segment in runs.iter().map(|run| run.segment).collect::<BTreeSet<_>>() {
                let Some(group) = groups.get_mut(&segment) else { continue };
                let here_bytes = runs.iter().filter(|run| run.segment == segment).map(|run| run.bytes).sum::<u64>();
                let (written_bytes, replaced_bytes) =
                    if base == Some(segment) { (of_use_bytes as u64, bytes) } else { (deltas_bytes, deltas_bytes) };
                group.kept_bytes += written_bytes;
                group.elsewhere_bytes += replaced_bytes - here_bytes;
                group.shards.push(shard);
            }
        }
        let mut groups: Vec<SegmentGroup> = groups.into_values().filter(SegmentGroup::is_worth_it).collect();
        policy::by_gain(&mut groups);
        groups.into()
    }
}

fn bytes_of(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.bytes).sum()
}

/// Returns true if `next` is emptied with `group` in a commit of about `bytes`.
fn joins(group: &SegmentGroup, next: &SegmentGroup, bytes: u64) -> bool {
    group.gives_back() == next.gives_back() && group.kept_bytes + next.kept_bytes <= bytes
}
