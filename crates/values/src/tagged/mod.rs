//! The tagged list: items with attributes, some of them hidden, in chunks whose columns a filter runs over.
//!
//! ```text
//! list     | head: the schema | chunk | chunk | chunk | ...            chunks: `chunk`, one to a leaf as a rule
//!                               beside the children of nodes, digests: visible, hidden, the numbers of attributes
//! index    | hash, label | hash, label | ...                           only if values are unique: `index`
//! ```
//!
//! Positions count all items, including hidden ones. A position is found by the counts of subtrees (`blocks::Survey`),
//! a label by binary descent: labels of chunks ascend along the list.

mod build;
mod change;
mod chunk;
mod draft;
mod filter;
mod index;
mod lookup;
mod planes;
mod schema;

pub use build::TaggedBuilder;
pub use filter::{Filter, Shown, Term, Test};
pub use lookup::{FoundItem, LookLimits};
pub use schema::{
    ATTRIBUTE_BITS_MAX, ATTRIBUTES_MAX, Attribute, By, ItemType, NAME_BYTES_MAX, Rank, Schema, VALUE_BYTES_MAX,
};

use crate::List;
use base::varint;
use blocks::Digest;
use chunk::{HEAD, TaggedChunk};
use std::fmt;
use std::sync::Arc;

/// The maximum length of a value, in bytes.
pub const ITEM_BYTES_MAX: usize = 512 << 20;

/// The byte after [`HEAD`], in place of the schema's format, if the list stays when empty.
const LASTING: u8 = 0;

const SOUND: &str = "behind the head lie chunks";

/// A tagged list; eight bytes, cloned in O(1).
#[derive(Clone, Default)]
pub struct Tagged {
    parts: Option<Box<TaggedParts>>,
}

#[derive(Clone)]
struct TaggedParts {
    schema: Arc<Schema>,
    /// The head, then chunks.
    list: List,
    /// Empty unless values are unique.
    index: List,
    counts: Counts,
    /// True if it stays when empty.
    is_lasting: bool,
}

/// The numbers of visible and hidden items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    visible: u64,
    hidden: u64,
}

impl Counts {
    fn of(items: u64, hidden: u64) -> Self {
        Self { visible: items - hidden, hidden }
    }

    fn all(self) -> u64 {
        self.visible + self.hidden
    }

    fn add(&mut self, more: Self) {
        self.visible += more.visible;
        self.hidden += more.hidden;
    }

    fn take(&mut self, gone: Self) {
        self.visible -= gone.visible;
        self.hidden -= gone.hidden;
    }
}

/// An item: a value and its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaggedItem<'a> {
    /// The value.
    pub value: &'a [u8],
    /// True if it is hidden.
    pub is_hidden: bool,
    /// Its attributes by number; missing ones are 0.
    pub attributes: &'a [u32],
}

/// An item's data beside its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// True if it is hidden.
    pub is_hidden: bool,
    /// Its attributes by number.
    pub attributes: Vec<u32>,
}

impl<'a> TaggedItem<'a> {
    /// Encodes the item.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_tags(self.is_hidden, self.attributes, out);
        out.extend_from_slice(self.value);
    }
}

/// Decodes the tags and the value of an item that [`TaggedItem::encode`] wrote, using all bytes; `None` if invalid.
pub fn decode_item(mut bytes: &[u8]) -> Option<(Tags, &[u8])> {
    let tags = take_tags(&mut bytes)?;
    Some((tags, bytes))
}

/// Encodes tags.
pub fn encode_tags(is_hidden: bool, attributes: &[u32], out: &mut Vec<u8>) {
    varint::put(out, (attributes.len() as u64) << 1 | u64::from(is_hidden));
    attributes.iter().for_each(|number| varint::put(out, u64::from(*number)));
}

/// Decodes tags that [`encode_tags`] wrote from the front of `input`.
pub fn take_tags(input: &mut &[u8]) -> Option<Tags> {
    let head = varint::take(input)?;
    let count = usize::try_from(head >> 1).ok().filter(|count| *count <= ATTRIBUTES_MAX)?;
    let numbers = (0..count).map(|_| u32::try_from(varint::take(input)?).ok());
    Some(Tags { is_hidden: head & 1 == 1, attributes: numbers.collect::<Option<_>>()? })
}

