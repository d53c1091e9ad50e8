//! Leaves of a plan that are collected before the search begins: rows of a range of numbers, many terms, a circle.
//!
//! ```text
//!   sources, the last first --> terms --> items of the postings --.
//!                       '--> numbers, places, keys ---------------'--> rows, save those whose field expired
//! ```
//!
//! Leaves of one union are sources of one collection, so that they share its set of rows.

use super::bitmap::{Bitmap, RowSet};
use super::expired::Expired;
use super::pattern::TermPattern;
use super::tag_search::TagSearch;
use super::work::{CHUNK_WORK, RECORD_WORK, TERM_WORK, Work};
use crate::index::{Index, Space, TermNumber, geo_place, on_grid};
use base::Ms;
use blocks::Direction;
use std::collections::VecDeque;
use std::ops::{Bound, Range};
use std::sync::Arc;
use values::geo::{Area, Cell, Coordinates, GeoShape};

/// The index and time that leaves and nodes are asked with.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) index: &'a Index,
    pub(crate) expired: &'a Expired,
    pub(crate) now: Ms,
}

/// Rows being collected.
pub(crate) struct Collection {
    pub(crate) sources: Vec<Source>,
    /// Terms of the last source whose postings are yet to be read, and positions of postings that are.
    terms: Vec<TermNumber>,
    items: Range<u64>,
    pub(crate) rows: RowSet,
}

/// A part of the index that rows are collected from.
pub(crate) struct Source {
    /// The field; none for keys.
    field: Option<usize>,
    items: SourceItems,
}

enum SourceItems {
    /// Positions in the field's numbers.
    Numbers(Range<u64>),
    /// Positions of postings.
    Postings(Range<u64>),
    /// Terms at these positions of the dictionary; no pattern admits all.
    Terms {
        range: Range<u64>,
        pattern: Option<Arc<TermPattern>>,
    },
    Tags(Box<TagSearch>),
    /// Positions in the field's places.
    Circle {
        ranges: VecDeque<Range<u64>>,
        area: Area,
    },
    Keys(Vec<Box<[u8]>>),
}

impl Source {
    /// Returns the source of rows with a number in a range.
    pub(crate) fn of_numbers(field: usize, range: Range<u64>) -> Self {
        Self { field: Some(field), items: SourceItems::Numbers(range) }
    }

    /// Returns the source of rows in postings.
    pub(crate) fn of_postings(field: Option<usize>, range: Range<u64>) -> Self {
        Self { field, items: SourceItems::Postings(range) }
    }

    /// Returns the source of rows with a term of the space that begins with `prefix` and is like the pattern.
    pub(crate) fn of_terms(
        index: &Index,
        (field, space): (usize, Space),
        prefix: &str,
        pattern: Option<Arc<TermPattern>>,
    ) -> Self {
        let range = index.dictionary.beginning_with(space, prefix.as_bytes());
        Self { field: Some(field), items: SourceItems::Terms { range, pattern } }
    }

    /// Returns the source of rows with a tag that a search finds.
    pub(crate) fn of_tags(field: usize, search: TagSearch) -> Self {
        Self { field: Some(field), items: SourceItems::Tags(search.into()) }
    }

    /// Returns the source of rows within a circle.
    pub(crate) fn of_circle(index: &Index, field: usize, center: Coordinates, radius_m: f64) -> Self {
        let area = Area { center, form: GeoShape::Circle { radius: radius_m }, unit_m: 1.0 };
        let numbers = &index.numbers[field];
        let range_of = |cell: Cell| {
            let scores = cell.scores();
            numbers.range(Bound::Included(scores.start), Bound::Excluded(scores.end))
        };
        let ranges = match surrounds_pole(center.latitude, radius_m) {
            true => std::iter::once(0..numbers.len()).collect(),
            false => Area { center: on_grid(center), ..area }.cells().into_iter().map(range_of).collect(),
        };
        Self { field: Some(field), items: SourceItems::Circle { ranges, area } }
    }

    /// Returns the source of rows with these keys.
    pub(crate) fn of_keys(keys: Vec<Box<[u8]>>) -> Self {
        Self { field: None, items: SourceItems::Keys(keys) }
    }

    /// Returns true if there is nothing to be read.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.items {
            SourceItems::Numbers(range) | SourceItems::Postings(range) | SourceItems::Terms { range, .. } => {
                range.is_empty()
            }
            SourceItems::Tags(search) => search.is_empty(),
            SourceItems::Circle { ranges, .. } => ranges.iter().all(Range::is_empty),
            SourceItems::Keys(keys) => keys.is_empty(),
        }
    }
}

impl Collection {
    pub(crate) fn of(sources: Vec<Source>) -> Self {
        Self { sources, terms: Vec::new(), items: 0..0, rows: RowSet::default() }
    }

