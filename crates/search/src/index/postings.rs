//! The rows of each term, in chunks of 4,096 rows.
//!
//! ```text
//! item        | number of the term : u32 | chunk : 3 bytes | rows |       big-endian, in this order
//!
//! rows        | row : u16 | row : u16 | ...      up to 255 of them, ascending, within the chunk
//!             | bit | bit | ...                  512 bytes: a bit for each row, from 256 on
//! ```
//!
//! So a rare term costs some bytes a row, a frequent one at most a bit for each row of the index, and two frequent ones
//! are intersected a word at a time. Chunks without a row have no item.

use super::dictionary::TermNumber;
use crate::evaluate::Bitmap;
use blocks::{BlockList, Digest, Direction, Guide, Summary};
use std::ops::{ControlFlow, Range};

/// Rows of a chunk.
pub(crate) const CHUNK_ROWS: u32 = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 12;
const HEAD_BYTES: usize = 7;
const BITMAP_BYTES: usize = CHUNK_ROWS as usize / 8;

/// The number of a row.
pub type RowNumber = u32;

/// The rows of all terms.
#[derive(Clone, Default)]
pub(crate) struct Postings {
    items: BlockList,
    rows_count: u64,
}

/// Returns the chunk of a row, and its place there.
pub(crate) fn place(row: RowNumber) -> (u32, u16) {
    (row >> CHUNK_BITS, (row & (CHUNK_ROWS - 1)) as u16)
}

/// Returns the row at a place.
pub(crate) fn row_at(chunk: u32, place: u16) -> RowNumber {
    chunk << CHUNK_BITS | u32::from(place)
}

impl Postings {
    /// Returns the number of items. O(1).
    pub(crate) fn len(&self) -> u64 {
        self.items.len()
    }

    /// Returns the number of pairs of a term and a row. O(1).
    pub(crate) fn rows_count(&self) -> u64 {
        self.rows_count
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.items.heap_bytes()
    }

    /// Returns the positions of a term's items. O(log n).
    pub(crate) fn items_of(&self, term: TermNumber) -> Range<u64> {
        let begin = self.point(term, 0);
        let end = term.checked_add(1).map_or(self.items.len(), |next| self.point(next, 0));
        begin..end
    }

    /// Adds rows of a chunk to a term (true) or removes them, each at most once; returns true if the last one of the
    /// chunk was removed. O(log n + changes x rows of the chunk).
    pub(crate) fn change(
        &mut self,
        term: TermNumber,
        chunk: u32,
        places: impl IntoIterator<Item = (u16, bool)>,
    ) -> bool {
        let (at, old) = self.rows(term, chunk);
        let mut rows = old.clone().unwrap_or_default();
        for (place, is_added) in places {
            rows = if is_added { with(rows, place) } else { without(rows, place) };
        }
        self.rows_count += Rows(&rows).count();
        self.rows_count -= old.as_deref().map_or(0, |old| Rows(old).count());
        let is_emptied = old.is_some() && rows.is_empty();
        match (old, rows.is_empty()) {
            (None, true) => {}
            (None, false) => self.items.insert(at, &item(term, chunk, &rows)),
            (Some(_), true) => self.items.remove(at),
            (Some(old), false) if old == rows => {}
            (Some(_), false) => self.items.set(at, &item(term, chunk, &rows)),
        }
        is_emptied
    }

    /// Returns the position of the first item of `within` whose chunk is `chunk` or a later one, and its chunk, with
    /// its rows in `rows`; `None` if there is none. O(log n).
    pub(crate) fn look(
        &self,
        within: Range<u64>,
        term: TermNumber,
        chunk: u32,
        rows: &mut Bitmap,
    ) -> (u64, Option<u32>) {
        let key = number(term, chunk);
        self.items.guided_look(within, guide(key), |item| number_in(item) < key, |item| read(item, rows))
    }

    /// Returns the chunk of the item at this position, and its rows in `rows`. O(log n).
    pub(crate) fn read(&self, at: u64, rows: &mut Bitmap) -> u32 {
        self.items.get(at, |item| read(item, rows)).expect("the caller knows the positions")
    }

    /// Passes items to `visit`: chunk and rows, until it breaks. O(log n + items).
    pub(crate) fn walk(&self, range: Range<u64>, mut visit: impl FnMut(u32, Rows<'_>) -> ControlFlow<()>) {
        let _ = self.items.walk(range.start, range.end - range.start, Direction::Forward, &mut |item: &[u8]| {
            visit(chunk_in(item), Rows(&item[HEAD_BYTES..]))
        });
    }

    /// Returns the number of rows in items. O(log n + items changed or not yet counted).
    pub(crate) fn count(&self, range: Range<u64>) -> u64 {
        let mut count = Count(0);
        let _ = self.items.summarize(&RowCounts, range, Direction::Forward, &mut count);
        count.0
    }

    fn point(&self, term: TermNumber, chunk: u32) -> u64 {
        let key = number(term, chunk);
        self.items.guided_point(0..self.items.len(), guide(key), |item| number_in(item) < key)
    }

    fn rows(&self, term: TermNumber, chunk: u32) -> (u64, Option<Vec<u8>>) {
        let key = number(term, chunk);
        let (at, rows) = self.items.guided_look(
            0..self.items.len(),
            guide(key),
            |item| number_in(item) < key,
            |item| (number_in(item) == key).then(|| item[HEAD_BYTES..].to_vec()),
        );
        (at, rows.flatten())
    }
}

/// The rows of an item.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a>(pub(crate) &'a [u8]);

impl Rows<'_> {
    /// Adds them to a bitmap.
    pub(crate) fn add_to(self, rows: &mut Bitmap) {
        if self.0.len() == BITMAP_BYTES {
            let words = self.0.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
            rows.words.iter_mut().zip(words).for_each(|(to, word)| *to |= word);
        } else {
            self.0.chunks_exact(2).for_each(|place| rows.insert(u16::from_be_bytes([place[0], place[1]])));
        }
    }

