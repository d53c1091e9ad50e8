//! One page of the rows that match a query, in the order asked for, and their number.
//!
//! ```text
//!   unordered             rows in the order of their numbers; counting goes on after the page is full
//!   by a number, all      the page lies at its offset among the numbers: O(log n + page)
//!   by a number, a tag    likewise among the rows of a frequent tag, unless it comes to rows without the number
//!   by a number, some     matching rows are collected; then the page is found by a walk through the numbers, which
//!                         counts those that match, or, if these are few, by sorting them
//!   by a text or tag      the best `offset + count` of the matching rows are kept in a heap
//! ```
//!
//! Rows without the value come last in both directions. Rows of equal values stand in the order of their numbers, or
//! against it if the order is descending.

use super::bitmap::{Bitmap, RemainingRows, RowSet};
use super::scan::{ChunkStep, Scan};
use super::work::{RECORD_WORK, Work};
use crate::definition::{FieldType, Language};
use crate::index::{CHUNK_ROWS, Index, RowNumber, TermNumber, folded, number, row_at};
use crate::query::Query;
use crate::value::OrderedNumber;
use base::Ms;
use blocks::Direction;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::ops::{ControlFlow, Range};

/// Rows that are taken from a chunk per unit of work.
const ROWS_PER_WORK: u64 = 64;
/// Rows of a tag that are counted per unit of work, at most: those counted before cost less.
const COUNTED_PER_WORK: u64 = 1 << 14;
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
    /// True to end once the page is full, if no order is asked for: then the total is only the rows seen until then.
    pub skips_total: bool,
}

/// The result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The number of all matching rows, unless the page skips it.
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
    /// Rows of a chunk that the stage is yet to look at.
    remaining: RemainingRows,
    stage: Stage,
}

enum Stage {
    Preparing,
    Scanning(Kept),
    /// Walking through a field's numbers, of which these positions are left. If rows are given, numbers of others
    /// are passed over, and so are `skip` rows before the page.
    Walking {
        rows: Option<RowSet>,
        range: Range<u64>,
        skip: u64,
    },
    /// Walking through the rows of a frequent tag in the order of a number, after the first `skip` of them.
    WalkingTag {
        term: TermNumber,
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
        best: BinaryHeap<Ranked>,
    },
    /// Taking the page's rows from the ranked ones, the last first.
    Taking(BinaryHeap<Ranked>),
    Done,
}

/// The rows that are kept of those scanned.
enum Kept {
    /// The rows of the page.
    Page,
    /// All rows, to be ordered by a number.
    All(RowSet),
    /// The first rows in the order.
    Best(BinaryHeap<Ranked>),
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
    /// Begins a search. `language` is that of the query's words. O(parts of the query + keys), little for each.
    pub fn new(index: Index, query: Query, now: Ms, language: Language, mut page: SearchPage) -> Self {
        let keys = page.in_keys.take().map(|keys| keys.into_iter().collect());
        let scan = Scan::of_keys(index, query, now, language, keys);
        let (found, remaining, stage) = (Found::default(), RemainingRows::NONE, Stage::Preparing);
        Self { scan, page, found, is_counted: false, seen: 0, text_bytes: 0, remaining, stage }
    }

    /// Returns its index.
    pub fn index(&self) -> &Index {
        self.scan.index()
    }

    /// Searches for as long as there is work left; returns the result once it is complete.
    pub fn step(&mut self, work: &mut Work) -> Option<Found> {
        while !work.is_spent() {
            let stage = std::mem::replace(&mut self.stage, Stage::Done);
            self.stage = match stage {
                Stage::Preparing => self.prepare(work),
                Stage::Scanning(kept) => self.scan(kept, work),
                Stage::Walking { rows, range, skip } => self.walk(rows, range, skip, work),
                Stage::WalkingTag { term, skip } => self.walk_tag(term, skip, work),
                Stage::AddingRest { rows, chunk, skip } => self.add_rest(rows, chunk, skip, work),
                Stage::Ranking { rows, chunk, best } => self.rank(rows, chunk, best, work),
                Stage::Taking(best) => self.take(best, work),
                Stage::Done => return Some(std::mem::take(&mut self.found)),
            };
        }
        None
    }

    /// Returns its heap bytes without those of the index, or somewhat more.
    pub fn heap_bytes(&self) -> usize {
        let ranked = |best: &BinaryHeap<Ranked>| best.capacity() * size_of::<Ranked>() + self.text_bytes;
        let own = match &self.stage {
            Stage::Scanning(Kept::All(rows))
            | Stage::Walking { rows: Some(rows), .. }
            | Stage::AddingRest { rows: Some(rows), .. } => rows.heap_bytes_max(),
            Stage::Scanning(Kept::Best(best)) | Stage::Taking(best) => ranked(best),
            Stage::Ranking { rows, best, .. } => rows.heap_bytes_max() + ranked(best),
            _ => 0,
        };
        own + self.scan.heap_bytes() + self.found.rows.capacity() * size_of::<RowNumber>()
    }

