//! The shards of a plan: all are held, and the values of its keys are loaded, or none is.

use super::Lack;
use crate::engine::Engine;
use keyspace::{Held, Plan};
use sync::gate::Raised;
use sync::lock::Want;

/// About a microsecond of trying.
const SPINS: usize = 20;

/// Above this many shards, raising the gate is cheaper than a set of locks.
pub(crate) const SHARDS_MAX: usize = 64;

/// Tries to take the shards, and again after a moment: most holds last less than a microsecond. Under the gate nobody
/// waits for a shard to load, so the plan's shards must be loaded: any others are reached through keys already checked.
#[inline(always)]
pub(super) fn hold<'k>(engine: &'k Engine, plan: &'k Plan, raised: Option<&Raised<'_>>) -> Result<Held<'k>, Lack> {
    if raised.is_some() {
        return match want_shut(engine, plan) {
            Some((shard, want)) => Err(Lack::Unloaded(shard, want)),
            None => all_read(engine, plan).map(|()| Held::under_gate(&engine.keyspace)),
        };
    }
    if engine.loading.is_over()
        && let Ok(held) = plan.try_hold(&engine.keyspace)
    {
        return Ok(held);
    }
    hold_slowly(engine, plan)
}

/// Takes the shards of a plan of which one is taken, or while loading is not over.
#[cold]
fn hold_slowly<'k>(engine: &'k Engine, plan: &'k Plan) -> Result<Held<'k>, Lack> {
    let mut result = plan.try_hold(&engine.keyspace);
    for _ in 0..SPINS {
        if result.is_ok() {
            break;
        }
        std::hint::spin_loop();
        result = plan.try_hold(&engine.keyspace);
    }
    match result {
        Ok(held) => all_read(engine, plan).map(|()| held),
        Err((shard, want)) => Err(match want_shut(engine, plan) {
            Some((shard, want)) => Lack::Unloaded(shard, want),
            None => Lack::Locked(shard, want),
        }),
    }
}

/// Checks that the values of the plan's keys are loaded. Keys reached through these (targets of their waiters, watched
/// keys) were checked earlier, and a loaded value stays loaded.
#[inline]
fn all_read(engine: &Engine, plan: &Plan) -> Result<(), Lack> {
    if engine.loading.is_over() {
        return Ok(());
    }
    engine.loading.unread(plan).map_or(Ok(()), |hash| Err(Lack::Unread(hash)))
}

/// Asks for all shards of the plan that are still to be loaded, at once; returns one of them.
#[cold]
pub(crate) fn want_shut(engine: &Engine, plan: &Plan) -> Option<(usize, Want)> {
    if engine.loading.is_over() {
        return None;
    }
    let wants = plan.wants().iter().map(|(shard, want)| (usize::from(*shard), *want));
    let shut = wants.filter(|(shard, _)| engine.keyspace.shard(*shard).is_shut());
    shut.inspect(|(shard, _)| engine.loading.want(*shard)).last()
}
