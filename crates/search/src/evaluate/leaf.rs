//! Leaves of a plan that are collected before the search begins: rows of a range of numbers, many terms, a circle.

use super::bitmap::{Bitmap, RowSet};
use super::direct::circle;
use crate::index::{Index, Record, RowNumber, Space, TermNumber, TermType, geo_place, on_grid, row_at, tags, term_key};
use crate::query::Term;
use base::Ms;
use blocks::Direction;
use std::collections::VecDeque;
use std::ops::{Bound, ControlFlow, Range};
use values::geo::{Area, Cell};

/// Items read between two looks at what work is left.
const PIECE: u64 = 512;
/// The work of reading an item of a list of numbers or terms, and that of a chunk of postings.
const ITEM_WORK: u64 = 1;
const CHUNK_WORK: u64 = 4;
/// The work of looking at a row's record.
const RECORD_WORK: u64 = 4;

/// A leaf being collected.
pub(crate) struct Collection {
    source: Source,
    pub(crate) rows: RowSet,
}

enum Source {
    /// Positions in a field's numbers.
    Numbers { field: usize, range: Range<u64> },
    /// Terms at these positions of the dictionary; `None` admits all.
    Terms { range: Range<u64>, filter: Option<Term>, postings: VecDeque<Range<u64>> },
    /// Tags that have all grams, then those that have one of the grams at these positions of the dictionary.
    Tags { field: usize, filter: Term, grams: Vec<GramItems>, single: Range<u64>, postings: VecDeque<Range<u64>> },
    /// Positions in a field's places.
    Circle { field: usize, ranges: VecDeque<Range<u64>>, area: Area },
}

/// A gram, and its items yet to be read.
pub(crate) struct GramItems {
    pub(crate) gram: TermNumber,
    pub(crate) items: Range<u64>,
}

impl Collection {
    /// Rows with a number in a range.
    pub(crate) fn of_numbers(field: usize, range: Range<u64>) -> Self {
        Self { source: Source::Numbers { field, range }, rows: RowSet::default() }
    }

    /// Rows with a term of the space that begins with `prefix` and passes the filter.
    pub(crate) fn of_terms(index: &Index, space: Space, prefix: &str, filter: Option<Term>) -> Self {
        let range = index.dictionary.beginning_with(space, prefix.as_bytes());
        Self { source: Source::Terms { range, filter, postings: VecDeque::new() }, rows: RowSet::default() }
    }

    /// Rows with a tag that passes the filter and has all grams, those that fewest tags have first; if there are none,
    /// any gram that begins with `sign`.
    pub(crate) fn of_tags(index: &Index, field: usize, filter: Term, grams: Vec<GramItems>, sign: &str) -> Self {
        let single = match grams.is_empty() {
            true => index.dictionary.beginning_with(Space::of(field, TermType::Gram), sign.as_bytes()),
            false => 0..0,
        };
        let source = Source::Tags { field, filter, grams, single, postings: VecDeque::new() };
        Self { source, rows: RowSet::default() }
    }

    /// Rows within a circle.
    pub(crate) fn of_circle(index: &Index, field: usize, longitude: f64, latitude: f64, radius_m: f64) -> Self {
        let area = circle(longitude, latitude, radius_m);
        let numbers = &index.numbers[field];
        let range_of = |cell: Cell| {
            let scores = cell.scores();
            numbers.range(Bound::Included(scores.start), Bound::Excluded(scores.end))
        };
        let ranges = match surrounds_pole(latitude, radius_m) {
            true => std::iter::once(0..numbers.len()).collect(),
            false => Area { center: on_grid(area.center), ..area }.cells().into_iter().map(range_of).collect(),
        };
        Self { source: Source::Circle { field, ranges, area }, rows: RowSet::default() }
    }

    /// Returns a bound of the items yet to be read.
    pub(crate) fn left(&self) -> u64 {
        match &self.source {
            Source::Numbers { range, .. } | Source::Terms { range, .. } => range.end - range.start,
            Source::Tags { grams, single, .. } => grams.len() as u64 + single.end - single.start,
            Source::Circle { ranges, .. } => ranges.iter().map(|range| range.end - range.start).sum(),
        }
    }

    /// Collects for as long as there is work left; returns true once all is.
    pub(crate) fn step(&mut self, index: &Index, now: Ms, work: &mut u64) -> bool {
        let rows = &mut self.rows;
        while *work > 0 {
            let is_over = match &mut self.source {
                Source::Numbers { field, range } => {
                    let piece = piece(range);
                    spend(work, piece.end - piece.start, ITEM_WORK);
                    index.numbers[*field].walk(piece, Direction::Forward, |_, row| {
                        rows.insert(row);
                        ControlFlow::Continue(())
                    });
                    range.is_empty()
                }
                Source::Terms { range, filter, postings } => {
                    step_terms(index, range, filter.as_ref(), postings, rows, work)
                }
                Source::Tags { field, filter, grams, single, postings } => {
                    let is_read = step_postings(index, postings, rows, work);
                    is_read && step_tags(index, *field, filter, (grams, single), postings, work)
                }
                Source::Circle { field, ranges, area } => step_circle(index, *field, ranges, area, now, rows, work),
            };
            if is_over {
                return true;
            }
        }
        false
    }
}

