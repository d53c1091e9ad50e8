//! The number of available messages in each list and queue of a database.

use crate::generic::scan::{SHARD_SHIFT, VISIT_KEYS_MAX, walk};
use crate::prelude::*;
use crate::spec::{KnownKeys, Sweep, SweepNext};
use keyspace::{list_of, queue_of};

/// Collects them, incrementally.
#[derive(Default)]
pub struct QueueLengths {
    from_hash: u64,
    found: Vec<(Box<[u8]>, u64)>,
}

impl QueueLengths {
    /// Returns names and lengths, unordered.
    pub fn found(self) -> Vec<(Box<[u8]>, u64)> {
        self.found
    }
}

impl Sweep for QueueLengths {
    fn pass(&mut self, _: usize, known: KnownKeys) -> bool {
        known.are_none()
    }

    fn visit(&mut self, tx: &mut Tx, shard: usize) -> SweepNext {
        let from_hash = self.from_hash.max((shard as u64) << SHARD_SHIFT);
        let found = &mut self.found;
        let next = walk(tx, shard, from_hash, &mut { VISIT_KEYS_MAX }, |entry| {
            let length =
                list_of(entry).map(|list| list.len()).or_else(|| queue_of(entry).map(|queue| queue.ready_len()));
            length.map_or(0, |length| {
                found.push((entry.key().into(), length));
                entry.key().len()
            })
        });
        next.map_or(SweepNext::Next, |prefix| {
            self.from_hash = prefix;
            SweepNext::Again
        })
    }

    fn finish(self: Box<Self>, _: &mut dyn Reply) -> Outcome {
        Ok(())
    }
}
