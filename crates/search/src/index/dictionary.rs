//! The dictionary of an index: terms in order, each with its number.
//!
//! ```text
//! entry   | space : u16 | term | number : u32 |        big-endian, in the order of (space, term)
//! space   | field : 12 bits | what the term is : 4 bits |
//! ```
//!
//! Numbers of removed terms are given again, the last one first.

use super::terms::grams;
use blocks::{BlockList, Direction, End, Guide};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

/// The type of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermType {
    /// The term of all rows; it belongs to no field.
    Row,
    /// A word of a text.
    Word,
    /// A stem of a text's words.
    Stem,
    /// A whole tag.
    Tag,
    /// Two characters in a row of a text or tag, or its last one.
    Gram,
    /// Rows without the field.
    Missing,
}

/// The space of a field's terms of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Space(u16);

impl Space {
    pub(crate) const ALL_ROWS: Self = Self(TermType::Row as u16);

    pub(crate) fn of(field: usize, term_type: TermType) -> Self {
        debug_assert!(field < 1 << 12, "a definition has at most `FIELDS_MAX` fields");
        Self((field as u16) << 4 | term_type as u16)
    }
}

/// The number of a term.
pub(crate) type TermNumber = u32;

const SPACE_BYTES: usize = 2;
const NUMBER_BYTES: usize = 4;

/// Terms with their numbers.
#[derive(Clone, Default)]
pub(crate) struct Dictionary {
    entries: BlockList,
    /// Numbers below the next that no term has.
    free: BlockList,
    next: TermNumber,
}

/// Joins a space and a term to what entries are ordered by.
pub(crate) fn term_key(space: Space, term: &[u8]) -> Vec<u8> {
    [&space.0.to_be_bytes(), term].concat()
}

/// Returns true if this is the key of a tag.
pub(crate) fn is_tag(key: &[u8]) -> bool {
    key.get(1).is_some_and(|space| space & 15 == TermType::Tag as u8)
}

/// Returns the distinct grams of a tag as keys of the same field; none for other terms.
pub(crate) fn tag_gram_keys(key: &[u8]) -> BTreeSet<Vec<u8>> {
    let (space, term) = key.split_at(SPACE_BYTES);
    let space = u16::from_be_bytes([space[0], space[1]]);
    if !is_tag(key) {
        return BTreeSet::new();
    }
    let gram_space = Space(space & !15 | TermType::Gram as u16);
    let tag = std::str::from_utf8(term).expect("tags are texts");
    grams(tag).map(|gram| term_key(gram_space, gram.as_bytes())).collect()
}

impl Dictionary {
    /// Returns the number of terms. O(1).
    pub(crate) fn len(&self) -> u64 {
        self.entries.len()
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.entries.heap_bytes() + self.free.heap_bytes()
    }

    /// Returns a term's number. O(log n).
    pub(crate) fn number(&self, key: &[u8]) -> Option<TermNumber> {
        let (_, seen) = self.look(key);
        seen
    }

    /// Returns a term's number, and true if it had none and was given this one. O(log n).
    pub(crate) fn number_or_add(&mut self, key: &[u8]) -> (TermNumber, bool) {
        let (at, seen) = self.look(key);
        if let Some(number) = seen {
            return (number, false);
        }
        let mut number = self.next;
        if !self.free.pop(End::Tail, |free| number = number_in(free)) {
            self.next += 1;
        }
        self.entries.insert(at, &[key, &number.to_be_bytes()[..]].concat());
        (number, true)
    }

    /// Removes a term. O(log n).
    pub(crate) fn remove(&mut self, key: &[u8]) {
        let (at, number) = self.look(key);
        if let Some(number) = number {
            self.entries.remove(at);
            self.free.push(End::Tail, &number.to_be_bytes());
        }
    }

    /// Returns the positions of the terms of a space that begin with `prefix`. O(log n).
    pub(crate) fn beginning_with(&self, space: Space, prefix: &[u8]) -> Range<u64> {
        let key = term_key(space, prefix);
        let begin = self.entries.partition_point(|entry| key_in(entry) < &key[..]);
        let end = self.entries.partition_point(|entry| {
            let term = key_in(entry);
            term[..term.len().min(key.len())] <= key[..]
        });
        begin..end
    }

    /// Returns the position of the first term behind this one, which need not be there. O(log n).
    pub(crate) fn behind(&self, space: Space, term: &[u8]) -> u64 {
        let key = term_key(space, term);
        self.entries.partition_point(|entry| key_in(entry) <= &key[..])
    }

    /// Passes terms with their numbers to `visit`, until it breaks.
    pub(crate) fn walk(&self, range: Range<u64>, mut visit: impl FnMut(&[u8], TermNumber) -> ControlFlow<()>) {
        let _ = self.entries.walk(range.start, range.end - range.start, Direction::Forward, &mut |entry: &[u8]| {
            visit(&key_in(entry)[SPACE_BYTES..], number_in(&entry[entry.len() - NUMBER_BYTES..]))
        });
    }

    fn look(&self, key: &[u8]) -> (u64, Option<TermNumber>) {
        let (at, seen) = self.entries.guided_look(
            0..self.entries.len(),
            guide(key),
            |entry| key_in(entry) < key,
            |entry| (key_in(entry) == key).then(|| number_in(&entry[entry.len() - NUMBER_BYTES..])),
        );
        (at, seen.flatten())
    }
}

fn key_in(entry: &[u8]) -> &[u8] {
    &entry[..entry.len() - NUMBER_BYTES]
}

fn number_in(bytes: &[u8]) -> TermNumber {
    TermNumber::from_be_bytes(bytes.try_into().expect("a number has four bytes"))
}

fn guide(key: &[u8]) -> Guide {
    Guide { key: head(key), key_of: |entry| head(key_in(entry)), is_even: false }
}

/// Returns the first eight bytes as a number, with zeros behind a shorter key.
fn head(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = key.len().min(8);
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}
