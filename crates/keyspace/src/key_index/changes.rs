//! Names added and removed: noted per section, then sorted for the index.
//!
//! A note includes the key's type, so that a page of one type needs no look-ups; a change of type is noted too.

use super::chunk::{self, KIND_BITS};
use crate::TableId;
use base::Ms;
use base::limits::SHARDS;
use base::primitives::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use base::varint;
use std::sync::Arc;
use values::ValueType;

/// Accounted size of a note beside its name, in bytes: its size while it is sorted.
const NOTE_BYTES: u64 = 32;

/// Per shard: whether there are notes, and until when no key falls due; and the total bytes of notes.
pub(crate) struct Flags {
    words: [AtomicU64; SHARDS / 64],
    /// Written under the shard's lock.
    none_due_before: [AtomicU64; SHARDS],
    backlog: Backlog,
}

/// Notes not yet in the index. Every creation of a name writes here, so it has a cache line of its own.
#[repr(align(128))]
struct Backlog {
    bytes: AtomicU64,
    /// Above this, writers help before they write.
    bytes_max: AtomicU64,
}

impl Default for Flags {
    fn default() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; SHARDS / 64],
            none_due_before: [const { AtomicU64::new(0) }; SHARDS],
            backlog: Backlog { bytes: AtomicU64::new(0), bytes_max: AtomicU64::new(u64::MAX) },
        }
    }
}

/// A set of shards, one bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct ShardBits([u64; SHARDS / 64]);

impl ShardBits {
    /// Returns the first of them.
    pub(super) fn first(&self) -> Option<usize> {
        let at = self.0.iter().position(|word| *word != 0)?;
        Some(at * 64 + self.0[at].trailing_zeros() as usize)
    }

    pub(super) fn remove(&mut self, shard: usize) {
        self.0[shard / 64] &= !(1 << (shard % 64));
    }
}

impl Flags {
    fn raise(&self, shard: usize) {
        self.words[shard / 64].fetch_or(1 << (shard % 64), Release);
    }

    pub(super) fn lower(&self, shard: usize) {
        self.words[shard / 64].fetch_and(!(1 << (shard % 64)), Release);
    }

    pub(super) fn is_raised(&self, shard: usize) -> bool {
        self.words[shard / 64].load(Acquire) & 1 << (shard % 64) != 0
    }

    pub(super) fn all(&self) -> ShardBits {
        ShardBits(std::array::from_fn(|at| self.words[at].load(Acquire)))
    }

    /// Returns true if no key of the shard has fallen due at `now`.
    pub(super) fn none_is_due(&self, shard: usize, now: Ms) -> bool {
        now < self.none_due_before[shard].load(Acquire)
    }

    /// Notes that no key of the shard falls due before `at_ms`. The caller holds the shard.
    pub(crate) fn set_due(&self, shard: usize, at_ms: Ms) {
        self.none_due_before[shard].store(at_ms, Release);
    }

    /// Returns the bytes of notes not yet in the index.
    pub(super) fn backlog_bytes(&self) -> u64 {
        self.backlog.bytes.load(Relaxed)
    }

    /// Returns the backlog above which writers help.
    pub(super) fn backlog_bytes_max(&self) -> u64 {
        self.backlog.bytes_max.load(Relaxed)
    }

    pub(super) fn set_backlog_bytes_max(&self, bytes: u64) {
        self.backlog.bytes_max.store(bytes, Relaxed);
    }

    pub(super) fn note_done(&self, bytes: u64) {
        self.backlog.bytes.fetch_sub(bytes, Relaxed);
    }
}

/// Names added and removed in one section since the last take. Protected by the shard's lock.
pub(crate) struct IndexDeltas {
    taken: NotesTaken,
    shard: usize,
    flags: Arc<Flags>,
}

/// The notes taken from one section.
#[derive(Default)]
pub(crate) struct NotesTaken {
    pub(super) bytes: Vec<u8>,
    /// Their size in the backlog; dropping them must subtract it.
    pub(super) backlog_bytes: u64,
}

impl IndexDeltas {
    pub(crate) fn new(shard: usize, flags: Arc<Flags>) -> Self {
        Self { taken: NotesTaken::default(), shard, flags }
    }

    /// Notes that a name now exists with this type, or no longer exists.
    pub(crate) fn add(&mut self, name: &[u8], kind: Option<ValueType>) {
        let NotesTaken { bytes, backlog_bytes } = &mut self.taken;
        if bytes.is_empty() {
            self.flags.raise(self.shard);
        }
        varint::put(bytes, (name.len() as u64) << KIND_BITS | chunk::code_of(kind));
        bytes.extend_from_slice(name);
        let more_bytes = NOTE_BYTES + name.len() as u64;
        *backlog_bytes += more_bytes;
        self.flags.backlog.bytes.fetch_add(more_bytes, Relaxed);
    }

    /// Notes that something in the section falls due, possibly as early as `at_ms`.
    pub(crate) fn note_due(&self, at_ms: Ms) {
        let none_before = &self.flags.none_due_before[self.shard];
        if at_ms < none_before.load(Relaxed) {
            none_before.store(at_ms, Release);
        }
    }

    /// Takes the notes; `None` if there are none.
    pub(crate) fn take(&mut self) -> Option<NotesTaken> {
        (!self.taken.bytes.is_empty()).then(|| std::mem::take(&mut self.taken))
    }
}

impl Drop for IndexDeltas {
    fn drop(&mut self) {
        self.flags.note_done(self.taken.backlog_bytes);
    }
}

/// Changes of several tables.
#[derive(Default)]
pub(super) struct Changes {
    bytes: Vec<u8>,
    list: Vec<Change>,
}

#[derive(Clone, Copy)]
struct Change {
    table: TableId,
    kind: Option<ValueType>,
    start: usize,
    length: usize,
}

impl Changes {
    /// Creates it with room for `count` changes and `bytes` of names; pages become resident on use. Growing would take
    /// longer than a turn.
    pub(super) fn with_room(count: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), list: Vec::with_capacity(count) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the heap bytes used.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.list)
    }

    pub(super) fn has_room(&self) -> bool {
        self.list.capacity() > 0
    }

    /// Returns the bytes of the names alone.
    pub(super) fn names_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.list.clear();
    }

    pub(super) fn push(&mut self, table: TableId, name: &[u8], kind: Option<ValueType>) {
        self.list.push(Change { table, kind, start: self.bytes.len(), length: name.len() });
        self.bytes.extend_from_slice(name);
    }

    /// Moves one note over, if there is any.
    pub(super) fn read(&mut self, table: TableId, notes: &mut &[u8]) -> bool {
        let Some(word) = varint::take(notes) else { return false };
        let (name, rest) = notes.split_at((word >> KIND_BITS) as usize);
        self.push(table, name, chunk::kind_of_code(word));
        *notes = rest;
        true
    }

    /// Sorts by table and name, stably.
    pub(super) fn sort(&mut self) {
        let Self { bytes, list } = self;
        let name = |change: &Change| &bytes[change.start..][..change.length];
        list.sort_by(|left, right| left.table.cmp(&right.table).then_with(|| name(left).cmp(name(right))));
    }

    /// Returns the table, the name, and the key's type if it exists.
    pub(super) fn get(&self, nth: usize) -> (TableId, &[u8], Option<ValueType>) {
        let Change { table, kind, start, length } = self.list[nth];
        (table, &self.bytes[start..][..length], kind)
    }
}
