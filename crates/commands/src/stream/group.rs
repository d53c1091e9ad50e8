//! XGROUP CREATE SETID DESTROY CREATECONSUMER DELCONSUMER HELP: manage consumer groups.

use super::{id, no_such_group};
use crate::help::{HELP_FLAGS, help_command, wrong_count};
use crate::prelude::*;
use keyspace::Reader;
use values::Stream;
use values::stream::{Group as GroupState, StreamId};

pub(crate) const COMMANDS: &[CommandSpec] = &[
    CREATE,
    CREATECONSUMER,
    DELCONSUMER,
    DESTROY,
    help_command("XGROUP HELP", Group::Stream, "5.0.0", HELP_FLAGS),
    SETID,
];

const CREATE: CommandSpec = CommandSpec {
    name: "XGROUP CREATE",
    syntax: "key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `ENTRIESREAD`.")]),
        Fact::Arguments(&[
            argument("1", "groupname", "", ""),
            argument("2", "id", "", ""),
            argument("2.1", "new_id", "", ""),
            argument("4", "entries_read", "", ""),
        ]),
    ],
    group: Group::Stream,
    cost: "O(log(n)), n the groups of the stream",
    since: "5.0.0",
    brief: "Creates a group that reads the entries after an id.",
    answer: "OK",
    run: Run::Local(create),
};

const SETID: CommandSpec = CommandSpec {
    name: "XGROUP SETID",
    syntax: "key group <id | $> [ENTRIESREAD entries-read]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(2, "RW UPDATE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Takes `ENTRIESREAD`.")]),
        Fact::Arguments(&[
            argument("1", "groupname", "", ""),
            argument("2", "id", "", ""),
            argument("2.1", "new_id", "", ""),
            argument("3", "entries_read", "", ""),
        ]),
        Fact::Events(&[EventRule { instead_of: "xgroup-create", events: &[(Classes::STREAM, "xgroup-setid")] }]),
    ],
    group: Group::Stream,
    cost: "O(log(n)), n the groups of the stream",
    since: "5.0.0",
    brief: "Sets the id after which a group reads.",
    answer: "OK",
    run: Run::Local(set_id),
};

const DESTROY: CommandSpec = CommandSpec {
    name: "XGROUP DESTROY",
    syntax: "key group",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(2, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("1", "groupname", "", "")])],
    group: Group::Stream,
    cost: "O(n), n what is pending for the group",
    since: "5.0.0",
    brief: "Deletes a group with its consumers and pending entries.",
    answer: "int: 1 if it was there",
    run: Run::Local(destroy),
};

const CREATECONSUMER: CommandSpec = CommandSpec {
    name: "XGROUP CREATECONSUMER",
    syntax: "key group consumer",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(2, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("1", "groupname", "", ""), argument("2", "consumername", "", "")])],
    group: Group::Stream,
    cost: "O(log(n)), n the consumers of the group",
    since: "6.2.0",
    brief: "Creates a consumer of a group.",
    answer: "int: 1 if it was not there",
    run: Run::Local(create_consumer),
};

const DELCONSUMER: CommandSpec = CommandSpec {
    name: "XGROUP DELCONSUMER",
    syntax: "key group consumer",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(2, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Arguments(&[argument("1", "groupname", "", ""), argument("2", "consumername", "", "")])],
    group: Group::Stream,
    cost: "O(n*log(p)), n what the consumer has pending, p what its group has",
    since: "5.0.0",
    brief: "Deletes a consumer with its pending entries.",
    answer: "int: what was pending for it",
    run: Run::Local(delete_consumer),
};

/// Parses MKSTREAM, if `makes` allows it, and ENTRIESREAD.
fn options(args: &Args<'_>, makes: bool) -> Result<(bool, Option<u64>), Failure> {
    let (mut makes_stream, mut entries_read) = (false, None);
    let mut words = args.from(5).iter();
    while let Some(word) = words.next() {
        if makes && parse::is(word, "MKSTREAM") {
            makes_stream = true;
            continue;
        }
        let count = words.next().filter(|_| parse::is(word, "ENTRIESREAD")).ok_or_else(|| wrong_count(args))?;
        entries_read = match parse::int(count)? {
            -1 => None,
            ..-1 => return Err(Failure::text("ERR value for ENTRIESREAD must be positive or -1")),
            count => Some(count as u64),
        };
    }
    Ok((makes_stream, entries_read))
}

