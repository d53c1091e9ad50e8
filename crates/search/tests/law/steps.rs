//! Steps keep to their work, and searches to a bound. In each case a search could take as long as a second at once, or
//! time in proportion to the square of something. Work is counted, not time.

use super::answer::{empty_index, measured_search};
use super::draw::{FieldDraw, definition_of, field_of};
use super::twin::Moment;
use blocks::Direction;
use search::{Field, FieldType, Index, Language, Query, Row, RowField, Search, SearchOrder, SearchPage, Term, Work};
use std::ops::Bound;
use std::sync::Arc;

const MOMENT: Moment = Moment { now: 1_000, language: Language::English };

fn field(field_type: FieldType) -> Field {
    field_of(FieldDraw {
        field_type,
        is_indexed: true,
        is_sortable: true,
        is_unnormalized: false,
        indexes_missing: false,
        indexes_empty: false,
    })
}

fn tag_field() -> Field {
    field(FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false })
}

fn text_field() -> Field {
    field(FieldType::Text { weight: 1.0, has_no_stems: true, has_suffix_trie: false })
}

/// Returns an index of these rows of one field.
fn index_of(field: Field, values: impl IntoIterator<Item = String>, expires_at_ms: Option<u64>) -> Index {
    let mut index = empty_index(Arc::new(definition_of(vec![field], Language::English, None)));
    let row = |value: String| Row {
        fields: vec![Some(RowField { value: value.into_bytes().into(), expires_at_ms })],
        ..Row::default()
    };
    let rows: Vec<(Vec<u8>, Row)> =
        values.into_iter().enumerate().map(|(at, value)| (format!("key{at}").into_bytes(), row(value))).collect();
    let rows = rows.iter().map(|(key, row)| (&key[..], Some(row)));
    index.put_all(rows, |_, error| panic!("{error}"));
    index
}

fn tag(term: Term) -> Query {
    Query::Tag { field: 0, term }
}

fn text(term: Term) -> Query {
    Query::Text { fields: vec![0], term }
}

/// Searches in steps of 100 units; returns the total and all work.
fn count(index: &Index, query: &Query, page: SearchPage) -> (u64, u64) {
    let (found, spent, overshoot) = measured_search(index, query, MOMENT, page, 100);
    assert!(overshoot <= Work::OVERSHOOT_MAX, "{overshoot}");
    (found.total, spent)
}

#[test]
fn a_term_without_rows_is_forgotten_however_its_changes_are_put_together() {
    let row = |tag: &str| Row {
        fields: vec![Some(RowField { value: tag.as_bytes().into(), expires_at_ms: None })],
        ..Row::default()
    };
    let (rare, other) = (row("rare"), row("other"));
    let mut index = index_of(tag_field(), ["other".to_owned()], None);
    let size = index.size();
    let batches: [&[(&[u8], Option<&Row>)]; 4] = [
        &[(b"new", Some(&rare)), (b"new", None)],
        &[(b"key0", Some(&rare)), (b"key0", Some(&other))],
        &[(b"key0", None), (b"key0", Some(&rare)), (b"key0", None), (b"key0", Some(&other))],
        &[(b"new", Some(&rare)), (b"new", Some(&other)), (b"new", None)],
    ];
    for batch in batches {
        index.put_all(batch.iter().copied(), |_, error| panic!("{error}"));
        assert_eq!((index.len(), index.size().terms), (size.rows, size.terms), "{batch:?}");
        assert_eq!(index.size().postings, size.postings, "{batch:?}");
    }
}

#[test]
fn many_tags_of_one_row_are_cut_once() {
    let tags: Vec<String> = (0..5_000).map(|tag| format!("aa{tag}")).collect();
    let index = index_of(tag_field(), [tags.join(",")], None);
    let query = tag(Term::Contains("aa".into()));
    let (found, spent, _) = measured_search(&index, &query, MOMENT, SearchPage::default(), 100);
    assert_eq!(found.total, 1);
    assert!(spent < 5_000 * 60, "{spent}");
}

#[test]
fn a_step_leaves_candidates_of_a_chunk_half_way() {
    let texts = (0..4_096).map(|n| format!("some words before xyz{n} and behind it {}", "more ".repeat(20)));
    let index = index_of(text_field(), texts, None);
    let (total, spent) = count(&index, &text(Term::Contains("xyz".into())), SearchPage::default());
    assert_eq!(total, 4_096);
    assert!(spent > 4_096 * 10, "each text is charged by its bytes: {spent}");
}

#[test]
fn a_step_leaves_due_rows_half_way() {
    let index = index_of(text_field(), (0..4_096).map(|n| format!("word{n}")), Some(500));
    let (total, spent) = count(&index, &text(Term::Prefix("word".into())), SearchPage::default());
    assert_eq!(total, 0);
    assert!(spent > 4_096 * 4, "{spent}");
}

