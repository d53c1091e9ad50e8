//! Commands of the queue port: the MemcacheQ and Kestrel protocol, on lists and queues.
//!
//! ```text
//! set q 0 0 3       MQ.SET q 0 abc           |  STORED\r\n                      at the tail, as RPUSH
//! get q             MQ.GET q                 |  VALUE q 0 3\r\nabc\r\n          from the head, as LPOP
//! get q/t=500       MQ.GET q BLOCK 500
//! get q/peek        MQ.PEEK q
//! get q/open        MQ.OPEN q                |  VALUE q 0 3\r\nabc\r\n          leased; the session keeps the receipt
//! get q/close       MQ.CLOSE q 17-1          |                                 as Q.ACK; q/abort as Q.NACK
//! ```
//!
//! A list element has no flags. A message with flags 0 is the element itself; others are in an envelope, which this
//! port removes and others show: `\0MQflags`, the flags in four bytes, most significant first, and the message.
//!
//! Commands reply in the protocol's words, like those of the memcached port. For readers, a key of another type is no
//! queue; for writers, it is an error.

use super::{LEASE_MS, due_ms, leased, receipt, reserve};
use crate::list::push::push_items;
use crate::memcached::flush::remove_those;
use crate::memcached::stats::{topic, write_stats};
use crate::prelude::*;
use crate::spec::{TimeoutAt, Verb, as_it_is};
use blocks::End;
use keyspace::Ending;
use std::ops::ControlFlow;
use values::{Queue, ValueType};
use wire::OwnedRequest;

pub(crate) const COMMANDS: &[CommandSpec] =
    &[ABORT, CLOSE, DELETE, FLUSH_ALL, GET, GETS, OPEN, PEEK, QUEUES, SET, STATS];

/// The MemcacheQ version whose protocol we speak.
pub const MEMCACHEQ_VERSION: &str = "0.2.1";
/// The prefix of a message with flags.
const ENVELOPE: &[u8] = b"\0MQflags";

const GET: CommandSpec = CommandSpec {
    name: "MQ.GET",
    syntax: "key [BLOCK milliseconds]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Get)],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Removes and returns the first message: get of MemcacheQ's port.",
    answer: "array: the line `VALUE key flags bytes`, the message; null: there is none",
    run: taking(|tx, args, reply| take(tx, args, b"", reply)),
};

const GETS: CommandSpec = CommandSpec {
    name: "MQ.GETS",
    syntax: "key [BLOCK milliseconds]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Get)],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Removes and returns the first message with a version of 0, as MQ.GET.",
    answer: "array: the line `VALUE key flags bytes 0`, the message; null: there is none",
    run: taking(|tx, args, reply| take(tx, args, b" 0", reply)),
};

const OPEN: CommandSpec = CommandSpec {
    name: "MQ.OPEN",
    syntax: "key [BLOCK milliseconds]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Get)],
    group: Group::Queue,
    cost: "O(log(n)), n the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Leases the first message for 30 seconds: /open of MemcacheQ's port.",
    answer: "array: the line `VALUE key flags bytes`, the message; null: there is none",
    run: taking(open),
};

const PEEK: CommandSpec = CommandSpec {
    name: "MQ.PEEK",
    syntax: "key [BLOCK milliseconds]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Peek)],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns the first message without a change: /peek of MemcacheQ's port.",
    answer: "array: the line `VALUE key flags bytes`, the message; null: there is none",
    run: taking(|tx, args, reply| {
        let (key, waits) = (args.get(1), waits(args)?);
        if tx.may_use(key) && write_first(tx, key, b"", reply) { Ok(()) } else { nothing(waits, reply) }
    }),
};

const SET: CommandSpec = CommandSpec {
    name: "MQ.SET",
    syntax: "key flags message",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Set)],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Appends a message to a queue: set of MemcacheQ's port.",
    answer: "simple: STORED",
    run: Run::Local(|tx, args, reply| {
        let (key, message) = (args.get(1), args.get(3));
        let flags = wire::memcache::unsigned(args.get(2)).and_then(|flags| u32::try_from(flags).ok());
        let envelope = match flags.ok_or(Failure::text("CLIENT_ERROR bad command line format"))? {
            0 if !message.starts_with(ENVELOPE) => None,
            flags => Some([ENVELOPE, &flags.to_be_bytes(), message].concat()),
        };
        let message = envelope.as_deref().unwrap_or(message);
        push_items(tx, key, &[message], End::Tail, Absent::Create)?;
        reply.simple("STORED");
        Ok(())
    }),
};

