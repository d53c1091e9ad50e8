//! The terms and numbers of a row: what an index holds it under.
//!
//! ```text
//! TEXT  "Running Shoes"   words running, shoes; stems run, shoe; grams ru un nn ni in ng g_ _s sh ho oe es s
//! TAG   "a b, C"          tags "a b", "c"
//! ```
//!
//! A gram is two characters in a row, or the last one alone: so each character begins exactly one gram, and texts that
//! contain a single character are those with a gram that begins with it.

use super::dictionary::{Space, TermType, term_key};
use super::record::Row;
use crate::definition::{Definition, Field, FieldType, Language};
use crate::place::parse_place;
use crate::text::{fold, shown, stem, unescape, words};
use crate::value::parse_number;
use std::borrow::Cow;
use values::geo::{Cell, Coordinates, LATITUDE_MAX, LONGITUDE_MAX, STEPS_MAX};

/// The reason why a hash is not indexed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RowError {
    /// A NUMERIC field without a number.
    #[error("Invalid numeric value: '{}'", shown(.0))]
    Number(Box<[u8]>),
    /// A GEO field without a place.
    #[error("Invalid geo string: '{}'", shown(.0))]
    Place(Box<[u8]>),
}

/// The terms of a row, in order and each once, and its numbers in the order of fields.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RowTerms {
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) numbers: Vec<(usize, f64)>,
    /// Keys from which on those that are equal are removed.
    compacted_at: usize,
}

/// Keys of a row that may be equal: a long text has far more grams than distinct ones.
const KEYS_UNSORTED_MAX: usize = 1 << 12;

impl RowTerms {
    /// Returns the terms and numbers of a row, without those of fields that are the same in `other`. O(bytes log
    /// bytes); memory for twice the distinct ones.
    ///
    /// # Errors
    /// A value is not of its field's type.
    pub(crate) fn of(definition: &Definition, row: &Row, other: Option<&Row>) -> Result<Self, RowError> {
        let mut terms = Self::default();
        terms.push(Space::ALL_ROWS, "");
        let language = row.language.unwrap_or(definition.language);
        let other = other.filter(|other| other.language == row.language);
        for (at, field) in definition.fields.iter().enumerate() {
            if other.is_some_and(|other| row.value(at) == other.value(at)) {
                continue;
            }
            match row.fields.get(at).and_then(Option::as_ref) {
                Some(value) => terms.add(definition, (at, field), &value.value, language)?,
                None if field.indexes_missing => terms.push(Space::of(at, TermType::Missing), ""),
                None => {}
            }
        }
        terms.compact();
        Ok(terms)
    }

    fn push(&mut self, space: Space, term: &str) {
        self.keys.push(term_key(space, term.as_bytes()));
        if self.keys.len() >= self.compacted_at.max(KEYS_UNSORTED_MAX) {
            self.compact();
            self.compacted_at = 2 * self.keys.len();
        }
    }

    fn compact(&mut self) {
        self.keys.sort_unstable();
        self.keys.dedup();
    }

    fn add(
        &mut self,
        definition: &Definition,
        (at, field): (usize, &Field),
        value: &[u8],
        language: Language,
    ) -> Result<(), RowError> {
        match field.field_type {
            FieldType::Text { has_no_stems, .. } if field.is_indexed => {
                let text = folded(value, false);
                self.add_grams(at, &unescape(&text));
                if value.is_empty() && field.indexes_empty {
                    self.push(Space::of(at, TermType::Word), "");
                }
                for word in words(&text).filter(|word| !definition.is_stop_word(word)) {
                    self.push(Space::of(at, TermType::Word), &word);
                    if !has_no_stems {
                        self.push(Space::of(at, TermType::Stem), &stem(&word, language));
                    }
                }
            }
            FieldType::Tag { .. } if field.is_indexed => {
                for tag in tags(field, value) {
                    self.push(Space::of(at, TermType::Tag), &tag);
                }
            }
            FieldType::Text { .. } | FieldType::Tag { .. } => {}
            FieldType::Numeric => {
                let number = number(value).ok_or_else(|| RowError::Number(value.into()))?;
                self.numbers.push((at, number));
            }
            FieldType::Geo => {
                let place = place(value).ok_or_else(|| RowError::Place(value.into()))?;
                self.numbers.push((at, Cell::of(on_grid(place), STEPS_MAX).score()));
            }
        }
        Ok(())
    }

    /// Returns true if this field has this number. O(log fields).
    pub(crate) fn has_number(&self, (field, value): (usize, f64)) -> bool {
        let at = self.numbers.binary_search_by_key(&field, |(field, _)| *field);
        at.is_ok_and(|at| self.numbers[at].1 == value)
    }

    fn add_grams(&mut self, field: usize, text: &str) {
        let space = Space::of(field, TermType::Gram);
        grams(text).for_each(|gram| self.push(space, gram));
    }
}

/// Returns the grams of a folded text, equal ones as often as they occur.
pub(crate) fn grams(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(move |(at, character)| {
        let second = at + character.len_utf8();
        let end = text[second..].chars().next().map_or(second, |character| second + character.len_utf8());
        &text[at..end]
    })
}

/// Returns a value as text in lower case, or as it stands if `is_case_sensitive`.
pub(crate) fn folded(value: &[u8], is_case_sensitive: bool) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(value);
    if is_case_sensitive { text } else { Cow::Owned(fold(&text)) }
}

/// Returns the tags of a TAG field's value, folded unless it is case-sensitive.
pub(crate) fn tags(field: &Field, value: &[u8]) -> Vec<String> {
    let FieldType::Tag { separator, is_case_sensitive, .. } = field.field_type else { return Vec::new() };
    let parts = value.split(|byte| *byte == separator).map(<[u8]>::trim_ascii);
    let is_kept = |part: &&[u8]| !part.is_empty() || field.indexes_empty;
    parts.filter(is_kept).map(|part| folded(part, is_case_sensitive).into_owned()).collect()
}

/// Parses the number of a NUMERIC field.
pub(crate) fn number(value: &[u8]) -> Option<f64> {
    parse_number(value.trim_ascii())
}

/// Parses the place of a GEO field: longitude, latitude.
pub(crate) fn place(value: &[u8]) -> Option<Coordinates> {
    parse_place(value).filter(|place| place.is_valid())
}

/// Returns a place that has a cell: the grid ends before its greatest meridian and parallel. It moves by less than a
/// cell.
pub(crate) fn on_grid(place: Coordinates) -> Coordinates {
    const MARGIN: f64 = 1e-7;
    Coordinates {
        longitude: place.longitude.min(LONGITUDE_MAX - MARGIN),
        latitude: place.latitude.min(LATITUDE_MAX - MARGIN),
    }
}
