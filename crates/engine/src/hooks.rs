//! Hooks of a shard by key: blocked commands and watches. Costs one bit read if there is none.
//!
//! A hook is added while its shard is held (at least for reading), and read by writers who hold it exclusively; the
//! mutexes here only keep the maps consistent and are held no longer than a look-up.

use crate::waiter::Waiter;
use base::limits::SHARDS;
use base::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use base::primitives::{Mutex, MutexGuard};
use commands::Flag;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

/// The watches of one connection: any change to any of its keys marks it.
#[derive(Default)]
pub struct KeyWatch {
    dirty: AtomicBool,
}

impl KeyWatch {
    /// Returns true if a watched key has changed.
    pub fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Acquire)
    }

    /// Marks it.
    pub fn mark(&self) {
        self.dirty.store(true, Ordering::Release);
    }
}

/// The hooks of all shards.
pub struct Hooks {
    /// One bit per shard: set if it has any hooks.
    used: Box<[AtomicU64]>,
    shards: Box<[Mutex<ShardHooks>]>,
}

#[derive(Default)]
struct ShardHooks {
    waiters: BTreeMap<Name, VecDeque<Arc<Waiter>>>,
    /// Keyed by the address of each [`KeyWatch`].
    watches: BTreeMap<Name, BTreeMap<usize, Weak<KeyWatch>>>,
}

fn is_first_watchful(line: &VecDeque<Arc<Waiter>>, waiter: &Arc<Waiter>) -> bool {
    line.iter().find(|there| there.is_watchful()).is_some_and(|first| Arc::ptr_eq(first, waiter))
}

/// Database number and key.
type Name = Vec<u8>;

/// Returns the name under which a key's hooks are stored.
pub(crate) fn name(database: u32, key: &[u8]) -> Name {
    [&database.to_le_bytes(), key].concat()
}

