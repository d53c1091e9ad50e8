//! XINFO STREAM GROUPS CONSUMERS HELP: information about a stream.

use super::lag::Progress;
use super::reply::{self, StreamPart};
use super::{id, no_such_group};
use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use blocks::Direction;
use keyspace::Pin;
use std::collections::HashMap;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Consumer, Foot, Group as GroupState, StreamId};

pub(crate) const COMMANDS: &[CommandSpec] =
    &[CONSUMERS, GROUPS, help_command("XINFO HELP", Group::Stream, "5.0.0", HELP_FLAGS), STREAM];

const STREAM: CommandSpec = CommandSpec {
    name: "XINFO STREAM",
    syntax: "key [FULL [COUNT count]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(2, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[
            ("6.0.0", "Takes `FULL`."),
            (
                "7.0.0",
                "Shows `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag`.",
            ),
        ]),
        Fact::Arguments(&[argument("1", "full", "", "")]),
    ],
    group: Group::Stream,
    cost: "O(log(n)); with FULL O(m), m what is told",
    since: "5.0.0",
    brief: "Returns facts of a stream.",
    answer: "map: figures, and the first and the last entry; with FULL entries and groups",
    run: Run::Local(stream),
};

const GROUPS: CommandSpec = CommandSpec {
    name: "XINFO GROUPS",
    syntax: "key",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(2, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::History(&[("7.0.0", "Shows `entries-read` and `lag`.")])],
    group: Group::Stream,
    cost: "O(g*log(n)), g the groups",
    since: "5.0.0",
    brief: "Lists the groups of a stream.",
    answer: "array: a map for each group",
    run: Run::Local(groups),
};

const CONSUMERS: CommandSpec = CommandSpec {
    name: "XINFO CONSUMERS",
    syntax: "key group",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(2, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::Arguments(&[argument("1", "groupname", "", "")])],
    group: Group::Stream,
    cost: "O(c*log(n)), c the consumers",
    since: "5.0.0",
    brief: "Lists the consumers of a group.",
    answer: "array: a map for each consumer",
    run: Run::Local(consumers),
};

/// The default COUNT of FULL, for each list.
const COUNT_USUAL: u64 = 10;

fn number(reply: &mut dyn Reply, name: &str, value: u64) {
    reply.bulk(name.as_bytes());
    reply.int(value as i64);
}

fn named_id(reply: &mut dyn Reply, name: &str, id: StreamId) {
    reply.bulk(name.as_bytes());
    id::write(reply, id);
}

fn maybe(reply: &mut dyn Reply, name: &str, value: Option<i64>) {
    reply.bulk(name.as_bytes());
    match value {
        Some(value) => reply.int(value),
        None => reply.null(),
    }
}

/// Parses the COUNT of FULL; `None` without FULL, and 0 for all.
fn full(args: &Args<'_>) -> Result<Option<u64>, Failure> {
    let is_full = args.len() > 3;
    if !is_full {
        return Ok(None);
    }
    let knows = matches!(args.len(), 4 | 6)
        && parse::is(args.get(3), "FULL")
        && (args.len() == 4 || parse::is(args.get(4), "COUNT"));
    if !knows {
        return Err(wrong_count(args));
    }
    if args.len() == 4 {
        return Ok(Some(COUNT_USUAL));
    }
    Ok(Some(u64::try_from(parse::int(args.get(5))?).unwrap_or(COUNT_USUAL)))
}

fn stream(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let keyspace = tx.keyspace();
    let stream = &tx.value::<Stream>(args.get(2))?.ok_or(Failure::NoSuchKey)?.clone();
    let full = full(args)?;
    if let Some(count) = full {
        let (most, mut work) = (if count == 0 { u64::MAX } else { count }, 0);
        stream.for_each_group(|_, group| {
            work += stream.pending_count(group.number).min(most);
            stream.for_each_consumer(group.number, |_, consumer| {
                work += stream.owned_count(group.number, consumer.number).min(most);
            });
        });
        tx.expect_work(work)?;
    }
    let (chunks, Foot { len, last_id, deleted_id, added }) = (stream.chunks_count(), stream.foot());
    reply.map(if full.is_some() { 9 } else { 10 });
    number(reply, "length", len);
    number(reply, "radix-tree-keys", chunks);
    number(reply, "radix-tree-nodes", chunks + 1);
    named_id(reply, "last-generated-id", last_id);
    named_id(reply, "max-deleted-entry-id", deleted_id);
    number(reply, "entries-added", added);
    named_id(reply, "recorded-first-entry-id", stream.first_id().unwrap_or_default());
    let Some(count) = full else {
        number(reply, "groups", stream.groups_count());
        for (name, id) in [("first-entry", stream.first_id()), ("last-entry", stream.top_id())] {
            reply.bulk(name.as_bytes());
            if !id.is_some_and(|id| reply::entry_of(reply, stream, id)) {
                reply.null();
            }
        }
        return Ok(());
    };
    let most = if count == 0 { u64::MAX } else { count };
    reply.bulk(b"entries");
    reply::write_part(reply, stream, StreamPart::from(StreamId::MIN, most), || -> Pin { keyspace.pin(args.get(2)) });
    reply.bulk(b"groups");
    reply.array(stream.groups_count() as usize);
    let progress = Progress::of(stream);
    stream.for_each_group(|name, group| full_group(stream, progress, name, group, most, reply));
    Ok(())
}

