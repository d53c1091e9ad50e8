//! ZPOPMIN ZPOPMAX ZMPOP: pop members with the lowest or highest scores.

use super::remove::Removal;
use super::reply::{MemberFormat, SortedPart, write_part};
use crate::prelude::*;
use blocks::Direction;
use values::Sorted;

pub(crate) const COMMANDS: &[CommandSpec] = &[ZMPOP, ZPOPMAX, ZPOPMIN];

const ZPOPMIN: CommandSpec = CommandSpec {
    name: "ZPOPMIN",
    syntax: "key [count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members taken, n those of the sorted set",
    since: "5.0.0",
    brief: "Removes and returns the members with the lowest scores.",
    answer: "array: members beside their scores; empty if the key is absent",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, Outermost::Min)),
};

const ZPOPMAX: CommandSpec = CommandSpec {
    name: "ZPOPMAX",
    syntax: "key [count]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::SortedSet,
    cost: "O(m*log(n)), m the members taken, n those of the sorted set",
    since: "5.0.0",
    brief: "Removes and returns the members with the highest scores.",
    answer: "array: members beside their scores; empty if the key is absent",
    run: Run::Local(|tx, args, reply| pop(tx, args, reply, Outermost::Max)),
};

const ZMPOP: CommandSpec = CommandSpec {
    name: "ZMPOP",
    syntax: "numkeys key [key ...] <MIN | MAX> [COUNT count]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::counted(1, "RW ACCESS DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("2", "where", "", "")])],
    group: Group::SortedSet,
    cost: "O(k+m*log(n)), k the keys, m the members taken, n those of the sorted set",
    since: "7.0.0",
    brief: "Removes and returns members of the first sorted set there is.",
    answer: "array: the key, and an array of pairs of member and score; null: no key is there",
    run: Run::Local(zmpop),
};

/// The end from which members are popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outermost {
    /// The lowest scores.
    Min,
    /// The highest scores.
    Max,
}

impl Outermost {
    /// Returns the name of the event.
    fn event(self) -> &'static str {
        match self {
            Self::Min => "zpopmin",
            Self::Max => "zpopmax",
        }
    }
}

fn pop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, outermost: Outermost) -> Outcome {
    let key = args.get(1);
    let count = match args.len() {
        2 => None,
        3 => Some(parse::count(args.get(2))?),
        _ => return Err(Failure::Syntax),
    };
    if tx.sorted(key)?.is_none() {
        reply.array(0);
        return Ok(());
    }
    match count {
        Some(count) => take(tx, args, (key, outermost, count), MemberFormat::Scored, reply, |_| {}),
        None => take_one(tx, key, outermost, reply),
    }
}

/// Pops a member of an existing sorted set, and replies with it and its score.
fn take_one(tx: &mut Tx, key: &[u8], outermost: Outermost, reply: &mut dyn Reply) -> Outcome {
    reply.array(2);
    take_flat(tx, key, outermost, reply)
}

/// Like [`take_one`], after beginning an array.
pub(super) fn take_flat(tx: &mut Tx, key: &[u8], outermost: Outermost, reply: &mut dyn Reply) -> Outcome {
    let sorted = tx.sorted_mut(key, Absent::Leave)?.expect("the caller has looked");
    let mut sorted = sorted.with_event(outermost.event());
    let now = sorted.sorted().expect("the caller has looked");
    let rank = if outermost == Outermost::Min { 0 } else { now.len() - 1 };
    now.get(rank, |score, member| {
        reply.bulk(member);
        reply.double(score);
    });
    sorted.remove_range(rank, 1);
    Ok(())
}

/// Pops up to `count` members of an existing sorted set, and replies with them in a format, after `begin` has begun the
/// reply.
fn take(
    tx: &mut Tx,
    args: &Args,
    (key, outermost, count): (&[u8], Outermost, u64),
    form: MemberFormat,
    reply: &mut dyn Reply,
    begin: impl FnOnce(&mut dyn Reply),
) -> Outcome {
    let keyspace = tx.keyspace();
    let len = tx.sorted(key)?.map_or(0, Sorted::len);
    let count = count.min(len);
    let start = if outermost == Outermost::Min { 0 } else { len - count };
    let removal = Removal::of(tx, args, key, start, count)?;
    begin(reply);
    let sorted = tx.sorted(key)?.expect("the caller has looked");
    let direction = if outermost == Outermost::Min { Direction::Forward } else { Direction::Backward };
    write_part(reply, sorted, SortedPart { start, count, direction, form }, || keyspace.pin(key));
    removal.make(tx, key, Some(outermost.event()))
}

fn zmpop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let pops = pops_at(args, 1)?;
    for key in pops.keys {
        if tx.sorted(key)?.is_some() {
            return take_from(tx, args, key, pops, reply);
        }
    }
    reply.null_array();
    Ok(())
}

/// The parameters of ZMPOP and BZMPOP.
#[derive(Clone, Copy)]
pub(super) struct SortedPop<'a> {
    pub(super) keys: Args<'a>,
    outermost: Outermost,
    count: u64,
}

/// Parses `numkeys key [key ...] <MIN | MAX> [COUNT count]` from argument `at` on.
pub(super) fn pops_at<'a>(args: &Args<'a>, at: usize) -> Result<SortedPop<'a>, Failure> {
    let keys_count = parse::int_or(args.get(at), 1, i64::MAX, "ERR numkeys should be greater than 0")?;
    let word_at = at.saturating_add(1).saturating_add(keys_count as usize);
    if word_at >= args.len() {
        return Err(Failure::Syntax);
    }
    let outermost = match args.get(word_at) {
        word if parse::is(word, "MIN") => Outermost::Min,
        word if parse::is(word, "MAX") => Outermost::Max,
        _ => return Err(Failure::Syntax),
    };
    let count = parse::count_option(&args.from(word_at + 1))?;
    Ok(SortedPop { keys: args.slice(at + 1, word_at), outermost, count })
}

/// Pops from `key`, an existing sorted set, and replies with its name and the members.
pub(super) fn take_from(tx: &mut Tx, args: &Args, key: &[u8], pops: SortedPop<'_>, reply: &mut dyn Reply) -> Outcome {
    take(tx, args, (key, pops.outermost, pops.count), MemberFormat::Pair, reply, |reply| {
        reply.array(2);
        reply.bulk(key);
    })
}
