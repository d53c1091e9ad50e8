//! One live index: its feed, its rows, and the scan that finds the rows that were there before it.

use base::instant::Instant;
use base::limits::SHARDS;
use base::primitives::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use base::primitives::{Mutex, MutexGuard};
use base::{Position, hash::KeyHasher};
use keyspace::{Entry, Keyspace, TableId, value_of};
use search::{Definition, FailureFigures, Index, IndexSize, Row, RowError};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, TryLockError};
use values::Hash;

/// Bytes of waiting rows above which writers help.
pub(super) const BACKLOG_BYTES_MAX: u64 = 128 << 10;
/// Accounted bytes of a waiting row beside its key and values.
const ROW_BYTES: u64 = 64;
/// Rows put into the index at a time, and their bytes: some 400 us. While the index is built, nothing waits for less.
const ROWS_AT_ONCE: usize = 32;
const BUILDING_ROWS_AT_ONCE: usize = 256;
const BYTES_AT_ONCE: u64 = 32 << 10;
/// Entries of a shard that are looked at under one hold, and bytes of rows that are taken.
const ENTRIES_SEEN: usize = 512;
const SCANNED_BYTES: u64 = 64 << 10;

/// Drops a value elsewhere.
pub(super) type DropLater = Arc<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;

/// An index, and what is on its way into it.
pub(crate) struct LiveIndex {
    /// Its declaration.
    pub(crate) definition: Arc<Definition>,
    /// The same, as stored.
    pub(super) declaration: Box<[u8]>,
    /// The table whose keys it has.
    pub(super) table: TableId,
    feed: Mutex<Feed>,
    backlog_bytes: AtomicU64,
    rows: Mutex<Rows>,
    is_built: AtomicBool,
    shards_scanned: AtomicU64,
    /// Queries that wait for the lock of its rows.
    waiting: AtomicU64,
    /// Commands that named it, and queries by dialect.
    pub(crate) uses: AtomicU64,
    pub(crate) dialect_uses: [AtomicU64; 4],
    /// When a command last named it.
    pub(crate) used_ms: AtomicU64,
    drop_later: DropLater,
}

/// The last to forget it may be a transaction under its locks.
impl Drop for LiveIndex {
    fn drop(&mut self) {
        let rows = self.rows.get_mut().expect("no holder panics");
        let empty = Index::new(self.definition.clone(), KeyHasher::random());
        let garbage = (std::mem::replace(&mut rows.index, empty), std::mem::take(&mut rows.entries));
        (self.drop_later)(Box::new(garbage));
    }
}

/// Rows that wait.
#[derive(Default)]
struct Feed {
    entries: Vec<FeedEntry>,
    /// Entries so far.
    count: u64,
}

/// The rows of one transaction, or of a step of the scan.
#[derive(Default)]
pub(super) struct FeedEntry {
    pub(super) rows: Vec<(Box<[u8]>, Option<Row>)>,
    pub(super) bytes: u64,
    pub(super) position: Position,
}

impl FeedEntry {
    pub(super) fn push(&mut self, key: Box<[u8]>, row: Option<Row>) {
        let values = row.iter().flat_map(|row| &row.fields).flatten();
        self.bytes += ROW_BYTES + key.len() as u64 + values.map(|field| 16 + field.value.len() as u64).sum::<u64>();
        self.rows.push((key, row));
    }
}

/// The index, under its lock.
struct Rows {
    index: Index,
    entries: VecDeque<FeedEntry>,
    /// Rows of the first entry that are in the index.
    row_at: usize,
    /// Entries that are in the index.
    count: u64,
    position: Position,
    scan: ScanPlace,
    /// Entries fed when the scan ended: it is built once they are in.
    scan_ended_at: Option<u64>,
    /// While it is built, steps of the scan and of the feed alternate, so that it ends however much is written.
    is_scans_turn: bool,
    failures: FailureFigures,
    indexing_ns: u64,
}

/// The next entry that the scan looks at.
#[derive(Clone, Copy)]
struct ScanPlace {
    shard: usize,
    from_hash: u64,
}

/// The result of a query's step towards a clone.
pub(crate) enum IndexTurn {
    /// Everything is in the index: a clone of it, and the position that it has seen.
    Ready(Box<Index>, Position),
    /// There is more to do: yield to others, then call again.
    Again,
    /// Another thread is at it.
    Held,
    /// The scan waits for a shard, which is held.
    Locked,
}

/// Figures for FT.INFO.
pub(crate) struct LiveFigures {
    /// The position that they have seen.
    pub(crate) position: Position,
    pub(crate) size: IndexSize,
    pub(crate) failures: FailureFigures,
    pub(crate) indexing_ns: u64,
}

