//! The guard of a sorted set.

use crate::effect::{Effect, Items, SortedChange};
use crate::notes::Classes;
use crate::tx::{Abandon, Before, Tx};
use base::varint;
use std::collections::HashSet;
use values::sorted::MemberPlace;
use values::{Sorted, limits, sorted};

/// Maximum bytes of a record, excluding key and items.
const FIELDS_BYTES_MAX: u64 = 64;

/// A mutable sorted set under a key. The key is created with the first member and removed with the last.
pub struct SortedMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
    event: Option<&'static str>,
}

impl<'t, 'k> SortedMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown }, event: None }
    }

    /// Sets the event name of its changes in notifications.
    #[must_use]
    pub fn with_event(self, event: &'static str) -> Self {
        Self { event: Some(event), ..self }
    }

    /// Returns the current sorted set; `None` if the key is absent.
    pub fn sorted(&mut self) -> Option<&Sorted> {
        self.tx.sorted(self.key).expect("its kind was checked when the guard was made")
    }

    /// Sets the scores of members, one by one. O(members log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put(&mut self, pairs: &[(f64, &[u8])]) -> Result<(), Abandon> {
        self.put_found(pairs, None)
    }

    /// As [`SortedMut::put`]; with the place of the only member, if it is known.
    ///
    /// # Errors
    /// As of [`SortedMut::put`].
    pub fn put_found(&mut self, pairs: &[(f64, &[u8])], place: Option<&MemberPlace>) -> Result<(), Abandon> {
        let must_grow = must_grow(self.sorted(), pairs);
        // The removal of an expired key, the first pair, what makes it large, and the rest.
        self.need_room(4, &mut pairs.iter().map(|(_, member)| member.len()))?;
        let mut rest = pairs;
        if must_grow && self.before == Before::Unknown {
            // Only an existing sorted set turns large, and many members are put into a large one.
            let (first, others) = pairs.split_at(pairs.len().min(1));
            self.put_recorded(first, None);
            rest = others;
        }
        if must_grow {
            self.change(SortedChange::Grow);
        }
        self.put_recorded(rest, place.filter(|_| pairs.len() == 1 && !must_grow && self.before == Before::Settled));
        Ok(())
    }

    fn put_recorded(&mut self, pairs: &[(f64, &[u8])], place: Option<&MemberPlace>) {
        if let [(score, member)] = pairs {
            let item = sorted::item(*score, member);
            return self.change(SortedChange::Put { items: Items::Slices(&[&item]), place });
        }
        let mut bytes = Vec::new();
        pairs.iter().for_each(|(score, member)| varint::put_bytes(&mut bytes, &sorted::item(*score, member)));
        if !pairs.is_empty() {
            let items = Items::Encoded { count: pairs.len() as u64, bytes: &bytes };
            self.change(SortedChange::Put { items, place: None });
        }
    }

    /// Removes members. Returns how many existed. O(members log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove(&mut self, members: &[&[u8]]) -> Result<u64, Abandon> {
        let Some(sorted) = self.sorted() else { return Ok(0) };
        let len = sorted.len();
        let mut seen = HashSet::new();
        let there = members.iter().copied().filter(|member| sorted.score(member).is_some());
        let members: Vec<&[u8]> = there.filter(|member| seen.insert(*member)).collect();
        let count = members.len() as u64;
        self.need_room(1, &mut members.iter().map(|member| member.len()))?;
        if count == len {
            self.remove_all();
        } else if count > 0 {
            self.change(SortedChange::Remove { members: Items::Slices(&members) });
        }
        Ok(count)
    }

    /// Removes the `count` members from `rank` on, which must exist. O(count log n).
    pub fn remove_range(&mut self, rank: u64, count: u64) {
        let len = self.sorted().map_or(0, Sorted::len);
        assert!(rank + count <= len);
        if count == len {
            self.remove_all();
        } else if count > 0 {
            self.change(SortedChange::RemoveRange { rank, count });
        }
    }

    /// As [`SortedMut::remove_range`], for less than all, where `after` is the result. O(log n).
    pub fn remove_range_made(&mut self, rank: u64, count: u64, after: Sorted) {
        let effect = Effect::Sorted(SortedChange::RemoveRange { rank, count });
        let event = match self.event {
            Some(event) => (Classes::SORTED, event),
            None => effect.event().expect("whoever removes is heard"),
        };
        self.tx.exchange(self.key, after, |log, table| log.record(table, self.key, &effect), event);
    }

    fn remove_all(&mut self) {
        if self.sorted().is_some() {
            self.change_effect(&Effect::Remove);
            self.before = Before::Unknown;
        }
    }

    /// Requires room for so many records, which have the members together.
    fn need_room(&mut self, records: u64, lengths: &mut dyn Iterator<Item = usize>) -> Result<(), Abandon> {
        let items_bytes: u64 = lengths.map(|length| (length + 2 * varint::BYTES_MAX) as u64).sum();
        self.tx.need_room(items_bytes + records * (self.key.len() as u64 + FIELDS_BYTES_MAX))
    }

    fn change(&mut self, change: SortedChange<'_>) {
        self.change_effect(&Effect::Sorted(change));
    }

    fn change_effect(&mut self, effect: &Effect<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change_as(self.key, effect, before, self.event.map(|event| (Classes::SORTED, event)));
    }
}

/// Returns true if putting these pairs into a small sorted set exceeds its limits.
fn must_grow(sorted: Option<&Sorted>, pairs: &[(f64, &[u8])]) -> bool {
    if sorted.is_some_and(Sorted::is_large) {
        return false;
    }
    let (entries_max, bytes_max) = (limits::SORTED_ENTRIES.get(), limits::SORTED_MEMBER_BYTES.get());
    let is_there = |member: &[u8]| sorted.is_some_and(|sorted| sorted.score(member).is_some());
    let len = sorted.map_or(0, Sorted::len);
    if len + pairs.len() as u64 > entries_max {
        let mut new = HashSet::new();
        let passes = pairs.iter().any(|(_, member)| {
            if !is_there(member) {
                new.insert(*member);
            }
            len + new.len() as u64 > entries_max
        });
        if passes {
            return true;
        }
    }
    pairs.iter().any(|(_, member)| member.len() as u64 > bytes_max && !is_there(member))
}
