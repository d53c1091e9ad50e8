//! XACK XPENDING: acknowledge and list pending deliveries.

use super::{id, no_key_or_group};
use crate::prelude::*;
use base::Ms;
use blocks::Direction;
use keyspace::Pin;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Group as GroupState, Pending, StreamId};
use wire::{More, Source};

pub(crate) const COMMANDS: &[CommandSpec] = &[XACK, XPENDING];

const XACK: CommandSpec = CommandSpec {
    name: "XACK",
    syntax: "key group id [id ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[Fact::Reads(CountedReads::Changed)],
    group: Group::Stream,
    cost: "O(m*log(p)), m the ids given, p what is pending",
    since: "5.0.0",
    brief: "Acknowledges entries for a group.",
    answer: "int: how many were pending",
    run: Run::Local(xack),
};

const XPENDING: CommandSpec = CommandSpec {
    name: "XPENDING",
    syntax: "key group [[IDLE min-idle-time] start end count [consumer]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[("6.2.0", "Takes `IDLE`, and ends that are exclusive.")]),
        Fact::Arguments(&[
            argument("2", "filters", "", ""),
            argument("2.0", "", "integer", "6.2.0"),
            argument("2.1", "", "string", ""),
            argument("2.2", "", "string", ""),
        ]),
    ],
    group: Group::Stream,
    cost: "O(log(p)+m), p what is pending, m what of it is looked at; O(c*log(p)) for c consumers",
    since: "5.0.0",
    brief: "Returns entries that were delivered to a group and not acknowledged.",
    answer: "array: count, least and greatest id, consumers; or ids, consumers, idle times and deliveries",
    run: Run::Local(xpending),
};

fn xack(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let stream = tx.value::<Stream>(args.get(1))?;
    let group = stream.and_then(|stream| stream.group(args.get(2)));
    let (Some(stream), Some(group)) = (stream, group) else {
        reply.int(0);
        return Ok(());
    };
    let mut ids = id::all(args.from(3))?;
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<StreamId> =
        stream.pending_of(group.number, &ids).into_iter().flatten().map(|pending| pending.id).collect();
    let mut stream = tx.stream_mut(args.get(1), Absent::Leave)?.expect("just seen");
    stream.need_room_for(1, args.get(2).len(), ids.len())?;
    stream.drop_pending(args.get(2), &ids);
    reply.int(ids.len() as i64);
    Ok(())
}

/// The range of an extended XPENDING.
struct Range {
    least_idle_ms: i64,
    from: StreamId,
    to: StreamId,
    most: u64,
}

/// The filter of an extended XPENDING.
struct PendingFilter<'a> {
    range: Range,
    consumer: Option<&'a [u8]>,
}

impl<'a> PendingFilter<'a> {
    fn of(args: &Args<'a>) -> Result<Option<Self>, Failure> {
        if args.len() == 3 {
            return Ok(None);
        }
        if !(6..=9).contains(&args.len()) {
            return Err(Failure::Syntax);
        }
        let (mut least_idle_ms, mut at) = (0, 3);
        if parse::is(args.get(3), "IDLE") {
            least_idle_ms = parse::int(args.get(4))?;
            if args.len() < 8 {
                return Err(Failure::Syntax);
            }
            at = 5;
        }
        let most = parse::int(args.get(at + 2))?.max(0) as u64;
        let (from, to) = (id::start(args.get(at))?, id::end(args.get(at + 1))?);
        let range = Range { least_idle_ms, from, to, most };
        Ok(Some(Self { range, consumer: args.from(at + 3).iter().next() }))
    }
}

fn xpending(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (asked, now, keyspace) = (PendingFilter::of(args)?, tx.now(), tx.keyspace());
    let stream = tx.value::<Stream>(args.get(1))?;
    let group = stream.and_then(|stream| stream.group(args.get(2)));
    let (Some(stream), Some(group)) = (stream, group) else {
        return Err(no_key_or_group(args.get(1), args.get(2)));
    };
    let Some(PendingFilter { range, consumer }) = asked else {
        write_summary(stream, group, reply);
        return Ok(());
    };
    let number = consumer.map(|name| stream.consumer(group.number, name).map(|consumer| consumer.number));
    if number == Some(None) {
        reply.array(0);
        return Ok(());
    }
    let mut search = Search {
        stream: stream.clone(),
        group: group.number,
        consumer: number.flatten(),
        asked: range,
        now,
        found: Vec::new(),
        written: 0,
        is_over: false,
        pin: keyspace.pin(args.get(1)),
    };
    search.step();
    let is_written = search.is_over && search.write(reply);
    if !is_written {
        reply.stream(Box::new(search));
    }
    Ok(())
}