    fn prepare(&mut self, work: &mut Work) -> Stage {
        if !self.scan.prepare(work) {
            return Stage::Preparing;
        }
        if let Some(total) = self.scan.known_count(work) {
            self.is_counted = true;
            self.found.total = total;
            if self.page.count == 0 || total <= self.page.offset {
                return Stage::Done;
            }
        }
        if self.page.count == 0 && self.page.skips_total {
            return Stage::Done;
        }
        if let (true, Some(order)) = (self.scan.is_everything(), self.numeric_order()) {
            return self.page_of_numbers(order);
        }
        if let Some(term) = self.ranked_tag(work) {
            return Stage::WalkingTag { term, skip: self.page.offset };
        }
        Stage::Scanning(match self.page.order {
            None => Kept::Page,
            Some(_) if self.page.count == 0 => Kept::Page,
            // A number that expired counts as absent, which only the record tells.
            Some(_) if self.numeric_order().is_some() && !self.scan.has_expired() => Kept::All(RowSet::default()),
            Some(_) => Kept::Best(BinaryHeap::new()),
        })
    }

    /// Returns the order, if it is by a number.
    fn numeric_order(&self) -> Option<SearchOrder> {
        let order = self.page.order?;
        let definition = &self.scan.index().definition;
        matches!(definition.fields[order.field].field_type, FieldType::Numeric).then_some(order)
    }

    /// Finds the page of all rows by its position among the numbers.
    fn page_of_numbers(&self, order: SearchOrder) -> Stage {
        let numbers = self.scan.index().numbers[order.field].len();
        let offset = self.page.offset.min(numbers);
        let count = self.page.count.min(numbers - offset);
        let range = match order.direction {
            Direction::Forward => offset..offset + count,
            Direction::Backward => numbers - offset - count..numbers - offset,
        };
        Stage::Walking { rows: None, range, skip: self.page.offset - offset }
    }

    /// Returns the tag that is all that is asked for, if its rows are in the order and all those of the page among them.
    fn ranked_tag(&self, work: &mut Work) -> Option<TermNumber> {
        let (term, order) = (self.scan.only_term()?, self.numeric_order()?);
        let ranked = self.scan.index().ranked_tags.by(order.field)?.count(term);
        work.spend(RECORD_WORK + ranked / COUNTED_PER_WORK);
        let page_end = self.page.offset.saturating_add(self.page.count).min(self.found.total);
        (self.page.offset < page_end && page_end <= ranked).then_some(term)
    }

    fn walk_tag(&mut self, term: TermNumber, mut skip: u64, work: &mut Work) -> Stage {
        let rankings = self
            .numeric_order()
            .and_then(|order| Some((self.scan.index().ranked_tags.by(order.field)?, order.direction)));
        let Some((rankings, direction)) = rankings else { return Stage::Done };
        let found = &mut self.found.rows;
        let wanted = self.page.count.min(self.found.total - self.page.offset);
        work.spend(RECORD_WORK);
        rankings.walk(term, skip, direction, |row| {
            found.push(row);
            skip += 1;
            work.spend_item(skip);
            if found.len() as u64 == wanted { ControlFlow::Break(()) } else { work.flow() }
        });
        if found.len() as u64 == wanted { Stage::Done } else { Stage::WalkingTag { term, skip } }
    }

    fn scan(&mut self, mut kept: Kept, work: &mut Work) -> Stage {
        if let Kept::Best(best) = &mut kept
            && !self.rank_remaining(best, work)
        {
            return Stage::Scanning(kept);
        }
        let (chunk, rows) = match self.scan.next_chunk(work) {
            ChunkStep::More => return Stage::Scanning(kept),
            ChunkStep::Done => return self.end_scan(kept),
            ChunkStep::Rows(chunk, rows) => (chunk, rows),
        };
        let before = self.seen;
        self.seen += rows.count();
        if !self.is_counted {
            self.found.total = self.seen;
        }
        match &mut kept {
            Kept::Page => {
                let skip = self.page.offset.saturating_sub(before).min(u64::from(CHUNK_ROWS)) as usize;
                let room = (self.page.count - self.found.rows.len() as u64).min(u64::from(CHUNK_ROWS)) as usize;
                work.spend((skip + room) as u64 / ROWS_PER_WORK);
                self.found.rows.extend(rows.places().skip(skip).take(room).map(|place| row_at(chunk, place)));
                let needs_no_total = self.is_counted || self.page.skips_total;
                if needs_no_total && self.found.rows.len() as u64 == self.page.count {
                    return Stage::Done;
                }
            }
            Kept::All(all) => all.chunk_mut(chunk).unite(&rows),
            Kept::Best(_) => self.remaining = RemainingRows::of(chunk, *rows),
        }
        Stage::Scanning(kept)
    }

    /// Ranks the remaining rows of a chunk; returns true once all are.
    fn rank_remaining(&mut self, best: &mut BinaryHeap<Ranked>, work: &mut Work) -> bool {
        let Some(order) = self.page.order else { return true };
        let most = usize::try_from(self.page.offset.saturating_add(self.page.count)).unwrap_or(usize::MAX);
        while !work.is_spent() {
            let Some(row) = self.remaining.next() else { return true };
            let ranked = self.ranked(row, order, work);
            self.text_bytes += ranked.text_bytes();
            best.push(ranked);
            if best.len() > most {
                self.text_bytes -= best.pop().map_or(0, |ranked| ranked.text_bytes());
            }
        }
        false
    }

