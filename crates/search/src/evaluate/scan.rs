//! All rows that match a query, chunk by chunk.

use super::bitmap::Bitmap;
use super::direct::{Instant, matches};
use super::plan::{Context, Cursor, Node, Plan};
use crate::definition::Language;
use crate::index::{CHUNK_ROWS, Index, Record, RowNumber, Space, place, row_at, term_key};
use crate::query::Query;
use base::Ms;
use std::ops::ControlFlow;

/// The work of looking at a row directly, and that of a row's record on the way through a chunk.
const DIRECT_WORK: u64 = 20;
const RECORD_WORK: u64 = 3;
const CHUNK_WORK: u64 = 4;
/// From this share of a chunk's rows on, records are read in a row instead of one by one.
const DENSE_DIVISOR: u64 = 16;

/// A scan in progress.
pub struct Scan {
    index: Index,
    query: Query,
    instant: Instant,
    plan: Plan,
    /// Collections that are complete.
    collected: usize,
    /// Rows of which something is due, ascending.
    due: Vec<RowNumber>,
    /// The next chunk to look at.
    from: u32,
    all_rows: Option<Cursor>,
}

/// What a step of a scan came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStep {
    /// There is more.
    More,
    /// All rows are seen.
    Done,
}

/// A chunk of matching rows.
pub(crate) enum ChunkStep {
    More,
    Rows(u32, Box<Bitmap>),
    Done,
}

/// A row that matches.
pub struct ScannedRow<'a> {
    record: &'a Record<'a>,
    now: Ms,
}

impl<'a> ScannedRow<'a> {
    /// Returns its key.
    pub fn key(&self) -> &'a [u8] {
        self.record.key
    }

    /// Returns the raw values of its fields in order, `None` where it has none or it expired.
    pub fn values(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let now = self.now;
        let is_live = move |at_ms: Option<Ms>| at_ms.is_none_or(|at_ms| at_ms > now);
        self.record
            .fields()
            .map(move |field| field.filter(|field| is_live(field.expires_at_ms)).map(|field| field.value))
    }
}

impl Scan {
    /// Begins a scan. `language` is that of the query's words. O(nodes x log n + due rows).
    pub fn new(index: Index, query: Query, now: Ms, language: Language) -> Self {
        let instant = Instant { now, language };
        let plan = Plan::of(&index, &query, instant);
        let due = index.due_rows(now);
        let all_rows = all_rows(&index);
        Self { index, query, instant, plan, collected: 0, due, from: 0, all_rows }
    }

    /// Returns its index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the time that it masks expired rows for.
    pub(crate) fn now(&self) -> Ms {
        self.instant.now
    }

    /// Returns the number of matching rows where it is known without a scan: of all rows, or of one term.
    pub(crate) fn known_count(&self) -> Option<u64> {
        if !self.due.is_empty() {
            return None;
        }
        match &self.plan.root {
            Node::All => Some(self.index.len()),
            Node::Nothing => Some(0),
            Node::Postings(cursor) => Some(self.index.postings.count(cursor.items.clone())),
            _ => None,
        }
    }

    /// Returns true if every live row matches and nothing is due.
    pub(crate) fn is_everything(&self) -> bool {
        self.due.is_empty() && matches!(self.plan.root, Node::All)
    }

