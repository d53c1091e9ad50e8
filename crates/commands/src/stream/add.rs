//! XADD: add an entry.

use super::id::{self, RequestedId};
use super::trim;
use crate::prelude::*;
use keyspace::StreamMut;
use values::Stream;
use values::stream::StreamId;

pub(crate) const COMMANDS: &[CommandSpec] = &[XADD];

const XADD: CommandSpec = CommandSpec {
    name: "XADD",
    syntax: "key [NOMKSTREAM] [KEEPREF | DELREF | ACKED] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] \
             <* | id> field value [field value ...]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RW UPDATE").noted("Also removes entries, where it trims.")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Tips(&["nondeterministic_output"]),
        Fact::History(&[
            ("6.2.0", "Takes `NOMKSTREAM`, `MINID` and `LIMIT`."),
            ("7.0.0", "Takes an id of which only the time is given."),
        ]),
        Fact::Arguments(&[
            argument("1", "", "", "6.2.0"),
            argument("3", "trim", "", ""),
            argument("4", "id_or_auto", "", ""),
        ]),
    ],
    group: Group::Stream,
    cost: "O(log(n)), and O(m) for m entries trimmed",
    since: "5.0.0",
    brief: "Adds an entry to a stream, creating it if absent.",
    answer: "bulk: the entry's id; null: NOMKSTREAM, and the key is absent",
    run: Run::Local(xadd),
};

fn xadd(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let options = trim::options(args, true)?;
    let (wanted, id_at) = options.id.ok_or_else(|| Failure::arity(args))?;
    let fields: Vec<&[u8]> = args.from(id_at + 1).iter().collect();
    if fields.is_empty() || !fields.len().is_multiple_of(2) {
        return Err(Failure::arity(args));
    }
    if wanted == RequestedId::This(StreamId::MIN) {
        return Err(Failure::text("ERR The ID specified in XADD must be greater than 0-0"));
    }
    let (key, now) = (args.get(1), tx.now());
    if let Some(how) = options.trim {
        trim::prepare(tx, key, how, (options.references, Some(2 * args.bytes_total() + 10 * args.len())))?;
    }
    let absent = if options.leaves { Absent::Leave } else { Absent::Create };
    let Some(mut stream) = tx.stream_mut(key, absent)? else {
        reply.null();
        return Ok(());
    };
    let last = stream.stream().map_or(StreamId::MIN, |stream| stream.foot().last_id);
    let new = next_id(last, wanted, now)?;
    if !StreamMut::fits(&fields) {
        return Err(Failure::text("ERR Elements are too large to be stored"));
    }
    stream.add(new, &fields)?;
    if let Some(how) = options.trim {
        trim::trim(&mut stream, how, options.references);
    }
    id::write(reply, new);
    Ok(())
}

/// Returns the id of an entry after `last`.
fn next_id(last: StreamId, wanted: RequestedId, now: u64) -> Result<StreamId, Failure> {
    if last == StreamId::MAX {
        return Err(Failure::text("ERR The stream has exhausted the last possible ID, unable to add more items"));
    }
    let next = match wanted {
        RequestedId::Any if now > last.ms => Some(StreamId { ms: now, seq: 0 }),
        RequestedId::Any => last.next(),
        RequestedId::Within(ms) if ms == last.ms => last.seq.checked_add(1).map(|seq| StreamId { ms, seq }),
        RequestedId::Within(ms) => Some(StreamId { ms, seq: 0 }),
        RequestedId::This(id) => Some(id),
    };
    next.filter(|next| *next > last)
        .ok_or(Failure::text("ERR The ID specified in XADD is equal or smaller than the target stream top item"))
}

/// Returns true if a stream has an entry after `id`.
pub(super) fn has_behind(stream: &Stream, id: StreamId) -> bool {
    stream.top_id().is_some_and(|top_id| top_id > id)
}
