//! One shard's hash table: slots in tag order, found by linear probing.
//!
//! ```text
//! | tag 20 | address / 16, 44 |    a slot; 0 is empty
//!
//!   home(03)      home(40) home(51)       home(a0)                homes
//! | 03 | 05 |  .  | 40 | 41 | 52 | 60 |  .  | a0 | .. | fd | fe | fe |  .  |
//!                                                      homes end ^    tail ^ slots end
//! ```
//!
//! A tag's home is its slot if tags were spread evenly: `tag * homes / 2^20`. An entry is at its home or after it,
//! with no empty slot in between. So a search begins at the home and ends at the first slot that is empty or has a
//! greater tag. Tags ascend from slot to slot; the end does not wrap around, but has a tail of slots that are no
//! tag's home, lengthened when it is full.
//!
//! Since the order does not depend on the number of slots, changing that is one ordered pass over slots, and a scan may
//! be paused meanwhile. Up to 8 slots there is one home: a sorted list, filled to the last slot.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use crate::edit::{EntryMut, OwnedEntry};
use crate::entry::{Entry, Raw};
use crate::{Fields, NewContent, PREFIX_BITS, SHARED_BITS, TAG_BITS, size};

/// The entries of one shard and database. An empty one allocates nothing.
///
/// Hashes passed to one table must share their top [`SHARED_BITS`]. `V` is the root of a large value. To drop a table
/// elsewhere, take it (`std::mem::take`) and move it there.
pub struct Table<V> {
    slots: Box<[Slot]>,
    homes: usize,
    len: usize,
    /// Total bytes of the entries' allocations.
    entries_bytes: u64,
    owns: PhantomData<V>,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Table<V> {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self { slots: Box::default(), homes: 1, len: 0, entries_bytes: 0, owns: PhantomData }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes allocated for slots and entries, without what values own elsewhere. O(1).
    pub fn heap_bytes(&self) -> u64 {
        size_of_val(&*self.slots) as u64 + self.entries_bytes
    }

    /// Returns the entry of `key`. O(1).
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Entry<'_, V>> {
        let index = self.index_of(hash, key)?;
        Some(self.entry(self.slots[index]))
    }

