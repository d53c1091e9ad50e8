//! Sending invalidations to the connections that track changed keys.

use super::{EVICTED_MAX, InvalidatedClients, Own, Tracked, for_each_prefix};
use crate::engine::Engine;
use crate::pubsub::Stamp;
use crate::pushes::{Push, Sent};
use base::limits::SHARDS;
use base::primitives::atomic::Ordering;
use keyspace::{Named, Tx};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// Evicts keys from a table of more than `keys_max` (0: no bound), and invalidates them.
pub(crate) fn put_out(engine: &Engine, keys_max: usize, invalidated: &mut InvalidatedClients) {
    let tracker = &engine.tracker;
    let mut left = EVICTED_MAX;
    while keys_max > 0 && left > 0 && tracker.keys_count.load(Ordering::Relaxed) > keys_max {
        left -= 1;
        let from = tracker.hand.fetch_add(1, Ordering::Relaxed);
        let found = (0..SHARDS).map(|ahead| (from + ahead) % SHARDS).find_map(|shard| tracker.pop(shard));
        let Some((key, ids)) = found else { return };
        let keys: Arc<[Box<[u8]>]> = Arc::new([key]);
        let stamp = Stamp::of(0, false);
        for tracked in ids.into_iter().filter_map(|id| tracker.tracked(id)).filter(|tracked| !tracked.is_broadcast) {
            send_push(engine, &tracked, &Push::Keys(keys.clone()), 0, &stamp, invalidated);
        }
    }
}

/// Sends the changes of a tx, whose shards are held, to all connections that track them; `by` is the connection that
/// made it, 0 if none did. Collects in `invalidated` the clients to be woken, and the pushes for `by` itself.
pub(crate) fn send_invalidations(
    engine: &Engine,
    tx: &Tx<'_>,
    by: u64,
    stamp: &Arc<Stamp>,
    invalidated: &mut InvalidatedClients,
) {
    let tracker = &engine.tracker;
    let mut changed = Vec::new();
    let mut known = BTreeSet::new();
    for named in tx.touched() {
        match named {
            Named::Key(_, key) if known.insert(key) => changed.push(key),
            Named::Key(..) => {}
            Named::Database(_) => return invalidate_all(engine, by, stamp, invalidated),
        }
    }
    for key in &changed {
        let ids = tracker.forget(keyspace::shard_of(engine.keyspace.hash(key)), key);
        if ids.is_empty() {
            continue;
        }
        let keys: Arc<[Box<[u8]>]> = Arc::new([(*key).into()]);
        for tracked in ids.into_iter().filter_map(|id| tracker.tracked(id)) {
            if !tracked.is_broadcast && tracked.hears(by) {
                send_push(engine, &tracked, &Push::Keys(keys.clone()), by, stamp, invalidated);
            }
        }
    }
    let prefixes = tracker.prefixes.read().unwrap_or_else(PoisonError::into_inner);
    // By prefix: the receivers, and the keys.
    let mut changed_of = BTreeMap::new();
    if !prefixes.is_empty() {
        for key in &known {
            for_each_prefix(&prefixes, key, |prefix, ids| {
                changed_of.entry(prefix).or_insert((ids, Vec::<Box<[u8]>>::new())).1.push(Box::from(*key));
            });
        }
    }
    for (ids, keys) in changed_of.into_values() {
        let keys: Arc<[Box<[u8]>]> = keys.into();
        for tracked in ids.iter().filter_map(|id| tracker.tracked(*id)) {
            if tracked.hears(by) {
                send_push(engine, &tracked, &Push::Keys(keys.clone()), by, stamp, invalidated);
            }
        }
    }
}

/// Reports the change of whole databases to all tracking connections.
fn invalidate_all(engine: &Engine, by: u64, stamp: &Arc<Stamp>, invalidated: &mut InvalidatedClients) {
    let tracker = &engine.tracker;
    tracker.forget_all(&engine.deferred_drop);
    let all: Vec<Arc<Tracked>> =
        tracker.clients.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
    all.iter().for_each(|tracked| send_push(engine, tracked, &Push::All, by, stamp, invalidated));
}

/// Sends a push to one connection, or to the one it redirects to.
fn send_push(
    engine: &Engine,
    tracked: &Tracked,
    push: &Push,
    by: u64,
    stamp: &Arc<Stamp>,
    invalidated: &mut InvalidatedClients,
) {
    let copy = || match push {
        Push::Keys(keys) => Push::Keys(keys.clone()),
        Push::All => Push::All,
        Push::Gone(id) => Push::Gone(*id),
        Push::Line(line) => Push::Line(line.clone()),
    };
    let (receiver, push, is_redirected) = match tracked.redirect {
        0 => (tracked.client.clone(), copy(), false),
        id => match engine.clients.get(id) {
            Some(receiver) => (receiver, copy(), true),
            None => {
                tracked.client.tracking.note_broken();
                (tracked.client.clone(), Push::Gone(id), false)
            }
        },
    };
    if receiver.id == by {
        invalidated.own.push(Own { push, is_redirected, is_first: tracked.client.id != by });
        return;
    }
    let sent = Sent { push, is_redirected, stamp: stamp.clone() };
    if let Some(bytes) = receiver.pushes.put(sent, invalidated.bytes_max) {
        receiver.cut_off(bytes);
    }
    invalidated.clients.insert(receiver.id, receiver);
}
