//! A set of rows of one chunk, and sets of rows of many.

use crate::index::{CHUNK_ROWS, RowNumber, place, row_at};

/// Words of a chunk's bits.
const WORDS: usize = CHUNK_ROWS as usize / 64;

/// Rows of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bitmap {
    pub(crate) words: [u64; WORDS],
}

impl Bitmap {
    pub(crate) const EMPTY: Self = Self { words: [0; WORDS] };
    pub(crate) const FULL: Self = Self { words: [u64::MAX; WORDS] };

    pub(crate) fn clear(&mut self) {
        self.words = [0; WORDS];
    }

    pub(crate) fn insert(&mut self, place: u16) {
        self.words[usize::from(place / 64)] |= 1 << (place % 64);
    }

    pub(crate) fn remove(&mut self, place: u16) {
        self.words[usize::from(place / 64)] &= !(1 << (place % 64));
    }

    pub(crate) fn contains(&self, place: u16) -> bool {
        self.words[usize::from(place / 64)] & 1 << (place % 64) != 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    pub(crate) fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(crate) fn intersect(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn unite(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Keeps the rows that are in another set too; no set is an empty one.
    pub(crate) fn keep(&mut self, other: Option<&Self>) {
        match other {
            Some(other) => self.intersect(other),
            None => self.clear(),
        }
    }

    /// Returns the first place in it from `from` on. O(words).
    pub(crate) fn next_place(&self, from: u16) -> Option<u16> {
        let at = usize::from(from / 64);
        let first = self.words.get(at)? & (u64::MAX << (from % 64));
        let rest = self.words[at + 1..].iter().copied();
        let mut words = std::iter::once(first).chain(rest).zip(at..);
        words.find(|(word, _)| *word != 0).map(|(word, at)| at as u16 * 64 + word.trailing_zeros() as u16)
    }

    /// Returns the places in it, ascending. O(words + places).
    pub(crate) fn places(&self) -> impl Iterator<Item = u16> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at as u16 * 64 + bit as u16)
            })
        })
    }
}

/// Rows of a chunk that are yet to be looked at: a step may leave them half way.
#[derive(Clone, Debug)]
pub(crate) struct RemainingRows {
    pub(crate) chunk: u32,
    pub(crate) rows: Bitmap,
    /// The place from which on they remain.
    pub(crate) from: u16,
}

impl RemainingRows {
    pub(crate) const NONE: Self = Self { chunk: 0, rows: Bitmap::EMPTY, from: 0 };

    pub(crate) fn of(chunk: u32, rows: Bitmap) -> Self {
        Self { chunk, rows, from: 0 }
    }
}

impl Iterator for RemainingRows {
    type Item = RowNumber;

    fn next(&mut self) -> Option<RowNumber> {
        let place = self.rows.next_place(self.from)?;
        self.from = place + 1;
        Some(row_at(self.chunk, place))
    }
}

/// Rows of an index.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSet {
    /// By chunk; `None` where there is no row.
    chunks: Vec<Option<Box<Bitmap>>>,
}

impl RowSet {
    /// Adds a row. O(1) amortised.
    pub(crate) fn insert(&mut self, row: RowNumber) {
        let (chunk, place) = place(row);
        self.chunk_mut(chunk).insert(place);
    }

    /// Returns the rows of a chunk, to be changed. O(1) amortised.
    pub(crate) fn chunk_mut(&mut self, chunk: u32) -> &mut Bitmap {
        let at = chunk as usize;
        if at >= self.chunks.len() {
            self.chunks.resize(at + 1, None);
        }
        self.chunks[at].get_or_insert_with(|| Box::new(Bitmap::EMPTY))
    }

    /// Returns the rows of a chunk. O(1).
    pub(crate) fn chunk(&self, chunk: u32) -> Option<&Bitmap> {
        self.chunks.get(chunk as usize)?.as_deref()
    }

    /// Returns true if no row was added. O(1).
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns true if it has this row. O(1).
    pub(crate) fn contains(&self, row: RowNumber) -> bool {
        let (chunk, place) = place(row);
        self.chunk(chunk).is_some_and(|rows| rows.contains(place))
    }

    /// Returns the first chunk from `from` on with rows. O(chunks passed).
    pub(crate) fn next_chunk(&self, from: u32) -> Option<u32> {
        let rest = self.chunks.get(from as usize..)?;
        rest.iter().position(Option::is_some).map(|at| from + at as u32)
    }

    /// Returns a bound of its heap bytes. O(1).
    pub(crate) fn heap_bytes_max(&self) -> usize {
        self.chunks.capacity() * (size_of::<usize>() + size_of::<Bitmap>())
    }
}
