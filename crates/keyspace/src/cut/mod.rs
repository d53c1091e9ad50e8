//! Shard turns: how the store gets a shard's state as of one journal position.
//!
//! ```text
//!                turn: P(s), marks flip                   all taken, committed
//!   changes ----------|--------------------------------------------|--------->
//!     old mark        |  present mark; an old state not yet        |
//!                     |  written is handed over first              |
//!                     `- take - take - take - ...  records of the state at P(s), a few hundred entries a step
//! ```
//!
//! A turn is O(tables) under the shard's lock; so is each step, which looks at the given number of entries and is
//! encoded after the lock is released. A turn's records, applied to the stored state, give the shard's state at P(s):
//! first the deleted keys, then every changed entry, or all entries if the turn is *whole*.
//!
//! Entries of tables that no database names any more are not written. So a turn may reflect a FLUSH after its P(s):
//! before it commits, the journal must be durable up to its end at the last step, not only up to P(s).

mod loading;
mod marking;
mod merge;
mod records;
mod tail;
mod unread;

pub use loading::{BlockSource, LoadError, Loading};
pub(crate) use marking::{Marking, NAMES_BYTES_MAX};
pub use merge::Merge;
pub(crate) use records::Room;
pub use records::{Batch, BlockSink, Inline, ValueChange, WHOLE_BYTES_MAX, named_by};
pub use tail::{Alive, CutTail, MapState};
pub use unread::Unread;

use crate::section::Section;
use crate::shard::ShardState;
use crate::{Keyspace, TableId};
use base::Position;
use marking::{EVEN, PARITIES, SectionTurn};
use table::Content;
use values::Value;

/// Default number of entries that a step looks at: some twenty microseconds with cold memory.
pub const STEP_ENTRIES: usize = 256;

/// A shard's turn state.
#[derive(Default)]
pub(crate) struct Turning {
    /// See [`Marking`].
    mark: u8,
    /// The next turn writes every entry.
    whole: bool,
    stage: CutStage,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum CutStage {
    /// No turn is under way.
    #[default]
    Still,
    /// The entries that the turn found are being taken.
    Taking,
    /// A turn was abandoned, and some entries still have its marks.
    Clearing,
}

impl Turning {
    pub(crate) fn mark(&self) -> u8 {
        self.mark
    }
}

/// The key counts of one table in one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCount {
    /// The table.
    pub table: TableId,
    /// Its number of keys.
    pub keys: u64,
    /// Number of its keys with a deadline.
    pub expiring: u64,
}

/// A shard's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// P(s): the state written is the one after all frames that end at or before it.
    pub position: Position,
    /// Every entry is written, which replaces all that the store has of the shard.
    pub is_whole: bool,
    /// Nothing has changed since the previous turn: nothing to take, only the position advances.
    pub is_unchanged: bool,
    /// The non-zero key counts by table, for tables that a database names.
    pub tables: Vec<TableCount>,
}

/// Memory for a turn, allocated before the lock is taken: the allocator may have much to tidy up first.
pub struct TurnMemory {
    tables: Vec<TableCount>,
    sections: [Option<Box<SectionTurn>>; TABLES_USUAL],
}

/// Usual maximum of tables per shard.
const TABLES_USUAL: usize = 4;

impl Default for TurnMemory {
    /// Allocates for one turn.
    fn default() -> Self {
        Self { tables: Vec::with_capacity(TABLES_USUAL), sections: std::array::from_fn(|_| Some(Box::default())) }
    }
}

/// The state of a turn after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutStep {
    /// There is more; take again.
    More,
    /// This batch was the last.
    Over,
    /// The turn is gone: abandoned, or all keys were exchanged (DEBUG RELOAD). Discard what was taken.
    Lost,
}

impl ShardState {
    /// Turns the shard, which must keep marks; `position` returns the journal's next position under the same hold.
    /// `whole` requests every entry. Returns `None` after clearing a few hundred marks of an abandoned turn: call
    /// again. O(tables). The previous turn must be over.
    pub fn turn(
        &mut self,
        keyspace: &Keyspace,
        whole: bool,
        memory: &mut TurnMemory,
        position: impl FnOnce() -> Position,
    ) -> Option<Turned> {
        if self.turning().stage == CutStage::Clearing && !self.clear_step() {
            return None;
        }
        assert!(self.turning().stage == CutStage::Still, "a shard is turned again when its last turn is over");
        assert!(self.turning().mark & PARITIES != 0, "a shard that is turned keeps marks");
        let mut tables = std::mem::take(&mut memory.tables);
        tables.extend(self.counts(|table| keyspace.map().names(table)));
        tables.sort_unstable_by_key(|count| count.table);
        let is_marked_whole = self.turning().whole || self.sections().any(|(_, section)| section.marking().is_whole());
        let is_whole = whole || is_marked_whole;
        let is_changed = self.is_changed(keyspace);
        if is_whole || is_changed {
            self.flip(keyspace, is_whole, memory);
        }
        Some(Turned { position: position(), is_whole, is_unchanged: !is_whole && !is_changed, tables })
    }

    /// Returns true if anything in tables that a database names has changed since the last turn. O(tables).
    pub fn is_changed(&self, keyspace: &Keyspace) -> bool {
        self.sections().any(|(table, section)| section.marking().is_changed() && keyspace.map().names(table))
    }

    /// Makes the next turn write `key` of `table`, if present, as if it had changed. Call only between turns.
    pub fn mark_changed(&mut self, keyspace: &Keyspace, table: TableId, key: &[u8]) {
        assert!(self.turning().stage != CutStage::Taking, "what a turn takes is not changed meanwhile");
        let mark = |(id, section): (TableId, &mut Section)| {
            if id == table {
                section.mark_changed(keyspace.hash(key), key);
            }
        };
        self.sections_mut().for_each(mark);
    }