impl LiveIndex {
    /// Creates an index without rows on `table`. Its declaration takes effect at `position`.
    pub(super) fn new(
        definition: Arc<Definition>,
        declaration: Box<[u8]>,
        (table, position): (TableId, Position),
        is_scanned: bool,
        drop_later: DropLater,
    ) -> Self {
        let scan = ScanPlace { shard: if is_scanned { 0 } else { SHARDS }, from_hash: 0 };
        let index = Index::new(definition.clone(), KeyHasher::random());
        let rows = Rows {
            index,
            entries: VecDeque::new(),
            row_at: 0,
            count: 0,
            position,
            scan,
            scan_ended_at: None,
            is_scans_turn: false,
            failures: FailureFigures::default(),
            indexing_ns: 0,
        };
        Self {
            definition,
            declaration,
            table,
            feed: Mutex::default(),
            backlog_bytes: AtomicU64::new(0),
            rows: Mutex::new(rows),
            is_built: AtomicBool::new(!is_scanned),
            shards_scanned: AtomicU64::new(scan.shard as u64),
            waiting: AtomicU64::new(0),
            uses: AtomicU64::new(0),
            dialect_uses: std::array::from_fn(|_| AtomicU64::new(0)),
            used_ms: AtomicU64::new(0),
            drop_later,
        }
    }

    /// Returns true if it is of this declaration, over this table.
    pub(crate) fn is_of(&self, declaration: &[u8], table: TableId) -> bool {
        *self.declaration == *declaration && self.table == table
    }

    /// Returns true once all rows that were there before it are found.
    pub(crate) fn is_built(&self) -> bool {
        self.is_built.load(Acquire)
    }

    /// Returns the part of the shards that the scan has seen, 0 to 1.
    pub(crate) fn built_part(&self) -> f64 {
        self.shards_scanned.load(Relaxed) as f64 / SHARDS as f64
    }

    /// Returns true if more waits than is wanted.
    pub(super) fn is_behind(&self) -> bool {
        self.backlog_bytes.load(Relaxed) > BACKLOG_BYTES_MAX
    }

    /// Adds rows to the feed. The caller holds the shards of their keys.
    pub(super) fn push(&self, entry: FeedEntry) {
        self.backlog_bytes.fetch_add(entry.bytes, Relaxed);
        let mut feed = self.feed();
        feed.entries.push(entry);
        feed.count += 1;
    }

    /// Returns the number of entries fed so far, which [`LiveIndex::turn`] takes.
    pub(crate) fn fed_count(&self) -> u64 {
        self.feed().count
    }

    /// Does some of what is left to do for a clone with all of the first `fed` entries; some 400 us. The caller is
    /// inside the gate, or holds it.
    pub(crate) fn turn(&self, keyspace: &Keyspace, fed: u64) -> IndexTurn {
        let Some(mut rows) = self.try_rows() else {
            self.waiting.fetch_add(1, Relaxed);
            return IndexTurn::Held;
        };
        self.waiting.store(0, Relaxed);
        match self.advance(&mut rows, keyspace, Some(fed)) {
            Advance::Locked => IndexTurn::Locked,
            // Looked at again before anybody else begins the next entry.
            _ if self.has_all(&rows, fed) => IndexTurn::Ready(Box::new(rows.index.clone()), rows.position),
            _ => IndexTurn::Again,
        }
    }

    /// Brings the index up to date at once, for a holder of the gate or of locks of its own. Returns a clone, and the
    /// position that it has seen; `None` while it is being built.
    pub(crate) fn up_to_date(&self, keyspace: &Keyspace) -> Option<(Box<Index>, Position)> {
        let fed = self.fed_count();
        let mut rows = self.rows.lock().expect("no holder panics");
        while self.is_built() {
            if matches!(self.advance(&mut rows, keyspace, Some(fed)), Advance::Idle) {
                return Some((Box::new(rows.index.clone()), rows.position));
            }
        }
        None
    }

    /// Does some of the pending work, for nobody in particular.
    pub(super) fn background_step(&self, keyspace: &Keyspace) -> BackgroundStep {
        if self.waiting.swap(0, Relaxed) > 0 {
            return BackgroundStep::Blocked;
        }
        let Some(mut rows) = self.try_rows() else { return BackgroundStep::Blocked };
        match self.advance(&mut rows, keyspace, None) {
            Advance::Idle => BackgroundStep::Idle,
            Advance::More => BackgroundStep::More,
            Advance::Locked => BackgroundStep::Blocked,
        }
    }

    /// Returns figures, unless another thread is at it.
    pub(crate) fn figures(&self) -> Option<LiveFigures> {
        let rows = self.try_rows()?;
        Some(LiveFigures {
            position: rows.position,
            size: rows.index.size(),
            failures: rows.failures.clone(),
            indexing_ns: rows.indexing_ns,
        })
    }

    /// Returns true if the scan is over and the first `fed` entries are in, and none in part.
    fn has_all(&self, rows: &Rows, fed: u64) -> bool {
        self.is_built() && rows.count >= fed && rows.row_at == 0
    }

