//! Frequent tags: the rows of each are kept in the order of each sortable number.
//!
//! ```text
//!   tag   < 512 rows: not ranked | ... as before ... | >= 1,024 rows: ranked        looked at every 64th change or so
//! ```
//!
//! Rows of other tags are few enough to be sorted when they are asked for. Where a tag stands between the bounds does
//! not change an answer, only its cost.

use super::dictionary::{Space, TermNumber, TermType, term_key};
use super::numbers::ordered;
use super::postings::RowNumber;
use super::rankings::{RankedEntry, Rankings};
use super::record::Row;
use super::terms::{number, tags};
use crate::definition::{Definition, Field, FieldType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows from which on a tag is ranked, and those below which it is no more.
pub(super) const RANKED_ROWS_MIN: u64 = 1_024;
pub(super) const KEPT_ROWS_MIN: u64 = RANKED_ROWS_MIN / 2;

/// The rows of frequent tags by sortable numbers.
#[derive(Clone)]
pub(crate) struct RankedTags {
    /// Ranked tags by their keys in the dictionary.
    terms: Arc<BTreeMap<Vec<u8>, TermNumber>>,
    /// By field; none unless it is numeric and sortable.
    rankings: Vec<Option<Rankings>>,
}

/// An entry of a tag in the ranking of a field.
pub(super) type TagEntry = (usize, TermNumber, RankedEntry);

impl RankedTags {
    pub(super) fn new(definition: &Definition) -> Self {
        let rankings = definition.fields.iter().map(|field| is_ranking(field).then(Rankings::of_terms)).collect();
        Self { terms: Arc::default(), rankings }
    }

    pub(super) fn heap_bytes(&self) -> u64 {
        self.rankings.iter().flatten().map(Rankings::heap_bytes).sum()
    }

    /// Returns the rankings by a field's numbers, if it is sortable.
    pub(crate) fn by(&self, field: usize) -> Option<&Rankings> {
        self.rankings[field].as_ref()
    }

    /// Returns the positions of the fields with rankings.
    pub(super) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rankings.len()).filter(|field| self.rankings[*field].is_some())
    }

    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.terms.contains_key(key)
    }

    /// Makes the difference between the entries of a row and those that it had.
    pub(super) fn change(
        &mut self,
        definition: &Definition,
        row_number: RowNumber,
        (old, new): (Option<&Row>, Option<&Row>),
    ) {
        let differs = |is_read: fn(&Field) -> bool| {
            let mut fields = definition.fields.iter().enumerate().filter(|(_, field)| is_read(field));
            fields.any(|(at, _)| old.and_then(|row| row.value(at)) != new.and_then(|row| row.value(at)))
        };
        if self.terms.is_empty() {
            return;
        }
        let has_other_tags = differs(is_tag);
        if !has_other_tags && !differs(is_ranking) {
            return;
        }
        let terms_of = |row: Option<&Row>| row.map(|row| self.terms_of(definition, row)).unwrap_or_default();
        let old_terms = terms_of(old);
        let new_terms = if has_other_tags { &terms_of(new) } else { &old_terms };
        let entries = |row: Option<&Row>, terms: &[TermNumber]| {
            row.map(|row| self.entries(row_number, row, terms)).unwrap_or_default()
        };
        let (old, new) = (entries(old, &old_terms), entries(new, new_terms));
        let removed: Vec<_> = super::difference(&old, &new).collect();
        let added: Vec<_> = super::difference(&new, &old).collect();
        for (field, term, entry) in removed.iter().chain(&added) {
            self.ranking_mut(*field).prefetch(*term, *entry);
        }
        for (field, term, entry) in removed {
            self.ranking_mut(*field).remove(*term, *entry);
        }
        for (field, term, entry) in added {
            self.ranking_mut(*field).add(*term, *entry);
        }
    }

    /// Returns the ranked tags of a row, ascending and each once. O(bytes of tags).
    fn terms_of(&self, definition: &Definition, row: &Row) -> Vec<TermNumber> {
        let fields = definition.fields.iter().enumerate().filter(|(_, field)| is_tag(field));
        let keys = fields.flat_map(|(at, field)| {
            let tags = row.value(at).map(|value| tags(field, value)).unwrap_or_default();
            tags.into_iter().map(move |tag| term_key(Space::of(at, TermType::Tag), tag.as_bytes()))
        });
        let mut terms: Vec<TermNumber> = keys.filter_map(|key| self.terms.get(&key).copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// Returns the entries of a row with these ranked tags, ascending.
    fn entries(&self, row_number: RowNumber, row: &Row, terms: &[TermNumber]) -> Vec<TagEntry> {
        let numbers = self.fields().filter_map(|field| Some((field, number_of(row.value(field)?)?)));
        numbers.flat_map(|(field, number)| terms.iter().map(move |term| (field, *term, (number, row_number)))).collect()
    }

    /// Begins to rank a tag, whose entries are given for each field with rankings, ascending.
    pub(super) fn begin(&mut self, key: &[u8], term: TermNumber, entries: &[Vec<RankedEntry>]) {
        Arc::make_mut(&mut self.terms).insert(key.to_vec(), term);
        let rankings = self.rankings.iter_mut().flatten();
        rankings.zip(entries).for_each(|(ranking, entries)| ranking.fill(term, entries));
    }

    /// Ends to rank a tag, if it is ranked.
    pub(super) fn end(&mut self, key: &[u8]) {
        if !self.has(key) {
            return;
        }
        if let Some(term) = Arc::make_mut(&mut self.terms).remove(key) {
            self.rankings.iter_mut().flatten().for_each(|ranking| ranking.clear(term));
        }
    }

    fn ranking_mut(&mut self, field: usize) -> &mut Rankings {
        self.rankings[field].as_mut().expect("entries are of fields with rankings")
    }
}

/// Returns the integer that a value of a ranking field is ordered by.
pub(super) fn number_of(value: &[u8]) -> Option<u64> {
    number(value).map(ordered)
}

/// Returns true if tags are ranked by this field.
fn is_ranking(field: &Field) -> bool {
    field.is_sortable && field.field_type == FieldType::Numeric
}

fn is_tag(field: &Field) -> bool {
    field.is_indexed && matches!(field.field_type, FieldType::Tag { .. })
}
