//! ZRANGE and its older variants, ZRANGESTORE: return, or store, the members of a range.
//!
//! Ranges of ranks, scores or bytes are all converted to a first rank and a count.

use super::algebra;
use super::reply::{MemberFormat, SortedPart, write_part};
use super::score::{MemberRange, Scores};
use crate::prelude::*;
use blocks::Direction;
use keyspace::Whole;
use values::{Sorted, Value, limits};

pub(crate) const COMMANDS: &[CommandSpec] =
    &[ZRANGE, ZRANGEBYLEX, ZRANGEBYSCORE, ZRANGESTORE, ZREVRANGE, ZREVRANGEBYLEX, ZREVRANGEBYSCORE];

const ZRANGE: CommandSpec = CommandSpec {
    name: "ZRANGE",
    syntax: "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Takes `REV`, `BYSCORE`, `BYLEX` and `LIMIT`.")]),
        Fact::Arguments(&[
            argument("1", "", "string", ""),
            argument("2", "", "string", ""),
            argument("3", "sortby", "", "6.2.0"),
            argument("4", "", "", "6.2.0"),
            argument("5", "", "", "6.2.0"),
        ]),
    ],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "1.2.0",
    brief: "Returns the members within a range of ranks, scores or bytes.",
    answer: "array: members, lowest first unless REV; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, None, None)),
};

const ZREVRANGE: CommandSpec = CommandSpec {
    name: "ZREVRANGE",
    syntax: "key start stop [WITHSCORES]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `REV`" }],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "1.2.0",
    brief: "Returns the members within a range of ranks, the highest first.",
    answer: "array: members; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Some(By::Rank), Some(Direction::Backward))),
};

