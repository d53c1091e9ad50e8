//! Client-side caching: which connections may have cached which keys, and invalidations of changed keys.
//!
//! ```text
//! a reader, its shards held --> Tracker: key -> numbers of connections        only connections that track
//! a writer, its shards held --> takes the key's numbers out --> a push to each
//!                           --> prefixes of broadcast trackers --> a push a prefix, all its keys in one
//! ```
//!
//! - Keys are distinguished by name alone, whatever their database, as in the invalidations.
//! - The table holds at most `tracking-table-max-keys`: beyond that, some key is invalidated as if it had changed.
//! - While nobody tracks, all of this costs one load of a number that never changes.

pub(crate) mod invalidations;

use crate::client::Client;
use crate::deferred_drop::DeferredDrop;
use crate::pushes::Push;
use base::cost::{self, Work};
use base::limits::SHARDS;
use base::primitives::atomic::{AtomicUsize, Ordering};
use base::primitives::{Mutex, MutexGuard, RwLock};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, PoisonError};

/// Maximum number of keys evicted from an oversized table whenever some are added.
const EVICTED_MAX: usize = 16;

/// A connection that tracks.
pub(crate) struct Tracked {
    pub(crate) client: Arc<Client>,
    /// The connection that gets its invalidations instead; 0: none.
    pub(crate) redirect: u64,
    pub(crate) is_broadcast: bool,
    /// It gets no invalidations for its own changes.
    pub(crate) no_loop: bool,
}

impl Tracked {
    /// Returns true if it gets invalidations for changes by `by`.
    fn hears(&self, by: u64) -> bool {
        !self.no_loop || self.client.id != by
    }
}

/// Keys of one shard, and the numbers of connections that may have cached them.
#[derive(Default)]
struct Keys {
    ids: BTreeMap<Box<[u8]>, Vec<u64>>,
    items_count: usize,
}

/// The tracking state of all connections.
pub(crate) struct Tracker {
    /// The number of tracking connections.
    in_use: AtomicUsize,
    clients: RwLock<HashMap<u64, Arc<Tracked>>>,
    /// By shard.
    keys: Box<[Mutex<Keys>]>,
    keys_count: AtomicUsize,
    items_count: AtomicUsize,
    /// The connections that receive all changes of keys with a prefix.
    prefixes: RwLock<PrefixSubscribers>,
    /// The shard from which the next key is evicted.
    hand: AtomicUsize,
}

impl Default for Tracker {
    fn default() -> Self {
        Self {
            in_use: AtomicUsize::new(0),
            clients: RwLock::default(),
            keys: (0..SHARDS).map(|_| Mutex::default()).collect(),
            keys_count: AtomicUsize::new(0),
            items_count: AtomicUsize::new(0),
            prefixes: RwLock::default(),
            hand: AtomicUsize::new(0),
        }
    }
}

/// An invalidation of a connection's own change.
pub(crate) struct Own {
    pub(crate) push: Push,
    pub(crate) is_redirected: bool,
    /// True if it precedes the reply, as for reads of other connections; for its own reads it follows the reply.
    pub(crate) is_first: bool,
}

/// Clients invalidated by a tx, besides the connection that made it.
#[derive(Default)]
pub(crate) struct InvalidatedClients {
    /// Bytes that may wait for one of them; 0: no bound.
    pub(crate) bytes_max: u64,
    /// Clients to be woken once their pushes have a position.
    pub(crate) clients: BTreeMap<u64, Arc<Client>>,
    /// Invalidations for the connection itself.
    pub(crate) own: Vec<Own>,
}

impl InvalidatedClients {
    /// Wakes all invalidated clients.
    pub(crate) fn wake(&mut self) {
        std::mem::take(&mut self.clients).into_values().for_each(|client| client.wake());
    }
}

