//! Lookups in a tagged list: by position, value, filter and order.

use super::chunk::{HEAD, MASK_WORDS, Mask, TaggedChunk, label_of};
use super::filter::{Filter, Shown};
use super::schema::{Rank, Schema};
use super::{SOUND, Tagged, TaggedParts, Tags, index};
use blocks::{Direction, Guide, Summary};
use std::ops::{ControlFlow, Range};

/// A found item.
pub struct FoundItem<'a> {
    /// Its position, counting hidden items.
    pub position: u64,
    /// Its value.
    pub value: &'a [u8],
    chunk: &'a TaggedChunk<'a>,
    schema: &'a Schema,
    at: usize,
}

impl FoundItem<'_> {
    /// Returns true if it is hidden.
    pub fn is_hidden(&self) -> bool {
        self.chunk.is_hidden(self.at)
    }

    /// Returns an attribute by number.
    pub fn attribute(&self, number: usize) -> u32 {
        self.chunk.attribute(self.schema.planes(), number, self.at)
    }

    /// Returns all of its tags.
    pub fn tags(&self) -> Tags {
        let attributes = (0..self.schema.attributes().len()).map(|number| self.attribute(number)).collect();
        Tags { is_hidden: self.is_hidden(), attributes }
    }
}

/// The limits of a lookup.
#[derive(Clone, Copy, Debug)]
pub struct LookLimits {
    /// Matching items to skip first.
    pub skip: u64,
    /// The maximum number of chunks examined; beyond, the lookup stops.
    pub chunks: u64,
}

/// A chunk's index in the list, and the position of its first item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) index: u64,
    pub(super) base: u64,
}

/// A visitor of chunks, limited to `within`, that may skip subtrees.
trait Looking {
    /// Returns true to skip the next items, given their digest.
    fn passes(&mut self, words: &[u64]) -> bool;

    fn chunk(&mut self, base: u64, chunk: &TaggedChunk<'_>, within: Range<usize>) -> ControlFlow<()>;
}

/// Drives a [`Looking`] along a list.
struct Way<'l, L> {
    looking: &'l mut L,
    direction: Direction,
    /// The position of the next item; backward, the position after it.
    position: u64,
    range: Range<u64>,
}

impl<L: Looking> Summary for Way<'_, L> {
    fn passes(&mut self, words: &[u64], _: u64) -> bool {
        let items = words[0] + words[1];
        let (begin, end) = self.next(items);
        let is_whole = self.range.start <= begin && end <= self.range.end;
        let passes = is_whole && self.looking.passes(words);
        if passes {
            self.go_on(begin, end);
        }
        passes
    }

    fn item(&mut self, _: u64, item: &[u8]) -> ControlFlow<()> {
        if item[0] == HEAD {
            return ControlFlow::Continue(());
        }
        let chunk = TaggedChunk::of(item).expect(SOUND);
        let (begin, end) = self.next(chunk.count() as u64);
        self.go_on(begin, end);
        let within = self.range.start.clamp(begin, end) - begin..self.range.end.clamp(begin, end) - begin;
        if within.is_empty() {
            return ControlFlow::Continue(());
        }
        self.looking.chunk(begin, &chunk, within.start as usize..within.end as usize)
    }
}

impl<L> Way<'_, L> {
    fn next(&self, items: u64) -> (u64, u64) {
        match self.direction {
            Direction::Forward => (self.position, self.position + items),
            Direction::Backward => (self.position - items, self.position),
        }
    }

    fn go_on(&mut self, begin: u64, end: u64) {
        self.position = if self.direction == Direction::Forward { end } else { begin };
    }
}

