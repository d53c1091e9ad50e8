//! Changes to a tagged list: a chunk that gets one item or other tags is changed as it is stored, if it keeps its form;
//! otherwise it is decoded, changed and written back as one or more.

use super::chunk::{
    CHUNK_BYTES_MAX, LABEL_BYTES, MASK_WORDS, Mask, TaggedChunk, items_of, label_of, mask_of, relabelled,
};
use super::draft::{Draft, Lean};
use super::lookup::Spot;
use super::schema::Schema;
use super::{Counts, SOUND, Tagged, TaggedItem, TaggedParts, Tags, index};
use blocks::{Direction, End};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// The exclusive upper bound of labels; 0 is the label of the head.
const LABELS_END: u64 = 1 << (8 * LABEL_BYTES);
/// The first chunk's label, and the distance between labels at the ends.
const LABEL_FIRST: u64 = LABELS_END / 2;
const LABEL_STRIDE: u64 = 1 << 20;
/// Chunks are relabelled together with their neighbours until labels are this far apart.
const LABEL_GAP_MIN: u64 = 32;
/// A chunk that shrinks below this is merged with its neighbour, if both together fill no more than JOINED_BYTES_MAX.
const SMALL_BYTES: usize = CHUNK_BYTES_MAX / 2;
const JOINED_BYTES_MAX: usize = CHUNK_BYTES_MAX * 3 / 4;

impl Tagged {
    /// Switches to a schema that [`Schema::extends`] its own. O(log n): chunks stay unchanged.
    pub fn grow(&mut self, schema: Arc<Schema>) {
        let parts = self.parts_mut();
        assert!(schema.extends(&parts.schema));
        parts.list.set(0, &schema.head(parts.is_lasting));
        parts.schema = schema;
    }

