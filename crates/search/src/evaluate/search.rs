//! One page of the rows that match a query, in the order asked for, and their number.
//!
//! ```text
//!   unordered             rows in the order of their numbers; counting goes on after the page is full
//!   by a number, all      the page lies at its offset among the numbers: O(log n + page)
//!   by a number, some     matching rows are collected; then the page is found by a walk through the numbers, which
//!                         counts those that match, or, if these are few, by sorting them
//!   by a text or tag      the best `offset + count` of the matching rows are kept in a heap
//! ```
//!
//! Rows without the value come last in both directions. Rows of equal values stand in the order of their numbers, or
//! against it if the order is descending.

use super::bitmap::{Bitmap, RowSet};
use super::scan::{ChunkStep, Scan};
use crate::definition::{FieldType, Language};
use crate::index::{CHUNK_ROWS, Index, Record, RowNumber, folded, number, row_at};
use crate::query::Query;
use crate::value::OrderedNumber;
use base::Ms;
use blocks::Direction;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::ops::{ControlFlow, Range};

/// Numbers passed per unit of work and at a time, and the work of a row's record.
const NUMBERS_PER_WORK: u64 = 8;
const NUMBERS_WALKED: u64 = 4_096;
const RECORD_WORK: u64 = 4;
/// Numbers that a walk may pass for each row that sorting would have to look at.
const WALK_PER_RECORD: u64 = 24;

/// An order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchOrder {
    /// The field.
    pub field: usize,
    /// Backward for descending values.
    pub direction: Direction,
}

/// The part of the result that is asked for.
#[derive(Clone, Debug, Default)]
pub struct SearchPage {
    /// The order; none for that of row numbers.
    pub order: Option<SearchOrder>,
    /// Rows skipped.
    pub offset: u64,
    /// Rows at most.
    pub count: u64,
    /// Only these keys, if any are named.
    pub in_keys: Option<HashSet<Box<[u8]>>>,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The number of all matching rows.
    pub total: u64,
    /// The rows of the page.
    pub rows: Vec<RowNumber>,
}

/// A search in progress.
pub struct Search {
    scan: Scan,
    page: SearchPage,
    found: Found,
    /// True once the total is known without counting.
    is_counted: bool,
    /// Matching rows seen so far.
    seen: u64,
    /// Bytes of the texts in the heap of ranked rows.
    text_bytes: usize,
    stage: Stage,
}

enum Stage {
    Beginning,
    Scanning(Kept),
    /// Walking through a field's numbers, of which these positions are left.
    Walking {
        rows: RowSet,
        range: Range<u64>,
        skip: u64,
    },
    /// Adding rows without the value, of these or of all, from the chunk on.
    AddingRest {
        rows: Option<RowSet>,
        chunk: u32,
        skip: u64,
    },
    /// Ranking these rows, from the chunk on.
    Ranking {
        rows: RowSet,
        chunk: u32,
        first: BinaryHeap<Ranked>,
    },
    /// Taking the page's rows from the ranked ones, the last first.
    Taking(BinaryHeap<Ranked>),
    Done,
}

/// What is kept of the rows scanned.
enum Kept {
    /// Those of the page.
    Page,
    /// All, to be ordered by a number.
    All(RowSet),
    /// The first in the order.
    First(BinaryHeap<Ranked>),
}

