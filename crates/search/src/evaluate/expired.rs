//! Rows of which the key or a field expired, though the index holds them still.

use super::bitmap::RowSet;
use super::work::{RECORD_WORK, Work};
use crate::index::{Index, Record, RowNumber, is_due};
use base::Ms;
use std::ops::ControlFlow;

/// Rows of an index whose key expired by a time, and those of which each field did.
#[derive(Default)]
pub(crate) struct Expired {
    rows: RowSet,
    /// By field; shorter if the last ones did not expire.
    fields: Vec<RowSet>,
    /// Rows of which something is due.
    looked_at: RowSet,
    /// The position of the next deadline.
    at: u64,
}

impl Expired {
    /// Collects for as long as there is work left; returns true once all is. O(rows due x fields).
    pub(crate) fn step(&mut self, index: &Index, now: Ms, work: &mut Work) -> bool {
        let mut is_over = true;
        index.walk_due_rows(self.at, now, |row| {
            if work.is_spent() {
                is_over = false;
                return ControlFlow::Break(());
            }
            self.at += 1;
            work.spend(1);
            if !self.looked_at.contains(row) {
                self.looked_at.insert(row);
                work.spend(RECORD_WORK);
                index.record(row, |record| self.add(row, record, now, work));
            }
            ControlFlow::Continue(())
        });
        is_over
    }

    fn add(&mut self, row: RowNumber, record: &Record<'_>, now: Ms, work: &mut Work) {
        if is_due(record.expires_at_ms, now) {
            self.rows.insert(row);
        }
        for (at, field) in record.fields().enumerate() {
            work.spend_item(at as u64);
            if field.is_some_and(|field| is_due(field.expires_at_ms, now)) {
                if at >= self.fields.len() {
                    self.fields.resize_with(at + 1, RowSet::default);
                }
                self.fields[at].insert(row);
            }
        }
    }

    /// Returns true if nothing expired.
    pub(crate) fn is_empty(&self) -> bool {
        self.at == 0
    }

    /// Returns the rows whose key expired.
    pub(crate) fn rows(&self) -> &RowSet {
        &self.rows
    }

    /// Returns the rows of which this field expired, if there are any.
    pub(crate) fn of_field(&self, field: usize) -> Option<&RowSet> {
        self.fields.get(field).filter(|rows| !rows.is_empty())
    }

    /// Returns a bound of its heap bytes. O(fields).
    pub(crate) fn heap_bytes_max(&self) -> usize {
        let sets = self.fields.iter().chain([&self.rows, &self.looked_at]);
        self.fields.capacity() * size_of::<RowSet>() + sets.map(RowSet::heap_bytes_max).sum::<usize>()
    }
}
