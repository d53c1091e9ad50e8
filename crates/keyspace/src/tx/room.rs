//! Resources of a change beyond its request, requested before anything changes: journal room, and memory (for a text
//! extended far beyond its end, say).

use super::{Abandon, Tx};

/// Grants memory before it is allocated.
pub trait MemoryGrant {
    /// Returns true if `bytes` more bytes may be allocated.
    fn grants(&self, bytes: u64) -> bool;
}

impl<'k> Tx<'k> {
    /// Sets the `memory` to ask before large allocations. Without it everything is granted.
    pub fn set_memory(&mut self, memory: &'k dyn MemoryGrant) {
        self.memory = Some(memory);
    }

    /// Returns true if `bytes` may be allocated beside the request itself; call before the first change.
    pub fn grants_memory(&self, bytes: u64) -> bool {
        self.memory.is_none_or(|memory| memory.grants(bytes))
    }

    /// Requires journal room beyond what has been recorded; call before the first change.
    ///
    /// # Errors
    /// If less is claimed.
    pub fn need_room(&self, more_bytes: u64) -> Result<(), Abandon> {
        let bytes = self.log.payload_bytes() + more_bytes;
        if bytes > self.room_bytes { Err(Abandon::Room(bytes)) } else { Ok(()) }
    }
}