    /// Puts waiting rows into the index, or scans on. With `fed`, it is idle once the scan is over and that many
    /// entries are in, and none in part.
    fn advance(&self, rows: &mut Rows, keyspace: &Keyspace, fed: Option<u64>) -> Advance {
        let began = Instant::now();
        let is_built = self.is_built();
        if fed.is_some_and(|fed| self.has_all(rows, fed)) {
            return Advance::Idle;
        }
        rows.entries.extend(std::mem::take(&mut self.feed().entries));
        if is_built && rows.entries.is_empty() {
            return Advance::Idle;
        }
        // The scan goes on only while little waits: the feed stays bounded, and writers need not help for it.
        let advance = if !is_built && rows.wants_scan() && !self.is_behind() {
            self.scan_some(rows, keyspace)
        } else {
            let rows_max = if is_built { ROWS_AT_ONCE } else { BUILDING_ROWS_AT_ONCE };
            let bytes = rows.put_some(rows_max);
            self.backlog_bytes.fetch_sub(bytes, Relaxed);
            Advance::More
        };
        if !is_built && rows.scan_ended_at.is_some_and(|count| rows.count >= count) {
            self.is_built.store(true, Release);
        }
        rows.indexing_ns += began.elapsed().as_nanos() as u64;
        advance
    }

    /// Scans some entries, whose rows go to the feed, those of a shard as one entry.
    fn scan_some(&self, rows: &mut Rows, keyspace: &Keyspace) -> Advance {
        let place = &mut rows.scan;
        let (mut seen, mut bytes) = (0, 0);
        while place.shard < SHARDS && seen < ENTRIES_SEEN && bytes < SCANNED_BYTES {
            let Some(state) = keyspace.shard(place.shard).try_read() else { return Advance::Locked };
            let (mut next, mut last_hash, mut fed) = (None, None, FeedEntry::default());
            for (hash, found) in state.section(self.table).into_iter().flat_map(|section| section.scan(place.from_hash))
            {
                // Entries of one hash are seen together, since the scan goes on at a hash.
                if (seen >= ENTRIES_SEEN || bytes + fed.bytes >= SCANNED_BYTES) && last_hash != Some(hash) {
                    next = Some(hash);
                    break;
                }
                (seen, last_hash) = (seen + 1, Some(hash));
                if let Some(row) = row_of(&self.definition, found) {
                    fed.push(found.key().into(), Some(row));
                }
            }
            if !fed.rows.is_empty() {
                // Under the shard's lock: a later change of these keys is fed later.
                fed.position = state.last();
                bytes += fed.bytes;
                self.push(fed);
            }
            *place = match next {
                Some(from_hash) => ScanPlace { from_hash, ..*place },
                None => ScanPlace { shard: place.shard + 1, from_hash: 0 },
            };
        }
        self.shards_scanned.store(place.shard as u64, Relaxed);
        if place.shard == SHARDS {
            rows.scan_ended_at = Some(self.fed_count());
        }
        Advance::More
    }

    fn feed(&self) -> MutexGuard<'_, Feed> {
        self.feed.lock().expect("no holder panics")
    }

    fn try_rows(&self) -> Option<MutexGuard<'_, Rows>> {
        match self.rows.try_lock() {
            Ok(rows) => Some(rows),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => unreachable!("no holder panics"),
        }
    }
}

/// Returns the row of a key's entry; `None` if it is no hash that the index takes. O(bytes of the row).
pub(crate) fn row_of(definition: &Definition, entry: Entry<'_>) -> Option<Row> {
    let hash: &Hash = value_of(entry)?;
    Row::of_hash(definition, entry.key(), hash, entry.expires_at_ms())
}

/// The result of a step of nobody in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BackgroundStep {
    /// There is nothing to do.
    Idle,
    /// A query or a writer is at it.
    Blocked,
    /// There is more to do.
    More,
}

enum Advance {
    Idle,
    More,
    Locked,
}

impl Rows {
    /// Returns true if the scan, which is not over, has its turn.
    fn wants_scan(&mut self) -> bool {
        self.is_scans_turn = !self.is_scans_turn;
        self.scan_ended_at.is_none() && (self.is_scans_turn || self.entries.is_empty())
    }

    /// Puts the next rows into the index. Returns their bytes in the backlog: those of entries that are in.
    fn put_some(&mut self, rows_max: usize) -> u64 {
        let Self { index, entries, row_at, failures, .. } = self;
        let (mut count, mut bytes) = (0, 0);
        let mut at = *row_at;
        let mut rows: Vec<(&[u8], Option<&Row>)> = Vec::new();
        let mut done = 0;
        for entry in entries.iter() {
            let left = entry.rows.len() - at;
            // An entry is begun only if it fits, or alone, and ended alone: queries are given a clone between two.
            if count > 0 && left > rows_max - count {
                break;
            }
            let (was_begun, taken) = (at > 0, left.min(rows_max - count));
            rows.extend(entry.rows[at..at + taken].iter().map(|(key, row)| (&**key, row.as_ref())));
            count += taken;
            if taken < left {
                at += taken;
                break;
            }
            (done, at, bytes) = (done + 1, 0, bytes + entry.bytes);
            if was_begun || count == rows_max || bytes >= BYTES_AT_ONCE {
                break;
            }
        }
        index.put_all(rows, |key, error: RowError| {
            failures.count += 1;
            failures.last = Some((error.to_string().into(), key.into()));
        });
        *row_at = at;
        for entry in entries.drain(..done) {
            self.position = self.position.max(entry.position);
            self.count += 1;
        }
        bytes
    }
}
