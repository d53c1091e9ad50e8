//! Q.ACK Q.NACK Q.EXTEND Q.BURY Q.KICK: operations on leased or buried messages.
//!
//! Receipts of leases that have ended, or whose message was leased again, are skipped: the reply counts the valid ones.

use super::{LEASE_MS, count, due_ms, leased, milliseconds};
use crate::prelude::*;
use crate::spec::words_at;
use keyspace::Ending;

pub(crate) const COMMANDS: &[CommandSpec] = &[ACK, BURY, EXTEND, KICK, NACK];

const ACK: CommandSpec = CommandSpec {
    name: "Q.ACK",
    syntax: "key receipt [receipt ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n*log(m)), n the receipts, m the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Removes leased messages whose work is done.",
    answer: "int: messages removed; a receipt whose lease is somebody else's counts nothing",
    run: Run::Local(|tx, args, reply| {
        with_leased(tx, args, args.len(), reply, |queue, ids| Ok(queue.acknowledge(ids)?))
    }),
};

const NACK: CommandSpec = CommandSpec {
    name: "Q.NACK",
    syntax: "key receipt [receipt ...] [DELAY milliseconds]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n*log(m)), n the receipts, m the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Makes leased messages ready again, at once or later.",
    answer: "int: messages given back",
    run: Run::Local(|tx, args, reply| {
        let end = words_at(args, 2, &["DELAY"]);
        tx.queue_mut(args.get(1), Absent::Leave)?;
        let ending = match option(args, end)? {
            Some(ms) if ms > 0 => Ending::At(due_ms(tx, ms)?),
            _ => Ending::Now,
        };
        with_leased(tx, args, end, reply, |queue, ids| Ok(queue.release(ids, ending)?))
    }),
};

const EXTEND: CommandSpec = CommandSpec {
    name: "Q.EXTEND",
    syntax: "key receipt [receipt ...] [LEASE milliseconds]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n*log(m)), n the receipts, m the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Makes leases end so many milliseconds from now.",
    answer: "int: leases extended",
    run: Run::Local(|tx, args, reply| {
        let end = words_at(args, 2, &["LEASE"]);
        tx.queue_mut(args.get(1), Absent::Leave)?;
        let due_ms = due_ms(tx, option(args, end)?.unwrap_or(LEASE_MS).max(1))?;
        with_leased(tx, args, end, reply, |queue, ids| Ok(queue.extend(ids, due_ms)?))
    }),
};

const BURY: CommandSpec = CommandSpec {
    name: "Q.BURY",
    syntax: "key receipt [receipt ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n*log(m)), n the receipts, m the messages of the queue",
    since: "bobbin 0.1.0",
    brief: "Sets leased messages aside until Q.KICK.",
    answer: "int: messages buried",
    run: Run::Local(|tx, args, reply| with_leased(tx, args, args.len(), reply, |queue, ids| Ok(queue.bury(ids)?))),
};

const KICK: CommandSpec = CommandSpec {
    name: "Q.KICK",
    syntax: "key [COUNT count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n*log(m)), n the messages kicked, m those of the queue",
    since: "bobbin 0.1.0",
    brief: "Makes the first buried messages ready again.",
    answer: "int: messages kicked",
    run: Run::Local(kick),
};

/// Returns the milliseconds of an option that begins at `end`, or of none if the request ends there.
fn option(args: &Args, end: usize) -> Result<Option<u64>, Failure> {
    match args.len() - end {
        0 => Ok(None),
        2 => milliseconds(args.get(end + 1), 0).map(Some),
        _ => Err(Failure::Syntax),
    }
}

/// Applies an operation to the messages leased by the receipts up to `end`, and replies with their number.
fn with_leased(
    tx: &mut Tx,
    args: &Args,
    end: usize,
    reply: &mut dyn Reply,
    work: impl FnOnce(&mut keyspace::QueueMut<'_, '_>, &[i64]) -> Outcome,
) -> Outcome {
    let Some(mut queue) = tx.queue_mut(args.get(1), Absent::Leave)? else {
        reply.int(0);
        return Ok(());
    };
    let ids = leased(&mut queue, args.slice(2, end))?;
    queue.expect_work(ids.len() as u64)?;
    work(&mut queue, &ids)?;
    reply.int(ids.len() as i64);
    Ok(())
}

fn kick(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    tx.queue_mut(key, Absent::Leave)?;
    let most = match args.len() {
        2 => 1,
        4 if parse::is(args.get(2), "COUNT") => count(args.get(3))?,
        _ => return Err(Failure::Syntax),
    };
    let Some(mut queue) = tx.queue_mut(key, Absent::Leave)? else {
        reply.int(0);
        return Ok(());
    };
    let mut ids = queue.look(|queue| queue.buried_ids(most));
    ids.sort_unstable();
    queue.kick(&ids)?;
    reply.int(ids.len() as i64);
    Ok(())
}
