//! TL.REM TL.REMWHERE TL.REMBY TL.POP: remove items from a tagged list.

use super::conditions::{TaggedOptions, Takes};
use super::insert;
use super::view::{self, PagePart};
use crate::prelude::*;
use blocks::Direction;
use std::ops::Range;
use values::Tagged;
use values::tagged::Shown;

pub(crate) const COMMANDS: &[CommandSpec] = &[REM, REMWHERE, REMBY, POP];

const REM: CommandSpec = CommandSpec {
    name: "TL.REM",
    syntax: "key value [value ...]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::MODULE, "tl.rem"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Tagged,
    cost: "O(m*n), n the items of the list, m the values; of unique values O(m*log(n))",
    since: "bobbin 0.1.0",
    brief: "Removes the first item with each value, hidden or not.",
    answer: "int: items removed",
    run: Run::Local(rem),
};

const REMWHERE: CommandSpec = CommandSpec {
    name: "TL.REMWHERE",
    syntax: "key [VISIBLE | HIDDEN | ALL] WHERE condition [condition ...]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::MODULE, "tl.rem"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Tagged,
    cost: "O(n), n the items of the list in blocks that may have what is asked for",
    since: "bobbin 0.1.0",
    brief: "Removes the items that meet conditions, by default hidden ones too.",
    answer: "int: items removed",
    run: Run::Local(rem_where),
};

const REMBY: CommandSpec = CommandSpec {
    name: "TL.REMBY",
    syntax: "key min max [VISIBLE | HIDDEN | ALL] [WHERE condition [condition ...]]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[EventRule {
        instead_of: "del",
        events: &[(Classes::MODULE, "tl.rem"), (Classes::GENERIC, "del")],
    }])],
    group: Group::Tagged,
    cost: "O(log(n)+m), n the items of the list, m those between the ends",
    since: "bobbin 0.1.0",
    brief: "Removes the items of an ordered tagged list between two bounds.",
    answer: "int: items removed",
    run: Run::Local(rem_by),
};

const POP: CommandSpec = CommandSpec {
    name: "TL.POP",
    syntax: "key <HEAD | TAIL> [COUNT count] [WHERE condition [condition ...]] [WITHATTRS]",
    arity: Arity::AtLeast(3),
    keys: &[KeySpec::one(1, "RW DELETE")],
    access: Access::Write { grows: false },
    flags: &[],
    facts: &[Fact::Events(&[
        EventRule { instead_of: "tl.rem", events: &[(Classes::MODULE, "tl.pop")] },
        EventRule { instead_of: "del", events: &[(Classes::MODULE, "tl.pop"), (Classes::GENERIC, "del")] },
    ])],
    group: Group::Tagged,
    cost: "O(log(n)+m), n the items of the list, m those passed over and taken",
    since: "bobbin 0.1.0",
    brief: "Removes and returns visible items at an end of a tagged list.",
    answer: "bulk: the value; null: there is none. With COUNT: array: values. WITHATTRS: each a value and a map",
    run: Run::Local(pop),
};

fn rem(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let Some(list) = view::list(tx, key)? else {
        reply.int(0);
        return Ok(());
    };
    view::expect_search(tx, &list)?;
    let mut found: Vec<u64> = Vec::new();
    // A value named twice means its first two items: they are removed from a clone one by one.
    let mut left = list.clone();
    for value in args.from(2) {
        if let Some(at) = left.find(value) {
            left.remove_runs([(at, 1)].into_iter());
            found.push(at);
        }
    }
    let runs = runs_of(&found);
    drop((list, left));
    if !runs.is_empty() {
        tx.tagged_mut(key, Absent::Leave)?.expect("just seen").remove_runs(&runs)?;
    }
    reply.int(found.len() as i64);
    Ok(())
}

