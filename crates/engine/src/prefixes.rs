//! Counts of requests by the prefix of their keys: `stats detail` of memcached. A prefix ends before the first colon.

use base::primitives::Mutex;
use base::primitives::atomic::{AtomicBool, Ordering::Relaxed};
use commands::PrefixCounts;
use std::collections::BTreeMap;

/// Maximum number of counted prefixes: client-chosen key names must not make the map grow forever.
const PREFIXES_MAX: usize = 65_536;

#[derive(Default)]
pub(crate) struct PrefixMap {
    is_on: AtomicBool,
    counts: Mutex<BTreeMap<Vec<u8>, PrefixCounts>>,
}

impl PrefixMap {
    pub(crate) fn switch(&self, on: bool) {
        self.is_on.store(on, Relaxed);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    /// Counts a request for `key`. O(log prefixes).
    pub(crate) fn count(&self, key: &[u8], change: impl FnOnce(&mut PrefixCounts)) {
        let Some(end) = key.iter().position(|byte| *byte == b':') else { return };
        let mut counts = self.lock();
        if let Some(counts) = counts.get_mut(&key[..end]) {
            change(counts);
        } else if counts.len() < PREFIXES_MAX {
            change(counts.entry(key[..end].to_vec()).or_default());
        }
    }

    pub(crate) fn counts(&self) -> Vec<(Vec<u8>, PrefixCounts)> {
        self.lock().iter().map(|(prefix, counts)| (prefix.clone(), *counts)).collect()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> base::primitives::MutexGuard<'_, BTreeMap<Vec<u8>, PrefixCounts>> {
        self.counts.lock().expect("no holder panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_counted_up_to_a_bound() {
        let prefixes = PrefixMap::default();
        prefixes.count(b"no colon", |counts| counts.gets += 1);
        for number in 0..=PREFIXES_MAX {
            prefixes.count(format!("{number}:a:b").as_bytes(), |counts| counts.gets += 1);
        }
        prefixes.count(b"0:c", |counts| counts.hits += 1);
        let counts = prefixes.counts();
        assert_eq!(counts.len(), PREFIXES_MAX);
        assert_eq!(counts[0], (b"0".to_vec(), PrefixCounts { gets: 1, hits: 1, ..PrefixCounts::default() }));
        prefixes.clear();
        assert_eq!(prefixes.counts(), []);
    }
}
