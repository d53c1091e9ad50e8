//! The shards that a tx holds, and those that it takes on its way.

use super::Tx;
use crate::shard_of;
use sync::lock::Want;

impl<'k> Tx<'k> {
    /// Returns true if the shard of `key` is held as wanted.
    pub fn holds(&self, key: &[u8], want: Want) -> bool {
        self.held.holds(shard_of(self.held.hash(key)), want)
    }

    /// Returns true if the shard of `key` is held for writing.
    pub fn holds_for_writing(&self, key: &[u8]) -> bool {
        self.holds(key, Want::Write)
    }

    /// Tries to lock one more shard exclusively; fails if it is not free at once, if a later tx has found a key expired
    /// there, or if it is barred.
    pub fn extend(&mut self, shard: usize) -> bool {
        let now = self.now;
        let is_held = self.held.holds(shard, Want::Write)
            || self.held.extend(shard).is_some_and(|state| state.expired_at_ms() <= now);
        is_held && !self.is_barred.is_some_and(|is_barred| is_barred(shard))
    }

    /// Bars shards from [`Tx::extend`]; asked once their locks are held.
    pub fn set_barred(&mut self, is_barred: &'k dyn Fn(usize) -> bool) {
        self.is_barred = Some(is_barred);
    }

    /// Returns true if it holds the gate.
    pub fn is_gated(&self) -> bool {
        self.held.is_gated()
    }

    /// Returns the numbers of the shards held.
    pub fn shards(&self) -> impl Iterator<Item = usize> {
        self.held.shards()
    }
}
