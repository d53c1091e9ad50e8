//! SETBIT GETBIT: a single bit of a string.

use super::{offset, window};
use crate::prelude::*;
use values::string::parse_int;

pub(crate) const COMMANDS: &[CommandSpec] = &[SETBIT, GETBIT];

const SETBIT: CommandSpec = CommandSpec {
    name: "SETBIT",
    syntax: "key offset value",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::Arguments(&[argument("2", "", "integer", "")]),
        Fact::Events(&[EventRule { instead_of: "setrange", events: &[(Classes::STRING, "setbit")] }]),
    ],
    group: Group::Bitmap,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Sets or clears a bit of a string, extending it with zeros if needed.",
    answer: "int: the bit as it was",
    run: Run::Local(setbit),
};

const GETBIT: CommandSpec = CommandSpec {
    name: "GETBIT",
    syntax: "key offset",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[Flag::Fast],
    facts: &[],
    group: Group::Bitmap,
    cost: "O(1)",
    since: "2.2.0",
    brief: "Returns a bit of a string.",
    answer: "int: 0 or 1; 0 beyond the end",
    run: Run::Local(|tx, args, reply| {
        let offset = offset(args.get(2), None)?;
        let [byte, ..] = window(tx.string(args.get(1))?, (offset / 8) as usize);
        reply.int(i64::from(byte >> (7 - offset % 8) & 1));
        Ok(())
    }),
};

fn setbit(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let offset = offset(args.get(2), None)?;
    let bit = match parse_int(args.get(3)) {
        Some(bit @ (0 | 1)) => bit as u8,
        _ => return Err(Failure::text("ERR bit is not an integer or out of range")),
    };
    let mut text = tx.string_mut(args.get(1), Absent::Create)?.expect("is to be made");
    let (at, shift) = ((offset / 8) as usize, 7 - offset % 8);
    if !text.has_memory_for(at + 1) {
        return Err(Failure::OutOfMemory);
    }
    let [before, ..] = window(text.string(), at);
    let after = before & !(1 << shift) | bit << shift;
    // Setting a bit to its current value changes nothing, but for the zeros up to it.
    if after != before || text.bytes_count() <= at {
        text.overwrite(at, &[after]);
    }
    reply.int(i64::from(before >> shift & 1));
    Ok(())
}
