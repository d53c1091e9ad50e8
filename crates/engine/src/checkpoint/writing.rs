//! The writing of one shard: turned, taken in steps, encoded without its lock.

use super::policy::{self, Choice, StoredShard};
use super::round::Plan;
use super::sink::{self, Sink};
use super::{Hands, Usage};
use crate::waits::yield_now;
use keyspace::{Batch, CutStep, DatabaseMap, Keyspace, Merge, ShardState, TableId, TurnMemory, Turned};
use std::cell::RefCell;
use store::{Commit, Keys, MapRecord, Run, ShardRecord, Share, StoreError};

/// Work done since the last rest.
#[derive(Default)]
pub(super) struct Work {
    entries: usize,
    bytes_before: u64,
}

/// A unit of work is this many entries looked at, or this many bytes written: a millisecond or less.
const WORK_ENTRIES: usize = 4_096;
const WORK_BYTES: u64 = 256 << 10;
/// Keys looked up under one hold of a shard.
const KEYS_AT_ONCE: usize = 32;

/// The writing of shards into one commit.
pub(super) struct Writing<'a, 's> {
    pub(super) hands: &'a Hands,
    pub(super) commit: &'a RefCell<Commit<'s>>,
    pub(super) plan: &'a Plan<'a>,
    pub(super) usages: &'a [Usage],
    /// Shards with their usage as of this commit.
    pub(super) turned: &'a mut Vec<(usize, Usage)>,
    pub(super) work: &'a mut Work,
}

impl Writing<'_, '_> {
    /// Turns a shard and writes it.
    pub(super) async fn shard(&mut self, shard: usize) -> Result<(), StoreError> {
        let before = self.commit.borrow().store().shard(shard as u32).clone();
        let stored = self.stored(&before);
        if before.blocks.iter().any(|share| self.is_drained(share.segment)) {
            self.hands.mark(shard, self.usages[shard].lying_in(self.plan.drained)).await;
        }
        let (turned, choice) = self.hands.turn(shard, &stored).await;
        if !turned.is_unchanged {
            // Waiters for the shard come first.
            yield_now().await;
        }
        let mut record =
            ShardRecord { position: turned.position, tables: turned.tables.iter().map(keys).collect(), ..before };
        let mut usage = Usage::default();
        if record.tables.is_empty() {
            (record.runs, record.blocks) = (Vec::new(), Vec::new());
            self.pass_over(shard, &turned).await;
        } else {
            let choice = if turned.is_whole { Choice::Base } else { choice };
            if (choice, turned.is_unchanged) == (Choice::Delta, true) {
                record.blocks = self.hands.shares(&self.usages[shard]).await;
                self.commit.borrow_mut().put_shard(record);
                return Ok(());
            }
            if choice != Choice::Base {
                usage = self.hands.inside(|map| self.usages[shard].of_alive(|table| map.names(table))).await;
            }
            let written = match choice {
                Choice::Base => self.base(shard, &mut usage, &mut record).await,
                Choice::Merge => self.merge(shard, turned.is_unchanged, &mut usage, &mut record).await,
                Choice::Delta => self.delta(shard, &mut usage, &mut record).await,
            };
            record.blocks = self.hands.shares(&usage).await;
            // Recorded first: after a failure turned shards are abandoned, and unreadable ones are rewritten.
            if !turned.is_unchanged || written.is_err() {
                self.turned.push((shard, usage));
            }
            return written.map(|()| self.commit.borrow_mut().put_shard(record));
        }
        self.turned.push((shard, usage));
        self.commit.borrow_mut().put_shard(record);
        Ok(())
    }

    fn stored(&self, record: &ShardRecord) -> StoredShard {
        let base = record.runs.first().filter(|run| run.is_base);
        let deltas = &record.runs[usize::from(base.is_some())..];
        StoredShard {
            has_base: base.is_some(),
            base_bytes: base.map_or(0, |run| run.bytes),
            deltas: deltas.len(),
            deltas_bytes: deltas.iter().map(|run| run.bytes).sum(),
            records: record.runs.iter().map(|run| run.records).sum(),
            drains_base: base.is_some_and(|run| self.is_drained(run.segment)),
            drains_delta: deltas.iter().any(|run| self.is_drained(run.segment)),
            form: self.plan.form,
        }
    }

