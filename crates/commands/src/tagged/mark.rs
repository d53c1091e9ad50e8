//! TL.SET TL.INCR TL.HIDE TL.SHOW: change the tags of items in a tagged list.

use super::conditions::assign;
use super::{fault, view};
use crate::prelude::*;
use keyspace::TaggedMut;
use std::sync::Arc;
use values::Tagged;
use values::tagged::{By, Schema, Tags};

pub(crate) const COMMANDS: &[CommandSpec] = &[SET, INCR, HIDE, SHOW];

const SET: CommandSpec = CommandSpec {
    name: "TL.SET",
    syntax: "key value name=n [name=n ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "tl.move", events: &[] }])],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Sets some attributes of the first item with a value.",
    answer: "int: 1: it was done; 0: there is no such item",
    run: Run::Local(set),
};

const INCR: CommandSpec = CommandSpec {
    name: "TL.INCR",
    syntax: "key value name by",
    arity: Arity::Exactly(5),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "tl.set", events: &[(Classes::MODULE, "tl.incr")] },
        EventRule { instead_of: "tl.move", events: &[] },
    ])],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Increments an attribute of the first item with a value.",
    answer: "int: what it is then; null: there is no such item; error: the attribute cannot hold that",
    run: Run::Local(incr),
};

const HIDE: CommandSpec = CommandSpec {
    name: "TL.HIDE",
    syntax: "key value [value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "tl.set", events: &[(Classes::MODULE, "tl.hide")] }])],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Hides the first item with each value, in place.",
    answer: "int: items that were visible",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, true)),
};

const SHOW: CommandSpec = CommandSpec {
    name: "TL.SHOW",
    syntax: "key value [value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW UPDATE")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[Fact::Events(&[EventRule { instead_of: "tl.set", events: &[(Classes::MODULE, "tl.show")] }])],
    group: Group::Tagged,
    cost: "O(n), n the items of the list; of unique values O(log(n))",
    since: "bobbin 0.1.0",
    brief: "Unhides the first item with each value, in place.",
    answer: "int: items that were hidden",
    run: Run::Local(|tx, args, reply| show(tx, args, reply, false)),
};

/// A found item, and its position with other tags.
struct Marked {
    schema: Arc<Schema>,
    at: u64,
    tags: Tags,
    to: u64,
}

/// Finds the first item with a value, with its tags changed by `change`; `None` if there is none.
fn marked(
    tx: &mut Tx,
    key: &[u8],
    value: &[u8],
    is_enough: impl FnOnce(&Schema) -> bool,
    change: impl FnOnce(&Schema, &mut Tags) -> Result<(), Failure>,
) -> Result<Option<Marked>, Failure> {
    let Some(list) = view::list(tx, key)? else { return Ok(None) };
    view::expect_search(tx, &list)?;
    let schema = view::schema(tx, key, &list, is_enough);
    view::expect_growth(tx, &list, &schema)?;
    let found = list.find(value).and_then(|at| Some((at, list.get(at, |found| found.tags())?)));
    let mut tags = found.as_ref().map(|(_, tags)| tags.clone()).unwrap_or_default();
    tags.attributes.resize(schema.attributes().len(), 0);
    let before = tags.attributes.clone();
    change(&schema, &mut tags)?;
    let Some((at, _)) = found else { return Ok(None) };
    let mut to = at;
    if let By::Attribute(number) = schema.by()
        && tags.attributes[number] != before[number]
    {
        let rank = schema.rank(value, |number| tags.attributes[number]).expect("it is ordered");
        let place = view::place(&list, &schema, &rank);
        to = if at < place { place - 1 } else { place };
    }
    Ok(Some(Marked { schema, at, tags, to }))
}

fn put(tx: &mut Tx, key: &[u8], marked: &Marked) -> Result<(), Failure> {
    let mut list = tx.tagged_mut(key, Absent::Leave)?.expect("just seen");
    if marked.to == marked.at {
        list.put(&marked.schema, marked.at, &marked.tags)?;
    } else {
        list.put_and_move(&marked.schema, (marked.at, marked.to), &marked.tags)?;
    }
    Ok(())
}

fn set(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, words) = (args.get(1), args.from(3).iter().collect::<Vec<_>>());
    let is_enough = |schema: &Schema| {
        words.iter().all(|word| schema.attribute(word.split(|sign| *sign == b'=').next().unwrap_or_default()).is_some())
    };
    let marked = marked(tx, key, args.get(2), is_enough, |schema, tags| assign(&mut tags.attributes, &words, schema))?;
    if let Some(marked) = &marked {
        put(tx, key, marked)?;
    }
    reply.int(i64::from(marked.is_some()));
    Ok(())
}

fn incr(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let (key, name) = (args.get(1), args.get(3));
    tx.value::<Tagged>(key)?;
    let (by, mut after) = (parse::int(args.get(4))?, 0);
    let marked = marked(
        tx,
        key,
        args.get(2),
        |schema| schema.attribute(name).is_some(),
        |schema, tags| {
            let attribute = schema.attribute(name).ok_or_else(|| fault::no_attribute(name))?;
            let number = i64::from(tags.attributes[attribute]).checked_add(by);
            let number = number.and_then(|number| u32::try_from(number).ok());
            let number = number.filter(|number| *number <= schema.attributes()[attribute].max());
            after = number.ok_or_else(|| fault::too_large(schema, attribute))?;
            tags.attributes[attribute] = after;
            Ok(())
        },
    );
    // An error in the sum for a missing item is ignored.
    let marked = match marked {
        Err(Failure::Text(_)) if !is_there(tx, key, args.get(2))? => None,
        marked => marked?,
    };
    match &marked {
        Some(marked) => {
            put(tx, key, marked)?;
            reply.int(i64::from(after));
        }
        None => reply.null(),
    }
    Ok(())
}

fn is_there(tx: &mut Tx, key: &[u8], value: &[u8]) -> Result<bool, Failure> {
    Ok(view::list(tx, key)?.is_some_and(|list| list.find(value).is_some()))
}

fn show(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, hides: bool) -> Outcome {
    let key = args.get(1);
    let Some(list) = view::list(tx, key)? else {
        reply.int(0);
        return Ok(());
    };
    view::expect_search(tx, &list)?;
    let schema = list.schema().clone();
    let mut changes: Vec<(u64, Tags)> = Vec::new();
    for value in args.from(2) {
        let Some(at) = list.find(value) else { continue };
        let mut tags = list.get(at, |found| found.tags()).expect("just found");
        if tags.is_hidden != hides && changes.iter().all(|(other, _)| *other != at) {
            tags.is_hidden = hides;
            changes.push((at, tags));
        }
    }
    drop(list);
    tx.need_room(changes.len() as u64 * TaggedMut::room(&schema, key, 0))?;
    let mut list = tx.tagged_mut(key, Absent::Leave)?.expect("just seen");
    for (at, tags) in &changes {
        list.put(&schema, *at, tags)?;
    }
    reply.int(changes.len() as i64);
    Ok(())
}
