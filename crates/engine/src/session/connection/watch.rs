//! WATCH and UNWATCH: the keys a connection watches, and how watches begin and end, a few keys at a time.
//!
//! ```text
//! WATCH, few keys  --> their shards held once
//! WATCH, many keys --> some keys' shards held, others have their turn, the next keys; then the reply: not one instant
//! end of watches   --> few: at once      many: dead at once, and a chore of the worker removes them from the hooks
//! ```

use crate::engine::Engine;
use crate::hooks::{self, KeyWatch};
use crate::session::state::Session;
use crate::session::suspend::Suspend;
use crate::waits::gate_open;
use crate::worker::{Chore, Worker};
use base::Ms;
use base::cost::{self, Work};
use base::limits::SHARDS;
use base::primitives::atomic::Ordering::Relaxed;
use commands::Failure;
use keyspace::{Keyspace, Plan, Tx};
use std::collections::BTreeSet;
use std::sync::Arc;
use sync::gate::Raised;
use sync::lock::Want;
use wire::Args;

/// Keys watched or unwatched before others have their turn.
const KEYS_MAX: usize = 128;
/// Keys of a long WATCH whose shards are held together.
const KEYS_HELD_MAX: usize = 32;

/// Keys between WATCH and EXEC, named as in the hooks.
#[derive(Default)]
pub(in crate::session) struct WatchedKeys {
    watch: Arc<KeyWatch>,
    names: BTreeSet<Box<[u8]>>,
    /// A bit for each shard that has watched keys.
    shards: [u64; SHARDS / 64],
    /// Keys that existed and may expire: when they next do.
    lapsing: BTreeSet<(Ms, Box<[u8]>)>,
}

impl WatchedKeys {
    /// Returns the number of watched keys.
    pub(in crate::session) fn len(&self) -> usize {
        self.names.len()
    }

    /// Adds the watches' shards to a plan, but not as keys of the tx: UNWATCH in the queue frees their bytes.
    /// O(shards).
    pub(in crate::session) fn plan(&self, plan: &mut Plan) {
        let is_watched = |shard: &usize| self.shards[shard / 64] >> (shard % 64) & 1 == 1;
        (0..SHARDS).filter(is_watched).for_each(|shard| plan.add_shard(shard, Want::Read));
    }

    /// Returns true if a watched key was changed or has expired; all their shards are held. O(keys that may have
    /// expired).
    pub(in crate::session) fn have_changed(&mut self, tx: &mut Tx<'_>) -> bool {
        let database = tx.database();
        let mut has_changed = self.watch.is_dirty();
        while !has_changed
            && let Some((at_ms, _)) = self.lapsing.first()
            && *at_ms <= tx.now()
        {
            let (_, name) = self.lapsing.pop_first().expect("just seen");
            let (of, key) = hooks::split(&name);
            tx.use_database(of);
            cost::count(Work::Names, 1);
            match tx.lasts_until(key) {
                // An element has expired, not the key.
                Some(until_ms) => drop(self.lapsing.insert((until_ms.max(tx.now() + 1), name))),
                None => has_changed = true,
            }
        }
        if has_changed {
            // So a repeated attempt finds the same.
            self.watch.mark();
        }
        tx.use_database(database);
        has_changed
    }
}

impl Session {
    /// WATCH, of few keys at once.
    ///
    /// # Errors
    /// Returns [`Suspend::Verb`] if there are many keys; otherwise the missing requirement.
    pub(in crate::session) fn watch(
        &mut self,
        worker: &Worker,
        raised: Option<&Raised<'_>>,
        now: Ms,
        args: &Args<'_>,
    ) -> Result<Result<(), Failure>, Suspend> {
        if self.multi.is_some() {
            return Ok(Err(Failure::text("ERR WATCH inside MULTI is not allowed")));
        }
        if args.len() > KEYS_MAX {
            return Err(Suspend::Verb);
        }
        self.watch_keys(worker, raised, now, args.from(1).iter()).map(Ok)
    }

