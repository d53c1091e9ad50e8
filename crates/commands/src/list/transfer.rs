//! LMOVE RPOPLPUSH BLMOVE BRPOPLPUSH: take an element off one list and put it on another, or on the same.

use super::pop::{parse_end, waited_list};
use crate::prelude::*;
use crate::row::TimeoutAt;
use blocks::End;

pub(crate) const COMMANDS: &[Command] = &[LMOVE, RPOPLPUSH, BLMOVE, BRPOPLPUSH];

const LMOVE: Command = Command {
    name: "LMOVE",
    syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT>",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE"), KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    group: Group::List,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Moves an element from an end of one list to an end of another.",
    answer: "bulk: the element; null if the source is absent",
    run: Run::Local(|tx, args, reply| or_null(transfer_as_told(tx, args, reply), reply)),
};

const RPOPLPUSH: Command = Command {
    name: "RPOPLPUSH",
    syntax: "source destination",
    arity: Arity::Exactly(3),
    since: "1.2.0",
    brief: "Moves the tail of one list to the head of another.",
    run: Run::Local(|tx, args, reply| or_null(transfer(tx, args, reply, End::Tail, End::Head), reply)),
    ..LMOVE
};

const BLMOVE: Command = Command {
    name: "BLMOVE",
    syntax: "source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout",
    arity: Arity::Exactly(6),
    brief: "Moves an element from one list to another, or waits for one.",
    answer: "bulk: the element; null when the time is up",
    run: Run::Blocking { try_now: transfer_as_told, timeout: TimeoutAt::Last, empty: |reply| reply.null() },
    ..LMOVE
};

const BRPOPLPUSH: Command = Command {
    name: "BRPOPLPUSH",
    syntax: "source destination timeout",
    arity: Arity::Exactly(4),
    since: "2.2.0",
    brief: "Moves the tail of one list to the head of another, or waits for one.",
    run: Run::Blocking {
        try_now: |tx, args, reply| transfer(tx, args, reply, End::Tail, End::Head),
        timeout: TimeoutAt::Last,
        empty: |reply| reply.null(),
    },
    ..BLMOVE
};

fn or_null(outcome: Outcome, reply: &mut dyn Reply) -> Outcome {
    match outcome {
        Err(Failure::Nothing) => {
            reply.null();
            Ok(())
        }
        outcome => outcome,
    }
}

fn transfer_as_told(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (from, to) = (parse_end(args.get(3))?, parse_end(args.get(4))?);
    transfer(tx, args, reply, from, to)
}

fn transfer(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, from: End, to: End) -> Outcome {
    let (source, target) = (args.get(1), args.get(2));
    if waited_list(tx, source)?.is_none() {
        return Err(Failure::Nothing);
    }
    tx.list(target)?;
    let list = tx.list(source)?.ok_or(Failure::Nothing)?;
    let index = if from == End::Head { 0 } else { list.len() - 1 };
    let item = list.get(index, |item| item.to_vec()).ok_or(Failure::Nothing)?;
    tx.need_room((item.len() + source.len() + target.len() + 128) as u64)?;
    reply.bulk(&item);
    if let Some(mut list) = tx.list_mut(source, Absent::Leave)? {
        list.pop(from, 1, |_| ());
    }
    if let Some(mut list) = tx.list_mut(target, Absent::Create)? {
        list.push(to, &[&item]);
    }
    Ok(())
}
