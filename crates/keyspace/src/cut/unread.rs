//! A value that is loaded after its shard: the key is there, the value is not yet.
//!
//! ```text
//!   record        --> key, kind, deadline in the shard, served at once; nothing in it
//!   the journal   --> deadlines: to the key; changes of the value: kept here; a whole new value: nothing to read
//!   read          --> the value, then the kept changes: without a lock
//!   end           --> the value becomes the key's, if the key still exists
//! ```
//!
//! Until then the value must not be read or the key changed, except for its removal when it expires or its table dies.
//! So the opener of the shard must make requests that name the key wait. Key counts, names, types and deadlines are
//! correct throughout.

use super::loading::{BlockSource, LoadError, get};
use crate::effect::{self, DecodeError, Effect, QueueChange, Record};
use crate::section::Section;
use crate::shard::ShardState;
use crate::{TableId, shard_of};
use blocks::StoredLeaves;
use values::{Value, ValueType};

/// A value yet to be read.
#[derive(Debug)]
pub struct Unread {
    table: TableId,
    key: Box<[u8]>,
    hash: u64,
    kind: ValueType,
    /// Its type after the kept effects.
    kind_after: ValueType,
    form: Box<[u8]>,
    content_bytes: u64,
    stored_bytes: u64,
    /// Number of list items after the kept effects.
    len: u64,
    /// Journal records, in order.
    kept: Vec<u8>,
}

impl Unread {
    /// Creates it from `form`; `None` if that is malformed.
    pub(super) fn of(table: TableId, key: &[u8], hash: u64, kind: ValueType, form: &[u8]) -> Option<Self> {
        let (mut content_bytes, mut stored_bytes, mut len) = (0, 0, 0);
        let mut input = form;
        let mut leaves = StoredLeaves::of(&mut input).ok()?;
        while let Some(leaf) = leaves.take(&mut input).ok()? {
            content_bytes += leaf.content_bytes;
            stored_bytes += leaf.bytes;
            len += leaf.items;
        }
        let (key, form) = (key.into(), form.into());
        Some(Self {
            table,
            key,
            hash,
            kind,
            kind_after: kind,
            form,
            content_bytes,
            stored_bytes,
            len,
            kept: Vec::new(),
        })
    }

    pub(super) fn content_bytes(&self) -> u64 {
        self.content_bytes
    }

    /// Returns the table of its key.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// Returns the hash of its key.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the shard of its key.
    pub fn shard(&self) -> usize {
        shard_of(self.hash)
    }

    /// Returns the bytes that it takes in the store.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Keeps an effect, with its bytes, that changes a collection or the end or middle of a text; `false` if nothing of
    /// the value is left.
    pub(super) fn keep(&mut self, effect: &Effect<'_>, bytes: &[u8]) -> Result<bool, DecodeError> {
        match (self.kind_after, effect) {
            (ValueType::List, Effect::Queue(QueueChange::Turn { .. })) => self.kind_after = ValueType::Queue,
            (ValueType::Queue, Effect::Queue(QueueChange::TurnBack { count })) => {
                (self.kind_after, self.len) = (ValueType::List, *count);
            }
            (ValueType::List, Effect::List(change)) => {
                self.len = change.len_after_checked(self.len).ok_or(DecodeError::Misfit)?;
            }
            // An effect that would remove the last field is recorded as the removal of the key.
            (ValueType::String, Effect::StringAppend(_) | Effect::StringOverwrite { .. })
            | (ValueType::Hash, Effect::Hash(_))
            | (ValueType::Set, Effect::Set(_))
            | (ValueType::Sorted, Effect::Sorted(_))
            | (ValueType::Stream, Effect::Stream(_))
            | (ValueType::Tagged, Effect::Tagged(_))
            | (ValueType::Queue, Effect::Queue(_)) => {}
            _ => return Err(DecodeError::Misfit),
        }
        self.kept.extend_from_slice(bytes);
        Ok(self.len > 0)
    }

    /// Reads it from `source` and applies the kept effects. O(n), without a lock.
    ///
    /// # Errors
    /// If `source` fails or returns something other than the record states, or if the kept effects do not fit it.
    pub fn read<S: BlockSource>(&self, source: &mut S) -> Result<Value, LoadError<S::Error>> {
        let value = get(source, self.kind, &self.form)?;
        if self.kept.is_empty() {
            return Ok(value);
        }
        let mut alone = Section::default();
        alone.put_value(self.hash, &self.key, value, None);
        let mut kept = &self.kept[..];
        while !kept.is_empty() {
            let Record { key, effect, .. } = Record::decode(&mut kept).map_err(LoadError::Misfit)?;
            effect::apply(&mut alone, self.hash, key, &effect).map_err(LoadError::Misfit)?;
        }
        alone.take_value(self.hash, &self.key).ok_or(LoadError::Misfit(DecodeError::Misfit))
    }

    /// Puts the read `value` in place in `state`, the shard's own. Returns it if the key is gone, to be dropped without
    /// the lock. O(1).
    pub fn end(&self, value: Value, state: &mut ShardState) -> Option<Value> {
        state.fill(self.table, self.hash, &self.key, value)
    }
}
