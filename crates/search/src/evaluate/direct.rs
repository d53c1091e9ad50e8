//! A query against one row: for rows of which something is due, and for those that may have changed since.

use crate::definition::{Definition, FieldType, Language};
use crate::index::{Record, folded, geo_place, number, tags};
use crate::query::{Query, Term};
use crate::text::{stem, words};
use base::Ms;
use std::ops::RangeBounds;
use values::geo::{Area, Coordinates, GeoShape};

/// What a query is asked with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    pub(crate) now: Ms,
    /// The language of the query's words.
    pub(crate) language: Language,
}

/// Returns true if a row is live and matches. O(bytes of the record, nodes of the query).
pub(crate) fn matches(definition: &Definition, query: &Query, record: &Record<'_>, instant: Instant) -> bool {
    record.expires_at_ms.is_none_or(|at_ms| at_ms > instant.now) && fits(definition, query, record, instant)
}

fn fits(definition: &Definition, query: &Query, record: &Record<'_>, instant: Instant) -> bool {
    let value = |field: usize| record.value(field, instant.now).filter(|_| definition.fields[field].is_indexed);
    match query {
        Query::All | Query::Optional(_) => true,
        Query::Nothing => false,
        Query::Every(parts) => parts.iter().all(|part| fits(definition, part, record, instant)),
        Query::Any(parts) => parts.iter().any(|part| fits(definition, part, record, instant)),
        Query::Not(part) => !fits(definition, part, record, instant),
        Query::Text { fields, term } => fields.iter().any(|field| {
            value(*field).is_some_and(|value| text_fits(definition, (*field, value), term, record, instant))
        }),
        Query::Tag { field, term } => value(*field).is_some_and(|value| tag_fits(definition, *field, value, term)),
        Query::Number { field, from, to } => {
            value(*field).and_then(number).is_some_and(|number| (*from, *to).contains(&number))
        }
        Query::Circle { field, longitude, latitude, radius_m } => {
            let area = circle(*longitude, *latitude, *radius_m);
            value(*field).and_then(geo_place).is_some_and(|place| area.distance_within(place).is_some())
        }
        Query::Missing { field } => record.value(*field, instant.now).is_none(),
    }
}

/// Returns a circle in metres.
pub(crate) fn circle(longitude: f64, latitude: f64, radius_m: f64) -> Area {
    Area { center: Coordinates { longitude, latitude }, form: GeoShape::Circle { radius: radius_m }, unit_m: 1.0 }
}

/// Returns true if the tags of a value are like a term.
pub(crate) fn tag_fits(definition: &Definition, field: usize, value: &[u8], term: &Term) -> bool {
    tags(&definition.fields[field], value).iter().any(|tag| term.fits(tag))
}

/// Returns true if the words of a value are like a term; if it is an infix, the whole value.
pub(crate) fn text_fits(
    definition: &Definition,
    (field, value): (usize, &[u8]),
    term: &Term,
    record: &Record<'_>,
    instant: Instant,
) -> bool {
    let field = &definition.fields[field];
    if value.is_empty() {
        return field.indexes_empty && term.fits("");
    }
    let text = folded(value, false);
    let mut words = words(&text).filter(|word| !definition.is_stop_word(word));
    match term {
        Term::Contains(part) => text.contains(&**part),
        Term::Exact { word, is_verbatim } if !is_verbatim && has_stems(&field.field_type) => {
            let wanted = stem(word, instant.language);
            let language = record.language.unwrap_or(definition.language);
            words.any(|own| *own == **word || stem(own, language) == wanted)
        }
        term => words.any(|word| term.fits(word)),
    }
}

/// Returns true if the words of a field are indexed by their stems too.
pub(crate) fn has_stems(field_type: &FieldType) -> bool {
    matches!(field_type, FieldType::Text { has_no_stems: false, .. })
}