/// Converts positions of items removed one after another, each at its time, to runs of original positions.
fn runs_of(found: &[u64]) -> Vec<(u64, u64)> {
    let mut gone: Vec<u64> = Vec::new();
    for at in found {
        let mut at = *at;
        for before in &gone {
            at += u64::from(*before <= at);
        }
        let place = gone.partition_point(|before| *before < at);
        gone.insert(place, at);
    }
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for at in gone {
        match runs.last_mut() {
            Some((begin, count)) if *begin + *count == at => *count += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

fn rem_where(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let asked = TaggedOptions::of(args, 2, Takes { shown: true, ..Takes::default() })?;
    if asked.conditions.is_empty() {
        return Err(Failure::Syntax);
    }
    remove(tx, key, list, &asked, |list| Ok(0..list.len()), reply)
}

fn rem_by(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let asked = TaggedOptions::of(args, 4, Takes { shown: true, ..Takes::default() })?;
    remove(tx, key, list, &asked, |list| view::positions(list, args.get(2), args.get(3)), reply)
}

fn remove(
    tx: &mut Tx,
    key: &[u8],
    list: Option<Tagged>,
    asked: &TaggedOptions<'_>,
    positions: impl FnOnce(&Tagged) -> Result<Range<u64>, Failure>,
    reply: &mut dyn Reply,
) -> Outcome {
    let Some(list) = list else {
        reply.int(0);
        return Ok(());
    };
    let schema = view::schema(tx, key, &list, |schema| asked.is_enough(schema));
    let filter = asked.filter(&list, &schema, Shown::All)?;
    let positions = positions(&list)?;
    let part = PagePart { positions, direction: Direction::Forward, skip: 0, count: u64::MAX, with_tags: false };
    let page = view::page(tx, &list, filter.as_ref(), &part)?;
    let (runs, count) = (page.runs(), page.len());
    drop((page, list));
    if count > 0 {
        tx.tagged_mut(key, Absent::Leave)?.expect("just seen").remove_runs(&runs)?;
    }
    reply.int(count as i64);
    Ok(())
}

fn pop(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let direction = if insert::end(args.get(2))? == 0 { Direction::Forward } else { Direction::Backward };
    let asked = TaggedOptions::of(args, 3, Takes { count: true, attributes: true, ..Takes::default() })?;
    let Some(list) = list else {
        match asked.count {
            Some(_) => reply.array(0),
            None => reply.null(),
        }
        return Ok(());
    };
    let schema = view::schema(tx, key, &list, |schema| asked.is_enough(schema));
    let filter = asked.filter(&list, &schema, Shown::Visible)?;
    let count = asked.count.unwrap_or(1);
    let part = PagePart { positions: 0..list.len(), direction, skip: 0, count, with_tags: asked.with_attributes };
    let page = view::page(tx, &list, filter.as_ref(), &part)?;
    drop(list);
    if page.len() > 0 {
        tx.tagged_mut(key, Absent::Leave)?.expect("just seen").remove_runs(&page.runs())?;
    }
    if asked.count.is_some() {
        view::write_page(reply, &schema, &page);
        return Ok(());
    }
    match page.iter().next() {
        None => reply.null(),
        Some((value, tags)) => view::write_item(reply, &schema, value, tags),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::runs_of;

    #[test]
    fn indices_of_successive_removals_are_mapped_to_the_original_list() {
        let mut dice = 5u64;
        for _ in 0..2000 {
            let (mut left, mut found): (Vec<u64>, Vec<u64>) = ((0..12).collect(), Vec::new());
            let mut gone = Vec::new();
            for _ in 0..dice % 12 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = (dice >> 40) % left.len() as u64;
                found.push(at);
                gone.push(left.remove(at as usize));
            }
            gone.sort_unstable();
            let runs = runs_of(&found);
            let again: Vec<u64> = runs.iter().flat_map(|(begin, count)| *begin..begin + count).collect();
            assert_eq!(again, gone);
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 1;
        }
    }
}
