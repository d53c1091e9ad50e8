//! Names in order, for a tx that holds the gate.

use super::Tx;
use crate::key_index::{IndexState, Page, Span};

impl Tx<'_> {
    /// Notes that nothing in the shard is due; returns `false`, since no work is left.
    pub(super) fn none_is_due(&mut self, shard: usize) -> bool {
        self.held.state_aside(shard).publish_due();
        false
    }

    /// Returns the first names of `span` in the database, at most `names_max`; some may have expired. The tx holds the
    /// gate.
    ///
    /// # Errors
    /// If there is no key index.
    pub fn order_page(&mut self, span: &Span, names_max: usize) -> Result<Page, IndexState> {
        let (keyspace, table, held) = (self.keyspace, self.table, &mut self.held);
        assert!(held.is_gated(), "the order is of all shards");
        keyspace.order_page_gated(table, span, names_max, |shard, take| take(held.state_aside(shard)))
    }
}
