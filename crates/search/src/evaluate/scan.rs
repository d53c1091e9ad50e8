//! All rows that match a query, chunk by chunk.

use super::bitmap::{Bitmap, RemainingRows};
use super::chunk::ChunkSearch;
use super::cursor::Cursor;
use super::expired::Expired;
use super::leaf::Context;
use super::plan::{Node, Plan};
use super::planner::Planner;
use super::work::{CHUNK_WORK, RECORD_WORK, Work};
use crate::definition::Language;
use crate::index::{CHUNK_ROWS, Index, Record, RecordField, Space, TermNumber, is_due, row_at, term_key};
use crate::query::Query;
use base::Ms;
use std::ops::ControlFlow;

/// Chunks of postings that are counted per unit of work.
const COUNTED_PER_WORK: u64 = 4;
/// From this share of a chunk's rows on, records are read in a row instead of one by one.
const DENSE_DIVISOR: u64 = 16;

/// A scan in progress.
pub struct Scan {
    index: Index,
    now: Ms,
    expired: Expired,
    stage: ScanStage,
    /// The next chunk to look at.
    from: u32,
    all_rows: Option<Cursor>,
    /// The chunk that is looked at.
    chunk: Option<ChunkSearch>,
    /// Matching rows that are yet to be visited.
    remaining: RemainingRows,
}

enum ScanStage {
    CollectingExpired(Planner),
    Planning(Planner),
    Planned(Plan),
}

/// The state of a scan after a step.
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

/// A row, its fields as they are at a time.
pub struct ScannedRow<'a> {
    record: &'a Record<'a>,
    now: Ms,
}

impl<'a> ScannedRow<'a> {
    pub(crate) fn new(record: &'a Record<'a>, now: Ms) -> Self {
        Self { record, now }
    }

    /// Returns its key.
    pub fn key(&self) -> &'a [u8] {
        self.record.key
    }

    /// Returns the raw values of its fields in order, `None` where it has none or it expired.
    pub fn values(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let now = self.now;
        let live = move |field: Option<RecordField<'a>>| {
            field.filter(|field| !is_due(field.expires_at_ms, now)).map(|field| field.value)
        };
        self.record.fields().map(live)
    }
}

impl Scan {
    /// Begins a scan. `language` is that of the query's words. O(parts of the query), little for each.
    pub fn new(index: Index, query: Query, now: Ms, language: Language) -> Self {
        Self::of_keys(index, query, now, language, None)
    }

    /// Begins a scan of the rows with these keys, or of all.
    pub(crate) fn of_keys(
        index: Index,
        query: Query,
        now: Ms,
        language: Language,
        keys: Option<Vec<Box<[u8]>>>,
    ) -> Self {
        let stage = ScanStage::CollectingExpired(Planner::new(query, language, keys));
        let all_rows = all_rows(&index);
        let (expired, remaining) = (Expired::default(), RemainingRows::NONE);
        Self { index, now, expired, stage, from: 0, all_rows, chunk: None, remaining }
    }

    /// Returns its index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the time that it masks expired rows for.
    pub(crate) fn now(&self) -> Ms {
        self.now
    }

    /// Collects what expired, and plans; returns true once that is done.
    pub(crate) fn prepare(&mut self, work: &mut Work) -> bool {
        let Self { index, now, expired, stage, .. } = self;
        if let ScanStage::CollectingExpired(planner) = stage {
            if !expired.step(index, *now, work) {
                return false;
            }
            let none = Planner::new(Query::Nothing, Language::English, None);
            *stage = ScanStage::Planning(std::mem::replace(planner, none));
        }
        if let ScanStage::Planning(planner) = stage {
            let context = Context { index, expired, now: *now };
            let Some(plan) = planner.step(&context, work) else { return false };
            *stage = ScanStage::Planned(plan);
        }
        true
    }

    fn root(&self) -> Option<&Node> {
        match &self.stage {
            ScanStage::Planned(plan) => Some(plan.node(plan.root)),
            _ => None,
        }
    }

    /// Returns the number of matching rows where a prepared scan knows it: of all rows, or of one term.
    pub(crate) fn known_count(&self, work: &mut Work) -> Option<u64> {
        if self.has_expired() {
            return None;
        }
        match self.root()? {
            Node::All => Some(self.index.len()),
            Node::Nothing => Some(0),
            Node::Postings(cursor) => {
                // At most: those counted before cost less.
                work.spend((cursor.items.end - cursor.items.start) / COUNTED_PER_WORK);
                Some(self.index.postings.count(cursor.items.clone()))
            }
            _ => None,
        }
    }

    /// Returns the term that a prepared scan matches, if it is a single one and nothing expired.
    pub(crate) fn only_term(&self) -> Option<TermNumber> {
        match self.root()? {
            Node::Postings(cursor) if !self.has_expired() => Some(cursor.term),
            _ => None,
        }
    }

    /// Returns true if a prepared scan matches every row and nothing expired.
    pub(crate) fn is_everything(&self) -> bool {
        !self.has_expired() && matches!(self.root(), Some(Node::All))
    }