const ZRANGEBYSCORE: CommandSpec = CommandSpec {
    name: "ZRANGEBYSCORE",
    syntax: "key min max [WITHSCORES] [LIMIT offset count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("2.0.0", "Takes `WITHSCORES`.")]),
        Fact::Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYSCORE`" },
        Fact::Arguments(&[
            argument("1", "", "double", ""),
            argument("2", "", "double", ""),
            argument("3", "", "", "2.0.0"),
        ]),
    ],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "1.0.5",
    brief: "Returns the members with scores within a range, the lowest first.",
    answer: "array: members; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Some(By::Score), Some(Direction::Forward))),
};

const ZREVRANGEBYSCORE: CommandSpec = CommandSpec {
    name: "ZREVRANGEBYSCORE",
    syntax: "key max min [WITHSCORES] [LIMIT offset count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("2.1.6", "Ends of the range may be exclusive.")]),
        Fact::Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `REV` and `BYSCORE`" },
        Fact::Arguments(&[argument("1", "", "double", ""), argument("2", "", "double", "")]),
    ],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "2.2.0",
    brief: "Returns the members with scores within a range, the highest first.",
    answer: "array: members; with WITHSCORES beside their scores",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Some(By::Score), Some(Direction::Backward))),
};

const ZRANGEBYLEX: CommandSpec = CommandSpec {
    name: "ZRANGEBYLEX",
    syntax: "key min max [LIMIT offset count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `BYLEX`" }],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "2.8.9",
    brief: "Returns the members within a range of bytes, if all have one score.",
    answer: "array: members",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Some(By::Bytes), Some(Direction::Forward))),
};

const ZREVRANGEBYLEX: CommandSpec = CommandSpec {
    name: "ZREVRANGEBYLEX",
    syntax: "key max min [LIMIT offset count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Deprecated { since: "6.2.0", replaced_by: "`ZRANGE` with `REV` and `BYLEX`" }],
    group: Group::SortedSet,
    cost: "O(log(n)+m), n the members of the sorted set, m those told",
    since: "2.8.9",
    brief: "Returns the members within a range of bytes, the greatest first.",
    answer: "array: members",
    run: Run::Local(|tx, args, reply| range(tx, args, reply, Some(By::Bytes), Some(Direction::Backward))),
};

const ZRANGESTORE: CommandSpec = CommandSpec {
    name: "ZRANGESTORE",
    syntax: "destination source start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::one(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[
            argument("0", "dst", "", ""),
            argument("1", "src", "", ""),
            argument("2", "min", "string", ""),
            argument("3", "max", "string", ""),
            argument("4", "sortby", "", ""),
        ]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "zrangestore")] }]),
    ],
    group: Group::SortedSet,
    cost: "O(log(n)+m*log(m)), n the members of the source, m those stored",
    since: "6.2.0",
    brief: "Stores the members within a range of a sorted set under another key.",
    answer: "int: members stored",
    run: Run::Local(store),
};

/// The type of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Bytes,
}

/// A parsed request, from argument `at` on: two ends and options.
struct RangeRequest<'a> {
    ends: RangeEnds<'a>,
    direction: Direction,
    offset: i64,
    limit: i64,
    with_scores: bool,
}

enum RangeEnds<'a> {
    Ranks(i64, i64),
    Scores(Scores),
    Members(MemberRange<'a>),
}

impl<'a> RangeRequest<'a> {
    fn of(
        args: &Args<'a>,
        at: usize,
        fixed: (Option<By>, Option<Direction>),
        takes_scores: bool,
    ) -> Result<Self, Failure> {
        let (mut by, mut direction) = fixed;
        let (mut offset, mut limit, mut with_scores) = (0, -1, false);
        let mut word_at = at + 2;
        while word_at < args.len() {
            let word = args.get(word_at);
            match () {
                () if takes_scores && parse::is(word, "WITHSCORES") => with_scores = true,
                () if parse::is(word, "LIMIT") && word_at + 2 < args.len() => {
                    offset = parse::int(args.get(word_at + 1))?;
                    limit = parse::int(args.get(word_at + 2))?;
                    word_at += 2;
                }
                () if direction.is_none() && parse::is(word, "REV") => direction = Some(Direction::Backward),
                () if by.is_none() && parse::is(word, "BYLEX") => by = Some(By::Bytes),
                () if by.is_none() && parse::is(word, "BYSCORE") => by = Some(By::Score),
                () => return Err(Failure::Syntax),
            }
            word_at += 1;
        }
        let (by, direction) = (by.unwrap_or(By::Rank), direction.unwrap_or(Direction::Forward));
        if limit != -1 && by == By::Rank {
            return Err(Failure::text(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            ));
        }
        if with_scores && by == By::Bytes {
            return Err(Failure::text("ERR syntax error, WITHSCORES not supported in combination with BYLEX"));
        }
        let (first, last) = (args.get(at), args.get(at + 1));
        let (least, most) = if direction == Direction::Forward { (first, last) } else { (last, first) };
        let ends = match by {
            By::Rank => RangeEnds::Ranks(parse::int(first)?, parse::int(last)?),
            By::Score => RangeEnds::Scores(Scores::of(least, most)?),
            By::Bytes => RangeEnds::Members(MemberRange::of(least, most)?),
        };
        Ok(Self { ends, direction, offset, limit, with_scores })
    }

    /// Returns the first rank and the count of the range.
    fn ranks(&self, sorted: &Sorted) -> (u64, u64) {
        let (start, count) = match self.ends {
            RangeEnds::Ranks(start, stop) => {
                let (start, count) = parse::range(start, stop, sorted.len());
                // Ranks count from the end at which the reply begins.
                return match self.direction {
                    Direction::Forward => (start, count),
                    Direction::Backward => (sorted.len() - start - count, count),
                };
            }
            RangeEnds::Scores(scores) => scores.ranks(sorted),
            RangeEnds::Members(members) => members.ranks(sorted),
        };
        let passed = u64::try_from(self.offset).unwrap_or(u64::MAX).min(count);
        let kept = u64::try_from(self.limit).unwrap_or(u64::MAX).min(count - passed);
        match self.direction {
            Direction::Forward => (start + passed, kept),
            Direction::Backward => (start + count - passed - kept, kept),
        }
    }
}

fn range(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, by: Option<By>, direction: Option<Direction>) -> Outcome {
    let asked = RangeRequest::of(args, 2, (by, direction), true)?;
    let keyspace = tx.keyspace();
    let Some(sorted) = tx.sorted(args.get(1))? else {
        reply.array(0);
        return Ok(());
    };
    let (start, count) = asked.ranks(sorted);
    let form = if asked.with_scores { MemberFormat::Scored } else { MemberFormat::Member };
    let part = SortedPart { start, count, direction: asked.direction, form };
    write_part(reply, sorted, part, || keyspace.pin(args.get(1)));
    Ok(())
}

fn store(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let asked = RangeRequest::of(args, 3, (None, None), false)?;
    let sorted = tx.sorted(args.get(2))?.cloned().unwrap_or_default();
    let (start, count) = asked.ranks(&sorted);
    let result = if algebra::is_little_to_copy(&sorted, count) {
        sorted.slice(start, count)
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        algebra::combined(tx, &words, vec![Some(Value::Sorted(sorted))], move |values| {
            let sorted = values.into_iter().flatten().find_map(algebra::sorted_of).unwrap_or_default();
            algebra::copy(sorted.slice(start, count))
        })?
    };
    put_result(tx, args.get(1), result, reply)
}

/// Stores a result, still in small form, under `key`, replacing its value, and replies with the number of members. An
/// empty result is not stored.
pub(crate) fn put_result(tx: &mut Tx, key: &[u8], mut result: Sorted, reply: &mut dyn Reply) -> Outcome {
    let len = result.len();
    if result.is_empty() {
        tx.remove(key);
    } else {
        result.grow_beyond(limits::SORTED_ENTRIES.get(), limits::SORTED_MEMBER_BYTES.get());
        result.forget_zero_signs();
        let whole = Whole::plain(Value::Sorted(result), None);
        tx.put_whole(tx.database(), key, &whole)?;
    }
    reply.int(len as i64);
    Ok(())
}
