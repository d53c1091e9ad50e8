//! ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX: take members away.

use super::score::{Members, Scores};
use crate::prelude::*;
use kinds::Sorted;

pub(crate) const COMMANDS: &[Command] = &[ZREM, ZREMRANGEBYLEX, ZREMRANGEBYRANK, ZREMRANGEBYSCORE];

const ZREM: Command = Command {
    name: "ZREM",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "1.2.0",
    brief: "Removes members.",
    answer: "int: members removed",
    run: Run::Local(|tx, args, reply| {
        let members: Vec<&[u8]> = args.from(2).iter().collect();
        let removed = match tx.sorted_mut(args.get(1), Absent::Leave)? {
            Some(mut sorted) => sorted.remove(&members)?,
            None => 0,
        };
        reply.int(removed as i64);
        Ok(())
    }),
};

const ZREMRANGEBYRANK: Command = Command {
    name: "ZREMRANGEBYRANK",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    flags: &[],
    cost: "O(m*log(n)), m the members removed, n those of the sorted set",
    since: "2.0.0",
    brief: "Removes the members of a range of ranks.",
    run: Run::Local(|tx, args, reply| {
        let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
        remove(tx, args.get(1), reply, |sorted| parse::range(start, stop, sorted.len()))
    }),
    ..ZREM
};

const ZREMRANGEBYSCORE: Command = Command {
    name: "ZREMRANGEBYSCORE",
    syntax: "key min max",
    since: "1.2.0",
    brief: "Removes the members with scores of a range.",
    run: Run::Local(|tx, args, reply| {
        let range = Scores::of(args.get(2), args.get(3))?;
        remove(tx, args.get(1), reply, |sorted| range.ranks(sorted))
    }),
    ..ZREMRANGEBYRANK
};

const ZREMRANGEBYLEX: Command = Command {
    name: "ZREMRANGEBYLEX",
    since: "2.8.9",
    brief: "Removes the members of a range of bytes, if all have one score.",
    run: Run::Local(|tx, args, reply| {
        let range = Members::of(args.get(2), args.get(3))?;
        remove(tx, args.get(1), reply, |sorted| range.ranks(sorted))
    }),
    ..ZREMRANGEBYSCORE
};

fn remove(tx: &mut Tx, key: &[u8], reply: &mut dyn Reply, ranks: impl FnOnce(&Sorted) -> (u64, u64)) -> Outcome {
    let range = tx.sorted(key)?.map(ranks);
    let (start, count) = range.unwrap_or_default();
    if let Some(mut sorted) = tx.sorted_mut(key, Absent::Leave)? {
        sorted.remove_range(start, count);
    }
    reply.int(count as i64);
    Ok(())
}
