//! Indexes of many chunks, against arithmetic; and the memory that changes leave.

use super::answer::{empty_index, search};
use super::draw::{FieldDraw, definition_of, field_of};
use super::twin::Moment;
use blocks::Direction;
use search::{
    Definition, FieldType, Index, IndexSize, Language, Query, Row, RowField, RowNumber, SearchOrder, SearchPage, Term,
};
use std::ops::Bound;
use std::sync::Arc;

const ROWS: u32 = 20_000;
const MOMENT: Moment = Moment { now: 1_000, language: Language::English };

/// Fields: tags, a number, a text.
fn definition() -> Arc<Definition> {
    let types = [
        FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false },
        FieldType::Numeric,
        FieldType::Text { weight: 1.0, has_no_stems: false, has_suffix_trie: false },
    ];
    let field = |field_type| {
        field_of(FieldDraw {
            field_type,
            is_indexed: true,
            is_sortable: true,
            is_unnormalized: false,
            indexes_missing: true,
            indexes_empty: false,
        })
    };
    Arc::new(definition_of(types.map(field).into(), Language::English, None))
}

fn key(row: u32) -> Vec<u8> {
    format!("key:{row}").into_bytes()
}

fn row(tags: &str, number: Option<f64>, text: &str) -> Row {
    let field = |value: String| RowField { value: value.into_bytes().into(), expires_at_ms: None };
    let number = number.map(|number| field(number.to_string()));
    Row { fields: vec![Some(field(tags.into())), number, Some(field(text.into()))], ..Row::default() }
}

/// Row n: a tag of its own and those of its densities, the number n unless three divides it, the text of its last
/// digit.
fn row_of(n: u32) -> Row {
    let densities = [(2, "half"), (100, "hundredth"), (5_000, "rare")];
    let tags = densities
        .iter()
        .filter(|(divisor, _)| n.is_multiple_of(*divisor))
        .fold(format!("own{n}"), |tags, (_, tag)| format!("{tags},{tag}"));
    row(&tags, (!n.is_multiple_of(3)).then_some(f64::from(n)), &format!("Running with shoes no{}", n % 10))
}

fn tag(tag: &str) -> Query {
    Query::Tag { field: 0, term: Term::Exact { word: tag.into(), is_verbatim: false } }
}

fn tag_like(term: Term) -> Query {
    Query::Tag { field: 0, term }
}

fn word(word: &str) -> Query {
    Query::Text { fields: vec![2], term: Term::Exact { word: word.into(), is_verbatim: false } }
}

fn number(from: f64, to: f64) -> Query {
    Query::Number { field: 1, from: Bound::Included(from), to: Bound::Excluded(to) }
}

fn not(query: Query) -> Query {
    Query::Not(query.into())
}

/// Compares the answers to all queries with the rows of which `is_there` is true.
fn check(index: &Index, is_there: impl Fn(u32) -> bool) {
    let own = |n: u32, prefix: &str| format!("own{n}").starts_with(prefix);
    type Case = (Query, Box<dyn Fn(u32) -> bool>);
    let cases: Vec<Case> = vec![
        (Query::All, Box::new(|_| true)),
        (tag("half"), Box::new(|n| n % 2 == 0)),
        (tag("hundredth"), Box::new(|n| n % 100 == 0)),
        (tag("rare"), Box::new(|n| n % 5_000 == 0)),
        (not(tag("half")), Box::new(|n| n % 2 > 0)),
        (not(tag("rare")), Box::new(|n| n % 5_000 > 0)),
        (number(4_000.0, 4_200.0), Box::new(|n| n % 3 > 0 && (4_000..4_200).contains(&n))),
        (number(0.0, 19_000.0), Box::new(|n| n % 3 > 0 && n < 19_000)),
        (Query::Missing { field: 1 }, Box::new(|n| n % 3 == 0)),
        (word("run"), Box::new(|_| true)),
        (word("no7"), Box::new(|n| n % 10 == 7)),
        (tag_like(Term::Prefix("own12".into())), Box::new(move |n| own(n, "own12"))),
        (tag_like(Term::Suffix("99".into())), Box::new(|n| n % 100 == 99)),
        (tag_like(Term::Contains("ndred".into())), Box::new(|n| n % 100 == 0)),
        (tag_like(Term::Wildcard("own1?999".into())), Box::new(|n| (10_000..20_000).contains(&n) && n % 1_000 == 999)),
        (tag_like(Term::Fuzzy { word: "halt".into(), distance_max: 1 }), Box::new(|n| n % 2 == 0)),
        (
            Query::Every(vec![tag("half"), number(1_000.0, 16_000.0), not(tag("hundredth"))]),
            Box::new(|n| n % 2 == 0 && n % 3 > 0 && (1_000..16_000).contains(&n) && n % 100 > 0),
        ),
        (
            Query::Any(vec![tag("rare"), tag("own8191"), tag("own8192"), number(12_287.0, 12_290.0)]),
            Box::new(|n| n % 5_000 == 0 || n == 8_191 || n == 8_192 || n % 3 > 0 && (12_287..12_290).contains(&n)),
        ),
    ];
    let numbers: Vec<RowNumber> = (0..ROWS).map(|n| index.row_number(&key(n)).unwrap_or_default()).collect();
    for (query, matches) in &cases {
        let rows: Vec<u32> = (0..ROWS).filter(|n| is_there(*n) && matches(*n)).collect();
        for direction in [Direction::Forward, Direction::Backward] {
            check_order((index, &numbers), query, rows.clone(), direction);
        }
        check_unordered((index, &numbers), query, &rows);
    }
}

