//! Work of a request off the lock: snapshot, compute, validate, exchange.
//!
//! ```text
//!   attempt --> Suspend::OffLock --> computed; others run between its steps --> attempt: is it true still?
//!      ^                                                                            |           |
//!      '------- no: once more, only what has changed; and after a few times ---------'           '-- yes: exchanged, or replied
//!               (OFF_LOCK_TRIES_MAX) what has changed is done under the locks
//! ```
//!
//! | snapshot                                | computed                         | validated                             |
//! |-----------------------------------------|----------------------------------|---------------------------------------|
//! | clones of large values, by a handler    | in steps on this worker, here    | by the handler, see `Tx::compute`     |
//! | clones of all its keys                  | the command, on another thread   | before the handler, see `speculate`   |
//! | versions of shards                      | shard by shard, in looks at keys | with all of them held, see `gather`   |

use super::retry_state::{OffLock, RetryState};
use super::slow::SWEEP_US_MAX;
use super::state::Session;
use crate::executor::Lack;
use crate::waits::gate_open;
use crate::worker::Worker;
use base::instant::Instant;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use keyspace::{Keyspace, OffLockJobs, Plan, Sources};
use std::rc::Rc;
use std::time::Duration;
use sync::lock::Want;
use wire::{Args, Output};

impl Session {
    /// Does work off the lock before the next attempt. Returns the time taken, and whether the reply is complete.
    pub(super) async fn work_off_lock(
        &mut self,
        worker: &Rc<Worker>,
        needs: &mut RetryState,
        request: (Command, &Args<'_>),
        work: OffLock,
        output: &mut Output,
    ) -> (Duration, bool) {
        match work {
            OffLock::Compute(sources) => (self.compute(worker, &mut needs.off_lock.jobs, *sources).await, false),
            OffLock::Speculate(snapshot) => self.speculate(worker, needs, request, snapshot, output).await,
            OffLock::Gather => (self.gather(worker, &needs.off_lock, request).await, false),
        }
    }

    /// Computes on clones, in turns. Returns the time taken.
    async fn compute(&mut self, worker: &Worker, jobs: &mut OffLockJobs, sources: Sources) -> Duration {
        if let Some(earlier) = jobs.begin(sources) {
            worker.engine.deferred_drop.free(Box::new(earlier));
        }
        let mut took = Duration::ZERO;
        loop {
            // Yields first: the attempt was a turn.
            worker.long_turn().await;
            let began = Instant::now();
            let mut is_over = false;
            let mut in_the_way = None;
            while !is_over && in_the_way.is_none() && began.elapsed().as_micros() < SWEEP_US_MAX {
                if jobs.wants().is_some() {
                    in_the_way = self.show(worker, jobs).err();
                } else {
                    is_over = jobs.step();
                }
            }
            took += began.elapsed();
            if is_over {
                return took;
            }
            match in_the_way {
                Some(Some(Lack::Locked(shard, want) | Lack::Unloaded(shard, want))) => {
                    drop(self.park(&worker.engine, shard, want).await);
                }
                Some(Some(Lack::Unread(hash))) => self.read(&worker.engine, hash).await,
                Some(Some(Lack::Room(_) | Lack::Shards(_) | Lack::Compute(_) | Lack::Gate)) => {
                    unreachable!("a look lacks nothing else")
                }
                Some(None) => gate_open(&worker.engine.gate).await,
                None => {}
            }
        }
    }

    /// Gives a computation the key it wants, under the lock of its shard alone.
    ///
    /// # Errors
    /// Returns what it lacks; `None`: the gate is up.
    fn show(&mut self, worker: &Worker, jobs: &mut OffLockJobs) -> Result<(), Option<Lack>> {
        let engine = &*worker.engine;
        let Some(key) = jobs.wants() else { return Ok(()) };
        let hash = engine.keyspace.hash(key);
        let _inside = worker.member.enter().ok_or(None)?;
        let add = |_: &Keyspace, plan: &mut Plan| plan.add_shard(keyspace::shard_of(hash), Want::Read);
        let (is_unread, seen) = worker.executor.look(None, (self.database, engine.clock.now()), add, |tx| {
            if !engine.loading.is_over() && engine.loading.is_unread(hash) {
                return true;
            }
            tx.set_touching(!self.client.no_touch.load(Relaxed));
            jobs.look(tx);
            worker.executor.note_reads(tx.reads);
            false
        })?;
        if is_unread {
            return Err(Some(Lack::Unread(hash)));
        }
        self.saw(seen);
        Ok(())
    }
}
