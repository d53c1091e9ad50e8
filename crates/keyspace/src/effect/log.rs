//! The log of one tx: its effects, encoded as they happen, in a buffer that the worker lends and gets back.

use super::{Effect, Record};
use crate::TableId;

/// Effects of one tx; what will be its frame's payload.
#[derive(Default)]
pub struct Log {
    bytes: Vec<u8>,
}

impl Log {
    /// Nothing recorded?
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
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

    /// Forgets everything; keeps the buffer unless it has grown large.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(64 << 10);
    }

    pub(crate) fn record(&mut self, table: TableId, key: &[u8], effect: &Effect<'_>) {
        Record { table, key, effect: *effect }.encode(&mut self.bytes);
    }
}
