//! INCR DECR INCRBY DECRBY INCRBYFLOAT: strings that are numbers.

use crate::decimal::Decimal;
use crate::prelude::*;
use values::string::{DIGITS_MAX, format_int, parse_int};

pub(crate) const COMMANDS: &[CommandSpec] = &[INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT];

const INCR: CommandSpec = CommandSpec {
    name: "INCR",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "set", events: &[(Classes::STRING, "incrby")] }])],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Increments the integer of a key by one, starting from 0 if absent.",
    answer: "int: the sum",
    run: Run::Local(|tx, args, reply| add(tx, args.get(1), 1, reply)),
};

const DECR: CommandSpec = CommandSpec {
    name: "DECR",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "set", events: &[(Classes::STRING, "incrby")] }])],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Decrements the integer of a key by one, starting from 0 if absent.",
    answer: "int: the sum",
    run: Run::Local(|tx, args, reply| add(tx, args.get(1), -1, reply)),
};

const INCRBY: CommandSpec = CommandSpec {
    name: "INCRBY",
    syntax: "key increment",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "set", events: &[(Classes::STRING, "incrby")] }])],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Increments the integer of a key by a number, from 0 if absent.",
    answer: "int: the sum",
    run: Run::Local(|tx, args, reply| add(tx, args.get(1), parse::int(args.get(2))?, reply)),
};

const DECRBY: CommandSpec = CommandSpec {
    name: "DECRBY",
    syntax: "key decrement",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "set", events: &[(Classes::STRING, "incrby")] }])],
    group: Group::String,
    cost: "O(1)",
    since: "1.0.0",
    brief: "Decrements the integer of a key by a number, from 0 if absent.",
    answer: "int: the sum",
    run: Run::Local(|tx, args, reply| {
        let by = parse::int(args.get(2))?.checked_neg().ok_or(Failure::text("ERR decrement would overflow"))?;
        add(tx, args.get(1), by, reply)
    }),
};

const INCRBYFLOAT: CommandSpec = CommandSpec {
    name: "INCRBYFLOAT",
    syntax: "key increment",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Arguments(&[argument("1", "", "double", "")]),
        Fact::Events(&[
            EventRule { instead_of: "set", events: &[(Classes::STRING, "incrbyfloat")] },
            EventRule { instead_of: "setrange", events: &[] },
        ]),
    ],
    group: Group::String,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Increments the decimal number of a key, from 0 if absent.",
    answer: "bulk: the sum",
    run: Run::Local(add_decimal),
};

fn add(tx: &mut Tx, key: &[u8], by: i64, reply: &mut dyn Reply) -> Outcome {
    let mut text = tx.string_mut(key, Absent::Create)?.expect("is to be made");
    let before = text.string().map_or(Some(0), |text| text.int()).ok_or(Failure::NotAnInteger)?;
    let sum = before.checked_add(by).ok_or(Failure::text("ERR increment or decrement would overflow"))?;
    text.replace(format_int(sum, &mut [0; DIGITS_MAX]));
    reply.int(sum);
    Ok(())
}

fn add_decimal(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let number = |text: &[u8]| Decimal::parse(text).ok_or(Failure::NotAFloat);
    let before = match tx.string(key)? {
        // A long string is longer than any number.
        Some(text) => number(text.short(&mut [0; DIGITS_MAX]).ok_or(Failure::NotAFloat)?)?,
        None => number(b"0")?,
    };
    let sum = before.sum(&number(args.get(2))?);
    let sum = sum.ok_or(Failure::text("ERR increment would produce NaN or Infinity"))?;
    // `1e4000` prints as 4,001 digits.
    tx.need_room((3 * key.len() + sum.len() + 128) as u64)?;
    let mut text = tx.string_mut(key, Absent::Create)?.expect("is to be made");
    text.replace(sum.as_bytes());
    if parse_int(sum.as_bytes()).is_some() {
        // Overwritten bytes stay bytes: OBJECT ENCODING does not report int, as in Redis.
        text.overwrite(0, b"");
    }
    reply.bulk(sum.as_bytes());
    Ok(())
}