const DELETE: CommandSpec = CommandSpec {
    name: "MQ.DELETE",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::DeleteQueue)],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Deletes a queue with all its messages: delete of MemcacheQ's port.",
    answer: "simple: DELETED or NOT_FOUND",
    run: Run::Local(|tx, args, reply| {
        let is_there = is_taken(tx, args.get(1));
        if is_there {
            tx.remove(args.get(1));
        }
        reply.simple(if is_there { "DELETED" } else { "NOT_FOUND" });
        Ok(())
    }),
};

const CLOSE: CommandSpec = CommandSpec {
    name: "MQ.CLOSE",
    syntax: "key receipt",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Close)],
    group: Group::Queue,
    cost: "O(log(n)), n the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Removes an opened message: /close of MemcacheQ's port.",
    answer: "null; an error, if the lease was not its own any more",
    run: Run::Local(|tx, args, reply| match end(tx, args, |queue, ids| queue.acknowledge(ids))? {
        0 => Err(Failure::text("SERVER_ERROR the lease has ended: the message was returned to the queue or removed")),
        _ => {
            reply.null();
            Ok(())
        }
    }),
};

const ABORT: CommandSpec = CommandSpec {
    name: "MQ.ABORT",
    syntax: "key receipt",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Message(MessageRequest::Abort)],
    group: Group::Queue,
    cost: "O(log(n)), n the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Returns an opened message to its queue: /abort, or a closed connection.",
    answer: "null: whether the lease was still its own or not",
    run: Run::Local(|tx, args, reply| {
        end(tx, args, |queue, ids| queue.release(ids, Ending::Now))?;
        reply.null();
        Ok(())
    }),
};

const FLUSH_ALL: CommandSpec = CommandSpec {
    name: "MQ.FLUSH_ALL",
    syntax: "[delay]",
    arity: Arity::Between(1, 2),
    keys: &[],
    access: Access::Write { grows: false },
    flags: &[Flag::Dangerous, Flag::NoScript, Flag::NoMulti],
    facts: &[],
    group: Group::Queue,
    cost: "O(n), n the keys of the database; a few at a time",
    since: "bobbin 0.1.0",
    brief: "Deletes all lists and queues of the database, at once or after a delay.",
    answer: "simple: OK",
    run: Run::Engine(Verb::FlushQueues),
};

/// Removes those of some keys that are lists or queues.
pub static REMOVE_QUEUES: CommandSpec = CommandSpec {
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RW DELETE")],
    run: Run::Local(|tx, args, reply| remove_those(tx, args, reply, is_taken)),
    ..FLUSH_ALL
};

const STATS: CommandSpec = CommandSpec {
    name: "MQ.STATS",
    syntax: "[topic]",
    arity: Arity::AtLeast(1),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale],
    facts: &[],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns statistics: stats of MemcacheQ's port.",
    answer: "array: lines `STAT name value`, then END; simple: RESET",
    run: Run::Session(|session, args, reply| {
        if topic(args) == b"reset" {
            session.reset_queue_statistics();
            reply.simple("RESET");
            return Ok(());
        }
        write_stats(args, reply, |topic| session.queue_facts(topic))
    }),
};

const QUEUES: CommandSpec = CommandSpec {
    name: "MQ.QUEUES",
    syntax: "",
    arity: Arity::Exactly(1),
    keys: &[],
    access: Access::Read,
    flags: &[Flag::NoScript, Flag::NoMulti],
    facts: &[],
    group: Group::Queue,
    cost: "O(n), n the keys of the database; in turns",
    since: "bobbin 0.1.0",
    brief: "Returns how many messages of each queue were put and taken.",
    answer: "array: a line `STAT name put/taken` of each, by name, then END; the difference is how many may be taken",
    run: Run::Engine(Verb::ListQueues),
};

const fn taking(try_now: crate::spec::Local) -> Run {
    Run::Blocking { try_now, timeout: TimeoutAt::LastBlock, empty: |reply| reply.null(), settled: as_it_is }
}

fn take(tx: &mut Tx, args: &Args, version: &[u8], reply: &mut dyn Reply) -> Outcome {
    let (key, waits) = (args.get(1), waits(args)?);
    if tx.may_use(key) {
        if let Ok(list) = tx.list_mut(key, Absent::Leave) {
            if let Some(mut list) = list {
                list.pop(End::Head, 1, |message| write_message(reply, key, message, version));
                return Ok(());
            }
        } else if tx.is_queue(key) {
            if write_first(tx, key, version, reply) {
                tx.queue_mut(key, Absent::Leave)?.expect("just seen").pop(End::Head, 1);
                return Ok(());
            }
            wait_for_return(tx, key, waits)?;
        }
    }
    nothing(waits, reply)
}

