//! LPOS: where an element stands in a list.

use crate::prelude::*;
use blocks::Direction;
use kinds::List;

pub(crate) const COMMANDS: &[Command] = &[LPOS];

const LPOS: Command = Command {
    name: "LPOS",
    syntax: "key element [RANK rank] [COUNT num-matches] [MAXLEN len]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    group: Group::List,
    cost: "O(n), n the elements passed",
    since: "6.0.6",
    brief: "Tells at which indices a list has an element.",
    answer: "int: the index, or null; with COUNT an array of indices",
    run: Run::Local(lpos),
};

/// What is looked for beside the element.
struct Search {
    /// Matches to pass over.
    skipped: u64,
    direction: Direction,
    /// Matches to tell.
    matches_max: u64,
    /// Elements to look at.
    looked_at_max: u64,
}

fn lpos(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (search, wants_many) = parse_search(args)?;
    let found = tx.list(args.get(1))?.map_or(Vec::new(), |list| find(list, args.get(2), &search));
    if wants_many {
        reply.array(found.len());
        found.iter().for_each(|index| reply.int(*index as i64));
    } else {
        match found.first() {
            Some(index) => reply.int(*index as i64),
            None => reply.null(),
        }
    }
    Ok(())
}

fn parse_search(args: &Args) -> Result<(Search, bool), Failure> {
    let mut search = Search { skipped: 0, direction: Direction::Forward, matches_max: 1, looked_at_max: u64::MAX };
    let mut wants_many = false;
    let mut at = 3;
    while at < args.len() {
        let word = args.get(at);
        let value = if at + 1 < args.len() { args.get(at + 1) } else { return Err(Failure::Syntax) };
        if parse::is(word, "RANK") {
            let rank = parse::int(value)?;
            if rank == 0 {
                return Err(Failure::text(
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... \
                     or use negative to start from the end of the list",
                ));
            }
            if rank == i64::MIN {
                return Err(Failure::text(
                    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
                ));
            }
            search.skipped = rank.unsigned_abs() - 1;
            search.direction = if rank < 0 { Direction::Backward } else { Direction::Forward };
        } else if parse::is(word, "COUNT") {
            let count = parse::int(value)?;
            let count = u64::try_from(count).map_err(|_| Failure::text("ERR COUNT can't be negative"))?;
            search.matches_max = if count == 0 { u64::MAX } else { count };
            wants_many = true;
        } else if parse::is(word, "MAXLEN") {
            let most = parse::int(value)?;
            let most = u64::try_from(most).map_err(|_| Failure::text("ERR MAXLEN can't be negative"))?;
            search.looked_at_max = if most == 0 { u64::MAX } else { most };
        } else {
            return Err(Failure::Syntax);
        }
        at += 2;
    }
    Ok((search, wants_many))
}

fn find(list: &List, element: &[u8], search: &Search) -> Vec<u64> {
    let len = list.len();
    let mut found = Vec::new();
    let mut skipped = search.skipped;
    let mut from = if search.direction == Direction::Forward { 0 } else { len - 1 };
    while (found.len() as u64) < search.matches_max {
        let Some(index) = list.find(element, from, search.direction) else { break };
        let passed = if search.direction == Direction::Forward { index } else { len - 1 - index };
        if passed >= search.looked_at_max {
            break;
        }
        if skipped > 0 {
            skipped -= 1;
        } else {
            found.push(index);
        }
        match search.direction {
            Direction::Forward => from = index + 1,
            Direction::Backward if index == 0 => break,
            Direction::Backward => from = index - 1,
        }
    }
    found
}
