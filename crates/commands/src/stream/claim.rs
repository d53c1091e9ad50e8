//! XCLAIM XAUTOCLAIM: transfer pending deliveries of other consumers to a consumer.

use super::{id, no_key_or_group, reply};
use crate::prelude::*;
use blocks::Direction;
use keyspace::{Counting, Reader, Redelivery};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Group as GroupState, Pending, StreamId};

pub(crate) const COMMANDS: &[CommandSpec] = &[XAUTOCLAIM, XCLAIM];

const XCLAIM: CommandSpec = CommandSpec {
    name: "XCLAIM",
    syntax: "key group consumer min-idle-time id [id ...] [IDLE idle] [TIME unix-time-milliseconds] \
             [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::Arguments(&[argument("5", "ms", "", ""), argument("10", "id", "", "")]),
        Fact::Reads(CountedReads::Changed),
        Fact::Events(&[EventRule { instead_of: "xgroup-create", events: &[] }]),
    ],
    group: Group::Stream,
    cost: "O(m*log(p)), m the ids given, p what is pending",
    since: "5.0.0",
    brief: "Gives pending entries to another consumer.",
    answer: "array: the entries; with JUSTID their ids",
    run: Run::Local(xclaim),
};

const XAUTOCLAIM: CommandSpec = CommandSpec {
    name: "XAUTOCLAIM",
    syntax: "key group consumer min-idle-time start [COUNT count] [JUSTID]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[("7.0.0", "Returns the ids of entries that were deleted, too.")]),
        Fact::Arguments(&[argument("4", "", "string", "")]),
        Fact::Reads(CountedReads::Changed),
    ],
    group: Group::Stream,
    cost: "O(log(p)+m), p what is pending, m what of it is looked at",
    since: "6.2.0",
    brief: "Gives entries that have been pending for long to another consumer.",
    answer: "array: where to go on, the entries or their ids, ids of what was deleted",
    run: Run::Local(xautoclaim),
};

/// Pending entries examined per entry wanted.
const LOOKS_FACTOR: i64 = 10;
/// The default COUNT of XAUTOCLAIM.
const COUNT_USUAL: i64 = 100;
/// The maximum COUNT.
const COUNT_MAX: i64 = i64::MAX / 16;

/// The result of a claim.
#[derive(Default)]
struct ClaimResult {
    /// The claimed ids, in reply order.
    claimed: Vec<StreamId>,
    /// Ids that are pending, but deleted from the stream.
    deleted: Vec<StreamId>,
}

/// The options after the ids of XCLAIM.
struct ClaimOptions {
    delivered_ms: Option<i64>,
    counting: Counting,
    forces: bool,
    only_ids: bool,
    last_id: StreamId,
}

fn min_idle_ms(argument: &[u8], name: &str) -> Result<u64, Failure> {
    let text = || Failure::text(format!("ERR Invalid min-idle-time argument for {name}"));
    parse::int(argument).map(|ms| ms.max(0) as u64).map_err(|_| text())
}

fn reader<'a>(args: &Args<'a>) -> Reader<'a> {
    Reader { group: args.get(2), consumer: args.get(3) }
}

fn group_of<'t>(tx: &'t mut Tx, args: &Args<'_>) -> Result<(&'t Stream, GroupState), Failure> {
    let stream = tx.value::<Stream>(args.get(1))?;
    let found = stream.and_then(|stream| Some((stream, stream.group(args.get(2))?)));
    found.ok_or_else(|| no_key_or_group(args.get(1), args.get(2)))
}