    fn is_drained(&self, segment: u32) -> bool {
        self.plan.drained.binary_search(&segment).is_ok()
    }

    /// Replaces all runs of the shard by its whole contents.
    async fn base(&mut self, shard: usize, usage: &mut Usage, record: &mut ShardRecord) -> Result<(), StoreError> {
        self.commit.borrow_mut().begin_run(shard as u32, true)?;
        self.take(shard, usage, &mut |commit, bytes| commit.record(bytes)).await?;
        record.runs = vec![self.commit.borrow_mut().end_run()?];
        Ok(())
    }

    /// Adds the changes as a further run.
    async fn delta(&mut self, shard: usize, usage: &mut Usage, record: &mut ShardRecord) -> Result<(), StoreError> {
        self.commit.borrow_mut().begin_run(shard as u32, false)?;
        self.take(shard, usage, &mut |commit, bytes| commit.record(bytes)).await?;
        self.end_delta(record)
    }

    /// Joins the changes and all deltas into one delta.
    async fn merge(
        &mut self,
        shard: usize,
        is_unchanged: bool,
        usage: &mut Usage,
        record: &mut ShardRecord,
    ) -> Result<(), StoreError> {
        let (deltas, reader) = (record.runs.split_off(1), self.commit.borrow().store().reader());
        let mut merge = Merge::default();
        for run in &deltas {
            let add = &mut |bytes: &[u8]| merge.add(bytes).map_err(|error| error.to_string());
            reader.visit(shard as u32, run, add)?;
        }
        drop(reader);
        if !is_unchanged {
            let add = &mut |_: &mut Commit<'_>, bytes: &[u8]| {
                merge.add(bytes).expect("a record that was just encoded");
                Ok(())
            };
            self.take(shard, usage, add).await?;
        }
        let mut commit = self.commit.borrow_mut();
        commit.begin_run(shard as u32, false)?;
        merge.finish(|bytes| commit.record(bytes))?;
        drop(commit);
        self.end_delta(record)
    }

    fn end_delta(&self, record: &mut ShardRecord) -> Result<(), StoreError> {
        let run: Run = self.commit.borrow_mut().end_run()?;
        record.runs.extend((run.records > 0).then_some(run));
        Ok(())
    }

    /// Takes all entries that the turn has found, and passes each record to `put`.
    async fn take(
        &mut self,
        shard: usize,
        usage: &mut Usage,
        put: &mut impl FnMut(&mut Commit<'_>, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let commit = self.commit;
        let mut put = |record: &[u8]| {
            usage.apply(record).expect("a record that was just encoded");
            put(&mut commit.borrow_mut(), record)
        };
        loop {
            let (step, mut batch) = self.hands.take(shard).await;
            let mut sink = Sink::new(commit, self.plan.drained);
            while !batch.encode(&mut sink, &mut put)? {
                self.hands.pass_on_places(shard, std::mem::take(&mut sink.done)).await;
                self.rest(0).await;
            }
            self.hands.pass_on_places(shard, sink.done).await;
            self.rest(self.hands.pace.step_entries).await;
            match step {
                CutStep::More => {}
                CutStep::Over => return Ok(()),
                CutStep::Lost => unreachable!("keys are exchanged by the checkpointer itself, between rounds"),
            }
        }
    }

    /// Ends the turn of a shard without keys.
    async fn pass_over(&mut self, shard: usize, turned: &Turned) {
        if turned.is_unchanged {
            return;
        }
        while self.hands.take(shard).await.0 == CutStep::More {}
    }

    /// Lets others go first, the more so the shorter the journal's tail is.
    async fn rest(&mut self, entries_done: usize) {
        self.hands.follow_settings();
        let Work { entries, bytes_before } = self.work;
        *entries += entries_done;
        let bytes = self.commit.borrow().bytes();
        let units = (*entries / WORK_ENTRIES) as u64 + (bytes - *bytes_before) / WORK_BYTES;
        if units == 0 {
            return yield_now().await;
        }
        *self.work = Work { entries: 0, bytes_before: bytes };
        // In slices: a big value earns a long rest, for which there may be less time later.
        for unit in 0..units {
            let rest_ms = policy::rest_ms(1000, self.hands.work_percent());
            match (rest_ms, unit) {
                (0, 0) => return yield_now().await,
                (0, _) => return,
                _ => self.hands.sleep(rest_ms).await,
            }
        }
    }
}

