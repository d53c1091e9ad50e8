//! Names in order, as a tx sees them that has the gate up.

use super::Tx;
use crate::key_index::{IndexState, Page, Span};

impl Tx<'_> {
    /// Nothing of the shard is due any more; `false`, since there is no more to be done.
    pub(super) fn none_is_due(&mut self, shard: usize) -> bool {
        self.held.state_aside(shard).tell_due();
        false
    }

    /// The first names of `span` in the database, of which some may have expired, at most so many. The gate is up for it.
    ///
    /// # Errors
    /// There is no order of names.
    pub fn order_page(&mut self, span: &Span, names_max: usize) -> Result<Page, IndexState> {
        let (keyspace, table, held) = (self.keyspace, self.table, &mut self.held);
        assert!(held.is_gated(), "the order is of all shards");
        keyspace.order_page_gated(table, span, names_max, |shard, take| take(held.state_aside(shard)))
    }
}
