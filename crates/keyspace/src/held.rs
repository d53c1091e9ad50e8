//! Which shards a command needs, and those it holds.

use crate::shard::ShardState;
use crate::{Keyspace, shard_of};
use smallvec::SmallVec;
use sync::lock::{Read, Want, Write};

/// The shards that a command's keys name, in shard order once sealed.
#[derive(Clone, Default)]
pub struct Plan {
    wants: SmallVec<[(u16, Want); 4]>,
    /// Of the first two keys.
    located: [Located; 2],
    keys_count: usize,
}

/// The hash of a key argument, found again by where the argument lies in memory: hashing it twice would cost more.
#[derive(Clone, Copy, Default)]
struct Located {
    address: usize,
    bytes: usize,
    hash: u64,
}

impl Plan {
    /// Forgets everything, to be used again.
    pub fn clear(&mut self) {
        self.wants.clear();
        self.keys_count = 0;
    }

    /// Adds the shard of `key`. The bytes of `key` must stay where they are until the tx ends.
    pub fn add_key(&mut self, keyspace: &Keyspace, key: &[u8], want: Want) {
        let hash = keyspace.hash(key);
        if let Some(located) = self.located.get_mut(self.keys_count) {
            *located = Located { address: key.as_ptr().addr(), bytes: key.len(), hash };
            self.keys_count += 1;
        }
        self.add_shard(shard_of(hash), want);
    }

    /// Adds a shard.
    pub fn add_shard(&mut self, shard: usize, want: Want) {
        self.wants.push((shard as u16, want));
    }

    /// Puts the shards in order, each once, exclusive where any key wants that.
    pub fn seal(&mut self) {
        if self.wants.len() < 2 {
            return;
        }
        self.wants.sort_unstable_by_key(|(shard, want)| (*shard, *want == Want::Read));
        self.wants.dedup_by_key(|(shard, _)| *shard);
    }

    /// How many shards, once sealed.
    pub fn shards_count(&self) -> usize {
        self.wants.len()
    }

    /// The shards, once sealed, and how they are wanted.
    pub fn wants(&self) -> &[(u16, Want)] {
        &self.wants
    }

    /// Tries for all shards, in order. On failure none is held.
    ///
    /// # Errors
    /// The first shard that somebody else holds, and how it was wanted.
    #[inline]
    pub fn try_hold<'k>(&'k self, keyspace: &'k Keyspace) -> Result<Held<'k>, (usize, Want)> {
        let mut held = Held { located: &self.located[..self.keys_count], ..Held::nothing(keyspace) };
        for &(shard, want) in &self.wants {
            let lock = keyspace.shard(shard as usize);
            let guard = match want {
                Want::Read => lock.try_read().map(Guard::Read),
                Want::Write => lock.try_write().map(|write| Guard::Write { write, changed: false }),
            };
            match guard {
                Some(guard) => held.push(shard, guard),
                None => return Err((shard as usize, want)),
            }
        }
        Ok(held)
    }
}

/// Shards held by one tx.
pub struct Held<'k> {
    keyspace: &'k Keyspace,
    /// The first lies here, since most commands hold one.
    first: Option<(u16, Guard<'k>)>,
    /// In shard order.
    rest: Vec<(u16, Guard<'k>)>,
    located: &'k [Located],
    /// Under the gate nobody else is inside: shards are taken as they are met.
    gated: bool,
}

enum Guard<'k> {
    Read(Read<'k, ShardState>),
    Write { write: Write<'k, ShardState>, changed: bool },
}

impl Guard<'_> {
    fn state(&self) -> &ShardState {
        match self {
            Self::Read(read) => read,
            Self::Write { write, .. } => write,
        }
    }
}

impl<'k> Held<'k> {
    /// For a holder of the gate: every shard, each taken when first met.
    pub fn under_gate(keyspace: &'k Keyspace) -> Self {
        Self { gated: true, ..Self::nothing(keyspace) }
    }

    fn nothing(keyspace: &'k Keyspace) -> Self {
        Self { keyspace, first: None, rest: Vec::new(), located: &[], gated: false }
    }

    fn push(&mut self, shard: u16, guard: Guard<'k>) {
        if self.first.is_none() {
            self.first = Some((shard, guard));
        } else {
            let at = self.rest.partition_point(|(held, _)| *held < shard);
            self.rest.insert(at, (shard, guard));
        }
    }

    /// The guard of `shard`, if it is held. O(log shards).
    fn find(&self, shard: usize) -> Option<&Guard<'k>> {
        if let Some((held, guard)) = &self.first
            && usize::from(*held) == shard
        {
            return Some(guard);
        }
        let at = self.rest.binary_search_by_key(&shard, |(held, _)| usize::from(*held)).ok()?;
        Some(&self.rest[at].1)
    }

    fn guards(&self) -> impl Iterator<Item = &(u16, Guard<'k>)> {
        self.first.iter().chain(&self.rest)
    }

    fn guards_mut(&mut self) -> impl Iterator<Item = &mut (u16, Guard<'k>)> {
        self.first.iter_mut().chain(&mut self.rest)
    }

    /// The hash of `key`.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        let address = key.as_ptr().addr();
        let known = self.located.iter().find(|located| located.address == address && located.bytes == key.len());
        known.map_or_else(|| self.keyspace.hash(key), |located| located.hash)
    }

    /// Whether `shard` is held, for writing if `want` says so.
    pub(crate) fn holds(&self, shard: usize, want: Want) -> bool {
        let is_enough = |guard: &Guard<'_>| want == Want::Read || matches!(guard, Guard::Write { .. });
        self.gated || self.find(shard).is_some_and(is_enough)
    }

    pub(crate) fn is_gated(&self) -> bool {
        self.gated
    }

    pub(crate) fn state(&mut self, shard: usize) -> &ShardState {
        self.guard(shard).state()
    }

    /// The state of a shard that is held for writing; it counts as changed.
    pub(crate) fn state_mut(&mut self, shard: usize) -> &mut ShardState {
        match self.guard(shard) {
            Guard::Write { write, changed } => {
                *changed = true;
                write.note_change();
                write
            }
            Guard::Read(_) => panic!("shard {shard} is held for reading only: the row's access is wrong"),
        }
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = &ShardState> {
        self.guards().map(|(_, guard)| guard.state())
    }

    /// Numbers of the shards held.
    pub(crate) fn shards(&self) -> impl Iterator<Item = usize> {
        self.guards().map(|(shard, _)| *shard as usize)
    }

    /// The shards that were changed, each with its number.
    pub(crate) fn changed_mut(&mut self) -> impl Iterator<Item = (usize, &mut ShardState)> {
        self.guards_mut().filter_map(|(shard, guard)| match guard {
            Guard::Write { write, changed: true } => Some((usize::from(*shard), &mut **write)),
            _ => None,
        })
    }

    fn guard(&mut self, shard: usize) -> &mut Guard<'k> {
        if self.first.as_ref().is_none_or(|(held, _)| usize::from(*held) != shard) {
            return self.guard_of_rest(shard);
        }
        &mut self.first.as_mut().expect("just seen").1
    }

    fn guard_of_rest(&mut self, shard: usize) -> &mut Guard<'k> {
        let at = match self.rest.binary_search_by_key(&shard, |(held, _)| usize::from(*held)) {
            Ok(at) => at,
            Err(at) => {
                assert!(self.gated, "the row's keys name every key it touches");
                let write = self.keyspace.shard(shard).try_write().expect("nobody else is inside while the gate is up");
                self.rest.insert(at, (shard as u16, Guard::Write { write, changed: false }));
                at
            }
        };
        &mut self.rest[at].1
    }
}