/// Splits a name into database and key.
pub(crate) fn split(name: &[u8]) -> (u32, &[u8]) {
    let (database, key) = name.split_first_chunk().expect("a name begins with its database");
    (u32::from_le_bytes(*database), key)
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            used: (0..SHARDS / 64).map(|_| AtomicU64::new(0)).collect(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

impl Hooks {
    /// Returns true if `shard` has any hooks.
    pub fn any(&self, shard: usize) -> bool {
        self.used[shard / 64].load(Ordering::Acquire) & 1 << (shard % 64) != 0
    }

    /// Returns the shards with hooks.
    pub fn used_shards(&self) -> impl Iterator<Item = usize> {
        (0..SHARDS).filter(|shard| self.any(*shard))
    }

    fn shard(&self, shard: usize) -> MutexGuard<'_, ShardHooks> {
        self.shards[shard].lock().expect("no holder panics")
    }

    /// Changes the hooks of a shard and updates its bit.
    fn change<R>(&self, shard: usize, change: impl FnOnce(&mut ShardHooks) -> R) -> R {
        let mut hooks = self.shard(shard);
        let result = change(&mut hooks);
        let bit = 1 << (shard % 64);
        if hooks.waiters.is_empty() && hooks.watches.is_empty() {
            self.used[shard / 64].fetch_and(!bit, Ordering::AcqRel);
        } else {
            self.used[shard / 64].fetch_or(bit, Ordering::AcqRel);
        }
        result
    }

    /// Adds a waiter to the end of a key's queue. The caller holds the shard.
    pub fn add_waiter(&self, shard: usize, database: u32, key: &[u8], waiter: &Arc<Waiter>) {
        self.change(shard, |hooks| {
            let queue = hooks.waiters.entry(name(database, key)).or_default();
            if !queue.iter().any(|there| Arc::ptr_eq(there, waiter)) {
                queue.push_back(waiter.clone());
            }
        });
    }

    /// Removes a waiter from a key; returns the waiter that thereby becomes the first watchful one there.
    pub fn remove_waiter(&self, shard: usize, database: u32, key: &[u8], waiter: &Arc<Waiter>) -> Option<Arc<Waiter>> {
        self.change(shard, |hooks| {
            let name = name(database, key);
            let queue = hooks.waiters.get_mut(&name)?;
            let was_first = is_first_watchful(queue, waiter);
            queue.retain(|there| !Arc::ptr_eq(there, waiter));
            if queue.is_empty() {
                hooks.waiters.remove(&name);
                return None;
            }
            if was_first { queue.iter().find(|there| there.is_watchful()).cloned() } else { None }
        })
    }

    /// Returns true if a waiter is the first watchful one in a key's queue.
    pub fn is_first_watchful(&self, shard: usize, database: u32, key: &[u8], waiter: &Arc<Waiter>) -> bool {
        let hooks = self.shard(shard);
        hooks.waiters.get(&name(database, key)).is_some_and(|queue| is_first_watchful(queue, waiter))
    }

    /// Returns the keys to which a key's waiters move the elements they take.
    pub fn targets(&self, shard: usize, database: u32, key: &[u8]) -> Vec<Vec<u8>> {
        let hooks = self.shard(shard);
        let mut targets = Vec::new();
        for waiter in hooks.waiters.get(&name(database, key)).into_iter().flatten() {
            if waiter.has_target() && waiter.is_waiting() {
                waiter.for_each_key(|target, is_target| targets.extend(is_target.then(|| target.to_vec())));
            }
        }
        targets
    }

    /// Returns the waiters of a key, first come first.
    pub fn waiters(&self, shard: usize, database: u32, key: &[u8]) -> Vec<Arc<Waiter>> {
        let hooks = self.shard(shard);
        let queue = hooks.waiters.get(&name(database, key));
        queue.map_or(Vec::new(), |queue| queue.iter().filter(|waiter| waiter.is_waiting()).cloned().collect())
    }

    /// Returns true if a key has waiters.
    pub fn is_waited_for(&self, shard: usize, database: u32, key: &[u8]) -> bool {
        let hooks = self.shard(shard);
        hooks.waiters.get(&name(database, key)).is_some_and(|queue| queue.iter().any(|waiter| waiter.is_waiting()))
    }

    /// Returns the keys of `shard` that have waiters, with their databases, in order.
    pub fn waited_keys(&self, shard: usize) -> Vec<(u32, Vec<u8>)> {
        self.shard(shard)
            .waiters
            .keys()
            .map(|name| split(name))
            .map(|(database, key)| (database, key.to_vec()))
            .collect()
    }

    /// Returns how many keys have waiters, and how many a waiter that must be notified when its key is removed.
    pub fn waited_count(&self) -> (usize, usize) {
        let (mut keys, mut notified) = (0, 0);
        for shard in self.used_shards() {
            for queue in self.shard(shard).waiters.values() {
                let mut waiting = queue.iter().filter(|waiter| waiter.is_waiting()).peekable();
                keys += usize::from(waiting.peek().is_some());
                notified += usize::from(waiting.any(|waiter| waiter.command.has(Flag::WaitEndsWithKey)));
            }
        }
        (keys, notified)
    }

    /// Adds a watch to the key of a [`name`]. The caller holds the shard. O(log of the shard's hooks).
    pub fn add_watch(&self, shard: usize, name: &[u8], watch: &Arc<KeyWatch>) {
        self.change(shard, |hooks| {
            let place = Arc::as_ptr(watch) as usize;
            hooks.watches.entry(name.to_vec()).or_default().insert(place, Arc::downgrade(watch));
        });
    }

    /// Removes the watch with address `place` from the key of a [`name`]. O(log of the shard's hooks).
    pub fn remove_watch(&self, shard: usize, name: &[u8], place: usize) {
        self.change(shard, |hooks| {
            if let Some(watches) = hooks.watches.get_mut(name) {
                watches.remove(&place);
                if watches.is_empty() {
                    hooks.watches.remove(name);
                }
            }
        });
    }

    /// Marks the watches of a changed key.
    pub fn mark_watches(&self, shard: usize, database: u32, key: &[u8]) {
        let hooks = self.shard(shard);
        let watches = hooks.watches.get(&name(database, key)).into_iter().flat_map(BTreeMap::values);
        watches.filter_map(Weak::upgrade).for_each(|watch| watch.mark());
    }

    /// Marks the watches of those databases and keys for which `has_changed` returns true.
    pub fn mark_watches_of(&self, shard: usize, mut has_changed: impl FnMut(u32, &[u8]) -> bool) {
        let hooks = self.shard(shard);
        for (name, watches) in &hooks.watches {
            let (database, key) = split(name);
            if has_changed(database, key) {
                watches.values().filter_map(Weak::upgrade).for_each(|watch| watch.mark());
            }
        }
    }
}
