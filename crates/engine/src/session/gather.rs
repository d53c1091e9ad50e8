//! Reads very many keys (MGET, EXISTS, TOUCH) as of one instant, without holding their shards throughout.
//!
//! ```text
//! hash all keys --> look up, one shard at a time, noting its version --> hold all shards: is every version the same?
//!                     ^                                                  |               |
//!                     '-- many keys are in changed shards ---------------'               '-- yes, or few keys have
//!                                                                                            changed: look up, reply
//! ```
//!
//! The reply was true while all shards were held. In the last try (see [`OFF_LOCK_TRIES_MAX`]) all changed keys are looked
//! up under the locks, however many they are.

use super::attempt::Attempt;
use super::gathered_keys::{GatherPace, GatheredKeys, ShardKeys};
use super::retry_state::{OffLock, OffLockState};
use super::state::Session;
use super::suspend::Suspend;
use crate::engine::Engine;
use crate::waits::gate_open;
use crate::worker::Worker;
use base::limits::SHARDS;
use base::primitives::atomic::Ordering::Relaxed;
use commands::Gather;
use commands::registry::Command;
use keyspace::{Keyspace, OFF_LOCK_TRIES_MAX, Plan};
use std::time::Duration;
use sync::lock::Want;
use wire::resp::Encoder;
use wire::{Args, Output};

/// Maximum number of keys looked up again while all shards are held: some 300 µs.
const KEYS_AGAIN_MAX: usize = 1_000;
impl Session {
    /// Looks at the keys of shards that have not been looked at, or have changed since. Returns the time taken.
    pub(super) async fn gather(
        &mut self,
        worker: &Worker,
        state: &OffLockState,
        (command, args): (Command, &Args<'_>),
    ) -> Duration {
        // Yields first: what came before was a turn.
        worker.long_turn().await;
        let mut pace = GatherPace::begin(worker);
        let mut gathering = match state.gathered.take() {
            Some(gathering) => gathering,
            None => {
                // An invalidation of a key it has looked at follows the reply, even if the key is looked at again: the
                // client may drop a fresh value, but never keeps a stale one.
                self.note_heard();
                Box::new(GatheredKeys::begin(&worker.engine, command, args, &mut pace).await)
            }
        };
        let stale = std::mem::take(&mut gathering.stale);
        if !worker.engine.loading.is_over() {
            stale.iter().for_each(|shard| worker.engine.loading.want(*shard));
        }
        let GatheredKeys { gather, shards, tries, .. } = &mut *gathering;
        for shard in stale {
            self.look(worker, (shard, &mut shards[shard]), &mut **gather, args, &mut pace).await;
        }
        *tries += 1;
        state.gathered.set(Some(gathering));
        pace.rest().await;
        pace.took()
    }

    /// Looks at the keys of one shard, holding its lock only briefly at a time.
    async fn look(
        &self,
        worker: &Worker,
        (shard, keys): (usize, &mut ShardKeys),
        gather: &mut dyn Gather,
        args: &Args<'_>,
        pace: &mut GatherPace<'_>,
    ) {
        let mut done = 0;
        while done < keys.at.len() {
            pace.rest_if_due().await;
            gather.prepare();
            let Some(inside) = worker.member.enter() else {
                gate_open(&worker.engine.gate).await;
                continue;
            };
            let engine = &*worker.engine;
            let from = done;
            let add = |_: &Keyspace, plan: &mut Plan| plan.add_shard(shard, Want::Read);
            let looked = worker.executor.look(None, (self.database, engine.clock.now()), add, |tx| {
                if let Some(hash) = first_unread(engine, keys, args) {
                    return Some(hash);
                }
                tx.set_touching(!self.client.no_touch.load(Relaxed));
                done = keys.look(tx, (shard, from), gather, args, pace.began);
                let names = keys.at[from..done].iter().map(|at| args.get(*at as usize));
                self.note_looked(worker, shard, names);
                worker.executor.note_reads(tx.reads);
                None
            });
            drop(inside);
            match looked {
                Ok((None, _)) => {}
                Ok((Some(hash), _)) => self.read(engine, hash).await,
                Err(_) => drop(self.park(engine, shard, Want::Read).await),
            }
        }
    }

    /// Replies with what has been gathered if it is true of one instant, with all its shards held.
    ///
    /// # Errors
    /// Returns what it lacks, or that it has to look again.
    pub(super) fn settle(
        &mut self,
        attempt: &Attempt<'_>,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Result<(), Suspend> {
        let &Attempt { worker, needs, raised, now, .. } = attempt;
        let again = Suspend::OffLock(OffLock::Gather);
        let Some(mut gathering) = needs.off_lock.gathered.take() else { return Err(again) };
        gathering.gather.prepare();
        let held: Vec<usize> = (0..SHARDS).filter(|shard| !gathering.shards[*shard].at.is_empty()).collect();
        let keys_max = if gathering.tries < OFF_LOCK_TRIES_MAX { KEYS_AGAIN_MAX } else { usize::MAX };
        let add = |_: &Keyspace, plan: &mut Plan| held.iter().for_each(|shard| plan.add_shard(*shard, Want::Read));
        let validated = worker.executor.look(raised, (self.database, now), add, |tx| {
            tx.set_touching(!self.client.no_touch.load(Relaxed));
            let is_true = gathering.validate(tx, args, keys_max);
            for shard in gathering.stale.iter().filter(|_| is_true) {
                let names = gathering.shards[*shard].at.iter().map(|at| args.get(*at as usize));
                self.note_looked(worker, *shard, names);
            }
            is_true
        });
        match validated {
            Ok((true, seen)) => {
                self.saw(seen);
                let mark = output.mark();
                gathering.gather.finish(&mut Encoder::new(output, self.protocol));
                self.hide_unreadable(worker, self.watermark, mark, output);
                Ok(())
            }
            Ok((false, _)) => {
                needs.off_lock.gathered.set(Some(gathering));
                Err(again)
            }
            Err(lack) => {
                needs.off_lock.gathered.set(Some(gathering));
                Err(lack.into())
            }
        }
    }
}

/// Returns the hash of a key of `keys` whose value is still to be read, if there is one; the shard is held.
fn first_unread(engine: &Engine, keys: &ShardKeys, args: &Args<'_>) -> Option<u64> {
    if engine.loading.is_over() {
        return None;
    }
    let mut hashes = keys.at.iter().map(|at| engine.keyspace.hash(args.get(*at as usize)));
    hashes.find(|hash| engine.loading.is_unread(*hash))
}
