//! The look-ups of a request for very many keys, by shard.

use crate::engine::Engine;
use crate::worker::Worker;
use base::Ms;
use base::instant::Instant;
use base::limits::SHARDS;
use commands::registry::Command;
use commands::{Flag, Gather, Run};
use keyspace::{Tx, Version};
use std::time::Duration;
use wire::Args;

/// Commands with more arguments than this are gathered in this way.
pub(super) const ARGUMENTS_MAX: usize = 256;

/// Returns true if a request has so many keys that they are removed in parts, or so many pairs that they are sorted by
/// shard.
#[inline]
pub(super) fn has_many_keys(command: &Command, args: &Args<'_>) -> bool {
    let is_of_pairs = || command.has(Flag::Pairs) && !args.len().is_multiple_of(2);
    args.len() > ARGUMENTS_MAX && (command.has(Flag::KeyByKey) || is_of_pairs())
}

/// Microseconds of work before others have their turn.
const WORK_US_MAX: u128 = 300;
/// Keys looked up between two clock readings.
const KEYS_A_LOOK: usize = 16;

/// The keys of one shard.
#[derive(Default)]
pub(super) struct ShardKeys {
    /// The argument numbers.
    pub(super) at: Vec<u32>,
    pub(super) seen: Option<SeenKeys>,
}

/// The state when the first of these keys was looked up.
#[derive(Clone, Copy)]
pub(super) struct SeenKeys {
    pub(super) version: Version,
    /// When the first of the keys expires.
    pub(super) until: Ms,
}

impl ShardKeys {
    pub(super) fn is_true(&self, tx: &mut Tx<'_>, shard: usize) -> bool {
        self.seen.is_some_and(|seen| seen.version == tx.version(shard) && tx.now() < seen.until)
    }

    /// Looks at its keys from number `from` on until too long after `began`; returns the first one not looked at.
    pub(super) fn look(
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
    pub(super) gather: Box<dyn Gather>,
    pub(super) shards: Vec<ShardKeys>,
    /// Shards that have changed since they were looked at, or were not.
    pub(super) stale: Vec<usize>,
    pub(super) tries: u32,
}

impl GatheredKeys {
    /// Hashes all keys.
    pub(super) async fn begin(engine: &Engine, command: Command, args: &Args<'_>, pace: &mut GatherPace<'_>) -> Self {
        let Run::Gather { begin, .. } = command.run else { unreachable!("asked for a look at keys") };
        let mut gather = begin(args);
        let mut shards: Vec<ShardKeys> = (0..SHARDS).map(|_| ShardKeys::default()).collect();
        for at in 1..args.len() {
            shards[keyspace::shard_of(engine.keyspace.hash(args.get(at)))].at.push(at as u32);
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
    pub(super) fn validate(&mut self, tx: &mut Tx<'_>, args: &Args<'_>, keys_max: usize) -> bool {
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
pub(super) struct GatherPace<'w> {
    worker: &'w Worker,
    pub(super) began: Instant,
    pub(super) took: Duration,
}

impl<'w> GatherPace<'w> {
    pub(super) fn begin(worker: &'w Worker) -> Self {
        Self { worker, began: Instant::now(), took: Duration::ZERO }
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
        self.wait(self.worker.long_turn()).await;
    }
}
