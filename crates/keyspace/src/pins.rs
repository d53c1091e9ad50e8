//! Memory that readers' clones keep alive although the values have moved on.
//!
//! ```text
//!   sum of a shard   ----+--------+----+------->   bytes given up there while others held them
//!                        ^ birth of a pin     ^ now: it pins the difference, at most what its clone holds
//! ```
//!
//! This is an upper bound: the sum is per shard, not per value, and any other holder of a block counts as a reader (a
//! copy under another name, the old entries of an EXEC).

use crate::Keyspace;
use crate::shard_of;
use base::limits::SHARDS;
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use blocks::counting_retired;
use std::sync::Arc;

/// Running sum of released bytes per shard; read without its lock.
pub(crate) struct RetiredBytes(Box<[AtomicU64]>);

impl RetiredBytes {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self((0..SHARDS).map(|_| AtomicU64::new(0)).collect()))
    }

    /// Runs a change of a value in `shard` and adds the bytes it releases.
    #[inline]
    pub(crate) fn counting<R>(&self, shard: usize, change: impl FnOnce() -> R) -> R {
        let (result, bytes) = counting_retired(change);
        if bytes > 0 {
            self.0[shard].fetch_add(bytes, Relaxed);
        }
        result
    }
}

/// Accompanies a clone that was taken under its shard's lock.
pub struct Pin {
    retired_bytes: Arc<RetiredBytes>,
    shard: usize,
    birth_bytes: u64,
}

impl Pin {
    /// Returns how much the clone, now of `clone_bytes`, keeps in memory that its value has since released. O(1).
    pub fn bytes(&self, clone_bytes: u64) -> u64 {
        (self.retired_bytes.0[self.shard].load(Relaxed) - self.birth_bytes).min(clone_bytes)
    }
}

impl Keyspace {
    /// Creates a pin for a clone of the value of `key`. Its shard is held.
    pub fn pin(&self, key: &[u8]) -> Pin {
        let shard = shard_of(self.hash(key));
        Pin { retired_bytes: self.retired_bytes.clone(), shard, birth_bytes: self.retired_bytes.0[shard].load(Relaxed) }
    }
}

/// Something large removed from its shard, to be dropped by a background thread. Blocks that others still hold count as
/// released then: only then is each block looked at.
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
