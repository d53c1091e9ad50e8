//! Names that came and went, as they are noted in a section, and sorted to be put into the order.
//!
//! With a name goes its kind, so that a page of one kind need not be looked up; a key that turns into another kind is noted too.

use super::chunk::{self, KIND_BITS};
use crate::TableId;
use base::Ms;
use base::limits::SHARDS;
use base::varint;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use values::ValueType;

/// What a note counts beside its name, in bytes: what it takes while it is sorted.
const NOTE_BYTES: u64 = 32;

/// In which shards there are notes, how many bytes of them, and until when no key of a shard falls due.
pub(crate) struct Flags {
    words: [AtomicU64; SHARDS / 64],
    /// Written under the shard's lock.
    none_due_before: [AtomicU64; SHARDS],
    backlog: Backlog,
}

/// Notes that nobody has put into the order yet. Whoever makes a name writes here: a line of memory of its own.
#[repr(align(128))]
struct Backlog {
    bytes: AtomicU64,
    /// Above this writers help before they write.
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

/// Shards, each a bit.
#[derive(Clone, Copy, Default)]
pub(super) struct ShardBits([u64; SHARDS / 64]);

impl ShardBits {
    /// The first of them.
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

    /// Whether no key of the shard has fallen due at `now`.
    pub(super) fn none_is_due(&self, shard: usize, now: Ms) -> bool {
        now < self.none_due_before[shard].load(Acquire)
    }

    /// Nothing of the shard, which the caller holds, falls due before `at_ms`.
    pub(crate) fn set_due(&self, shard: usize, at_ms: Ms) {
        self.none_due_before[shard].store(at_ms, Release);
    }

    /// Bytes of notes that nobody has put into the order yet.
    pub(super) fn backlog_bytes(&self) -> u64 {
        self.backlog.bytes.load(Relaxed)
    }

    /// How many there may be before writers are to help.
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

/// What came and went in one section since it was last taken. It lies under the shard's lock.
pub(crate) struct IndexDeltas {
    taken: NotesTaken,
    shard: usize,
    flags: Arc<Flags>,
}

/// Notes as one section took them.
#[derive(Default)]
pub(crate) struct NotesTaken {
    pub(super) bytes: Vec<u8>,
    /// What they count in the backlog: whoever drops them says so.
    pub(super) backlog_bytes: u64,
}

impl IndexDeltas {
    pub(crate) fn new(shard: usize, flags: Arc<Flags>) -> Self {
        Self { taken: NotesTaken::default(), shard, flags }
    }

    /// A name is there from now on, of this kind, or is not any more.
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

    /// Something of the section falls due, maybe not before `at_ms`.
    pub(crate) fn note_due(&self, at_ms: Ms) {
        let none_before = &self.flags.none_due_before[self.shard];
        if at_ms < none_before.load(Relaxed) {
            none_before.store(at_ms, Release);
        }
    }

    /// `None` if there are none.
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
    /// With room for so many, and bytes of names, which is real once it is used: to grow would take longer than a turn.
    pub(super) fn with_room(count: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), list: Vec::with_capacity(count) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What they take, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.list)
    }

    pub(super) fn has_room(&self) -> bool {
        self.list.capacity() > 0
    }

    /// What the names alone take, in bytes.
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

    /// Takes over one note, if there is any.
    pub(super) fn read(&mut self, table: TableId, notes: &mut &[u8]) -> bool {
        let Some(word) = varint::take(notes) else { return false };
        let (name, rest) = notes.split_at((word >> KIND_BITS) as usize);
        self.push(table, name, chunk::kind_of_code(word));
        *notes = rest;
        true
    }

    /// By table and name; those of one name as they came.
    pub(super) fn sort(&mut self) {
        let Self { bytes, list } = self;
        let name = |change: &Change| &bytes[change.start..][..change.length];
        list.sort_by(|left, right| left.table.cmp(&right.table).then_with(|| name(left).cmp(name(right))));
    }

    /// Table, name, and of which kind it is if it is there.
    pub(super) fn get(&self, nth: usize) -> (TableId, &[u8], Option<ValueType>) {
        let Change { table, kind, start, length } = self.list[nth];
        (table, &self.bytes[start..][..length], kind)
    }
}
