//! Builds a tagged list from untrusted items, one by one.

use super::chunk::{TaggedChunk, label_of};
use super::schema::{Rank, Schema};
use super::{By, Counts, SOUND, Tagged, TaggedParts, index};
use crate::List;
use blocks::{Direction, End};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A list being built.
#[derive(Default)]
pub struct TaggedBuilder {
    schema: Option<Arc<Schema>>,
    is_lasting: bool,
    list: List,
    index: List,
    entries: Vec<(u64, u64)>,
    label: u64,
    last: Option<Rank>,
}

impl TaggedBuilder {
    /// Adds the next stored item, which is untrusted. Returns true if it is valid there.
    pub fn add(&mut self, item: &[u8]) -> bool {
        let is_head = self.schema.is_none();
        let is_sound = self.check(item) && (is_head || self.continues(item));
        if is_sound {
            self.list.push(End::Tail, item);
        }
        for (hash, label) in self.entries.drain(..) {
            index::add(&mut self.index, hash, label);
        }
        is_sound
    }

    fn check(&mut self, item: &[u8]) -> bool {
        let Some(schema) = &self.schema else {
            let head = Schema::of_head(item);
            self.is_lasting = head.as_ref().is_some_and(|(_, is_lasting)| *is_lasting);
            self.schema = head.map(|(schema, _)| Arc::new(schema));
            return self.schema.is_some();
        };
        let Some(chunk) = TaggedChunk::checked(item, schema.planes().count(), schema.is_unique()) else { return false };
        let (values, lengths) = chunk.all_values();
        if !schema.is_unique() && matches!(schema.by(), By::Position | By::Attribute(_)) {
            return schema.value_bytes().is_none_or(|bytes| lengths.iter().all(|length| *length == bytes));
        }
        let mut begin = 0;
        for length in lengths {
            let end = begin + length as usize;
            let value = &values[begin..end];
            if !schema.takes_value(value) {
                return false;
            }
            if schema.is_unique() {
                self.entries.push((index::hash(value), chunk.label()));
            }
            begin = end;
        }
        let rises = !schema.is_unique() || chunk.label() > self.label;
        self.label = chunk.label();
        rises
    }

    /// Returns true if the items of a valid chunk are in the list's order, and their values are new if they must be
    /// unique.
    fn continues(&mut self, item: &[u8]) -> bool {
        let (schema, chunk) = (self.schema.clone().expect(SOUND), TaggedChunk::of(item).expect(SOUND));
        if schema.by() == By::Position && !schema.is_unique() {
            return true;
        }
        let (bytes, lengths) = chunk.all_values();
        let (mut values, mut begin) = (Vec::with_capacity(lengths.len()), 0);
        for (at, length) in lengths.iter().enumerate() {
            let end = begin + *length as usize;
            values.push(&bytes[begin..end]);
            begin = end;
            let rank = schema.rank(values[at], |number| chunk.attribute(schema.planes(), number, at));
            let falls = |last: &Rank| rank.as_ref().is_some_and(|rank| schema.compare(last, rank) == Ordering::Greater);
            if self.last.as_ref().is_some_and(falls) {
                return false;
            }
            self.last = rank;
        }
        let is_there = |value: &&[u8]| self.has(value);
        !schema.is_unique() || {
            values.sort_unstable();
            values.windows(2).all(|two| two[0] != two[1]) && !values.iter().any(is_there)
        }
    }

    /// Returns true if an added chunk has this value.
    fn has(&self, value: &[u8]) -> bool {
        index::labels(&self.index, index::hash(value)).into_iter().any(|label| {
            let at = self.list.partition_point_within(1..self.list.len(), |item| label_of(item) < label);
            let is_in = |item: &[u8]| TaggedChunk::of(item).expect(SOUND).find(value, 0).is_some();
            self.list.get(at, is_in) == Some(true)
        })
    }

    /// Returns the list; `None` if it is empty and not lasting. O(chunks), after [`TaggedBuilder::add`].
    pub fn finish(&mut self) -> Option<Tagged> {
        let list = std::mem::take(&mut self.list);
        let is_lasting = self.is_lasting;
        let schema = self.schema.take().filter(|_| list.len() > 1 || is_lasting)?;
        let index = std::mem::take(&mut self.index);
        // Also computes the digests of the nodes, while no client waits for them.
        let words = list.digest(&*schema);
        let counts = Counts { visible: words[0], hidden: words[1] };
        Some(Tagged { parts: Some(Box::new(TaggedParts { schema, list, index, counts, is_lasting })) })
    }
}

impl Tagged {
    /// Returns the tagged list stored in these blocks; `None` if it is invalid. O(n), with unique values O(n log n).
    pub fn of_list(list: List) -> Option<Self> {
        let mut building = TaggedBuilder::default();
        let flow = list.walk(0, list.len(), Direction::Forward, &mut |item: &[u8]| {
            let is_sound = !item.is_empty() && building.check(item);
            if is_sound { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        building.list = list;
        building.index = index::of(std::mem::take(&mut building.entries));
        if flow.is_break() { None } else { building.finish() }
    }
}
