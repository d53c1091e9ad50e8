//! Answers of an index, taken in small steps, against those of its twin.

use super::draw::{RowDraw, pick};
use super::twin::{Moment, Twin, is_live};
use base::hash::KeyHasher;
use blocks::Direction;
use proptest::collection::vec;
use proptest::prelude::*;
use search::{
    Definition, FieldType, Found, Index, Query, Row, RowNumber, Scan, ScanStep, Search, SearchOrder, SearchPage, Work,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Steps after which a search does not end any more.
const STEPS_MAX: usize = 1_000_000;

/// A page, before it is known of which fields.
#[derive(Clone, Debug)]
pub(super) struct PageDraw {
    order: Option<(u8, bool)>,
    offset: u8,
    count: u8,
    in_keys: Option<Vec<u8>>,
    /// The work of each step.
    pub(super) work: u64,
}

prop_compose! {
    pub(super) fn page()(
        order in prop::option::weighted(0.75, any::<(u8, bool)>()),
        offset: u8,
        count: u8,
        in_keys in prop::option::weighted(0.2, vec(0u8..30, 0..12)),
        work in prop_oneof![1 => Just(1u64), 15 => 1u64..200],
    ) -> PageDraw {
        PageDraw { order, offset, count, in_keys, work }
    }
}

impl PageDraw {
    fn page(&self, fields: usize) -> SearchPage {
        let direction = |is_backward| if is_backward { Direction::Backward } else { Direction::Forward };
        SearchPage {
            order: self.order.map(|(field, is_backward)| SearchOrder {
                field: usize::from(field) % fields,
                direction: direction(is_backward),
            }),
            offset: pick(&[0, 0, 0, 1, 3, 10, 30, u64::MAX], self.offset),
            count: pick(&[0, 1, 2, 5, 10, 30, 1_000, u64::MAX], self.count),
            skips_total: false,
            in_keys: self.in_keys.as_ref().map(|keys| keys.iter().map(|key| name(u32::from(*key)).into()).collect()),
        }
    }
}

/// Returns an index without rows.
pub(super) fn empty_index(definition: Arc<Definition>) -> Index {
    Index::new(definition, KeyHasher::new([7; 16]))
}

/// Returns the name of a key.
pub(super) fn name(key: u32) -> Vec<u8> {
    format!("key:{key}").into_bytes()
}

/// An index beside its twin.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) index: Index,
    pub(super) twin: Twin,
}

impl Pair {
    pub(super) fn new(definition: &Arc<Definition>) -> Self {
        Self { index: empty_index(definition.clone()), twin: Twin::new(definition.clone()) }
    }

    /// Changes both: a value of a wrong type is an error, and leaves the key out.
    pub(super) fn put(&mut self, key: &[u8], row: Option<&Row>) {
        let is_sound = self.twin.put(key, row);
        assert_eq!(self.index.put(key, row).is_ok(), is_sound, "{row:?}");
        assert_eq!(self.index.row_number(key).is_some(), self.twin.rows.contains_key(key), "{row:?}");
        assert_eq!(self.index.len(), self.twin.rows.len() as u64);
    }

    /// Compares rows, by key and by number, and the tags of each field.
    pub(super) fn compare_rows(&self, moment: Moment) {
        for (key, row) in &self.twin.rows {
            assert_eq!(self.index.raw_row(key).as_ref(), Some(row));
            let number = self.index.row_number(key).unwrap();
            let seen = self.index.row(number, moment.now, |seen| {
                let values: Vec<_> = seen.values().map(|value| value.map(<[u8]>::to_vec)).collect();
                (seen.key().to_vec(), values)
            });
            let values = (0..row.fields.len()).map(|at| Twin::value(row, at, moment.now).map(<[u8]>::to_vec));
            let expected = is_live(row.expires_at_ms, moment.now).then(|| (key.clone(), values.collect()));
            assert_eq!(seen, expected);
        }
        for (at, field) in self.twin.definition.fields.iter().enumerate() {
            if field.is_indexed && matches!(field.field_type, FieldType::Tag { .. }) {
                let mut tags: Vec<Box<[u8]>> = Vec::new();
                while let more @ [_, ..] = &self.index.tag_values(at, tags.last().map(|last| &**last), 3)[..] {
                    tags.extend_from_slice(more);
                }
                assert_eq!(tags, self.twin.tag_values(at), "{field:?}");
            }
        }
    }

    pub(super) fn change(&mut self, key: u32, row: Option<&RowDraw>) {
        let row = row.map(|row| row.row(&self.twin.definition));
        self.put(&name(key), row.as_ref());
    }

    /// Returns an index that is made of the rows alone.
    pub(super) fn rebuilt(&self) -> Self {
        let mut index = empty_index(self.twin.definition.clone());
        for (key, row) in &self.twin.rows {
            index.put(key, Some(row)).unwrap();
        }
        Self { index, twin: self.twin.clone() }
    }

