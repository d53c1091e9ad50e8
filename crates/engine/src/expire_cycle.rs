//! Work beside the workers: removing expired keys, dropping big values.

use crate::engine::Engine;
use crate::executor::{Demand, Executor, Job, Lack, NotAdmitted, Refused, Served, Server, Stop};
use base::Ms;
use base::instant::Instant;
use base::limits::SHARDS;
use base::primitives::atomic::Ordering::Relaxed;
use journal::{Purpose, Refusal};
use keyspace::{IndexStep, Keyspace, Plan, TableId, Tx};
use std::sync::Arc;
use sync::gate::Member;
use sync::lock::Want;

/// Maximum number of keys removed under one hold of a shard: some tens of microseconds.
const EXPIRE_KEYS_MAX: usize = 128;
/// Journal room for one such removal, in bytes; it stops before a frame exceeds it.
const EXPIRE_ROOM_BYTES: u64 = 256 << 10;

/// Removes expired keys and the tables of flushed databases, a shard at a time.
pub struct ExpireCycle {
    engine: Arc<Engine>,
    member: Member,
    executor: Executor,
    /// Journal room for each removal of this pass, and of the next one: moving a message may need more than usual.
    room_bytes: u64,
    room_bytes_next: u64,
}

impl ExpireCycle {
    /// Creates the expire cycle of `engine`.
    pub fn new(engine: Arc<Engine>) -> Self {
        let log_buffer = engine.journal.as_ref().map(|journal| journal.log_buffer());
        let executor = Executor::new(engine.clone(), engine.workers(), log_buffer);
        Self { member: engine.member(), executor, engine, room_bytes: 0, room_bytes_next: 0 }
    }

    /// Visits every shard once. Returns true if more was due somewhere than one visit removes.
    pub fn pass(&mut self) -> bool {
        let mut more = false;
        self.room_bytes = std::mem::take(&mut self.room_bytes_next).max(EXPIRE_ROOM_BYTES);
        for shard in 0..SHARDS {
            self.drop_dead(shard);
            if self.engine.active_expire.load(Relaxed) {
                more |= self.expire(shard);
                self.executor.end_turn();
            }
        }
        more
    }

    fn drop_dead(&self, shard: usize) {
        let Some(_inside) = self.member.enter() else { return };
        let has_dead =
            self.engine.keyspace.shard(shard).try_read().is_some_and(|state| state.has_dead(&self.engine.keyspace));
        if has_dead && let Some(dead) = self.engine.keyspace.take_dead_sections(shard) {
            self.engine.deferred_drop.free(Box::new(dead));
        }
    }

    /// Removes keys of a shard that have expired. Returns true if more are due.
    fn expire(&mut self, shard: usize) -> bool {
        let engine = &*self.engine;
        let Some(_inside) = self.member.enter() else { return true };
        let now = engine.clock.now();
        let Some(state) = engine.keyspace.shard(shard).try_read() else { return false };
        let due = state.next_due(&engine.keyspace);
        drop(state);
        let Some((due_ms, table)) = due else { return false };
        // A waiter may push the element that arrives to a key whose value is still to be read.
        let waits_for_loading = || !engine.loading.is_over() && engine.hooks.used_shards().next().is_some();
        if due_ms > now || engine.pause.holds(true, || now).is_some() || waits_for_loading() {
            return false;
        }
        if engine.indexes.is_behind() {
            engine.indexes.help(&engine.keyspace);
            return true;
        }
        if engine.keyspace.order().is_behind() {
            if let IndexStep::Garbage(names) = engine.keyspace.help_order() {
                engine.deferred_drop.free(names);
            }
            return true;
        }
        let (room_bytes, mut began) = (self.room_bytes, Instant::now());
        self.executor.own_time.begin(began);
        let mut job = Expiry {
            engine,
            shard,
            table,
            now,
            room_bytes,
            targets: Vec::new(),
            caller: Server,
            more: false,
            room_bytes_next: 0,
        };
        let mut ran = self.executor.execute(&mut job, None, None);
        if let Err(Lack::Shards(targets)) = ran {
            // A served waiter may push the element it took to another key.
            job.targets = targets;
            began = Instant::now();
            ran = self.executor.execute(&mut job, None, None);
        }
        self.room_bytes_next = job.room_bytes_next.max(self.room_bytes_next);
        match ran {
            Ok(None) => false,
            Ok(Some(_)) => {
                let held = began.elapsed();
                self.executor.note_hold(held);
                engine.note_spike("expire-cycle", held.as_millis() as u64);
                job.more
            }
            Err(Lack::Room(bytes)) => {
                self.room_bytes_next = bytes.max(self.room_bytes_next);
                true
            }
            // What is still to be loaded comes by itself.
            Err(lack) => !matches!(lack, Lack::Unread(_) | Lack::Unloaded(..)),
        }
    }
}

