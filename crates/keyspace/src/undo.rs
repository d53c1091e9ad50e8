//! What a tx puts back if it is abandoned after changes.

use crate::TableId;
use crate::section::{OwnedEntry, Section};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// How everything was before the tx first touched it.
#[derive(Default)]
pub(crate) struct Undo {
    /// By their hashes: a tx may touch a million keys.
    pub(crate) keys: BTreeMap<u64, SmallVec<[OldKey; 1]>>,
    /// Databases and their tables, the oldest first.
    pub(crate) maps: Vec<(u32, TableId)>,
}

pub(crate) struct OldKey {
    pub(crate) table: TableId,
    pub(crate) key: Box<[u8]>,
    pub(crate) entry: Option<OwnedEntry>,
}

impl Undo {
    /// Notes how a key stands, if it has not been touched before.
    #[cold]
    pub(crate) fn note(&mut self, section: &Section, table: TableId, hash: u64, key: &[u8]) {
        let olds = self.keys.entry(hash).or_default();
        if !olds.iter().any(|old| old.table == table && *old.key == *key) {
            olds.push(OldKey { table, key: key.into(), entry: section.copy(hash, key) });
        }
    }
}