    /// Asks both, and compares rows, order and total.
    pub(super) fn ask(&self, query: &Query, moment: Moment, draw: &PageDraw) {
        let page = draw.page(self.twin.definition.fields.len());
        let expected = self.expected(query, moment, &page);
        let found = search(&self.index, query, moment, page.clone(), draw.work);
        assert_eq!(found, expected, "{query:?}\n{moment:?} {page:?} in steps of {}", draw.work);
        let first = search(&self.index, query, moment, SearchPage { skips_total: true, ..page.clone() }, draw.work);
        assert_eq!(first.rows, expected.rows, "{query:?}\n{moment:?} {page:?} without the total");
        assert!(first.total <= expected.total && first.total >= first.rows.len() as u64, "{query:?} {first:?}");
        self.scan(query, moment, draw.work);
    }

    /// Returns matching rows with their numbers.
    fn matching(&self, query: &Query, moment: Moment) -> Vec<(&[u8], RowNumber)> {
        let keys = self.twin.matching(query, moment).into_iter();
        let mut rows: Vec<_> = keys.map(|key| (key, self.index.row_number(key).unwrap())).collect();
        rows.sort_by_key(|(_, row)| *row);
        rows
    }

    pub(super) fn expected(&self, query: &Query, moment: Moment, page: &SearchPage) -> Found {
        let mut rows = self.matching(query, moment);
        rows.retain(|(key, _)| page.in_keys.as_ref().is_none_or(|keys| keys.contains(*key)));
        if let Some(order) = page.order {
            rows.sort_by(|one, other| self.twin.compare(order, moment.now, *one, *other));
        }
        let bound = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let on_page = rows.iter().skip(bound(page.offset)).take(bound(page.count));
        Found { total: rows.len() as u64, rows: on_page.map(|(_, row)| *row).collect() }
    }

    /// Scans all, and then until the middle.
    fn scan(&self, query: &Query, moment: Moment, work: u64) {
        let fields = self.twin.definition.fields.len();
        let row = |key: &[u8]| {
            let row = &self.twin.rows[key];
            let values = (0..fields).map(|field| Twin::value(row, field, moment.now).map(<[u8]>::to_vec));
            (key.to_vec(), values.collect())
        };
        let expected: Vec<ScannedValues> = self.matching(query, moment).into_iter().map(|(key, _)| row(key)).collect();
        assert_eq!(scan(&self.index, query, moment, work, usize::MAX), expected, "{query:?} {moment:?}");
        let half = expected.len().div_ceil(2);
        if half > 0 {
            assert_eq!(scan(&self.index, query, moment, work, half), expected[..half], "{query:?} {moment:?}");
        }
    }
}

/// A key, and the live values of its fields.
type ScannedValues = (Vec<u8>, Vec<Option<Vec<u8>>>);

fn scan(index: &Index, query: &Query, moment: Moment, work: u64, most: usize) -> Vec<ScannedValues> {
    let mut scan = Scan::new(index.clone(), query.clone(), moment.now, moment.language);
    let mut seen = Vec::new();
    for _ in 0..STEPS_MAX {
        let mut left = Work::new(work);
        let step = scan.step(&mut left, |row| {
            let mut values: Vec<_> = row.values().map(|value| value.map(<[u8]>::to_vec)).collect();
            values.resize(index.definition().fields.len(), None);
            seen.push((row.key().to_vec(), values));
            if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(left.overshoot() <= Work::OVERSHOOT_MAX, "{query:?} {left:?}");
        let _ = scan.heap_bytes();
        if step == ScanStep::Done {
            return seen;
        }
    }
    panic!("the scan does not end: {query:?}");
}

/// Searches in steps of this much work; no step goes far beyond it.
pub(super) fn search(index: &Index, query: &Query, moment: Moment, page: SearchPage, work: u64) -> Found {
    let (found, _, overshoot) = measured_search(index, query, moment, page, work);
    assert!(overshoot <= Work::OVERSHOOT_MAX, "{overshoot}: {query:?}");
    found
}

/// Searches in steps of this much work; returns the result, all work spent, and the most that a step overshot by.
pub(super) fn measured_search(
    index: &Index,
    query: &Query,
    moment: Moment,
    page: SearchPage,
    work: u64,
) -> (Found, u64, u64) {
    let mut search = Search::new(index.clone(), query.clone(), moment.now, moment.language, page);
    let (mut spent, mut overshoot) = (0, 0);
    for _ in 0..STEPS_MAX {
        let mut left = Work::new(work);
        let found = search.step(&mut left);
        spent += work - left.left() + left.overshoot();
        overshoot = left.overshoot().max(overshoot);
        if let Some(found) = found {
            return (found, spent, overshoot);
        }
        let _ = search.heap_bytes();
    }
    panic!("the search does not end: {query:?}");
}
