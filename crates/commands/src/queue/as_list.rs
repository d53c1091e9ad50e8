//! List commands on a queue: they see the ready messages, and push and pop messages that were never leased or have
//! returned. Called when there is no plain list under the key.

use super::full;
use crate::list::pop::{ListPop, part_of};
use crate::list::range::{self, ListPart, index_of};
use crate::list::transfer::MoveEnds;
use crate::prelude::*;
use blocks::{Direction, End};
use values::Queue;
use values::queue::MESSAGE_BYTES_MAX;

/// Returns why a command for plain lists does not work on the value under `key`, which is none.
#[cold]
pub(crate) fn no_list(tx: &mut Tx, key: &[u8]) -> Failure {
    if !tx.is_queue(key) {
        return Failure::WrongType;
    }
    Failure::text(
        "WRONGTYPE The list is a queue, whose messages keep their places: take them by LPOP or Q.RESERVE, or make it a \
         plain list again by Q.DROP",
    )
}

/// Like [`no_list`], for commands that continue if it is a queue.
#[cold]
pub(crate) fn expect_queue(tx: &mut Tx, key: &[u8]) -> Result<(), Failure> {
    if tx.is_queue(key) { Ok(()) } else { Err(Failure::WrongType) }
}

/// Returns the number of ready messages in the queue under `key`.
pub(crate) fn ready_len(tx: &mut Tx, key: &[u8]) -> Result<u64, Failure> {
    Ok(tx.look_at_queue(key, Queue::ready_len)?.unwrap_or(0))
}

/// Returns true if the queue under `key` has ready messages.
///
/// # Errors
/// If there is no queue.
pub(crate) fn is_filled(tx: &mut Tx, key: &[u8]) -> Result<bool, Failure> {
    expect_queue(tx, key)?;
    Ok(ready_len(tx, key)? > 0)
}

pub(crate) fn push(tx: &mut Tx, key: &[u8], items: Args<'_>, end: End, reply: &mut dyn Reply) -> Outcome {
    let items: smallvec::SmallVec<[&[u8]; 8]> = items.iter().collect();
    put(tx, key, &items, end)?;
    reply.int(ready_len(tx, key)? as i64);
    Ok(())
}

/// Pushes messages to an end of an existing queue.
pub(crate) fn put(tx: &mut Tx, key: &[u8], items: &[&[u8]], end: End) -> Outcome {
    expect_queue(tx, key)?;
    let bytes: usize = items.iter().map(|item| item.len()).sum();
    if items.iter().any(|item| item.len() > MESSAGE_BYTES_MAX) {
        return Err(Failure::text("ERR the message is too long"));
    }
    let mut queue = tx.queue_mut(key, Absent::Leave)?.expect("just seen");
    queue.look(|queue| queue.takes(items.len() as u64, bytes as u64)).map_err(full)?;
    queue.push(end, items);
    Ok(())
}

/// LPOP and RPOP without a count.
pub(crate) fn pop(tx: &mut Tx, key: &[u8], end: End, reply: &mut dyn Reply) -> Outcome {
    expect_queue(tx, key)?;
    match first(tx, key, end)? {
        Some(message) => {
            tx.queue_mut(key, Absent::Leave)?.expect("just seen").pop(end, 1);
            reply.bulk_owned(message);
        }
        None => reply.null(),
    }
    Ok(())
}

/// Pops up to `count` messages off an existing queue and replies with an array.
pub(crate) fn pop_many(tx: &mut Tx, key: &[u8], end: End, count: u64, reply: &mut dyn Reply) -> Outcome {
    expect_queue(tx, key)?;
    let keyspace = tx.keyspace();
    let returned = tx.look_at_queue(key, Queue::returned_len)?.unwrap_or(0);
    tx.expect_work(returned.min(count))?;
    let count = tx.look_at_queue(key, |queue| {
        let part = part_of(queue.ready_len(), count, end);
        range::tell(reply, queue, part, || keyspace.pin(key));
        part.count
    })?;
    tx.queue_mut(key, Absent::Leave)?.expect("just seen").pop(end, count.unwrap_or(0));
    Ok(())
}

