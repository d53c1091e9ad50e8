//! The thread beside those who serve that builds the order of names, keeps it and gives it up.

use crate::engine::Engine;
use crate::thread_cpu_time::ThreadCpuTime;
use keyspace::{IndexState, IndexStep};
use quanta::Instant;
use std::sync::Arc;
use sync::gate::Member;

/// Steps of one pass, at most.
const STEPS_MAX: usize = 64;
/// When it looks again that was held up, that keeps the order, and that has nothing to keep, in milliseconds.
const BLOCKED_MS: u64 = 1;
const KEEP_MS: u64 = 10;
const OFF_MS: u64 = 100;

/// Works on the order of names.
pub struct Indexer {
    engine: Arc<Engine>,
    member: Member,
    own_time: ThreadCpuTime,
}

impl Indexer {
    /// That of `engine`.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { member: engine.member(), engine, own_time: ThreadCpuTime::of_background() }
    }

    /// Does some of what is to be done; after how many milliseconds it is to be called again.
    pub fn pass(&mut self) -> u64 {
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
