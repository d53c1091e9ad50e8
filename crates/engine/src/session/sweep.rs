//! Commands that look at keys anywhere: a walk over all shards, each under its own lock, with waits between them.
//!
//! ```text
//!   short: tried at once, as any other command --.
//!                    |                           |-- shards of which enough is known are passed over
//!                    '-- in the way, or long --> a walk in turns
//! ```

use super::slow::SWEEP_US_MAX;
use super::state::Session;
use super::suspend::Suspend;
use crate::engine::Engine;
use crate::waits::gate_open;
use crate::worker::Worker;
use base::instant::Instant;
use base::limits::SHARDS;
use commands::registry::Command;
use commands::{BeginSweep, KnownKeys, Outcome, Run, Sweep, SweepNext};
use keyspace::{Keyspace, Plan, TableId};
use std::rc::Rc;
use std::time::Duration;
use sync::lock::Want;
use wire::resp::Encoder;
use wire::{Args, Mark, Output};

/// Maximum number of shards that a sweep asks for beyond the one it waits for.
const AHEAD_MAX: usize = 16;
/// Shards that a short sweep visits at once.
const VISITS_AT_ONCE_MAX: usize = 64;

impl Session {
    /// Sweeps over all shards, one at a time, by the sweep that was begun or a new one. Returns the time for which it ran.
    pub(super) async fn sweep(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        begun: Option<Box<dyn Sweep>>,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let Run::Sweep(begin) = command.run else { unreachable!("asked for a sweep") };
        let mark = output.mark();
        let mut took = Duration::ZERO;
        let result = match begun.map_or_else(|| begin(args, worker.random()), Ok) {
            Ok(mut sweep) => {
                took = self.walk(worker, &mut *sweep).await;
                sweep.finish(&mut Encoder::new(output, self.protocol))
            }
            Err(failure) => Err(failure),
        };
        self.end_walk(worker, command, result, mark, output);
        took
    }

    /// Lets a sweep visit the shards. Returns the time for which it ran.
    pub(super) async fn walk(&self, worker: &Worker, sweep: &mut dyn Sweep) -> Duration {
        let (mut took, mut began) = (Duration::ZERO, Instant::now());
        let mut next = sweep.first_shard();
        let mut ahead = 0;
        loop {
            let Some(inside) = worker.member.enter() else {
                gate_open(&worker.engine.gate).await;
                continue;
            };
            let Some(shard) = self.next_to_visit(&worker.engine, sweep, next) else { break };
            drop(inside);
            if began.elapsed().as_micros() > SWEEP_US_MAX {
                took += began.elapsed();
                worker.long_turn().await;
                began = Instant::now();
            }
            match self.visit(worker, sweep, shard, &mut ahead).await {
                SweepNext::Next => next = shard + 1,
                SweepNext::Again => next = shard,
                SweepNext::Over => break,
            }
        }
        took + began.elapsed()
    }

    /// Runs a short sweep at once.
    ///
    /// # Errors
    /// Returns [`Suspend::Sweep`] if it is long: it goes on with waits; or if something is in its way: then it begins again.
    pub(super) fn sweep_at_once(
        &mut self,
        worker: &Worker,
        command: Command,
        begin: BeginSweep,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        if !worker.engine.loading.is_over() {
            return Err(Suspend::Sweep(None));
        }
        let mark = output.mark();
        let result = match begin(args, worker.random()) {
            Ok(sweep) if !sweep.is_short() => return Err(Suspend::Sweep(Some(sweep))),
            Ok(mut sweep) => {
                self.visit_at_once(worker, &mut *sweep)?;
                sweep.finish(&mut Encoder::new(output, self.protocol))
            }
            Err(failure) => Err(failure),
        };
        self.end_walk(worker, command, result, mark, output);
        Ok(())
    }