#[test]
fn a_step_leaves_rows_half_way_that_are_ranked() {
    let index = index_of(text_field(), (0..4_096).map(|n| format!("word{}", n * 7 % 4_096)), None);
    for direction in [Direction::Forward, Direction::Backward] {
        let order = Some(SearchOrder { field: 0, direction });
        let page = SearchPage { order, count: 10, ..SearchPage::default() };
        assert_eq!(count(&index, &Query::All, page).0, 4_096);
    }
}

#[test]
fn a_step_leaves_a_long_page_of_numbers_half_way() {
    let index = index_of(field(FieldType::Numeric), (0..50_000).map(|n| n.to_string()), None);
    let order = Some(SearchOrder { field: 0, direction: Direction::Backward });
    let page = SearchPage { order, count: 50_000, ..SearchPage::default() };
    let mut search = Search::new(index.clone(), Query::All, 0, Language::English, page.clone());
    assert_eq!(search.step(&mut Work::new(1_000)), None);
    assert_eq!(count(&index, &Query::All, page).0, 50_000);
}

#[test]
fn a_union_of_many_leaves_has_one_set_of_rows() {
    let index = index_of(field(FieldType::Numeric), (0..20_000).map(|n| n.to_string()), None);
    let range =
        |n: u32| Query::Number { field: 0, from: Bound::Included(f64::from(n)), to: Bound::Included(f64::from(n)) };
    let query = Query::Any((0..20_000).step_by(2).map(range).collect());
    let mut search = Search::new(index.clone(), query.clone(), 0, Language::English, SearchPage::default());
    let mut most_bytes = 0;
    let found = loop {
        if let Some(found) = search.step(&mut Work::new(5_000)) {
            break found;
        }
        most_bytes = most_bytes.max(search.heap_bytes());
    };
    assert_eq!(found.total, 10_000);
    assert!(most_bytes < 10_000 * 1_000, "{most_bytes}");
}

#[test]
fn a_step_leaves_a_query_of_many_parts_half_way() {
    let index = index_of(tag_field(), (0..8_000).map(|n| format!("tag{n},all")), None);
    let word = |n: u32| tag(Term::Exact { word: format!("tag{n}").into(), is_verbatim: false });
    let all = || tag(Term::Exact { word: "all".into(), is_verbatim: false });
    let (total, _) = count(&index, &Query::Any((0..2_000).map(word).collect()), SearchPage::default());
    assert_eq!(total, 2_000);
    let pairs = (0..1_000).map(|n| Query::Every(vec![word(n), all()])).collect();
    assert_eq!(count(&index, &Query::Any(pairs), SearchPage::default()).0, 1_000);
    let absent = (0..2_000).map(|n| Query::Not(word(n).into())).collect();
    assert_eq!(count(&index, &Query::Every(absent), SearchPage::default()).0, 6_000);
}

#[test]
fn a_page_that_skips_the_total_ends_once_it_is_full() {
    let index = index_of(tag_field(), (0..40_000).map(|_| "x,y".into()), None);
    let word = |word: &str| tag(Term::Exact { word: word.into(), is_verbatim: false });
    let query = Query::Every(vec![word("x"), word("y")]);
    let page = SearchPage { count: 10, skips_total: true, ..SearchPage::default() };
    let (total, spent) = count(&index, &query, page.clone());
    let (all, all_spent) = count(&index, &query, SearchPage { skips_total: false, ..page });
    assert_eq!((total, all), (4_096, 40_000));
    assert!(spent < all_spent, "{spent} of {all_spent}");
}

#[test]
fn the_bytes_of_keys_and_long_terms_are_counted() {
    let index = index_of(text_field(), ["word".into()], None);
    let fields = vec![0; 100];
    let query = Query::Text { fields, term: Term::Contains("x".repeat(10_000).into()) };
    let in_keys = Some((0..1_000).map(|n| format!("{n:0100}").into_bytes().into()).collect());
    let page = SearchPage { in_keys, ..SearchPage::default() };
    let search = Search::new(index, query, 0, Language::English, page);
    assert!((110_000..200_000).contains(&search.heap_bytes()), "{}", search.heap_bytes());
}

/// A node or leaf that was charged before its first item never came to it.
#[test]
fn steps_of_one_unit_come_to_an_end() {
    let index = index_of(text_field(), (0..20).map(|n| format!("banana{n}")), None);
    let parts: Vec<Query> = (0..20).map(|n| text(Term::Suffix(format!("nana{n}").into()))).collect();
    let starts: Vec<Query> = (0..20)
        .map(|n| Query::Every(vec![text(Term::Prefix(format!("banana{n}").into())), parts[n].clone()]))
        .collect();
    for query in [Query::Any(parts), Query::Any(starts)] {
        let (found, _, overshoot) = measured_search(&index, &query, MOMENT, SearchPage::default(), 1);
        assert!(found.total == 20 && overshoot <= Work::OVERSHOOT_MAX, "{query:?} {found:?} {overshoot}");
    }
}
