//! Reads very many keys (MGET, EXISTS, TOUCH) as of one instant, without holding their shards throughout.
//!
//! ```text
//! hash all keys --> look up, one shard at a time, noting its version --> hold all shards: is every version the same?
//!                     ^                                                  |               |
//!                     '-- many keys are in changed shards ---------------'               '-- yes, or few keys have
//!                                                                                            changed: look up, reply
//! ```
//!
//! The reply was true while all shards were held. After [`ROUNDS_MAX`] rounds all changed keys are looked up under the
//! locks, however many they are.

use super::Session;
use crate::engine::Engine;
use crate::executor::Lack;
use crate::waits::{gate_open, raise, yield_now};
use crate::worker::Worker;
use base::Ms;
use base::instant::Instant;
use base::limits::SHARDS;
use commands::Gather;
use commands::registry::Command;
use keyspace::{Keyspace, Plan, Tx, Version};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use sync::gate::Raised;
use sync::lock::Want;
use wire::resp::Encoder;
use wire::{Args, Output};

/// Commands with more arguments than this are gathered in this way.
pub(super) const ARGUMENTS_MAX: usize = 256;
/// Maximum number of keys looked up again while all shards are held: some 300 µs.
const KEYS_AGAIN_MAX: usize = 1_000;
/// Rounds after which all changed keys are looked up under the locks.
const ROUNDS_MAX: usize = 3;
/// Tries for all shards before the gate is raised.
const TRIES_MAX: usize = 4;
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
    fn look(&mut self, tx: &mut Tx<'_>, shard: usize, from: usize, to_look: &mut ToLook<'_>, began: Instant) -> usize {
        if from == 0 {
            self.seen = Some(SeenKeys { version: tx.version(shard), until: Ms::MAX });
        }
        let mut until = self.seen.expect("begun with the first").until;
        let mut done = from;
        for keys in self.at[from..].chunks(KEYS_A_LOOK) {
            for &at in keys {
                let at = at as usize;
                until = until.min(to_look.gather.look(tx, at, to_look.args.get(at)).unwrap_or(Ms::MAX));
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

/// The keys to look at, and the session that records the reads.
struct ToLook<'a> {
    args: &'a Args<'a>,
    gather: Box<dyn Gather>,
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
    /// Runs a command that gathers. Returns the time for which it ran.
    pub(super) async fn gather(
        &mut self,
        worker: &Rc<Worker>,
        command: Command,
        args: &Args<'_>,
        output: &mut Output,
    ) -> Duration {
        let commands::Run::Gather { begin, .. } = command.run else { unreachable!("asked for a look at keys") };
        // Yields first: decoding such a long request was a turn.
        yield_now().await;
        // An invalidation of a key it has looked at follows the reply, even if the key is looked at again: the client
        // may drop a fresh value, but never keeps a stale one.
        self.note_heard();
        let mut pace = GatherPace::begin();
        let mut to_look = ToLook { args, gather: begin(args) };
        let mut parts: Vec<ShardKeys> = (0..SHARDS).map(|_| ShardKeys::default()).collect();
        for at in 1..args.len() {
            parts[keyspace::shard_of(worker.engine.keyspace.hash(args.get(at)))].at.push(at as u32);
            to_look.gather.expect();
            if at.is_multiple_of(KEYS_A_LOOK) {
                pace.rest_if_due().await;
            }
        }
        pace.rest_if_due().await;
        let mut stale: Vec<usize> = (0..SHARDS).filter(|shard| !parts[*shard].at.is_empty()).collect();
        for round in 1.. {
            if !worker.engine.loading.is_over() {
                stale.iter().for_each(|shard| worker.engine.loading.want(*shard));
            }
            for shard in stale {
                self.look(worker, shard, &mut parts[shard], &mut to_look, &mut pace).await;
            }
            pace.rest().await;
            let keys_max = if round < ROUNDS_MAX { KEYS_AGAIN_MAX } else { usize::MAX };
            stale = self.settle(worker, &mut parts, &mut to_look, keys_max, &mut pace).await;
            if stale.is_empty() {
                break;
            }
        }
        let mark = output.mark();
        to_look.gather.finish(&mut Encoder::new(output, self.protocol));
        self.hide_unreadable(worker, self.watermark, mark, output);
        pace.took()
    }

    /// Looks at the keys of one shard, holding its lock only briefly at a time.
    async fn look(
        &self,
        worker: &Worker,
        shard: usize,
        part: &mut ShardKeys,
        to_look: &mut ToLook<'_>,
        pace: &mut GatherPace,
    ) {
        let mut done = 0;
        while done < part.at.len() {
            pace.rest_if_due().await;
            to_look.gather.prepare();
            let Some(inside) = worker.member.enter() else {
                gate_open(&worker.engine.gate).await;
                continue;
            };
            let engine = &*worker.engine;
            let from = done;
            let add = |_: &Keyspace, plan: &mut Plan| plan.add_shard(shard, Want::Read);
            let looked = worker.executor.look(None, (self.database, engine.clock.now()), add, |tx| {
                if let Some(hash) = first_unread(engine, part, to_look.args) {
                    return Some(hash);
                }
                tx.set_touching(!self.client.no_touch.load(Relaxed));
                done = part.look(tx, shard, from, to_look, pace.began);
                let keys = part.at[from..done].iter().map(|at| to_look.args.get(*at as usize));
                self.note_looked(worker, shard, keys);
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

    /// Holds all shards and looks again at changed keys, if they are at most `keys_max`; otherwise returns the shards
    /// that contain them.
    async fn settle(
        &mut self,
        worker: &Rc<Worker>,
        parts: &mut [ShardKeys],
        to_look: &mut ToLook<'_>,
        keys_max: usize,
        pace: &mut GatherPace,
    ) -> Vec<usize> {
        let wait_began = Instant::now();
        for tries in 0.. {
            let settled = if tries < TRIES_MAX {
                let Some(_inside) = worker.member.enter() else {
                    gate_open(&worker.engine.gate).await;
                    continue;
                };
                self.settle_held(worker, None, parts, to_look, keys_max)
            } else {
                let raised = raise(worker).await;
                pace.began = Instant::now();
                self.settle_held(worker, Some(&raised), parts, to_look, keys_max)
            };
            match settled {
                Ok(stale) => {
                    if tries > 0 {
                        worker.note_wait(wait_began.elapsed());
                    }
                    return stale;
                }
                Err(Lack::Locked(shard, want)) => {
                    pace.wait(async { drop(self.park(&worker.engine, shard, want).await) }).await;
                }
                Err(_) => unreachable!("a hold fails for a lock alone"),
            }
        }
        unreachable!("under the gate every shard is held")
    }

    fn settle_held(
        &mut self,
        worker: &Worker,
        raised: Option<&Raised<'_>>,
        parts: &mut [ShardKeys],
        to_look: &mut ToLook<'_>,
        keys_max: usize,
    ) -> Result<Vec<usize>, Lack> {
        to_look.gather.prepare();
        let shards: Vec<usize> = (0..SHARDS).filter(|shard| !parts[*shard].at.is_empty()).collect();
        let add = |_: &Keyspace, plan: &mut Plan| shards.iter().for_each(|shard| plan.add_shard(*shard, Want::Read));
        let (stale, seen) = worker.executor.look(raised, (self.database, worker.engine.clock.now()), add, |tx| {
            tx.set_touching(!self.client.no_touch.load(Relaxed));
            let mut stale = shards.clone();
            stale.retain(|shard| !parts[*shard].is_true(tx, *shard));
            if stale.iter().map(|shard| parts[*shard].at.len()).sum::<usize>() > keys_max {
                return Some(stale);
            }
            for shard in stale {
                for &at in &parts[shard].at {
                    to_look.gather.look(tx, at as usize, to_look.args.get(at as usize));
                }
                let keys = parts[shard].at.iter().map(|at| to_look.args.get(*at as usize));
                self.note_looked(worker, shard, keys);
            }
            None
        })?;
        if stale.is_none() {
            self.saw(seen);
        }
        Ok(stale.unwrap_or_default())
    }
}

/// Returns the hash of a key of `part` whose value is still to be read, if there is one; the shard is held.
fn first_unread(engine: &Engine, part: &ShardKeys, args: &Args<'_>) -> Option<u64> {
    if engine.loading.is_over() {
        return None;
    }
    let mut hashes = part.at.iter().map(|at| engine.keyspace.hash(args.get(*at as usize)));
    hashes.find(|hash| engine.loading.is_unread(*hash))
}
