//! XTRIM, and the trimming by XADD: remove the oldest entries.

use super::id::{self, RequestedId};
use super::references::{self, References};
use crate::prelude::*;
use keyspace::StreamMut;
use values::Stream;
use values::limits::STREAM_NODE_ENTRIES;
use values::stream::{Kept, StreamId, Trim};

pub(crate) const COMMANDS: &[CommandSpec] = &[XTRIM];

const XTRIM: CommandSpec = CommandSpec {
    name: "XTRIM",
    syntax: "key <MAXLEN | MINID> [= | ~] threshold [LIMIT count] [KEEPREF | DELREF | ACKED]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Tips(&["nondeterministic_output"]), Fact::History(&[("6.2.0", "Takes `MINID` and `LIMIT`.")])],
    group: Group::Stream,
    cost: "O(n), n the entries removed",
    since: "5.0.0",
    brief: "Deletes the oldest entries of a stream.",
    answer: "int: entries removed",
    run: Run::Local(xtrim),
};

/// Chunks removed at once with approximate trimming, unless a client gives a limit of entries.
const CHUNKS_MAX: u64 = 100;
/// Entries removed at once, if chunks have no limit; and if they have a large one.
const LIMIT_WITHOUT: u64 = 10_000;
const LIMIT_MAX: u64 = 1_000_000;

const LIMIT_ALONE: &str = "ERR syntax error, LIMIT cannot be used without the special ~ option";

/// The options before the fields of XADD, or after the key of XTRIM.
pub(super) struct TrimOptions {
    pub(super) trim: Option<Trim>,
    /// The policy for pending deliveries of removed entries.
    pub(super) references: References,
    /// True if an absent stream is not created.
    pub(super) leaves: bool,
    /// The id argument of XADD, and its position.
    pub(super) id: Option<(RequestedId, usize)>,
}

/// Parses the options after the key; those of XADD end with the id.
pub(super) fn options(args: &Args<'_>, adds: bool) -> Result<TrimOptions, Failure> {
    let mut options = TrimOptions { trim: None, references: References::Keep, leaves: false, id: None };
    let mut references = None;
    let (mut kept, mut whole, mut limit) = (None, false, None);
    let mut at = 2;
    while at < args.len() {
        let (word, more) = (args.get(at), args.len() - 1 - at);
        let is_maxlen = parse::is(word, "MAXLEN");
        if adds && word == b"*" {
            options.id = Some((RequestedId::Any, at));
            break;
        } else if (is_maxlen || parse::is(word, "MINID")) && more > 0 {
            if kept.is_some() {
                return Err(Failure::text(
                    "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
                ));
            }
            whole = more >= 2 && args.get(at + 1) == b"~";
            at += if whole || (more >= 2 && args.get(at + 1) == b"=") { 2 } else { 1 };
            kept = Some(match is_maxlen {
                true => Kept::Newest(positive(args.get(at), "ERR The MAXLEN argument must be >= 0.")?),
                false => Kept::From(id::strict(args.get(at), 0)?),
            });
        } else if parse::is(word, "LIMIT") && more > 0 {
            at += 1;
            limit = Some(positive(args.get(at), "ERR The LIMIT argument must be >= 0.")?);
        } else if let Some(said) = References::of(word) {
            if references.replace(said).is_some() {
                return Err(Failure::Syntax);
            }
            options.references = said;
        } else if adds && parse::is(word, "NOMKSTREAM") {
            options.leaves = true;
        } else if adds {
            options.id = Some((id::wanted(word)?, at));
            break;
        } else {
            return Err(Failure::Syntax);
        }
        at += 1;
    }
    let Some(kept) = kept else {
        return match limit {
            Some(1..) => {
                Err(Failure::text("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"))
            }
            _ if !adds => Err(Failure::text("ERR syntax error, XTRIM must be called with a trimming strategy")),
            Some(0) => Err(Failure::text(LIMIT_ALONE)),
            None => Ok(options),
        };
    };
    if limit.is_some() && !whole {
        return Err(Failure::text(LIMIT_ALONE));
    }
    let usual = if whole { usual_limit(STREAM_NODE_ENTRIES.get()) } else { 0 };
    options.trim = Some(Trim { kept, whole, limit: limit.unwrap_or(usual) });
    Ok(options)
}

