//! Home workers: the connections that keep writing to one shard, and meet those of other workers there, gather at one
//! worker, where each finds the shard free.
//!
//! ```text
//!   before   worker 0: c1 c2 c3    worker 1: c4 c5 c6     each waits for the other's holds of shard 7
//!   after    worker 0:             worker 1: c4 c5 c6 c1 c2 c3     the home of shard 7, where six are at home
//! ```
//!
//! Two workers that write to one shard would spend more time on waiting for it and on waking each other than on
//! requests (ADR 0026). A connection whose requests hold other shards leaves, and a home where none is left is forgotten.

use crate::engine::Engine;
use base::primitives::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The homes of shards that have one.
#[derive(Default)]
pub(crate) struct Homes {
    by_shard: Mutex<BTreeMap<usize, Home>>,
}

struct Home {
    worker: usize,
    /// Connections that are at home here.
    count: usize,
}

/// The place of a connection at the home of a shard.
pub(crate) struct HomePlace {
    engine: Arc<Engine>,
    shard: usize,
    /// The home.
    pub(crate) worker: usize,
}

impl Homes {
    /// Returns the place of a connection of the worker `own` at the home of a shard. A shard without a home gets one:
    /// the worker that is the home of the fewest shards, and `own` if no other is that of fewer.
    pub(crate) fn enter(engine: &Arc<Engine>, shard: usize, own: usize) -> HomePlace {
        let mut by_shard = engine.homes.by_shard.lock().expect("no holder panics");
        let homes_of = |worker: usize| by_shard.values().filter(|home| home.worker == worker).count();
        let worker = match by_shard.get(&shard) {
            Some(home) => home.worker,
            None => {
                let load = |worker: &usize| (homes_of(*worker), *worker != own);
                (0..engine.workers()).min_by_key(load).expect("there is a worker")
            }
        };
        by_shard.entry(shard).or_insert(Home { worker, count: 0 }).count += 1;
        HomePlace { engine: engine.clone(), shard, worker }
    }
}

impl Drop for HomePlace {
    fn drop(&mut self) {
        let mut by_shard = self.engine.homes.by_shard.lock().expect("no holder panics");
        if let Some(home) = by_shard.get_mut(&self.shard) {
            home.count -= 1;
            if home.count == 0 {
                by_shard.remove(&self.shard);
            }
        }
    }
}
