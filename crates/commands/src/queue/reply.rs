//! Q.INFO Q.PEEK: inspect a queue without changing it.

use super::reserve::returned_count;
use super::{REPLY_BYTES_MAX, count};
use crate::prelude::*;
use std::ops::ControlFlow;
use values::Queue;
use values::queue::{QueueLimits, Record};

pub(crate) const COMMANDS: &[CommandSpec] = &[INFO, PEEK];

const INFO: CommandSpec = CommandSpec {
    name: "Q.INFO",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(log(n)), n the messages",
    since: "bobbin 0.1.0",
    brief: "Returns the number of messages in each state, and the queue's limits.",
    answer: "map: ready, leased, delayed, buried, dead, bytes, pushed, acked, oldest age, limits",
    run: Run::Local(info),
};

const PEEK: CommandSpec = CommandSpec {
    name: "Q.PEEK",
    syntax: "key [COUNT count] [BURIED]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Queue,
    cost: "O(m*log(n)), n the messages of the queue, m those told",
    since: "bobbin 0.1.0",
    brief: "Returns the first ready or buried messages without a change.",
    answer: "array: of id, deliveries and message; empty: there is none",
    run: Run::Local(peek),
};

fn info(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let now = tx.now();
    let found = tx.look_at_queue(args.get(1), |queue| (queue.figures(), queue.limits()))?;
    let (figures, limits) = found.ok_or(Failure::NoSuchKey)?;
    let QueueLimits { len_max, bytes_max, ttl_ms, retries, dead_letter } = limits;
    let age_ms = figures.oldest_ms.map_or(0, |came_ms| now.saturating_sub(came_ms));
    let numbers = [
        ("ready", figures.ready),
        ("leased", figures.leased),
        ("delayed", figures.delayed),
        ("buried", figures.buried),
        ("dead", figures.dead),
        ("bytes", figures.bytes),
        ("pushed", figures.pushed),
        ("acked", figures.acked),
        ("oldest-age-ms", age_ms),
        ("max-len", len_max),
        ("max-bytes", bytes_max),
        ("ttl-ms", ttl_ms),
    ];
    reply.map(numbers.len() + 2);
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply.int(i64::try_from(number).unwrap_or(i64::MAX));
    }
    reply.bulk(b"retries");
    reply.int(retries.map_or(-1, |retries| i64::try_from(retries).unwrap_or(i64::MAX)));
    reply.bulk(b"dead-letter");
    reply.bulk(&dead_letter);
    Ok(())
}

fn peek(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    tx.look_at_queue(args.get(1), |_| ())?;
    let (mut most, mut is_buried) = (1, false);
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "COUNT") {
            most = count(words.next().ok_or(Failure::Syntax)?)?;
        } else if parse::is(word, "BURIED") {
            is_buried = true;
        } else {
            return Err(Failure::Syntax);
        }
    }
    let is_there = tx.look_at_queue(args.get(1), |queue| match is_buried {
        true => write_buried(queue, most, reply),
        false => write_ready(queue, most, reply),
    })?;
    if is_there.is_none() {
        reply.array(0);
    }
    Ok(())
}

fn write_ready(queue: &Queue, most: u64, reply: &mut dyn Reply) {
    let count = returned_count(queue, most);
    reply.array(count as usize);
    let mut left = count;
    let _ = queue.walk_records(&mut |record| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        write_message(queue, record, reply);
        ControlFlow::Continue(())
    });
}

fn write_buried(queue: &Queue, most: u64, reply: &mut dyn Reply) {
    let mut bytes = 0;
    let ids = queue.buried_ids(most);
    let fits = |id: &&i64| {
        let is_first = bytes == 0;
        bytes += queue.held(**id, |record| record.message.len() + 1).unwrap_or(0);
        is_first || bytes <= REPLY_BYTES_MAX
    };
    let count = ids.iter().take_while(fits).count();
    reply.array(count);
    for id in &ids[..count] {
        queue.held(*id, |record| write_message(queue, record, reply));
    }
}

fn write_message(queue: &Queue, record: Record<'_>, reply: &mut dyn Reply) {
    reply.array(3);
    reply.bulk(queue.public_id(record.id).to_string().as_bytes());
    reply.int(i64::try_from(record.deliveries).unwrap_or(i64::MAX));
    reply.bulk(record.message);
}
