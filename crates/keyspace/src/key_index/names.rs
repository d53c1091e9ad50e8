//! The names of one table, in byte order.
//!
//! ```text
//!   block list   | chunk | chunk | chunk | chunk | ...        its inner nodes lead to a chunk by its first name
//!                            |
//!                            `-- some hundred names, packed; written anew when one comes or goes
//! ```
//!
//! Changes come sorted; all that fall into one chunk are made in one rewrite.

use super::changes::Changes;
use super::chunk::{self, Chunk, NameTail, alike_bytes};
use blocks::{BlockList, Direction, End};
use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};
use values::ValueType;
use values::sorted::Bound;

/// A chunk with more bytes is split.
const CHUNK_BYTES_MAX: usize = 500;
/// Approximate size in bytes of the parts of a split: leaves room for insertions.
const SPLIT_BYTES: usize = 360;
/// A chunk with fewer bytes is joined with the next one.
const CHUNK_BYTES_MIN: usize = 125;
/// Maximum changes per rewrite.
const RUN_MAX: usize = 1000;

/// A range of names and a direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Lower bound, in byte order.
    pub least: Bound<Vec<u8>>,
    /// Upper bound.
    pub most: Bound<Vec<u8>>,
    /// Direction of the walk.
    pub direction: Direction,
}

impl Span {
    /// Narrows the range to what follows `name`.
    pub fn pass(&mut self, name: &[u8]) {
        let bound = Bound::Excluding(name.to_vec());
        match self.direction {
            Direction::Forward => self.least = bound,
            Direction::Backward => self.most = bound,
        }
    }

    fn is_below(&self, name: &[u8]) -> bool {
        match &self.least {
            Bound::None => false,
            Bound::Including(least) => name < least,
            Bound::Excluding(least) => name <= least,
        }
    }

    fn is_above(&self, name: &[u8]) -> bool {
        match &self.most {
            Bound::None => false,
            Bound::Including(most) => name > most,
            Bound::Excluding(most) => name >= most,
        }
    }
}

/// A sequence of names.
#[derive(Clone, Default)]
pub struct Page {
    bytes: Vec<u8>,
    /// The end of each name, and its key's type.
    ends: Vec<(usize, ValueType)>,
}

impl Page {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns name number `nth`.
    pub fn get(&self, nth: usize) -> &[u8] {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before].0);
        &self.bytes[start..self.ends[nth].0]
    }

    /// Returns the type that the key of name `nth` had when the page was made.
    pub fn value_type(&self, nth: usize) -> ValueType {
        self.ends[nth].1
    }

    /// Returns all names.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        (0..self.len()).map(|nth| self.get(nth))
    }

    fn push(&mut self, prefix: &[u8], tail: NameTail<'_>) {
        [prefix, tail.bytes].into_iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push((self.bytes.len(), tail.kind));
    }

    fn pop(&mut self) {
        self.ends.pop();
        self.bytes.truncate(self.ends.last().map_or(0, |(end, _)| *end));
    }

    /// Returns all names as tails of an empty prefix.
    fn tails(&self) -> impl Iterator<Item = NameTail<'_>> {
        (0..self.len()).map(|nth| NameTail { bytes: self.get(nth), kind: self.value_type(nth) })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// Scratch space of a chunk rewrite, reused.
#[derive(Default)]
pub(super) struct Scratch {
    old: Vec<u8>,
    next: Vec<u8>,
    unpacked: Page,
    written: Vec<u8>,
}

/// A sorted set of names.
#[derive(Default)]
pub(super) struct Names {
    chunks: BlockList,
    count: u64,
}

impl Names {
    /// Returns the number of names.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the heap bytes used.
    pub(super) fn heap_bytes(&self) -> u64 {
        self.chunks.heap_bytes()
    }

    /// Returns the chunk that contains `name` if any does.
    fn place(&self, name: &[u8]) -> u64 {
        self.chunks.partition_point(|bytes| Chunk::of(bytes).first_cmp(name) != Ordering::Greater).saturating_sub(1)
    }

