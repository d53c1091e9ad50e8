//! The changes of a tx to keys of a table, for what is kept in step with them.

use super::Tx;
use crate::effect::{Effect, Named};
use crate::section::value_of;
use crate::{TableId, shard_of};
use base::Ms;
use values::Hash;

/// The part that a change has in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedPart {
    /// It may concern all of it.
    Whole,
    /// It put or changed so many fields of a hash, none of which is of interest.
    OtherFields(u64),
}

impl ChangedPart {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::OtherFields(one), Self::OtherFields(other)) => Self::OtherFields(one + other),
            _ => Self::Whole,
        }
    }
}

impl Tx<'_> {
    /// Returns the keys of `table` that it has changed and for which `part` returns a part, each once with all parts
    /// together. `part` gets a key, and the change, or `None` for a large value put whole. Requires a log that is read.
    pub fn changed_keys(
        &self,
        table: TableId,
        mut part: impl FnMut(&[u8], Option<&Effect<'_>>) -> Option<ChangedPart>,
    ) -> Vec<(Box<[u8]>, ChangedPart)> {
        let mut keys: Vec<(Box<[u8]>, ChangedPart)> = Vec::new();
        for (named, effect) in self.log.changes() {
            let Named::Key(of, key) = named else { continue };
            let Some(part) = (of == table).then(|| part(key, effect.as_ref())).flatten() else { continue };
            match keys.last_mut() {
                Some((last, parts)) if **last == *key => *parts = parts.and(part),
                _ => keys.push((key.into(), part)),
            }
        }
        if keys.len() > 1 {
            keys.sort_by(|(one, _), (other, _)| one.cmp(other));
            keys.dedup_by(|(other, part), (key, parts)| {
                let is_same = key == other;
                if is_same {
                    *parts = parts.and(*part);
                }
                is_same
            });
        }
        keys
    }

    /// Returns the hash under a key of `table` and the key's deadline, expired or not. Its shard is held.
    pub fn raw_hash(&mut self, table: TableId, key: &[u8]) -> Option<(&Hash, Option<Ms>)> {
        let hash = self.held.hash(key);
        let entry = self.held.state(shard_of(hash)).section(table)?.find(hash, key)?;
        Some((value_of(entry)?, entry.expires_at_ms()))
    }
}
