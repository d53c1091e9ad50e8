//! Serving blocked clients from within a writer's tx: inside its locks and its frame, in order of arrival, before any
//! other client sees the element.

use super::locks::SHARDS_MAX;
use super::{Lack, begin_command};
use crate::engine::Engine;
use crate::waiter::{Answer, Waiter};
use base::{Ms, Position};
use commands::registry::Command;
use commands::{Failure, Run};
use keyspace::{Absent, Named, Plan, Tx};
use std::collections::HashSet;
use std::sync::Arc;
use sync::lock::Want;
use values::ValueType;
use wire::resp::Encoder;
use wire::{Args, Output};

/// Blocked clients that this tx serves: their claims are given back if it is abandoned.
#[derive(Default)]
pub(crate) struct Served {
    /// `None` before the first claim: hardly any tx serves clients, and each would otherwise drop empty lists.
    claims: Option<Box<Claims>>,
    /// All changes of the tx were for other clients.
    pub(super) is_for_others: bool,
}

/// The claims of a tx on the waits of blocked clients.
#[derive(Default)]
struct Claims {
    replies: Vec<(Arc<Waiter>, Result<Output, Failure>)>,
    /// The waiter that makes the attempt, if it waits: its reply goes the usual way.
    own: Option<Arc<Waiter>>,
}

impl Served {
    /// Returns true if no other client is served.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.replies_count() == 0
    }

    #[inline]
    fn replies_count(&self) -> usize {
        self.claims.as_ref().map_or(0, |claims| claims.replies.len())
    }

    pub(super) fn give_back(&mut self) {
        let replies = self.claims.iter_mut().flat_map(|claims| claims.replies.drain(..));
        replies.for_each(|(waiter, _)| waiter.give_back());
        self.leave_claim();
    }

    /// Gives back the claim of the waiter that makes the attempt, if there is one.
    pub(crate) fn leave_claim(&mut self) -> Option<Arc<Waiter>> {
        self.claims.as_mut()?.own.take().inspect(|waiter| waiter.give_back())
    }

    /// Claims the wait of the waiter that makes the attempt. Returns false if it was already claimed.
    pub(crate) fn claim(&mut self, own: &Arc<Waiter>) -> bool {
        let is_claimed = own.claim();
        self.claims.get_or_insert_default().own = is_claimed.then(|| own.clone());
        is_claimed
    }

    pub(super) fn answer(self, seen: Position) {
        for (waiter, reply) in self.claims.into_iter().flat_map(|claims| claims.replies) {
            waiter.answer(match reply {
                Ok(reply) => Answer::Reply(reply, seen),
                Err(failure) => Answer::Failure(failure, seen),
            });
        }
    }
}

/// Returns true if a shard held for writing has any hooks, or one anywhere if the transaction may reach them all.
#[inline]
pub(super) fn plan_is_hooked(engine: &Engine, plan: &Plan, is_anywhere: bool) -> bool {
    if is_anywhere {
        return engine.hooks.used_shards().next().is_some();
    }
    plan.wants().iter().any(|(shard, want)| *want == Want::Write && engine.hooks.any(usize::from(*shard)))
}

