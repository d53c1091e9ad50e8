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

use super::Session;
use super::attempt::Attempt;
use super::off_lock::{OffLock, OffLockState};
use super::suspend::Suspend;
use crate::engine::Engine;
use crate::waits::{gate_open, yield_now};
use crate::worker::Worker;
use base::Ms;
use base::instant::Instant;
use base::limits::SHARDS;
use base::primitives::atomic::Ordering::Relaxed;
use commands::registry::Command;
use commands::{Gather, Run};
use keyspace::{Keyspace, OFF_LOCK_TRIES_MAX, Plan, Tx, Version};
use std::time::Duration;
use sync::lock::Want;
use wire::resp::Encoder;
use wire::{Args, Output};

/// Commands with more arguments than this are gathered in this way.
pub(super) const ARGUMENTS_MAX: usize = 256;
/// Maximum number of keys looked up again while all shards are held: some 300 µs.
const KEYS_AGAIN_MAX: usize = 1_000;
/// Microseconds of work before others have their turn.
const WORK_US_MAX: u128 = 300;
/// Keys looked up between two clock readings.
const KEYS_A_LOOK: usize = 16;

/// The keys of one shard.
#[derive(Default)]
struct ShardKeys {
    /// The argument numbers.
    at: Vec<u32>,
    seen: Option<SeenKeys>,
}

/// The state when the first of these keys was looked up.
#[derive(Clone, Copy)]
struct SeenKeys {
    version: Version,
    /// When the first of the keys expires.
    until: Ms,
}

impl ShardKeys {
    fn is_true(&self, tx: &mut Tx<'_>, shard: usize) -> bool {
        self.seen.is_some_and(|seen| seen.version == tx.version(shard) && tx.now() < seen.until)
    }

    /// Looks at its keys from number `from` on until too long after `began`; returns the first one not looked at.
    fn look(
        &mut self,
        tx: &mut Tx<'_>,
        (shard, from): (usize, usize),
        gather: &mut dyn Gather,
        args: &Args<'_>,
        began: Instant,
    ) -> usize {
        if from == 0 {
            self.seen = Some(SeenKeys { version: tx.version(shard), until: Ms::MAX });
        }
        let mut until = self.seen.expect("begun with the first").until;
        let mut done = from;
        for keys in self.at[from..].chunks(KEYS_A_LOOK) {
            for &at in keys {
                let at = at as usize;
                until = until.min(gather.look(tx, at, args.get(at)).unwrap_or(Ms::MAX));
            }
            done += keys.len();
            if began.elapsed().as_micros() > WORK_US_MAX {
                break;
            }
        }
        self.seen.as_mut().expect("begun with the first").until = until;
        done
    }
}

/// The look-ups of a request.
pub(super) struct GatheredKeys {
    gather: Box<dyn Gather>,
    shards: Vec<ShardKeys>,
    /// Shards that have changed since they were looked at, or were not.
    stale: Vec<usize>,
    tries: u32,
}

impl GatheredKeys {
    /// Hashes all keys.
    async fn begin(worker: &Worker, command: Command, args: &Args<'_>, pace: &mut GatherPace) -> Self {
        let Run::Gather { begin, .. } = command.run else { unreachable!("asked for a look at keys") };
        let mut gather = begin(args);
        let mut shards: Vec<ShardKeys> = (0..SHARDS).map(|_| ShardKeys::default()).collect();
        for at in 1..args.len() {
            shards[keyspace::shard_of(worker.engine.keyspace.hash(args.get(at)))].at.push(at as u32);
            gather.expect();
            if at.is_multiple_of(KEYS_A_LOOK) {
                pace.rest_if_due().await;
            }
        }
        pace.rest_if_due().await;
        let stale = (0..SHARDS).filter(|shard| !shards[*shard].at.is_empty()).collect();
        Self { gather, shards, stale, tries: 0 }
    }

    /// Looks again at the changed keys, whose shards are held, if they are at most `keys_max`; otherwise notes the shards that
    /// contain them. Returns true if all is as it was seen.
    fn validate(&mut self, tx: &mut Tx<'_>, args: &Args<'_>, keys_max: usize) -> bool {
        let is_stale = |shard: &usize| {
            let keys = &self.shards[*shard];
            !keys.at.is_empty() && !keys.is_true(tx, *shard)
        };
        self.stale = (0..SHARDS).filter(is_stale).collect();
        if self.stale.iter().map(|shard| self.shards[*shard].at.len()).sum::<usize>() > keys_max {
            return false;
        }
        for shard in &self.stale {
            for &at in &self.shards[*shard].at {
                self.gather.look(tx, at as usize, args.get(at as usize));
            }
        }
        true
    }
}

/// The pace of work done in pieces, between which others have their turn.
pub(super) struct GatherPace {
    began: Instant,
    took: Duration,
}

impl GatherPace {
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), took: Duration::ZERO }
    }

    /// Returns the time worked so far.
    pub(super) fn took(&self) -> Duration {
        self.took + self.began.elapsed()
    }

    /// Awaits `waiting`, which does not count as work.
    pub(super) async fn wait<R>(&mut self, waiting: impl Future<Output = R>) -> R {
        self.took += self.began.elapsed();
        let result = waiting.await;
        self.began = Instant::now();
        result
    }

    pub(super) async fn rest_if_due(&mut self) {
        if self.began.elapsed().as_micros() > WORK_US_MAX {
            self.rest().await;
        }
    }

    pub(super) async fn rest(&mut self) {
        self.wait(yield_now()).await;
    }
}

impl Session {
    /// Looks at the keys of shards that have not been looked at, or have changed since. Returns the time taken.
    pub(super) async fn gather(
        &mut self,
        worker: &Worker,
        state: &OffLockState,
        (command, args): (Command, &Args<'_>),
    ) -> Duration {
        // Yields first: what came before was a turn.
        yield_now().await;
        let mut pace = GatherPace::begin();
        let mut gathering = match state.gathered.take() {
            Some(gathering) => gathering,
            None => {
                // An invalidation of a key it has looked at follows the reply, even if the key is looked at again: the
                // client may drop a fresh value, but never keeps a stale one.
                self.note_heard();
                Box::new(GatheredKeys::begin(worker, command, args, &mut pace).await)
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
        pace: &mut GatherPace,
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
