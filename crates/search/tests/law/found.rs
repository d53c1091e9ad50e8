//! Differences that the laws found, each with the least case.

use super::answer::{empty_index, measured_search};
use super::draw::{FieldDraw, definition_of, field_of};
use super::twin::Moment;
use search::{Field, FieldType, Index, Language, Query, Row, RowField, SearchPage, Term, stem};
use std::ops::Bound;
use std::sync::Arc;

const TEXT: FieldType = FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false };
const TAG: FieldType = FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false };

fn field(field_type: FieldType, is_indexed: bool) -> Field {
    field_of(FieldDraw {
        field_type,
        is_indexed,
        is_sortable: true,
        is_unnormalized: false,
        indexes_missing: false,
        indexes_empty: true,
    })
}

/// Returns an index of one row with this value in its only field, and a deadline at 200.
fn index_of(field: Field, value: &str) -> Index {
    let mut index = empty_index(Arc::new(definition_of(vec![field], Language::English, None)));
    let field = RowField { value: value.as_bytes().into(), expires_at_ms: None };
    let row = Row { fields: vec![Some(field)], ..Row::default() };
    index.put(b"key", Some(&row)).unwrap();
    index
}

/// Returns the same index, but something of the row is due, though its value is not.
fn index_with_due_row(field: Field, value: &str) -> Index {
    let fields = vec![field, self::field(TEXT, true)];
    let mut index = empty_index(Arc::new(definition_of(fields, Language::English, None)));
    let value = RowField { value: value.as_bytes().into(), expires_at_ms: None };
    let due = RowField { value: b"due"[..].into(), expires_at_ms: Some(1) };
    index.put(b"key", Some(&Row { fields: vec![Some(value), Some(due)], ..Row::default() })).unwrap();
    index
}

fn count(index: &Index, query: &Query) -> u64 {
    let moment = Moment { now: 100, language: Language::English };
    measured_search(index, query, moment, SearchPage::default(), 1_000).0.total
}

/// Counts in both indexes, which must agree.
fn count_of(field: &Field, value: &str, query: &Query) -> u64 {
    let total = count(&index_of(field.clone(), value), query);
    assert_eq!(count(&index_with_due_row(field.clone(), value), query), total, "{query:?}");
    total
}

#[test]
fn an_empty_value_is_like_patterns_that_admit_it() {
    let terms = [
        Term::Exact { word: "".into(), is_verbatim: false },
        Term::Prefix("".into()),
        Term::Suffix("".into()),
        Term::Contains("".into()),
        Term::Wildcard("*".into()),
        Term::Fuzzy { word: "a".into(), distance_max: 1 },
    ];
    for term in terms {
        let text = Query::Text { fields: vec![0], term: term.clone() };
        assert_eq!(count_of(&field(TEXT, true), "", &text), 1, "{term:?}");
        assert_eq!(count_of(&field(TAG, true), "", &Query::Tag { field: 0, term: term.clone() }), 1, "{term:?}");
    }
}

/// Maintainers of RediSearch: there is no inverted index of such a field, and a search by it finds nothing (its issue
/// 4404).
#[test]
fn a_field_that_is_not_indexed_finds_nothing() {
    let word = || Term::Exact { word: "1".into(), is_verbatim: true };
    let circle = Query::Circle { field: 0, longitude: 1.0, latitude: 1.0, radius_m: 9e3 };
    let number = Query::Number { field: 0, from: Bound::Unbounded, to: Bound::Unbounded };
    let cases = [
        (TEXT, "1", Query::Text { fields: vec![0], term: word() }),
        (TAG, "1", Query::Tag { field: 0, term: word() }),
        (FieldType::Numeric, "1", number),
        (FieldType::Geo, "1,1", circle),
    ];
    for (field_type, value, query) in cases {
        assert_eq!(count_of(&field(field_type.clone(), true), value, &query), 1, "{query:?}");
        assert_eq!(count_of(&field(field_type, false), value, &query), 0, "{query:?}");
    }
}

#[test]
fn places_at_the_last_meridian_and_parallel_are_found() {
    let geo = field(FieldType::Geo, true);
    let circle = |longitude, latitude| Query::Circle { field: 0, longitude, latitude, radius_m: 10e3 };
    for center in [180.0, -180.0, 179.95, -179.95] {
        assert_eq!(count_of(&geo, "180,10", &circle(center, 10.0)), 1, "{center}");
        assert_eq!(count_of(&geo, "-180,10", &circle(center, 10.0)), 1, "{center}");
    }
    assert_eq!(count_of(&geo, "5,85.05112878", &circle(5.0, 85.0)), 1);
    assert_eq!(count_of(&geo, "5,-85.05112878", &circle(5.0, -85.0)), 1);
}

/// From (0, 60) over the pole to (180, 70) it is 50 degrees, 5,561 km; to (100, 80) it is 33.1 degrees, 3,681 km.
#[test]
fn a_circle_around_a_pole_has_places_of_every_meridian() {
    let geo = field(FieldType::Geo, true);
    let circle = |radius_m| Query::Circle { field: 0, longitude: 0.0, latitude: 60.0, radius_m };
    assert_eq!(count_of(&geo, "180,70", &circle(5_600e3)), 1);
    assert_eq!(count_of(&geo, "180,70", &circle(5_500e3)), 0);
    assert_eq!(count_of(&geo, "100,80", &circle(3_700e3)), 1);
    assert_eq!(count_of(&geo, "100,80", &circle(3_500e3)), 0);
    let south = Query::Circle { field: 0, longitude: 20.0, latitude: -80.0, radius_m: 2_100e3 };
    assert_eq!(count_of(&geo, "-160,-82", &south), 1);
}

/// Each of these took time in proportion to the square of the length.
#[test]
fn very_long_words_terms_and_texts_are_handled() {
    let long = "ya".repeat(500_000);
    assert_eq!(stem(&long, Language::English), long);
    let index = index_of(field(TAG, true), &long);
    let ask = |term| count(&index, &Query::Tag { field: 0, term });
    assert_eq!(ask(Term::Fuzzy { word: format!("x{long}").into(), distance_max: 1 }), 1);
    assert_eq!(ask(Term::Fuzzy { word: format!("xx{long}").into(), distance_max: 1 }), 0);
    assert_eq!(ask(Term::Contains(long[1..].into())), 1);
    let characters: String = (0x4e00..0x9000).filter_map(char::from_u32).collect();
    let index = index_of(field(TAG, true), &characters);
    assert_eq!(count(&index, &Query::Tag { field: 0, term: Term::Contains(characters.as_str().into()) }), 1);
}
