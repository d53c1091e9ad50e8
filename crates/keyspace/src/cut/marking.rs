//! Change marks of one section's entries: changed since the turn, and still to be written by the turn in progress.
//!
//! ```text
//! marks   | present in the store | changed in odd turns | changed in even turns |
//!
//! hashes  |------ taken ------|------------ ahead ------------|
//!                             ^ next              an entry ahead that is due and changes for the first time: its
//!                                                 old state is handed over, and counts as taken
//! ```
//!
//! Invariant during a turn: only entries that are ahead and due have the previous turn's mark, and no entry has both
//! change marks. So the turn never has to write an entry with the present mark.

use crate::TableId;
use crate::cut::{Batch, Room};
use crate::section::OwnedEntry;
use base::varint;
use std::ops::ControlFlow;
use table::{EntryMut, SHARED_BITS, Table};
use values::Value;

/// The entry is in the store, or the turn in progress writes it.
pub(crate) const PRESENT: u8 = 0b100;
/// The change marks; each turn switches from one to the other.
pub(crate) const PARITIES: u8 = 0b011;
/// The first one.
pub(crate) const EVEN: u8 = 0b001;

/// Limit in bytes on the names of deleted keys that one shard keeps; beyond it, its next turn writes every entry.
pub(crate) const NAMES_BYTES_MAX: usize = 64 << 10;

/// The change marks of one section.
pub(crate) struct Marking {
    /// The mark that every change sets: one of [`PARITIES`], zero without a store, [`PRESENT`] while the store is
    /// loaded.
    mark: u8,
    /// Entries marked and names noted since the last turn; may count some twice.
    changes: u64,
    /// Keys in the store that have since been deleted, each length-prefixed.
    names: Vec<u8>,
    names_bytes_max: usize,
    /// The next turn writes every entry, so names are not needed.
    whole: bool,
    turn: Option<Box<SectionTurn>>,
}

/// The entries of a section that a turn has yet to write.
#[derive(Default)]
pub(crate) struct SectionTurn {
    /// Keys deleted before the turn, and how many bytes of them are taken.
    names: Vec<u8>,
    names_taken: usize,
    /// Old states of entries that have since changed.
    handed: Vec<OwnedEntry>,
    /// The first hash ahead; `None` if all are taken.
    next: Option<u64>,
    /// Every entry is due, not only those with the mark `old`.
    whole: bool,
    old: u8,
    /// The turn was abandoned: clears marks, writes nothing.
    clears: bool,
}

impl Default for Marking {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Marking {
    /// Creates the marks of a section with no entries or only unmarked ones.
    pub(crate) fn new(mark: u8) -> Self {
        Self { mark, changes: 0, names: Vec::new(), names_bytes_max: NAMES_BYTES_MAX, whole: false, turn: None }
    }

    // ---- called by changes ----

    /// Notes that an entry is about to change.
    #[inline]
    pub(crate) fn changing(&mut self, hash: u64, entry: &mut EntryMut<'_, Value>) {
        if entry.marks() & self.mark != self.mark {
            self.first_change(hash, entry);
        }
    }

    #[cold]
    fn first_change(&mut self, hash: u64, entry: &mut EntryMut<'_, Value>) {
        let mut marks = entry.marks();
        if let Some(turn) = self.turn_due(hash, marks) {
            turn.handed.push(entry.read().copy_out());
            marks = PRESENT;
        }
        entry.set_marks(marks | self.mark);
        self.changes += 1;
    }

    /// Notes that an entry was added.
    #[inline]
    pub(crate) fn inserted(&mut self, now_s: u32, entry: &mut EntryMut<'_, Value>) {
        entry.touch(now_s);
        if self.mark != 0 {
            entry.set_marks(self.mark);
            self.changes += 1;
        }
    }

    /// Notes that an entry left its table. Returns it, unless the turn keeps it.
    #[inline]
    pub(crate) fn removing(&mut self, hash: u64, entry: OwnedEntry) -> Option<OwnedEntry> {
        if entry.read().marks() & (self.mark | PRESENT) == self.mark {
            return Some(entry);
        }
        self.remove_known(hash, entry)
    }

    #[cold]
    fn remove_known(&mut self, hash: u64, entry: OwnedEntry) -> Option<OwnedEntry> {
        let marks = entry.read().marks();
        let is_due = self.turn_due(hash, marks).is_some();
        if is_due || marks & PRESENT != 0 {
            self.note_name(entry.read().key());
        }
        self.changes += 1;
        match self.turn_due(hash, marks) {
            Some(turn) => {
                turn.handed.push(entry);
                None
            }
            None => Some(entry),
        }
    }

    /// Restores an entry to its state at the start of this hold; it changed in between and the changed entry was
    /// removed.
    pub(crate) fn restoring(&mut self, entry: &mut OwnedEntry) {
        // If the change handed it over, the removal has noted its name.
        entry.set_marks(entry.read().marks() & PRESENT | self.mark);
        self.changes += u64::from(self.mark != 0);
    }

    /// Returns the turn in progress if it has yet to write an entry with these marks.
    fn turn_due(&mut self, hash: u64, marks: u8) -> Option<&mut SectionTurn> {
        let is_changed = marks & self.mark != 0;
        let turn = self.turn.as_deref_mut()?;
        (!is_changed && turn.is_ahead(hash) && turn.wants(marks)).then_some(turn)
    }