    /// Returns the mutable entry of `key`. O(1).
    pub fn find_mut(&mut self, hash: u64, key: &[u8]) -> Option<EntryMut<'_, V>> {
        let index = self.index_of(hash, key)?;
        Some(self.entry_mut(index))
    }

    /// Adds an entry, unmarked and untouched. Amortised O(1).
    ///
    /// # Panics
    /// If the key is present.
    pub fn insert(
        &mut self,
        hash: u64,
        key: &[u8],
        content: NewContent<'_, V>,
        fields: impl Into<Fields>,
    ) -> EntryMut<'_, V> {
        let Err(index) = self.search(hash, key) else { panic!("the key is present") };
        let index = self.place(index, tag(hash), Raw::create(key, &fields.into(), content));
        self.entry_mut(index)
    }

    /// Removes and returns an entry. Amortised O(1).
    pub fn remove(&mut self, hash: u64, key: &[u8]) -> Option<OwnedEntry<V>> {
        let index = self.index_of(hash, key)?;
        // SAFETY: a slot that is not empty holds a live entry; below, the slot is given up.
        let removed = unsafe { OwnedEntry::new(self.slots[index].raw()) };
        self.entries_bytes -= removed.read().heap_bytes() as u64;
        self.len -= 1;
        self.close_gap(index);
        if self.slots.len() > SLOTS_MIN && self.len < self.slots.len() * 3 / 10 {
            self.spread(slots_for(self.len * 8 / 5));
        } else if self.len == 0 {
            self.spread(0);
        }
        Some(removed)
    }

    /// Puts an entry back unchanged, replacing another of the same key if there is one. Amortised O(1).
    pub fn put_back(&mut self, hash: u64, entry: OwnedEntry<V>) {
        match self.search(hash, entry.read().key()) {
            Err(index) => {
                self.place(index, tag(hash), entry.into_raw());
            }
            Ok(index) => {
                self.entries_bytes += entry.read().heap_bytes() as u64;
                let slot = self.slots[index];
                self.slots[index] = slot.with(entry.into_raw());
                // SAFETY: the slot held this live entry and holds it no longer.
                let replaced: OwnedEntry<V> = unsafe { OwnedEntry::new(slot.raw()) };
                self.entries_bytes -= replaced.read().heap_bytes() as u64;
            }
        }
    }

    /// Returns a copy of an entry, marks included, that may be [put back](Table::put_back).
    pub fn copy(&self, hash: u64, key: &[u8]) -> Option<OwnedEntry<V>>
    where
        V: Clone,
    {
        self.find(hash, key).map(|entry| entry.copy_out())
    }

    /// Iterates over the entries from the prefix of `from_hash` on, in prefix order, each with its prefix as a hash
    /// (the bits below [`PREFIX_BITS`] zero).
    ///
    /// Only the prefix of a hash matters to a table, so the returned hash can be used to find the entry. A scan resumed
    /// at [`prefix_after`](crate::prefix_after) the last prefix never misses or repeats an entry that stays, whatever
    /// changed in between.
    pub fn scan(&self, from_hash: u64) -> Scan<'_, V> {
        let shared = from_hash & !(u64::MAX >> SHARED_BITS);
        let from = tag(from_hash);
        let mut slots = &self.slots[self.home(from)..];
        while slots.first().is_some_and(|slot| !slot.is_empty() && slot.tag() < from) {
            slots = &slots[1..];
        }
        Scan { table: self, slots: slots.iter(), shared }
    }

    /// Passes the entries from the prefix of `from_hash` on to `visit`, mutable and in the order of [`Table::scan`],
    /// until `visit` breaks.
    pub fn visit_mut(
        &mut self,
        from_hash: u64,
        mut visit: impl FnMut(u64, EntryMut<'_, V>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let shared = from_hash & !(u64::MAX >> SHARED_BITS);
        let from = tag(from_hash);
        for index in self.home(from)..self.slots.len() {
            let slot = self.slots[index];
            if !slot.is_empty() && slot.tag() >= from {
                visit(shared | slot.tag() << (u64::BITS - PREFIX_BITS), self.entry_mut(index))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns an entry chosen by `random`, all equally likely; `None` if there is none. O(1) on average.
    pub fn random(&self, mut random: u64) -> Option<Entry<'_, V>> {
        if self.is_empty() {
            return None;
        }
        loop {
            // Every number occurs once in 2^64 steps, so the loop ends.
            random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let index = ((u128::from(mix(random)) * self.slots.len() as u128) >> 64) as usize;
            if !self.slots[index].is_empty() {
                return Some(self.entry(self.slots[index]));
            }
        }
    }

    /// Prefetches the slots in which the key of `hash` would be. See [`Table::prefetch_entry`].
    pub fn prefetch_slots(&self, hash: u64) {
        if let Some(slot) = self.slots.get(self.home(tag(hash))) {
            prefetch(slot);
        }
    }

    /// Prefetches the entry of the key of `hash`, so that looking up several keys waits for all at once.
    pub fn prefetch_entry(&self, hash: u64) {
        let tag = tag(hash);
        let run = self.slots.iter().skip(self.home(tag)).take_while(|slot| !slot.is_empty() && slot.tag() <= tag);
        if let Some(slot) = { run }.find(|slot| slot.tag() == tag) {
            // SAFETY: a slot that is not empty holds a live entry.
            prefetch(unsafe { slot.raw::<V>().part(0) });
        }
    }

    fn index_of(&self, hash: u64, key: &[u8]) -> Option<usize> {
        self.search(hash, key).ok()
    }

    /// Returns the key's slot, or its insertion point: after all entries of its tag or a lesser one.
    fn search(&self, hash: u64, key: &[u8]) -> Result<usize, usize> {
        let tag = tag(hash);
        let mut index = self.home(tag);
        while let Some(&slot) = self.slots.get(index)
            && !slot.is_empty()
            && slot.tag() <= tag
        {
            if slot.tag() == tag && self.entry(slot).key() == key {
                return Ok(index);
            }
            index += 1;
        }
        Err(index)
    }

    /// Inserts an entry where its [`Table::search`] failed; returns its final slot.
    fn place(&mut self, mut index: usize, tag: u64, raw: Raw<V>) -> usize {
        if self.len == self.entries_max() {
            self.spread(slots_after(self.slots_meant()));
            index = self.home(tag);
            index += self.slots[index..].iter().take_while(|slot| !slot.is_empty() && slot.tag() <= tag).count();
        }
        let gap = self.slots[index..].iter().position(|slot| slot.is_empty());
        let gap = index + gap.unwrap_or_else(|| self.lengthen_tail(index));
        self.slots.copy_within(index..gap, index + 1);
        self.slots[index] = Slot::new(tag, raw);
        self.len += 1;
        // SAFETY: alive, just put there.
        self.entries_bytes += unsafe { raw.shape() }.allocation_bytes() as u64;
        index
    }

    /// Moves the displaced entries after `index` back by one, over the entry there.
    fn close_gap(&mut self, index: usize) {
        let mut last = index;
        while let Some(next) = self.slots.get(last + 1)
            && !next.is_empty()
            && self.home(next.tag()) <= last
        {
            last += 1;
        }
        self.slots.copy_within(index + 1..=last, index);
        self.slots[last] = Slot::EMPTY;
    }

    /// Adds slots at the end; returns the distance from `index` to the first of them.
    fn lengthen_tail(&mut self, index: usize) -> usize {
        let before = self.slots.len();
        let mut slots = Vec::with_capacity(slots_for(before + 1));
        slots.extend_from_slice(&self.slots);
        slots.resize(slots_for(before + 1), Slot::EMPTY);
        self.slots = slots.into_boxed_slice();
        before - index
    }

    /// Spreads the entries over `slots_count` slots, or more if many of them crowd at the end.
    fn spread(&mut self, slots_count: usize) {
        self.homes = homes_of(slots_count);
        let mut slots = vec![Slot::EMPTY; slots_count];
        let mut next = 0;
        for &slot in &self.slots {
            // An empty slot's home is 0, so it is written to `next`, where it does no harm: no branch.
            let index = self.home(slot.tag()).max(next);
            if index == slots.len() {
                if slot.is_empty() {
                    continue;
                }
                slots.resize(slots_for(index + 1), Slot::EMPTY);
            }
            slots[index] = slot;
            next = index + usize::from(!slot.is_empty());
        }
        self.slots = slots.into_boxed_slice();
    }

    /// Returns the number of entries above which the table grows. Beyond 7/8 of the homes, runs get long; an insert
    /// moves a run and a search reads one.
    fn entries_max(&self) -> usize {
        if self.homes == 1 { self.slots.len() } else { self.homes - self.homes / 8 }
    }

    /// Returns the number of slots without those added by [`Table::lengthen_tail`].
    fn slots_meant(&self) -> usize {
        if self.homes == 1 { self.slots.len() } else { self.homes + (self.homes / 7).min(TAIL_MAX) }
    }

    fn home(&self, tag: u64) -> usize {
        ((tag * self.homes as u64) >> TAG_BITS) as usize
    }

    fn entry(&self, slot: Slot) -> Entry<'_, V> {
        debug_assert!(!slot.is_empty());
        // SAFETY: a slot that is not empty holds a live entry, and changing it needs `&mut self`.
        unsafe { Entry::new(slot.raw()) }
    }

    fn entry_mut(&mut self, index: usize) -> EntryMut<'_, V> {
        debug_assert!(!self.slots[index].is_empty());
        // SAFETY: a slot that is not empty holds a live entry of this table.
        unsafe { EntryMut::new(&mut self.slots[index], &mut self.entries_bytes) }
    }
}