fn usual_limit(entries_max: u64) -> u64 {
    if entries_max == 0 { LIMIT_WITHOUT } else { entries_max.saturating_mul(CHUNKS_MAX).min(LIMIT_MAX) }
}

fn positive(argument: &[u8], text: &'static str) -> Result<u64, Failure> {
    u64::try_from(parse::int(argument)?).map_err(|_| Failure::text(text))
}

/// The entries removed by one trim.
enum Going {
    /// The first entries.
    First(u64),
    /// These ascending ids, with some in between that stay.
    These(Vec<StreamId>),
}

/// Requests the resources for trimming before the first change; after adding an entry of this size, if there is one.
pub(super) fn prepare(
    tx: &mut Tx,
    key: &[u8],
    trim: Trim,
    (references, added_bytes): (References, Option<usize>),
) -> Result<(), Failure> {
    let Some(stream) = tx.value::<Stream>(key)?.filter(|_| references != References::Keep) else { return Ok(()) };
    let kept = match trim.kept {
        Kept::Newest(most) => Kept::Newest(most.saturating_sub(u64::from(added_bytes.is_some()))),
        from => from,
    };
    let going = stream.trim_count(Trim { kept, ..trim }) + 1;
    let (mut room_bytes, mut pending) = (StreamMut::room(3, key.len(), 0, going as usize), 0);
    room_bytes += added_bytes.unwrap_or_default() as u64;
    stream.for_each_group(|name, group| {
        let count = stream.pending_count(group.number);
        room_bytes += StreamMut::room(1, key.len(), name.len(), count.min(going) as usize);
        pending += count;
    });
    // With many pending deliveries, many may have to be passed.
    let work = if references == References::Acknowledged { going + pending } else { going };
    let has_groups = stream.groups_count() > 0;
    if has_groups {
        tx.expect_work(work)?;
        tx.need_room(room_bytes)?;
    }
    Ok(())
}

/// Trims an existing stream. Returns how many entries were removed.
pub(super) fn trim(stream: &mut StreamMut<'_, '_>, trim: Trim, references: References) -> u64 {
    let Some(state) = stream.stream() else { return 0 };
    let has_groups = references != References::Keep && state.groups_count() > 0;
    let going = match references {
        References::Acknowledged if has_groups => {
            let these = references::trimmed(state, trim);
            match these.last().is_none_or(|last| references::first(state, these.len() as u64).last() == Some(last)) {
                true => Going::First(these.len() as u64),
                false => Going::These(these),
            }
        }
        _ => Going::First(state.trim_count(trim)),
    };
    match going {
        Going::First(count) => {
            let ids = if has_groups { references::first(state, count) } else { Vec::new() };
            let held = if references == References::Remove { references::held(state, &ids) } else { Vec::new() };
            held.iter().for_each(|held| stream.drop_pending(&held.group, &held.ids));
            stream.trim(count);
            count
        }
        Going::These(ids) => {
            stream.trim_these(&ids);
            ids.len() as u64
        }
    }
}

fn xtrim(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let options = options(args, false)?;
    let (how, references) = (options.trim.expect("XTRIM must be told how"), options.references);
    prepare(tx, args.get(1), how, (references, None))?;
    let count = match tx.stream_mut(args.get(1), Absent::Leave)? {
        Some(mut stream) => trim(&mut stream, how, references),
        None => 0,
    };
    reply.int(count as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_trim_limit_is_never_zero() {
        assert_eq!([0, 1, 100, 50_000].map(usual_limit), [10_000, 100, 10_000, 1_000_000]);
    }
}
