//! SORTBY at work: the first rows of an order, at most so many.
//!
//! ```text
//!   rows --> heap, the last of them on top --sorted in place, a few at a time--> rows, taken out from the front
//! ```

use super::row::PipelineRow;
use crate::value::Value;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// A field of SORTBY.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortSlot {
    pub(super) slot: usize,
    pub(super) is_descending: bool,
}

/// Rows so far.
#[derive(Debug)]
pub(super) struct SortStage {
    slots: Arc<[SortSlot]>,
    rows_max: usize,
    heap: BinaryHeap<SortedRow>,
    /// The heap, once rows are taken out: the first `unsorted` rows are a heap still, the others are in order.
    sorting: Vec<SortedRow>,
    unsorted: usize,
    sorted: VecDeque<SortedRow>,
    rows_bytes: usize,
    sequence: u64,
}

/// A row with its order.
#[derive(Debug)]
struct SortedRow {
    row: PipelineRow,
    slots: Arc<[SortSlot]>,
    /// The number of rows before it: the order of rows that are equal.
    sequence: u64,
}

/// The result of taking a row out of a sorted set.
pub(super) enum TakenRow {
    /// The next one.
    Row(PipelineRow),
    /// Nothing yet.
    Sorting,
    /// Nothing more.
    Nothing,
}

impl SortStage {
    pub(super) fn new(slots: Vec<SortSlot>, rows_max: usize) -> Self {
        let (heap, sorting, sorted) = (BinaryHeap::new(), Vec::new(), VecDeque::new());
        Self { slots: slots.into(), rows_max, heap, sorting, unsorted: 0, sorted, rows_bytes: 0, sequence: 0 }
    }

    /// Adds a row. O(log rows)
    pub(super) fn add(&mut self, row: PipelineRow) {
        let row = SortedRow { row, slots: Arc::clone(&self.slots), sequence: self.sequence };
        self.sequence += 1;
        if self.heap.len() >= self.rows_max {
            let Some(last) = self.heap.peek().filter(|last| row < **last) else { return };
            self.rows_bytes -= last.row.heap_bytes();
            self.heap.pop();
        }
        self.rows_bytes += row.row.heap_bytes();
        self.heap.push(row);
    }

    /// Takes the next row out, or works towards it. O(log rows)
    pub(super) fn take(&mut self) -> TakenRow {
        if !self.heap.is_empty() {
            self.sorting = std::mem::take(&mut self.heap).into_vec();
            self.unsorted = self.sorting.len();
        }
        if self.unsorted > 1 {
            self.unsorted -= 1;
            self.sorting.swap(0, self.unsorted);
            sift_down(&mut self.sorting[..self.unsorted]);
            return TakenRow::Sorting;
        }
        if !self.sorting.is_empty() {
            self.sorted = std::mem::take(&mut self.sorting).into();
        }
        match self.sorted.pop_front() {
            Some(sorted) => {
                self.rows_bytes -= sorted.row.heap_bytes();
                TakenRow::Row(sorted.row)
            }
            None => TakenRow::Nothing,
        }
    }

    /// Returns the bytes that it occupies. O(1)
    pub(super) fn heap_bytes(&self) -> usize {
        let rows = self.heap.capacity() + self.sorting.capacity() + self.sorted.capacity();
        rows * size_of::<SortedRow>() + self.rows_bytes
    }
}

impl Ord for SortedRow {
    fn cmp(&self, other: &Self) -> Ordering {
        let compared = self
            .slots
            .iter()
            .map(|sort| compare_present(value(&self.row, sort.slot), value(&other.row, sort.slot), sort.is_descending));
        compared.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| self.sequence.cmp(&other.sequence))
    }
}

impl PartialOrd for SortedRow {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedRow {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortedRow {}

/// Makes rows a heap again whose top alone may be out of place.
fn sift_down(rows: &mut [SortedRow]) {
    let mut parent = 0;
    loop {
        let (left, right) = (2 * parent + 1, 2 * parent + 2);
        if left >= rows.len() {
            return;
        }
        let greater = if right < rows.len() && rows[right] > rows[left] { right } else { left };
        if rows[parent] >= rows[greater] {
            return;
        }
        rows.swap(parent, greater);
        parent = greater;
    }
}

fn value(row: &PipelineRow, slot: usize) -> Option<&Value> {
    row.values[slot].as_ref().filter(|value| **value != Value::Null)
}

/// Compares two values; one that is missing comes last, whatever the direction.
fn compare_present(left: Option<&Value>, right: Option<&Value>, is_descending: bool) -> Ordering {
    match (left, right) {
        (Some(left), Some(right)) if is_descending => right.sorting_order(left),
        (Some(left), Some(right)) => left.sorting_order(right),
        (left, right) => left.is_none().cmp(&right.is_none()),
    }
}
