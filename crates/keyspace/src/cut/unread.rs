//! A value that is read behind its shard: its key is there, the value is not.
//!
//! ```text
//!   record        --> key, kind, deadline in the shard, served at once; nothing in it
//!   the journal   --> deadlines: to the key; changes of the value: kept here; whatever tells all of it: nothing to read
//!   read          --> the value, then what was kept: without a lock
//!   end           --> in its place, if the key is there still
//! ```
//!
//! Until then nobody may look into the value or change its key, but for its removal when its time has come or its table
//! dies. So the one who opens the shard has to see to it that whoever names the key waits. How many keys there are, their
//! names, kinds and deadlines are true all the while.

use super::loading::{BlockSource, LoadError, get};
use crate::effect::{self, DecodeError, Effect, QueueChange, Record};
use crate::section::Section;
use crate::shard::ShardState;
use crate::{TableId, shard_of};
use blocks::StoredLeaves;
use values::{Value, ValueType};

/// A value that is still to be read.
#[derive(Debug)]
pub struct Unread {
    table: TableId,
    key: Box<[u8]>,
    hash: u64,
    kind: ValueType,
    /// What it is after what is kept.
    kind_after: ValueType,
    form: Box<[u8]>,
    content_bytes: u64,
    stored_bytes: u64,
    /// Items of a list after what is kept.
    len: u64,
    /// Records of the journal, in order.
    kept: Vec<u8>,
}

impl Unread {
    /// What lies elsewhere under `form`; `None` if that is none.
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

    /// The table of its key.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// The hash of its key.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The shard of its key.
    pub fn shard(&self) -> usize {
        shard_of(self.hash)
    }

    /// What it takes elsewhere, in bytes.
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Keeps an effect that changes a collection or the end or middle of a text, with its bytes; `false` if nothing of the value
    /// is left.
    pub(super) fn keep(&mut self, effect: &Effect<'_>, bytes: &[u8]) -> Result<bool, DecodeError> {
        match (self.kind_after, effect) {
            (ValueType::List, Effect::Queue(QueueChange::Turn { .. })) => self.kind_after = ValueType::Queue,
            (ValueType::Queue, Effect::Queue(QueueChange::TurnBack { count })) => {
                (self.kind_after, self.len) = (ValueType::List, *count);
            }
            (ValueType::List, Effect::List(change)) => {
                self.len = change.len_after_checked(self.len).ok_or(DecodeError::Misfit)?;
            }
            // What would take the last field away is recorded as the removal of the key.
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

    /// Has it from `source`, and does what was kept. O(n), and nobody is in the way.
    ///
    /// # Errors
    /// If `source` fails, or gives something else than the record says, or what was kept does not fit it.
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

    /// Puts `value`, which was read, in its place in `state`, the shard's own. It comes back if the key is gone, to be
    /// dropped without the lock. O(1).
    pub fn end(&self, value: Value, state: &mut ShardState) -> Option<Value> {
        state.fill(self.table, self.hash, &self.key, value)
    }
}
