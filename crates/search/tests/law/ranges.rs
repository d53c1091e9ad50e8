//! Ranges of a number: of the rows within and those outside, the fewer are read.

use super::answer::{measured_search, name};
use super::ranked::{pair, row, tag};
use super::twin::Moment;
use blocks::Direction;
use search::{Language, Query, SearchOrder, SearchPage};
use std::ops::Bound;

const MOMENT: Moment = Moment { now: 1_000, language: Language::English };
const ROWS: u32 = 9_000;

fn number(from: u32, to: u32) -> Query {
    let bounds = (Bound::Included(f64::from(from)), Bound::Excluded(f64::from(to)));
    Query::Number { field: 2, from: bounds.0, to: bounds.1 }
}

#[test]
fn ranges_match_though_numbers_and_rows_expire_or_are_missing() {
    let mut pair = pair();
    for key in 0..ROWS {
        let mut row = row(["half", "few"][key as usize % 2], None, f64::from(key));
        if key % 7 == 0 {
            // Due and not yet due.
            row.fields[2].as_mut().unwrap().expires_at_ms = Some(999 + u64::from(key % 2) * 2);
        }
        row.expires_at_ms = (key % 11 == 0).then_some(1_000);
        pair.put(&name(key), Some(&row));
    }
    let ordered = Some(SearchOrder { field: 2, direction: Direction::Backward });
    let pages = [
        SearchPage { count: u64::MAX, ..SearchPage::default() },
        SearchPage { order: ordered, offset: 20, count: 10, ..SearchPage::default() },
    ];
    // At first every row has a number, then one has none.
    for turn in 0..2 {
        for (from, to) in
            [(0, ROWS), (1, ROWS), (0, ROWS - 1), (10, 8_990), (0, 4_500), (4_500, ROWS), (3_000, 6_100), (9_000, 1)]
        {
            let range = || number(from, to);
            let queries = [
                range(),
                Query::Not(range().into()),
                Query::Every(vec![tag("half"), range()]),
                Query::Any(vec![tag("few"), range()]),
                Query::Every(vec![range(), Query::Not(number(100, 200).into())]),
            ];
            for (query, page) in queries.iter().flat_map(|query| pages.iter().map(move |page| (query, page))) {
                let expected = pair.expected(query, MOMENT, page);
                for work in [7, 1_000] {
                    let found = measured_search(&pair.index, query, MOMENT, page.clone(), work).0;
                    assert_eq!(found, expected, "turn {turn}, {query:?}, {page:?}");
                }
            }
        }
        let mut row = row("half", None, 0.0);
        row.fields[2] = None;
        pair.put(&name(3), Some(&row));
    }
}

#[test]
fn a_range_of_nearly_all_costs_no_more_than_the_others() {
    let mut pair = pair();
    for key in 0..ROWS {
        pair.index.put(&name(key), Some(&row("half", None, f64::from(key)))).unwrap();
    }
    for (from, to) in [(0, ROWS), (10, ROWS - 10)] {
        let query = Query::Every(vec![tag("half"), number(from, to)]);
        let (found, spent, _) = measured_search(&pair.index, &query, MOMENT, SearchPage::default(), 1_000);
        assert_eq!(found.total, u64::from(to - from));
        assert!(spent < 100, "{spent} units from {from}");
    }
}
