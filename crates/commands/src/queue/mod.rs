//! Queues: lists whose messages are leased rather than lost. What any list's command does with one: `as_list`.

pub(crate) mod acknowledge;
pub(crate) mod as_list;
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

/// How long a lease lasts unless the client says it, in milliseconds.
pub const LEASE_MS: Ms = 30_000;
/// So many messages are told or leased at once, at most.
const MESSAGES_MAX: i64 = 1000;
/// And about so many bytes of them.
const TOLD_BYTES_MAX: usize = 1 << 20;

/// A receipt: what tells one delivery of one message from all others.
fn receipt(queue: &Queue, id: i64, deliveries: u64) -> String {
    format!("{}-{deliveries}", queue.told_id(id))
}

/// The id as it is told, and the delivery, of a receipt.
fn receipt_parts(receipt: &[u8]) -> Option<(u64, u64)> {
    let (id, deliveries) = std::str::from_utf8(receipt).ok()?.split_once('-')?;
    let is_plain = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_digit());
    let number = |digits: &str| Some(digits).filter(is_plain)?.parse().ok();
    Some((number(id)?, number(deliveries)?))
}

/// The ids, rising, of the messages that are leased by these receipts: what was delivered anew is somebody else's.
fn leased(queue: &mut QueueMut<'_, '_>, receipts: Args<'_>) -> Result<Vec<i64>, Failure> {
    let parts: Option<Vec<_>> = receipts.iter().map(receipt_parts).collect();
    let parts = parts.ok_or(Failure::text("ERR a receipt is an id and a number of deliveries: 17-2"))?;
    let mut ids = queue.look(|queue| {
        let is_leased = |(told, deliveries): (u64, u64)| {
            let id = queue.id_of_told(told);
            let is_it = queue.held(id, |record| record.state == State::Leased && record.deliveries == deliveries);
            (is_it == Some(true)).then_some(id)
        };
        parts.into_iter().filter_map(is_leased).collect::<Vec<_>>()
    });
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Why a queue takes no more.
fn full(full: Full) -> Failure {
    Failure::text(match full {
        Full::Len(most) => format!("QUEUEFULL the queue has its MAXLEN of {most} messages"),
        Full::Bytes(most) => format!("QUEUEFULL the queue has its MAXBYTES of {most} bytes of messages"),
    })
}

/// The instant so many milliseconds from now.
fn due_ms(tx: &Tx, ms: u64) -> Result<Ms, Failure> {
    let at_ms = tx.now().checked_add(ms).filter(|at_ms| *at_ms < i64::MAX as u64);
    at_ms.ok_or(Failure::text("ERR the time is beyond all times"))
}

/// A number of milliseconds of an option, `least` or more.
fn milliseconds(argument: &[u8], least: i64) -> Result<u64, Failure> {
    let text = "ERR milliseconds are not an integer or out of range";
    parse::int_or(argument, least, i64::MAX, text).map(|ms| ms as u64)
}

fn count(argument: &[u8]) -> Result<u64, Failure> {
    parse::int_or(argument, 1, MESSAGES_MAX, "ERR COUNT is to be from 1 to 1000").map(|count| count as u64)
}