    fn ranked(&self, row: RowNumber, order: SearchOrder, work: &mut Work) -> Ranked {
        let (index, now) = (self.scan.index(), self.scan.now());
        let field = &index.definition.fields[order.field];
        work.spend(RECORD_WORK);
        let value = index.record(row, |record| {
            work.spend_bytes(record.bytes_count());
            let value = record.value(order.field, now)?;
            work.spend_text(value.len());
            Some(match field.field_type {
                FieldType::Numeric => SortValue::Number(OrderedNumber(number(value)?)),
                _ if field.is_ordered_as_stored() => SortValue::Text(value.into()),
                _ => SortValue::Text(folded(value, false).as_bytes().into()),
            })
        });
        Ranked { value: value.flatten(), row, is_backward: order.direction == Direction::Backward }
    }

    fn end_scan(&mut self, kept: Kept) -> Stage {
        match kept {
            Kept::Page => Stage::Done,
            Kept::Best(best) => Stage::Taking(best),
            Kept::All(rows) => {
                let numbers = self.numeric_order().map_or(0, |order| self.scan.index().numbers[order.field].len());
                let total = self.found.total.max(1);
                let page = self.page.offset.saturating_add(self.page.count).min(total);
                if page.saturating_mul(numbers / total + 1) <= total.saturating_mul(WALK_PER_RECORD) {
                    return Stage::Walking { rows: Some(rows), range: 0..numbers, skip: self.page.offset };
                }
                Stage::Ranking { rows, chunk: 0, best: BinaryHeap::new() }
            }
        }
    }

    fn rank(&mut self, rows: RowSet, from: u32, mut best: BinaryHeap<Ranked>, work: &mut Work) -> Stage {
        if !self.rank_remaining(&mut best, work) {
            return Stage::Ranking { rows, chunk: from, best };
        }
        let Some(chunk) = rows.next_chunk(from) else { return Stage::Taking(best) };
        if let Some(own) = rows.chunk(chunk) {
            self.remaining = RemainingRows::of(chunk, own.clone());
        }
        Stage::Ranking { rows, chunk: chunk + 1, best }
    }

    /// Takes rows from the end of the page on, until only those before it are left.
    fn take(&mut self, mut best: BinaryHeap<Ranked>, work: &mut Work) -> Stage {
        while best.len() as u64 > self.page.offset && !work.is_spent() {
            work.spend(1);
            self.found.rows.extend(best.pop().map(|ranked| ranked.row));
        }
        if best.len() as u64 > self.page.offset {
            return Stage::Taking(best);
        }
        self.found.rows.reverse();
        Stage::Done
    }

    fn walk(&mut self, rows: Option<RowSet>, mut range: Range<u64>, mut skip: u64, work: &mut Work) -> Stage {
        let Some(order) = self.numeric_order() else { return Stage::Done };
        let (found, wanted) = (&mut self.found.rows, self.page.count);
        let numbers = &self.scan.index().numbers[order.field];
        work.spend(RECORD_WORK);
        numbers.walk(range.clone(), order.direction, |row| {
            match order.direction {
                Direction::Forward => range.start += 1,
                Direction::Backward => range.end -= 1,
            }
            work.spend_item(range.start + range.end);
            match &rows {
                Some(rows) if !rows.contains(row) => {}
                Some(_) if skip > 0 => skip -= 1,
                _ => found.push(row),
            }
            if found.len() as u64 == wanted { ControlFlow::Break(()) } else { work.flow() }
        });
        let is_complete = rows.is_none() && self.found.total == numbers.len();
        if self.found.rows.len() as u64 == wanted || range.is_empty() && is_complete {
            Stage::Done
        } else if range.is_empty() {
            Stage::AddingRest { rows, chunk: 0, skip }
        } else {
            Stage::Walking { rows, range, skip }
        }
    }

    fn add_rest(&mut self, rows: Option<RowSet>, from: u32, mut skip: u64, work: &mut Work) -> Stage {
        let Some(order) = self.page.order else { return Stage::Done };
        while !work.is_spent() {
            let Some(row) = self.remaining.next() else {
                let next = match &rows {
                    Some(rows) => rows.next_chunk(from),
                    None => Some(from).filter(|chunk| *chunk < self.scan.chunks()),
                };
                let Some(chunk) = next else { return Stage::Done };
                work.spend(1);
                let own = match &rows {
                    Some(rows) => rows.chunk(chunk).cloned().unwrap_or(Bitmap::EMPTY),
                    None => self.scan.all_rows_of(chunk, work),
                };
                self.remaining = RemainingRows::of(chunk, own);
                return Stage::AddingRest { rows, chunk: chunk + 1, skip };
            };
            if self.ranked(row, order, work).value.is_some() {
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
        Stage::AddingRest { rows, chunk: from, skip }
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
