//! XDEL XDELEX XACKDEL XSETID: remove entries, and set a stream's ids.

use super::id;
use super::references::{self, Held, References};
use crate::prelude::*;
use keyspace::StreamMut;
use values::Stream;
use values::stream::{Foot, Group as GroupState, StreamId};

pub(crate) const COMMANDS: &[CommandSpec] = &[XACKDEL, XDEL, XDELEX, XSETID];

const XDEL: CommandSpec = CommandSpec {
    name: "XDEL",
    syntax: "key id [id ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Stream,
    cost: "O(m*log(n)), m the ids given, n the entries of the stream",
    since: "5.0.0",
    brief: "Deletes entries of a stream.",
    answer: "int: entries removed",
    run: Run::Local(|tx, args, reply| {
        let Some(mut stream) = tx.stream_mut(args.get(1), Absent::Leave)? else {
            reply.int(0);
            return Ok(());
        };
        let count = stream.delete(&id::all(args.from(2))?)?;
        reply.int(count as i64);
        Ok(())
    }),
};

const XDELEX: CommandSpec = CommandSpec {
    name: "XDELEX",
    syntax: "key [KEEPREF | DELREF | ACKED] IDS numids id [id ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Stream,
    cost: "O(m*(log(n)+g*log(p))), m the ids given, n the entries of the stream, g its groups, p what they have pending",
    since: "8.2.0",
    brief: "Deletes entries and their pending records, or only what no group needs.",
    answer: "array: for each id 1 if its entry was removed, 2 if a group needs it, -1 if there is none",
    run: Run::Local(xdelex),
};

const XACKDEL: CommandSpec = CommandSpec {
    name: "XACKDEL",
    syntax: "key group [KEEPREF | DELREF | ACKED] IDS numids id [id ...]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RW UPDATE DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Stream,
    cost: "O(m*(log(n)+g*log(p))), m the ids given, n the entries of the stream, g its groups, p what they have pending",
    since: "8.2.0",
    brief: "Acknowledges entries for a group and deletes them.",
    answer: "array: for each id 1 if its entry was removed, 2 if another group needs it, -1 if it was not pending",
    run: Run::Local(xackdel),
};

const XSETID: CommandSpec = CommandSpec {
    name: "XSETID",
    syntax: "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `ENTRIESADDED` and `MAXDELETEDID`.")]),
        Fact::Arguments(&[
            argument("2", "entries_added", "", "7.0.0"),
            argument("3", "max_deleted_entry_id", "", "7.0.0"),
        ]),
    ],
    group: Group::Stream,
    cost: "O(1)",
    since: "5.0.0",
    brief: "Sets the last id of a stream.",
    answer: "OK",
    run: Run::Local(xsetid),
};

/// Parses, from argument `at` on, which entries to remove, and what happens to their pending deliveries.
fn removal(args: &Args<'_>, mut at: usize) -> Result<(References, Vec<StreamId>), Failure> {
    let (mut references, mut ids) = (None, None);
    while at < args.len() {
        let (word, more) = (args.get(at), args.len() - 1 - at);
        at += 1;
        let is_again = if let Some(said) = References::of(word) {
            references.replace(said).is_some()
        } else if parse::is(word, "IDS") && more > 0 {
            let count = parse::int(args.get(at)).ok().and_then(|count| usize::try_from(count).ok());
            let count = count.filter(|count| *count > 0);
            let count = count.ok_or(Failure::text("ERR Number of IDs must be a positive integer"))?;
            if count > more - 1 {
                return Err(Failure::text("ERR The `numids` parameter must match the number of arguments"));
            }
            let given = id::all(args.slice(at + 1, at + 1 + count))?;
            at += 1 + count;
            ids.replace(given).is_some()
        } else {
            true
        };
        if is_again {
            return Err(Failure::Syntax);
        }
    }
    Ok((references.unwrap_or_default(), ids.ok_or(Failure::Syntax)?))
}

