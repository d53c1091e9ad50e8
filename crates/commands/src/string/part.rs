//! APPEND STRLEN GETRANGE SUBSTR SETRANGE: parts of a string.

use super::write_part;
use crate::prelude::*;
use base::limits::BULK_BYTES_MAX;
use std::ops::Range;

pub(crate) const COMMANDS: &[CommandSpec] = &[APPEND, STRLEN, GETRANGE, SUBSTR, SETRANGE];

const APPEND: CommandSpec = CommandSpec {
    name: "APPEND",
    syntax: "key value",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "set", events: &[(Classes::STRING, "append")] }])],
    group: Group::String,
    cost: "O(n), n the bytes put",
    since: "2.0.0",
    brief: "Appends bytes to a string, creating it if absent.",
    answer: "int: the length after that, in bytes",
    run: Run::Local(append),
};

const STRLEN: CommandSpec = CommandSpec {
    name: "STRLEN",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::String,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Returns the length of a string.",
    answer: "int: bytes; 0 if the key is absent",
    run: Run::Local(|tx, args, reply| {
        let length = tx.string(args.get(1))?.map_or(0, |text| text.bytes_count());
        reply.int(length as i64);
        Ok(())
    }),
};

const GETRANGE: CommandSpec = CommandSpec {
    name: "GETRANGE",
    syntax: "key start end",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::String,
    cost: "O(n), n the bytes told",
    since: "2.4.0",
    brief: "Returns part of a string, both bounds included.",
    answer: "bulk: the part; empty if there is none",
    run: Run::Local(getrange),
};

const SUBSTR: CommandSpec = CommandSpec {
    name: "SUBSTR",
    syntax: "key start end",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Deprecated { since: "2.0.0", replaced_by: "`GETRANGE`" }],
    group: Group::String,
    cost: "O(n), n the bytes told",
    since: "1.0.0",
    brief: "Returns part of a string: the old name of GETRANGE.",
    answer: "bulk: the part; empty if there is none",
    run: Run::Local(getrange),
};

const SETRANGE: CommandSpec = CommandSpec {
    name: "SETRANGE",
    syntax: "key offset value",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[],
    group: Group::String,
    cost: "O(n), n the bytes written",
    since: "2.2.0",
    brief: "Overwrites part of a string from an offset on, padding with zeros.",
    answer: "int: the length after that, in bytes",
    run: Run::Local(setrange),
};

fn append(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, more) = (args.get(1), args.get(2));
    let bytes_count = match tx.string_mut(key, Absent::Leave)? {
        Some(mut text) => {
            let bytes_count = checked_bytes(text.bytes_count(), more.len())?;
            text.append(more);
            bytes_count
        }
        None => {
            tx.put_string(key, more, Expiry::Clear);
            more.len()
        }
    };
    reply.int(bytes_count as i64);
    Ok(())
}

fn setrange(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let offset = parse::int(args.get(2))?;
    let offset = usize::try_from(offset).map_err(|_| Failure::text("ERR offset is out of range"))?;
    let value = args.get(3);
    let mut text = tx.string_mut(args.get(1), Absent::Create)?.expect("is to be made");
    let before = text.bytes_count();
    if value.is_empty() {
        reply.int(before as i64);
        return Ok(());
    }
    let end = checked_bytes(offset, value.len())?;
    if !text.has_memory_for(end) {
        return Err(Failure::OutOfMemory);
    }
    text.overwrite(offset, value);
    reply.int(before.max(end) as i64);
    Ok(())
}

/// Returns the sum, if a string may be that long.
fn checked_bytes(bytes_count: usize, more: usize) -> Result<usize, Failure> {
    let sum = bytes_count.checked_add(more).filter(|sum| *sum <= BULK_BYTES_MAX);
    sum.ok_or(Failure::text("ERR string exceeds maximum allowed size (proto-max-bulk-len)"))
}

fn getrange(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (start, end) = (parse::int(args.get(2))?, parse::int(args.get(3))?);
    let keyspace = tx.keyspace();
    let Some(text) = tx.string(args.get(1))? else {
        reply.bulk(b"");
        return Ok(());
    };
    write_part(reply, text, offsets(start, end, text.bytes_count()), || keyspace.pin(args.get(1)));
    Ok(())
}

/// Resolves offsets from either end to a range. Unlike a list's, an end before the beginning means the first byte.
fn offsets(start: i64, end: i64, len: usize) -> Range<usize> {
    if len == 0 || (start < 0 && end < 0 && start > end) {
        return 0..0;
    }
    let from_end = |offset: i64| if offset < 0 { offset.saturating_add(len as i64).max(0) } else { offset };
    let (start, end) = (from_end(start), from_end(end).min(len as i64 - 1));
    if start > end { 0..0 } else { start as usize..end as usize + 1 }
}