impl Hands {
    /// Chooses the run that is written for a shard and turns it, under one lock.
    async fn turn(&self, shard: usize, stored: &StoredShard) -> (Turned, Choice) {
        loop {
            let mut memory = TurnMemory::default();
            let (turned, held_ns) = self
                .held(shard, |state, keyspace| {
                    let choice = policy::choose(stored, state.keys_count(keyspace), state.changes_since_turn(keyspace));
                    // The next position, not the position of the shard's last frame: idle shards move on too.
                    let turned = state.turn(keyspace, choice == Choice::Base, &mut memory, || self.journal.next());
                    turned.map(|turned| (turned, choice))
                })
                .await;
            if let Some(turned) = turned {
                self.engine.note_shard_turn(held_ns);
                return turned;
            }
        }
    }

    /// Returns the number of keys of a shard.
    pub(super) async fn keys_count(&self, shard: usize) -> u64 {
        self.locked(shard, |state, keyspace| state.keys_count(keyspace)).await
    }

    /// Makes the next turn of a shard write these keys too.
    async fn mark(&self, shard: usize, names: Vec<(TableId, Box<[u8]>)>) {
        for names in names.chunks(KEYS_AT_ONCE) {
            let mark = |state: &mut ShardState, keyspace: &Keyspace| {
                names.iter().for_each(|(table, key)| state.mark_changed(keyspace, *table, key));
            };
            self.locked(shard, mark).await;
        }
    }

    /// Passes the locations of unchanged leaves on to values that have changed while they were written: otherwise
    /// everything below each node copied for the change would be written again.
    async fn pass_on_places(&self, shard: usize, done: Vec<sink::StoredValue>) {
        for stored in done.chunks(KEYS_AT_ONCE) {
            let beside = |state: &mut ShardState, keyspace: &Keyspace| {
                let now = stored.iter().map(|it| state.version_beside(keyspace, it.table, &it.key, &it.value));
                now.collect::<Vec<_>>()
            };
            let now = self.locked(shard, beside).await;
            for (now, stored) in now.iter().zip(stored) {
                now.iter().for_each(|now| now.learn_places(&stored.value));
            }
        }
    }

    async fn take(&self, shard: usize) -> (CutStep, Batch) {
        self.locked(shard, |state, keyspace| {
            let mut batch = Batch::default();
            let step = state.take(keyspace, self.pace.step_entries, &mut batch);
            (step, batch)
        })
        .await
    }

    pub(super) async fn abandon(&self, shard: usize) {
        let kept = self.locked(shard, |state, _| state.abandon_turn()).await;
        self.engine.deferred_drop.free(Box::new(kept));
    }

    /// Returns the map of databases, and the journal's end that belongs to it.
    pub(super) async fn map(&self) -> (MapRecord, base::Position) {
        self.inside(|map| {
            let (map, position) = (map.state(), self.journal.next());
            (MapRecord { position, tables: map.changed, next_table: map.next }, position)
        })
        .await
    }

    /// Returns the usage of values of live tables.
    async fn shares(&self, usage: &Usage) -> Vec<Share> {
        self.inside(|map| usage.shares(|table| map.names(table))).await
    }

    /// Calls `look` with the map of databases while it cannot change.
    async fn inside<R>(&self, look: impl FnOnce(&DatabaseMap) -> R) -> R {
        loop {
            if let Some(_inside) = self.member.enter() {
                return look(self.engine.keyspace.map());
            }
            self.gate_open().await;
        }
    }

    pub(super) fn work_percent(&self) -> u64 {
        if self.is_short.get() || self.engine.checkpoints.is_waited_for() || self.journal.is_pressed() {
            return 100;
        }
        policy::work_percent(self.unreleased_bytes(), self.journal_bytes.get())
    }

    /// Bytes of the journal's tail.
    pub(super) fn unreleased_bytes(&self) -> u64 {
        self.journal.tail_bytes(self.journal.released())
    }
}

pub(super) fn keys(count: &keyspace::TableCount) -> Keys {
    Keys { table: count.table, keys: count.keys, expiring: count.expiring }
}
