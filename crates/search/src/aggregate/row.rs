//! Rows on their way through a pipeline, and the records that come out.

use crate::value::Value;
use std::sync::Arc;

/// A row of the index, as a pipeline takes it.
#[derive(Clone, Debug, Default)]
pub struct SourceRow {
    /// The values of the pipeline's source fields, in their order; `None` if the row has none.
    pub values: Vec<Option<Value>>,
    /// With LOAD *, all other fields.
    pub others: Vec<(Box<[u8]>, Value)>,
}

/// A row between two steps: a value for each slot.
#[derive(Debug, Default)]
pub(super) struct PipelineRow {
    pub(super) values: Vec<Option<Value>>,
    pub(super) others: Vec<(Box<[u8]>, Value)>,
}

impl PipelineRow {
    /// Returns the bytes that it occupies outside itself. O(values).
    pub(super) fn heap_bytes(&self) -> usize {
        let inside: usize = self.values.iter().flatten().map(Value::heap_bytes).sum();
        let others: usize = self.others.iter().map(|(name, value)| 16 + name.len() + value.heap_bytes()).sum();
        let arrays = self.values.capacity() * size_of::<Option<Value>>()
            + self.others.capacity() * size_of::<(Box<[u8]>, Value)>();
        arrays + inside + others
    }
}

/// A record that a pipeline gives: values by name, in order.
#[derive(Debug)]
pub struct AggregateRecord {
    pub(super) names: Arc<[Box<[u8]>]>,
    pub(super) row: PipelineRow,
}

impl AggregateRecord {
    /// Returns names and values. A missing value is left out; one that is Null is not.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Value)> {
        let named = self.names.iter().zip(&self.row.values);
        let named = named.filter_map(|(name, value)| Some((&**name, value.as_ref()?)));
        named.chain(self.row.others.iter().map(|(name, value)| (&**name, value)))
    }

    /// Returns the value of a name. O(values).
    pub fn value(&self, name: &[u8]) -> Option<&Value> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }
}