impl ClaimOptions {
    fn of(words: Args<'_>, now: u64) -> Result<Self, Failure> {
        let (mut delivered_ms, mut retries, mut forces, mut only_ids) = (None, None, false, false);
        let mut last_id = StreamId::MIN;
        let number = |value: &[u8], option| {
            let text = || Failure::text(format!("ERR Invalid {option} option argument for XCLAIM"));
            parse::int(value).map_err(|_| text())
        };
        let mut at = 0;
        while at < words.len() {
            let (word, value) = (words.get(at), words.from(at + 1).iter().next());
            at += 1;
            match value {
                _ if parse::is(word, "FORCE") => forces = true,
                _ if parse::is(word, "JUSTID") => only_ids = true,
                Some(value) => {
                    at += 1;
                    match word.to_ascii_uppercase().as_slice() {
                        b"IDLE" => delivered_ms = Some((now as i64).saturating_sub(number(value, "IDLE")?)),
                        b"TIME" => delivered_ms = Some(number(value, "TIME")?),
                        b"RETRYCOUNT" => retries = Some(number(value, "RETRYCOUNT")?),
                        b"LASTID" => last_id = id::strict(value, 0)?,
                        _ => return Err(unrecognized(word)),
                    }
                }
                None => return Err(unrecognized(word)),
            }
        }
        let counting = match retries {
            Some(count @ 0..) => Counting::Exactly(count as u64),
            _ if only_ids => Counting::Keep,
            _ => Counting::OneMore,
        };
        Ok(Self { delivered_ms, counting, forces, only_ids, last_id })
    }

    /// Returns the delivery time to record: at most now.
    fn delivered_ms(&self, now: u64) -> u64 {
        let given = self.delivered_ms.and_then(|ms| u64::try_from(ms).ok());
        given.filter(|ms| *ms <= now).unwrap_or(now)
    }
}

fn unrecognized(word: &[u8]) -> Failure {
    Failure::text(format!("ERR Unrecognized XCLAIM option '{}'", parse::repeated(word)))
}

fn xclaim(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let (stream, group) = group_of(tx, args)?;
    let least_ms = min_idle_ms(args.get(4), "XCLAIM")?;
    let ids: Vec<StreamId> = args.from(5).iter().map_while(|text| id::strict(text, 0).ok()).collect();
    let options = ClaimOptions::of(args.from(5 + ids.len()), now)?;
    let (mut found, mut seen) = (ClaimResult::default(), BTreeSet::new());
    // Ascending ids are looked up together.
    let (mut pendings, mut are_there) = (Vec::new(), Vec::new());
    for ids in ids.chunk_by(|id, next| id < next) {
        pendings.extend(stream.pending_of(group.number, ids));
        stream.walk_these(ids, &mut |_, fields| are_there.push(fields.is_some()));
    }
    for ((id, pending), is_there) in ids.iter().zip(pendings).zip(are_there) {
        if !is_there {
            found.deleted.extend(pending.map(|pending| pending.id));
            continue;
        }
        let is_idle = match pending {
            // Entries this command has already claimed are as idle as it sets them.
            Some(_) if seen.contains(id) => now - options.delivered_ms(now) >= least_ms,
            Some(pending) => least_ms == 0 || now.saturating_sub(pending.delivered_ms) >= least_ms,
            None => options.forces,
        };
        if is_idle {
            found.claimed.push(*id);
            seen.insert(*id);
        }
    }
    let last_id = Some(options.last_id).filter(|last_id| *last_id > group.last_id);
    let again = Redelivery { delivered_ms: options.delivered_ms(now), counting: options.counting };
    take(tx, args, &mut found, again, last_id.map(|last_id| (last_id, group.entries_read)))?;
    write_claimed(tx, args.get(1), &found.claimed, options.only_ids, reply)
}

