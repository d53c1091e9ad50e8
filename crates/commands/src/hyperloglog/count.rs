//! PFADD PFCOUNT PFMERGE: estimate the number of distinct elements.

use super::{check, corrupt, read, write};
use crate::prelude::*;
use keyspace::Classes;
use values::StringValue;
use values::hyperloglog::{CACHE_AT, Encoding, HEAD_BYTES, HyperLogLog, Mark, Registers, raised_dense};
use values::limits::HLL_SPARSE_BYTES;

pub(crate) const COMMANDS: &[CommandSpec] = &[PFADD, PFCOUNT, PFMERGE];

const PFADD: CommandSpec = CommandSpec {
    name: "PFADD",
    syntax: "key [element [element ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW INSERT")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "set", events: &[(Classes::STRING, "pfadd")] },
        EventRule { instead_of: "append", events: &[(Classes::STRING, "pfadd")] },
        EventRule { instead_of: "setrange", events: &[(Classes::STRING, "pfadd")] },
    ])],
    group: Group::HyperLogLog,
    cost: "O(n), n the elements",
    since: "2.8.9",
    brief: "Adds elements to a HyperLogLog, creating it if absent.",
    answer: "int: 1 if it was made or its estimate may have changed, else 0",
    run: Run::Local(pfadd),
};

const PFCOUNT: CommandSpec = CommandSpec {
    name: "PFCOUNT",
    syntax: "key [key ...]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::many(1, -1, 1, "RW ACCESS").noted("Writes the count that it has made into the value.")],
    access: Access::Write { grows: false },
    flags: &[Flag::ReportedAsReader],
    facts: &[Fact::Reads(CountedReads::Named), Fact::Events(&[EventRule { instead_of: "setrange", events: &[] }])],
    group: Group::HyperLogLog,
    cost: "O(n), n the keys",
    since: "2.8.9",
    brief: "Estimates the number of distinct elements of HyperLogLogs.",
    answer: "int: how many; a single one keeps it",
    run: Run::Local(pfcount),
};

const PFMERGE: CommandSpec = CommandSpec {
    name: "PFMERGE",
    syntax: "destkey [sourcekey [sourcekey ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RW ACCESS INSERT"), KeySpec::many(2, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Reads(CountedReads::Named),
        Fact::Events(&[
            EventRule { instead_of: "set", events: &[(Classes::STRING, "pfadd")] },
            EventRule { instead_of: "append", events: &[(Classes::STRING, "pfadd")] },
            EventRule { instead_of: "setrange", events: &[(Classes::STRING, "pfadd")] },
        ]),
    ],
    group: Group::HyperLogLog,
    cost: "O(n), n the keys",
    since: "2.8.9",
    brief: "Merges HyperLogLogs into one.",
    answer: "simple: OK",
    run: Run::Local(pfmerge),
};

/// Up to this many elements are added to a dense one by an effect each.
const SINGLE_EFFECTS_MAX: usize = 16;

fn pfadd(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, elements) = (args.get(1), args.from(2));
    if let Some(StringValue::Bytes(bytes)) = tx.string(key)?
        && HyperLogLog::encoding_of(bytes, bytes.len()) == Some(Encoding::Dense)
        && elements.len() <= SINGLE_EFFECTS_MAX
    {
        return add_to_dense(tx, key, &elements, reply);
    }
    let before = read(tx, key)?;
    let mut after = before.clone().unwrap_or_default();
    let mut is_changed = before.is_none();
    let sparse_bytes_max = HLL_SPARSE_BYTES.get();
    for element in elements {
        is_changed |= after.add(Mark::of(element), sparse_bytes_max).map_err(corrupt)?;
    }
    if is_changed {
        after.make_stale();
    }
    write(tx, key, before.as_ref(), &after)?;
    reply.int(i64::from(is_changed));
    Ok(())
}

/// Avoids copying twelve kilobytes.
fn add_to_dense(tx: &mut Tx, key: &[u8], elements: &Args, reply: &mut dyn Reply) -> Outcome {
    tx.need_room(((elements.len() + 2) * (key.len() + 64)) as u64)?;
    let mut text = tx.string_mut(key, Absent::Leave)?.expect("just seen");
    let mut is_changed = false;
    for element in elements.iter() {
        let Some(StringValue::Bytes(bytes)) = text.string() else { unreachable!("it stays as it is") };
        if let Some((at, pair)) = raised_dense(bytes, Mark::of(element)) {
            text.overwrite(at, &pair);
            is_changed = true;
        }
    }
    if is_changed {
        let Some(StringValue::Bytes(bytes)) = text.string() else { unreachable!("it stays as it is") };
        let last = bytes[HEAD_BYTES - 1];
        if last & 0x80 == 0 {
            text.overwrite(HEAD_BYTES - 1, &[last | 0x80]);
        }
    }
    reply.int(i64::from(is_changed));
    Ok(())
}

fn pfcount(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    if args.len() > 2 {
        let registers = merged(tx, args.from(1))?.0;
        reply.int(registers.count() as i64);
        return Ok(());
    }
    let key = args.get(1);
    let count = match tx.string(key)? {
        None => 0,
        Some(text) => match cached(text)? {
            Some(count) => count,
            None => {
                let count = read(tx, key)?.expect("just seen").count().map_err(corrupt)?;
                // So that it can be returned again without reading the registers.
                tx.need_room((3 * key.len() + 128) as u64)?;
                let mut text = tx.string_mut(key, Absent::Leave)?.expect("just seen");
                text.overwrite(CACHE_AT, &count.to_le_bytes());
                count
            }
        },
    };
    reply.int(count as i64);
    Ok(())
}

/// Returns its cached count, if still valid.
fn cached(text: StringValue<'_>) -> Result<Option<u64>, Failure> {
    check(text)?;
    let mut head = [0; HEAD_BYTES];
    match text {
        StringValue::Long(long) => head.copy_from_slice(&long.to_vec(0..HEAD_BYTES)),
        StringValue::Bytes(bytes) => head.copy_from_slice(&bytes[..HEAD_BYTES]),
        StringValue::Int(_) => unreachable!("no number begins as a HyperLogLog does"),
    }
    Ok(values::hyperloglog::cached(&head))
}

/// Merges those under `keys`. Returns the registers, and whether one of the sources is dense.
fn merged(tx: &mut Tx, keys: Args) -> Result<(Registers, bool), Failure> {
    let mut registers = Registers::default();
    let mut is_dense = false;
    for key in keys {
        if let Some(one) = read(tx, key)? {
            is_dense |= one.encoding() == Encoding::Dense;
            one.merge_into(&mut registers).map_err(corrupt)?;
        }
    }
    Ok((registers, is_dense))
}

fn pfmerge(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let (registers, is_dense) = merged(tx, args.from(1))?;
    let before = read(tx, key)?;
    let mut after = registers.encode(is_dense, HLL_SPARSE_BYTES.get());
    before.iter().for_each(|before| after.keep_head_of(before));
    after.make_stale();
    if before.as_ref().is_some_and(|before| before.as_bytes() == after.as_bytes()) {
        // Redis notifies even so.
        tx.note_touched(key, Classes::STRING, "pfadd");
    } else {
        write(tx, key, before.as_ref(), &after)?;
    }
    reply.ok();
    Ok(())
}
