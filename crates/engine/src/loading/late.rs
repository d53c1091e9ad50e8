//! Values read after their shards, and the waiters for them.

use base::limits::SHARDS;
use keyspace::{Unread, shard_of};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::task::Waker;

/// A value: the hash of its key, and a unique number, since keys of several tables may have the same hash.
pub(super) type Number = (u64, u64);

/// Values that are not in place yet.
#[derive(Default)]
pub(super) struct Values {
    /// `Some` until a loader begins to read it.
    left: BTreeMap<Number, Option<Unread>>,
    wanted: VecDeque<Number>,
    /// Somebody waits for all values, present and future.
    all_wanted: bool,
    /// By the hash waited for.
    waiters: BTreeMap<u64, Vec<Waker>>,
    /// The last one for which there was no memory.
    tried: Option<Number>,
    next: u64,
}

impl Values {
    pub(super) fn add(&mut self, unread: Unread) {
        self.left.insert((unread.hash(), self.next), Some(unread));
        self.next += 1;
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        self.left.range((hash, 0)..=(hash, u64::MAX)).next().is_some()
    }

    pub(super) fn first_of(&self, shard: usize) -> Option<u64> {
        // Hashes of a shard follow each other.
        let ((hash, _), _) = self.left.range((first_hash(shard), 0)..).next()?;
        (shard_of(*hash) == shard).then_some(*hash)
    }

    /// Moves those with `hash` ahead of unwanted ones; `false` if there is none.
    pub(super) fn want(&mut self, hash: u64) -> bool {
        let mut is_there = false;
        for (number, unread) in self.left.range((hash, 0)..=(hash, u64::MAX)) {
            is_there = true;
            if unread.is_some() && !self.wanted.contains(number) {
                self.wanted.push_back(*number);
            }
        }
        is_there
    }

    /// Registers `waker` for when one with `hash` is in place.
    pub(super) fn wake(&mut self, hash: u64, waker: &Waker) {
        self.waiters.entry(hash).or_default().push(waker.clone());
    }

    pub(super) fn want_all(&mut self) {
        self.all_wanted = true;
    }

    pub(super) fn has_wanted(&self) -> bool {
        !self.wanted.is_empty() || (self.all_wanted && self.left.values().any(Option::is_some))
    }

    /// Takes a wanted value, to be read.
    pub(super) fn take_wanted(&mut self) -> Option<(Number, Unread)> {
        while let Some(number) = self.wanted.pop_front() {
            if let Some(unread) = self.left.get_mut(&number).and_then(Option::take) {
                return Some((number, unread));
            }
        }
        None
    }

    /// Takes any value, to be read.
    pub(super) fn take_any(&mut self) -> Option<(Number, Unread)> {
        let tried = self.tried.take().unwrap_or_default();
        let behind = self.left.range((Bound::Excluded(tried), Bound::Unbounded)).find(|(_, unread)| unread.is_some());
        let next = behind.or_else(|| self.left.iter().find(|(_, unread)| unread.is_some()));
        let number = *next?.0;
        Some((number, self.left.get_mut(&number)?.take()?))
    }

    /// Gives a value back to be read later, after those that have not been tried.
    pub(super) fn give_back(&mut self, number: Number, unread: Unread) {
        self.left.insert(number, Some(unread));
        self.tried = Some(number);
    }

    /// Removes a value that is in place.
    pub(super) fn end(&mut self, number: Number) {
        self.left.remove(&number).expect("each once");
        self.waiters.remove(&number.0).into_iter().flatten().for_each(Waker::wake);
    }
}

fn first_hash(shard: usize) -> u64 {
    (shard as u64) << (u64::BITS - SHARDS.trailing_zeros())
}