/// A row and its value in an order.
#[derive(PartialEq, Eq)]
struct Ranked {
    /// None sorts last.
    value: Option<SortValue>,
    row: RowNumber,
    is_backward: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Number(OrderedNumber),
    Text(Box<[u8]>),
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = match (&self.value, &other.value) {
            (Some(one), Some(other)) if self.is_backward => other.cmp(one),
            (Some(one), Some(other)) => one.cmp(other),
            (Some(_), None) => return Ordering::Less,
            (None, Some(_)) => return Ordering::Greater,
            (None, None) => return self.row.cmp(&other.row),
        };
        by_value.then_with(|| if self.is_backward { other.row.cmp(&self.row) } else { self.row.cmp(&other.row) })
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Search {
    /// Begins a search. `language` is that of the query's words. O(nodes x log n + rows due).
    pub fn new(index: Index, query: Query, now: Ms, language: Language, page: SearchPage) -> Self {
        let scan = Scan::new(index, query, now, language);
        Self { scan, page, found: Found::default(), is_counted: false, seen: 0, text_bytes: 0, stage: Stage::Beginning }
    }

    /// Returns its index.
    pub fn index(&self) -> &Index {
        self.scan.index()
    }

    /// Searches for as long as there is work left; returns the result once it is complete.
    pub fn step(&mut self, work: &mut u64) -> Option<Found> {
        while *work > 0 {
            let stage = std::mem::replace(&mut self.stage, Stage::Done);
            self.stage = match stage {
                Stage::Beginning => self.begin(),
                Stage::Scanning(kept) => self.scan(kept, work),
                Stage::Walking { rows, range, skip } => self.walk(rows, range, skip, work),
                Stage::AddingRest { rows, chunk, skip } => self.add_rest(rows, chunk, skip, work),
                Stage::Ranking { rows, chunk, first } => self.rank(rows, chunk, first, work),
                Stage::Taking(first) => self.take(first, work),
                Stage::Done => return Some(std::mem::take(&mut self.found)),
            };
        }
        None
    }

    /// Returns its heap bytes, or somewhat more.
    pub fn heap_bytes(&self) -> usize {
        let ranked = |first: &BinaryHeap<Ranked>| first.capacity() * size_of::<Ranked>() + self.text_bytes;
        let own = match &self.stage {
            Stage::Scanning(Kept::All(rows)) | Stage::Walking { rows, .. } => rows.heap_bytes_max(),
            Stage::Scanning(Kept::First(first)) | Stage::Taking(first) => ranked(first),
            Stage::Ranking { rows, first, .. } => rows.heap_bytes_max() + ranked(first),
            _ => 0,
        };
        own + self.scan.heap_bytes() + self.found.rows.capacity() * size_of::<RowNumber>()
    }

    fn begin(&mut self) -> Stage {
        if self.page.in_keys.is_none() {
            if let Some(total) = self.scan.known_count() {
                self.is_counted = true;
                self.found.total = total;
                if self.page.count == 0 || total == 0 {
                    return Stage::Done;
                }
            }
            if let (true, Some(order)) = (self.scan.is_everything(), self.numeric_order()) {
                return self.page_of_numbers(order);
            }
        }
        Stage::Scanning(match self.page.order {
            None => Kept::Page,
            Some(_) if self.page.count == 0 => Kept::Page,
            // A number that is due counts as absent, which only the record tells.
            Some(_) if self.numeric_order().is_some() && !self.scan.has_due_rows() => Kept::All(RowSet::default()),
            Some(_) => Kept::First(BinaryHeap::new()),
        })
    }

    /// Returns the order, if it is by a number.
    fn numeric_order(&self) -> Option<SearchOrder> {
        let order = self.page.order?;
        let definition = &self.scan.index().definition;
        matches!(definition.fields[order.field].field_type, FieldType::Numeric).then_some(order)
    }

    fn page_of_numbers(&mut self, order: SearchOrder) -> Stage {
        let numbers = &self.scan.index().numbers[order.field];
        let offset = self.page.offset.min(numbers.len());
        let count = self.page.count.min(numbers.len() - offset);
        let range = match order.direction {
            Direction::Forward => offset..offset + count,
            Direction::Backward => numbers.len() - offset - count..numbers.len() - offset,
        };
        let rows = &mut self.found.rows;
        numbers.walk(range, order.direction, |_, row| {
            rows.push(row);
            ControlFlow::Continue(())
        });
        if count == self.page.count || self.found.total == numbers.len() {
            return Stage::Done;
        }
        Stage::AddingRest { rows: None, chunk: 0, skip: self.page.offset - offset }
    }

    fn scan(&mut self, mut kept: Kept, work: &mut u64) -> Stage {
        let (chunk, mut rows) = match self.scan.next_chunk(work) {
            ChunkStep::More => return Stage::Scanning(kept),
            ChunkStep::Done => return self.end_scan(kept),
            ChunkStep::Rows(chunk, rows) => (chunk, rows),
        };
        self.keep_named(chunk, &mut rows, work);
        let before = self.seen;
        self.seen += rows.count();
        if !self.is_counted {
            self.found.total = self.seen;
        }
        match &mut kept {
            Kept::Page => {
                let skip = self.page.offset.saturating_sub(before).min(u64::from(CHUNK_ROWS)) as usize;
                let room = (self.page.count - self.found.rows.len() as u64).min(u64::from(CHUNK_ROWS)) as usize;
                self.found.rows.extend(rows.places().skip(skip).take(room).map(|place| row_at(chunk, place)));
                if self.is_counted && self.found.rows.len() as u64 == self.page.count {
                    return Stage::Done;
                }
            }
            Kept::All(all) => all.chunk_mut(chunk).unite(&rows),
            Kept::First(first) => self.push_ranked(first, chunk, &rows, work),
        }
        Stage::Scanning(kept)
    }

    /// Keeps the rows with keys that INKEYS names.
    fn keep_named(&self, chunk: u32, rows: &mut Bitmap, work: &mut u64) {
        let Some(keys) = &self.page.in_keys else { return };
        for place in rows.clone().places() {
            *work = work.saturating_sub(RECORD_WORK);
            let is_named = |record: &Record<'_>| keys.contains(record.key);
            if self.scan.index().record(row_at(chunk, place), is_named) != Some(true) {
                rows.remove(place);
            }
        }
    }

    fn push_ranked(&mut self, first: &mut BinaryHeap<Ranked>, chunk: u32, rows: &Bitmap, work: &mut u64) {
        let order = self.page.order.expect("rows are ranked by an order");
        let most = usize::try_from(self.page.offset.saturating_add(self.page.count)).unwrap_or(usize::MAX);
        for place in rows.places() {
            *work = work.saturating_sub(RECORD_WORK);
            let ranked = self.ranked(row_at(chunk, place), order);
            self.text_bytes += ranked.text_bytes();
            first.push(ranked);
            if first.len() > most {
                self.text_bytes -= first.pop().map_or(0, |ranked| ranked.text_bytes());
            }
        }
    }

    fn ranked(&self, row: RowNumber, order: SearchOrder) -> Ranked {
        let (index, now) = (self.scan.index(), self.scan.now());
        let field = &index.definition.fields[order.field];
        let value = index.record(row, |record| {
            let value = record.value(order.field, now)?;
            Some(match field.field_type {
                FieldType::Numeric => SortValue::Number(OrderedNumber(number(value)?)),
                _ if field.is_unnormalized => SortValue::Text(value.into()),
                _ => SortValue::Text(folded(value, false).as_bytes().into()),
            })
        });
        Ranked { value: value.flatten(), row, is_backward: order.direction == Direction::Backward }
    }

    fn end_scan(&mut self, kept: Kept) -> Stage {
        match kept {
            Kept::Page => Stage::Done,
            Kept::First(first) => Stage::Taking(first),
            Kept::All(rows) => {
                let order = self.page.order.expect("rows are collected for an order");
                let (numbers, total) = (self.scan.index().numbers[order.field].len(), self.found.total.max(1));
                let page = self.page.offset.saturating_add(self.page.count).min(total);
                if page.saturating_mul(numbers / total + 1) <= total.saturating_mul(WALK_PER_RECORD) {
                    return Stage::Walking { rows, range: 0..numbers, skip: self.page.offset };
                }
                Stage::Ranking { rows, chunk: 0, first: BinaryHeap::new() }
            }
        }
    }

    fn rank(&mut self, rows: RowSet, from: u32, mut first: BinaryHeap<Ranked>, work: &mut u64) -> Stage {
        let Some(chunk) = rows.next_chunk(from) else { return Stage::Taking(first) };
        if let Some(own) = rows.chunk(chunk) {
            self.push_ranked(&mut first, chunk, own, work);
        }
        Stage::Ranking { rows, chunk: chunk + 1, first }
    }

    /// Takes rows from the end of the page on, until only those before it are left.
    fn take(&mut self, mut first: BinaryHeap<Ranked>, work: &mut u64) -> Stage {
        while first.len() as u64 > self.page.offset && *work > 0 {
            *work -= 1;
            self.found.rows.extend(first.pop().map(|ranked| ranked.row));
        }
        if first.len() as u64 > self.page.offset {
            return Stage::Taking(first);
        }
        self.found.rows.reverse();
        Stage::Done
    }

    fn walk(&mut self, rows: RowSet, mut range: Range<u64>, mut skip: u64, work: &mut u64) -> Stage {
        let order = self.page.order.expect("numbers are walked for an order");
        let count = (range.end - range.start).min(NUMBERS_WALKED);
        *work = work.saturating_sub(1 + count / NUMBERS_PER_WORK);
        let part = match order.direction {
            Direction::Forward => range.start..range.start + count,
            Direction::Backward => range.end - count..range.end,
        };
        match order.direction {
            Direction::Forward => range.start += count,
            Direction::Backward => range.end -= count,
        }
        let (found, wanted) = (&mut self.found.rows, self.page.count);
        self.scan.index().numbers[order.field].walk(part, order.direction, |_, row| {
            match (rows.contains(row), &mut skip) {
                (false, _) => {}
                (true, 0) => found.push(row),
                (true, skip) => *skip -= 1,
            }
            if found.len() as u64 == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if found.len() as u64 == wanted {
            Stage::Done
        } else if range.is_empty() {
            Stage::AddingRest { rows: Some(rows), chunk: 0, skip }
        } else {
            Stage::Walking { rows, range, skip }
        }
    }

    fn add_rest(&mut self, rows: Option<RowSet>, from: u32, mut skip: u64, work: &mut u64) -> Stage {
        let order = self.page.order.expect("some rows have no value for an order");
        let next = match &rows {
            Some(rows) => rows.next_chunk(from),
            None => Some(from).filter(|chunk| *chunk < self.scan.chunks()),
        };
        let Some(chunk) = next else { return Stage::Done };
        let own = match &rows {
            Some(rows) => rows.chunk(chunk).cloned().unwrap_or(Bitmap::EMPTY),
            None => self.scan.all_rows_of(chunk),
        };
        for place in own.places() {
            *work = work.saturating_sub(RECORD_WORK);
            let row = row_at(chunk, place);
            if self.ranked(row, order).value.is_some() {
                continue;
            }
            if skip > 0 {
                skip -= 1;
                continue;
            }
            self.found.rows.push(row);
            if self.found.rows.len() as u64 == self.page.count {
                return Stage::Done;
            }
        }
        Stage::AddingRest { rows, chunk: chunk + 1, skip }
    }
}

impl Ranked {
    fn text_bytes(&self) -> usize {
        match &self.value {
            Some(SortValue::Text(text)) => text.len(),
            _ => 0,
        }
    }
}