    /// Inserts items before a position, or at the end. They must fit the schema. O(log n + items).
    pub fn insert(&mut self, position: u64, items: &[TaggedItem<'_>]) {
        let len = self.len();
        assert!(position <= len);
        if items.is_empty() {
            return;
        }
        let parts = self.parts_mut();
        let schema = parts.schema.clone();
        let planes = schema.planes();
        let hidden = items.iter().filter(|item| item.is_hidden).count() as u64;
        parts.counts.add(Counts::of(items.len() as u64, hidden));
        let (range, at, mut draft) = if parts.list.len() == 1 {
            (1..1, 0, Draft::new(planes.count(), schema.is_unique().then_some(LABEL_FIRST)))
        } else {
            let spot = if position == len { parts.last(len) } else { parts.spot(position) };
            let at = (position - spot.base) as usize;
            if let [item] = items
                && parts.insert_in_place(spot.index, at, item)
            {
                return;
            }
            (spot.index..spot.index + 1, at, parts.draft(spot.index))
        };
        let lean = if position == len {
            Lean::Tail
        } else if position == 0 {
            Lean::Head
        } else {
            Lean::Midst
        };
        draft.insert(at, items, planes);
        let came = items.iter().filter(|_| schema.is_unique()).map(|item| index::hash(item.value));
        parts.exchange(range, draft, lean, &Hashes { came: came.collect(), gone: Vec::new() });
    }

    /// Removes runs of items, given as position and count, ascending and disjoint. O(chunks touched · log n).
    pub fn remove_runs(&mut self, runs: impl DoubleEndedIterator<Item = (u64, u64)>) {
        let parts = self.parts_mut();
        // Backwards, so that earlier positions stay valid.
        let mut open: Option<(Spot, Mask, Range<u64>)> = None;
        for (begin, count) in runs.rev() {
            let mut end = begin + count;
            while end > begin {
                let is_open = open.as_ref().is_some_and(|(_, _, range)| range.contains(&(end - 1)));
                if !is_open {
                    if let Some((spot, mask, _)) = open.take() {
                        parts.remove_from(spot.index, &mask);
                    }
                    let spot = parts.spot(end - 1);
                    let items = parts.chunk(spot.index, |chunk| chunk.count() as u64);
                    open = Some((spot, [0; MASK_WORDS], spot.base..spot.base + items));
                }
                let (spot, mask, _) = open.as_mut().expect("just opened");
                let from = begin.max(spot.base);
                let part = mask_of((from - spot.base) as usize..(end - spot.base) as usize);
                mask.iter_mut().zip(part).for_each(|(word, more)| *word |= more);
                end = from;
            }
        }
        if let Some((spot, mask, _)) = open {
            parts.remove_from(spot.index, &mask);
        }
    }

    /// Sets the tags of the item at a position. O(log n).
    pub fn set_tags(&mut self, position: u64, tags: &Tags) {
        let parts = self.parts_mut();
        let spot = parts.spot(position);
        let at = (position - spot.base) as usize;
        let schema = parts.schema.clone();
        let change = |stored: &[u8]| {
            let chunk = TaggedChunk::of(stored).expect(SOUND);
            (chunk.is_hidden(at), chunk.with_tags(stored, at, tags, schema.planes()))
        };
        let (was_hidden, changed) = parts.list.get(spot.index, change).expect("a chunk of the list");
        parts.counts.take(Counts::of(1, was_hidden.into()));
        parts.counts.add(Counts::of(1, tags.is_hidden.into()));
        if let Some(chunk) = changed {
            return parts.list.set(spot.index, &chunk);
        }
        let mut draft = parts.draft(spot.index);
        draft.set(at, &tags.with(b""), schema.planes());
        if draft.fits() {
            parts.list.set(spot.index, &draft.encode());
        } else {
            // The chunk has gained columns.
            parts.exchange(spot.index..spot.index + 1, draft, Lean::Midst, &Hashes::default());
        }
    }

    /// Moves an item: removes it and inserts it at a position of what is left. O(log n).
    pub fn move_item(&mut self, from: u64, to: u64) {
        assert!(from < self.len());
        let parts = self.parts_mut();
        let spot = parts.spot(from);
        let (value, tags) = parts.get(spot, from, |found| (found.value.to_vec(), found.tags()));
        if parts.counts.all() > 1 {
            let at = (from - spot.base) as usize;
            parts.remove_from(spot.index, &mask_of(at..at + 1));
            self.insert(to, &[tags.with(&value)]);
        }
    }
}

/// The hashes of unique values that are added to a chunk, and removed.
#[derive(Default)]
struct Hashes {
    came: Vec<u64>,
    gone: Vec<u64>,
}

/// The values of a chunk by hash, with its label.
type Entries = Vec<(u64, u64)>;

impl TaggedParts {
    fn draft(&self, index: u64) -> Draft {
        let (planes, is_unique) = (self.schema.planes().count(), self.schema.is_unique());
        self.chunk(index, |chunk| Draft::of(chunk, planes, is_unique))
    }

    /// Inserts an item into a chunk as it is stored. Returns false, and does nothing, if the chunk must be decoded.
    fn insert_in_place(&mut self, index: u64, at: usize, item: &TaggedItem<'_>) -> bool {
        let with = |stored: &[u8]| {
            let chunk = TaggedChunk::of(stored).expect(SOUND);
            (chunk.label(), chunk.with_item(stored, at, item, self.schema.planes()))
        };
        let Some((label, Some(chunk))) = self.list.get(index, with) else { return false };
        self.list.set(index, &chunk);
        if self.schema.is_unique() {
            index::add(&mut self.index, index::hash(item.value), label);
        }
        true
    }

    /// Returns the last chunk of a list with `len` items.
    fn last(&self, len: u64) -> Spot {
        let index = self.list.len() - 1;
        Spot { index, base: len - self.chunk(index, |chunk| chunk.count() as u64) }
    }

    /// Returns the index entries of a draft; empty unless values are unique.
    fn values_of(&self, draft: &Draft) -> Entries {
        let mut entries = Vec::new();
        if let Some(label) = draft.label {
            draft.for_each_value(|value| entries.push((index::hash(value), label)));
        }
        entries
    }

