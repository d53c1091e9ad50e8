//! The limits of a value's small form, named after Redis's settings: one of each for the whole process.
//!
//! A value that passes a limit becomes large by its own effect and stays so: replay is independent of limits.

use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};

/// One of the settings.
pub struct Limit(AtomicU64);

impl Limit {
    const fn new(default: u64) -> Self {
        Self(AtomicU64::new(default))
    }

    /// Returns the current value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    /// Sets the value that [`Limit::get`] returns.
    pub fn set(&self, limit: u64) {
        self.0.store(limit, Relaxed);
    }
}

/// `hash-max-listpack-entries`: fields of a small hash.
pub static HASH_ENTRIES: Limit = Limit::new(512);
/// `hash-max-listpack-value`: bytes of a field or a value in a small hash.
pub static HASH_VALUE_BYTES: Limit = Limit::new(64);
/// `set-max-intset-entries`: members of a small set of integers.
pub static SET_INTEGERS: Limit = Limit::new(512);
/// `set-max-listpack-entries`: members of any other small set.
pub static SET_ENTRIES: Limit = Limit::new(128);
/// `set-max-listpack-value`: bytes of a member of such a set.
pub static SET_VALUE_BYTES: Limit = Limit::new(64);
/// `hll-sparse-max-bytes`: bytes of a sparse HyperLogLog.
pub static HLL_SPARSE_BYTES: Limit = Limit::new(3000);
/// `zset-max-listpack-entries`: members of a small sorted set.
pub static SORTED_ENTRIES: Limit = Limit::new(128);
/// `zset-max-listpack-value`: bytes of a member of a small sorted set.
pub static SORTED_MEMBER_BYTES: Limit = Limit::new(64);
/// `memcached-item-size-max`: bytes of an item that grows.
pub static ITEM_BYTES: Limit = Limit::new(1 << 20);
/// `stream-node-max-entries`: entries of a chunk of a stream.
pub static STREAM_NODE_ENTRIES: Limit = Limit::new(100);
/// `stream-node-max-bytes`: its bytes.
pub static STREAM_NODE_BYTES: Limit = Limit::new(4096);