    /// Makes the change at `from` and the following ones in the same chunk. Returns the first one left.
    pub(super) fn apply(&mut self, changes: &Changes, from: usize, scratch: &mut Scratch) -> usize {
        let (table, ..) = changes.get(from);
        let at = self.place(changes.get(from).1);
        let next_first = self.chunks.get(at + 1, |bytes| Chunk::of(bytes).first());
        let to = (from..changes.len().min(from + RUN_MAX))
            .find(|nth| {
                let (of, name, _) = changes.get(*nth);
                of != table || next_first.as_deref().is_some_and(|next| name >= next)
            })
            .unwrap_or(changes.len().min(from + RUN_MAX));
        let Scratch { old, next, unpacked, written } = scratch;
        old.clear();
        next.clear();
        unpacked.clear();
        let had_chunk = self.chunks.get(at, |bytes| old.extend_from_slice(bytes)).is_some();
        let chunk = if had_chunk { Chunk::of(old) } else { Chunk::default() };
        // Common prefix of the old names and the changes: only the rest is compared and written.
        let ends = [changes.get(from).1, changes.get(to - 1).1];
        let base_bytes = ends.map(|name| alike_bytes(chunk.prefix(), name)).into_iter().min().unwrap_or(0);
        let (mut base, rest) = chunk.prefix().split_at(base_bytes);
        let before: Vec<NameTail<'_>> = if rest.is_empty() {
            chunk.tails().collect()
        } else {
            chunk.tails().for_each(|tail| unpacked.push(rest, tail));
            unpacked.tails().collect()
        };
        let appends = next_first.is_none() && before.last().is_none_or(|last| last.bytes < &ends[0][base_bytes..]);
        let mut tails = merge(&before, changes, from..to, base_bytes);
        self.count = self.count + tails.len() as u64 - before.len() as u64;
        let (mut bytes, mut replaced) = (packed_bytes(base, &tails), u64::from(had_chunk));
        let mut joined = Page::default();
        if bytes < CHUNK_BYTES_MIN && self.chunks.get(at + 1, |bytes| next.extend_from_slice(bytes)).is_some() {
            tails.iter().for_each(|tail| joined.push(base, *tail));
            let chunk = Chunk::of(next);
            chunk.tails().for_each(|tail| joined.push(chunk.prefix(), tail));
            (base, tails) = (b"", joined.tails().collect());
            bytes = packed_bytes(base, &tails);
            replaced += 1;
        }
        let part_bytes = match bytes {
            ..=CHUNK_BYTES_MAX => usize::MAX,
            _ if appends => CHUNK_BYTES_MAX,
            _ => bytes / bytes.div_ceil(SPLIT_BYTES) + 1,
        };
        let mut put = 0;
        for part in split(&tails, part_bytes) {
            written.clear();
            chunk::write(base, part, written);
            if put < replaced {
                self.chunks.set(at + put, written);
            } else if at + put == self.chunks.len() {
                self.chunks.push(End::Tail, written);
            } else {
                self.chunks.insert(at + put, written);
            }
            put += 1;
        }
        (put..replaced).for_each(|_| self.chunks.remove(at + put));
        to
    }

    /// Returns the first names of `span`: at most `names_max`, and at most `bytes_max` bytes plus one name.
    pub(super) fn page(&self, span: &Span, names_max: usize, bytes_max: usize) -> Page {
        let mut page = Page::default();
        let is_full = |page: &Page| page.len() >= names_max || page.bytes.len() >= bytes_max;
        if names_max == 0 || self.chunks.is_empty() {
            return page;
        }
        // After the first name in range only the far bound is checked.
        let take = |page: &mut Page, prefix: &[u8], tail: NameTail<'_>| {
            page.push(prefix, tail);
            let name = page.get(page.len() - 1);
            let is_first = page.len() == 1;
            let (is_before, is_over) = match span.direction {
                Direction::Forward => (is_first && span.is_below(name), span.is_above(name)),
                Direction::Backward => (is_first && span.is_above(name), span.is_below(name)),
            };
            if is_before || is_over {
                page.pop();
            }
            if is_over || is_full(page) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let at = |bound: &Bound<Vec<u8>>, none| match bound {
            Bound::None => none,
            Bound::Including(name) | Bound::Excluding(name) => self.place(name),
        };
        let count = self.chunks.len();
        let _ = match span.direction {
            Direction::Forward => {
                let from = at(&span.least, 0);
                self.chunks.walk(from, count - from, Direction::Forward, &mut |bytes: &[u8]| {
                    let chunk = Chunk::of(bytes);
                    chunk.tails().try_for_each(|tail| take(&mut page, chunk.prefix(), tail))
                })
            }
            Direction::Backward => {
                let last = at(&span.most, count - 1);
                self.chunks.walk(0, last + 1, Direction::Backward, &mut |bytes: &[u8]| {
                    let chunk = Chunk::of(bytes);
                    let tails: Vec<NameTail<'_>> = chunk.tails().collect();
                    tails.iter().rev().try_for_each(|tail| take(&mut page, chunk.prefix(), *tail))
                })
            }
        };
        page
    }
}

/// Merges existing names with the changes (the last of each name counts), without the common `base_bytes`.
fn merge<'a>(
    before: &[NameTail<'a>],
    changes: &'a Changes,
    range: Range<usize>,
    base_bytes: usize,
) -> Vec<NameTail<'a>> {
    let mut tails = Vec::with_capacity(before.len() + range.len());
    let (mut rest, end) = (before, range.end);
    for nth in range {
        let (_, name, kind) = changes.get(nth);
        if nth + 1 < end && changes.get(nth + 1).1 == name {
            continue;
        }
        let bytes = &name[base_bytes..];
        let (passed, behind) = rest.split_at(rest.partition_point(|old| old.bytes < bytes));
        tails.extend_from_slice(passed);
        rest = if behind.first().is_some_and(|old| old.bytes == bytes) { &behind[1..] } else { behind };
        tails.extend(kind.map(|kind| NameTail { bytes, kind }));
    }
    tails.extend_from_slice(rest);
    tails
}

/// Returns the packed size in bytes of a chunk of these names, or slightly less.
fn packed_bytes(base: &[u8], tails: &[NameTail<'_>]) -> usize {
    let common_bytes = chunk::common_bytes(tails);
    tails.iter().map(|tail| tail.bytes.len() + 1 - common_bytes).sum::<usize>() + base.len() + common_bytes
}

/// Splits the names into parts of about `part_bytes` bytes, measured as in one chunk.
fn split<'n, 'a>(tails: &'n [NameTail<'a>], part_bytes: usize) -> impl Iterator<Item = &'n [NameTail<'a>]> {
    let common_bytes = chunk::common_bytes(tails);
    let mut rest = tails;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let count = rest.iter().take_while(|tail| {
            let tail_bytes = tail.bytes.len() + 1 - common_bytes;
            let fits = bytes == 0 || bytes + tail_bytes <= part_bytes;
            bytes += tail_bytes;
            fits
        });
        let (part, behind) = rest.split_at(count.count());
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}