impl<V> Drop for Table<V> {
    fn drop(&mut self) {
        for slot in self.slots.iter().filter(|slot| !slot.is_empty()) {
            // SAFETY: a slot that is not empty holds a live entry, and the slots go with the table.
            unsafe { slot.raw::<V>().destroy() };
        }
    }
}

/// An ordered iterator over a table; see [`Table::scan`].
pub struct Scan<'a, V> {
    table: &'a Table<V>,
    slots: std::slice::Iter<'a, Slot>,
    shared: u64,
}

impl<'a, V> Iterator for Scan<'a, V> {
    type Item = (u64, Entry<'a, V>);

    fn next(&mut self) -> Option<Self::Item> {
        let slot = self.slots.find(|slot| !slot.is_empty())?;
        Some((self.shared | slot.tag() << (u64::BITS - PREFIX_BITS), self.table.entry(*slot)))
    }
}

/// A tag and the address of an entry, or empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u64);

impl Slot {
    const EMPTY: Self = Self(0);

    fn new<V>(tag: u64, raw: Raw<V>) -> Self {
        let address = raw.address();
        assert!(address.trailing_zeros() >= size::ALIGN.ilog2(), "the allocator returned a misaligned address");
        assert!(address >> 48 == 0, "user space ends below 48 bits");
        Self(tag << ADDRESS_BITS | address as u64 >> size::ALIGN.ilog2())
    }