/// Returns the stream whose group is to be changed.
fn stream<'t>(tx: &'t mut Tx, args: &Args<'_>) -> Result<&'t Stream, Failure> {
    tx.value::<Stream>(args.get(2))?.ok_or(Failure::text(
        "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM \
         option to create an empty stream automatically.",
    ))
}

fn group(stream: &Stream, args: &Args<'_>) -> Result<GroupState, Failure> {
    let (key, name) = (args.get(2), args.get(3));
    let missing = || no_such_group(key, name);
    stream.group(name).ok_or_else(missing)
}

fn last_id(
    stream: Option<&Stream>,
    text: &[u8],
    other: impl FnOnce(&[u8], u64) -> Result<StreamId, Failure>,
) -> Result<StreamId, Failure> {
    match text {
        b"$" => Ok(stream.map_or(StreamId::MIN, |stream| stream.foot().last_id)),
        text => other(text, 0),
    }
}

fn create(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (makes_stream, entries_read) = options(args, true)?;
    let found = match makes_stream {
        true => tx.value::<Stream>(args.get(2))?,
        false => Some(stream(tx, args)?),
    };
    if args.len() > 8 {
        return Err(wrong_count(args));
    }
    let last_id = last_id(found, args.get(4), id::strict)?;
    if found.is_some_and(|found| found.group(args.get(3)).is_some()) {
        return Err(Failure::text("BUSYGROUP Consumer Group name already exists"));
    }
    let makes_stream = found.is_none();
    let mut stream = tx.stream_mut(args.get(2), Absent::Create)?.expect("made if absent");
    stream.put_group(args.get(3), last_id, entries_read);
    if makes_stream {
        tx.mark_touched(args.get(2));
    }
    reply.ok();
    Ok(())
}

fn set_id(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (_, entries_read) = options(args, false)?;
    let stream = stream(tx, args)?;
    group(stream, args)?;
    if !matches!(args.len(), 5 | 7) {
        return Err(wrong_count(args));
    }
    let last_id = last_id(Some(stream), args.get(4), id::loose)?;
    let mut stream = tx.stream_mut(args.get(2), Absent::Leave)?.expect("just seen");
    stream.put_group(args.get(3), last_id, entries_read);
    reply.ok();
    Ok(())
}

fn destroy(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let is_there = stream(tx, args)?.group(args.get(3)).is_some();
    if is_there {
        tx.stream_mut(args.get(2), Absent::Leave)?.expect("just seen").remove_group(args.get(3));
    }
    reply.int(i64::from(is_there));
    Ok(())
}

fn create_consumer(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (stream, now) = (stream(tx, args)?.clone(), tx.now());
    let is_there = stream.consumer(group(&stream, args)?.number, args.get(4)).is_some();
    drop(stream);
    if !is_there {
        let reader = Reader { group: args.get(3), consumer: args.get(4) };
        tx.stream_mut(args.get(2), Absent::Leave)?.expect("just seen").see_consumer(reader, now, None);
    }
    reply.int(i64::from(!is_there));
    Ok(())
}

fn delete_consumer(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let stream = stream(tx, args)?;
    let number = group(stream, args)?.number;
    let pending = stream.consumer(number, args.get(4)).map(|consumer| stream.owned_count(number, consumer.number));
    tx.expect_work(pending.unwrap_or_default())?;
    if pending.is_some() {
        let reader = Reader { group: args.get(3), consumer: args.get(4) };
        tx.stream_mut(args.get(2), Absent::Leave)?.expect("just seen").remove_consumer(reader);
    }
    reply.int(pending.unwrap_or_default() as i64);
    Ok(())
}
