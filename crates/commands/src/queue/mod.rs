//! Queues: lists whose messages are leased rather than lost. List commands see the ready messages.

pub(crate) mod acknowledge;
pub(crate) mod lengths;
pub(crate) mod limit;
pub(crate) mod protocol;
pub(crate) mod push;
pub(crate) mod reply;
pub(crate) mod reserve;

use crate::prelude::*;
use base::Ms;
use keyspace::QueueMut;
use values::Queue;
use values::queue::{Full, State};

/// The default duration of a lease, in milliseconds.
pub const LEASE_MS: Ms = 30_000;
/// The maximum number of messages returned or leased at once.
const MESSAGES_MAX: i64 = 1000;
/// The approximate maximum of their bytes.
const REPLY_BYTES_MAX: usize = 1 << 20;

/// Returns a receipt: it identifies one delivery of one message.
fn receipt(queue: &Queue, id: i64, deliveries: u64) -> String {
    format!("{}-{deliveries}", queue.public_id(id))
}

/// Parses a receipt into the client-visible id and the delivery.
fn receipt_parts(receipt: &[u8]) -> Option<(u64, u64)> {
    let (id, deliveries) = std::str::from_utf8(receipt).ok()?.split_once('-')?;
    let is_plain = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = |digits: &str| Some(digits).filter(is_plain)?.parse().ok();
    Some((number(id)?, number(deliveries)?))
}

/// Returns the ascending ids of the messages leased by these receipts; redelivered ones belong to another client.
fn leased(queue: &mut QueueMut<'_, '_>, receipts: Args<'_>) -> Result<Vec<i64>, Failure> {
    let parts: Option<Vec<_>> = receipts.iter().map(receipt_parts).collect();
    let parts = parts.ok_or(Failure::text("ERR a receipt is an id and a number of deliveries: 17-2"))?;
    let mut ids = queue.look(|queue| {
        let is_leased = |(public_id, deliveries): (u64, u64)| {
            let id = queue.internal_id(public_id);
            let is_it = queue.held(id, |record| record.state == State::Leased && record.deliveries == deliveries);
            (is_it == Some(true)).then_some(id)
        };
        parts.into_iter().filter_map(is_leased).collect::<Vec<_>>()
    });
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Returns the error for a full queue.
pub(crate) fn full(full: Full) -> Failure {
    Failure::text(match full {
        Full::Len(most) => format!("QUEUEFULL the queue would exceed its MAXLEN of {most} messages"),
        Full::Bytes(most) => format!("QUEUEFULL the queue would exceed its MAXBYTES of {most} bytes of messages"),
    })
}

/// Returns the instant `ms` milliseconds from now.
fn due_ms(tx: &Tx, ms: u64) -> Result<Ms, Failure> {
    let at_ms = tx.now().checked_add(ms).filter(|at_ms| *at_ms < i64::MAX as u64);
    at_ms.ok_or(Failure::text("ERR the time is out of range"))
}

/// Parses an option's milliseconds, at least `least`.
fn milliseconds(argument: &[u8], least: i64) -> Result<u64, Failure> {
    let text = "ERR milliseconds are not an integer or out of range";
    parse::int_or(argument, least, i64::MAX, text).map(|ms| ms as u64)
}

fn count(argument: &[u8]) -> Result<u64, Failure> {
    parse::int_or(argument, 1, MESSAGES_MAX, "ERR COUNT must be from 1 to 1000").map(|count| count as u64)
}
