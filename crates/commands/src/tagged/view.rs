//! A list as a request sees it: with its schema, or a later one that adds attributes.

use super::fault;
use crate::prelude::*;
use blocks::Direction;
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use values::Tagged;
use values::tagged::{By, Filter, FoundItem, ItemType, LookLimits, Rank, Schema, Shown, Tags};

/// The maximum number of chunks examined, and of items returned, under the lock.
const CHUNKS_MAX: u64 = 512;
pub(super) const ITEMS_MAX: usize = 1024;
/// The maximum bytes scanned for values under the lock.
const SCANNED_BYTES_MAX: u64 = 64 << 10;

/// Returns the list under `key`; a clone, to be dropped before a change.
pub(super) fn list(tx: &mut Tx, key: &[u8]) -> Result<Option<Tagged>, Failure> {
    Ok(tx.value::<Tagged>(key)?.cloned())
}

/// Returns the schema of a list, or its name's current one, if that adds attributes and `is_enough` requires them.
pub(super) fn schema(tx: &mut Tx, key: &[u8], list: &Tagged, is_enough: impl FnOnce(&Schema) -> bool) -> Arc<Schema> {
    let own = list.schema();
    if is_enough(own) {
        return own.clone();
    }
    let later = tx.schema_of(key).filter(|later| later.extends(own));
    later.map_or_else(|| own.clone(), Arc::new)
}

/// Announces much work: the command then runs speculatively, unless it already does or cannot.
pub(super) fn expect_much(tx: &Tx) -> Result<(), Failure> {
    Ok(tx.expect_work(u64::MAX)?)
}

/// Announces searches for values.
pub(super) fn expect_search(tx: &Tx, list: &Tagged) -> Result<(), Failure> {
    if !list.finds_at_once() && list.content_bytes() > SCANNED_BYTES_MAX {
        expect_much(tx)?;
    }
    Ok(())
}

/// Announces a switch to another schema, if there is one: the digests of the list's nodes are then recomputed.
pub(super) fn expect_growth(tx: &Tx, list: &Tagged, schema: &Schema) -> Result<(), Failure> {
    if list.chunks_count() > CHUNKS_MAX && **list.schema() != *schema {
        expect_much(tx)?;
    }
    Ok(())
}

/// Found items.
#[derive(Default)]
pub(super) struct Page {
    bytes: Vec<u8>,
    /// Each item's position, and the end of its value.
    items: Vec<(u64, usize)>,
    /// The tags of each, if requested.
    tags: Vec<Tags>,
}

