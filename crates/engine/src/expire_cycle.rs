//! Work beside the workers: removing expired keys, dropping big values.

use crate::engine::Engine;
use crate::pubsub::Stamp;
use crate::session::{Served, Suspend, plan_has_targets_for, serve_blocked};
use crate::thread_cpu_time::ThreadCpuTime;
use crate::tracking::{InvalidatedClients, send_invalidations};
use base::limits::SHARDS;
use journal::{LogBuffer, Purpose, Refusal};
use keyspace::{IndexStep, Log, Plan, Tx};
use quanta::Instant;
use std::any::Any;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use sync::gate::Member;
use sync::lock::Want;

/// Maximum number of keys removed under one hold of a shard: some tens of microseconds.
const EXPIRE_KEYS_MAX: usize = 128;
/// Journal room for one such removal, in bytes; it stops before a frame exceeds it.
const EXPIRE_ROOM_BYTES: u64 = 256 << 10;

/// The queue to the thread that drops big values.
pub struct DeferredDrop {
    sender: Sender<Box<dyn Any + Send>>,
    receiver: Mutex<Option<Receiver<Box<dyn Any + Send>>>>,
}

impl Default for DeferredDrop {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver: Mutex::new(Some(receiver)) }
    }
}

impl DeferredDrop {
    /// Gives a value away to be dropped. Without a thread that does so, it is dropped with the engine.
    pub fn free(&self, garbage: Box<dyn Any + Send>) {
        // The receiver lives as long as the engine or its thread does.
        let _ = self.sender.send(garbage);
    }

    /// Returns [`DeferredDrop::free`] for another thread, which may outlive the engine.
    pub fn remote(&self) -> impl Fn(Box<dyn Any + Send>) + Send + use<> {
        let sender = self.sender.clone();
        move |garbage| drop(sender.send(garbage))
    }

    /// Returns the receiving end, for the thread that drops; once.
    pub fn receiver(&self) -> Option<Receiver<Box<dyn Any + Send>>> {
        self.receiver.lock().expect("no holder panics").take()
    }
}

/// Removes expired keys and the tables of flushed databases, a shard at a time.
pub struct ExpireCycle {
    engine: std::sync::Arc<Engine>,
    member: Member,
    log_buffer: Option<LogBuffer>,
    log: Log,
    plan: Plan,
    /// Journal room for each removal of this pass, and of the next one: moving a message may need more than usual.
    room_bytes: u64,
    room_bytes_next: u64,
    /// Workers whose connections have messages.
    notified: Vec<u16>,
    own_time: ThreadCpuTime,
}

impl ExpireCycle {
    /// Creates the expire cycle of `engine`.
    pub fn new(engine: std::sync::Arc<Engine>) -> Self {
        let member = engine.member();
        let log_buffer = engine.journal.as_ref().map(|journal| journal.log_buffer());
        let own_time = ThreadCpuTime::of_background();
        Self {
            engine,
            member,
            log_buffer,
            log: Log::default(),
            plan: Plan::default(),
            room_bytes: 0,
            room_bytes_next: 0,
            notified: Vec::new(),
            own_time,
        }
    }

