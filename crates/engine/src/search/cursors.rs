//! Results of queries that FT.CURSOR reads piece by piece.

use base::{Ms, Position};
use commands::{CURSOR_IDLE_MS_MAX, INDEX_CURSORS_MAX, QueryRun};
use std::collections::HashMap;

/// Bytes of all cursors of the server that no command is reading.
const CURSORS_BYTES_MAX: usize = 256 << 20;

/// A query whose records are read piece by piece.
pub(crate) struct Cursor {
    /// The name of its index.
    pub(crate) index: Box<[u8]>,
    pub(crate) run: Box<QueryRun>,
    /// The position that its records have seen.
    pub(crate) position: Position,
}

struct IdleCursor {
    cursor: Cursor,
    bytes: usize,
    idle_ms: Ms,
    ends_ms: Ms,
}

/// The cursors that no command is reading.
#[derive(Default)]
pub(crate) struct Cursors {
    idle: HashMap<u64, IdleCursor>,
    /// Bytes of all of them.
    bytes: usize,
}

impl Cursors {
    /// Returns the number of an index' cursors, and of all. O(cursors).
    pub(crate) fn counts(&self, index: &[u8]) -> (u64, u64) {
        (self.count_of(index) as u64, self.idle.len() as u64)
    }

    fn count_of(&self, index: &[u8]) -> usize {
        self.idle.values().filter(|idle| *idle.cursor.index == *index).count()
    }

    /// Returns true if the index may have one more, of so many bytes.
    pub(crate) fn may_add(&self, index: &[u8], bytes: usize) -> bool {
        (self.count_of(index) as u64) < INDEX_CURSORS_MAX && self.bytes.saturating_add(bytes) <= CURSORS_BYTES_MAX
    }

    /// Keeps a cursor under a number that is not known yet, until it is read or `idle_ms` have passed.
    pub(crate) fn put(&mut self, id: u64, cursor: Cursor, idle_ms: Option<Ms>, now: Ms) {
        let idle_ms = idle_ms.filter(|idle_ms| *idle_ms > 0).unwrap_or(Ms::MAX).min(CURSOR_IDLE_MS_MAX);
        let bytes = cursor.run.heap_bytes();
        self.bytes += bytes;
        self.idle.insert(id, IdleCursor { cursor, bytes, idle_ms, ends_ms: now.saturating_add(idle_ms) });
    }

    /// Takes the cursor of this index, and the milliseconds that it stays unread.
    pub(crate) fn take(&mut self, id: u64, index: &[u8]) -> Option<(Cursor, Ms)> {
        self.idle.get(&id).filter(|idle| *idle.cursor.index == *index)?;
        self.remove(id).map(|idle| (idle.cursor, idle.idle_ms))
    }

    /// Takes the cursors that nobody has read for too long. O(cursors).
    pub(crate) fn take_ended(&mut self, now: Ms) -> Vec<Cursor> {
        let ended: Vec<u64> = self.idle.iter().filter(|(_, idle)| idle.ends_ms <= now).map(|(id, _)| *id).collect();
        ended.iter().filter_map(|id| self.remove(*id)).map(|idle| idle.cursor).collect()
    }

    fn remove(&mut self, id: u64) -> Option<IdleCursor> {
        let removed = self.idle.remove(&id)?;
        self.bytes -= removed.bytes;
        Some(removed)
    }
}
