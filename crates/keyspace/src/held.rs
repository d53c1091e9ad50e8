//! The shards that a command needs, and those it holds.

use crate::shard::ShardState;
use crate::{Keyspace, TableId, shard_of};
use smallvec::SmallVec;
use std::cell::Cell;
use sync::lock::{Read, Want, Write};

/// The shards that a command's keys name, in shard order once sealed.
#[derive(Clone, Default)]
pub struct Plan {
    wants: SmallVec<[(u16, Want); 4]>,
    /// The first keys, in the order in which they were added.
    located: Vec<Located>,
}

/// Number of keys whose hashes are kept: 8 KiB.
const LOCATED_MAX: usize = 256;

/// The hash of a key argument, found by the argument's address: hashing twice would cost more.
#[derive(Clone, Copy)]
struct Located {
    address: usize,
    bytes: usize,
    hash: u64,
    /// Index of its shard in the plan, once sealed.
    place: u16,
}

impl Plan {
    /// Clears the plan for reuse.
    pub fn clear(&mut self) {
        self.wants.clear();
        self.located.clear();
    }

    /// Adds the shard of `key`, whose bytes must not move until the tx ends.
    #[inline]
    pub fn add_key(&mut self, keyspace: &Keyspace, key: &[u8], want: Want) {
        let hash = keyspace.hash(key);
        if self.located.len() < LOCATED_MAX {
            self.located.push(Located { address: key.as_ptr().addr(), bytes: key.len(), hash, place: 0 });
        }
        keyspace.shard(shard_of(hash)).prefetch();
        self.add_shard(shard_of(hash), want);
    }

    /// Adds a shard.
    #[inline]
    pub fn add_shard(&mut self, shard: usize, want: Want) {
        let wanted = (shard as u16, want);
        if self.wants.last() != Some(&wanted) {
            self.wants.push(wanted);
        }
    }

    /// Sorts the shards and removes duplicates; a shard is exclusive if any key wants that.
    pub fn seal(&mut self) {
        if self.wants.len() < 2 {
            return;
        }
        self.wants.sort_unstable_by_key(|(shard, _)| *shard);
        self.wants.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same && next.1 == Want::Write {
                kept.1 = Want::Write;
            }
            is_same
        });
        for located in &mut self.located {
            let shard = shard_of(located.hash) as u16;
            located.place = self.wants.partition_point(|(wanted, _)| *wanted < shard) as u16;
        }
    }

    /// Returns the hashes of the keys; `None` if there are more keys than are kept.
    pub fn hashes(&self) -> Option<impl Iterator<Item = u64>> {
        (self.located.len() < LOCATED_MAX).then(|| self.located.iter().map(|located| located.hash))
    }

    /// Returns the number of shards, once sealed.
    pub fn shards_count(&self) -> usize {
        self.wants.len()
    }

    /// Returns the shards, once sealed, and the access each needs.
    pub fn wants(&self) -> &[(u16, Want)] {
        &self.wants
    }

    /// Returns the shard if the plan is just one, exclusive.
    #[inline]
    pub fn only_write(&self) -> Option<u16> {
        match self.wants[..] {
            [(shard, Want::Write)] => Some(shard),
            _ => None,
        }
    }

    /// Returns the shard that a sealed plan writes to, if that is just one; others may be read.
    pub fn written(&self) -> Option<u16> {
        let mut written = self.wants.iter().filter(|(_, want)| *want == Want::Write);
        let (shard, _) = written.next()?;
        written.next().is_none().then_some(*shard)
    }

    /// Returns true if the retained lock is all that the plan needs.
    #[inline]
    pub fn is_of(&self, kept: &RetainedLock<'_>) -> bool {
        matches!(self.wants[..], [(wanted, _)] if wanted == kept.shard)
    }

    /// Uses the retained lock, which is all that the plan needs.
    #[inline]
    pub fn hold_kept<'k>(&'k self, keyspace: &'k Keyspace, kept: RetainedLock<'k>) -> Held<'k> {
        debug_assert!(self.is_of(&kept));
        let guards = SmallVec::from_buf([(kept.shard, Guard::Write { write: kept.write, changed: false })]);
        Held::new(keyspace, guards, &self.located)
    }

    /// Tries to lock all shards, in order. On failure none is held.
    ///
    /// # Errors
    /// The first shard that another request holds, and the access wanted.
    #[inline(always)]
    pub fn try_hold<'k>(&'k self, keyspace: &'k Keyspace) -> Result<Held<'k>, (usize, Want)> {
        let guards = match self.wants[..] {
            [(shard, want)] => SmallVec::from_buf([Guard::try_take(keyspace, shard, want)?]),
            _ => self.try_all(keyspace)?,
        };
        Ok(Held::new(keyspace, guards, &self.located))
    }

    fn try_all<'k>(&self, keyspace: &'k Keyspace) -> Result<Guards<'k>, (usize, Want)> {
        let mut guards = Guards::new();
        guards.reserve_exact(self.wants.len());
        for &(shard, want) in &self.wants {
            guards.push(Guard::try_take(keyspace, shard, want)?);
        }
        Ok(guards)
    }
}

