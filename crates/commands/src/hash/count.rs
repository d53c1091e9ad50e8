//! HINCRBY HINCRBYFLOAT: fields whose values are numbers.

use crate::decimal::Decimal;
use crate::prelude::*;
use keyspace::FieldExpiry;
use values::hash::FieldPlace;
use values::string::{DIGITS_MAX, format_int, parse_int};

pub(crate) const COMMANDS: &[CommandSpec] = &[HINCRBY, HINCRBYFLOAT];

const HINCRBY: CommandSpec = CommandSpec {
    name: "HINCRBY",
    syntax: "key field increment",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[Fact::Events(&[EventRule { instead_of: "hset", events: &[(Classes::HASH, "hincrby")] }])],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.0.0",
    brief: "Increments the integer of a field by a number, from 0 if absent.",
    answer: "int: the sum",
    run: Run::Local(add),
};

const HINCRBYFLOAT: CommandSpec = CommandSpec {
    name: "HINCRBYFLOAT",
    syntax: "key field increment",
    arity: Arity::Exactly(4),
    keys: &[KeySpec::one(1, "RW ACCESS UPDATE")],
    access: Access::Write { grows: true },
    flags: &[Flag::Fast],
    facts: &[
        Fact::Arguments(&[argument("2", "", "double", "")]),
        Fact::Events(&[EventRule { instead_of: "hset", events: &[(Classes::HASH, "hincrbyfloat")] }]),
    ],
    group: Group::Hash,
    cost: "O(1)",
    since: "2.6.0",
    brief: "Increments the decimal number of a field, from 0 if absent.",
    answer: "bulk: the sum",
    run: Run::Local(add_decimal),
};

fn add(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (now, field, by) = (tx.now(), args.get(2), parse::int(args.get(3))?);
    let mut hash = tx.hash_mut(args.get(1), Absent::Create)?.expect("is to be made");
    let (place, before) = found(hash.hash().map(|hash| hash.find(field, now, |pair| parse_int(pair.value))));
    let before = before.unwrap_or(Some(0)).ok_or(Failure::text("ERR hash value is not an integer"))?;
    let sum = before.checked_add(by).ok_or(Failure::text("ERR increment or decrement would overflow"))?;
    hash.put_found(&[field, format_int(sum, &mut [0; DIGITS_MAX])], FieldExpiry::Keep, place.as_ref())?;
    reply.int(sum);
    Ok(())
}

/// Splits the result of a search in a hash that may be absent.
fn found<R>(found: Option<(FieldPlace, Option<R>)>) -> (Option<FieldPlace>, Option<R>) {
    found.map_or((None, None), |(place, seen)| (Some(place), seen))
}

fn add_decimal(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (now, field) = (tx.now(), args.get(2));
    let by = Decimal::parse(args.get(3)).ok_or(Failure::NotAFloat)?;
    if by == Decimal::Infinite {
        return Err(Failure::text("ERR value is NaN or Infinity"));
    }
    let mut hash = tx.hash_mut(args.get(1), Absent::Create)?.expect("is to be made");
    let (place, before) = found(hash.hash().map(|hash| hash.find(field, now, |pair| Decimal::parse(pair.value))));
    let before = before.unwrap_or(Decimal::parse(b"0")).ok_or(Failure::text("ERR hash value is not a float"))?;
    let sum = before.sum(&by).ok_or(Failure::text("ERR increment would produce NaN or Infinity"))?;
    hash.put_found(&[field, sum.as_bytes()], FieldExpiry::Keep, place.as_ref())?;
    reply.bulk(sum.as_bytes());
    Ok(())
}