    fn note_name(&mut self, key: &[u8]) {
        let bytes = varint::encoded_bytes(key.len() as u64) + key.len();
        if self.names.len() + bytes > self.names_bytes_max {
            self.make_whole();
        }
        if !self.whole {
            varint::put_bytes(&mut self.names, key);
        }
    }

    // ---- called by the shard ----

    #[cfg(test)]
    pub(crate) fn mark(&self) -> u8 {
        self.mark
    }

    /// Returns true if the store is up to date.
    #[cfg(test)]
    pub(crate) fn is_settled(&self) -> bool {
        self.changes == 0 && !self.whole && self.turn.is_none()
    }

    /// Returns true if anything has changed since the last turn.
    pub(crate) fn is_changed(&self) -> bool {
        self.changes > 0
    }

    /// Returns the number of entries changed since the last turn, including added and removed ones; some may count
    /// twice.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns true if the next turn has to write every entry.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Makes the next turn write every entry.
    pub(crate) fn make_whole(&mut self) {
        self.whole = true;
        self.names = Vec::new();
    }

    /// Returns the memory of the names kept for the next turn.
    pub(crate) fn names_bytes(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn set_names_bytes_max(&mut self, bytes: usize) {
        self.names_bytes_max = bytes;
    }

    /// Makes changes set `mark` from here on; changes so far count as known to the store.
    pub(crate) fn begin(&mut self, mark: u8) {
        (self.mark, self.changes) = (mark, 0);
    }

    /// Switches to the other mark. If the section `is_due`, earlier changes are to be taken; all entries, if `whole`.
    /// Uses `spare` for the turn's state, if given.
    pub(crate) fn turn(&mut self, whole: bool, is_due: bool, spare: Option<Box<SectionTurn>>) {
        assert!(self.turn.is_none(), "a section is turned again when its last turn is over");
        let old = self.mark;
        self.mark ^= PARITIES;
        let names = std::mem::take(&mut self.names);
        let has_any = is_due && (whole || self.changes > 0);
        (self.changes, self.whole) = (0, false);
        self.turn = has_any.then(|| {
            let names = if whole { Vec::new() } else { names };
            let mut turn = spare.unwrap_or_default();
            *turn = SectionTurn { names, next: Some(0), whole, old, ..SectionTurn::default() };
            turn
        });
    }

    /// Abandons the turn and returns what it kept; [`Marking::take`] clears the old marks of what it had not taken.
    pub(crate) fn abandon_turn(&mut self) -> Vec<OwnedEntry> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        turn.clears = true;
        turn.names = Vec::new();
        turn.names_taken = 0;
        std::mem::take(&mut turn.handed)
    }

    /// Ends the turn of a section that is no longer read.
    pub(crate) fn end_turn(&mut self) -> Option<Box<SectionTurn>> {
        self.turn.take()
    }

    /// Takes what the turn in progress has yet to write of `table`, whose id is `id`. Returns true when nothing is
    /// left.
    pub(crate) fn take(&mut self, id: TableId, table: &mut Table<Value>, room: &mut Room, batch: &mut Batch) -> bool {
        let Some(turn) = &mut self.turn else { return true };
        turn.take_names(id, room, batch);
        turn.take_handed(id, room, batch);
        turn.scan(self.mark, id, table, room, batch);
        let is_over = turn.next.is_none() && turn.handed.is_empty() && turn.names_taken == turn.names.len();
        if is_over {
            self.turn = None;
        }
        is_over
    }
}

impl SectionTurn {
    fn is_ahead(&self, hash: u64) -> bool {
        // A section does not know the bits shared by all its hashes.
        self.next.is_some_and(|next| hash << SHARED_BITS >= next << SHARED_BITS)
    }

    /// Returns true if an entry unchanged since the turn is to be written.
    fn wants(&self, marks: u8) -> bool {
        !self.clears && (self.whole || marks & self.old != 0)
    }

    fn take_names(&mut self, id: TableId, room: &mut Room, batch: &mut Batch) {
        let mut input = &self.names[self.names_taken..];
        while !input.is_empty() && room.enter(batch) {
            batch.put_removal(id, varint::take_bytes(&mut input).expect("written here"));
        }
        self.names_taken = self.names.len() - input.len();
    }

    fn take_handed(&mut self, id: TableId, room: &mut Room, batch: &mut Batch) {
        while !self.handed.is_empty() && room.enter(batch) {
            let entry = self.handed.pop().expect("just seen");
            batch.put(id, entry.read());
        }
    }

    fn scan(&mut self, mark: u8, id: TableId, table: &mut Table<Value>, room: &mut Room, batch: &mut Batch) {
        let Some(from) = self.next else { return };
        let mut last = None;
        let scanned = table.visit_mut(from, |prefix, mut entry| {
            // Entries of one prefix are unordered, so the scan stops only between prefixes.
            if !room.enter(batch) && last != Some(prefix) {
                self.next = Some(prefix);
                return ControlFlow::Break(());
            }
            last = Some(prefix);
            let marks = entry.marks();
            if marks & mark == 0 && self.wants(marks) {
                batch.put(id, entry.read());
                entry.set_marks(PRESENT);
            } else if marks & self.old != 0 {
                entry.set_marks(marks & !self.old);
            }
            ControlFlow::Continue(())
        });
        if scanned.is_continue() {
            self.next = None;
        }
    }
}
