//! The stream: entries ordered by id, and consumer groups, all in one block list.
//!
//! ```text
//! list     | group names | groups | consumer names | consumers | pending | owned | chunk | chunk | ... | foot |
//!
//! chunk    some entries: `chunk`                       groups, consumers and deliveries: `group`
//! foot     | 8 | entries | last id : 16 | greatest id ever deleted : 16 | entries ever added |    numbers are varints
//! ```
//!
//! Every item begins with its tag and its sort key, so lookups are O(log n). Appends change only the last chunk and the
//! foot. The caller decides when a new chunk is opened, so an approximate trim can work by chunk as Redis does by node.

mod check;
mod chunk;
mod group;
mod id;
mod key;
mod many;

pub use chunk::Fields;
pub use group::{Consumer, Group, Pending};
pub use id::StreamId;

use crate::List;
use base::varint;
use blocks::{Direction, End};
use chunk::StreamChunk;
use key::{CHUNK, FOOT, Key};
use std::fmt;
use std::ops::{ControlFlow, Range};

/// The maximum size of an entry, in bytes: its names and values, plus ten for each.
pub const ENTRY_BYTES_MAX: usize = 1 << 30;
/// A chunk of this many bytes is full, whatever the limits.
const CHUNK_BYTES_MAX: usize = 16 << 10;

/// A stream; eight bytes, cloned in O(1). Without entries it may still have groups, or a last id.
#[derive(Clone, Default)]
pub struct Stream {
    list: List,
}

/// A stream's state beside its entries and groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Foot {
    /// The number of entries.
    pub len: u64,
    /// The greatest id ever used or set.
    pub last_id: StreamId,
    /// The greatest deleted id.
    pub deleted_id: StreamId,
    /// The number of entries ever added.
    pub added: u64,
}

/// The entries kept by a trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// This many of the newest entries.
    Newest(u64),
    /// The entries from this id on.
    From(StreamId),
}

/// A trim request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The entries to keep.
    pub kept: Kept,
    /// True if only whole chunks are removed.
    pub whole: bool,
    /// The maximum number of entries removed, if not 0.
    pub limit: u64,
}

impl Foot {
    fn encode(self) -> Vec<u8> {
        let mut foot = vec![FOOT];
        varint::put(&mut foot, self.len);
        foot.extend_from_slice(&self.last_id.to_bytes());
        foot.extend_from_slice(&self.deleted_id.to_bytes());
        varint::put(&mut foot, self.added);
        foot
    }

    fn decode(item: &[u8]) -> Option<Self> {
        let (&FOOT, mut rest) = item.split_first()? else { return None };
        let len = varint::take(&mut rest)?;
        let (last_id, deleted_id) = (StreamId::take(&mut rest)?, StreamId::take(&mut rest)?);
        let added = varint::take(&mut rest)?;
        rest.is_empty().then_some(Self { len, last_id, deleted_id, added })
    }
}

// ---- lookups ----

impl Stream {
    /// Returns its state beside entries and groups. O(log n).
    pub fn foot(&self) -> Foot {
        let last = self.list.len().checked_sub(1);
        let foot =
            last.and_then(|last| self.list.get(last, |item| Foot::decode(item).expect("the last item is the foot")));
        foot.unwrap_or_default()
    }

    /// Returns the number of entries. O(log n).
    pub fn len(&self) -> u64 {
        self.foot().len
    }

