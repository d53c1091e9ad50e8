//! Tags that are like a pattern, found by their grams.
//!
//! ```text
//!   grams --> candidates: tags that have all grams --> a row of each --> tags of the row that fit --> their terms
//! ```
//!
//! The dictionary cannot say what a tag is by its number, so a row that has it says so. All tags of that row are
//! decided at once, and remembered: no row is cut into tags twice.

use super::bitmap::{Bitmap, RemainingRows, RowSet};
use super::pattern::TermPattern;
use super::work::{CHUNK_WORK, RECORD_WORK, TERM_WORK, Work};
use crate::index::{Index, Record, Space, TermNumber, TermType, row_at, tags, term_key};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// A gram, and its items yet to be read.
pub(crate) struct GramItems {
    pub(crate) gram: TermNumber,
    pub(crate) items: Range<u64>,
}

/// A search for tags.
pub(crate) struct TagSearch {
    field: usize,
    pattern: Arc<TermPattern>,
    /// Grams that a tag must have all.
    grams: Vec<GramItems>,
    /// Positions in the dictionary of grams that are looked for after these, one by one.
    other_grams: Range<u64>,
    /// Numbers of tags.
    candidates: RemainingRows,
    /// Rows whose tags are decided.
    decided: RowSet,
    /// Tags that fit, yet to be looked up.
    fitting: Vec<String>,
    /// Numbers of the tags found.
    found: RowSet,
}

impl TagSearch {
    /// Begins a search for tags with all grams, the rarest first; if there are none, for those with any gram that
    /// begins with `start`.
    pub(crate) fn new(
        index: &Index,
        field: usize,
        pattern: Arc<TermPattern>,
        grams: Vec<GramItems>,
        start: &str,
    ) -> Self {
        let other_grams = match grams.is_empty() {
            true => index.dictionary.beginning_with(Space::of(field, TermType::Gram), start.as_bytes()),
            false => 0..0,
        };
        Self {
            field,
            pattern,
            grams,
            other_grams,
            candidates: RemainingRows::NONE,
            decided: RowSet::default(),
            fitting: Vec::new(),
            found: RowSet::default(),
        }
    }

    /// Returns true if no tag can be found.
    pub(crate) fn is_empty(&self) -> bool {
        self.grams.is_empty() && self.other_grams.is_empty()
    }

    /// Returns a bound of its heap bytes.
    pub(crate) fn heap_bytes_max(&self) -> usize {
        let fitting = self.fitting.iter().map(|tag| size_of::<String>() + tag.capacity());
        self.decided.heap_bytes_max() + self.found.heap_bytes_max() + fitting.sum::<usize>()
    }

    /// Does the next thing, and adds a tag that it finds to `terms`; returns true once there is nothing to do.
    pub(crate) fn step(&mut self, index: &Index, terms: &mut Vec<TermNumber>, work: &mut Work) -> bool {
        if let Some(tag) = self.fitting.pop() {
            work.spend(TERM_WORK);
            work.spend_text(tag.len());
            let number = index.dictionary.number(&term_key(Space::of(self.field, TermType::Tag), tag.as_bytes()));
            if let Some(number) = number.filter(|number| !self.found.contains(*number)) {
                self.found.insert(number);
                terms.push(number);
            }
            return false;
        }
        if let Some(tag) = self.candidates.next() {
            self.decide(index, tag, work);
            return false;
        }
        !self.find_candidates(index, work)
    }

    /// Decides the tags of a row that has this tag.
    fn decide(&mut self, index: &Index, tag: TermNumber, work: &mut Work) {
        work.spend(TERM_WORK);
        let items = index.postings.items_of(tag);
        if items.is_empty() || self.found.contains(tag) {
            return;
        }
        let mut rows = Bitmap::EMPTY;
        let chunk = index.postings.read(items.start, &mut rows);
        let Some(row) = rows.next_place(0).map(|place| row_at(chunk, place)) else { return };
        if self.decided.contains(row) {
            return;
        }
        self.decided.insert(row);
        work.spend(RECORD_WORK);
        let Self { field, pattern, fitting, .. } = self;
        index.record(row, |record: &Record<'_>| {
            let Some(value) = record.raw_value(*field) else { return };
            work.spend_text(2 * value.len());
            let tags = tags(&index.definition.fields[*field], value).into_iter();
            fitting.extend(tags.filter(|tag| pattern.fits(tag, work)));
        });
    }

    /// Takes the tags of the next chunk that have all grams; returns false if there are no more.
    fn find_candidates(&mut self, index: &Index, work: &mut Work) -> bool {
        if self.grams.first().is_none_or(|first| first.items.is_empty()) {
            let Some(next) = self.other_grams.next() else { return false };
            let grams = &mut self.grams;
            grams.clear();
            work.spend(TERM_WORK);
            index.dictionary.walk(next..next + 1, |_, gram| {
                grams.push(GramItems { gram, items: index.tag_grams.items_of(gram) });
                ControlFlow::Break(())
            });
            return true;
        }
        let Some((first, others)) = self.grams.split_first_mut() else { return false };
        let (mut tags, mut own) = (Bitmap::EMPTY, Bitmap::EMPTY);
        work.spend(CHUNK_WORK);
        let chunk = index.tag_grams.read(first.items.start, &mut tags);
        first.items.start += 1;
        for GramItems { gram, items } in others {
            work.spend(CHUNK_WORK);
            let (at, next) = index.tag_grams.look(items.clone(), *gram, chunk, &mut own);
            items.start = at;
            if next != Some(chunk) {
                own.clear();
            }
            tags.intersect(&own);
        }
        self.candidates = RemainingRows::of(chunk, tags);
        true
    }
}
