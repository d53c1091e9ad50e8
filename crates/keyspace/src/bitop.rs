//! BITOP over large sources, computed without locks.
//!
//! ```text
//!   handler: tx.mix -- no result yet -> abandoned --> steps over clones, others run between them --.
//!      ^                                                                                           |
//!      `-- again: if a source no longer equals its clone, the parts that differ are redone, without a lock first
//! ```

use crate::TableId;
use values::bits::{BitOperation, Mixing};

/// A BITOP that a tx was abandoned for.
#[derive(Clone, Debug)]
pub struct BitopRequest {
    pub(crate) table: TableId,
    /// Key that receives the result.
    pub(crate) key: Box<[u8]>,
    pub(crate) mixing: Mixing,
    /// Number of sets of clones worked on, including this one.
    pub(crate) tries: u32,
}

impl BitopRequest {
    pub(crate) fn is_for(&self, table: TableId, key: &[u8], operation: BitOperation, sources_count: usize) -> bool {
        let mixing = &self.mixing;
        self.table == table
            && *self.key == *key
            && mixing.operation() == operation
            && mixing.sources().len() == sources_count
    }

    /// Runs one step of at most 100 µs. Returns true when done.
    pub(crate) fn step(&mut self) -> bool {
        self.mixing.step(STEP_BYTES)
    }
}

impl PartialEq for BitopRequest {
    fn eq(&self, other: &Self) -> bool {
        let sources = other.mixing.sources();
        self.is_for(other.table, &other.key, other.mixing.operation(), sources.len()) && self.mixing.is_of(sources)
    }
}

impl Eq for BitopRequest {}

/// Source bytes per step, summed over all sources: a piece of equal bytes costs 50 µs, since it is packed.
const STEP_BYTES: usize = 8 << 10;
