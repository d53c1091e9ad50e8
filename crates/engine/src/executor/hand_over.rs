//! The end of a transaction that stays: its position, its release, its way to the journal.

use crate::engine::Engine;
use base::Position;
use journal::{Late, LogBuffer, Reservation};
use keyspace::{Log, Payload, Tx};
use std::sync::atomic::Ordering::Relaxed;

/// Takes a position for the tx's frame as the last act under its locks, releases them with `end`, and hands the frame
/// over. Leaves the log empty. Returns the position that the reply has seen, which is passed to `publish` while the
/// shards are held.
pub(super) fn hand_over<'t>(
    engine: &Engine,
    mut tx: Tx<'t>,
    claim: Option<Reservation>,
    log_buffer: Option<&mut LogBuffer>,
    publish: impl FnOnce(Position),
    end: impl FnOnce(Tx<'t>) -> &'t mut Log,
) -> Position {
    let (seen, now) = (tx.seen(), tx.now());
    let (Some(log_buffer), false) = (log_buffer, tx.log().is_empty()) else {
        publish(seen);
        end(tx).clear();
        return seen;
    };
    let claim = claim.expect("a command that changes keys was admitted");
    let ticket = log_buffer.take(claim, tx.log().payload_bytes());
    let position = ticket.end;
    tx.stamp(position);
    publish(seen.max(position));
    let log = end(tx);
    match log.payload_mut().complete() {
        Some(bytes) => log_buffer.hand_over(ticket, now, bytes),
        None => log_buffer.hand_over_late(ticket, now, late(engine, std::mem::take(log.payload_mut()))),
    }
    log.clear();
    seen.max(position)
}

/// Makes a payload to be encoded by the journal's thread: its clones may by then be the last references to their
/// values, so they go to the deferred-drop thread.
fn late(engine: &Engine, payload: Payload) -> Late {
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
