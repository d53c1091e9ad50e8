//! Turning a shard: how the store comes to know a shard's state as of one position of the journal.
//!
//! ```text
//!                turn: P(s), marks flip                   all taken, committed
//!   changes ----------|--------------------------------------------|--------->
//!     old mark        |  present mark; an old state that is still  |
//!                     |  to be written is handed over first        |
//!                     `- take - take - take - ...  records of the state at P(s), a few hundred entries a step
//! ```
//!
//! A turn is O(tables), under the shard's lock; so is each step, which looks at as many entries as it is told to and is
//! encoded when the lock is let go. The records of a turn, applied to what the store has, make the shard's state at P(s):
//! the keys that were deleted first, then every entry that has changed; or all there are, if the turn is *whole*.
//!
//! Entries of tables that no database names any more are not written. So a turn may know of a FLUSH behind its P(s): before
//! its commit the journal is to be durable up to where it ended when the last step was taken, not only up to P(s).

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

/// Entries that a step looks at, unless there is a reason for another number: some twenty microseconds where memory is cold.
pub const STEP_ENTRIES: usize = 256;

/// What a shard knows of its turns.
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
    /// What a turn found is being taken.
    Taking,
    /// A turn was abandoned, and some entries have its marks still.
    Clearing,
}

impl Turning {
    pub(crate) fn mark(&self) -> u8 {
        self.mark
    }
}

/// The keys of one table in one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableCount {
    /// Which table.
    pub table: TableId,
    /// Its keys.
    pub keys: u64,
    /// Those of them with a deadline.
    pub expiring: u64,
}

/// A shard has turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// P(s): what is written is the state after all frames that end here or before.
    pub position: Position,
    /// Whether every entry is written, and what the store has of the shard is void.
    pub is_whole: bool,
    /// Nothing has changed since the turn before: there is nothing to take, only the position moves on.
    pub is_unchanged: bool,
    /// The keys of each table that a database names, those without keys left out.
    pub tables: Vec<TableCount>,
}

/// Memory that a turn takes, made before the hold: whoever is asked for some may have much to tidy up first.
pub struct TurnMemory {
    tables: Vec<TableCount>,
    sections: [Option<Box<SectionTurn>>; TABLES_USUAL],
}

/// Tables that a shard usually has at most.
const TABLES_USUAL: usize = 4;

impl Default for TurnMemory {
    /// For one turn.
    fn default() -> Self {
        Self { tables: Vec::with_capacity(TABLES_USUAL), sections: std::array::from_fn(|_| Some(Box::default())) }
    }
}

/// What is left of a turn after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutStep {
    /// Something; take again.
    More,
    /// Nothing: with this batch all has been taken.
    Over,
    /// There is no turn: it was abandoned, or all keys were exchanged (DEBUG RELOAD). What was taken is worth nothing.
    Lost,
}

impl ShardState {
    /// Turns the shard, which keeps marks; `position` tells the journal's next position under the same hold. `whole` asks
    /// for every entry. `None` if marks of an abandoned turn had to be cleared, a few hundred: to be called again.
    /// O(tables). The turn before must be over.
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

    /// Whether anything of tables that a database names has changed since the last turn. O(tables).
    pub fn is_changed(&self, keyspace: &Keyspace) -> bool {
        self.sections().any(|(table, section)| section.marking().is_changed() && keyspace.map().names(table))
    }

    /// Has the next turn write `key` of `table`, if it is there, as if it had changed; between two turns.
    pub fn mark_changed(&mut self, keyspace: &Keyspace, table: TableId, key: &[u8]) {
        assert!(self.turning().stage != CutStage::Taking, "what a turn takes is not changed meanwhile");
        let mark = |(id, section): (TableId, &mut Section)| {
            if id == table {
                section.mark_changed(keyspace.hash(key), key);
            }
        };
        self.sections_mut().for_each(mark);
    }

    /// What `key` of `table` holds, if that is another version of `value`. O(1).
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

    /// Takes into `batch`, which is empty, what the turn has found, looking at `entries_max` entries (or a few more, whose
    /// hashes are alike); one that is taken counts as four.
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

    /// The commit of the last turn has failed, or the turn is not to go on: the next one writes every entry. A shard that
    /// was unchanged needs no such call. What comes back is to be dropped without the lock.
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

    /// Clears some marks of an abandoned turn; whether those were the last.
    fn clear_step(&mut self) -> bool {
        let (mut room, mut batch) = (Room::new(STEP_ENTRIES), Batch::default());
        let is_over = self.sections_mut().all(|(table, section)| section.take(table, &mut room, &mut batch));
        if is_over {
            self.turning_mut().stage = CutStage::Still;
        }
        is_over
    }

    /// The keys of each table that a database names, by table, those without keys left out. O(tables).
    pub fn tables(&self, keyspace: &Keyspace) -> Vec<TableCount> {
        self.tables_of(|table| keyspace.map().names(table))
    }

    /// The keys of all these tables. O(tables).
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

    /// About how many keys of these tables have changed since the shard was last turned. O(tables).
    pub fn changes_since_turn(&self, keyspace: &Keyspace) -> u64 {
        let alive = self.sections().filter(|(table, _)| keyspace.map().names(*table));
        alive.map(|(_, section)| section.marking().changes()).sum()
    }

    /// Every change sets `mark` from here on, and what is there counts as known to the store.
    fn begin_marks(&mut self, mark: u8) {
        self.turning_mut().mark = mark;
        self.sections_mut().for_each(|(_, section)| section.marking_mut().begin(mark));
    }

    /// The entries are others, which were changed under `mark`, or without marks if it is 0: the store knows none of them.
    pub(crate) fn renew_marking(&mut self, mark: u8) {
        // An entry that has the present mark is not the next turn's business, so both go on together.
        let mark = if mark == 0 { self.turning().mark } else { mark };
        *self.turning_mut() = Turning { mark, whole: true, stage: CutStage::Still };
        for (_, section) in self.sections_mut() {
            *section.marking_mut() = Marking::new(mark);
        }
    }
}

impl Keyspace {
    /// There is a store: from here on changes are marked. Nobody else may hold a shard, and none has keys.
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
