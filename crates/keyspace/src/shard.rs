//! The state under one shard's lock.

use crate::cut::{NAMES_BYTES_MAX, Turning};
use crate::key_index::{Flags, IndexDeltas, NotesTaken};
use crate::section::Section;
use crate::{Keyspace, OF_SERVER, TableId};
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use base::{Ms, Position};
use smallvec::SmallVec;
use std::sync::Arc;
use sync::lock::Publish;

/// Bits of the CAS numbers that a shard can assign per millisecond and keep distinct across a restart.
const CAS_BITS_OF_MS: u32 = 16;

/// CAS numbers from here on come from clients alone (memcached's `E`): the server assigns this one in the year 2100. They
/// do not raise the numbers that it assigns, for after the highest there would be no other.
pub(crate) const CLIENT_CAS_MIN: u64 = 4_102_444_800_000 << CAS_BITS_OF_MS;

/// One slice of the keyspace: a section per table in use.
#[derive(Default)]
pub struct ShardState {
    /// Few: one per database in use. The first is inline, beside the lock: one cache miss less.
    sections: SmallVec<[(TableId, Section); 1]>,
    /// Position after the last frame that changed this shard.
    last: Position,
    /// Change counter: if it is the same under a later hold, everything read under an earlier one is still valid.
    changes: u64,
    /// The last CAS number assigned here; at least the highest of any dropped section.
    cas: AtomicU64,
    /// Latest `now` at which a key was found expired: later txs must not see it alive again.
    expired_at_ms: AtomicU64,
    turning: Turning,
    /// The shard's number, and the flags that sections raise when they note names; `None` if they note none.
    noting: Option<Box<(usize, Arc<Flags>)>>,
}

/// A summary of a shard's keys that can be read without its lock: the number of keys in its first table, whether any may
/// expire, and whether it has other tables.
///
/// ```text
///   | has others | may expire | keys (30 bits) | first table (32 bits) |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeysSummary(u64);

const HAS_OTHERS: u64 = 1 << 63;
const MAY_EXPIRE: u64 = 1 << 62;
const KEYS_BITS: u32 = 30;
const KEYS_MAX: u64 = (1 << KEYS_BITS) - 1;

impl KeysSummary {
    pub(crate) fn new(published: u64) -> Self {
        Self(published)
    }

    /// Returns the number of keys of `table`, including expired ones not yet removed, and whether any may expire; `None`
    /// if only a look under the lock can tell.
    pub fn keys_of(self, table: TableId) -> Option<(u64, bool)> {
        let keys = self.0 >> 32 & KEYS_MAX;
        if self.0 as u32 == table {
            (keys < KEYS_MAX).then_some((keys, self.0 & MAY_EXPIRE != 0))
        } else {
            (self.0 & HAS_OTHERS == 0).then_some((0, false))
        }
    }
}

impl Publish for ShardState {
    #[inline]
    fn published(&self) -> u64 {
        let Some((table, first)) = self.sections.first() else { return 0 };
        let others = if self.sections.len() > 1 { HAS_OTHERS } else { 0 };
        let expires = if first.may_expire() { MAY_EXPIRE } else { 0 };
        others | expires | (first.keys_count() as u64).min(KEYS_MAX) << 32 | u64::from(*table)
    }
}

impl ShardState {
    /// Returns the position after the last frame that changed this shard.
    pub fn last(&self) -> Position {
        self.last
    }

