//! BITOP: combines the bits of several strings.
//!
//! For long strings it runs without locks: the handler asks its tx, which is abandoned, and the command reruns with the
//! result.

use crate::prelude::*;
use keyspace::Whole;
use values::bits::BitOperation;
use values::{LongString, Value, string};

pub(crate) const COMMANDS: &[CommandSpec] = &[BITOP];

const BITOP: CommandSpec = CommandSpec {
    name: "BITOP",
    syntax: "<AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE> destkey key [key ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(2, "OW UPDATE"), KeySpec::many(3, -1, 1, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("0", "operation", "", "")]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::STRING, "set")] }]),
    ],
    group: Group::Bitmap,
    cost: "O(n), n the bytes of all strings",
    since: "2.6.0",
    brief: "Combines strings bit by bit and stores the result.",
    answer: "int: its length in bytes; 0: all were empty, and the key is removed",
    run: Run::Local(bitop),
};

const OPERATIONS: &[(&str, BitOperation)] = &[
    ("AND", BitOperation::And),
    ("OR", BitOperation::Or),
    ("XOR", BitOperation::Xor),
    ("NOT", BitOperation::Not),
    ("DIFF", BitOperation::Diff),
    ("DIFF1", BitOperation::Diff1),
    ("ANDOR", BitOperation::AndOr),
    ("ONE", BitOperation::One),
];

fn bitop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let operation = operation(args)?;
    let key = args.get(2);
    let sources = args
        .from(3)
        .iter()
        .map(|source| Ok(tx.string(source)?.map_or_else(LongString::default, |string| string.to_long())));
    let sources = sources.collect::<Result<Vec<_>, Failure>>()?;
    let result = tx.mix(key, operation, sources)?;
    let bytes_count = result.bytes_count();
    if bytes_count == 0 {
        tx.remove(key);
    } else if bytes_count > string::INLINE_BYTES_MAX {
        let whole = Whole::plain(Value::Text(result), None);
        tx.put_whole(tx.database(), key, &whole)?;
    } else {
        tx.need_room((bytes_count + key.len() + 128) as u64)?;
        tx.put_string(key, &result.to_vec(0..bytes_count), Expiry::Clear);
    }
    reply.int(bytes_count as i64);
    Ok(())
}

fn operation(args: &Args) -> Result<BitOperation, Failure> {
    let known = OPERATIONS.iter().find(|(name, _)| parse::is(args.get(1), name));
    let &(name, operation) = known.ok_or(Failure::Syntax)?;
    let sources_count = args.len() - 3;
    match operation {
        BitOperation::Not if sources_count != 1 => {
            Err(Failure::text("ERR BITOP NOT must be called with a single source key."))
        }
        BitOperation::Diff | BitOperation::Diff1 | BitOperation::AndOr if sources_count < 2 => {
            Err(Failure::text(format!("ERR BITOP {name} must be called with at least two source keys.")))
        }
        _ => Ok(operation),
    }
}
