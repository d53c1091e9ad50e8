//! ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX: remove members.
//!
//! Very many consecutive members are removed from a clone, in steps, without locks; then the sorted set is replaced.

use super::algebra::sorted_of;
use super::score::{MemberRange, Scores};
use crate::prelude::*;
use keyspace::Computation;
use values::sorted::Removing;
use values::{Sorted, Value};

pub(crate) const COMMANDS: &[CommandSpec] = &[ZREM, ZREMRANGEBYLEX, ZREMRANGEBYRANK, ZREMRANGEBYSCORE];

const ZREM: CommandSpec = CommandSpec {
    name: "ZREM",
    syntax: "key member [member ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("2.4.0", "Takes several members.")]),
        Fact::Events(&[EventRule {
            instead_of: "del",
            events: &[(Classes::SORTED, "zrem"), (Classes::GENERIC, "del")],
        }]),
    ],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "1.2.0",
    brief: "Removes members of a sorted set.",
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

const ZREMRANGEBYRANK: CommandSpec = CommandSpec {
    name: "ZREMRANGEBYRANK",
    syntax: "key start stop",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::SORTED, "zremrangebyrank"), (Classes::GENERIC, "del")],
    }])],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members removed, n those of the sorted set",
    since: "2.0.0",
    brief: "Removes the members within a range of ranks.",
    answer: "int: members removed",
    run: Run::Local(|tx, args, reply| {
        let (start, stop) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
        remove(tx, args, reply, |sorted| parse::range(start, stop, sorted.len()))
    }),
};

const ZREMRANGEBYSCORE: CommandSpec = CommandSpec {
    name: "ZREMRANGEBYSCORE",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("1", "", "double", ""), argument("2", "", "double", "")]),
        Fact::Events(&[
            EventRule { instead_of: "zremrangebyrank", events: &[(Classes::SORTED, "zremrangebyscore")] },
            EventRule {
                instead_of: "del",
                events: &[(Classes::SORTED, "zremrangebyscore"), (Classes::GENERIC, "del")],
            },
        ]),
    ],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members removed, n those of the sorted set",
    since: "1.2.0",
    brief: "Removes the members with scores within a range.",
    answer: "int: members removed",
    run: Run::Local(|tx, args, reply| {
        let range = Scores::of(args.get(2), args.get(3))?;
        remove(tx, args, reply, |sorted| range.ranks(sorted))
    }),
};

const ZREMRANGEBYLEX: CommandSpec = CommandSpec {
    name: "ZREMRANGEBYLEX",
    syntax: "key min max",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "zremrangebyrank", events: &[(Classes::SORTED, "zremrangebylex")] },
        EventRule { instead_of: "del", events: &[(Classes::SORTED, "zremrangebylex"), (Classes::GENERIC, "del")] },
    ])],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members removed, n those of the sorted set",
    since: "2.8.9",
    brief: "Removes the members within a range of bytes, if all have one score.",
    answer: "int: members removed",
    run: Run::Local(|tx, args, reply| {
        let range = MemberRange::of(args.get(2), args.get(3))?;
        remove(tx, args, reply, |sorted| range.ranks(sorted))
    }),
};

fn remove(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, ranks: impl FnOnce(&Sorted) -> (u64, u64)) -> Outcome {
    let range = tx.sorted(args.get(1))?.map(ranks);
    let (rank, count) = range.unwrap_or_default();
    Removal::of(tx, args, args.get(1), rank, count)?.make(tx, args.get(1), None)?;
    reply.int(count as i64);
    Ok(())
}

/// Members removed under the lock, at most: about 300 µs.
const LOCKED_MEMBERS_MAX: u64 = 128;

/// A removal of consecutive members.
pub(super) struct Removal {
    rank: u64,
    count: u64,
    /// The remaining set, if very many are removed.
    after: Option<Sorted>,
}

impl Removal {
    /// Prepares to remove the `count` members from `rank` on of the sorted set under `key`, if there is one. For very
    /// many, the remaining set is computed without locks.
    ///
    /// # Errors
    /// If that has not been done yet: the command reruns.
    pub(super) fn of(tx: &mut Tx, args: &Args, key: &[u8], rank: u64, count: u64) -> Result<Self, Failure> {
        let sorted = tx.sorted(key)?.filter(|sorted| count > LOCKED_MEMBERS_MAX && count < sorted.len()).cloned();
        let after = match sorted {
            Some(sorted) => {
                let words: Vec<&[u8]> = args.iter().collect();
                let made = tx.compute(&words, vec![Some(Value::Sorted(sorted))], move |mut values| {
                    let sorted = values.pop().flatten().and_then(sorted_of).unwrap_or_default();
                    Box::new(Removed(Removing::new(sorted, rank, count)))
                })?;
                made.and_then(sorted_of)
            }
            None => None,
        };
        Ok(Self { rank, count, after })
    }

    /// Performs the removal, with the usual event name or another.
    pub(super) fn make(self, tx: &mut Tx, key: &[u8], event: Option<&'static str>) -> Outcome {
        let Some(sorted) = tx.sorted_mut(key, Absent::Leave)? else { return Ok(()) };
        let mut sorted = match event {
            Some(event) => sorted.with_event(event),
            None => sorted,
        };
        match self.after {
            Some(after) => sorted.remove_range_made(self.rank, self.count, after),
            None => sorted.remove_range(self.rank, self.count),
        }
        Ok(())
    }
}

struct Removed(Removing);

impl Computation for Removed {
    fn step(&mut self) -> bool {
        self.0.step()
    }

    fn result(&self) -> Option<Value> {
        Some(Value::Sorted(self.0.result()))
    }
}
