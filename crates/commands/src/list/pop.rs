//! LPOP RPOP LMPOP BLPOP BRPOP BLMPOP: take elements off an end of a list.
//!
//! The blocking ones look at their keys in order and take from the first list there is; while they wait, the engine
//! runs them again in the hands of whoever feeds one of the keys.

use crate::prelude::*;
use crate::row::TimeoutAt;
use blocks::End;
use keyspace::ListMut;

pub(crate) const COMMANDS: &[Command] = &[LPOP, RPOP, LMPOP, BLPOP, BRPOP, BLMPOP];

const LPOP: Command = Command {
    name: "LPOP",
    syntax: "key [count]",
    arity: Arity::Between(2, 3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    group: Group::List,
    cost: "O(n), n the elements taken",
    since: "1.0.0",
    brief: "Takes elements off the head of a list.",
    answer: "bulk: the element, or null; with count an array of elements, or null if the key is absent",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, End::Head)),
};

const RPOP: Command = Command {
    name: "RPOP",
    brief: "Takes elements off the tail of a list.",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, End::Tail)),
    ..LPOP
};

const LMPOP: Command = Command {
    name: "LMPOP",
    syntax: "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::counted(1, "RW ACCESS DELETE")],
    flags: &[],
    cost: "O(n + m), n the keys and m the elements taken",
    since: "7.0.0",
    brief: "Takes elements off an end of the first of several lists that has any.",
    answer: "array: the key and an array of elements; null if no list has any",
    run: Run::Local(|tx, args, reply| match pop_first(tx, args, reply, 1) {
        Err(Failure::Nothing) => {
            reply.null_array();
            Ok(())
        }
        outcome => outcome,
    }),
    ..LPOP
};

const BLPOP: Command = Command {
    name: "BLPOP",
    syntax: "key [key ...] timeout",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::many(1, -2, 1, "RW ACCESS DELETE")],
    flags: &[],
    cost: "O(n), n the keys",
    since: "2.0.0",
    brief: "Takes the head of the first of several lists that has one, or waits.",
    answer: "array: the key and the element; null when the time is up",
    run: Run::Blocking {
        try_now: |tx, args, reply| pop_one_of(tx, args, reply, End::Head),
        timeout: TimeoutAt::Last,
        empty: |reply| reply.null_array(),
    },
    ..LPOP
};

const BRPOP: Command = Command {
    name: "BRPOP",
    brief: "Takes the tail of the first of several lists that has one, or waits.",
    run: Run::Blocking {
        try_now: |tx, args, reply| pop_one_of(tx, args, reply, End::Tail),
        timeout: TimeoutAt::Last,
        empty: |reply| reply.null_array(),
    },
    ..BLPOP
};

const BLMPOP: Command = Command {
    name: "BLMPOP",
    syntax: "timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::counted(2, "RW ACCESS DELETE")],
    since: "7.0.0",
    brief: "Takes elements off an end of the first of several lists with any, or waits.",
    answer: "array: the key and an array of elements; null when the time is up",
    run: Run::Blocking {
        try_now: |tx, args, reply| pop_first(tx, args, reply, 2),
        timeout: TimeoutAt::First,
        empty: |reply| reply.null_array(),
    },
    ..BLPOP
};

fn pop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End) -> Outcome {
    let count = if args.len() == 3 { Some(parse::count(args.get(2))?) } else { None };
    let Some(mut list) = tx.list_mut(args.get(1), Absent::Leave)? else {
        match count {
            Some(_) => reply.null_array(),
            None => reply.null(),
        }
        return Ok(());
    };
    match count {
        Some(count) => take_many(&mut list, reply, end, count),
        None => list.pop(end, 1, |item| reply.bulk(item)),
    }
    Ok(())
}

fn take_many(list: &mut ListMut<'_, '_>, reply: &mut dyn Reply, end: End, count: u64) {
    let count = count.min(list.len());
    reply.array(count as usize);
    list.pop(end, count, |item| reply.bulk(item));
}

fn pop_one_of(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End) -> Outcome {
    for key in args.iter().take(args.len() - 1).skip(1) {
        if let Some(mut list) = waited_list(tx, key)? {
            reply.array(2);
            reply.bulk(key);
            list.pop(end, 1, |item| reply.bulk(item));
            return Ok(());
        }
    }
    Err(Failure::Nothing)
}

/// LMPOP and BLMPOP, whose number of keys is argument `at`.
fn pop_first(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, at: usize) -> Outcome {
    let keys_count = positive(args.get(at), "ERR numkeys should be greater than 0")?;
    let end_at = usize::try_from(keys_count).ok().and_then(|count| count.checked_add(at + 1));
    let end_at = end_at.filter(|end_at| *end_at < args.len()).ok_or(Failure::Syntax)?;
    let end = parse_end(args.get(end_at))?;
    let count = match args.len() - end_at {
        1 => 1,
        3 if parse::is(args.get(end_at + 1), "COUNT") => {
            positive(args.get(end_at + 2), "ERR count should be greater than 0")?
        }
        _ => return Err(Failure::Syntax),
    };
    for key in args.iter().take(end_at).skip(at + 1) {
        if let Some(mut list) = waited_list(tx, key)? {
            reply.array(2);
            reply.bulk(key);
            take_many(&mut list, reply, end, count);
            return Ok(());
        }
    }
    Err(Failure::Nothing)
}

fn positive(argument: &[u8], text: &'static str) -> Result<u64, Failure> {
    let number = kinds::text::parse_int(argument).and_then(|number| u64::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or(Failure::text(text))
}

/// The list that a command takes from, if there is one and it may. To one who waits, another kind is nothing.
pub(super) fn waited_list<'t, 'k>(tx: &'t mut Tx<'k>, key: &'t [u8]) -> Result<Option<ListMut<'t, 'k>>, Failure> {
    if !tx.may_use(key) || (tx.is_serving() && tx.list(key).is_err()) {
        return Ok(None);
    }
    Ok(tx.list_mut(key, Absent::Leave)?)
}

/// LEFT or RIGHT.
pub(super) fn parse_end(argument: &[u8]) -> Result<End, Failure> {
    if parse::is(argument, "LEFT") {
        Ok(End::Head)
    } else if parse::is(argument, "RIGHT") {
        Ok(End::Tail)
    } else {
        Err(Failure::Syntax)
    }
}
