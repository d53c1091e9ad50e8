//! Rows of a frequent tag in the order of a number: pages at any offset, while tags become frequent and rare again.

use super::answer::{Pair, measured_search, name};
use super::draw::{FieldDraw, definition_of, field_of};
use super::twin::Moment;
use blocks::Direction;
use search::{FieldType, Language, Query, Row, RowField, SearchOrder, SearchPage, Term};
use std::sync::Arc;

const MOMENT: Moment = Moment { now: 1_000, language: Language::English };
const ROWS: u32 = 4_000;

/// Returns a pair of an index and a twin: tags, and two numbers that are sortable.
pub(super) fn pair() -> Pair {
    let tag = FieldType::Tag { separator: b',', is_case_sensitive: false, has_suffix_trie: false };
    let field = |field_type| {
        field_of(FieldDraw {
            field_type,
            is_indexed: true,
            is_sortable: true,
            is_unnormalized: false,
            indexes_missing: false,
            indexes_empty: false,
        })
    };
    let fields = [tag, FieldType::Numeric, FieldType::Numeric].map(field).into();
    Pair::new(&Arc::new(definition_of(fields, Language::English, None)))
}

pub(super) fn row(tags: &str, first: Option<f64>, second: f64) -> Row {
    let field = |value: String| RowField { value: value.into_bytes().into(), expires_at_ms: None };
    let first = first.map(|number| field(number.to_string()));
    Row { fields: vec![Some(field(tags.into())), first, Some(field(second.to_string()))], ..Row::default() }
}

pub(super) fn tag(tag: &str) -> Query {
    Query::Tag { field: 0, term: Term::Exact { word: tag.into(), is_verbatim: false } }
}

fn page(field: usize, direction: Direction, offset: u64, count: u64) -> SearchPage {
    SearchPage { order: Some(SearchOrder { field, direction }), offset, count, ..SearchPage::default() }
}

/// Compares pages at the beginning, in the middle, across the last number, at the end, and behind it.
fn check(pair: &Pair) {
    for (word, field, direction) in ["half", "most", "few"]
        .into_iter()
        .flat_map(|word| [1, 2].map(|field| (word, field)))
        .flat_map(|(word, field)| [Direction::Forward, Direction::Backward].map(|to| (word, field, to)))
    {
        let query = tag(word);
        let total = pair.expected(&query, MOMENT, &page(field, direction, 0, 0)).total;
        for offset in [0, 1, total / 3, (total * 9 / 10).saturating_sub(5), total.saturating_sub(5), total] {
            let page = page(field, direction, offset, 10);
            let expected = pair.expected(&query, MOMENT, &page);
            for work in [7, 1_000] {
                let found = measured_search(&pair.index, &query, MOMENT, page.clone(), work).0;
                assert_eq!(found, expected, "{word} {page:?}");
            }
        }
    }
}

#[test]
fn pages_stay_right_while_tags_become_frequent_and_rare() {
    let mut seed = 1u64;
    let mut below = |bound: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % u64::from(bound)) as u32
    };
    let mut pair = pair();
    // The shares of a hundred that have a tag: of all, then of those put again.
    for (rows, half, most, few) in [(ROWS, 50, 90, 3), (600, 50, 100, 50), (ROWS, 5, 90, 40), (3_000, 60, 5, 0)] {
        for _ in 0..rows {
            let key = if pair.twin.rows.len() < ROWS as usize / 2 { pair.twin.rows.len() as u32 } else { below(ROWS) };
            let words = [("half", half), ("most", most), ("few", few), ("half", 10)];
            let tags: Vec<&str> =
                words.iter().filter(|(_, share)| below(100) < *share).map(|(word, _)| *word).collect();
            let first = (below(10) > 0).then(|| f64::from(below(500)) - 250.0);
            let row = row(&tags.join(","), first, f64::from(below(1 << 30)) / 7.0);
            pair.put(&name(key), Some(&row).filter(|_| below(20) > 0));
        }
        check(&pair);
        check(&pair.rebuilt());
    }
}

/// Of 20,000 rows, a walk through the numbers would pass half.
#[test]
fn a_page_deep_in_a_frequent_tag_costs_no_more_than_the_first() {
    let mut pair = pair();
    for key in 0..20_000 {
        let tags = if key % 2 == 0 { "half" } else { "other" };
        let row = row(tags, Some(f64::from(key * 7 % 20_000)), 0.0);
        pair.index.put(&name(key), Some(&row)).unwrap();
    }
    for direction in [Direction::Forward, Direction::Backward] {
        for offset in [0, 5_000, 9_990] {
            let (found, spent, _) =
                measured_search(&pair.index, &tag("half"), MOMENT, page(1, direction, offset, 10), 1_000);
            assert_eq!((found.total, found.rows.len()), (10_000, 10));
            let first = if direction == Direction::Forward { 2 * offset } else { 19_998 - 2 * offset };
            let numbers: Vec<u64> = found.rows.iter().map(|row| u64::from(*row) * 7 % 20_000).collect();
            assert_eq!(numbers[0], first);
            assert!(spent < 100, "{spent} units at {offset}");
        }
    }
}