fn write_summary(stream: &Stream, group: GroupState, reply: &mut dyn Reply) {
    let outermost = |direction| {
        let mut found = None;
        let _ = stream.walk_pending(group.number, StreamId::MIN, direction, &mut |pending| {
            found = Some(pending.id);
            ControlFlow::Break(())
        });
        found
    };
    reply.array(4);
    reply.int(stream.pending_count(group.number) as i64);
    let (Some(first), Some(last)) = (outermost(Direction::Forward), outermost(Direction::Backward)) else {
        reply.null();
        reply.null();
        reply.null_array();
        return;
    };
    id::write(reply, first);
    id::write(reply, last);
    let mut owners = Vec::new();
    stream.for_each_consumer(group.number, |name, consumer| {
        let count = stream.owned_count(group.number, consumer.number);
        if count > 0 {
            owners.push((name.to_vec(), count));
        }
    });
    reply.array(owners.len());
    for (name, count) in owners {
        reply.array(2);
        reply.bulk(&name);
        reply.bulk_int(count as i64);
    }
}

/// Pending entries examined under the lock, and per step without it.
const LOOKS_AT_ONCE: u64 = 1024;
/// Entries replied there, and per step.
const REPLIED_AT_ONCE: usize = 512;

/// The search of XPENDING: under the lock, or from a clone after it is released.
struct Search {
    stream: Stream,
    group: u32,
    /// The number of the only consumer wanted.
    consumer: Option<u32>,
    asked: Range,
    now: Ms,
    found: Vec<Pending>,
    written: usize,
    is_over: bool,
    pin: Pin,
}

impl Search {
    /// Examines some more.
    fn step(&mut self) {
        let Self { stream, group, consumer, asked, now, found, .. } = self;
        let (mut looks, mut next) = (LOOKS_AT_ONCE, None);
        let mut look = |pending: Pending| {
            if found.len() as u64 >= asked.most || pending.id > asked.to {
                return ControlFlow::Break(());
            }
            if looks == 0 {
                next = Some(pending.id);
                return ControlFlow::Break(());
            }
            looks -= 1;
            let idle_ms = *now as i64 - pending.delivered_ms as i64;
            if asked.least_idle_ms == 0 || idle_ms >= asked.least_idle_ms {
                found.push(pending);
            }
            ControlFlow::Continue(())
        };
        let _ = match *consumer {
            None => stream.walk_pending(*group, asked.from, Direction::Forward, &mut look),
            Some(consumer) => stream.walk_owned(*group, consumer, asked.from, &mut |id| {
                look(stream.pending(*group, id).expect("what is owned is pending"))
            }),
        };
        match next {
            Some(from) => asked.from = from,
            None => self.is_over = true,
        }
    }

    /// Replies with some results. Returns true if those were the last.
    fn write(&mut self, reply: &mut dyn Reply) -> bool {
        if self.written == 0 {
            reply.array(self.found.len());
        }
        let rest = &self.found[self.written..];
        for pending in rest.iter().take(REPLIED_AT_ONCE) {
            reply.array(4);
            id::write(reply, pending.id);
            self.stream.consumer_of(self.group, pending.consumer, |name, _| reply.bulk(name));
            reply.int(self.now.saturating_sub(pending.delivered_ms) as i64);
            reply.int(pending.deliveries as i64);
        }
        self.written += rest.len().min(REPLIED_AT_ONCE);
        self.written == self.found.len()
    }
}

impl Source for Search {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if !self.is_over {
            self.step();
            return More::Follows;
        }
        if self.write(reply) { More::Done } else { More::Follows }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.bytes(self.stream.heap_bytes())
    }
}
