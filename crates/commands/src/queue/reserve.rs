//! Q.RESERVE: lease messages from the first of several queues that has some, or wait for one.

use super::{LEASE_MS, REPLY_BYTES_MAX, count, due_ms, milliseconds, receipt};
use crate::prelude::*;
use crate::spec::{TimeoutAt, as_it_is, words_at};
use base::Ms;
use smallvec::SmallVec;
use std::ops::ControlFlow;
use values::Queue;

pub(crate) const COMMANDS: &[CommandSpec] = &[RESERVE];

const RESERVE: CommandSpec = CommandSpec {
    name: "Q.RESERVE",
    syntax: "key [key ...] [COUNT count] [LEASE milliseconds] [BLOCK milliseconds]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::found(Begin::Index(1), Find::Until(WORDS), "RW ACCESS UPDATE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[],
    group: Group::Queue,
    cost: "O(k+n*log(m)), k the keys, n the messages leased, m those of the queue",
    since: "bobbin 0.1.0",
    brief: "Leases the first messages of the first non-empty queue, or waits.",
    answer: "array: the key and an array of receipt, deliveries, message; null: nothing is ready",
    run: Run::Blocking {
        try_now: reserve,
        timeout: TimeoutAt::LastBlock,
        empty: |reply| reply.null_array(),
        settled: as_it_is,
    },
};

/// The words that end the keys.
const WORDS: &[&str] = &["COUNT", "LEASE", "BLOCK"];

/// The options of Q.RESERVE.
pub(crate) struct ReserveOptions {
    count: u64,
    lease_ms: u64,
    /// The timeout, if it waits; 0 means none.
    pub(crate) block_ms: Option<u64>,
}

impl ReserveOptions {
    pub(crate) fn of(args: &Args<'_>) -> Result<Self, Failure> {
        let end = words_at(args, 1, WORDS);
        let mut options = Self { count: 1, lease_ms: LEASE_MS, block_ms: None };
        let mut words = args.from(end).iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or(Failure::Syntax)?;
            if parse::is(word, "COUNT") {
                options.count = count(value)?;
            } else if parse::is(word, "LEASE") {
                options.lease_ms = milliseconds(value, 1)?;
            } else if parse::is(word, "BLOCK") {
                let text = "ERR timeout is not an integer or out of range";
                options.block_ms = Some(parse::int_or(value, 0, i64::MAX, text)? as u64);
            } else {
                return Err(Failure::Syntax);
            }
        }
        Ok(options)
    }
}

fn reserve(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let end = words_at(args, 1, WORDS);
    // The wrong type is reported first; a waiting client ignores it.
    let (mut keys, mut bytes) = (SmallVec::<[_; 4]>::new(), 0);
    for key in args.slice(1, end) {
        if !tx.may_use(key) {
            continue;
        }
        let is_serving = tx.is_serving();
        match tx.queue_mut(key, Absent::Leave) {
            Ok(None) => {}
            Ok(Some(mut queue)) => {
                let (is_due, needed) = queue.settling();
                bytes += needed;
                keys.push((key, is_due));
            }
            Err(_) if is_serving => {}
            Err(wrong) => return Err(wrong.into()),
        }
    }
    let options = ReserveOptions::of(args)?;
    let due_ms = due_ms(tx, options.lease_ms)?;
    tx.expect_work(options.count)?;
    tx.need_room(bytes)?;
    let mut look_again_ms = Ms::MAX;
    for (key, is_due) in keys {
        let mut queue = tx.queue_mut(key, Absent::Leave)?.expect("just seen");
        if is_due {
            queue.settle();
        }
        queue.begin();
        let leased = queue.look(|queue| {
            if queue.ready_len() == 0 {
                look_again_ms = look_again_ms.min(queue.next_return().unwrap_or(Ms::MAX));
                return 0;
            }
            reply.array(2);
            reply.bulk(key);
            write_messages(queue, options.count, reply)
        });
        if leased == 0 {
            continue;
        }
        queue.reserve(leased, due_ms);
        return Ok(());
    }
    if options.block_ms.is_none() {
        reply.null_array();
        return Ok(());
    }
    if look_again_ms != Ms::MAX {
        tx.look_again(look_again_ms);
    }
    Err(Failure::Nothing)
}

/// Returns how many of the first ready messages are returned at once: at least one, and more if they are not too long.
pub(super) fn returned_count(queue: &Queue, most: u64) -> u64 {
    let most = most.min(queue.ready_len());
    if most <= 1 {
        return most;
    }
    let (mut count, mut bytes) = (0, 0);
    let _ = queue.walk_records(&mut |record| {
        bytes += record.message.len();
        if count == most || (count > 0 && bytes > REPLY_BYTES_MAX) {
            return ControlFlow::Break(());
        }
        count += 1;
        ControlFlow::Continue(())
    });
    count
}

/// Replies with the first ready messages, as they are about to be delivered. Returns how many.
fn write_messages(queue: &Queue, most: u64, reply: &mut dyn Reply) -> u64 {
    let count = returned_count(queue, most);
    reply.array(count as usize);
    let mut left = count;
    let _ = queue.walk_records(&mut |record| {
        left -= 1;
        let deliveries = record.deliveries.saturating_add(1);
        reply.array(3);
        reply.bulk(receipt(queue, record.id, deliveries).as_bytes());
        reply.int(i64::try_from(deliveries).unwrap_or(i64::MAX));
        reply.bulk(record.message);
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    count
}
