//! The background thread that builds, maintains and drops the order of names, and builds and maintains indexes of hashes.

use crate::engine::Engine;
use crate::search::BackgroundStep;
use crate::thread_cpu_time::ThreadCpuTime;
use base::instant::Instant;
use keyspace::{IndexState, IndexStep};
use std::sync::Arc;
use sync::gate::Member;

/// Maximum number of steps per pass.
const STEPS_MAX: usize = 64;
/// Milliseconds until the next pass: when it was held up, when it maintains the order, and when there is none.
const BLOCKED_MS: u64 = 1;
const KEEP_MS: u64 = 10;
const OFF_MS: u64 = 100;

/// Maintains the order of names and the indexes of hashes.
pub struct Indexer {
    engine: Arc<Engine>,
    member: Member,
    own_time: ThreadCpuTime,
}

impl Indexer {
    /// Creates the indexer of `engine`.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { member: engine.member(), engine, own_time: ThreadCpuTime::of_background() }
    }

    /// Does some of the pending work; returns after how many milliseconds to call it again.
    pub fn pass(&mut self) -> u64 {
        let order_ms = self.keep_order();
        order_ms.min(self.keep_indexes())
    }

    fn keep_indexes(&mut self) -> u64 {
        let (indexes, keyspace) = (&self.engine.indexes, &self.engine.keyspace);
        if !self.engine.loading.is_over() {
            return KEEP_MS;
        }
        indexes.end_idle(self.engine.clock.now(), &self.engine.deferred_drop);
        for _ in 0..STEPS_MAX {
            let Some(inside) = self.member.enter() else { return BLOCKED_MS };
            let step = if indexes.open(keyspace) { indexes.step(keyspace) } else { BackgroundStep::Blocked };
            drop(inside);
            match step {
                BackgroundStep::Idle => return if indexes.is_used() { KEEP_MS } else { OFF_MS },
                BackgroundStep::Blocked => return BLOCKED_MS,
                BackgroundStep::More => {}
            }
        }
        0
    }

    fn keep_order(&mut self) -> u64 {
        let keyspace = &self.engine.keyspace;
        for _ in 0..STEPS_MAX {
            let Some(inside) = self.member.enter() else { return BLOCKED_MS };
            let began = Instant::now();
            self.own_time.begin(began);
            let step = keyspace.step_order();
            if !matches!(step, IndexStep::Idle) {
                self.engine.note_background_hold(self.own_time.of(began.elapsed().as_nanos() as u64));
            }
            drop(inside);
            match step {
                IndexStep::Idle if keyspace.order().state() == IndexState::On => return KEEP_MS,
                IndexStep::Idle => return OFF_MS,
                IndexStep::Blocked => return BLOCKED_MS,
                IndexStep::More => {}
                IndexStep::Garbage(names) => self.engine.deferred_drop.free(names),
                IndexStep::Sort(mut found) => {
                    found.sort();
                    keyspace.put_found(found);
                }
            }
        }
        0
    }
}
