//! The end of a transaction that stays: its position, its release, its way to the journal.

use super::LockRetention;
use crate::engine::Engine;
use base::primitives::atomic::Ordering::Relaxed;
use base::{Ms, Position};
use journal::{FrameSlot, Late, LogBuffer, Reservation};
use keyspace::{Log, Payload, Tx};

/// Takes a position for the tx's frame when all its changes are made, calls `publish` with the tx and the position that the
/// reply has seen, then releases the shards, or leaves the one to `retention`, and hands the frame over. Leaves the log empty. Returns that
/// position.
pub(super) fn hand_over<'t>(
    engine: &Engine,
    tx: &mut Tx<'t>,
    claim: Option<Reservation>,
    log_buffer: Option<&mut LogBuffer>,
    publish: impl FnOnce(&Tx<'t>, Position),
    retention: Option<&mut LockRetention<'_>>,
) -> Position {
    let (seen, now) = (tx.seen(), tx.now());
    let (Some(log_buffer), false) = (log_buffer, tx.log().is_empty()) else {
        publish(tx, seen);
        end(tx, retention).clear();
        return seen;
    };
    let claim = claim.expect("a command that changes keys was admitted");
    if cfg!(bobbin_canary = "early-release") {
        return release_early(engine, tx, claim, log_buffer, publish);
    }
    let ticket = log_buffer.take(claim, tx.log().payload_bytes());
    let position = ticket.end;
    // In that canary build a step is skipped, so that readers do not wait for the frame: the history test must find it.
    if !cfg!(bobbin_canary = "skipped-stamp") {
        tx.stamp(position);
    }
    publish(tx, seen.max(position));
    pass_on(engine, end(tx, retention), log_buffer, ticket, now);
    seen.max(position)
}

/// For that canary build alone: releases the shards before the frame takes its position, so that frames may lie in another
/// order than that of their changes; the history test must find it.
#[cold]
fn release_early<'t>(
    engine: &Engine,
    tx: &mut Tx<'t>,
    claim: Reservation,
    log_buffer: &mut LogBuffer,
    publish: impl FnOnce(&Tx<'t>, Position),
) -> Position {
    let (seen, now) = (tx.seen(), tx.now());
    publish(tx, seen);
    let log = end(tx, None);
    std::thread::yield_now();
    let ticket = log_buffer.take(claim, log.payload_bytes());
    let position = ticket.end;
    pass_on(engine, log, log_buffer, ticket, now);
    seen.max(position)
}

/// Hands the frame to the journal, and clears the log.
#[inline]
fn pass_on(engine: &Engine, log: &mut Log, log_buffer: &mut LogBuffer, ticket: FrameSlot, now: Ms) {
    match log.payload_mut().complete() {
        Some(bytes) => log_buffer.hand_over(ticket, now, bytes),
        None => log_buffer.hand_over_late(ticket, now, late(engine, std::mem::take(log.payload_mut()))),
    }
    log.clear();
}

/// Releases the shards, or leaves the one to `retention`.
#[inline]
pub(super) fn end<'t>(tx: &'t mut Tx<'_>, retention: Option<&mut LockRetention<'_>>) -> &'t mut Log {
    match retention {
        Some(retention) => retention.end_tx(tx),
        None => tx.release(),
    }
}

/// Makes a payload to be encoded by the journal's thread: its clones may by then be the last references to their
/// values, so they go to the deferred-drop thread.
fn late(engine: &Engine, mut payload: Payload) -> Late {
    payload.shrink();
    let drop_later = engine.deferred_drop.remote();
    let (clones_bytes, sum) = (payload.clones_bytes(), engine.journal_clones_bytes.clone());
    sum.fetch_add(clones_bytes, Relaxed);
    Late::new(payload.bytes_count(), move || {
        let bytes = payload.to_vec();
        drop_later(Box::new(payload));
        sum.fetch_sub(clones_bytes, Relaxed);
        bytes
    })
}