    /// Returns the change counter.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    pub(crate) fn note_change(&mut self) {
        self.changes += 1;
    }

    /// Returns a CAS number that no key of this shard has had: above all assigned here or received below
    /// [`CLIENT_CAS_MIN`] since start-up, above those loaded, and, unless the clock was set back, above all assigned before
    /// start-up.
    pub(crate) fn next_cas(&self, now: Ms) -> u64 {
        let floor = self.cas_max().max(now << CAS_BITS_OF_MS);
        let next = |last: u64| last.max(floor).saturating_add(1);
        self.cas.fetch_update(Relaxed, Relaxed, |last| Some(next(last))).map_or_else(next, next)
    }

    /// Returns the highest CAS number of a key here, as far as this process knows.
    pub(crate) fn cas_max(&self) -> u64 {
        let sections = self.sections.iter().map(|(_, section)| section.cas_max());
        sections.fold(self.cas.load(Relaxed), u64::max)
    }

    /// Notes that CAS numbers up to this one are used.
    pub(crate) fn note_cas(&self, cas: u64) {
        self.cas.fetch_max(cas, Relaxed);
    }

    pub(crate) fn stamp(&mut self, end: Position) {
        assert!(end >= self.last, "positions only rise");
        self.last = end;
    }

    /// Exchanges all keys with `other`, which must not be turned again. A turn in progress is lost, and the next one
    /// writes every entry.
    pub(crate) fn exchange(&mut self, other: &mut Self) {
        self.sections.iter_mut().for_each(|(_, section)| section.set_notes(None));
        self.note_cas(self.cas_max());
        std::mem::swap(&mut self.sections, &mut other.sections);
        self.changes += 1;
        self.renew_marking(other.turning.mark());
    }

    /// Takes over the sections of `other`.
    pub(crate) fn adopt(&mut self, other: Self) {
        self.note_cas(self.cas_max());
        self.sections = other.sections;
        self.changes += 1;
    }

    /// See [`Section::fill`].
    pub(crate) fn fill(
        &mut self,
        table: TableId,
        hash: u64,
        key: &[u8],
        value: values::Value,
    ) -> Option<values::Value> {
        match self.sections.iter_mut().find(|(id, _)| *id == table) {
            Some((_, section)) => section.fill(hash, key, value),
            None => Some(value),
        }
    }

    /// Makes all sections note names added and removed, and raise this shard's flag; or stops that.
    pub(crate) fn set_noting(&mut self, shard: usize, flags: Option<&Arc<Flags>>) {
        self.noting = flags.map(|flags| Box::new((shard, flags.clone())));
        for at in 0..self.sections.len() {
            let notes = self.notes_of(self.sections[at].0);
            self.sections[at].1.set_notes(notes);
        }
        self.publish_due();
    }

    /// Publishes to the key index until when nothing falls due here; call where deadlines were removed.
    pub(crate) fn publish_due(&self) {
        if let Some((shard, flags)) = self.noting.as_deref() {
            let sections = self.sections.iter().map(|(_, section)| section.none_due_before());
            flags.set_due(*shard, sections.min().unwrap_or(Ms::MAX));
        }
    }

    /// Returns a note collector for a section; none for the server's own table.
    fn notes_of(&self, table: TableId) -> Option<IndexDeltas> {
        let noting = self.noting.as_deref().filter(|_| table != OF_SERVER);
        noting.map(|(shard, flags)| IndexDeltas::new(*shard, flags.clone()))
    }

    /// Takes the name notes of its sections.
    pub(crate) fn take_name_notes(&mut self) -> impl Iterator<Item = (TableId, NotesTaken)> {
        self.sections.iter_mut().filter_map(|(table, section)| Some((*table, section.notes_mut()?.take()?)))
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

    /// Returns the section of `table`, if any key of it is or was here.
    pub fn section(&self, table: TableId) -> Option<&Section> {
        self.sections.iter().find(|(id, _)| *id == table).map(|(_, section)| section)
    }

    /// Returns all sections, including those that no database names any more.
    pub fn sections(&self) -> impl Iterator<Item = (TableId, &Section)> {
        self.sections.iter().map(|(table, section)| (*table, section))
    }

    #[inline]
    pub(crate) fn section_mut(&mut self, table: TableId) -> &mut Section {
        // Most servers use one database.
        match self.sections[..] {
            [(only, _)] if only == table => &mut self.sections[0].1,
            _ => self.section_of_several(table),
        }
    }

    fn section_of_several(&mut self, table: TableId) -> &mut Section {
        let index = self.sections.iter().position(|(id, _)| *id == table).unwrap_or_else(|| {
            let mut section = Section::marked(self.turning.mark());
            section.set_notes(self.notes_of(table));
            self.sections.push((table, section));
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

    /// Gives one section the name budget unused by the others.
    #[cold]
    fn share_names(&mut self, index: usize) {
        let all_bytes: usize = self.sections.iter().map(|(_, section)| section.marking().names_bytes()).sum();
        let marking = self.sections[index].1.marking_mut();
        marking.set_names_bytes_max(NAMES_BYTES_MAX.saturating_sub(all_bytes - marking.names_bytes()));
    }

    pub(crate) fn has_garbage(&self) -> bool {
        self.sections.iter().any(|(_, section)| section.has_garbage())
    }

    pub(crate) fn take_garbage(&mut self) -> impl Iterator<Item = values::Value> {
        self.sections.iter_mut().flat_map(|(_, section)| section.take_garbage())
    }

    pub(crate) fn take_sections(&mut self, dead: impl Fn(TableId) -> bool) -> Vec<Section> {
        let mut taken = Vec::new();
        self.note_cas(self.cas_max());
        self.sections.retain_mut(|(table, section)| {
            let dead = dead(*table);
            if dead {
                // Nothing reads these before the section itself is dropped.
                section.set_notes(None);
                taken.push(std::mem::take(section));
            }
            !dead
        });
        self.publish_due();
        taken
    }

    /// Returns the heap bytes of all sections. O(sections).
    pub fn heap_bytes(&self) -> u64 {
        self.sections.iter().map(|(_, section)| section.heap_bytes()).sum()
    }

    /// Returns true if it has a section that no database names any more.
    pub fn has_dead(&self, keyspace: &Keyspace) -> bool {
        self.sections.iter().any(|(table, _)| !keyspace.map().names(*table))
    }

    /// Returns the earliest time at which a key of a table that `keyspace` names may fall due, and the table.
    pub fn next_due(&self, keyspace: &Keyspace) -> Option<(Ms, TableId)> {
        let named = self.sections.iter().filter(|(table, _)| keyspace.map().names(*table));
        named.filter_map(|(table, section)| Some((section.next_due()?, *table))).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sync::lock::UNKNOWN;
    use table::{Extras, Fields};

    const NOW: Ms = 1_700_000_000_000;

    #[test]
    fn a_summary_tells_the_keys_of_the_first_table_and_that_there_are_others() {
        let mut shard = ShardState::default();
        let summary = |shard: &ShardState| KeysSummary::new(shard.published());
        assert_eq!(summary(&shard).keys_of(7), Some((0, false)), "there is no table");
        assert_eq!(summary(&shard).keys_of(0), Some((0, false)));
        put(&mut shard, 7, 1);
        assert_eq!(summary(&shard).keys_of(7), Some((1, false)));
        assert_eq!(summary(&shard).keys_of(8), Some((0, false)), "it has no section here");
        put(&mut shard, 8, 2);
        assert_eq!(summary(&shard).keys_of(7), Some((1, false)));
        assert_eq!(summary(&shard).keys_of(8), None, "one that has can be any of the others");
        shard.take_sections(|table| table == 7);
        assert_eq!((summary(&shard).keys_of(7), summary(&shard).keys_of(8)), (Some((0, false)), Some((1, false))));
        assert_eq!(KeysSummary::new(KEYS_MAX << 32 | 7).keys_of(7), None, "too many to tell");
        assert!([0, 7, OF_SERVER].into_iter().all(|table| KeysSummary::new(UNKNOWN).keys_of(table).is_none()));
        assert_eq!(KeysSummary::new(MAY_EXPIRE | 5 << 32 | 7).keys_of(7), Some((5, true)));
    }

    fn put(shard: &mut ShardState, table: TableId, cas: u64) {
        let fields = Fields { expires_at_ms: None, extras: Some(Extras { flags: 0, cas, signs: 0 }) };
        shard.section_mut(table).put_text(1, b"key", b"text", fields);
    }

    #[test]
    fn new_cas_numbers_exceed_all_earlier_ones() {
        let mut shard = ShardState::default();
        let first = shard.next_cas(NOW);
        assert!(shard.next_cas(NOW) > first, "in one millisecond");
        assert!(shard.next_cas(NOW - 1_000) > first, "when the clock was set back");
        // Whether renamed from another shard, set by a client, or loaded.
        put(&mut shard, 1, first + 1_000);
        assert_eq!(shard.next_cas(NOW), first + 1_001);
        put(&mut shard, 2, first + 2_000);
        assert_eq!(shard.next_cas(NOW), first + 2_001, "of another database, which SWAPDB may bring here");
        put(&mut shard, 1, first + 3_000);
        assert_eq!(shard.take_sections(|table| table == 1).len(), 1);
        assert_eq!(shard.next_cas(NOW), first + 3_001, "after a FLUSHDB");
        put(&mut shard, 2, first + 4_000);
        shard.adopt(ShardState::default());
        assert_eq!(shard.next_cas(NOW), first + 4_001, "after all was loaded anew");
        put(&mut shard, 1, first + 5_000);
        shard.exchange(&mut ShardState::default());
        assert_eq!(shard.next_cas(NOW), first + 5_001);
        put(&mut shard, 1, u64::MAX);
        assert_eq!(shard.next_cas(NOW), first + 5_002, "a client's highest number ends nothing");
        assert_eq!(shard.next_cas(NOW), first + 5_003);
    }
}