    /// Passes matching rows to `visit` until it breaks or the work is done. Rows come in the order of their numbers.
    pub fn step(&mut self, work: &mut u64, mut visit: impl FnMut(&ScannedRow<'_>) -> ControlFlow<()>) -> ScanStep {
        let (chunk, rows) = match self.next_chunk(work) {
            ChunkStep::More => return ScanStep::More,
            ChunkStep::Done => return ScanStep::Done,
            ChunkStep::Rows(chunk, rows) => (chunk, rows),
        };
        let (count, now) = (rows.count(), self.instant.now);
        *work = work.saturating_sub(count * RECORD_WORK);
        if count * DENSE_DIVISOR < u64::from(CHUNK_ROWS) {
            for place in rows.places() {
                let look = |record: &Record<'_>| visit(&ScannedRow { record, now });
                if self.index.record(row_at(chunk, place), look).is_some_and(|flow| flow.is_break()) {
                    return ScanStep::Done;
                }
            }
            return ScanStep::More;
        }
        let (mut at, mut is_over) = (0, false);
        self.index.walk_rows(row_at(chunk, 0), u64::from(CHUNK_ROWS), |record| {
            let is_in = rows.contains(at);
            at += 1;
            match record {
                Some(record) if is_in => {
                    let flow = visit(&ScannedRow { record, now });
                    is_over = flow.is_break();
                    flow
                }
                _ => ControlFlow::Continue(()),
            }
        });
        if is_over { ScanStep::Done } else { ScanStep::More }
    }

    /// Returns the next chunk with matching rows.
    pub(crate) fn next_chunk(&mut self, work: &mut u64) -> ChunkStep {
        while let Some(collection) = self.plan.collections.get_mut(self.collected) {
            if !collection.step(&self.index, self.instant.now, work) {
                return ChunkStep::More;
            }
            self.collected += 1;
        }
        let chunks = self.chunks();
        while *work > 0 {
            let due_chunk = self.next_due_chunk();
            let Plan { root, collections } = &mut self.plan;
            let context = Context { index: &self.index, sets: collections, instant: self.instant };
            let next = root.next_chunk(&context, self.from).filter(|chunk| *chunk < chunks);
            let Some(chunk) = next.into_iter().chain(due_chunk).min() else { return ChunkStep::Done };
            *work = work.saturating_sub(CHUNK_WORK);
            self.from = chunk + 1;
            let mut rows = self.all_rows_of(chunk);
            self.due_of(chunk).iter().for_each(|row| rows.remove(place(*row).1));
            let Plan { root, collections } = &mut self.plan;
            let context = Context { index: &self.index, sets: collections, instant: self.instant };
            root.restrict(&context, chunk, &mut rows, work);
            for row in self.due_of(chunk) {
                *work = work.saturating_sub(DIRECT_WORK);
                let fits = |record: &Record<'_>| matches(&self.index.definition, &self.query, record, self.instant);
                if self.index.record(*row, fits) == Some(true) {
                    rows.insert(place(*row).1);
                }
            }
            if !rows.is_empty() {
                return ChunkStep::Rows(chunk, Box::new(rows));
            }
        }
        ChunkStep::More
    }

    /// Returns all rows of a chunk, due or not. Chunks never go back.
    pub(crate) fn all_rows_of(&mut self, chunk: u32) -> Bitmap {
        let all = self.all_rows.as_mut().and_then(|cursor| cursor.chunk_from(&self.index, chunk));
        all.filter(|(at, _)| *at == chunk).map_or(Bitmap::EMPTY, |(_, rows)| (**rows).clone())
    }

    /// Returns the number of chunks.
    pub(crate) fn chunks(&self) -> u32 {
        self.index.row_numbers().div_ceil(u64::from(CHUNK_ROWS)) as u32
    }

    /// Returns true if something of a row is due.
    pub(crate) fn has_due_rows(&self) -> bool {
        !self.due.is_empty()
    }

    /// Returns its heap bytes, or somewhat more.
    pub fn heap_bytes(&self) -> usize {
        let collections = self.plan.collections.iter().map(|collection| collection.rows.heap_bytes_max());
        collections.sum::<usize>() + self.due.capacity() * size_of::<RowNumber>()
    }

    fn next_due_chunk(&self) -> Option<u32> {
        let at = self.due.partition_point(|row| place(*row).0 < self.from);
        self.due.get(at).map(|row| place(*row).0)
    }

    fn due_of(&self, chunk: u32) -> &[RowNumber] {
        let begin = self.due.partition_point(|row| place(*row).0 < chunk);
        let end = self.due.partition_point(|row| place(*row).0 <= chunk);
        &self.due[begin..end]
    }
}

fn all_rows(index: &Index) -> Option<Cursor> {
    let term = index.dictionary.number(&term_key(Space::ALL_ROWS, b""))?;
    Some(Cursor::new(term, index.postings.items_of(term)))
}