    fn visit_at_once(&self, worker: &Worker, sweep: &mut dyn Sweep) -> Result<(), Suspend> {
        let engine = &*worker.engine;
        let mut next = sweep.first_shard();
        let began = Instant::now();
        for visits in 0.. {
            let Some(shard) = self.next_to_visit(engine, sweep, next) else { break };
            if visits == VISITS_AT_ONCE_MAX || began.elapsed().as_micros() > SWEEP_US_MAX / 2 {
                return Err(Suspend::Sweep(None));
            }
            let add = |_: &Keyspace, plan: &mut Plan| plan.add_shard(shard, Want::Read);
            let at = (self.database, engine.clock.now());
            match worker.executor.look(None, at, add, |tx| sweep.visit(tx, shard)) {
                Ok((SweepNext::Next, _)) => next = shard + 1,
                Ok((SweepNext::Again, _)) => next = shard,
                Ok((SweepNext::Over, _)) => break,
                Err(_) => return Err(Suspend::Sweep(None)),
            }
        }
        Ok(())
    }

    /// Returns the first shard from `next` on that a sweep must visit; then those to which it goes back.
    fn next_to_visit(&self, engine: &Engine, sweep: &mut dyn Sweep, next: usize) -> Option<usize> {
        let table = engine.keyspace.map().table(self.database);
        let mut shards = next..SHARDS;
        shards.find(|shard| !sweep.pass(*shard, known_keys(engine, *shard, table))).or_else(|| sweep.go_back())
    }

    /// Completes the reply of a command that has looked at keys anywhere.
    pub(super) fn end_walk(
        &mut self,
        worker: &Worker,
        command: Command,
        result: Outcome,
        mark: Mark,
        output: &mut Output,
    ) {
        if let Err(failure) = result {
            return self.fail(worker, Some(command), &failure, output);
        }
        // The keys it has seen may be anywhere, so it waits for all frames.
        if let Some(journal) = &worker.engine.journal {
            let seen = journal.next();
            self.saw(seen);
            self.hide_unreadable(worker, seen, mark, output);
        }
    }

    /// Visits a shard; if it is still to be loaded, asks for `ahead` more.
    pub(super) async fn visit(
        &self,
        worker: &Worker,
        sweep: &mut dyn Sweep,
        shard: usize,
        ahead: &mut usize,
    ) -> SweepNext {
        let engine = &*worker.engine;
        let mut unread = None;
        sweep.prepare();
        loop {
            if let Some(hash) = unread.take() {
                self.read(engine, hash).await;
            }
            if let Some(_inside) = worker.member.enter() {
                let add = |_: &Keyspace, plan: &mut Plan| plan.add_shard(shard, Want::Read);
                let visited = worker.executor.look(None, (self.database, engine.clock.now()), add, |tx| {
                    let unread = if sweep.names_only() { None } else { engine.loading.unread_of(shard) };
                    unread.map_or_else(|| Ok(sweep.visit(tx, shard)), Err)
                });
                match visited {
                    Ok((Ok(next), _)) => return next,
                    Ok((Err(hash), _)) => {
                        unread = Some(hash);
                        continue;
                    }
                    Err(_) => {}
                }
            } else {
                gate_open(&worker.engine.gate).await;
                continue;
            }
            if engine.keyspace.shard(shard).is_shut() {
                engine.loading.want(shard);
                (shard + 1..SHARDS).take(*ahead).for_each(|shard| engine.loading.want(shard));
                // A sweep that has waited for some shards will want more.
                *ahead = (2 * *ahead + 1).min(AHEAD_MAX);
            }
            let parked = self.park(engine, shard, Want::Read).await;
            // A sweep needs this shard alone, so the next try follows at once.
            drop(parked);
        }
    }
}

/// Returns what is known of a shard's keys of `table` without its lock.
fn known_keys(engine: &Engine, shard: usize, table: TableId) -> KnownKeys {
    if engine.keyspace.shard(shard).is_shut() {
        let stored = engine.loading.known(shard, table);
        return KnownKeys { keys: stored.keys, is_rough: stored.is_changed, may_expire: true, is_loaded: false };
    }
    let known = engine.keyspace.keys_summary(shard).keys_of(table);
    let (keys, may_expire) = known.unwrap_or_default();
    KnownKeys { keys, is_rough: known.is_none(), may_expire, is_loaded: true }
}
