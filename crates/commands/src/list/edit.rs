//! LSET LINSERT LREM LTRIM: change a list in its middle.

use super::range::place;
use crate::prelude::*;
use blocks::Direction;
use kinds::List;

pub(crate) const COMMANDS: &[Command] = &[LSET, LINSERT, LREM, LTRIM];

const LSET: Command = Command {
    name: "LSET",
    syntax: "key index element",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    group: Group::List,
    cost: "O(log n), n the length",
    since: "1.0.0",
    brief: "Puts another element at an index.",
    answer: "OK; an error if the key or the index is not there",
    run: Run::Local(lset),
};

const LINSERT: Command = Command {
    name: "LINSERT",
    syntax: "key <BEFORE | AFTER> pivot element",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW INSERT")],
    cost: "O(n), n the elements before the pivot",
    since: "2.2.0",
    brief: "Inserts an element before or after the first one that equals the pivot.",
    answer: "int: the length after it; 0 if the key is absent, -1 if the pivot is",
    run: Run::Local(linsert),
    ..LSET
};

const LREM: Command = Command {
    name: "LREM",
    syntax: "key count element",
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    cost: "O(n + m log n), n the length and m the elements removed",
    brief: "Removes elements that equal one, from the head or from the tail.",
    answer: "int: how many were removed",
    run: Run::Local(lrem),
    ..LSET
};

const LTRIM: Command = Command {
    name: "LTRIM",
    syntax: "key start stop",
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    cost: "O(log n) and the blocks removed",
    brief: "Keeps the elements between two indices, both included, and removes the rest.",
    answer: "OK",
    run: Run::Local(ltrim),
    ..LSET
};

fn lset(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let Some(mut list) = tx.list_mut(args.get(1), Absent::Leave)? else { return Err(Failure::NoSuchKey) };
    let index = parse::int(args.get(2))?;
    let index = place(index, list.len()).ok_or(Failure::IndexOutOfRange)?;
    list.set(index, args.get(3));
    reply.ok();
    Ok(())
}

fn linsert(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let behind = match args.get(2) {
        word if parse::is(word, "AFTER") => 1,
        word if parse::is(word, "BEFORE") => 0,
        _ => return Err(Failure::Syntax),
    };
    let Some(mut list) = tx.list_mut(args.get(1), Absent::Leave)? else {
        reply.int(0);
        return Ok(());
    };
    match list.list().and_then(|list| list.find(args.get(3), 0, Direction::Forward)) {
        Some(index) => {
            list.insert(index + behind, args.get(4));
            reply.int(list.len() as i64);
        }
        None => reply.int(-1),
    }
    Ok(())
}

fn lrem(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let count = parse::int(args.get(2))?;
    let key = args.get(1);
    let runs = tx.list(key)?.map_or(Vec::new(), |list| runs_to_remove(list, args.get(3), count));
    tx.need_room(runs.len() as u64 * (key.len() as u64 + 32))?;
    if let Some(mut list) = tx.list_mut(key, Absent::Leave)? {
        for (index, count) in &runs {
            list.remove(*index, *count);
        }
    }
    reply.int(runs.iter().map(|(_, count)| *count as i64).sum());
    Ok(())
}

/// Runs of neighbours to be removed, index and length, from the tail to the head.
fn runs_to_remove(list: &List, element: &[u8], count: i64) -> Vec<(u64, u64)> {
    let most = if count == 0 { u64::MAX } else { count.unsigned_abs() };
    let direction = if count < 0 { Direction::Backward } else { Direction::Forward };
    let mut found = Vec::new();
    let mut from = if count < 0 { list.len() - 1 } else { 0 };
    while (found.len() as u64) < most {
        let Some(index) = list.find(element, from, direction) else { break };
        found.push(index);
        match direction {
            Direction::Forward => from = index + 1,
            Direction::Backward if index == 0 => break,
            Direction::Backward => from = index - 1,
        }
    }
    if direction == Direction::Forward {
        found.reverse();
    }
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for index in found {
        match runs.last_mut() {
            Some((first, count)) if *first == index + 1 => {
                *first = index;
                *count += 1;
            }
            _ => runs.push((index, 1)),
        }
    }
    runs
}

fn ltrim(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    if let Some(mut list) = tx.list_mut(args.get(1), Absent::Leave)? {
        let (start, count) = parse::range(start, stop, list.len());
        list.keep(start, count);
    }
    reply.ok();
    Ok(())
}