    /// WATCH of many keys: some at a time, between which others have their turn.
    pub(in crate::session) async fn watch_in_parts(&mut self, worker: &Worker, args: &Args<'_>) {
        let (mut from, mut count) = (1, KEYS_HELD_MAX);
        while from < args.len() {
            let to = args.len().min(from + count);
            let result = match worker.member.enter() {
                Some(_inside) => {
                    let keys = (from..to).map(|at| args.get(at));
                    self.watch_keys(worker, None, worker.engine.clock.now(), keys)
                }
                None => Err(Suspend::Gate),
            };
            match result {
                Ok(()) => {
                    (from, count) = (to, KEYS_HELD_MAX.min(2 * count));
                    worker.long_turn().await;
                }
                // A single key's shard becomes free sooner or later.
                Err(Suspend::Locked(shard, want) | Suspend::Unloaded(shard, want)) => {
                    count = 1;
                    drop(self.park(&worker.engine, shard, want).await);
                }
                Err(Suspend::Unread(hash)) => self.read(&worker.engine, hash).await,
                Err(_) => gate_open(&worker.engine.gate).await,
            }
        }
    }

    fn watch_keys<'a>(
        &mut self,
        worker: &Worker,
        raised: Option<&Raised<'_>>,
        now: Ms,
        keys: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<(), Suspend> {
        let engine = &*worker.engine;
        let keys_of_plan = keys.clone();
        let add = |keyspace: &Keyspace, plan: &mut Plan| {
            keys_of_plan.for_each(|key| plan.add_key(keyspace, key, Want::Read));
        };
        let watched = self.watched.get_or_insert_default();
        let ((), seen) = worker.executor.look(raised, (self.database, now), add, |tx| {
            for key in keys {
                cost::count(Work::Names, 1);
                let name: Box<[u8]> = hooks::name(tx.database(), key).into();
                if !watched.names.insert(name.clone()) {
                    continue;
                }
                let shard = keyspace::shard_of(engine.keyspace.hash(key));
                watched.shards[shard / 64] |= 1 << (shard % 64);
                engine.hooks.add_watch(shard, &name, &watched.watch);
                if let Some(until_ms) = tx.lasts_until(key).filter(|until_ms| *until_ms < Ms::MAX) {
                    watched.lapsing.insert((until_ms, name));
                }
            }
        })?;
        self.client.watching.store(watched.names.len(), Relaxed);
        self.saw(seen);
        Ok(())
    }

    /// Ends all watches.
    pub(in crate::session) fn unwatch(&mut self) {
        let Some(watched) = self.watched.take() else { return };
        self.client.watching.store(0, Relaxed);
        let mut ended = EndedWatches {
            names: watched.names,
            watch: Arc::as_ptr(&watched.watch) as usize,
            _watch: Arc::downgrade(&watched.watch),
        };
        // From here on no writer marks them.
        drop(watched.watch);
        if !ended.step(&self.worker) {
            self.worker.add_chore(Box::new(ended));
        }
    }
}

/// Ended watches, to be removed from the hooks.
struct EndedWatches {
    names: BTreeSet<Box<[u8]>>,
    /// See [`hooks::Hooks::remove_watch`].
    watch: usize,
    /// Keeps the allocation, so that no other watch gets the same address.
    _watch: std::sync::Weak<KeyWatch>,
}

impl Chore for EndedWatches {
    fn step(&mut self, worker: &Worker) -> bool {
        let engine: &Engine = &worker.engine;
        for _ in 0..KEYS_MAX {
            let Some(name) = self.names.pop_first() else { break };
            cost::count(Work::Names, 1);
            let (_, key) = hooks::split(&name);
            engine.hooks.remove_watch(keyspace::shard_of(engine.keyspace.hash(key)), &name, self.watch);
        }
        self.names.is_empty()
    }
}