    /// Returns the same tag with another entry.
    pub(crate) fn with<V>(self, raw: Raw<V>) -> Self {
        Self::new(self.tag(), raw)
    }

    /// Returns the entry's address.
    ///
    /// # Safety
    /// Not empty; the entry is alive and was put in as one of this `V`.
    pub(crate) unsafe fn raw<V>(self) -> Raw<V> {
        debug_assert!(!self.is_empty());
        let address = (self.0 & ((1 << ADDRESS_BITS) - 1)) << size::ALIGN.ilog2();
        // SAFETY: `new` packed the address of this entry.
        unsafe { Raw::from_address(address as usize) }
    }

    fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    fn tag(self) -> u64 {
        self.0 >> ADDRESS_BITS
    }
}

/// Prefetches the cache line at `at`.
#[inline]
fn prefetch<T>(at: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint; it reads and writes nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Bits of an address below 2^48 that is a multiple of [`size::ALIGN`].
const ADDRESS_BITS: u32 = 48 - size::ALIGN.ilog2();
const _: () = assert!(ADDRESS_BITS + TAG_BITS == u64::BITS);
const _: () = assert!(usize::BITS == u64::BITS);

/// Initial number of slots after the homes.
const TAIL_MAX: usize = 16;

/// The fewest slots of a non-empty table.
const SLOTS_MIN: usize = 2;

/// Returns the least number of slots, at least `count`, that fills an allocation.
fn slots_for(count: usize) -> usize {
    match count {
        0 => 0,
        1..=8 => count.next_power_of_two().max(SLOTS_MIN),
        _ => size::class(count * size_of::<Slot>()) / size_of::<Slot>(),
    }
}

/// Returns the number of slots to grow to: one class more, a seventh to a quarter, since memory matters more than
/// passes over slots; small tables double.
fn slots_after(count: usize) -> usize {
    slots_for((count + 1).max((2 * count).min(16)))
}

/// Returns how many of `slots_count` slots are homes. The tail absorbs random crowding at the end.
fn homes_of(slots_count: usize) -> usize {
    if slots_count <= 8 { 1 } else { slots_count - (slots_count / 8).min(TAIL_MAX) }
}

fn tag(hash: u64) -> u64 {
    hash << SHARED_BITS >> (u64::BITS - TAG_BITS)
}

/// Scrambles numbers one-to-one (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intended_slot_count_follows_from_the_homes() {
        for count in (0..20_000).map(slots_for) {
            let table = Table::<u64> { slots: vec![Slot::EMPTY; count].into(), homes: homes_of(count), ..Table::new() };
            assert_eq!(table.slots_meant(), count);
            assert!(slots_after(count) > count && slots_after(count) <= (2 * count).max(SLOTS_MIN));
        }
    }
}
