//! ZCARD ZSCORE ZMSCORE ZRANK ZREVRANK ZCOUNT ZLEXCOUNT ZSUM ZAVG: figures of a sorted set, without returning members.

use super::score::{MemberRange, Scores};
use crate::prelude::*;
use blocks::Direction;
use keyspace::Pin;
use std::ops::ControlFlow;
use values::Sorted;
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[ZCARD, ZSCORE, ZMSCORE, ZRANK, ZREVRANK, ZCOUNT, ZLEXCOUNT, ZSUM, ZAVG];

const ZCARD: CommandSpec = CommandSpec {
    name: "ZCARD",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(1)",
    since: "1.2.0",
    brief: "Returns the number of members of a sorted set.",
    answer: "int: members; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let len = tx.sorted(args.get(1))?.map_or(0, Sorted::len);
        reply.int(len as i64);
        Ok(())
    }),
};

const ZSCORE: CommandSpec = CommandSpec {
    name: "ZSCORE",
    syntax: "key member",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "1.2.0",
    brief: "Returns the score of a member.",
    answer: "double: the score; null: there is no such member",
    run: Run::Local(|tx, args, reply| {
        let score = tx.sorted(args.get(1))?.and_then(|sorted| sorted.score(args.get(2)));
        write_score(reply, score);
        Ok(())
    }),
};

const ZMSCORE: CommandSpec = CommandSpec {
    name: "ZMSCORE",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members asked for, n those of the sorted set",
    since: "6.2.0",
    brief: "Returns the scores of members.",
    answer: "array: for each a double, its score, or null",
    run: Run::Local(|tx, args, reply| {
        let sorted = tx.sorted(args.get(1))?;
        let members = args.from(2);
        reply.array(members.len());
        members.iter().for_each(|member| write_score(reply, sorted.and_then(|sorted| sorted.score(member))));
        Ok(())
    }),
};

const ZRANK: CommandSpec = CommandSpec {
    name: "ZRANK",
    syntax: "key member [WITHSCORE]",
    arity: Arity::Between(3, 4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "2.0.0",
    brief: "Returns the rank of a member, from the lowest score.",
    answer: "int: the rank, with WITHSCORE array: the rank and the score; null: there is no such member",
    run: Run::Local(|tx, args, reply| rank(tx, args, reply, Direction::Forward)),
};

const ZREVRANK: CommandSpec = CommandSpec {
    name: "ZREVRANK",
    syntax: "key member [WITHSCORE]",
    arity: Arity::Between(3, 4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "2.0.0",
    brief: "Returns the rank of a member, from the highest score.",
    answer: "int: the rank, with WITHSCORE array: the rank and the score; null: there is no such member",
    run: Run::Local(|tx, args, reply| rank(tx, args, reply, Direction::Backward)),
};

const ZCOUNT: CommandSpec = CommandSpec {
    name: "ZCOUNT",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[Fact::Arguments(&[argument("1", "", "double", ""), argument("2", "", "double", "")])],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "2.0.0",
    brief: "Counts the members with scores within a range.",
    answer: "int: members",
    run: Run::Local(|tx, args, reply| {
        let range = Scores::of(args.get(2), args.get(3))?;
        let count = tx.sorted(args.get(1))?.map_or(0, |sorted| range.ranks(sorted).1);
        reply.int(count as i64);
        Ok(())
    }),
};

const ZLEXCOUNT: CommandSpec = CommandSpec {
    name: "ZLEXCOUNT",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "2.8.9",
    brief: "Counts the members within a range of bytes, if all have one score.",
    answer: "int: members",
    run: Run::Local(|tx, args, reply| {
        let range = MemberRange::of(args.get(2), args.get(3))?;
        let count = tx.sorted(args.get(1))?.map_or(0, |sorted| range.ranks(sorted).1);
        reply.int(count as i64);
        Ok(())
    }),
};

const ZSUM: CommandSpec = CommandSpec {
    name: "ZSUM",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those of the range",
    since: "bobbin 0.1.0",
    brief: "Returns the sum of the scores within a range.",
    answer: "double: the sum; 0 if no member is in the range",
    run: Run::Local(|tx, args, reply| sum(tx, args, reply, Aggregate::Sum)),
};

const ZAVG: CommandSpec = CommandSpec {
    name: "ZAVG",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those of the range",
    since: "bobbin 0.1.0",
    brief: "Returns the average of the scores within a range.",
    answer: "double: the average; null: no member is in the range",
    run: Run::Local(|tx, args, reply| sum(tx, args, reply, Aggregate::Average)),
};

fn write_score(reply: &mut dyn Reply, score: Option<f64>) {
    match score {
        Some(score) => reply.double(score),
        None => reply.null(),
    }
}

fn rank(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, direction: Direction) -> Outcome {
    let with_score = args.len() == 4;
    if with_score && !parse::is(args.get(3), "WITHSCORE") {
        return Err(Failure::Syntax);
    }
    let sorted = tx.sorted(args.get(1))?;
    let Some((rank, score, len)) = sorted.and_then(|sorted| {
        let (rank, score) = sorted.rank(args.get(2))?;
        Some((rank, score, sorted.len()))
    }) else {
        if with_score {
            reply.null_array();
        } else {
            reply.null();
        }
        return Ok(());
    };
    let rank = if direction == Direction::Forward { rank } else { len - 1 - rank };
    if with_score {
        reply.array(2);
    }
    reply.int(rank as i64);
    if with_score {
        reply.double(score);
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Sum,
    Average,
}

fn sum(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, wanted: Aggregate) -> Outcome {
    let range = Scores::of(args.get(2), args.get(3))?;
    let keyspace = tx.keyspace();
    let (sorted, pin) = match tx.sorted(args.get(1))? {
        Some(sorted) => {
            let (start, count) = range.ranks(sorted);
            (sorted.slice(start, count), Some(keyspace.pin(args.get(1))))
        }
        None => (Sorted::default(), None),
    };
    let mut summing = Summing { wanted, count: sorted.len(), sorted, at: 0, sum: 0.0, pin };
    if summing.next(reply) == More::Follows {
        reply.stream(Box::new(summing));
    }
    Ok(())
}

/// Sums the scores of a clone in steps.
struct Summing {
    wanted: Aggregate,
    sorted: Sorted,
    count: u64,
    at: u64,
    sum: f64,
    pin: Option<Pin>,
}

/// Scores summed per step: about 100 µs.
const STEP_SCORES: u64 = 8192;

impl Source for Summing {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let step = STEP_SCORES.min(self.count - self.at);
        let _ = self.sorted.walk(self.at, step, Direction::Forward, &mut |score, _| {
            self.sum += score;
            ControlFlow::Continue(())
        });
        self.at += step;
        if self.at < self.count {
            return More::Follows;
        }
        match self.wanted {
            Aggregate::Sum => reply.double(self.sum),
            Aggregate::Average if self.count == 0 => reply.null(),
            Aggregate::Average => reply.double(self.sum / self.count as f64),
        }
        More::Done
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.sorted.heap_bytes()))
    }
}
