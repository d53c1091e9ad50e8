//! TL.COUNT TL.COUNTBY: count the visible and hidden items of a tagged list.

use super::conditions::{TaggedOptions, Takes};
use super::view;
use crate::prelude::*;
use std::ops::Range;
use values::Tagged;
use values::tagged::Shown;

pub(crate) const COMMANDS: &[CommandSpec] = &[COUNT, COUNTBY];

const COUNT: CommandSpec = CommandSpec {
    name: "TL.COUNT",
    syntax: "key [WHERE condition [condition ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(1); with conditions O(n), n the items in blocks that may have what is asked for, 64 at a time",
    since: "bobbin 0.1.0",
    brief: "Counts the items of a tagged list that meet conditions.",
    answer: "array: how many are visible, how many are hidden",
    run: Run::Local(|tx, args, reply| {
        let list = view::list(tx, args.get(1))?;
        count(tx, args, list, 2, |list| Ok(0..list.len()), reply)
    }),
};

const COUNTBY: CommandSpec = CommandSpec {
    name: "TL.COUNTBY",
    syntax: "key min max [WHERE condition [condition ...]]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(log(n)); with conditions O(m), m the items between the ends",
    since: "bobbin 0.1.0",
    brief: "Counts the items of an ordered tagged list between two bounds.",
    answer: "array: how many are visible, how many are hidden",
    run: Run::Local(|tx, args, reply| {
        let list = view::list(tx, args.get(1))?;
        count(tx, args, list, 4, |list| view::positions(list, args.get(2), args.get(3)), reply)
    }),
};

fn count(
    tx: &mut Tx,
    args: &Args,
    list: Option<Tagged>,
    at: usize,
    positions: impl FnOnce(&Tagged) -> Result<Range<u64>, Failure>,
    reply: &mut dyn Reply,
) -> Outcome {
    let asked = TaggedOptions::of(args, at, Takes::default())?;
    let (mut visible, mut hidden) = (0, 0);
    if let Some(list) = list {
        let schema = view::schema(tx, args.get(1), &list, |schema| asked.is_enough(schema));
        let filter = asked.filter(&list, &schema, Shown::All)?;
        (visible, hidden) = view::count(tx, &list, filter.as_ref(), positions(&list)?)?;
    }
    reply.array(2);
    reply.int(visible as i64);
    reply.int(hidden as i64);
    Ok(())
}