    /// Returns true if it does not exist: a stream without entries may still exist. O(1).
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis.
    pub fn encoding(&self) -> &'static str {
        "stream"
    }

    /// Returns its heap memory in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        self.list.heap_bytes()
    }

    /// Returns its content in bytes. O(1).
    pub fn content_bytes(&self) -> u64 {
        self.list.content_bytes()
    }

    /// Returns the number of chunks. O(log n).
    pub fn chunks_count(&self) -> u64 {
        let chunks = self.chunks();
        chunks.end - chunks.start
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.list.shares_root_with(&other.list)
    }

    /// Returns the stored blocks.
    pub fn list(&self) -> &List {
        &self.list
    }

    /// Returns the first entry's id, if there is one. O(log n).
    pub fn first_id(&self) -> Option<StreamId> {
        let chunks = self.chunks();
        (!chunks.is_empty()).then(|| self.chunk_at(chunks.start, |chunk| chunk.first))
    }

    /// Returns the last entry's id, if there is one. O(log n).
    pub fn top_id(&self) -> Option<StreamId> {
        let chunks = self.chunks();
        (!chunks.is_empty()).then(|| self.chunk_at(chunks.end - 1, |chunk| chunk.last))
    }

    /// Returns true if there is an entry with this id. O(log n).
    pub fn contains(&self, id: StreamId) -> bool {
        self.walk(id, id, Direction::Forward, &mut |_, _| ControlFlow::Break(())).is_break()
    }

    /// Visits the entries between two ids, inclusive, until `visit` breaks; forward, in ascending order. O(log n +
    /// entries).
    pub fn walk(
        &self,
        from: StreamId,
        to: StreamId,
        direction: Direction,
        visit: &mut impl FnMut(StreamId, Fields<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let chunks = self.chunks_between(from, to);
        self.list.walk(chunks.start, chunks.end - chunks.start, direction, &mut |item: &[u8]| {
            let chunk = StreamChunk::of(item).expect("only chunks lie there");
            let mut within = chunk.iter().skip_while(|(id, _)| *id < from).take_while(|(id, _)| *id <= to);
            match direction {
                Direction::Forward => within.try_for_each(|(id, fields)| visit(id, fields)),
                Direction::Backward => {
                    let entries: Vec<_> = within.collect();
                    entries.into_iter().rev().try_for_each(|(id, fields)| visit(id, fields))
                }
            }
        })
    }

    /// Returns the number of entries between two ids, inclusive, up to `most`; reads two chunks, and the headers of
    /// those between them. `None` if that is more than `chunks_max` of them. O(log n + chunks).
    pub fn count_up_to(&self, from: StreamId, to: StreamId, most: u64, chunks_max: u64) -> Option<u64> {
        let is_all = self.first_id().is_none_or(|first| from <= first) && self.top_id().is_none_or(|top| to >= top);
        if is_all {
            return Some(self.len().min(most));
        }
        let chunks = self.chunks_between(from, to);
        let looked = chunks.start..chunks.end.min(chunks.start.saturating_add(chunks_max));
        let count = self.count_within(looked.clone(), from, to, most);
        (count >= most || looked == chunks).then_some(count.min(most))
    }

    /// Returns how many entries of some [`Stream::chunks_between`] two ids are between them. O(log n + chunks).
    pub fn count_in(&self, chunks: Range<u64>, from: StreamId, to: StreamId) -> u64 {
        self.count_within(chunks, from, to, u64::MAX)
    }

    fn count_within(&self, chunks: Range<u64>, from: StreamId, to: StreamId, most: u64) -> u64 {
        let mut count = 0;
        let _ = self.list.walk(chunks.start, chunks.end - chunks.start, Direction::Forward, &mut |item: &[u8]| {
            let chunk = StreamChunk::of(item).expect("only chunks lie there");
            let is_whole = from <= chunk.first && chunk.last <= to;
            count += match is_whole {
                true => chunk.entries,
                false => chunk.iter().filter(|(id, _)| (from..=to).contains(id)).count() as u64,
            };
            if count < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        count
    }

    /// Returns how many of the first entries `trim` removes. O(log n + chunks removed).
    pub fn trim_count(&self, trim: Trim) -> u64 {
        let len = self.len();
        if let Kept::Newest(most) = trim.kept
            && (len <= most || !trim.whole && trim.limit == 0)
        {
            return len.saturating_sub(most);
        }
        let chunks = self.chunks();
        let mut going = 0;
        let _ = self.list.walk(chunks.start, chunks.end - chunks.start, Direction::Forward, &mut |item: &[u8]| {
            let chunk = StreamChunk::of(item).expect("only chunks lie there");
            let left = len - going;
            let within = match trim.kept {
                Kept::Newest(most) => left.saturating_sub(most).min(chunk.entries),
                Kept::From(least) if chunk.last < least => chunk.entries,
                Kept::From(least) => chunk.iter().take_while(|(id, _)| *id < least).count() as u64,
            };
            if within == 0 || (trim.limit > 0 && going + chunk.entries > trim.limit) {
                return ControlFlow::Break(());
            }
            if within == chunk.entries {
                going += within;
                return ControlFlow::Continue(());
            }
            going += if trim.whole { 0 } else { within };
            ControlFlow::Break(())
        });
        going
    }

    /// Returns true if an entry of this size must open a new chunk, given the limits of entries and bytes per chunk; 0
    /// means no limit. O(log n).
    pub fn must_open(&self, entry_bytes: usize, entries_max: u64, bytes_max: u64) -> bool {
        let chunks = self.chunks();
        if chunks.is_empty() {
            return true;
        }
        let look = |item: &[u8]| {
            let chunk = StreamChunk::of(item).expect("only chunks lie there");
            let bytes = item.len() as u64 + entry_bytes as u64;
            (entries_max > 0 && chunk.entries + chunk.gone >= entries_max)
                || (bytes_max > 0 && bytes >= bytes_max)
                || bytes >= CHUNK_BYTES_MAX as u64
        };
        self.list.get(chunks.end - 1, look).expect("a chunk is there")
    }

    /// Returns the position of the item with this key, or its insertion point.
    fn point(&self, key: &Key) -> u64 {
        self.list.guided_point(0..self.list.len(), key.guide(), |item| key.is_behind(item))
    }

    /// Returns the positions of items that begin with this key.
    fn range(&self, key: impl Fn() -> Key) -> Range<u64> {
        self.point(&key())..self.point(&key().behind())
    }

    /// Returns the positions of the chunks.
    fn chunks(&self) -> Range<u64> {
        let end = self.list.len().saturating_sub(1);
        // Usually there are no groups, and nothing precedes the chunks.
        let starts = self.list.get(0, |item| item[0] >= CHUNK) != Some(false);
        let start = if starts { 0 } else { self.point(&Key::tag(CHUNK)) };
        start.min(end)..end
    }

    /// Returns the chunks that may have entries between two ids. O(log n).
    pub fn chunks_between(&self, from: StreamId, to: StreamId) -> Range<u64> {
        let chunks = self.chunks();
        if from > to || chunks.is_empty() {
            return chunks.start..chunks.start;
        }
        let start = self.chunk_of(&chunks, from).unwrap_or(chunks.start);
        let end = self.chunk_of(&chunks, to).map_or(start, |last| last + 1);
        start..end.max(start)
    }

    /// Returns the chunk that has the entry with this id, if any.
    fn chunk_of(&self, chunks: &Range<u64>, id: StreamId) -> Option<u64> {
        let behind = match id.next() {
            Some(next) => {
                let key = Key::tag(CHUNK).id(next);
                self.list.partition_point_within(chunks.clone(), |item| key.is_behind(item))
            }
            None => chunks.end,
        };
        behind.checked_sub(1).filter(|at| *at >= chunks.start)
    }

    fn chunk_at<R>(&self, at: u64, look: impl FnOnce(StreamChunk<'_>) -> R) -> R {
        let look = |item: &[u8]| look(StreamChunk::of(item).expect("only chunks lie there"));
        self.list.get(at, look).expect("a chunk is there")
    }
}

// ---- changes ----

impl Stream {
    /// Adds an entry with an id above all others; `fields` alternates names and values; `opens` a new chunk. O(log n).
    pub fn add(&mut self, id: StreamId, fields: &[&[u8]], opens: bool) {
        assert!(!fields.is_empty() && fields.len().is_multiple_of(2));
        let mut foot = self.foot();
        assert!(id > foot.last_id);
        if self.list.is_empty() {
            self.list.push(End::Tail, &foot.encode());
        }
        let last = self.list.len() - 1;
        (foot.len, foot.last_id, foot.added) = (foot.len + 1, id, foot.added.saturating_add(1));
        let with = |item: &[u8]| StreamChunk::of(item).filter(|_| !opens).map(|chunk| chunk.with(id, fields));
        let before = last.checked_sub(1);
        if let Some((at, chunk)) = before.and_then(|at| Some((at, self.list.get(at, with)??))) {
            self.list.set(at, &chunk);
            self.list.set(last, &foot.encode());
        } else {
            self.list.set(last, &StreamChunk::alone(id, fields));
            self.list.push(End::Tail, &foot.encode());
        }
    }

    /// Removes an entry. Returns true if it existed. O(log n).
    pub fn delete(&mut self, id: StreamId) -> bool {
        let chunks = self.chunks();
        let Some(at) = self.chunk_of(&chunks, id) else { return false };
        let without = self.chunk_at(at, |chunk| {
            let is_there = chunk.iter().any(|(other, _)| other == id);
            is_there.then(|| chunk.without(|other| other == id))
        });
        let Some(without) = without else { return false };
        self.exchange_chunk(at, without);
        self.change_foot(|foot| {
            foot.len -= 1;
            foot.deleted_id = foot.deleted_id.max(id);
        });
        true
    }

    /// Removes the first `count` entries, which must exist, and returns the removed items. O(log n + chunks removed or
    /// kept).
    pub fn trim(&mut self, count: u64) -> List {
        assert!(count <= self.len());
        let chunks = self.chunks();
        let (whole, left) = self.first_chunks(&chunks, count);
        let cut = self.cut(chunks.start..chunks.start + whole);
        if left > 0 {
            let rest = self.chunk_at(chunks.start, |chunk| {
                let mut nth = 0;
                chunk.without(|_| {
                    nth += 1;
                    nth <= left
                })
            });
            self.exchange_chunk(chunks.start, rest);
        }
        self.change_foot(|foot| foot.len -= count);
        cut
    }

    /// Returns how many whole chunks the first `count` entries fill, and how many entries of the next one they include.
    fn first_chunks(&self, chunks: &Range<u64>, count: u64) -> (u64, u64) {
        let kept = self.len() - count;
        let (direction, mut left) = match kept < count {
            true => (Direction::Backward, kept),
            false => (Direction::Forward, count),
        };
        let (mut whole, mut next) = (0, 0);
        let _ = self.list.walk(chunks.start, chunks.end - chunks.start, direction, &mut |item: &[u8]| {
            next = StreamChunk::of(item).expect("only chunks lie there").entries;
            if next > left {
                return ControlFlow::Break(());
            }
            (whole, left) = (whole + 1, left - next);
            ControlFlow::Continue(())
        });
        match direction {
            Direction::Forward => (whole, left),
            Direction::Backward if left == 0 => (chunks.end - chunks.start - whole, 0),
            Direction::Backward => (chunks.end - chunks.start - whole - 1, next - left),
        }
    }

    /// Sets the foot except for the number of entries; creates the stream if needed.
    pub fn set(&mut self, last_id: StreamId, deleted_id: StreamId, added: u64) {
        if self.list.is_empty() {
            self.list.push(End::Tail, &Foot::default().encode());
        }
        self.change_foot(|foot| *foot = Foot { len: foot.len, last_id, deleted_id, added });
    }

    fn change_foot(&mut self, change: impl FnOnce(&mut Foot)) {
        let mut foot = self.foot();
        change(&mut foot);
        self.list.set(self.list.len() - 1, &foot.encode());
    }

    fn exchange_chunk(&mut self, at: u64, chunk: Option<Vec<u8>>) {
        match chunk {
            Some(chunk) => self.list.set(at, &chunk),
            None => self.list.remove(at),
        }
    }

    /// Removes items and returns them. O(log n).
    fn cut(&mut self, range: Range<u64>) -> List {
        if range.is_empty() {
            return List::new();
        }
        let mut cut = self.list.split_off(range.start);
        let rest = cut.split_off(range.end - range.start);
        self.list.append(rest);
        cut
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Stream({} entries, {} bytes)", self.len(), self.heap_bytes())
    }
}