    /// Removes the items of a mask from a chunk.
    fn remove_from(&mut self, at: u64, gone: &Mask) {
        let mut draft = self.draft(at);
        let mut hashes = Hashes::default();
        if draft.label.is_some() {
            items_of(gone).for_each(|item| hashes.gone.push(index::hash(draft.value(item))));
        }
        let hidden = items_of(gone).filter(|item| draft.is_hidden(*item)).count() as u64;
        self.counts.take(Counts::of(items_of(gone).count() as u64, hidden));
        draft.remove(gone);
        let mut range = at..at + 1;
        if draft.count() > 0 && draft.chunk_bytes() < SMALL_BYTES {
            let other = if at + 1 < self.list.len() { at + 1 } else { at - 1 };
            // A packed chunk was full, and would be split off again.
            let other_bytes = self.list.get(other, <[u8]>::len).unwrap_or(0);
            let is_open = other > 0 && self.chunk(other, |chunk| chunk.packed().is_none());
            if is_open && draft.chunk_bytes() + other_bytes <= JOINED_BYTES_MAX {
                let neighbour = self.draft(other);
                let (mut left, right) = if other > at { (draft, neighbour) } else { (neighbour, draft) };
                left.append(&right);
                draft = left;
                range = at.min(other)..at.max(other) + 1;
            }
        }
        self.exchange(range, draft, Lean::Midst, &hashes);
    }

    /// Replaces the chunks of `range` with a draft, split into fitting pieces, and updates the index.
    fn exchange(&mut self, range: Range<u64>, draft: Draft, lean: Lean, hashes: &Hashes) {
        let draft_label = draft.label;
        let mut pieces = if draft.count() == 0 { Vec::new() } else { draft.cut(lean) };
        let full = match lean {
            Lean::Head => 1..pieces.len(),
            Lean::Tail => 0..pieces.len().saturating_sub(1),
            Lean::Midst => 0..0,
        };
        pieces.get_mut(full).into_iter().flatten().for_each(Draft::pack);
        let is_unique = self.schema.is_unique();
        let stays = pieces.len() <= 1 && range.end - range.start <= 1;
        let mut before = Entries::new();
        if let Some(label) = draft_label.filter(|_| stays) {
            hashes.gone.iter().for_each(|hash| index::remove(&mut self.index, *hash, label));
            hashes.came.iter().for_each(|hash| index::add(&mut self.index, *hash, label));
        } else if is_unique {
            self.label(&range, &mut pieces, lean);
            // Not earlier: the step above may have relabelled these chunks.
            before = range.clone().flat_map(|at| self.values_of(&self.draft(at))).collect();
        }
        let (replaced, count) = ((range.end - range.start) as usize, pieces.len());
        for (nth, piece) in pieces.iter().enumerate() {
            let (at, chunk) = (range.start + nth as u64, piece.encode());
            if nth < replaced {
                self.list.set(at, &chunk);
            } else {
                self.list.insert(at, &chunk);
            }
        }
        (count..replaced).for_each(|_| self.list.remove(range.start + count as u64));
        if is_unique && !stays {
            let after = pieces.iter().flat_map(|piece| self.values_of(piece)).collect();
            self.follow(before, after);
        }
    }

    /// Updates the index: removes the old entries and adds the new ones.
    fn follow(&mut self, mut before: Entries, mut after: Entries) {
        before.sort_unstable();
        after.sort_unstable();
        let (mut old, mut new) = (before.iter().peekable(), after.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (Some(one), Some(other)) if one == other => {
                    old.next();
                    new.next();
                }
                (Some(&&(hash, label)), other) if other.is_none_or(|&&other| (hash, label) < other) => {
                    index::remove(&mut self.index, hash, label);
                    old.next();
                }
                (_, Some(&&(hash, label))) => {
                    index::add(&mut self.index, hash, label);
                    new.next();
                }
                (_, None) => return,
            }
        }
    }

