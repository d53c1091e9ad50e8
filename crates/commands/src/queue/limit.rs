//! Q.LIMIT Q.DROP: set a queue's limits, and convert it back to a list.

use super::milliseconds;
use crate::prelude::*;
use values::Queue;

pub(crate) const COMMANDS: &[CommandSpec] = &[DROP, LIMIT];

const LIMIT: CommandSpec = CommandSpec {
    name: "Q.LIMIT",
    syntax: "key [MAXLEN count] [MAXBYTES bytes] [TTL milliseconds] [RETRIES count] [DEADLETTER name]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Sets limits of a queue, and where messages go that were tried too often.",
    answer: "simple: OK; what is not named stays, 0 (of RETRIES -1) takes a limit away",
    run: Run::Local(limit),
};

const DROP: CommandSpec = CommandSpec {
    name: "Q.DROP",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(log(n)+m), n the messages, m those that were given back",
    since: "bobbin 0.1.0",
    brief: "Turns a queue back into a list of its ready messages, without limits.",
    answer: "int: 1; 0: there is no queue; an error while messages are leased, delayed or buried",
    run: Run::Local(drop_queue),
};

fn limit(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let before = tx.look_at_queue(key, Queue::limits)?;
    let mut limits = before.clone().unwrap_or_default();
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "MAXLEN") {
            limits.len_max = parse::count(value)?;
        } else if parse::is(word, "MAXBYTES") {
            limits.bytes_max = parse::count(value)?;
        } else if parse::is(word, "TTL") {
            limits.ttl_ms = milliseconds(value, 0)?;
        } else if parse::is(word, "RETRIES") {
            let text = "ERR RETRIES must be -1 or more";
            limits.retries = u64::try_from(parse::int_or(value, -1, i64::MAX, text)?).ok();
        } else if parse::is(word, "DEADLETTER") {
            if value == key {
                return Err(Failure::text("ERR DEADLETTER must be another key"));
            }
            limits.dead_letter = value.into();
        } else {
            return Err(Failure::Syntax);
        }
    }
    if before.unwrap_or_default() != limits {
        tx.queue_mut(key, Absent::Create)?.expect("is to be made").limit(&limits)?;
    }
    reply.ok();
    Ok(())
}

fn drop_queue(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let Some((held, returned)) = tx.look_at_queue(key, |queue| (queue.held_len(), queue.returned_len()))? else {
        reply.int(0);
        return Ok(());
    };
    if !tx.is_queue(key) {
        reply.int(0);
        return Ok(());
    }
    if held > 0 {
        return Err(Failure::text(format!(
            "ERR the queue has {held} messages that are leased, delayed or buried, which a list cannot keep: acknowledge \
             them, give them back or kick them first"
        )));
    }
    tx.expect_work(returned)?;
    tx.queue_mut(key, Absent::Leave)?.expect("just seen").turn_back();
    reply.int(1);
    Ok(())
}
