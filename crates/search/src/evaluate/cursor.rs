//! The items of a term, read chunk by chunk.
//!
//! ```text
//!   items     chunk 5 | chunk 6 | chunk 7 | chunk 9 | ...
//!             seen      ahead: copies       positions yet to be read
//! ```
//!
//! To find an item, and to open the block that it lies in, costs more than to read it. So while items are taken one after
//! another, each reading copies twice as many as the one before; it looks for one item again once some are skipped.

use super::bitmap::Bitmap;
use super::leaf::Context;
use super::work::{CHUNK_WORK, Work};
use crate::index::{Index, Rows, TermNumber};
use std::ops::{ControlFlow, Range};

/// Items that are read ahead, and the bytes of them that end a reading.
const AHEAD_MAX: u64 = 128;
const AHEAD_BYTES: usize = 2_048;

/// The items of a term, and how far they were read.
pub(crate) struct Cursor {
    pub(crate) term: TermNumber,
    /// The field that the term is of, unless it is of none or says that there is no field.
    pub(crate) field: Option<usize>,
    /// Positions of the items that are yet to be read.
    pub(crate) items: Range<u64>,
    /// The chunk last looked at, with its rows.
    seen: Option<(u32, Box<Bitmap>)>,
    ahead: Ahead,
    /// Items that the next reading copies; one is looked for.
    reading: u64,
}

/// Copies of items.
#[derive(Default)]
struct Ahead {
    /// The chunk of each, and the end of its rows.
    items: Vec<(u32, usize)>,
    rows: Vec<u8>,
    /// Items passed.
    passed: usize,
}

impl Ahead {
    /// Passes items before the chunk `from`, and one more, which it returns.
    fn next_from(&mut self, from: u32) -> Option<(u32, Rows<'_>)> {
        self.passed += self.items[self.passed..].iter().take_while(|(chunk, _)| *chunk < from).count();
        let (chunk, end) = *self.items.get(self.passed)?;
        let begin = self.passed.checked_sub(1).map_or(0, |before| self.items[before].1);
        self.passed += 1;
        Some((chunk, Rows(&self.rows[begin..end])))
    }

    fn read(&mut self, index: &Index, range: Range<u64>) {
        self.passed = 0;
        self.items.clear();
        self.rows.clear();
        index.postings.walk(range, |chunk, Rows(rows)| {
            self.rows.extend_from_slice(rows);
            self.items.push((chunk, self.rows.len()));
            if self.rows.len() < AHEAD_BYTES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
}

impl Cursor {
    /// A bound of the heap bytes of one.
    pub(crate) const HEAP_BYTES_MAX: usize =
        size_of::<Bitmap>() + 2 * (AHEAD_BYTES + size_of::<Bitmap>() + AHEAD_MAX as usize * size_of::<(u32, usize)>());

    pub(crate) fn new(field: Option<usize>, term: TermNumber, items: Range<u64>) -> Self {
        Self { term, field, items, seen: None, ahead: Ahead::default(), reading: 1 }
    }

    /// Keeps those of a chunk's rows that have the term.
    pub(crate) fn restrict(&mut self, context: &Context<'_>, chunk: u32, rows: &mut Bitmap, work: &mut Work) {
        match self.chunk_from(context.index, chunk, work) {
            Some((at, own)) if *at == chunk => rows.intersect(own),
            _ => rows.clear(),
        }
        let expired = self.field.and_then(|field| context.expired.of_field(field)?.chunk(chunk));
        if let Some(expired) = expired {
            rows.subtract(expired);
        }
    }

    /// Returns the first chunk from `from` on, with its rows. Chunks never go back.
    pub(crate) fn chunk_from(&mut self, index: &Index, from: u32, work: &mut Work) -> Option<&(u32, Box<Bitmap>)> {
        if self.seen.as_ref().is_none_or(|(chunk, _)| *chunk < from) {
            work.spend(1);
            let mut rows = self.seen.take().map_or_else(|| Box::new(Bitmap::EMPTY), |(_, rows)| rows);
            let chunk = self.look(index, from, &mut rows, work);
            self.seen = chunk.map(|chunk| (chunk, rows));
        }
        self.seen.as_ref()
    }

    fn look(&mut self, index: &Index, from: u32, rows: &mut Bitmap, work: &mut Work) -> Option<u32> {
        loop {
            if let Some((chunk, own)) = self.ahead.next_from(from) {
                rows.clear();
                own.add_to(rows);
                return Some(chunk);
            }
            if self.items.is_empty() {
                return None;
            }
            work.spend(CHUNK_WORK);
            if self.reading == 1 {
                let (at, chunk) = index.postings.look(self.items.clone(), self.term, from, rows);
                let is_next = at == self.items.start;
                self.reading += u64::from(is_next);
                self.items.start = self.items.end.min(at + 1);
                return chunk;
            }
            let count = self.reading.min(self.items.end - self.items.start);
            self.ahead.read(index, self.items.start..self.items.start + count);
            self.items.start += self.ahead.items.len() as u64;
            let is_skipped = self.ahead.items.last().is_none_or(|(chunk, _)| *chunk < from);
            self.reading = if is_skipped { 1 } else { AHEAD_MAX.min(2 * self.reading) };
        }
    }
}