fn full_group(stream: &Stream, progress: Progress, name: &[u8], group: GroupState, most: u64, reply: &mut dyn Reply) {
    reply.map(7);
    reply.bulk(b"name");
    reply.bulk(name);
    named_id(reply, "last-delivered-id", group.last_id);
    maybe(reply, "entries-read", group.entries_read.map(|read| read as i64));
    maybe(reply, "lag", progress.lag(&group));
    let count = stream.pending_count(group.number);
    number(reply, "pel-count", count);
    reply.bulk(b"pending");
    let mut left = count.min(most);
    reply.array(left as usize);
    let mut names: HashMap<u32, Vec<u8>> = HashMap::new();
    let _ = stream.walk_pending(group.number, StreamId::MIN, Direction::Forward, &mut |pending| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        reply.array(4);
        id::write(reply, pending.id);
        let name_of = || stream.consumer_of(group.number, pending.consumer, |name, _| name.to_vec());
        reply.bulk(names.entry(pending.consumer).or_insert_with(name_of));
        reply.int(pending.delivered_ms as i64);
        reply.int(pending.deliveries as i64);
        ControlFlow::Continue(())
    });
    reply.bulk(b"consumers");
    reply.array(stream.consumers_count(group.number) as usize);
    stream.for_each_consumer(group.number, |name, consumer| {
        full_consumer(stream, group.number, name, consumer, most, reply);
    });
}

fn full_consumer(stream: &Stream, group: u32, name: &[u8], consumer: Consumer, most: u64, reply: &mut dyn Reply) {
    reply.map(5);
    reply.bulk(b"name");
    reply.bulk(name);
    number(reply, "seen-time", consumer.seen_ms);
    reply.bulk(b"active-time");
    reply.int(consumer.active_ms.map_or(-1, |active_ms| active_ms as i64));
    let count = stream.owned_count(group, consumer.number);
    number(reply, "pel-count", count);
    reply.bulk(b"pending");
    let (left, mut ids) = (count.min(most), Vec::new());
    reply.array(left as usize);
    let _ = stream.walk_owned(group, consumer.number, StreamId::MIN, &mut |id| {
        if ids.len() as u64 == left {
            return ControlFlow::Break(());
        }
        ids.push(id);
        ControlFlow::Continue(())
    });
    for pending in stream.pending_of(group, &ids) {
        let pending = pending.expect("what is owned is pending");
        reply.array(3);
        id::write(reply, pending.id);
        reply.int(pending.delivered_ms as i64);
        reply.int(pending.deliveries as i64);
    }
}

fn groups(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let stream = tx.value::<Stream>(args.get(2))?.ok_or(Failure::NoSuchKey)?;
    let progress = Progress::of(stream);
    reply.array(stream.groups_count() as usize);
    stream.for_each_group(|name, group| {
        reply.map(6);
        reply.bulk(b"name");
        reply.bulk(name);
        number(reply, "consumers", stream.consumers_count(group.number));
        number(reply, "pending", stream.pending_count(group.number));
        named_id(reply, "last-delivered-id", group.last_id);
        maybe(reply, "entries-read", group.entries_read.map(|read| read as i64));
        maybe(reply, "lag", progress.lag(&group));
    });
    Ok(())
}

fn consumers(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let stream = tx.value::<Stream>(args.get(2))?.ok_or(Failure::NoSuchKey)?;
    let missing = || no_such_group(args.get(2), args.get(3));
    let group = stream.group(args.get(3)).ok_or_else(missing)?.number;
    reply.array(stream.consumers_count(group) as usize);
    stream.for_each_consumer(group, |name, consumer| {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(name);
        number(reply, "pending", stream.owned_count(group, consumer.number));
        number(reply, "idle", now.saturating_sub(consumer.seen_ms));
        reply.bulk(b"inactive");
        reply.int(consumer.active_ms.map_or(-1, |active_ms| now.saturating_sub(active_ms) as i64));
    });
    Ok(())
}