/// The removal of expired keys of one shard, as a job of the executor.
struct Expiry<'a> {
    engine: &'a Engine,
    shard: usize,
    table: TableId,
    now: Ms,
    room_bytes: u64,
    /// The shards of keys to which waiters move what they take.
    targets: Vec<usize>,
    caller: Server,
    /// More keys are due.
    more: bool,
    /// Journal room that the next removal needs.
    room_bytes_next: u64,
}

impl<'j> Job<'j> for Expiry<'_> {
    type Caller = Server;
    type Lack = Lack;

    fn caller(&mut self) -> &mut Server {
        &mut self.caller
    }

    fn database(&self) -> u32 {
        0
    }

    fn now(&self) -> Ms {
        self.now
    }

    fn demand(&self) -> Option<Demand> {
        Some(Demand::new(self.room_bytes, Purpose::Shrink))
    }

    fn refused(&mut self, refusal: NotAdmitted, demand: &Demand) -> Refused<Lack> {
        Refused::Over(match refusal {
            NotAdmitted::Journal(Refusal::Wait) => Err(Lack::Room(demand.bytes)),
            _ => Ok(()),
        })
    }

    fn may_write(&self) -> bool {
        true
    }

    fn frame_bytes_max(&self) -> u64 {
        self.room_bytes
    }

    /// Dead letters move to keys of any shard.
    fn may_feed_anywhere(&self) -> bool {
        true
    }

    fn plan(&self, _: &Keyspace, plan: &mut Plan) {
        plan.add_shard(self.shard, Want::Write);
        self.targets.iter().for_each(|shard| plan.add_shard(*shard, Want::Write));
    }

    fn fed(&self) -> Vec<(u32, Vec<u8>)> {
        self.engine.hooks.waited_keys(self.shard)
    }

    fn run(&mut self, tx: &mut Tx<'_>, _: &mut Served, feeds: bool) -> Result<(), Stop<Lack>> {
        // Somebody has begun to wait since the cycle asked.
        if feeds && !self.engine.loading.is_over() {
            return Err(Stop::Undo(Lack::Unloaded(self.shard, Want::Write)));
        }
        self.more = tx.expire(self.shard, self.table, EXPIRE_KEYS_MAX);
        self.room_bytes_next = tx.expiry_room_bytes();
        Ok(())
    }
}

/// Minimum that all clients together may pin unless the setting gives a limit, in bytes.
const PINNED_BYTES_MIN: u64 = 256 << 20;

/// Asks the clients whose replies pin most to close, while all together pin more than the setting allows.
pub fn close_greatest_pinners(engine: &Engine) -> Vec<(Arc<crate::client::Client>, u64)> {
    let limit_bytes = match engine.settings.current().pinned_bytes_max {
        0 => PINNED_BYTES_MIN.max(crate::info::total_system_bytes() / 8),
        bytes => bytes,
    };
    let closed = engine.clients.close_greatest_pinners(limit_bytes);
    engine.counters.last().expect("there is one for background threads").evicted.add(closed.len() as u64);
    closed
}
