//! ZADD ZINCRBY: set the scores of members.

use super::score::score;
use crate::prelude::*;
use keyspace::SortedMut;
use smallvec::SmallVec;
use std::collections::HashMap;

pub(crate) const COMMANDS: &[CommandSpec] = &[ZADD, ZINCRBY];

const ZADD: CommandSpec = CommandSpec {
    name: "ZADD",
    syntax: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[
            ("2.4.0", "Takes several members."),
            ("3.0.2", "Takes `XX`, `NX`, `CH` and `INCR`."),
            ("6.2.0", "Takes `GT` and `LT`."),
        ]),
        Fact::Arguments(&[
            argument("1", "condition", "", "3.0.2"),
            argument("2", "comparison", "", "6.2.0"),
            argument("3", "change", "", "3.0.2"),
            argument("4", "increment", "", "3.0.2"),
        ]),
    ],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "1.2.0",
    brief: "Adds members or changes their scores, creating the sorted set if absent.",
    answer: "int: members added, with CH changed ones too; with INCR double: the new score, or null: nothing was done",
    run: Run::Local(zadd),
};

const ZINCRBY: CommandSpec = CommandSpec {
    name: "ZINCRBY",
    syntax: "key increment member",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(log(n)), n the members of the sorted set",
    since: "1.2.0",
    brief: "Increments the score of a member, from 0 if absent.",
    answer: "double: the new score",
    run: Run::Local(|tx, args, reply| {
        // Redis parses it as options of ZADD first.
        if ["NX", "XX", "GT", "LT", "CH", "INCR"].iter().any(|option| parse::is(args.get(2), option)) {
            return Err(Failure::Syntax);
        }
        let conditions = Conditions { adds_to: true, ..Conditions::default() };
        increase(tx, args.get(1), (score(args.get(2))?, args.get(3)), conditions, reply)
    }),
};

/// When a member's score is set.
#[derive(Clone, Copy, Default)]
pub(crate) struct Conditions {
    /// NX
    pub(crate) only_new: bool,
    /// XX
    pub(crate) only_there: bool,
    /// GT
    only_greater: bool,
    /// LT
    only_less: bool,
    /// INCR
    adds_to: bool,
}

impl Conditions {
    /// Returns the new score of a member that has `old`, or is absent; `None`: unchanged.
    fn apply(self, old: Option<f64>, given: f64) -> Result<Option<f64>, Failure> {
        let Some(old) = old else { return Ok((!self.only_there).then_some(given)) };
        if self.only_new {
            return Ok(None);
        }
        let score = if self.adds_to { old + given } else { given };
        if score.is_nan() {
            return Err(Failure::text("ERR resulting score is not a number (NaN)"));
        }
        let is_barred = (self.only_greater && score <= old) || (self.only_less && score >= old);
        Ok((!is_barred).then_some(score))
    }
}

fn zadd(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (mut conditions, mut counts_changed) = (Conditions::default(), false);
    let mut at = 2;
    while at < args.len() {
        let word = args.get(at);
        match () {
            () if parse::is(word, "NX") => conditions.only_new = true,
            () if parse::is(word, "XX") => conditions.only_there = true,
            () if parse::is(word, "GT") => conditions.only_greater = true,
            () if parse::is(word, "LT") => conditions.only_less = true,
            () if parse::is(word, "CH") => counts_changed = true,
            () if parse::is(word, "INCR") => conditions.adds_to = true,
            () => break,
        }
        at += 1;
    }
    let pairs = args.from(at);
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(Failure::Syntax);
    }
    let Conditions { only_new, only_there, only_greater, only_less, adds_to } = conditions;
    if only_new && only_there {
        return Err(Failure::text("ERR XX and NX options at the same time are not compatible"));
    }
    if (only_new && (only_greater || only_less)) || (only_greater && only_less) {
        return Err(Failure::text("ERR GT, LT, and/or NX options at the same time are not compatible"));
    }
    if adds_to && pairs.len() > 2 {
        return Err(Failure::text("ERR INCR option supports a single increment-element pair"));
    }
    let given = (0..pairs.len()).step_by(2).map(|at| Ok((score(pairs.get(at))?, pairs.get(at + 1))));
    let given: SmallVec<[(f64, &[u8]); 4]> = given.collect::<Result<_, Failure>>()?;
    if adds_to {
        return increase(tx, args.get(1), given[0], conditions, reply);
    }
    let (added, changed) = put(tx, args.get(1), &given, conditions)?;
    reply.int(if counts_changed { added + changed } else { added });
    Ok(())
}

/// Sets scores. Returns how many members were added, and how many scores changed.
pub(crate) fn put(
    tx: &mut Tx,
    key: &[u8],
    given: &[(f64, &[u8])],
    conditions: Conditions,
) -> Result<(i64, i64), Failure> {
    let Some(mut sorted) = guard(tx, key, conditions)? else { return Ok((0, 0)) };
    let (mut added, mut changed) = (0, 0);
    let mut puts: SmallVec<[(f64, &[u8]); 4]> = SmallVec::with_capacity(given.len());
    // A repeated member sees its earlier score.
    let mut given_before = HashMap::new();
    let (now, mut place) = (sorted.sorted(), None);
    for &(score, member) in given {
        let before = given_before.get(member).copied();
        let old = before.or_else(|| {
            place = now.map(|sorted| sorted.find(member));
            place.and_then(|place| place.score())
        });
        let Some(score) = conditions.apply(old, score)?.filter(|score| old != Some(*score)) else { continue };
        *if old.is_some() { &mut changed } else { &mut added } += 1;
        if given.len() > 1 {
            given_before.insert(member, score);
        }
        puts.push((score, member));
    }
    if !puts.is_empty() {
        sorted.put_found(&puts, place.as_ref().filter(|_| given.len() == 1))?;
    }
    Ok((added, changed))
}

fn increase(
    tx: &mut Tx,
    key: &[u8],
    (given, member): (f64, &[u8]),
    conditions: Conditions,
    reply: &mut dyn Reply,
) -> Outcome {
    let Some(sorted) = guard(tx, key, conditions)? else {
        reply.null();
        return Ok(());
    };
    let mut sorted = sorted.with_event("zincr");
    let place = sorted.sorted().map(|sorted| sorted.find(member));
    let old = place.and_then(|place| place.score());
    let Some(score) = conditions.apply(old, given)? else {
        reply.null();
        return Ok(());
    };
    if old != Some(score) {
        sorted.put_found(&[(score, member)], place.as_ref())?;
    }
    reply.double(score);
    Ok(())
}

fn guard<'t, 'k>(tx: &'t mut Tx<'k>, key: &'t [u8], of: Conditions) -> Result<Option<SortedMut<'t, 'k>>, Failure> {
    Ok(tx.sorted_mut(key, if of.only_there { Absent::Leave } else { Absent::Create })?)
}