    /// Returns the value of `key` in `table` if it is another version of `value`. O(1).
    pub fn version_beside(&self, keyspace: &Keyspace, table: TableId, key: &[u8], value: &Value) -> Option<Value> {
        let (_, section) = self.sections().find(|(id, _)| *id == table)?;
        match section.find(keyspace.hash(key), key)?.content() {
            Content::Value(now) if now.value_type() == value.value_type() && !now.shares_root_with(value) => {
                Some(now.clone())
            }
            _ => None,
        }
    }

    fn flip(&mut self, keyspace: &Keyspace, whole: bool, memory: &mut TurnMemory) {
        let mark = self.turning().mark ^ PARITIES;
        *self.turning_mut() = Turning { mark, whole: false, stage: CutStage::Taking };
        let mut spares = memory.sections.iter_mut();
        for (table, section) in self.sections_mut() {
            let spare = spares.next().and_then(Option::take);
            section.marking_mut().turn(whole, keyspace.map().names(table), spare);
        }
    }

    /// Takes what the turn has found into the empty `batch`, looking at `entries_max` entries (slightly more if hashes
    /// share a prefix); a taken entry counts as four.
    pub fn take(&mut self, keyspace: &Keyspace, entries_max: usize, batch: &mut Batch) -> CutStep {
        assert!(entries_max > 0 && batch.is_empty());
        if self.turning().stage != CutStage::Taking {
            return CutStep::Lost;
        }
        let mut room = Room::new(entries_max);
        for (table, section) in self.sections_mut() {
            if !keyspace.map().names(table) {
                batch.drop_later(section.marking_mut().end_turn());
            } else if !section.take(table, &mut room, batch) {
                return CutStep::More;
            }
        }
        self.turning_mut().stage = CutStage::Still;
        CutStep::Over
    }

    /// Notes that the last turn's commit failed or that the turn is cancelled: the next one writes every entry. A shard
    /// that was unchanged needs no such call. Drop the result without the lock.
    #[must_use = "it may hold much, and is to be dropped without the lock"]
    pub fn abandon_turn(&mut self) -> impl Send + use<> {
        let turning = self.turning_mut();
        turning.whole = true;
        if turning.stage == CutStage::Taking {
            turning.stage = CutStage::Clearing;
        }
        let abandon = |section: &mut Section| {
            section.marking_mut().make_whole();
            section.marking_mut().abandon_turn()
        };
        self.sections_mut().map(|(_, section)| abandon(section)).collect::<Vec<_>>()
    }

    /// Clears some marks of an abandoned turn. Returns true if those were the last.
    fn clear_step(&mut self) -> bool {
        let (mut room, mut batch) = (Room::new(STEP_ENTRIES), Batch::default());
        let is_over = self.sections_mut().all(|(table, section)| section.take(table, &mut room, &mut batch));
        if is_over {
            self.turning_mut().stage = CutStage::Still;
        }
        is_over
    }

    /// Returns the non-zero key counts of tables that a database names, ordered by table. O(tables).
    pub fn tables(&self, keyspace: &Keyspace) -> Vec<TableCount> {
        self.tables_of(|table| keyspace.map().names(table))
    }

    /// Returns the number of keys in all these tables. O(tables).
    pub fn keys_count(&self, keyspace: &Keyspace) -> u64 {
        self.counts(|table| keyspace.map().names(table)).map(|count| count.keys).sum()
    }

    fn tables_of(&self, is_alive: impl Fn(TableId) -> bool) -> Vec<TableCount> {
        let mut counts: Vec<_> = self.counts(is_alive).collect();
        counts.sort_unstable_by_key(|count| count.table);
        counts
    }

    fn counts(&self, is_alive: impl Fn(TableId) -> bool) -> impl Iterator<Item = TableCount> {
        let named = self.sections().filter(move |(table, section)| section.keys_count() > 0 && is_alive(*table));
        named.map(|(table, section)| {
            let (keys, expiring) = (section.keys_count() as u64, section.expiring_count() as u64);
            TableCount { table, keys, expiring }
        })
    }

    /// Returns the approximate number of keys in these tables changed since the last turn. O(tables).
    pub fn changes_since_turn(&self, keyspace: &Keyspace) -> u64 {
        let alive = self.sections().filter(|(table, _)| keyspace.map().names(*table));
        alive.map(|(_, section)| section.marking().changes()).sum()
    }

    /// Makes every change set `mark` from here on; existing entries count as known to the store.
    fn begin_marks(&mut self, mark: u8) {
        self.turning_mut().mark = mark;
        self.sections_mut().for_each(|(_, section)| section.marking_mut().begin(mark));
    }

    /// Notes that the entries were replaced by others, marked with `mark` (0: unmarked): the store knows none of them.
    pub(crate) fn renew_marking(&mut self, mark: u8) {
        // The next turn skips entries with the present mark, so old and new entries continue with one mark.
        let mark = if mark == 0 { self.turning().mark } else { mark };
        *self.turning_mut() = Turning { mark, whole: true, stage: CutStage::Still };
        for (_, section) in self.sections_mut() {
            *section.marking_mut() = Marking::new(mark);
        }
    }
}

impl Keyspace {
    /// Turns change marking on, since there is a store. No shard may be held, and none may have keys.
    pub fn keep_marks(&self) {
        for shard in &self.shards {
            let mut state = shard.try_write().expect("a start is alone with the keyspace");
            assert!(state.sections().next().is_none(), "keys are marked from the first on");
            state.begin_marks(EVEN);
        }
    }
}

#[cfg(test)]
mod tests;