/// Like [`pop_many`], with the queue's name beside the messages.
pub(crate) fn pop_from(tx: &mut Tx, key: &[u8], pops: ListPop<'_>, reply: &mut dyn Reply) -> Outcome {
    let returned = tx.look_at_queue(key, Queue::returned_len)?.unwrap_or(0);
    tx.expect_work(returned.min(pops.count))?;
    reply.array(2);
    reply.bulk(key);
    pop_many(tx, key, pops.end, pops.count, reply)
}

pub(crate) fn tell(tx: &mut Tx, key: &[u8], start: i64, stop: i64, reply: &mut dyn Reply) -> Outcome {
    expect_queue(tx, key)?;
    let keyspace = tx.keyspace();
    tx.look_at_queue(key, |queue| {
        let (start, count) = parse::range(start, stop, queue.ready_len());
        let part = ListPart { start, count, direction: Direction::Forward };
        range::tell(reply, queue, part, || keyspace.pin(key));
    })?;
    Ok(())
}

pub(crate) fn index(tx: &mut Tx, key: &[u8], index: i64, reply: &mut dyn Reply) -> Outcome {
    expect_queue(tx, key)?;
    let message = tx.look_at_queue(key, |queue| {
        index_of(index, queue.ready_len()).and_then(|index| queue.ready_at(index, <[u8]>::to_vec))
    })?;
    match message.flatten() {
        Some(message) => reply.bulk_owned(message),
        None => reply.null(),
    }
    Ok(())
}

/// LMOVE and the like, if source or target, or both, are queues.
pub(crate) fn pass(tx: &mut Tx, source: &[u8], target: &[u8], ends: MoveEnds, reply: &mut dyn Reply) -> Outcome {
    let Some(message) = first_of_either(tx, source, ends.from)? else {
        reply.null();
        return Ok(());
    };
    if source != target && tx.exists(target) {
        if tx.is_queue(target) {
            let takes = tx.look_at_queue(target, |queue| queue.takes(1, message.len() as u64))?;
            takes.transpose().map_err(full)?;
        } else {
            tx.list(target)?;
        }
    }
    tx.need_room((message.len() + 2 * source.len() + 2 * target.len() + 192) as u64)?;
    let is_alone = source == target && tx.look_at_queue(source, Queue::len)? == Some(1);
    // A queue that would become empty stays, with its state: its one message is pushed back to the given end.
    if is_alone {
        let mut queue = tx.queue_mut(source, Absent::Leave)?.expect("just seen");
        queue.push(ends.to, &[&message]);
        queue.pop(if ends.to == End::Head { End::Tail } else { End::Head }, 1);
    } else {
        match tx.is_queue(source) {
            true => tx.queue_mut(source, Absent::Leave)?.expect("just seen").pop(ends.from, 1),
            false => tx.list_mut(source, Absent::Leave)?.expect("just seen").discard(ends.from, 1),
        }
        match tx.is_queue(target) {
            true => tx.queue_mut(target, Absent::Leave)?.expect("just seen").push(ends.to, &[&message]),
            false => tx.list_mut(target, Absent::Create)?.expect("is to be made").push(ends.to, &[&message]),
        }
    }
    reply.bulk_owned(message);
    Ok(())
}

/// Returns the ready message at an end of the queue under `key`.
pub(super) fn first(tx: &mut Tx, key: &[u8], end: End) -> Result<Option<Vec<u8>>, Failure> {
    let message = tx.look_at_queue(key, |queue| {
        let at = if end == End::Head { Some(0) } else { queue.ready_len().checked_sub(1) };
        at.and_then(|at| queue.ready_at(at, <[u8]>::to_vec))
    })?;
    Ok(message.flatten())
}

/// Likewise for a list or a queue.
fn first_of_either(tx: &mut Tx, key: &[u8], end: End) -> Result<Option<Vec<u8>>, Failure> {
    if tx.is_queue(key) {
        return first(tx, key, end);
    }
    let list = tx.list(key)?;
    Ok(list.and_then(|list| list.get(if end == End::Head { 0 } else { list.len() - 1 }, <[u8]>::to_vec)))
}