fn step_terms(
    index: &Index,
    range: &mut Range<u64>,
    filter: Option<&Term>,
    postings: &mut VecDeque<Range<u64>>,
    rows: &mut RowSet,
    work: &mut u64,
) -> bool {
    if !step_postings(index, postings, rows, work) {
        return false;
    }
    let piece = piece(range);
    spend(work, piece.end - piece.start, if filter.is_some() { RECORD_WORK } else { ITEM_WORK });
    index.dictionary.walk(piece, |term, number| {
        let is_taken = filter.is_none_or(|filter| std::str::from_utf8(term).is_ok_and(|term| filter.fits(term)));
        if is_taken {
            postings.push_back(index.postings.items_of(number));
        }
        ControlFlow::Continue(())
    });
    postings.is_empty() && range.is_empty()
}

/// Reads a piece of the first postings; returns true if there are none.
fn step_postings(index: &Index, postings: &mut VecDeque<Range<u64>>, rows: &mut RowSet, work: &mut u64) -> bool {
    let Some(items) = postings.front_mut() else { return true };
    let piece = piece(items);
    spend(work, piece.end - piece.start, CHUNK_WORK);
    index.postings.walk(piece, |chunk, more| {
        more.add_to(rows.chunk_mut(chunk));
        ControlFlow::Continue(())
    });
    if items.is_empty() {
        postings.pop_front();
    }
    false
}

/// Looks at the tags of a chunk that have all grams; returns true once there are no more.
fn step_tags(
    index: &Index,
    field: usize,
    filter: &Term,
    (grams, single): (&mut Vec<GramItems>, &mut Range<u64>),
    postings: &mut VecDeque<Range<u64>>,
    work: &mut u64,
) -> bool {
    if grams.first().is_none_or(|first| first.items.is_empty()) {
        let next = single.start..single.end.min(single.start + 1);
        single.start = next.end;
        grams.clear();
        index.dictionary.walk(next, |_, gram| {
            grams.push(GramItems { gram, items: index.tag_grams.items_of(gram) });
            ControlFlow::Continue(())
        });
    }
    let Some((first, others)) = grams.split_first_mut().filter(|(first, _)| !first.items.is_empty()) else {
        return true;
    };
    let (mut tags, mut own) = (Bitmap::EMPTY, Bitmap::EMPTY);
    let chunk = index.tag_grams.read(first.items.start, &mut tags);
    first.items.start += 1;
    for GramItems { gram, items } in others {
        let (at, next) = index.tag_grams.look(items.clone(), *gram, chunk, &mut own);
        items.start = at;
        if next != Some(chunk) {
            own.clear();
        }
        tags.intersect(&own);
    }
    spend(work, 1 + tags.count(), CHUNK_WORK + 3 * RECORD_WORK);
    let tags = tags.places().map(|place| row_at(chunk, place)).filter(|tag| fits_tag(index, field, filter, *tag));
    postings.extend(tags.map(|tag| index.postings.items_of(tag)));
    false
}

/// Returns true if the tag with this number passes the filter: a row that has it says what it is.
fn fits_tag(index: &Index, field: usize, filter: &Term, tag: TermNumber) -> bool {
    let items = index.postings.items_of(tag);
    let mut rows = Bitmap::EMPTY;
    if items.is_empty() {
        return false;
    }
    let chunk = index.postings.read(items.start, &mut rows);
    let Some(row) = rows.places().next().map(|place| row_at(chunk, place)) else { return false };
    let space = Space::of(field, TermType::Tag);
    let is_it = |text: &String| index.dictionary.number(&term_key(space, text.as_bytes())) == Some(tag);
    let look = |record: &Record<'_>| {
        let value = record.value(field, 0)?;
        tags(&index.definition.fields[field], value).into_iter().find(is_it)
    };
    index.record(row, look).flatten().is_some_and(|text| filter.fits(&text))
}

fn step_circle(
    index: &Index,
    field: usize,
    ranges: &mut VecDeque<Range<u64>>,
    area: &Area,
    now: Ms,
    rows: &mut RowSet,
    work: &mut u64,
) -> bool {
    let Some(range) = ranges.front_mut() else { return true };
    let piece = piece(range);
    spend(work, piece.end - piece.start, RECORD_WORK);
    let mut near: Vec<RowNumber> = Vec::new();
    index.numbers[field].walk(piece, Direction::Forward, |_, row| {
        near.push(row);
        ControlFlow::Continue(())
    });
    for row in near {
        let place = index.record(row, |record| record.value(field, now).and_then(geo_place)).flatten();
        if place.is_some_and(|place| area.distance_within(place).is_some()) {
            rows.insert(row);
        }
    }
    if range.is_empty() {
        ranges.pop_front();
    }
    ranges.is_empty()
}

/// Returns true if a circle surrounds a pole, or nearly: then it has no eastern and western meridian, which cells are
/// chosen by.
fn surrounds_pole(latitude: f64, radius_m: f64) -> bool {
    const DEGREE_M: f64 = 111_000.0;
    latitude.abs() + radius_m / DEGREE_M > 89.9
}

/// Cuts a piece off the beginning of a range.
fn piece(range: &mut Range<u64>) -> Range<u64> {
    let end = range.end.min(range.start + PIECE);
    let piece = range.start..end;
    range.start = end;
    piece
}

fn spend(work: &mut u64, items: u64, each: u64) {
    *work = work.saturating_sub(1 + items * each);
}