    /// Returns a bound of its heap bytes beyond those that it is made with.
    pub(crate) fn heap_bytes_max(&self) -> usize {
        let of_tags = match self.sources.last() {
            Some(Source { items: SourceItems::Tags(search), .. }) => search.heap_bytes_max(),
            _ => 0,
        };
        self.rows.heap_bytes_max() + self.terms.capacity() * size_of::<TermNumber>() + of_tags
    }

    /// Collects for as long as there is work left; returns true once all is.
    pub(crate) fn step(&mut self, context: &Context<'_>, work: &mut Work) -> bool {
        while !work.is_spent() {
            let Some(source) = self.sources.last_mut() else { return true };
            let mut to = Target {
                rows: &mut self.rows,
                expired: source.field.and_then(|field| context.expired.of_field(field)),
            };
            if !self.items.is_empty() {
                to.read_postings(context.index, &mut self.items, work);
            } else if let Some(term) = self.terms.pop() {
                work.spend(TERM_WORK);
                self.items = context.index.postings.items_of(term);
            } else if source.step(context, &mut to, &mut self.terms, work) {
                self.sources.pop();
            }
        }
        false
    }
}

impl Source {
    /// Adds rows, or terms whose rows are to be added; returns true if there were none.
    fn step(
        &mut self,
        context: &Context<'_>,
        to: &mut Target<'_>,
        terms: &mut Vec<TermNumber>,
        work: &mut Work,
    ) -> bool {
        let index = context.index;
        if self.is_empty() {
            return true;
        }
        match &mut self.items {
            SourceItems::Tags(search) => return search.step(index, terms, work),
            SourceItems::Numbers(range) => {
                let Some(field) = self.field else { return true };
                index.numbers[field].walk(range.clone(), Direction::Forward, |row| {
                    range.start += 1;
                    work.spend_item(range.start);
                    to.insert(row);
                    work.flow()
                });
            }
            SourceItems::Postings(range) => to.read_postings(index, range, work),
            SourceItems::Terms { range, pattern } => index.dictionary.walk(range.clone(), |term, number| {
                range.start += 1;
                work.spend(1);
                let is_taken = pattern.as_ref().is_none_or(|pattern| {
                    work.spend_text(term.len());
                    std::str::from_utf8(term).is_ok_and(|term| pattern.fits(term, work))
                });
                if is_taken {
                    terms.push(number);
                }
                work.flow()
            }),
            SourceItems::Circle { ranges, area } => {
                let (Some(range), Some(field)) = (ranges.front_mut(), self.field) else { return true };
                step_circle(context, field, range, area, to, work);
                if range.is_empty() {
                    ranges.pop_front();
                }
            }
            SourceItems::Keys(keys) => {
                work.spend(TERM_WORK);
                if let Some(row) = keys.pop().and_then(|key| index.row_number(&key)) {
                    to.insert(row);
                }
            }
        }
        false
    }
}

fn step_circle(
    context: &Context<'_>,
    field: usize,
    range: &mut Range<u64>,
    area: &Area,
    to: &mut Target<'_>,
    work: &mut Work,
) {
    context.index.numbers[field].walk(range.clone(), Direction::Forward, |row| {
        range.start += 1;
        work.spend(RECORD_WORK);
        let place = context.index.record(row, |record| {
            work.spend_bytes(record.bytes_count());
            record.value(field, context.now).and_then(geo_place)
        });
        if place.flatten().is_some_and(|place| area.distance_within(place).is_some()) {
            to.insert(row);
        }
        work.flow()
    });
}

/// The set that rows are collected in.
struct Target<'a> {
    rows: &'a mut RowSet,
    /// Rows of which the field expired, which are left out.
    expired: Option<&'a RowSet>,
}

impl Target<'_> {
    fn insert(&mut self, row: u32) {
        if self.expired.is_none_or(|expired| !expired.contains(row)) {
            self.rows.insert(row);
        }
    }

    /// Adds the rows of postings until the work is spent.
    fn read_postings(&mut self, index: &Index, range: &mut Range<u64>, work: &mut Work) {
        index.postings.walk(range.clone(), |chunk, more| {
            range.start += 1;
            work.spend(CHUNK_WORK);
            match self.expired.and_then(|expired| expired.chunk(chunk)) {
                None => more.add_to(self.rows.chunk_mut(chunk)),
                Some(expired) => {
                    let mut own = Bitmap::EMPTY;
                    more.add_to(&mut own);
                    own.subtract(expired);
                    self.rows.chunk_mut(chunk).unite(&own);
                }
            }
            work.flow()
        });
    }
}

/// Returns true if a circle surrounds a pole, or nearly: then it has no eastern and western meridian, which cells are
/// chosen by.
fn surrounds_pole(latitude: f64, radius_m: f64) -> bool {
    const DEGREE_M: f64 = 111_000.0;
    latitude.abs() + radius_m / DEGREE_M > 89.9
}