impl Page {
    fn add(&mut self, found: &FoundItem<'_>, with_tags: bool) {
        self.bytes.extend_from_slice(found.value);
        self.items.push((found.position, self.bytes.len()));
        if with_tags {
            self.tags.push(found.tags());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the last item's position.
    pub(super) fn last(&self) -> Option<u64> {
        self.items.last().map(|(position, _)| *position)
    }

    /// Iterates over values, with their tags if requested.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Option<&Tags>)> {
        let mut begin = 0;
        self.items.iter().enumerate().map(move |(nth, (_, end))| {
            let value = &self.bytes[begin..*end];
            begin = *end;
            (value, self.tags.get(nth))
        })
    }

    /// Returns the positions as ascending runs.
    pub(super) fn runs(&self) -> Vec<(u64, u64)> {
        let mut positions: Vec<u64> = self.items.iter().map(|(position, _)| *position).collect();
        positions.sort_unstable();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for position in positions {
            match runs.last_mut() {
                Some((begin, count)) if *begin + *count == position => *count += 1,
                _ => runs.push((position, 1)),
            }
        }
        runs
    }
}

/// The part of a list to search, and how much of it to return.
#[derive(Clone)]
pub(super) struct PagePart {
    pub(super) positions: Range<u64>,
    pub(super) direction: Direction,
    pub(super) skip: u64,
    pub(super) count: u64,
    pub(super) with_tags: bool,
}

/// Returns the items of a part that match a filter.
pub(super) fn page(tx: &Tx, list: &Tagged, filter: Option<&Filter>, part: &PagePart) -> Result<Page, Failure> {
    let Some(filter) = filter.filter(|_| part.count > 0) else { return Ok(Page::default()) };
    let mut items_max = ITEMS_MAX as u64;
    let mut chunks = CHUNKS_MAX;
    loop {
        let room = part.count.min(ITEMS_MAX as u64) as usize;
        let mut page = Page { bytes: Vec::with_capacity(16 * room), items: Vec::with_capacity(room), tags: Vec::new() };
        let most = part.count.min(items_max);
        let limits = LookLimits { skip: part.skip, chunks };
        let is_whole = list.walk(part.positions.clone(), part.direction, filter, limits, |found| {
            page.add(&found, part.with_tags);
            if (page.len() as u64) < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let is_full = page.len() as u64 == most;
        if is_whole && !(is_full && most < part.count) {
            return Ok(page);
        }
        expect_much(tx)?;
        (items_max, chunks) = (u64::MAX, u64::MAX);
    }
}

/// Returns how many items at some positions match a filter, visible and hidden ones.
pub(super) fn count(
    tx: &Tx,
    list: &Tagged,
    filter: Option<&Filter>,
    positions: Range<u64>,
) -> Result<(u64, u64), Failure> {
    let Some(filter) = filter else { return Ok((0, 0)) };
    if let Some(counts) = list.count(positions.clone(), filter, CHUNKS_MAX) {
        return Ok(counts);
    }
    expect_much(tx)?;
    Ok(list.count(positions, filter, u64::MAX).unwrap_or_default())
}

/// Returns the requested sum of the two counts.
pub(super) fn sum(shown: Shown, (visible, hidden): (u64, u64)) -> u64 {
    match shown {
        Shown::Visible => visible,
        Shown::Hidden => hidden,
        Shown::All => visible + hidden,
    }
}

/// An end of a range of an ordered list.
enum End {
    /// Below everything.
    Least,
    /// Above everything.
    Greatest,
    /// At a rank, included unless excluded.
    At { rank: Rank, is_excluded: bool },
}

impl End {
    fn of(word: &[u8], schema: &Schema, is_min: bool) -> Result<Self, Failure> {
        let (bare, is_excluded) = match word {
            [b'(', bare @ ..] => (bare, true),
            [b'[', bare @ ..] => (bare, false),
            bare => (bare, false),
        };
        let of = match schema.by() {
            By::Value(of) => of,
            _ => ItemType::Uint,
        };
        match () {
            () if parse::is(word, "-") => return Ok(Self::Least),
            () if parse::is(word, "+") => return Ok(Self::Greatest),
            () if of.is_number() => {}
            () if parse::is(word, "-inf") => return Ok(Self::Least),
            () if parse::is(word, "+inf") => return Ok(Self::Greatest),
            () => {}
        }
        if let Some(rank) = Rank::of_value(bare, of) {
            return Ok(Self::At { rank, is_excluded });
        }
        // Integer ranges may have any numbers as ends.
        let number = str::from_utf8(bare).ok().and_then(|bare| bare.parse::<f64>().ok());
        let number = number.filter(|number| !number.is_nan()).ok_or_else(fault::no_end)?;
        let (least, rank) = match of {
            ItemType::Int => (i64::MIN as f64, Rank::Int(number.floor() as i64)),
            _ => (0.0, Rank::Uint(number.floor() as u64)),
        };
        let is_excluded = if number.fract() == 0.0 { is_excluded } else { is_min };
        Ok(match number {
            number if number < least => Self::Least,
            number if number >= least + 2f64.powi(64) => Self::Greatest,
            _ => Self::At { rank, is_excluded },
        })
    }

    /// Returns the number of items before this end, which is the first of a range, or the last.
    fn point(&self, list: &Tagged, is_last: bool) -> u64 {
        let schema = list.schema();
        match self {
            Self::At { rank, is_excluded } => list.point(|other| match schema.compare(other, rank) {
                Ordering::Less => true,
                Ordering::Equal => *is_excluded != is_last,
                Ordering::Greater => false,
            }),
            end if matches!(end, Self::Least) == schema.is_descending() => list.len(),
            _ => 0,
        }
    }
}

/// Returns the positions of an ordered list from `min` to `max`, in the syntax of ZRANGEBYSCORE.
pub(super) fn positions(list: &Tagged, min: &[u8], max: &[u8]) -> Result<Range<u64>, Failure> {
    let schema = list.schema();
    if schema.by() == By::Position {
        return Err(fault::is_not_ordered());
    }
    let (min, max) = (End::of(min, schema, true)?, End::of(max, schema, false)?);
    let (first, last) = if schema.is_descending() { (max, min) } else { (min, max) };
    let (start, end) = (first.point(list, false), last.point(list, true));
    Ok(start..end.max(start))
}

/// Returns where an item of this rank belongs in an ordered list: after its equals.
pub(super) fn place(list: &Tagged, schema: &Schema, rank: &Rank) -> u64 {
    list.point(|other| schema.compare(other, rank) != Ordering::Greater)
}

/// Writes attributes as a map, starting with whether it is hidden.
pub(super) fn write_tags(reply: &mut dyn Reply, schema: &Schema, tags: &Tags) {
    reply.map(schema.attributes().len() + 1);
    reply.bulk(b"hidden");
    reply.int(i64::from(tags.is_hidden));
    for (number, attribute) in schema.attributes().iter().enumerate() {
        reply.bulk(&attribute.name);
        reply.int(i64::from(tags.attributes.get(number).copied().unwrap_or(0)));
    }
}

/// Writes a value, or an array of it and its tags if requested.
pub(super) fn write_item(reply: &mut dyn Reply, schema: &Schema, value: &[u8], tags: Option<&Tags>) {
    let Some(tags) = tags else { return reply.bulk(value) };
    reply.array(2);
    reply.bulk(value);
    write_tags(reply, schema, tags);
}

/// Writes a page as an array.
pub(super) fn write_page(reply: &mut dyn Reply, schema: &Schema, page: &Page) {
    reply.array(page.len());
    page.iter().for_each(|(value, tags)| write_item(reply, schema, value, tags));
}
