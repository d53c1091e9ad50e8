//! TL.GET TL.POS TL.STAT: return an item of a tagged list, or figures of the list.

use super::conditions::{TaggedOptions, Takes};
use super::{schema, view};
use crate::prelude::*;
use values::tagged::{Shown, Tags};

pub(crate) const COMMANDS: &[CommandSpec] = &[GET, POS, STAT];

const GET: CommandSpec = CommandSpec {
    name: "TL.GET",
    syntax: "key value",
    arity: Arity::Exactly(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Returns the attributes of the first item with a value.",
    answer: "map: hidden, and each attribute; null: there is no such item",
    run: Run::Local(get),
};

const POS: CommandSpec = CommandSpec {
    name: "TL.POS",
    syntax: "key value [VISIBLE | HIDDEN | ALL] [WHERE condition [condition ...]]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Returns the position of the first item with a value among those selected.",
    answer: "int: how many are before it, hidden ones too unless said; null: it is not among them",
    run: Run::Local(pos),
};

const STAT: CommandSpec = CommandSpec {
    name: "TL.STAT",
    syntax: "key",
    arity: Arity::Exactly(2),
    keys: &[KeySpec::one(1, "RO")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(1)",
    since: "bobbin 0.1.0",
    brief: "Returns counts, memory and schema of a tagged list.",
    answer: "map: items, visible, hidden, blocks, bytes, lasting, and its schema as by TL.SCHEMA; null: the key is absent",
    run: Run::Local(stat),
};

fn get(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let Some(list) = view::list(tx, key)? else {
        reply.null();
        return Ok(());
    };
    view::expect_search(tx, &list)?;
    let found: Option<Tags> = list.find(args.get(2)).and_then(|at| list.get(at, |found| found.tags()));
    match found {
        Some(tags) => {
            let schema = view::schema(tx, key, &list, |_| false);
            view::write_tags(reply, &schema, &tags);
        }
        None => reply.null(),
    }
    Ok(())
}

fn pos(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let asked = TaggedOptions::of(args, 3, Takes { shown: true, ..Takes::default() })?;
    let Some(list) = list else {
        reply.null();
        return Ok(());
    };
    view::expect_search(tx, &list)?;
    let schema = view::schema(tx, key, &list, |schema| asked.is_enough(schema));
    let filter = asked.filter(&list, &schema, Shown::All)?;
    let found = list.find(args.get(2));
    let (Some(at), Some(filter)) = (found, filter) else {
        reply.null();
        return Ok(());
    };
    if list.count(at..at + 1, &filter, 1) == Some((0, 0)) {
        reply.null();
        return Ok(());
    }
    let counts = view::count(tx, &list, Some(&filter), 0..at)?;
    reply.int(view::sum(filter.shown, counts) as i64);
    Ok(())
}

fn stat(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let Some(list) = view::list(tx, args.get(1))? else {
        reply.null();
        return Ok(());
    };
    let (visible, hidden) = list.counts();
    let fields = [
        ("items", visible + hidden),
        ("visible", visible),
        ("hidden", hidden),
        ("blocks", list.chunks_count()),
        ("bytes", list.heap_bytes()),
        ("lasting", u64::from(list.is_lasting())),
    ];
    reply.map(fields.len() + 4);
    for (name, number) in fields {
        reply.bulk(name.as_bytes());
        reply.int(number as i64);
    }
    schema::write_fields(reply, list.schema());
    Ok(())
}