/// The reply of XDELEX and XACKDEL for an id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DeleteResult {
    Missing,
    Removed,
    Needed,
}

impl DeleteResult {
    fn number(self) -> i64 {
        match self {
            Self::Missing => -1,
            Self::Removed => 1,
            Self::Needed => 2,
        }
    }
}

/// The planned changes of a stream.
#[derive(Default)]
struct Plan {
    /// The result for each distinct id, in order.
    results: Vec<(StreamId, DeleteResult)>,
    /// The entries to remove.
    gone: Vec<StreamId>,
    /// The deliveries to drop.
    dropped: Vec<Held>,
    /// True if the command acknowledges.
    acknowledges: bool,
}

/// Returns the ids sorted, without duplicates.
fn sorted(ids: &[StreamId]) -> Vec<StreamId> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Returns which of these ascending ids exist as entries.
fn there(stream: &Stream, ids: &[StreamId]) -> Vec<bool> {
    let mut there = Vec::with_capacity(ids.len());
    stream.walk_these(ids, &mut |_, fields| there.push(fields.is_some()));
    there
}

impl Plan {
    /// Plans to remove entries.
    fn to_remove(stream: &Stream, ids: &[StreamId], references: References) -> Self {
        let (ids, mut plan) = (sorted(ids), Self::default());
        let needed = match references {
            References::Acknowledged => references::are_needed(stream, &ids, None),
            _ => vec![false; ids.len()],
        };
        for ((id, is_there), is_needed) in ids.iter().zip(there(stream, &ids)).zip(needed) {
            plan.results.push((
                *id,
                match (is_there, is_needed) {
                    (false, _) => DeleteResult::Missing,
                    (true, false) => DeleteResult::Removed,
                    (true, true) => DeleteResult::Needed,
                },
            ));
            plan.gone.extend((is_there && !is_needed).then_some(*id));
        }
        if references == References::Remove {
            plan.dropped = references::held(stream, &ids);
        }
        plan
    }

    /// Plans to drop a group's pending deliveries, and remove entries.
    fn to_acknowledge(
        stream: &Stream,
        (name, group): (&[u8], GroupState),
        ids: &[StreamId],
        references: References,
    ) -> Self {
        let (ids, mut plan) = (sorted(ids), Self { acknowledges: true, ..Self::default() });
        let pending = stream.pending_of(group.number, &ids);
        let ours: Vec<StreamId> = pending.iter().flatten().map(|pending| pending.id).collect();
        let needed = match references {
            References::Acknowledged => references::are_needed(stream, &ours, Some(group.number)),
            _ => vec![false; ours.len()],
        };
        let mut needed = ours.iter().zip(needed).peekable();
        for id in &ids {
            let is_needed = needed.next_if(|(ours, _)| *ours == id).map(|(_, is_needed)| is_needed);
            plan.results.push((
                *id,
                match is_needed {
                    None => DeleteResult::Missing,
                    Some(false) => DeleteResult::Removed,
                    Some(true) => DeleteResult::Needed,
                },
            ));
        }
        let removed = plan.results.iter().filter(|(_, result)| *result == DeleteResult::Removed).map(|(id, _)| *id);
        let removed: Vec<StreamId> = removed.collect();
        let are_there = there(stream, &removed);
        plan.gone = removed.into_iter().zip(are_there).filter(|(_, is_there)| *is_there).map(|(id, _)| id).collect();
        plan.dropped = match references {
            References::Remove => references::held(stream, &ours),
            _ if ours.is_empty() => Vec::new(),
            _ => vec![Held { group: name.to_vec(), ids: ours }],
        };
        plan
    }