/// An exclusive shard lock kept from one tx to the next.
pub struct RetainedLock<'k> {
    shard: u16,
    write: Write<'k, ShardState>,
}

/// The shards held by one tx.
pub struct Held<'k> {
    keyspace: &'k Keyspace,
    /// In shard order. One is inline, since most commands hold one.
    guards: Guards<'k>,
    located: &'k [Located],
    /// Index at which the last key was found: commands take their keys in order.
    located_at: Cell<usize>,
    /// Index of the last guard found without a located key: bulk commands take their keys in shard order.
    found_at: Cell<usize>,
    /// The tx holds the gate, so nobody else is inside: shards are taken as they are met.
    gated: bool,
}

type Guards<'k> = SmallVec<[(u16, Guard<'k>); 1]>;

enum Guard<'k> {
    Read(Read<'k, ShardState>),
    Write { write: Write<'k, ShardState>, changed: bool },
}

impl<'k> Guard<'k> {
    /// Tries to lock a shard; fails with the shard and the access wanted.
    #[inline]
    fn try_take(keyspace: &'k Keyspace, shard: u16, want: Want) -> Result<(u16, Self), (usize, Want)> {
        let lock = keyspace.shard(usize::from(shard));
        let guard = match want {
            Want::Read => lock.try_read().map(Guard::Read),
            Want::Write => lock.try_write().map(|write| Guard::Write { write, changed: false }),
        };
        guard.map(|guard| (shard, guard)).ok_or((usize::from(shard), want))
    }

    #[inline]
    fn state(&self) -> &ShardState {
        match self {
            Self::Read(read) => read,
            Self::Write { write, .. } => write,
        }
    }
}

impl<'k> Held<'k> {
    /// Creates the set for a holder of the gate: any shard, each taken when first met.
    pub fn under_gate(keyspace: &'k Keyspace) -> Self {
        Self { gated: true, ..Self::new(keyspace, Guards::new(), &[]) }
    }

    #[inline]
    fn new(keyspace: &'k Keyspace, guards: Guards<'k>, located: &'k [Located]) -> Self {
        Self { keyspace, guards, located, located_at: Cell::new(0), found_at: Cell::new(0), gated: false }
    }

    /// Releases all locks.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.guards.clear();
    }

    /// Releases all locks, but returns the shard's lock if just one is held, exclusively.
    pub(crate) fn keep<'w>(&mut self, keyspace: &'w Keyspace) -> Option<RetainedLock<'w>> {
        let kept = match (self.guards.pop(), self.guards.is_empty()) {
            (Some((shard, Guard::Write { write, .. })), true) => {
                Some(RetainedLock { shard, write: write.through(keyspace.shard(usize::from(shard))) })
            }
            _ => None,
        };
        self.release();
        kept
    }

    /// Returns the index of the guard of `shard`, or its insertion point. O(1) for the key asked for last, else O(log
    /// shards).
    #[inline]
    fn find(&self, shard: usize) -> Result<usize, usize> {
        let place = self.located.get(self.located_at.get()).map_or(0, |located| usize::from(located.place));
        match self.guards.get(place) {
            Some((held, _)) if usize::from(*held) == shard => Ok(place),
            _ => self.search(shard),
        }
    }

    fn search(&self, shard: usize) -> Result<usize, usize> {
        let place = self.found_at.get();
        match self.guards.get(place) {
            Some((held, _)) if usize::from(*held) == shard => Ok(place),
            _ => {
                let found = self.guards.binary_search_by_key(&shard, |(held, _)| usize::from(*held));
                found.inspect(|place| self.found_at.set(*place))
            }
        }
    }

    /// Prefetches the entries of several keys in `table`, one stage for all before the next.
    #[inline]
    pub(crate) fn prefetch(&self, table: TableId) {
        if self.located.len() > 1 {
            self.prefetch_all(table);
        }
    }

    fn prefetch_all(&self, table: TableId) {
        let sections = || {
            let section = |located: &Located| self.guards[usize::from(located.place)].1.state().section(table);
            self.located.iter().filter_map(move |located| Some((section(located)?, located.hash)))
        };
        sections().for_each(|(section, hash)| section.prefetch_slots(hash));
        sections().for_each(|(section, hash)| section.prefetch_entry(hash));
    }

    /// Returns the hash of `key`.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let at = self.located_at.get();
        for at in [at, at + 1, 0] {
            if let Some(located) = self.located.get(at)
                && located.address == key.as_ptr().addr()
                && located.bytes == key.len()
            {
                debug_assert_eq!(located.hash, self.keyspace.hash(key), "the bytes of a key have moved");
                self.located_at.set(at);
                return located.hash;
            }
        }
        self.keyspace.hash(key)
    }

    /// Returns true if `shard` is held, for writing if `want` requires it.
    pub(crate) fn holds(&self, shard: usize, want: Want) -> bool {
        let is_enough = |guard: &Guard<'_>| want == Want::Read || matches!(guard, Guard::Write { .. });
        self.gated || self.find(shard).is_ok_and(|at| is_enough(&self.guards[at].1))
    }

    pub(crate) fn is_gated(&self) -> bool {
        self.gated
    }

    pub(crate) fn state(&mut self, shard: usize) -> &ShardState {
        self.guard(shard).state()
    }

    /// Returns the state of a shard held for writing; marks it as changed.
    pub(crate) fn state_mut(&mut self, shard: usize) -> &mut ShardState {
        match self.guard(shard) {
            Guard::Write { write, changed } => {
                *changed = true;
                write.note_change();
                write
            }
            Guard::Read(_) => panic!("shard {shard} is held for reading only: the command's access is wrong"),
        }
    }

    /// Returns the state of a shard held for writing, to take something that is not part of the keys.
    pub(crate) fn state_aside(&mut self, shard: usize) -> &mut ShardState {
        match self.guard(shard) {
            Guard::Write { write, .. } => write,
            Guard::Read(_) => panic!("shard {shard} is held for reading only"),
        }
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = &ShardState> {
        self.guards.iter().map(|(_, guard)| guard.state())
    }

    /// Tries to lock one more shard exclusively; returns `None` if it is not free at once, or is held for reading. As
    /// this never waits, shards may be taken in any order.
    pub(crate) fn extend(&mut self, shard: usize) -> Option<&ShardState> {
        let at = self.find(shard).err()?;
        let write = self.keyspace.shard(shard).try_write()?;
        self.guards.insert(at, (shard as u16, Guard::Write { write, changed: false }));
        Some(self.guards[at].1.state())
    }

    /// Returns the numbers of the shards held.
    pub(crate) fn shards(&self) -> impl Iterator<Item = usize> {
        self.guards.iter().map(|(shard, _)| *shard as usize)
    }

    /// Returns the changed shards with their numbers.
    pub(crate) fn changed_mut(&mut self) -> impl Iterator<Item = (usize, &mut ShardState)> {
        self.guards.iter_mut().filter_map(|(shard, guard)| match guard {
            Guard::Write { write, changed: true } => Some((usize::from(*shard), &mut **write)),
            _ => None,
        })
    }

    /// Publishes what can be known without their locks of the shards held for writing: a retained one may have been changed
    /// by an earlier tx.
    pub(crate) fn publish(&self) {
        for (_, guard) in &self.guards {
            if let Guard::Write { write, .. } = guard {
                write.publish();
            }
        }
    }

    fn guard(&mut self, shard: usize) -> &mut Guard<'k> {
        let at = self.find(shard).unwrap_or_else(|at| self.take_under_gate(at, shard));
        &mut self.guards[at].1
    }

    #[cold]
    fn take_under_gate(&mut self, at: usize, shard: usize) -> usize {
        assert!(self.gated, "the command's keys name every key it touches");
        let write = self.keyspace.shard(shard).try_write().expect("nobody else is inside while the gate is up");
        self.guards.insert(at, (shard as u16, Guard::Write { write, changed: false }));
        at
    }
}
