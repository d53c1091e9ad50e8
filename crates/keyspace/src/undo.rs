//! The old state that a tx restores if it is abandoned after changes.

use crate::TableId;
use crate::section::{OwnedEntry, Section};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Number of keys searched linearly: few txs touch more.
const FEW_MAX: usize = 4;

/// The state of everything before the tx first touched it.
#[derive(Default)]
pub(crate) struct Undo {
    few: SmallVec<[OldKey; FEW_MAX]>,
    /// Later keys, by hash: a tx may touch a million keys.
    more: BTreeMap<u64, SmallVec<[OldKey; 1]>>,
    /// Databases and their tables, oldest first.
    pub(crate) maps: Vec<(u32, TableId)>,
}

pub(crate) struct OldKey {
    pub(crate) table: TableId,
    pub(crate) hash: u64,
    pub(crate) key: SmallVec<[u8; 32]>,
    pub(crate) entry: Option<OwnedEntry>,
}

impl OldKey {
    fn is(&self, table: TableId, hash: u64, key: &[u8]) -> bool {
        self.hash == hash && self.table == table && *self.key == *key
    }
}

impl Undo {
    /// Saves a key's state, if it has not been touched before.
    #[cold]
    pub(crate) fn note(&mut self, section: &Section, table: TableId, hash: u64, key: &[u8]) {
        if self.few.iter().any(|old| old.is(table, hash, key)) {
            return;
        }
        let old = || OldKey { table, hash, key: SmallVec::from_slice(key), entry: section.copy(hash, key) };
        if self.few.len() < FEW_MAX {
            return self.few.push(old());
        }
        let olds = self.more.entry(hash).or_default();
        if !olds.iter().any(|old| old.is(table, hash, key)) {
            olds.push(old());
        }
    }

    /// Returns all keys, unordered.
    pub(crate) fn take_keys(&mut self) -> impl Iterator<Item = OldKey> {
        let (few, more) = (std::mem::take(&mut self.few), std::mem::take(&mut self.more));
        few.into_iter().chain(more.into_values().flatten())
    }
}
