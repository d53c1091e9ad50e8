//! The log of one tx: its effects, encoded as they happen, in a buffer that the worker lends and gets back.
//!
//! Without a journal nobody reads the records, unless a watch or a blocked client hangs off a key: then only whether
//! anything changed is noted.

use super::{Effect, Record};
use crate::TableId;

/// Effects of one tx; what will be its frame's payload.
#[derive(Default)]
pub struct Log {
    bytes: Vec<u8>,
    changed: bool,
    unread: bool,
}

impl Log {
    /// Nothing recorded?
    pub fn is_empty(&self) -> bool {
        !self.changed
    }

    /// Says whether anybody will read the records. To be called while it is empty; [`Log::clear`] makes it so again.
    pub fn set_read(&mut self, read: bool) {
        assert!(self.is_empty());
        self.unread = !read;
    }

    /// The frame's payload so far.
    pub fn payload(&self) -> &[u8] {
        &self.bytes
    }

    /// The payload, for whoever takes it away; what is left is to be cleared.
    pub fn payload_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The records so far, in order.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.records_from(0)
    }

    /// The records behind the first `from_bytes` of the payload, which must end with a record.
    pub fn records_from(&self, from_bytes: usize) -> impl Iterator<Item = Record<'_>> {
        let mut input = &self.bytes[from_bytes..];
        std::iter::from_fn(move || {
            (!input.is_empty()).then(|| Record::decode(&mut input).expect("what a log holds was encoded by it"))
        })
    }

    /// Forgets everything and is read again; keeps the buffer unless it has grown large.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.changed, self.unread) = (false, false);
        self.bytes.shrink_to(64 << 10);
    }

    pub(crate) fn record(&mut self, table: TableId, key: &[u8], effect: &Effect<'_>) {
        self.changed = true;
        if !self.unread {
            Record { table, key, effect: *effect }.encode(&mut self.bytes);
        }
    }
}