impl TaggedParts {
    /// Visits the items at these positions, which must exist.
    fn look(&self, range: Range<u64>, direction: Direction, looking: &mut impl Looking) -> ControlFlow<()> {
        if range.is_empty() {
            return ControlFlow::Continue(());
        }
        let len = self.counts.all();
        let first = self.spot(range.start);
        let (end, position) = if range.end == len {
            (self.list.len(), len)
        } else {
            let last = self.spot(range.end - 1);
            (last.index + 1, last.base + self.chunk(last.index, |chunk| chunk.count() as u64))
        };
        let position = if direction == Direction::Forward { first.base } else { position };
        let mut way = Way { looking, direction, position, range };
        self.list.summarize(&*self.schema, first.index..end, direction, &mut way)
    }

    /// Applies `visit` to the item at a position, whose chunk is at `spot`.
    pub(super) fn get<R>(&self, spot: Spot, position: u64, visit: impl FnOnce(FoundItem<'_>) -> R) -> R {
        let (at, schema) = ((position - spot.base) as usize, &*self.schema);
        self.chunk(spot.index, |chunk| {
            let values = chunk.open(at..at + 1);
            visit(FoundItem { position, value: values.at(at), chunk, schema, at })
        })
    }

    /// Returns the chunk of this position, which must exist.
    pub(super) fn spot(&self, position: u64) -> Spot {
        if position == 0 {
            return Spot { index: 1, base: 0 };
        }
        struct Seek {
            left: u64,
            index: u64,
            found: Option<u64>,
        }
        impl Summary for Seek {
            fn passes(&mut self, words: &[u64], _: u64) -> bool {
                let items = words[0] + words[1];
                let passes = items <= self.left;
                self.left -= if passes { items } else { 0 };
                passes
            }

            fn item(&mut self, index: u64, item: &[u8]) -> ControlFlow<()> {
                let items = if item[0] == HEAD { 0 } else { TaggedChunk::of(item).expect(SOUND).count() as u64 };
                self.index = index;
                if items <= self.left {
                    self.left -= items;
                    return ControlFlow::Continue(());
                }
                self.found = Some(index);
                ControlFlow::Break(())
            }
        }
        let mut seek = Seek { left: position, index: 0, found: None };
        let _ = self.list.summarize(&*self.schema, 0..self.list.len(), Direction::Forward, &mut seek);
        Spot { index: seek.found.expect("a position of the list"), base: position - seek.left }
    }

    /// Returns the position of a chunk's first item.
    pub(super) fn base(&self, index: u64) -> u64 {
        struct Sum(u64);
        impl Summary for Sum {
            fn passes(&mut self, words: &[u64], _: u64) -> bool {
                self.0 += words[0] + words[1];
                true
            }

            fn item(&mut self, _: u64, item: &[u8]) -> ControlFlow<()> {
                self.0 += if item[0] == HEAD { 0 } else { TaggedChunk::of(item).expect(SOUND).count() as u64 };
                ControlFlow::Continue(())
            }
        }
        let mut sum = Sum(0);
        let _ = self.list.summarize(&*self.schema, 0..index, Direction::Forward, &mut sum);
        sum.0
    }

    /// Applies `look` to a chunk.
    pub(super) fn chunk<R>(&self, index: u64, look: impl FnOnce(&TaggedChunk<'_>) -> R) -> R {
        self.list.get(index, |item| look(&TaggedChunk::of(item).expect(SOUND))).expect("a chunk of the list")
    }

    /// Returns the index of the chunk with this label.
    fn of_label(&self, label: u64) -> u64 {
        let guide = Guide { key: label, key_of: label_of, is_even: false };
        self.list.guided_point(1..self.list.len(), guide, |item| label_of(item) < label)
    }
}

/// Visits the items that match a filter.
struct Paging<'f, V> {
    filter: &'f Filter,
    schema: &'f Schema,
    direction: Direction,
    limits: LookLimits,
    is_cut: bool,
    visit: V,
}

impl<V: FnMut(FoundItem<'_>) -> ControlFlow<()>> Looking for Paging<'_, V> {
    fn passes(&mut self, words: &[u64]) -> bool {
        if !self.filter.may_be_in(words, self.schema.planes()) {
            return true;
        }
        let items = self.filter.shown_of(words[0], words[1]);
        let passes = self.filter.terms.is_empty() && items <= self.limits.skip;
        self.limits.skip -= if passes { items } else { 0 };
        passes
    }

    fn chunk(&mut self, base: u64, chunk: &TaggedChunk<'_>, within: Range<usize>) -> ControlFlow<()> {
        if self.limits.chunks == 0 {
            self.is_cut = true;
            return ControlFlow::Break(());
        }
        self.limits.chunks -= 1;
        let mut mask: Mask = [0; MASK_WORDS];
        chunk.mask(self.filter, self.schema.planes(), within, &mut mask);
        let items = chunk.count_of(&mask);
        if items <= self.limits.skip {
            self.limits.skip -= items;
            return ControlFlow::Continue(());
        }
        let words = chunk.count().div_ceil(64);
        match self.direction {
            Direction::Forward => (0..words).try_for_each(|nth| self.show_word(base, chunk, nth, mask[nth])),
            Direction::Backward => (0..words).rev().try_for_each(|nth| self.show_word(base, chunk, nth, mask[nth])),
        }
    }
}

impl<V: FnMut(FoundItem<'_>) -> ControlFlow<()>> Paging<'_, V> {
    /// Visits the items in a word of a chunk's mask.
    fn show_word(&mut self, base: u64, chunk: &TaggedChunk<'_>, nth: usize, mut word: u64) -> ControlFlow<()> {
        let items = u64::from(word.count_ones());
        if items <= self.limits.skip {
            self.limits.skip -= items;
            return ControlFlow::Continue(());
        }
        let (first, end) = (64 * nth + word.trailing_zeros() as usize, 64 * (nth + 1) - word.leading_zeros() as usize);
        let values = chunk.open(first..end);
        while word != 0 {
            let bit = match self.direction {
                Direction::Forward => word.trailing_zeros(),
                Direction::Backward => 63 - word.leading_zeros(),
            };
            word &= !(1 << bit);
            if self.limits.skip > 0 {
                self.limits.skip -= 1;
                continue;
            }
            let at = 64 * nth + bit as usize;
            let found = FoundItem { position: base + at as u64, value: values.at(at), chunk, schema: self.schema, at };
            (self.visit)(found)?;
        }
        ControlFlow::Continue(())
    }
}

/// Counts the items that match a filter.
struct Counting<'f> {
    filter: &'f Filter,
    schema: &'f Schema,
    visible: u64,
    hidden: u64,
    chunks_left: u64,
    is_cut: bool,
}

impl Looking for Counting<'_> {
    fn passes(&mut self, words: &[u64]) -> bool {
        if !self.filter.may_be_in(words, self.schema.planes()) {
            return true;
        }
        let passes = self.filter.terms.is_empty();
        if passes {
            self.visible += if self.filter.shown == Shown::Hidden { 0 } else { words[0] };
            self.hidden += if self.filter.shown == Shown::Visible { 0 } else { words[1] };
        }
        passes
    }

    fn chunk(&mut self, _: u64, chunk: &TaggedChunk<'_>, within: Range<usize>) -> ControlFlow<()> {
        if self.chunks_left == 0 {
            self.is_cut = true;
            return ControlFlow::Break(());
        }
        self.chunks_left -= 1;
        let mut mask: Mask = [0; MASK_WORDS];
        chunk.mask(self.filter, self.schema.planes(), within, &mut mask);
        let hidden = chunk.hidden_of(&mask);
        self.hidden += hidden;
        self.visible += chunk.count_of(&mask) - hidden;
        ControlFlow::Continue(())
    }
}

/// Searches for a value.
struct Seeking<'v> {
    value: &'v [u8],
    position: Option<u64>,
}