    /// Applies the changes, and replies for each id given; a repeated id is already done.
    fn carry_out(&self, tx: &mut Tx, key: &[u8], ids: &[StreamId], reply: &mut dyn Reply) -> Outcome {
        let of_groups = self.dropped.iter().map(|held| StreamMut::room(1, key.len(), held.group.len(), held.ids.len()));
        tx.need_room(of_groups.sum::<u64>() + StreamMut::room(1, key.len(), 0, self.gone.len()))?;
        let mut stream = tx.stream_mut(key, Absent::Leave)?.expect("just seen");
        stream.delete(&self.gone)?;
        self.dropped.iter().for_each(|held| stream.drop_pending(&held.group, &held.ids));
        reply.array(ids.len());
        let mut seen = vec![false; self.results.len()];
        for id in ids {
            let at = self.results.partition_point(|(other, _)| other < id);
            let result = match self.results[at].1 {
                DeleteResult::Needed if seen[at] && !self.acknowledges => DeleteResult::Needed,
                _ if seen[at] => DeleteResult::Missing,
                result => result,
            };
            seen[at] = true;
            reply.int(result.number());
        }
        Ok(())
    }
}

/// Returns the number of lookups: pending deliveries of one or all groups for each id.
fn work(stream: &Stream, ids: &[StreamId], references: References) -> u64 {
    let groups_count = if references == References::Keep { 1 } else { stream.groups_count().max(1) };
    (ids.len() as u64).saturating_mul(groups_count)
}

/// Replies for a missing stream or group: alike for each id.
fn write_missing(ids: &[StreamId], reply: &mut dyn Reply) -> Outcome {
    reply.array(ids.len());
    ids.iter().for_each(|_| reply.int(DeleteResult::Missing.number()));
    Ok(())
}

fn xdelex(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (references, ids) = removal(args, 2)?;
    let plan = match tx.value::<Stream>(args.get(1))?.cloned() {
        Some(stream) => {
            tx.expect_work(work(&stream, &ids, references))?;
            Plan::to_remove(&stream, &ids, references)
        }
        None => return write_missing(&ids, reply),
    };
    plan.carry_out(tx, args.get(1), &ids, reply)
}

fn xackdel(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (references, ids) = removal(args, 3)?;
    let (key, name) = (args.get(1), args.get(2));
    let stream = tx.value::<Stream>(key)?;
    let plan = match stream.and_then(|stream| Some((stream.clone(), stream.group(name)?))) {
        Some((stream, group)) => {
            tx.expect_work(work(&stream, &ids, references))?;
            Plan::to_acknowledge(&stream, (name, group), &ids, references)
        }
        None => return write_missing(&ids, reply),
    };
    plan.carry_out(tx, key, &ids, reply)
}

fn xsetid(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let last_id = id::strict(args.get(2), 0)?;
    let (mut added, mut deleted_id) = (None, StreamId::MIN);
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "ENTRIESADDED") {
            let count = u64::try_from(parse::int(value)?);
            added = Some(count.map_err(|_| Failure::text("ERR entries_added must be positive"))?);
        } else if parse::is(word, "MAXDELETEDID") {
            deleted_id = id::strict(value, 0)?;
            if last_id < deleted_id {
                return Err(smaller("the provided max_deleted_entry_id"));
            }
        } else {
            return Err(Failure::Syntax);
        }
    }
    let stream = tx.value::<Stream>(args.get(1))?.ok_or(Failure::NoSuchKey)?;
    let foot = stream.foot();
    if last_id < foot.deleted_id {
        return Err(smaller("current max_deleted_entry_id"));
    }
    if stream.top_id().is_some_and(|top_id| last_id < top_id) {
        return Err(smaller("the target stream top item"));
    }
    if foot.len > 0 && added.is_some_and(|added| foot.len > added) {
        return Err(Failure::text(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    let deleted_id = if deleted_id == StreamId::MIN { foot.deleted_id } else { deleted_id };
    let mut stream = tx.stream_mut(args.get(1), Absent::Leave)?.expect("just seen");
    stream.set(Foot { last_id, deleted_id, added: added.unwrap_or(foot.added), ..foot });
    reply.ok();
    Ok(())
}

fn smaller(than: &str) -> Failure {
    Failure::text(format!("ERR The ID specified in XSETID is smaller than {than}"))
}
