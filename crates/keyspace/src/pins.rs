//! What the clones of readers keep in memory although the values have moved on.
//!
//! ```text
//!   sum of a shard   ----+--------+----+------->   bytes given up there while others held them
//!                        ^ birth of a pin     ^ now: it pins the difference, at most what its clone holds
//! ```
//!
//! A bound from above: the sum is the shard's, not the value's, and whatever else holds a block counts as a reader (a
//! copy under another name, the old entries of an EXEC).

use crate::Keyspace;
use crate::shard_of;
use base::limits::SHARDS;
use blocks::counting_retired;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Sums of what was given up, one a shard; read without its lock.
pub(crate) struct RetiredBytes(Box<[AtomicU64]>);

impl RetiredBytes {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self((0..SHARDS).map(|_| AtomicU64::new(0)).collect()))
    }

    /// Runs a change of a value in `shard` and adds what it gives up.
    #[inline]
    pub(crate) fn counting<R>(&self, shard: usize, change: impl FnOnce() -> R) -> R {
        let (result, bytes) = counting_retired(change);
        if bytes > 0 {
            self.0[shard].fetch_add(bytes, Relaxed);
        }
        result
    }
}

/// Goes along with a clone that was taken under the lock of its shard.
pub struct Pin {
    retired_bytes: Arc<RetiredBytes>,
    shard: usize,
    birth_bytes: u64,
}

impl Pin {
    /// How much the clone, of `clone_bytes` now, keeps in memory that its value has given up since. O(1).
    pub fn bytes(&self, clone_bytes: u64) -> u64 {
        (self.retired_bytes.0[self.shard].load(Relaxed) - self.birth_bytes).min(clone_bytes)
    }
}

impl Keyspace {
    /// A pin for a clone of what `key` holds. Its shard is held.
    pub fn pin(&self, key: &[u8]) -> Pin {
        let shard = shard_of(self.hash(key));
        Pin { retired_bytes: self.retired_bytes.clone(), shard, birth_bytes: self.retired_bytes.0[shard].load(Relaxed) }
    }
}

/// Something big that left its shard, to be dropped by a thread that has time. What others hold of it counts as given
/// up then: only now is each of its blocks looked at.
pub struct Garbage<T> {
    what: Option<T>,
    shard: usize,
    retired_bytes: Arc<RetiredBytes>,
}

impl<T> Garbage<T> {
    pub(crate) fn new(what: T, shard: usize, retired_bytes: &Arc<RetiredBytes>) -> Self {
        Self { what: Some(what), shard, retired_bytes: retired_bytes.clone() }
    }
}

impl<T> Drop for Garbage<T> {
    fn drop(&mut self) {
        self.retired_bytes.counting(self.shard, || drop(self.what.take()));
    }
}