/// Checks that waiters for the keys that a job feeds need no shards beyond the plan: for their targets, and in turn for
/// those who wait for the targets.
pub(super) fn plan_has_targets(engine: &Engine, plan: &Plan, mut fed: Vec<(u32, Vec<u8>)>) -> Result<(), Lack> {
    let mut missing = Vec::new();
    let mut at = 0;
    while at < fed.len() {
        let (database, key) = fed[at].clone();
        at += 1;
        let shard = keyspace::shard_of(engine.keyspace.hash(&key));
        if !engine.hooks.any(shard) {
            continue;
        }
        for target in engine.hooks.targets(shard, database, &key) {
            if !fed.iter().any(|(of, fed)| *of == database && *fed == target) {
                let shard = keyspace::shard_of(engine.keyspace.hash(&target));
                fed.push((database, target));
                if !plan.wants().iter().any(|(held, want)| usize::from(*held) == shard && *want == Want::Write) {
                    missing.push(shard);
                }
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(Lack::Shards(missing)) }
}

/// Serves clients blocked on keys that this tx has fed, and on keys that serving them feeds in turn.
///
/// # Errors
/// Returns the missing requirement: the tx must be abandoned and rerun with it.
pub(super) fn serve_blocked(engine: &Engine, tx: &mut Tx<'_>, served: &mut Served) -> Result<(), Lack> {
    let mut done = 0;
    while done < tx.log().mark() {
        let fed = fed_keys(engine, tx, done);
        done = tx.log().mark();
        for (database, key) in fed {
            let shard = keyspace::shard_of(engine.keyspace.hash(&key));
            let mut line = engine.hooks.waiters(shard, database, &key).into_iter();
            while let Some(waiter) = line.next() {
                if serve_one(tx, &waiter, database, &key, served)? {
                    continue;
                }
                // A waiter further back may need to know when a message falls due.
                if !waiter.is_watchful() && tx.is_queue(&key) {
                    line.find(|waiter| waiter.is_watchful()).into_iter().for_each(|waiter| waiter.look());
                }
                break;
            }
        }
    }
    Ok(())
}

/// Serves clients that wait for due messages under the keys of a request, before the request looks at them.
///
/// # Errors
/// See [`serve_blocked`].
pub(crate) fn serve_due(
    engine: &Engine,
    tx: &mut Tx<'_>,
    database: u32,
    (command, args): (&Command, &Args<'_>),
    served: &mut Served,
) -> Result<(), Lack> {
    if command.group.value_type() != Some(ValueType::List) {
        return Ok(());
    }
    let mut is_settled = false;
    while settle_waited(engine, tx, database, (command, args))? {
        is_settled = true;
        let before = served.replies_count();
        serve_blocked(engine, tx, served)?;
        if served.replies_count() == before {
            break;
        }
    }
    // The request's own changes come on top.
    let bound_bytes = command.frame_bytes_max(args);
    if is_settled && tx.need_room(bound_bytes).is_err() {
        return Err(Lack::Room(2 * (tx.log().payload_bytes() + bound_bytes)));
    }
    Ok(())
}

/// Makes due messages ready, in batches, under keys of the request that have blocked waiters. Returns whether any were
/// due.
fn settle_waited(
    engine: &Engine,
    tx: &mut Tx<'_>,
    database: u32,
    (command, args): (&Command, &Args<'_>),
) -> Result<bool, Lack> {
    let mut due = Vec::new();
    command.for_each_key(args, |key, want| {
        let shard = keyspace::shard_of(engine.keyspace.hash(key));
        if want == Want::Write
            && engine.hooks.any(shard)
            && tx.is_queue(key)
            && engine.hooks.is_waited_for(shard, database, key)
        {
            due.push(key);
        }
    });
    let mut is_any = false;
    for key in due {
        let Ok(Some(mut queue)) = tx.queue_mut(key, Absent::Leave) else { continue };
        let (is_due, bytes) = queue.settling();
        if is_due {
            tx.need_room(bytes)?;
            if let Ok(Some(mut queue)) = tx.queue_mut(key, Absent::Leave) {
                queue.settle();
            }
            is_any = true;
        }
    }
    Ok(is_any)
}

/// Returns the keys that the records after `mark` may have fed.
fn fed_keys(engine: &Engine, tx: &Tx<'_>, mark: usize) -> Vec<(u32, Vec<u8>)> {
    let map = engine.keyspace.map();
    let (mut fed, mut known) = (Vec::new(), HashSet::new());
    for named in tx.log().named_from(mark) {
        let (table, key) = match named {
            Named::Key(table, key) => (table, key),
            Named::Database(database) => {
                let waited = engine.hooks.used_shards().flat_map(|shard| engine.hooks.waited_keys(shard));
                fed.extend(waited.filter(|(of, _)| *of == database));
                continue;
            }
        };
        if !engine.hooks.any(keyspace::shard_of(engine.keyspace.hash(key))) {
            continue;
        }
        for database in (0..map.databases()).filter(|database| map.table(*database) == table) {
            if known.insert((database, key)) {
                fed.push((database, key.to_vec()));
            }
        }
    }
    fed
}

/// Runs a waiter's command. Returns true if it was served, no longer waits, or waits for another type; `false` if there
/// is nothing for it or for later waiters.
fn serve_one(
    tx: &mut Tx<'_>,
    waiter: &Arc<Waiter>,
    database: u32,
    key: &[u8],
    served: &mut Served,
) -> Result<bool, Lack> {
    let Run::Blocking { try_now, .. } = waiter.command.run else { unreachable!("only blocking commands wait") };
    let waits_for = waiter.command.group.value_type();
    // A read leaves the entry for later waiters; and a group reader is notified when the group is removed.
    let is_shared = waits_for == Some(ValueType::Stream);
    if !is_shared {
        let Some(kind) = tx.serve(database, key, |tx| tx.value_type(key)) else { return Ok(false) };
        if !waits_for.is_some_and(|waits_for| waits_for.is_taken_from(kind)) {
            // It waits for another type; a later client may wait for this one.
            return Ok(true);
        }
    }
    let missing = missing_shards(tx, waiter);
    if !missing.is_empty() {
        return Err(if missing.len() > SHARDS_MAX { Lack::Gate } else { Lack::Shards(missing) });
    }
    let bound = waiter.command.frame_bytes_max(&waiter.request.args());
    if tx.need_room(bound).is_err() {
        return Err(Lack::Room(2 * (tx.log().payload_bytes() + bound)));
    }
    if !waiter.claim() {
        return Ok(true);
    }
    let mut output = Output::new();
    let args = waiter.request.args();
    let protocol = waiter.protocol;
    begin_command(tx, &waiter.command, &args);
    tx.look_again(Ms::MAX);
    let outcome = tx.serve(database, key, |tx| try_now(tx, &args, &mut Encoder::new(&mut output, protocol)));
    let reply = match outcome {
        Ok(()) => Ok(output),
        Err(Failure::Nothing) => {
            waiter.give_back();
            let next_ms = tx.looks_again_at().unwrap_or(Ms::MAX);
            if next_ms < waiter.looks_at().unwrap_or(Ms::MAX) {
                waiter.look();
            }
            return Ok(is_shared);
        }
        Err(Failure::Abandon(lack)) => {
            waiter.give_back();
            return Err(lack.into());
        }
        Err(failure) => Err(failure),
    };
    served.claims.get_or_insert_default().replies.push((waiter.clone(), reply));
    Ok(true)
}

fn missing_shards(tx: &Tx<'_>, waiter: &Waiter) -> Vec<usize> {
    let mut missing = Vec::new();
    waiter.for_each_key(|target, is_target| {
        if is_target && !tx.holds_for_writing(target) {
            missing.push(keyspace::shard_of(tx.keyspace().hash(target)));
        }
    });
    missing
}

/// Removes a waiter that no longer waits from all its keys. The new first waiter of each line must learn when to look
/// again.
pub(crate) fn take_off(engine: &Engine, waiter: &Arc<Waiter>) {
    waiter.for_each_key(|key, is_target| {
        if !is_target {
            let shard = keyspace::shard_of(engine.keyspace.hash(key));
            let first = engine.hooks.remove_waiter(shard, waiter.database, key, waiter);
            first.into_iter().for_each(|first| first.look());
        }
    });
}