/// Assigns the found entries to the consumer; deleted ones are no longer pending.
fn take(
    tx: &mut Tx,
    args: &Args,
    found: &mut ClaimResult,
    again: Redelivery,
    group: Option<(StreamId, Option<u64>)>,
) -> Outcome {
    let (now, reader) = (tx.now(), reader(args));
    found.deleted.sort_unstable();
    found.deleted.dedup();
    let mut stream = tx.stream_mut(args.get(1), Absent::Leave)?.expect("just seen");
    let ids_count = found.claimed.len() + found.deleted.len();
    // The group's position, the consumer, deleted entries, claimed ones.
    stream.need_room_for(4, reader.group.len() + reader.consumer.len(), ids_count)?;
    if let Some((last_id, entries_read)) = group {
        stream.put_group(reader.group, last_id, entries_read);
    }
    stream.see_consumer(reader, now, (!found.claimed.is_empty()).then_some(now));
    stream.drop_pending(reader.group, &found.deleted);
    stream.claim(reader, &found.claimed, again);
    Ok(())
}

fn write_claimed(tx: &mut Tx, key: &[u8], ids: &[StreamId], only_ids: bool, reply: &mut dyn Reply) -> Outcome {
    let stream = tx.value::<Stream>(key)?.expect("just seen");
    reply.array(ids.len());
    if only_ids {
        ids.iter().for_each(|id| id::write(reply, *id));
    } else {
        reply::entries_of(reply, stream, ids, |_, _| unreachable!("only entries that are there are claimed"));
    }
    Ok(())
}

/// Pending entries examined together.
const LOOKS_AT_ONCE: usize = 128;

/// Returns the first `count` pending entries from `start` on that are idle, or deleted; and where to continue.
fn find_idle(
    stream: &Stream,
    group: u32,
    start: StreamId,
    count: i64,
    is_idle: impl Fn(&Pending) -> bool,
) -> (ClaimResult, StreamId) {
    let (mut looks, mut found, mut from) = (count * LOOKS_FACTOR, ClaimResult::default(), Some(start));
    while let Some(start) = from.take() {
        let (mut some, mut are_there) = (Vec::new(), Vec::new());
        let _ = stream.walk_pending(group, start, Direction::Forward, &mut |pending| {
            some.push(pending);
            if some.len() < LOOKS_AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let ids: Vec<StreamId> = some.iter().map(|pending| pending.id).collect();
        stream.walk_these(&ids, &mut |_, fields| are_there.push(fields.is_some()));
        for (pending, is_there) in some.iter().zip(are_there) {
            if looks == 0 || (found.claimed.len() + found.deleted.len()) as i64 == count {
                return (found, pending.id);
            }
            looks -= 1;
            if !is_there {
                found.deleted.push(pending.id);
            } else if is_idle(pending) {
                found.claimed.push(pending.id);
            }
        }
        from = ids.last().filter(|_| ids.len() == LOOKS_AT_ONCE).and_then(|last| last.next());
    }
    (found, StreamId::MIN)
}

fn xautoclaim(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let least_ms = min_idle_ms(args.get(4), "XAUTOCLAIM")?;
    let start = id::start(args.get(5))?;
    let (mut count, mut only_ids) = (COUNT_USUAL, false);
    let mut words = args.from(6).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "JUSTID") {
            only_ids = true;
            continue;
        }
        let value = words.next().filter(|_| parse::is(word, "COUNT")).ok_or(Failure::Syntax)?;
        count = parse::int_or(value, 1, COUNT_MAX, "ERR COUNT must be > 0")?;
    }
    let is_idle = |pending: &Pending| least_ms == 0 || now.saturating_sub(pending.delivered_ms) >= least_ms;
    let (mut found, next) = {
        let (stream, group) = group_of(tx, args)?;
        let stream = stream.clone();
        tx.expect_work(stream.pending_count(group.number).min(2 * count as u64))?;
        find_idle(&stream, group.number, start, count, is_idle)
    };
    let counting = if only_ids { Counting::Keep } else { Counting::OneMore };
    take(tx, args, &mut found, Redelivery { delivered_ms: now, counting }, None)?;
    reply.array(3);
    id::write(reply, next);
    write_claimed(tx, args.get(1), &found.claimed, only_ids, reply)?;
    reply.array(found.deleted.len());
    found.deleted.iter().for_each(|deleted| id::write(reply, *deleted));
    Ok(())
}
