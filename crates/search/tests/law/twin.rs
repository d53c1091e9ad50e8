//! The twin of an index: rows by key, each looked at for each query. It follows the documentation of `Query`, `Term`
//! and `Definition`, and shares only the cutting and stemming of words with the crate.

use search::{Definition, Field, FieldType, Query, Row, SearchOrder, Term, fold, stem, unescape, words};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

/// The radius of the sphere that Redis measures distances on.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;

#[derive(Clone)]
pub(super) struct Twin {
    pub(super) definition: Arc<Definition>,
    pub(super) rows: BTreeMap<Vec<u8>, Row>,
}

/// When a query is asked, and in which language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: u64,
    pub(super) language: search::Language,
}

/// The value that orders a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Bytes(Vec<u8>),
}

impl Twin {
    pub(super) fn new(definition: Arc<Definition>) -> Self {
        Self { definition, rows: BTreeMap::new() }
    }

    /// Sets or removes a row; returns false, without a row, if a value is not of its field's type.
    pub(super) fn put(&mut self, key: &[u8], row: Option<&Row>) -> bool {
        self.rows.remove(key);
        let Some(row) = row else { return true };
        let fits = |(field, value): (&Field, &Option<search::RowField>)| {
            value.as_ref().is_none_or(|value| is_of_type(field, &value.value))
        };
        let is_sound = self.definition.fields.iter().zip(&row.fields).all(fits);
        if is_sound {
            self.rows.insert(key.to_vec(), row.clone());
        }
        is_sound
    }

    /// Returns the keys of matching rows.
    pub(super) fn matching(&self, query: &Query, moment: Moment) -> Vec<&[u8]> {
        let rows = self.rows.iter().filter(|(_, row)| is_live(row.expires_at_ms, moment.now));
        rows.filter(|(_, row)| self.fits(row, query, moment)).map(|(key, _)| &**key).collect()
    }

    /// Returns the tags of a field of all rows, each once, in order.
    pub(super) fn tag_values(&self, field: usize) -> Vec<Box<[u8]>> {
        let values = self.rows.values().filter_map(|row| row.fields.get(field)?.as_ref());
        let all: BTreeSet<String> =
            values.flat_map(|value| tags(&self.definition.fields[field], &value.value)).collect();
        all.into_iter().map(|tag| tag.into_bytes().into()).collect()
    }

    /// Returns the live value of a row's field.
    pub(super) fn value(row: &Row, field: usize, now: u64) -> Option<&[u8]> {
        let field = row.fields.get(field)?.as_ref()?;
        is_live(field.expires_at_ms, now).then_some(&*field.value)
    }

    /// Compares two rows, given with their numbers.
    pub(super) fn compare(&self, order: SearchOrder, now: u64, one: (&[u8], u32), other: (&[u8], u32)) -> Ordering {
        let is_backward = order.direction == blocks::Direction::Backward;
        let turned = |by: Ordering| if is_backward { by.reverse() } else { by };
        match (self.sort_value(one.0, order.field, now), self.sort_value(other.0, order.field, now)) {
            (None, None) => one.1.cmp(&other.1),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(left), Some(right)) => {
                let by_value = match (left, right) {
                    (Value::Number(left), Value::Number(right)) => left.partial_cmp(&right).unwrap(),
                    (Value::Bytes(left), Value::Bytes(right)) => left.cmp(&right),
                    (left, right) => panic!("{left:?} beside {right:?} in one field"),
                };
                turned(by_value.then(one.1.cmp(&other.1)))
            }
        }
    }

    fn sort_value(&self, key: &[u8], field: usize, now: u64) -> Option<Value> {
        let value = Self::value(&self.rows[key], field, now)?;
        let field = &self.definition.fields[field];
        Some(match field.field_type {
            FieldType::Numeric => Value::Number(number(value).unwrap()),
            FieldType::Tag { is_case_sensitive: true, .. } => Value::Bytes(value.to_vec()),
            _ if field.is_unnormalized => Value::Bytes(value.to_vec()),
            _ => Value::Bytes(text(value).into_bytes()),
        })
    }

    fn fits(&self, row: &Row, query: &Query, moment: Moment) -> bool {
        // A field that is not indexed finds nothing, whatever is in it.
        let value =
            |field: &usize| Self::value(row, *field, moment.now).filter(|_| self.definition.fields[*field].is_indexed);
        match query {
            Query::All | Query::Optional(_) => true,
            Query::Nothing => false,
            Query::Every(parts) => parts.iter().all(|part| self.fits(row, part, moment)),
            Query::Any(parts) => parts.iter().any(|part| self.fits(row, part, moment)),
            Query::Not(part) => !self.fits(row, part, moment),
            Query::Text { fields, term } => fields
                .iter()
                .any(|field| value(field).is_some_and(|value| self.text_fits(row, *field, value, term, moment))),
            Query::Tag { field, term } => value(field)
                .is_some_and(|value| tags(&self.definition.fields[*field], value).iter().any(|tag| is_like(term, tag))),
            Query::Number { field, from, to } => value(field).is_some_and(|value| {
                let number = number(value).unwrap();
                let is_after = match from {
                    Bound::Unbounded => true,
                    Bound::Included(from) => number >= *from,
                    Bound::Excluded(from) => number > *from,
                };
                let is_before = match to {
                    Bound::Unbounded => true,
                    Bound::Included(to) => number <= *to,
                    Bound::Excluded(to) => number < *to,
                };
                is_after && is_before
            }),
            Query::Circle { field, longitude, latitude, radius_m } => value(field)
                .is_some_and(|value| distance_m((*longitude, *latitude), place(value).unwrap()) <= *radius_m),
            Query::Missing { field } => Self::value(row, *field, moment.now).is_none(),
        }
    }

    fn text_fits(&self, row: &Row, field: usize, value: &[u8], term: &Term, moment: Moment) -> bool {
        let field = &self.definition.fields[field];
        let text = text(value);
        if value.is_empty() && !field.indexes_empty {
            return false;
        }
        if let Term::Contains(part) = term {
            return unescape(&text).contains(&**part);
        }
        let mut own: Vec<_> = words(&text).filter(|word| !self.definition.is_stop_word(word)).collect();
        if value.is_empty() {
            own.push("".into());
        }
        let has_stems = matches!(field.field_type, FieldType::Text { has_no_stems: false, .. });
        let language = row.language.unwrap_or(self.definition.language);
        match term {
            Term::Exact { word, is_verbatim: false } if has_stems && !word.is_empty() => {
                let wanted = stem(word, moment.language);
                own.iter().any(|own| **own == **word || !own.is_empty() && stem(own, language) == wanted)
            }
            _ => own.iter().any(|own| is_like(term, own)),
        }
    }
}

