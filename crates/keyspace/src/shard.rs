//! What lies under one shard's lock.

use crate::section::Section;
use crate::turn::{NAMES_BYTES_MAX, Turning};
use crate::{Keyspace, TableId};
use base::{Ms, Position};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One slice of the keyspace: a section per table in use.
#[derive(Default)]
pub struct ShardState {
    /// Few: one per database in use. The first lies here, beside the lock: one line of memory less to wait for.
    sections: SmallVec<[(TableId, Section); 1]>,
    /// Position after the last frame that changed this shard.
    last: Position,
    /// Raised by every change: what was read under one hold is true under a later one if this is the same.
    changes: u64,
    /// Greatest `now` at which a key was found expired: later txs may not see it alive again.
    expired_at_ms: AtomicU64,
    turning: Turning,
}

impl ShardState {
    /// Position after the last frame that changed this shard.
    pub fn last(&self) -> Position {
        self.last
    }

    /// A count that every change raises.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn note_change(&mut self) {
        self.changes += 1;
    }

    pub(crate) fn stamp(&mut self, end: Position) {
        assert!(end >= self.last, "positions only rise");
        self.last = end;
    }

    /// Exchanges all keys with `other`, which is not turned any more. A turn under way is lost, and the next one writes
    /// every entry.
    pub(crate) fn exchange(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.sections, &mut other.sections);
        self.changes += 1;
        self.renew_marking(other.turning.mark());
    }

    /// Takes over the sections of `other`.
    pub(crate) fn adopt(&mut self, other: Self) {
        self.sections = other.sections;
        self.changes += 1;
    }

    /// See [`Section::fill`].
    pub(crate) fn fill(&mut self, table: TableId, hash: u64, key: &[u8], value: kinds::Value) -> Option<kinds::Value> {
        match self.sections.iter_mut().find(|(id, _)| *id == table) {
            Some((_, section)) => section.fill(hash, key, value),
            None => Some(value),
        }
    }

    pub(crate) fn turning(&self) -> &Turning {
        &self.turning
    }

    pub(crate) fn turning_mut(&mut self) -> &mut Turning {
        &mut self.turning
    }

    pub(crate) fn expired_at_ms(&self) -> Ms {
        self.expired_at_ms.load(Relaxed)
    }

    pub(crate) fn note_expired(&self, now: Ms) {
        if self.expired_at_ms.load(Relaxed) < now {
            self.expired_at_ms.fetch_max(now, Relaxed);
        }
    }

    /// The section of `table`, if any key of it lies or lay here.
    pub fn section(&self, table: TableId) -> Option<&Section> {
        self.sections.iter().find(|(id, _)| *id == table).map(|(_, section)| section)
    }

    /// All sections, those that no database names any more included.
    pub fn sections(&self) -> impl Iterator<Item = (TableId, &Section)> {
        self.sections.iter().map(|(table, section)| (*table, section))
    }

    pub(crate) fn section_mut(&mut self, table: TableId) -> &mut Section {
        let index = self.sections.iter().position(|(id, _)| *id == table).unwrap_or_else(|| {
            self.sections.push((table, Section::marked(self.turning.mark())));
            self.sections.len() - 1
        });
        if self.sections.len() > 1 {
            self.share_names(index);
        }
        &mut self.sections[index].1
    }

    pub(crate) fn sections_mut(&mut self) -> impl Iterator<Item = (TableId, &mut Section)> {
        self.sections.iter_mut().map(|(table, section)| (*table, section))
    }

    /// Gives one section the room for names that the others leave.
    #[cold]
    fn share_names(&mut self, index: usize) {
        let all_bytes: usize = self.sections.iter().map(|(_, section)| section.marking().names_bytes()).sum();
        let marking = self.sections[index].1.marking_mut();
        marking.set_names_bytes_max(NAMES_BYTES_MAX.saturating_sub(all_bytes - marking.names_bytes()));
    }

    pub(crate) fn has_garbage(&self) -> bool {
        self.sections.iter().any(|(_, section)| section.has_garbage())
    }

    pub(crate) fn take_garbage(&mut self) -> impl Iterator<Item = kinds::Value> {
        self.sections.iter_mut().flat_map(|(_, section)| section.take_garbage())
    }

    pub(crate) fn take_sections(&mut self, dead: impl Fn(TableId) -> bool) -> Vec<Section> {
        let mut taken = Vec::new();
        self.sections.retain_mut(|(table, section)| {
            let dead = dead(*table);
            if dead {
                taken.push(std::mem::take(section));
            }
            !dead
        });
        taken
    }

    /// Bytes of memory of all sections. O(sections).
    pub fn heap_bytes(&self) -> u64 {
        self.sections.iter().map(|(_, section)| section.heap_bytes()).sum()
    }

    /// Whether it has a section that no database names any more.
    pub fn has_dead(&self, keyspace: &Keyspace) -> bool {
        self.sections.iter().any(|(table, _)| !keyspace.map().names(*table))
    }

    /// When the next key may fall due, over the tables that `keyspace` still names, and whose.
    pub fn next_due(&self, keyspace: &Keyspace) -> Option<(Ms, TableId)> {
        let named = self.sections.iter().filter(|(table, _)| keyspace.map().names(*table));
        named.filter_map(|(table, section)| Some((section.next_due()?, *table))).min()
    }
}