impl Looking for Seeking<'_> {
    fn passes(&mut self, _: &[u64]) -> bool {
        false
    }

    fn chunk(&mut self, base: u64, chunk: &TaggedChunk<'_>, within: Range<usize>) -> ControlFlow<()> {
        match chunk.find(self.value, within.start) {
            Some(at) if at < within.end => {
                self.position = Some(base + at as u64);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

impl Tagged {
    /// Visits the items at these positions that match `filter`, until `visit` breaks. Returns false if a limit cut it
    /// short.
    pub fn walk(
        &self,
        positions: Range<u64>,
        direction: Direction,
        filter: &Filter,
        limits: LookLimits,
        visit: impl FnMut(FoundItem<'_>) -> ControlFlow<()>,
    ) -> bool {
        let Some(parts) = &self.parts else { return true };
        let mut paging = Paging { filter, schema: &parts.schema, direction, limits, is_cut: false, visit };
        let _ = parts.look(positions, direction, &mut paging);
        !paging.is_cut
    }

    /// Returns the visible and hidden items at these positions that match `filter`; `None` if that takes more chunks.
    pub fn count(&self, positions: Range<u64>, filter: &Filter, chunks_max: u64) -> Option<(u64, u64)> {
        let Some(parts) = &self.parts else { return Some((0, 0)) };
        let schema = &parts.schema;
        let mut counting = Counting { filter, schema, visible: 0, hidden: 0, chunks_left: chunks_max, is_cut: false };
        let _ = parts.look(positions, Direction::Forward, &mut counting);
        (!counting.is_cut).then_some((counting.visible, counting.hidden))
    }

    /// Applies `visit` to the item at a position; `None` if there is none. O(log n).
    pub fn get<R>(&self, position: u64, visit: impl FnOnce(FoundItem<'_>) -> R) -> Option<R> {
        let parts = self.parts.as_ref().filter(|_| position < self.len())?;
        Some(parts.get(parts.spot(position), position, visit))
    }

    /// Returns true if values are found without examining every item.
    pub fn finds_at_once(&self) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.schema.is_unique())
    }

    /// Returns the position of the first item with this value. O(n); with unique values O(log n).
    pub fn find(&self, value: &[u8]) -> Option<u64> {
        let parts = self.parts.as_ref()?;
        if parts.schema.is_unique() {
            return parts.find_unique(value).map(|(index, at)| parts.base(index) + at as u64);
        }
        let mut seeking = Seeking { value, position: None };
        let _ = parts.look(0..self.len(), Direction::Forward, &mut seeking);
        seeking.position
    }

    /// Returns true if a list of unique values has this one. O(log n).
    pub fn has_unique(&self, value: &[u8]) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.schema.is_unique() && parts.find_unique(value).is_some())
    }

    /// Returns how many items of an ordered list satisfy `is_before`; they must be its first ones. O(log n).
    pub fn point(&self, mut is_before: impl FnMut(&Rank) -> bool) -> u64 {
        let Some(parts) = self.parts.as_ref().filter(|parts| parts.list.len() > 1) else { return 0 };
        let (schema, planes) = (&*parts.schema, parts.schema.planes());
        let mut is_item_before = |chunk: &TaggedChunk<'_>, at: usize| {
            let rank = schema.rank(chunk.open(at..at + 1).at(at), |number| chunk.attribute(planes, number, at));
            rank.is_some_and(|rank| is_before(&rank))
        };
        let behind = parts.list.partition_point_within(1..parts.list.len(), |item| {
            is_item_before(&TaggedChunk::of(item).expect(SOUND), 0)
        });
        let index = behind.saturating_sub(1).max(1);
        let within = parts.chunk(index, |chunk| {
            let (mut from, mut to) = (0, chunk.count());
            while from < to {
                let middle = usize::midpoint(from, to);
                if is_item_before(chunk, middle) {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            from
        });
        parts.base(index) + within as u64
    }
}

impl TaggedParts {
    /// Returns a value's chunk, and its index there.
    pub(super) fn find_unique(&self, value: &[u8]) -> Option<(u64, usize)> {
        index::labels(&self.index, index::hash(value)).into_iter().find_map(|label| {
            let index = self.of_label(label);
            self.chunk(index, |chunk| chunk.find(value, 0)).map(|at| (index, at))
        })
    }
}
