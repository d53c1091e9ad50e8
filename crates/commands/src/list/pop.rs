//! LPOP RPOP LMPOP: pop elements from an end of a list.

use super::end;
use super::range::{self, ListPart};
use crate::prelude::*;
use blocks::{Direction, End};
use keyspace::WrongType;

pub(crate) const COMMANDS: &[CommandSpec] = &[LPOP, RPOP, LMPOP];

const LPOP: CommandSpec = CommandSpec {
    name: "LPOP",
    syntax: "key [count]",
    arity: Arity::Between(2, 3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("6.2.0", "Takes a count.")]), Fact::Arguments(&[argument("1", "", "", "6.2.0")])],
    group: Group::List,
    cost: "O(n), n the elements taken",
    since: "1.0.0",
    brief: "Removes and returns elements at the head of a list.",
    answer: "bulk: the element, with a count array: the elements; null: the key is absent",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, End::Head)),
};

const RPOP: CommandSpec = CommandSpec {
    name: "RPOP",
    syntax: "key [count]",
    arity: Arity::Between(2, 3),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::History(&[("6.2.0", "Takes a count.")]), Fact::Arguments(&[argument("1", "", "", "6.2.0")])],
    group: Group::List,
    cost: "O(n), n the elements taken",
    since: "1.0.0",
    brief: "Removes and returns elements at the tail of a list.",
    answer: "bulk: the element, with a count array: the elements; null: the key is absent",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, End::Tail)),
};

const LMPOP: CommandSpec = CommandSpec {
    name: "LMPOP",
    syntax: "numkeys key [key ...] <LEFT | RIGHT> [COUNT count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::counted(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("2", "where", "", "")])],
    group: Group::List,
    cost: "O(n+m), n the keys, m the elements taken",
    since: "7.0.0",
    brief: "Removes and returns elements of the first non-empty list.",
    answer: "array: the key and an array of elements; null: no key is there",
    run: Run::Local(lmpop),
};

fn pop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End) -> Outcome {
    let key = args.get(1);
    if args.len() == 2 {
        return pop_one(tx, key, end, reply);
    }
    let count = parse::count(args.get(2))?;
    match removal_work(tx, key, count)? {
        Some(work) => pop_many(tx, key, end, count, work, reply),
        None => {
            reply.null_array();
            Ok(())
        }
    }
}

/// Pops an element and replies with it, or with null if there is none.
pub(super) fn pop_one(tx: &mut Tx, key: &[u8], end: End, reply: &mut dyn Reply) -> Outcome {
    let mut is_absent = true;
    if let Some(mut list) = tx.list_like_mut(key, Absent::Leave)? {
        list.pop(end, 1, |item| {
            is_absent = false;
            reply.bulk(item);
        });
    }
    if is_absent {
        reply.null();
    }
    Ok(())
}

/// Returns true if there is a list, or a queue with ready messages, under `key`.
pub(crate) fn is_filled(tx: &mut Tx, key: &[u8]) -> Result<bool, WrongType> {
    Ok(tx.list_like(key)?.is_some_and(|list| !list.is_empty()))
}

/// Pops up to `count` elements from an existing list or queue and replies with an array.
fn pop_many(tx: &mut Tx, key: &[u8], end: End, count: u64, work: u64, reply: &mut dyn Reply) -> Outcome {
    tx.expect_work(work)?;
    let keyspace = tx.keyspace();
    let list = tx.list_like(key)?.expect("the caller has looked");
    let part = part_of(list.len(), count, end);
    let count = part.count;
    range::write_list_like(reply, list, part, || keyspace.pin(key));
    tx.list_like_mut(key, Absent::Leave)?.expect("the caller has looked").discard(end, count);
    Ok(())
}

/// Returns the work of popping up to `count` elements, for [`Tx::expect_work`]; `None` if there are none.
fn removal_work(tx: &mut Tx, key: &[u8], count: u64) -> Result<Option<u64>, WrongType> {
    Ok(tx.list_like(key)?.filter(|list| !list.is_empty()).map(|list| list.removal_work(count)))
}

/// Returns up to `count` elements at an end of a list of length `len`.
pub(crate) fn part_of(len: u64, count: u64, end: End) -> ListPart {
    let count = count.min(len);
    match end {
        End::Head => ListPart { start: 0, count, direction: Direction::Forward },
        End::Tail => ListPart { start: len - count, count, direction: Direction::Backward },
    }
}

fn lmpop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let pops = pops_at(args, 1)?;
    for key in pops.keys {
        if let Some(work) = removal_work(tx, key, pops.count)? {
            return pop_named(tx, key, pops, work, reply);
        }
    }
    reply.null_array();
    Ok(())
}

/// The parameters of LMPOP and BLMPOP.
#[derive(Clone, Copy)]
pub(crate) struct ListPop<'a> {
    pub(crate) keys: Args<'a>,
    pub(crate) end: End,
    pub(crate) count: u64,
}

/// Reads `numkeys key [key ...] <LEFT | RIGHT> [COUNT count]` from argument `at` on.
pub(super) fn pops_at<'a>(args: &Args<'a>, at: usize) -> Result<ListPop<'a>, Failure> {
    let keys_count = parse::int_or(args.get(at), 1, i64::MAX, "ERR numkeys should be greater than 0")?;
    let end_at = at.saturating_add(1).saturating_add(keys_count as usize);
    if end_at >= args.len() {
        return Err(Failure::Syntax);
    }
    let end = end(args.get(end_at))?;
    let count = parse::count_option(&args.from(end_at + 1))?;
    Ok(ListPop { keys: args.slice(at + 1, end_at), end, count })
}

/// Pops from `key`, an existing list or queue, and replies with its name and the elements.
pub(super) fn pop_from(tx: &mut Tx, key: &[u8], pops: ListPop<'_>, reply: &mut dyn Reply) -> Outcome {
    let work = removal_work(tx, key, pops.count)?.expect("the caller has looked");
    pop_named(tx, key, pops, work, reply)
}

fn pop_named(tx: &mut Tx, key: &[u8], pops: ListPop<'_>, work: u64, reply: &mut dyn Reply) -> Outcome {
    reply.array(2);
    reply.bulk(key);
    pop_many(tx, key, pops.end, pops.count, work, reply)
}
