//! The guard of a tagged list.

use crate::effect::{Effect, Items, RunWriter, TaggedChange};
use crate::tx::{Abandon, Before, Tx};
use base::varint;
use values::Tagged;
use values::tagged::{Schema, TaggedItem, Tags, encode_tags};

/// Maximum bytes of a record, excluding key, items and schema.
const FIELDS_BYTES_MAX: u64 = 64;

/// A mutable tagged list under a key. The key is created with the first item and removed with the last, unless the list
/// is kept when empty.
pub struct TaggedMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

impl<'t, 'k> TaggedMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// Returns the current list; `None` if the key is absent.
    pub fn list(&mut self) -> Option<&Tagged> {
        self.tx.value(self.key).expect("its kind was checked when the guard was made")
    }

    /// Returns the maximum bytes of a record of one item, or of its tags, plus one of the schema; require it before the
    /// first of several changes.
    pub fn room(schema: &Schema, key: &[u8], value_bytes: usize) -> u64 {
        let schema_bytes: usize = schema.attributes().iter().map(|attribute| attribute.name.len() + 3).sum();
        let tags_bytes = varint::BYTES_MAX * (2 + schema.attributes().len());
        (schema_bytes + tags_bytes + value_bytes + 2 * key.len()) as u64 + 2 * FIELDS_BYTES_MAX
    }

    /// Inserts items before the one at a position, or at the end; creates an absent list with this schema, and gives it
    /// to a list with fewer attributes. O(items + log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn insert(&mut self, schema: &Schema, at: u64, items: &[TaggedItem<'_>]) -> Result<(), Abandon> {
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(items.len());
        for item in items {
            item.encode(&mut bytes);
            ends.push(bytes.len());
        }
        let mut begin = 0;
        let slices: Vec<&[u8]> = ends.iter().map(|end| &bytes[std::mem::replace(&mut begin, *end)..*end]).collect();
        let mut encoded = Vec::new();
        schema.encode(&mut encoded);
        let room = bytes.len() + varint::BYTES_MAX * items.len() + 2 * self.key.len() + encoded.len();
        self.tx.need_room(room as u64 + 2 * FIELDS_BYTES_MAX)?;
        let items = Items::Slices(&slices);
        if self.list().is_none() {
            self.change(TaggedChange::Make { schema: &encoded, items });
        } else {
            self.take_over(schema, &encoded);
            self.change(TaggedChange::Insert { at, items });
        }
        Ok(())
    }

    /// Sets the tags of the item at a position; the list takes over `schema` if that is later. O(log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put(&mut self, schema: &Schema, at: u64, tags: &Tags) -> Result<(), Abandon> {
        let (mut encoded, mut bytes) = (Vec::new(), Vec::new());
        schema.encode(&mut encoded);
        encode_tags(tags.is_hidden, &tags.attributes, &mut bytes);
        self.tx.need_room((encoded.len() + bytes.len() + 2 * self.key.len()) as u64 + 2 * FIELDS_BYTES_MAX)?;
        self.take_over(schema, &encoded);
        self.change(TaggedChange::Put { at, tags: &bytes });
        Ok(())
    }

    /// Removes runs of items, given as position and count, ascending and non-adjacent. O(runs log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_runs(&mut self, runs: &[(u64, u64)]) -> Result<(), Abandon> {
        let count: u64 = runs.iter().map(|(_, count)| count).sum();
        if count == 0 {
            return Ok(());
        }
        if self.list().is_none_or(|list| count == list.len() && !list.is_lasting()) {
            self.tx.change(self.key, &Effect::Remove, Before::Settled);
            self.before = Before::Unknown;
            return Ok(());
        }
        let (mut writer, mut encoded) = (RunWriter::default(), Vec::new());
        runs.iter().for_each(|run| writer.put(&mut encoded, *run));
        self.tx.need_room((encoded.len() + self.key.len()) as u64 + FIELDS_BYTES_MAX)?;
        self.change(TaggedChange::Remove { count, runs: &encoded });
        Ok(())
    }

    /// Keeps the list when it is empty; creates it with this schema if absent. O(1).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn keep(&mut self, schema: &Schema) -> Result<(), Abandon> {
        let mut encoded = Vec::new();
        schema.encode(&mut encoded);
        // The removal of an expired key, and the schema.
        self.tx.need_room((encoded.len() + 2 * self.key.len()) as u64 + 2 * FIELDS_BYTES_MAX)?;
        self.change(TaggedChange::Keep { schema: &encoded });
        Ok(())
    }

    /// Sets the tags of an item and moves it, as [`TaggedMut::put`] and [`TaggedMut::move_item`] do. O(log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_and_move(&mut self, schema: &Schema, (from, to): (u64, u64), tags: &Tags) -> Result<(), Abandon> {
        self.tx.need_room(Self::room(schema, self.key, 0) + self.key.len() as u64 + FIELDS_BYTES_MAX)?;
        self.put(schema, from, tags)?;
        self.move_item(from, to);
        Ok(())
    }

    /// Moves an item to a position of the list without it. O(log n).
    pub fn move_item(&mut self, from: u64, to: u64) {
        self.change(TaggedChange::Move { from, to });
    }

    fn take_over(&mut self, schema: &Schema, encoded: &[u8]) {
        if self.list().is_some_and(|list| **list.schema() != *schema) {
            self.change(TaggedChange::Grow { schema: encoded });
        }
    }

    fn change(&mut self, change: TaggedChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, &Effect::Tagged(change), before);
    }
}