    /// Passes matching rows to `visit` until it breaks or the work is done. Rows come in the order of their numbers.
    pub fn step(&mut self, work: &mut Work, mut visit: impl FnMut(&ScannedRow<'_>) -> ControlFlow<()>) -> ScanStep {
        while !work.is_spent() {
            if self.remaining.rows.next_place(self.remaining.from).is_some() {
                if self.visit_remaining(work, &mut visit).is_break() {
                    return ScanStep::Done;
                }
                continue;
            }
            match self.next_chunk(work) {
                ChunkStep::More => return ScanStep::More,
                ChunkStep::Done => return ScanStep::Done,
                ChunkStep::Rows(chunk, rows) => self.remaining = RemainingRows::of(chunk, *rows),
            }
        }
        ScanStep::More
    }

    /// Breaks if `visit` does.
    fn visit_remaining(
        &mut self,
        work: &mut Work,
        visit: &mut impl FnMut(&ScannedRow<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Self { index, now, remaining, .. } = self;
        let mut visit_record = |record: &Record<'_>, work: &mut Work| {
            work.spend(RECORD_WORK);
            work.spend_bytes(record.bytes_count());
            visit(&ScannedRow::new(record, *now))
        };
        if remaining.rows.count() * DENSE_DIVISOR < u64::from(CHUNK_ROWS) {
            while !work.is_spent() {
                let Some(row) = remaining.next() else { break };
                index.record(row, |record| visit_record(record, work)).unwrap_or(ControlFlow::Continue(()))?;
            }
            return ControlFlow::Continue(());
        }
        let RemainingRows { chunk, rows, from } = remaining;
        let (row, count) = (row_at(*chunk, *from), u64::from(CHUNK_ROWS) - u64::from(*from));
        let mut flow = ControlFlow::Continue(());
        index.walk_rows(row, count, |record| {
            let is_in = rows.contains(*from);
            *from += 1;
            if let (Some(record), true) = (record, is_in) {
                flow = visit_record(record, work);
                flow?;
            }
            work.flow()
        });
        flow
    }

    /// Returns the next chunk with matching rows.
    pub(crate) fn next_chunk(&mut self, work: &mut Work) -> ChunkStep {
        if !self.prepare(work) {
            return ChunkStep::More;
        }
        let chunks = self.chunks();
        let Self { index, now, expired, stage, from, all_rows, chunk: current, .. } = self;
        let ScanStage::Planned(plan) = stage else { return ChunkStep::More };
        let context = Context { index, expired, now: *now };
        if !plan.collect(&context, work) {
            return ChunkStep::More;
        }
        while !work.is_spent() {
            let search = match current {
                Some(search) => search,
                None => {
                    let next = plan.next_chunk(&context, *from, work).filter(|chunk| *chunk < chunks);
                    let Some(chunk) = next else { return ChunkStep::Done };
                    *from = chunk + 1;
                    let mut rows = match plan.is_within_rows() {
                        true => Bitmap::FULL,
                        false => rows_of(all_rows, index, chunk, work),
                    };
                    if let Some(expired) = expired.rows().chunk(chunk) {
                        rows.subtract(expired);
                    }
                    current.insert(ChunkSearch::new(plan, chunk, rows))
                }
            };
            let Some(rows) = search.step(plan, &context, work) else { return ChunkStep::More };
            let chunk = search.chunk;
            *current = None;
            if !rows.is_empty() {
                return ChunkStep::Rows(chunk, rows.into());
            }
        }
        ChunkStep::More
    }

    /// Returns all rows of a chunk, expired or not. Chunks never go back.
    pub(crate) fn all_rows_of(&mut self, chunk: u32, work: &mut Work) -> Bitmap {
        rows_of(&mut self.all_rows, &self.index, chunk, work)
    }

    /// Returns the number of chunks.
    pub(crate) fn chunks(&self) -> u32 {
        self.index.row_numbers().div_ceil(u64::from(CHUNK_ROWS)) as u32
    }

    /// Returns true if something of a row expired, as a prepared scan knows.
    pub(crate) fn has_expired(&self) -> bool {
        !self.expired.is_empty()
    }

    /// Returns its heap bytes without those of the index, or somewhat more.
    pub fn heap_bytes(&self) -> usize {
        let of_stage = match &self.stage {
            ScanStage::CollectingExpired(planner) | ScanStage::Planning(planner) => planner.heap_bytes(),
            ScanStage::Planned(plan) => plan.heap_bytes(),
        };
        let of_chunk = self.chunk.as_ref().map_or(0, ChunkSearch::heap_bytes);
        of_stage + of_chunk + self.expired.heap_bytes_max() + Cursor::HEAP_BYTES_MAX
    }
}

/// Returns the rows of a chunk that have the cursor's term.
fn rows_of(cursor: &mut Option<Cursor>, index: &Index, chunk: u32, work: &mut Work) -> Bitmap {
    work.spend(CHUNK_WORK);
    let seen = cursor.as_mut().and_then(|cursor| cursor.chunk_from(index, chunk, work));
    seen.filter(|(at, _)| *at == chunk).map_or(Bitmap::EMPTY, |(_, rows)| (**rows).clone())
}

fn all_rows(index: &Index) -> Option<Cursor> {
    let term = index.dictionary.number(&term_key(Space::ALL_ROWS, b""))?;
    Some(Cursor::new(None, term, index.postings.items_of(term)))
}
