//! XDEL XSETID: take entries away, and say what a stream knows of ids.

use super::id;
use crate::prelude::*;
use kinds::Stream;
use kinds::stream::{Foot, StreamId};

pub(crate) const COMMANDS: &[Command] = &[XDEL, XSETID];

const XDEL: Command = Command {
    name: "XDEL",
    syntax: "key id [id ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[Flag::Fast],
    group: Group::Stream,
    cost: "O(m*log(n)), m the ids given, n the entries of the stream",
    since: "5.0.0",
    brief: "Removes entries.",
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

const XSETID: Command = Command {
    name: "XSETID",
    syntax: "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]",
    access: Access::Write { grows: true },
    keys: &[KeySpec::one(1, "RW UPDATE")],
    cost: "O(1)",
    brief: "Says what the last id of a stream is.",
    answer: "OK",
    run: Run::Local(xsetid),
    ..XDEL
};

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