    /// Visits every shard once. Returns true if more was due somewhere than one visit removes.
    pub fn pass(&mut self) -> bool {
        let mut more = false;
        self.room_bytes = std::mem::take(&mut self.room_bytes_next).max(EXPIRE_ROOM_BYTES);
        for shard in 0..SHARDS {
            self.drop_dead(shard);
            if self.engine.active_expire.load(Relaxed) {
                more |= self.expire(shard);
                self.log_buffer.iter_mut().for_each(LogBuffer::end_turn);
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

    fn expire(&mut self, shard: usize) -> bool {
        let Self { engine, member, log_buffer, log, plan, room_bytes, room_bytes_next, notified, own_time } = self;
        let Some(_inside) = member.enter() else { return true };
        let now = engine.clock.now();
        let Some(state) = engine.keyspace.shard(shard).try_read() else { return false };
        let due = state.next_due(&engine.keyspace);
        drop(state);
        let Some((due_ms, table)) = due else { return false };
        // A waiter may push the element that arrives to a key whose value is still to be read.
        let feeds = engine.hooks.used_shards().next().is_some();
        if due_ms > now || engine.pause.holds(true, || now).is_some() || feeds && !engine.loading.is_over() {
            return false;
        }
        if engine.keyspace.order().is_behind() {
            if let IndexStep::Garbage(names) = engine.keyspace.help_order() {
                engine.deferred_drop.free(names);
            }
            return true;
        }
        let claim = match log_buffer
            .as_ref()
            .map(|log_buffer| log_buffer.try_admit(*room_bytes, Purpose::Shrink))
            .transpose()
        {
            Ok(claim) => claim,
            Err(Refusal::Poisoned | Refusal::Full | Refusal::TooLong) => return false,
            Err(Refusal::Wait) => {
                *room_bytes_next = *room_bytes;
                return true;
            }
        };
        plan.clear();
        plan.add_shard(shard, Want::Write);
        plan.seal();
        // A served waiter may push the element it took to another key.
        if feeds
            && let Err(Suspend::Shards(targets)) = plan_has_targets_for(engine, plan, engine.hooks.waited_keys(shard))
        {
            targets.into_iter().for_each(|shard| plan.add_shard(shard, Want::Write));
            plan.seal();
        }
        let began = Instant::now();
        own_time.begin(began);
        let Ok(held) = plan.try_hold(&engine.keyspace) else { return true };
        if !feeds && engine.hooks.any(shard) {
            // A client has begun to wait since, which takes this lock.
            return true;
        }
        let mut tx = Tx::new(&engine.keyspace, held, 0, now, log, *room_bytes);
        if engine.publishes_events() {
            tx.take_notes();
        }
        if feeds {
            tx.keep_old();
        }
        let more = tx.expire(shard, table, EXPIRE_KEYS_MAX);
        *room_bytes_next = tx.expiry_room_bytes().max(*room_bytes_next);
        let mut served = Served::default();
        if feeds && let Err(why) = serve_blocked(engine, &mut tx, &mut served) {
            served.give_back();
            tx.abandon();
            if let Suspend::Room(bytes) = why {
                *room_bytes_next = bytes.max(*room_bytes_next);
            }
            return true;
        }
        crate::session::mark_watches(engine, &mut tx);
        let is_tracked = engine.tracker.is_used();
        let stamp = (is_tracked || !tx.notes().is_empty()).then(Stamp::unset);
        stamp.iter().for_each(|stamp| crate::session::post_notes(engine, tx.notes(), stamp, notified));
        let bytes_max = engine.settings.current().output_limits.pubsub.hard_bytes;
        let mut invalidated = InvalidatedClients { bytes_max, ..InvalidatedClients::default() };
        if is_tracked {
            stamp.iter().for_each(|stamp| send_invalidations(engine, &tx, 0, stamp, &mut invalidated));
        }
        let (expired, garbage) = (tx.expired, tx.take_garbage());
        let publish = |seen| stamp.iter().for_each(|stamp| stamp.set(seen, false));
        let seen = crate::session::hand_over(engine, tx, claim, log_buffer.as_mut(), publish, Tx::end);
        if !served.replies.is_empty() {
            served.answer(seen);
        }
        invalidated.wake();
        notified.drain(..).for_each(|worker| engine.registry.worker_queue(usize::from(worker)).notifier.notify());
        let counters = engine.counters.last().expect("there is one for background threads");
        let held = began.elapsed();
        engine.note_background_hold(own_time.of(held.as_nanos() as u64));
        engine.note_spike("expire-cycle", held.as_millis() as u64);
        counters.expired.add(u64::from(expired));
        if !garbage.is_empty() {
            engine.deferred_drop.free(Box::new(garbage));
        }
        more
    }
}

/// Minimum that all clients together may pin unless the setting gives a limit, in bytes.
const PINNED_BYTES_MIN: u64 = 256 << 20;

/// Asks the clients whose replies pin most to close, while all together pin more than the setting allows.
pub fn close_greatest_pinners(engine: &Engine) -> Vec<(std::sync::Arc<crate::client::Client>, u64)> {
    let limit_bytes = match engine.settings.current().pinned_bytes_max {
        0 => PINNED_BYTES_MIN.max(crate::info::total_system_bytes() / 8),
        bytes => bytes,
    };
    let closed = engine.clients.close_greatest_pinners(limit_bytes);
    engine.counters.last().expect("there is one for background threads").evicted.add(closed.len() as u64);
    closed
}
