//! Q.PUSH: push messages, optionally delayed or deduplicated.

use super::{due_ms, full, milliseconds};
use crate::prelude::*;
use crate::spec::words_at;
use values::Queue;
use values::queue::{DEDUP_BYTES_MAX, MESSAGE_BYTES_MAX};

pub(crate) const COMMANDS: &[CommandSpec] = &[PUSH];

const PUSH: CommandSpec = CommandSpec {
    name: "Q.PUSH",
    syntax: "key message [message ...] [DELAY milliseconds] [ID dedup-id]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Queue,
    cost: "O(n), n the messages; with DELAY or ID O(n*log(m)), m those of the queue",
    since: "bobbin 0.1.0",
    brief: "Appends messages to a queue, creating it if absent.",
    answer: "array: the id of each; null for one whose dedup id is there already",
    run: Run::Local(push),
};

/// The maximum overhead of a message in a record of several, in bytes.
const ITEM_FIELDS_BYTES: usize = 8;
/// The words that end the messages, from the second on.
const WORDS: &[&str] = &["DELAY", "ID"];

struct PushOptions<'a> {
    delay_ms: u64,
    dedup: &'a [u8],
}

fn options<'a>(words: Args<'a>) -> Result<PushOptions<'a>, Failure> {
    let mut options = PushOptions { delay_ms: 0, dedup: b"" };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Failure::Syntax)?;
        if parse::is(word, "DELAY") {
            options.delay_ms = milliseconds(value, 0)?;
        } else if parse::is(word, "ID") {
            if value.is_empty() || value.len() > DEDUP_BYTES_MAX {
                return Err(Failure::text("ERR a dedup id has 1 to 1024 bytes"));
            }
            options.dedup = value;
        } else {
            return Err(Failure::Syntax);
        }
    }
    Ok(options)
}

fn push(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let end = words_at(args, 2, WORDS);
    // The wrong type is reported first.
    tx.queue_mut(key, Absent::Leave)?;
    let PushOptions { delay_ms, dedup } = options(args.from(end))?;
    let due_ms = if delay_ms > 0 { due_ms(tx, delay_ms)? } else { 0 };
    let mut queue = tx.queue_mut(key, Absent::Create)?.expect("is to be made").with_event("q.push");
    let messages: smallvec::SmallVec<[&[u8]; 8]> = args.slice(2, end).iter().collect();
    if !dedup.is_empty() && messages.len() > 1 {
        return Err(Failure::text("ERR ID requires exactly one message"));
    }
    let bytes: usize = messages.iter().map(|message| message.len()).sum();
    if messages.iter().any(|message| message.len() > MESSAGE_BYTES_MAX) {
        return Err(Failure::text("ERR the message is too long"));
    }
    if !dedup.is_empty() && queue.look(|queue| queue.has_dedup(dedup)) {
        reply.array(1);
        reply.null();
        return Ok(());
    }
    queue.look(|queue| queue.takes(messages.len() as u64, bytes as u64)).map_err(full)?;
    if due_ms > 0 || !dedup.is_empty() {
        queue.push_each(due_ms, dedup, &messages)?;
    } else {
        queue.expect_coming((bytes + messages.len() * ITEM_FIELDS_BYTES) as u64)?;
        queue.push(blocks::End::Tail, &messages);
    }
    let first = queue.look(Queue::next_public_id).wrapping_sub(messages.len() as u64);
    reply.array(messages.len());
    (0..messages.len() as u64).for_each(|nth| reply.bulk(first.wrapping_add(nth).to_string().as_bytes()));
    Ok(())
}