    /// Labels the pieces that replace the chunks of `range`: the largest keeps the old label, others get labels between
    /// their neighbours'.
    fn label(&mut self, range: &Range<u64>, pieces: &mut [Draft], lean: Lean) {
        let Some(count) = pieces.len().checked_sub(1) else { return };
        if count == 0 {
            return;
        }
        let own = pieces.iter().find_map(|piece| piece.label).expect("a labelled chunk was cut");
        let housekeeper = if lean == Lean::Head { count } else { 0 };
        loop {
            let before = if range.start > 1 { self.label_at(range.start - 1) } else { 0 };
            let behind = if range.end < self.list.len() { self.label_at(range.end) } else { LABELS_END };
            let (mine, is_there) = (if range.is_empty() { own } else { self.label_at(range.start) }, !range.is_empty());
            let (low, high) = if housekeeper == 0 { (mine, behind) } else { (before, mine) };
            let room = (high - low - 1) / (count as u64 + 1);
            let is_at_end = if housekeeper == 0 { behind == LABELS_END } else { before == 0 };
            if room > 0 {
                let step = if is_at_end { room.min(LABEL_STRIDE) } else { room };
                for (nth, piece) in pieces.iter_mut().enumerate() {
                    let away = nth.abs_diff(housekeeper) as u64 * step;
                    piece.label = Some(if housekeeper == 0 { mine + away } else { mine - away });
                }
                return;
            }
            assert!(is_there, "a list without chunks has room");
            self.renumber(range.start, count as u64);
        }
    }

    fn label_at(&self, index: u64) -> u64 {
        self.list.get(index, label_of).expect("a chunk of the list")
    }

    /// Spreads the labels of a chunk and as many neighbours as needed to leave room for `more` labels between them.
    fn renumber(&mut self, index: u64, more: u64) {
        let (mut from, mut to) = (index, index + 1);
        let (low, step) = loop {
            from = from.saturating_sub(4).max(1);
            to = (to + 4).min(self.list.len());
            let low = if from > 1 { self.label_at(from - 1) } else { 0 };
            let high = if to < self.list.len() { self.label_at(to) } else { LABELS_END };
            let step = (high - low) / (to - from + 1);
            let is_all = from == 1 && to == self.list.len();
            if step > (more + 2) * LABEL_GAP_MIN || is_all {
                break (low, step);
            }
        };
        assert!(step > more + 1, "there are fewer chunks than labels");
        let (mut before, mut after) = (Entries::new(), Entries::new());
        for (nth, at) in (from..to).enumerate() {
            let mut draft = self.draft(at);
            before.extend(self.values_of(&draft));
            let label = low + (nth as u64 + 1) * step;
            draft.label = Some(label);
            after.extend(self.values_of(&draft));
            // Not the draft: it has all planes of a schema that has grown, and might not fit.
            let chunk = self.list.get(at, |stored| relabelled(stored, label)).expect("a chunk of the list");
            self.list.set(at, &chunk);
        }
        self.follow(before, after);
    }
}

impl Tagged {
    /// Panics if an invariant is violated.
    #[doc(hidden)]
    pub fn check(&self) {
        let Some(parts) = &self.parts else { return };
        parts.list.check();
        let (mut count, mut entries, mut label) = (0, Entries::new(), 0);
        let _ = parts.list.walk(1, parts.list.len() - 1, Direction::Forward, &mut |item: &[u8]| {
            let (planes, is_unique) = (parts.schema.planes().count(), parts.schema.is_unique());
            let chunk = TaggedChunk::checked(item, planes, is_unique).expect(SOUND);
            count += chunk.count() as u64;
            let draft = Draft::of(&chunk, chunk.planes_count(), is_unique);
            assert_eq!(draft.encode(), item, "a chunk is written as it was read");
            entries.extend(parts.values_of(&draft));
            assert!(!is_unique || chunk.label() > label, "labels ascend");
            label = chunk.label();
            ControlFlow::Continue(())
        });
        assert_eq!(count, self.len());
        let words = parts.list.digest(&*parts.schema);
        assert_eq!((words[0], words[1]), self.counts());
        entries.sort_unstable();
        let mut index = crate::List::new();
        let _ = parts.index.walk(0, parts.index.len(), Direction::Forward, &mut |entry: &[u8]| {
            index.push(End::Tail, entry);
            ControlFlow::Continue(())
        });
        assert_eq!(super::index::of(entries).len(), index.len(), "the index has every value");
    }
}