impl Tags {
    /// Returns an item with these tags.
    pub fn with<'a>(&'a self, value: &'a [u8]) -> TaggedItem<'a> {
        TaggedItem { value, is_hidden: self.is_hidden, attributes: &self.attributes }
    }
}

impl Digest for Schema {
    fn id(&self) -> u64 {
        self.attributes().len() as u64
    }

    fn words_count(&self) -> usize {
        self.planes().words()
    }

    fn add(&self, item: &[u8], words: &mut [u64]) {
        if item[0] != HEAD {
            TaggedChunk::of(item).expect(SOUND).add_to(self.planes(), words);
        }
    }

    fn join(&self, words: &mut [u64], more: &[u64]) {
        self.planes().join(words, more);
    }
}

impl Schema {
    /// Returns true if an item may have these tags.
    pub fn takes_tags(&self, tags: &[u32]) -> bool {
        let attributes = self.attributes();
        tags.len() <= attributes.len() && tags.iter().zip(attributes).all(|(number, of)| *number <= of.max())
    }

    fn head(&self, is_lasting: bool) -> Vec<u8> {
        let mut head = vec![HEAD];
        head.extend(is_lasting.then_some(LASTING));
        self.encode(&mut head);
        head
    }

    /// Decodes a list's head: its schema, and whether the list is lasting; `None` if it is no head.
    fn of_head(item: &[u8]) -> Option<(Self, bool)> {
        let rest = item.strip_prefix(&[HEAD])?;
        let lasting = rest.strip_prefix(&[LASTING]);
        Some((Self::decode(lasting.unwrap_or(rest))?, lasting.is_some()))
    }
}

impl Tagged {
    /// Creates an empty list of this schema.
    pub fn new(schema: Arc<Schema>) -> Self {
        let mut list = List::new();
        list.push(blocks::End::Tail, &schema.head(false));
        let (index, counts) = (List::new(), Counts::default());
        Self { parts: Some(Box::new(TaggedParts { schema, list, index, counts, is_lasting: false })) }
    }

    /// Makes it stay when empty.
    pub fn set_lasting(&mut self) {
        let parts = self.parts_mut();
        parts.is_lasting = true;
        parts.list.set(0, &parts.schema.head(true));
    }

    /// Returns true if it stays when empty.
    pub fn is_lasting(&self) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.is_lasting)
    }

    fn parts(&self) -> &TaggedParts {
        self.parts.as_ref().expect("it has a schema")
    }

    fn parts_mut(&mut self) -> &mut TaggedParts {
        self.parts.as_mut().expect("it has a schema")
    }

    /// Returns its schema.
    ///
    /// # Panics
    /// On the default list, which has none.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.parts().schema
    }

    /// Returns the stored blocks.
    pub fn list(&self) -> &List {
        const NONE: &List = &List::new();
        self.parts.as_ref().map_or(NONE, |parts| &parts.list)
    }

    /// Returns true if it has no items and does not stay when empty. O(1).
    pub fn is_empty(&self) -> bool {
        self.list().len() <= 1 && !self.is_lasting()
    }

    /// Returns the numbers of visible and hidden items. O(1).
    pub fn counts(&self) -> (u64, u64) {
        self.parts.as_ref().map_or((0, 0), |parts| (parts.counts.visible, parts.counts.hidden))
    }

    /// Returns the number of items. O(1).
    pub fn len(&self) -> u64 {
        self.parts.as_ref().map_or(0, |parts| parts.counts.all())
    }

    /// Returns the number of chunks. O(1).
    pub fn chunks_count(&self) -> u64 {
        self.list().len().saturating_sub(1)
    }

    /// Returns its heap memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.parts
            .as_ref()
            .map_or(0, |parts| size_of::<TaggedParts>() as u64 + parts.list.heap_bytes() + parts.index.heap_bytes())
    }

    /// Returns its content in bytes. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.list().content_bytes()
    }

    /// Returns the name that `OBJECT ENCODING` replies.
    pub fn encoding(&self) -> &'static str {
        "columns"
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.list().shares_root_with(other.list())
    }
}

impl fmt::Debug for Tagged {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Tagged({} chunks, {} bytes)", self.chunks_count(), self.heap_bytes())
    }
}