fn open(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, waits, due_ms) = (args.get(1), waits(args)?, due_ms(tx, LEASE_MS)?);
    if tx.may_use(key)
        && let Ok(Some(mut queue)) = tx.queue_mut(key, Absent::Leave)
    {
        let bytes = queue.settling_bytes();
        tx.need_room(bytes)?;
        let mut queue = tx.queue_mut(key, Absent::Leave)?.expect("just seen");
        queue.settle();
        queue.begin();
        let mut is_found = false;
        queue.look(|queue| {
            let _ = queue.walk_records(&mut |record| {
                reply.aside(receipt(queue, record.id, record.deliveries.saturating_add(1)).as_bytes());
                write_message(reply, key, record.message, b"");
                is_found = true;
                ControlFlow::Break(())
            });
        });
        if is_found {
            queue.reserve(1, due_ms);
            return Ok(());
        }
        wait_for_return(tx, key, waits)?;
    }
    nothing(waits, reply)
}

/// Returns true if a key is a list or a queue.
fn is_taken(tx: &mut Tx, key: &[u8]) -> bool {
    tx.value_type(key).is_some_and(|kind| ValueType::List.is_taken_from(kind))
}

/// Replies with the first message of a list or a queue. Returns whether there is one.
fn write_first(tx: &mut Tx, key: &[u8], version: &[u8], reply: &mut dyn Reply) -> bool {
    let written =
        tx.look_at_queue(key, |queue| queue.ready_at(0, |message| write_message(reply, key, message, version)));
    matches!(written, Ok(Some(Some(()))))
}

/// Returns true if the client waits when there is nothing.
fn waits(args: &Args) -> Result<bool, Failure> {
    if args.len() > 2 && !parse::is(args.get(2), "BLOCK") {
        return Err(Failure::Syntax);
    }
    Ok(reserve::ReserveOptions::of(args)?.block_ms.is_some())
}

/// Makes a waiting client look again when a message returns.
fn wait_for_return(tx: &mut Tx, key: &[u8], waits: bool) -> Result<(), Failure> {
    let next_ms = tx.look_at_queue(key, Queue::next_return)?.flatten();
    if let Some(next_ms) = next_ms.filter(|_| waits) {
        tx.look_again(next_ms);
    }
    Ok(())
}

fn nothing(waits: bool, reply: &mut dyn Reply) -> Outcome {
    if waits {
        return Err(Failure::Nothing);
    }
    reply.null();
    Ok(())
}

/// Ends a lease. Returns how many were ended.
fn end(
    tx: &mut Tx,
    args: &Args,
    work: impl FnOnce(&mut keyspace::QueueMut<'_, '_>, &[i64]) -> Result<(), keyspace::Abandon>,
) -> Result<usize, Failure> {
    // Deleting or replacing the queue has ended the lease.
    let Ok(Some(mut queue)) = tx.queue_mut(args.get(1), Absent::Leave) else { return Ok(0) };
    let ids = leased(&mut queue, args.slice(2, 3))?;
    queue.expect_work(ids.len() as u64)?;
    work(&mut queue, &ids)?;
    Ok(ids.len())
}

fn write_message(reply: &mut dyn Reply, key: &[u8], message: &[u8], version: &[u8]) {
    let in_envelope = message.strip_prefix(ENVELOPE).and_then(|rest| rest.split_first_chunk::<4>());
    let (flags, message) = in_envelope.map_or((0, message), |(flags, message)| (u32::from_be_bytes(*flags), message));
    let mut digits = [itoa::Buffer::new(), itoa::Buffer::new()];
    let [flag_digits, byte_digits] = &mut digits;
    let (flags, bytes) = (flag_digits.format(flags).as_bytes(), byte_digits.format(message.len()).as_bytes());
    let line = [b"VALUE ", key, b" ", flags, b" ", bytes, version];
    reply.array(2);
    reply.bulk_begin(line.iter().map(|part| part.len()).sum());
    line.iter().for_each(|part| reply.bulk_part(part));
    reply.bulk_end();
    reply.bulk(message);
}

/// Returns the request by which a connection of the port ends its own lease.
pub fn abort_request(key: &[u8], receipt: &[u8]) -> OwnedRequest {
    OwnedRequest::of(&[b"mq.abort", key, receipt])
}