    /// Passes their places to `visit`, ascending. O(rows), or O(rows of a chunk).
    pub(crate) fn for_each(self, mut visit: impl FnMut(u16)) {
        if self.0.len() == BITMAP_BYTES {
            let is_set = |place: &u16| self.0[usize::from(place / 8)] & 1 << (place % 8) != 0;
            return (0..CHUNK_ROWS as u16).filter(is_set).for_each(visit);
        }
        self.0.chunks_exact(2).for_each(|place| visit(u16::from_be_bytes([place[0], place[1]])));
    }

    /// Returns how many they are.
    pub(crate) fn count(self) -> u64 {
        if self.0.len() < BITMAP_BYTES {
            return self.0.len() as u64 / 2;
        }
        self.0
            .chunks_exact(8)
            .map(|word| u64::from(u64::from_le_bytes(word.try_into().expect("eight bytes")).count_ones()))
            .sum()
    }
}

fn read(item: &[u8], rows: &mut Bitmap) -> u32 {
    rows.clear();
    Rows(&item[HEAD_BYTES..]).add_to(rows);
    chunk_in(item)
}

/// Counts rows.
struct RowCounts;

impl Digest for RowCounts {
    fn id(&self) -> u64 {
        1
    }

    fn words_count(&self) -> usize {
        1
    }

    fn add(&self, item: &[u8], words: &mut [u64]) {
        words[0] += Rows(&item[HEAD_BYTES..]).count();
    }

    fn join(&self, words: &mut [u64], more: &[u64]) {
        words[0] += more[0];
    }
}

struct Count(u64);

impl Summary for Count {
    fn passes(&mut self, words: &[u64], _: u64) -> bool {
        self.0 += words[0];
        true
    }

    fn item(&mut self, _: u64, item: &[u8]) -> ControlFlow<()> {
        self.0 += Rows(&item[HEAD_BYTES..]).count();
        ControlFlow::Continue(())
    }
}

/// Returns rows with one more.
fn with(mut rows: Vec<u8>, place: u16) -> Vec<u8> {
    if rows.len() == BITMAP_BYTES {
        rows[usize::from(place / 8)] |= 1 << (place % 8);
        return rows;
    }
    let Err(at) = position(&rows, place) else { return rows };
    if rows.len() + 2 == BITMAP_BYTES {
        let mut bits = vec![0; BITMAP_BYTES];
        let places = rows.chunks_exact(2).map(|place| u16::from_be_bytes([place[0], place[1]]));
        places.chain([place]).for_each(|place| bits[usize::from(place / 8)] |= 1 << (place % 8));
        return bits;
    }
    rows.splice(2 * at..2 * at, place.to_be_bytes());
    rows
}

/// Returns rows without one.
fn without(mut rows: Vec<u8>, place: u16) -> Vec<u8> {
    if rows.len() < BITMAP_BYTES {
        if let Ok(at) = position(&rows, place) {
            rows.drain(2 * at..2 * at + 2);
        }
        return rows;
    }
    rows[usize::from(place / 8)] &= !(1 << (place % 8));
    if Rows(&rows).count() * 2 >= BITMAP_BYTES as u64 {
        return rows;
    }
    let mut places = Vec::with_capacity(BITMAP_BYTES);
    Rows(&rows).for_each(|place| places.extend_from_slice(&place.to_be_bytes()));
    places
}

fn position(rows: &[u8], place: u16) -> Result<usize, usize> {
    rows.as_chunks::<2>().0.binary_search_by_key(&place, |bytes| u16::from_be_bytes(*bytes))
}

fn item(term: TermNumber, chunk: u32, rows: &[u8]) -> Vec<u8> {
    [&term.to_be_bytes(), &chunk.to_be_bytes()[1..], rows].concat()
}

fn number(term: TermNumber, chunk: u32) -> u64 {
    u64::from(term) << 24 | u64::from(chunk)
}

fn number_in(item: &[u8]) -> u64 {
    // An item has rows, so it is longer than its head.
    u64::from_be_bytes(*item.first_chunk().expect("a head and a row have nine bytes")) >> 8
}

fn chunk_in(item: &[u8]) -> u32 {
    u32::from_be_bytes([0, item[4], item[5], item[6]])
}

fn guide(key: u64) -> Guide {
    Guide { key, key_of: number_in, is_even: false }
}
