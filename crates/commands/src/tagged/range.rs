//! TL.RANGE TL.RANGEBY: pages of a tagged list.

use super::conditions::{TaggedOptions, Takes};
use super::view::{self, Page, PagePart};
use crate::prelude::*;
use blocks::Direction;
use std::ops::Range;
use values::Tagged;
use values::string::parse_int;
use values::tagged::{Filter, Shown};

pub(crate) const COMMANDS: &[CommandSpec] = &[RANGE, RANGEBY];

const RANGE: CommandSpec = CommandSpec {
    name: "TL.RANGE",
    syntax: "key from count [REV] [VISIBLE | HIDDEN | ALL] [WHERE condition [condition ...]] [WITHATTRS] [WITHCOUNT] [WITHCURSOR]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(log(n)+m), n the items of the list, m those told; with conditions and from above 0, those passed over too",
    since: "bobbin 0.1.0",
    brief: "Returns a page of a tagged list, by default of visible items.",
    answer: "array: values; WITHATTRS: each a value and a map. WITHCOUNT, WITHCURSOR: map: items, count, cursor (0: the end)",
    run: Run::Local(range),
};

const RANGEBY: CommandSpec = CommandSpec {
    name: "TL.RANGEBY",
    syntax: "key min max [LIMIT from count] [REV] [VISIBLE | HIDDEN | ALL] [WHERE condition [condition ...]] [WITHATTRS] [WITHCOUNT]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Tagged,
    cost: "O(log(n)+m), n the items of the list, m those passed over and told",
    since: "bobbin 0.1.0",
    brief: "Returns items of an ordered tagged list between two bounds.",
    answer: "array: values; WITHATTRS: each a value and a map. WITHCOUNT: map: items, count",
    run: Run::Local(range_by),
};

/// The start of a page.
#[derive(Clone, Copy)]
enum PageStart {
    /// After this many matching items.
    Skip(u64),
    /// At a position, from a cursor.
    Position(u64),
}

impl PageStart {
    fn of(word: &[u8]) -> Result<Self, Failure> {
        let text = "ERR from must be 0 or more, or a cursor";
        let (digits, is_cursor) = word.strip_prefix(b"@").map_or((word, false), |digits| (digits, true));
        if is_cursor {
            let position = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
            return position.map(Self::Position).ok_or(Failure::text(text));
        }
        let skip = parse_int(digits).and_then(|number| u64::try_from(number).ok());
        skip.map(Self::Skip).ok_or(Failure::text(text))
    }
}

fn range(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let (from, count) = (PageStart::of(args.get(2))?, parse::count(args.get(3))?);
    let takes = Takes { shown: true, backward: true, attributes: true, totals: true, ..Takes::default() };
    let asked = TaggedOptions::of(args, 4, takes)?;
    let whole = |list: &Tagged| Ok(0..list.len());
    range_page(tx, key, list, &asked, (from, count), whole, reply)
}

fn range_by(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let key = args.get(1);
    let list = view::list(tx, key)?;
    let takes = Takes { shown: true, backward: true, attributes: true, totals: true, limit: true, ..Takes::default() };
    let asked = TaggedOptions::of(args, 4, takes)?;
    let (skip, count) = asked.limit.unwrap_or((0, u64::MAX));
    let between = |list: &Tagged| view::positions(list, args.get(2), args.get(3));
    range_page(tx, key, list, &asked, (PageStart::Skip(skip), count), between, reply)
}

fn range_page(
    tx: &mut Tx,
    key: &[u8],
    list: Option<Tagged>,
    asked: &TaggedOptions<'_>,
    (from, count): (PageStart, u64),
    positions: impl FnOnce(&Tagged) -> Result<Range<u64>, Failure>,
    reply: &mut dyn Reply,
) -> Outcome {
    let Some(list) = list else {
        write_result(reply, asked, (0, 0), |reply| reply.array(0));
        return Ok(());
    };
    let schema = view::schema(tx, key, &list, |schema| asked.is_enough(schema));
    let filter = asked.filter(&list, &schema, Shown::Visible)?;
    let all = positions(&list)?;
    let direction = if asked.is_backward { Direction::Backward } else { Direction::Forward };
    let (positions, skip) = match (from, direction) {
        (PageStart::Skip(skip), _) => (all.clone(), skip),
        (PageStart::Position(at), Direction::Forward) => (at.min(all.end)..all.end, 0),
        (PageStart::Position(at), Direction::Backward) => (0..at.min(all.end), 0),
    };
    let part = PagePart { positions, direction, skip, count, with_tags: asked.with_attributes };
    let page = view::page(tx, &list, filter.as_ref(), &part)?;
    let total = if asked.with_count { total(tx, &list, filter.as_ref(), all)? } else { 0 };
    let cursor = next(&page, &list, &part);
    write_result(reply, asked, (total, cursor), |reply| view::write_page(reply, &schema, &page));
    Ok(())
}

fn total(tx: &Tx, list: &Tagged, filter: Option<&Filter>, positions: Range<u64>) -> Result<u64, Failure> {
    let counts = view::count(tx, list, filter, positions)?;
    Ok(filter.map_or(0, |filter| view::sum(filter.shown, counts)))
}

/// Returns the position at which the next page starts; 0 if there is none.
fn next(page: &Page, list: &Tagged, part: &PagePart) -> u64 {
    let is_full = page.len() as u64 >= part.count;
    match (page.last().filter(|_| is_full), part.direction) {
        (None, _) => 0,
        (Some(last), Direction::Forward) if last + 1 < list.len() => last + 1,
        (Some(_), Direction::Forward) => 0,
        (Some(last), Direction::Backward) => last,
    }
}

/// Writes the items directly, or as one of the requested fields.
fn write_result(
    reply: &mut dyn Reply,
    asked: &TaggedOptions<'_>,
    (total, cursor): (u64, u64),
    items: impl FnOnce(&mut dyn Reply),
) {
    let fields = usize::from(asked.with_count) + usize::from(asked.with_cursor);
    if fields == 0 {
        return items(reply);
    }
    reply.map(1 + fields);
    reply.bulk(b"items");
    items(reply);
    if asked.with_count {
        reply.bulk(b"count");
        reply.int(total as i64);
    }
    if asked.with_cursor {
        reply.bulk(b"cursor");
        match cursor {
            0 => reply.bulk(b"0"),
            position => reply.bulk(format!("@{position}").as_bytes()),
        }
    }
}
