//! A round: every shard turned and written, in commits.

use super::policy::{self, ALIVE_PERCENT, DRAIN_BYTES, Form, Segment};
use super::writing::{Work, Writing};
use super::{Checkpointer, Hands, Usage};
use base::Position;
use base::limits::SHARDS;
use std::cell::RefCell;
use store::StoreError;

/// Plan to write shards into one commit.
pub(super) struct Plan<'a> {
    /// The approximate size of the commit, in bytes.
    pub(super) bytes: u64,
    /// Segments to be emptied, in order.
    pub(super) drained: &'a [u32],
    pub(super) form: Form,
}

/// Why a commit was not made.
pub(super) struct Failure {
    pub(super) why: String,
    /// The disk has no room.
    pub(super) is_full: bool,
}

/// Live bytes copied to drain segments take at most this part (as a divisor) of the free room.
pub(super) const COPY_PART: u64 = 4;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self { why: error.to_string(), is_full: error.is_full() }
    }
}

/// The results of a round.
#[derive(Default)]
pub(super) struct RoundResult {
    pub(super) shards: usize,
    pub(super) bytes: u64,
}

impl Checkpointer {
    /// Writes every shard; regains room if there may be too little for the journal's changes.
    pub(super) async fn round(&mut self) -> Result<(), String> {
        let segments = self.store.segments().iter().map(Segment::of).collect::<Vec<_>>();
        let drain_bytes = DRAIN_BYTES.min(self.spare_bytes() / COPY_PART);
        let drained = policy::drained(segments, ALIVE_PERCENT, drain_bytes);
        let plan = Plan { bytes: self.hands.pace.commit_bytes, drained: &drained, form: Form::Usual };
        let (shards, mut done) = ((0..SHARDS).collect::<Vec<_>>(), RoundResult::default());
        self.times.begin(&self.hands);
        while done.shards < SHARDS {
            if self.spare_bytes() == 0 {
                return self.round_for_room().await;
            }
            let (count, result) = self.commit(&shards[done.shards..], &plan, &mut done).await;
            match result {
                Ok(()) => done.shards += count,
                Err(failure) if failure.is_full => return self.round_for_room().await,
                Err(failure) => return Err(failure.why),
            }
        }
        Ok(())
    }

    /// Returns the free bytes beyond the reserve and what the journal's changes take.
    fn spare_bytes(&self) -> u64 {
        let needed_bytes = self.hands.pace.kept_free_bytes.saturating_add(self.hands.unreleased_bytes());
        self.store.free_bytes().saturating_sub(needed_bytes)
    }

    /// Writes the first of `shards`, until that is enough for a commit. Returns how many, and whether it was made. If
    /// not, they are to be written whole the next time.
    pub(super) async fn commit(
        &mut self,
        shards: &[usize],
        plan: &Plan<'_>,
        done: &mut RoundResult,
    ) -> (usize, Result<(), Failure>) {
        let (mut count, mut turned) = (0, Vec::new());
        let result = self.write(shards, plan, &mut count, &mut turned, done).await;
        self.was_refused |= result.as_ref().is_err_and(|failure| failure.is_full);
        for (shard, usage) in turned {
            match &result {
                Ok(()) => self.usages[shard] = usage,
                Err(_) => self.hands.abandon(shard).await,
            }
        }
        (count, result)
    }

    async fn write(
        &mut self,
        shards: &[usize],
        plan: &Plan<'_>,
        count: &mut usize,
        turned: &mut Vec<(usize, Usage)>,
        done: &mut RoundResult,
    ) -> Result<(), Failure> {
        let Self { hands, store, usages, times, .. } = self;
        let positions = shards.iter().map(|shard| store.shard(*shard as u32).position).collect::<Vec<_>>();
        let commit = RefCell::new(store.begin(hands.engine.clock.now()));
        let mut work = Work::default();
        for &shard in shards {
            *count += 1;
            let mut writing = Writing { hands, commit: &commit, plan, usages, turned, work: &mut work };
            writing.shard(shard).await?;
            if plan.form == Form::Usual {
                times.note_shard(hands);
                times.pace(hands, &positions, *count);
            }
            hands.engine.checkpoints.go_on(done.shards + *count, done.bytes + commit.borrow().bytes());
            if commit.borrow().bytes() >= plan.bytes {
                break;
            }
        }
        let written_us = hands.journal.elapsed_us();
        let mut commit = commit.into_inner();
        let (map, end) = hands.map().await;
        commit.put_map(map);
        // Not only up to the turns: a step may have skipped a table that was flushed since.
        hands.durable(end).await.map_err(|why| Failure { why, is_full: false })?;
        done.bytes += commit.bytes();
        commit.finish()?;
        hands.journal.release_below(store.least_position());
        if plan.form == Form::Usual {
            times.finish_us = hands.journal.elapsed_us() - written_us;
            // The last commit of a round has those that were left.
            times.commit_shards = if *count < shards.len() { *count } else { times.commit_shards.max(*count) };
            times.pace(hands, &positions[*count..], 0);
        }
        hands.engine.checkpoints.note_store(store);
        Ok(())
    }
}

/// Shards after which the time that one takes is that of this round.
const SHARDS_MEASURED: u64 = 16;
/// Divisor: the part of the tail's bound left to writers whose turn has begun.
const SLACK_PART: u64 = 32;

/// The times that a round takes, by which writers are paced.
#[derive(Default)]
pub(super) struct RoundTimes {
    /// Its own time when the round began, without what it slept, in microseconds.
    began_us: u64,
    /// Shards written since.
    shards: u64,
    /// A shard's, in this round or an earlier one.
    shard_us: Option<u64>,
    /// The last whole commit's shards, and the time from the last of them to the release of the journal before them.
    commit_shards: usize,
    finish_us: u64,
}

impl RoundTimes {
    fn begin(&mut self, hands: &Hands) {
        (self.began_us, self.shards) = (hands.worked_us(), 0);
    }

    fn note_shard(&mut self, hands: &Hands) {
        self.shards += 1;
        if self.shards >= SHARDS_MEASURED {
            self.shard_us = Some((hands.worked_us() - self.began_us) / self.shards);
        }
    }

    /// Paces writers if the round is in haste, so that they meet no bound before it has moved on. The first `count` of
    /// the commit's shards and those after it, which lie at `positions` in the store, are written. O(positions).
    fn pace(&self, hands: &Hands, positions: &[Position], count: usize) {
        let (bytes_max, next) = (hands.tail_bytes_max(), hands.journal.next());
        let goal = self.shard_us.filter(|_| hands.work_percent() == 100).and_then(|shard_us| {
            // All shards of a commit are out of the way at once.
            let commit_shards = self.commit_shards.max(count + 1);
            let shards_left = |index: usize| (index / commit_shards + 1) * commit_shards - count;
            let left_us = |index: usize| (shards_left(index) as u64 * shard_us).max(self.finish_us);
            policy::tail_goal(positions, left_us, bytes_max - bytes_max / SLACK_PART, next)
        });
        hands.journal.pace_tail(goal);
    }
}
