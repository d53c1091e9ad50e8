//! A tx asks for what a change takes beyond its own request, before it changes anything: room in the journal; memory, of a text that is
//! extended far beyond its end, say.

use super::{Abandon, Tx};

/// Grants memory before it is allocated.
pub trait MemoryGrant {
    /// Whether so many bytes more may be allocated.
    fn grants(&self, bytes: u64) -> bool;
}

impl<'k> Tx<'k> {
    /// Has it ask `memory` before it allocates much. Without this everything is granted.
    pub fn set_memory(&mut self, memory: &'k dyn MemoryGrant) {
        self.memory = Some(memory);
    }

    /// Whether so many bytes may be allocated beside what the request itself holds; to be asked before the first change.
    pub fn grants_memory(&self, bytes: u64) -> bool {
        self.memory.is_none_or(|memory| memory.grants(bytes))
    }

    /// Asks for journal room beyond what has been recorded; to be called before the first change.
    ///
    /// # Errors
    /// If less is claimed.
    pub fn need_room(&self, more_bytes: u64) -> Result<(), Abandon> {
        let bytes = self.log.payload_bytes() + more_bytes;
        if bytes > self.room_bytes { Err(Abandon::Room(bytes)) } else { Ok(()) }
    }
}
