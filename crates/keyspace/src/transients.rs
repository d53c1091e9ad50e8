//! Temporary memory of commands beside the data: the total over all connections is bounded.

use crate::Keyspace;
use base::primitives::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

/// Memory of a running command, counted until dropped.
#[derive(Debug)]
pub struct Transient {
    sum: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Transient {
    fn drop(&mut self) {
        self.sum.fetch_sub(self.bytes, Relaxed);
    }
}

/// The total of memory taken.
#[derive(Clone, Debug, Default)]
pub struct Transients(Arc<AtomicU64>);

impl Transients {
    /// Takes `bytes`, unless the total would exceed `bytes_max`. O(1).
    pub fn take(&self, bytes: u64, bytes_max: u64) -> Option<Transient> {
        let more = |sum: u64| sum.checked_add(bytes).filter(|sum| *sum <= bytes_max);
        self.0.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(Transient { sum: self.0.clone(), bytes })
    }

    /// Returns the bytes taken now.
    pub fn bytes(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Keyspace {
    /// Returns the memory taken by all commands on this keyspace.
    pub fn transients(&self) -> &Transients {
        &self.transients
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_memory_is_bounded_and_returned_on_drop() {
        let all = Transients::default();
        let one = all.take(60, 100);
        assert!(one.is_some() && all.take(41, 100).is_none() && all.take(u64::MAX, 100).is_none());
        let other = all.clone().take(40, 100);
        assert_eq!((other.is_some(), all.bytes()), (true, 100));
        drop(one);
        assert_eq!(all.bytes(), 40);
        assert!(all.take(60, 100).is_some());
        drop(other);
        assert_eq!(all.bytes(), 0);
    }
}