pub(super) fn is_live(expires_at_ms: Option<u64>, now: u64) -> bool {
    expires_at_ms.is_none_or(|at_ms| at_ms > now)
}

fn is_of_type(field: &Field, value: &[u8]) -> bool {
    match field.field_type {
        FieldType::Text { .. } | FieldType::Tag { .. } => true,
        FieldType::Numeric => number(value).is_some(),
        FieldType::Geo => place(value).is_some(),
    }
}

/// Returns a value in lower case.
pub(super) fn text(value: &[u8]) -> String {
    fold(&String::from_utf8_lossy(value))
}

/// Returns the tags of a value.
pub(super) fn tags(field: &Field, value: &[u8]) -> Vec<String> {
    let FieldType::Tag { separator, is_case_sensitive, .. } = field.field_type else { panic!("a TAG field") };
    let parts =
        value.split(|byte| *byte == separator).map(|part| String::from_utf8_lossy(part.trim_ascii()).into_owned());
    let cased = parts.map(|part| if is_case_sensitive { part } else { fold(&part) });
    cased.filter(|tag| field.indexes_empty || !tag.is_empty()).collect()
}

fn number(value: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

fn place(value: &[u8]) -> Option<(f64, f64)> {
    let (longitude, latitude) = std::str::from_utf8(value).ok()?.split_once(',')?;
    let place: (f64, f64) = (longitude.parse().ok()?, latitude.parse().ok()?);
    (place.0.abs() <= 180.0 && place.1.abs() <= 85.051_128_78).then_some(place)
}

/// Returns the distance over a sphere, by the haversine formula.
fn distance_m(one: (f64, f64), other: (f64, f64)) -> f64 {
    let (from, to) = (one.1.to_radians(), other.1.to_radians());
    let rise = ((to - from) / 2.0).sin().powi(2);
    let turn = ((other.0 - one.0).to_radians() / 2.0).sin().powi(2);
    2.0 * EARTH_RADIUS_M * (rise + from.cos() * to.cos() * turn).min(1.0).sqrt().asin()
}

fn is_like(term: &Term, word: &str) -> bool {
    match term {
        Term::Exact { word: own, .. } => **own == *word,
        Term::Prefix(start) => word.starts_with(&**start),
        Term::Suffix(end) => word.ends_with(&**end),
        Term::Contains(part) => word.contains(&**part),
        Term::Wildcard(pattern) => {
            fits_wildcard(&pattern.chars().collect::<Vec<_>>(), &word.chars().collect::<Vec<_>>())
        }
        Term::Fuzzy { word: own, distance_max } => distance(own, word) <= usize::from(*distance_max),
    }
}

fn fits_wildcard(pattern: &[char], word: &[char]) -> bool {
    match (pattern, word) {
        ([], rest) => rest.is_empty(),
        (['*', pattern @ ..], _) => (0..=word.len()).any(|taken| fits_wildcard(pattern, &word[taken..])),
        (['?', pattern @ ..], [_, word @ ..]) => fits_wildcard(pattern, word),
        (['\\', character, pattern @ ..], [first, word @ ..]) => character == first && fits_wildcard(pattern, word),
        ([character, pattern @ ..], [first, word @ ..]) if *character != '?' => {
            character == first && fits_wildcard(pattern, word)
        }
        _ => false,
    }
}

/// Returns the Levenshtein distance of two words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (at, character) in one.chars().enumerate() {
        let mut line = vec![at + 1];
        for (beside, other) in other.iter().enumerate() {
            let replaced = above[beside] + usize::from(character != *other);
            line.push(replaced.min(above[beside + 1] + 1).min(line[beside] + 1));
        }
        above = line;
    }
    above[other.len()]
}