fn check_unordered((index, numbers): (&Index, &[RowNumber]), query: &Query, rows: &[u32]) {
    let page = SearchPage { count: u64::MAX, ..SearchPage::default() };
    let found = search(index, query, MOMENT, page, 200);
    let mut expected: Vec<u32> = rows.iter().map(|n| numbers[*n as usize]).collect();
    expected.sort_unstable();
    assert_eq!(found.total, rows.len() as u64, "{query:?}");
    assert_eq!(found.rows, expected, "{query:?}");
    let none = SearchPage::default();
    assert_eq!(search(index, query, MOMENT, none, 10).total, rows.len() as u64, "{query:?}");
}

/// Compares pages at the beginning, across the last number, and behind all.
fn check_order((index, numbers): (&Index, &[RowNumber]), query: &Query, mut rows: Vec<u32>, direction: Direction) {
    let is_backward = direction == Direction::Backward;
    rows.sort_by_key(|n| match (n % 3 > 0, is_backward) {
        (true, false) => (0, *n),
        (true, true) => (0, ROWS - n),
        (false, _) => (1, numbers[*n as usize]),
    });
    let numbered = rows.iter().filter(|n| **n % 3 > 0).count() as u64;
    for (offset, count) in [(0, 10), (numbered.saturating_sub(5), 10), (rows.len() as u64, 10), (100, 5_000)] {
        let order = Some(SearchOrder { field: 1, direction });
        let page = SearchPage { order, offset, count, ..SearchPage::default() };
        let found = search(index, query, MOMENT, page, 200);
        let on_page = rows.iter().skip(offset as usize).take(count as usize);
        let expected: Vec<u32> = on_page.map(|n| numbers[*n as usize]).collect();
        assert_eq!(found.total, rows.len() as u64, "{query:?}");
        assert_eq!(found.rows, expected, "{query:?} {direction:?} from {offset}");
    }
}

#[test]
fn twenty_thousand_rows_are_counted_as_arithmetic_says() {
    let mut index = empty_index(definition());
    let put = |index: &mut Index, n: u32| index.put(&key(n), Some(&row_of(n))).unwrap();
    (0..ROWS).for_each(|n| put(&mut index, n));
    let full = index.clone();
    let is_kept = |n: u32| (n / 3).is_multiple_of(2);
    (0..ROWS).filter(|n| !is_kept(*n)).for_each(|n| index.put(&key(n), None).unwrap());
    let half = index.clone();
    (0..ROWS).filter(|n| !is_kept(*n)).for_each(|n| put(&mut index, n));
    check(&index, |_| true);
    assert_eq!(index.size().row_numbers, u64::from(ROWS), "numbers of removed rows are given again");
    assert_eq!((half.len(), full.len()), (10_001, 20_000));
    check(&half, is_kept);
    check(&full, |_| true);
}

fn heap_bytes(size: IndexSize) -> u64 {
    size.rows_bytes + size.keys_bytes + size.dictionary_bytes + size.postings_bytes + size.numbers_bytes
}

#[test]
fn many_updates_leave_at_most_half_as_much_memory_again() {
    let mut seed = 1u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    let mut index = empty_index(definition());
    let mut rows = vec![None; 5_000];
    for update in 0..50_000 {
        let at = below(5_000) as usize;
        let words: Vec<String> = (0..below(4)).map(|_| format!("word{}", below(2_000))).collect();
        let tags = format!("tag{},own{update}", below(40));
        let new = (below(10) > 0).then(|| row(&tags, Some(below(1_000_000) as f64), &words.join(" ")));
        index.put(&key(at as u32), new.as_ref()).unwrap();
        rows[at] = new;
    }
    let mut fresh = empty_index(definition());
    for (at, row) in rows.iter().enumerate() {
        fresh.put(&key(at as u32), row.as_ref()).unwrap();
    }
    let (used, least) = (index.size(), fresh.size());
    assert_eq!((used.rows, used.terms), (least.rows, least.terms));
    let (used_bytes, least_bytes) = (heap_bytes(used), heap_bytes(least));
    assert!(2 * used_bytes <= 3 * least_bytes, "{used_bytes} bytes instead of {least_bytes}: {used:?} {least:?}");
}