impl Tracker {
    /// Returns true if any connection tracks.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.in_use.load(Ordering::Acquire) > 0
    }

    /// Returns the number of tracking connections; of keys in the table; of connections over all keys; of prefixes.
    pub(crate) fn figures(&self) -> [usize; 4] {
        let prefixes = self.prefixes.read().unwrap_or_else(PoisonError::into_inner).len();
        let [clients, keys, items] =
            [&self.in_use, &self.keys_count, &self.items_count].map(|count| count.load(Ordering::Relaxed));
        [clients, keys, items, prefixes]
    }

    fn shard(&self, shard: usize) -> MutexGuard<'_, Keys> {
        self.keys[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts tracking for a connection, or changes how it tracks.
    pub(crate) fn add(&self, tracked: Tracked, prefixes: &[Vec<u8>]) {
        let id = tracked.client.id;
        let before = self.clients.write().unwrap_or_else(PoisonError::into_inner).insert(id, Arc::new(tracked));
        if before.is_none() {
            self.in_use.fetch_add(1, Ordering::AcqRel);
        }
        let mut all = self.prefixes.write().unwrap_or_else(PoisonError::into_inner);
        for prefix in prefixes {
            all.entry(prefix.as_slice().into()).or_default().insert(id);
        }
    }

    /// Ends a connection's tracking. Its number stays in the table until the keys change.
    pub(crate) fn remove(&self, id: u64, prefixes: &BTreeSet<Vec<u8>>, deferred_drop: &DeferredDrop) {
        let removed = self.clients.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if removed.is_none() {
            return;
        }
        let mut all = self.prefixes.write().unwrap_or_else(PoisonError::into_inner);
        for prefix in prefixes {
            if let Some(ids) = all.get_mut(prefix.as_slice()) {
                ids.remove(&id);
                if ids.is_empty() {
                    all.remove(prefix.as_slice());
                }
            }
        }
        drop(all);
        if self.in_use.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.forget_all(deferred_drop);
        }
    }

    /// Records that a connection has read a key, whose shard is held.
    pub(crate) fn remember(&self, shard: usize, key: &[u8], id: u64) {
        let mut keys = self.shard(shard);
        let ids = match keys.ids.get_mut(key) {
            Some(ids) => ids,
            None => {
                self.keys_count.fetch_add(1, Ordering::Relaxed);
                keys.ids.entry(key.into()).or_default()
            }
        };
        if !ids.contains(&id) {
            ids.push(id);
            keys.items_count += 1;
            self.items_count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn forget(&self, shard: usize, key: &[u8]) -> Vec<u64> {
        let mut keys = self.shard(shard);
        let Some(ids) = keys.ids.remove(key) else { return Vec::new() };
        keys.items_count -= ids.len();
        self.note_forgotten(1, ids.len());
        ids
    }

    /// Takes some key of a shard.
    fn pop(&self, shard: usize) -> Option<(Box<[u8]>, Vec<u64>)> {
        let mut keys = self.shard(shard);
        let (key, ids) = keys.ids.pop_first()?;
        keys.items_count -= ids.len();
        self.note_forgotten(1, ids.len());
        Some((key, ids))
    }

    fn note_forgotten(&self, keys: usize, items: usize) {
        self.keys_count.fetch_sub(keys, Ordering::Relaxed);
        self.items_count.fetch_sub(items, Ordering::Relaxed);
    }

    /// Empties the table; a background thread drops its contents.
    fn forget_all(&self, deferred_drop: &DeferredDrop) {
        let parts: Vec<Keys> = (0..SHARDS).map(|shard| std::mem::take(&mut *self.shard(shard))).collect();
        parts.iter().for_each(|keys| self.note_forgotten(keys.ids.len(), keys.items_count));
        if parts.iter().any(|keys| !keys.ids.is_empty()) {
            deferred_drop.free(Box::new(parts.into_iter().map(|keys| keys.ids).collect::<Vec<_>>()));
        }
    }

    fn tracked(&self, id: u64) -> Option<Arc<Tracked>> {
        self.clients.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}

/// Prefixes, and the numbers of connections that receive matching changes.
type PrefixSubscribers = BTreeMap<Box<[u8]>, BTreeSet<u64>>;

/// Visits those of `all` that are prefixes of `key`, the longest first. O(log of all) for each, and for each that
/// shares a beginning with it: most keys meet few of these, however many there are.
fn for_each_prefix<'p>(all: &'p PrefixSubscribers, key: &[u8], mut visit: impl FnMut(&'p [u8], &'p BTreeSet<u64>)) {
    // All prefixes of the key longer than `rest` have been seen, and `rest` itself if it is not `wanted`.
    let (mut rest, mut is_wanted) = (key, true);
    loop {
        let end = if is_wanted { Bound::Included(rest) } else { Bound::Excluded(rest) };
        let Some((found, ids)) = all.range::<[u8], _>((Bound::Unbounded, end)).next_back() else { return };
        cost::count(Work::Names, 1);
        let common = found.iter().zip(rest).take_while(|(one, other)| one == other).count();
        // No later entry is a prefix of the key, so none longer than the common part is.
        is_wanted = common < found.len();
        if !is_wanted {
            visit(found, ids);
        }
        rest = &key[..common];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes_of(all: &PrefixSubscribers, key: &[u8]) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for_each_prefix(all, key, |prefix, _| found.push(prefix.to_vec()));
        found
    }

    #[test]
    fn a_key_finds_all_its_prefixes_the_longest_first() {
        let words = [&b""[..], b"a", b"ab", b"abc", b"abcd", b"ac", b"b", b"ba", b"aaa", b"abb", b"abca"];
        for left_out in 0..=words.len() {
            let names = words.iter().enumerate().filter(|(at, _)| *at != left_out);
            let all: PrefixSubscribers = names.map(|(_, word)| (Box::from(*word), BTreeSet::from([1]))).collect();
            for key in [&b"abcx"[..], b"abc", b"ab", b"a", b"", b"b", b"bab", b"acx", b"zz", b"aab", b"abcab"] {
                let mut expected: Vec<Vec<u8>> =
                    all.keys().filter(|prefix| key.starts_with(prefix)).map(|prefix| prefix.to_vec()).collect();
                expected.reverse();
                assert_eq!(prefixes_of(&all, key), expected, "{key:?} without {left_out}");
            }
        }
    }

    #[test]
    fn a_lookup_visits_few_of_very_many_prefixes() {
        let all: PrefixSubscribers =
            (0..100_000).map(|nth| (format!("prefix:{nth}:").into_bytes().into(), BTreeSet::from([1]))).collect();
        cost::take();
        assert_eq!(prefixes_of(&all, b"prefix:77:key"), [b"prefix:77:"]);
        assert!(prefixes_of(&all, b"other:77:key").is_empty());
        assert!(cost::take().names <= 20);
    }
}
