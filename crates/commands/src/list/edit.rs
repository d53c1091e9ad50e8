//! LSET LINSERT LREM LTRIM LTRIMFRONT LTRIMBACK: change a list in the middle, or trim it.
//!
//! LINSERT and LREM search. A big list is searched without its lock: the handler asks its tx, which is abandoned, and
//! the command reruns with the result.

use super::find::LOCKED_BYTES_MAX;
use super::range::index_of;
use super::{plain, plain_mut};
use crate::prelude::*;
use blocks::{Direction, End};
use keyspace::{Classes, Finding, SearchQuery};

pub(crate) const COMMANDS: &[CommandSpec] = &[LSET, LINSERT, LREM, LTRIM, LTRIMFRONT, LTRIMBACK];

const LSET: CommandSpec = CommandSpec {
    name: "LSET",
    syntax: "key index element",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::List,
    cost: "O(log(n)), n the elements of the list",
    since: "1.0.0",
    brief: "Replaces the element at an index of a list.",
    answer: "simple: OK",
    run: Run::Local(lset),
};

const LINSERT: CommandSpec = CommandSpec {
    name: "LINSERT",
    syntax: "key <BEFORE | AFTER> pivot element",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("1", "where", "", "")])],
    group: Group::List,
    cost: "O(n), n the elements before the pivot",
    since: "2.2.0",
    brief: "Inserts an element before or after the first equal to a pivot.",
    answer: "int: the length after that; 0: the key is absent; -1: the pivot is",
    run: Run::Local(linsert),
};

const LREM: CommandSpec = CommandSpec {
    name: "LREM",
    syntax: "key count element",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[],
    group: Group::List,
    cost: "O(n+m*log(n)), n the elements of the list, m those removed",
    since: "1.0.0",
    brief: "Removes elements equal to one, from the head or (count below 0) the tail.",
    answer: "int: elements removed",
    run: Run::Local(lrem),
};

const LTRIM: CommandSpec = CommandSpec {
    name: "LTRIM",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "lpop", events: &[(Classes::LIST, "ltrim")] },
        EventRule { instead_of: "rpop", events: &[(Classes::LIST, "ltrim")] },
    ])],
    group: Group::List,
    cost: "O(log(n)), n the elements of the list",
    since: "1.0.0",
    brief: "Removes all elements of a list but those between two indices.",
    answer: "simple: OK",
    run: Run::Local(ltrim),
};

const LTRIMFRONT: CommandSpec = CommandSpec {
    name: "LTRIMFRONT",
    syntax: "key count",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "lpop", events: &[(Classes::LIST, "ltrim")] },
        EventRule { instead_of: "rpop", events: &[(Classes::LIST, "ltrim")] },
    ])],
    group: Group::List,
    cost: "O(log(n)), n the elements of the list",
    since: "bobbin 0.1.0",
    brief: "Removes elements from the head of a list without returning them.",
    answer: "int: elements dropped",
    run: Run::Local(|tx, args, reply| drop_end(tx, args, reply, End::Head)),
};

const LTRIMBACK: CommandSpec = CommandSpec {
    name: "LTRIMBACK",
    syntax: "key count",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "lpop", events: &[(Classes::LIST, "ltrim")] },
        EventRule { instead_of: "rpop", events: &[(Classes::LIST, "ltrim")] },
    ])],
    group: Group::List,
    cost: "O(log(n)), n the elements of the list",
    since: "bobbin 0.1.0",
    brief: "Removes elements from the tail of a list without returning them.",
    answer: "int: elements dropped",
    run: Run::Local(|tx, args, reply| drop_end(tx, args, reply, End::Tail)),
};

fn lset(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let mut list = plain_mut(tx, args.get(1))?.ok_or(Failure::NoSuchKey)?;
    let index = index_of(parse::int(args.get(2))?, list.len()).ok_or(Failure::IndexOutOfRange)?;
    list.set(index, args.get(3));
    reply.ok();
    Ok(())
}

fn linsert(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let behind = match args.get(2) {
        word if parse::is(word, "BEFORE") => 0,
        word if parse::is(word, "AFTER") => 1,
        _ => return Err(Failure::Syntax),
    };
    let key = args.get(1);
    let aim = SearchQuery { needle: args.get(3).to_vec(), direction: Direction::Forward, limit: 1, removes: false };
    let Some(pivot) = find(tx, key, &aim)? else {
        reply.int(0);
        return Ok(());
    };
    if pivot.found().runs() == 0 {
        reply.int(-1);
        return Ok(());
    }
    let (pivot, _) = pivot.found().run(0);
    let mut list = tx.list_mut(key, Absent::Leave)?.expect("just seen");
    list.insert(pivot + behind, args.get(4));
    reply.int(list.len() as i64);
    Ok(())
}

fn lrem(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, count) = (args.get(1), parse::int(args.get(2))?);
    let direction = if count < 0 { Direction::Backward } else { Direction::Forward };
    let limit = if count == 0 { u64::MAX } else { count.unsigned_abs() };
    let aim = SearchQuery { needle: args.get(3).to_vec(), direction, limit, removes: true };
    let Some(finding) = find(tx, key, &aim)? else {
        reply.int(0);
        return Ok(());
    };
    let mut list = tx.list_mut(key, Absent::Leave)?.expect("just seen");
    reply.int(list.remove_found(&finding)? as i64);
    Ok(())
}

/// Returns the positions of the elements; `None` if the key is absent.
fn find<'k>(tx: &mut Tx<'k>, key: &[u8], aim: &SearchQuery) -> Result<Option<Finding<'k>>, Failure> {
    let Some(list) = plain(tx, key)? else { return Ok(None) };
    if list.content_bytes() > LOCKED_BYTES_MAX {
        return Ok(Some(tx.search(key, aim)?));
    }
    Ok(Some(Finding::Now(list.find_all(&aim.needle, aim.direction, aim.limit))))
}

fn ltrim(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    if let Some(mut list) = plain_mut(tx, args.get(1))? {
        let (start, count) = parse::range(start, stop, list.len());
        if count == list.len() {
            // Redis notifies even so.
            tx.note_touched(args.get(1), Classes::LIST, "ltrim");
        } else {
            list.keep(start, count);
        }
    }
    reply.ok();
    Ok(())
}

fn drop_end(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, end: End) -> Outcome {
    let count = parse::count(args.get(2))?;
    let Some(mut list) = plain_mut(tx, args.get(1))? else {
        reply.int(0);
        return Ok(());
    };
    let dropped = count.min(list.len());
    list.discard(end, dropped);
    reply.int(dropped as i64);
    Ok(())
}
