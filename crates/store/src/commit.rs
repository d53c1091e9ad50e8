//! A commit: writes segments, then one record of the manifest.

use crate::page::{PAGE_BYTES, PAGE_HEAD_BYTES, PAYLOAD_BYTES_MAX, PageHead, encode_block_head};
use crate::reader::{Alive, chain_crc};
use crate::segment::{SegmentHead, SegmentWriter};
use crate::state::{Change, MapRecord, Place, Run, SegmentKind, SegmentRecord, ShardChange, ShardRecord};
use crate::store::Store;
use crate::{StoreError, names};
use base::{Ms, checksum, varint};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A commit in progress. Dropped before [`Self::finish`], it leaves the store unchanged.
///
/// Memory: write buffers of at most half a megabyte per kind of segment, and the shards' records.
pub struct Commit<'a> {
    store: &'a mut Store,
    now_ms: Ms,
    runs: Option<SegmentWriter>,
    blocks: Option<SegmentWriter>,
    /// Segments fully written.
    finished: Vec<SegmentRecord>,
    /// Paths of all segments of this commit.
    paths: Vec<PathBuf>,
    /// The lowest number of its own segments.
    own: u32,
    run: Option<OpenRun>,
    /// Records of the page being filled.
    page: Vec<u8>,
    page_records: u32,
    shards: BTreeMap<u32, ShardRecord>,
    map: Option<MapRecord>,
    bytes: u64,
    has_failed: bool,
    /// The manifest may name its segments after a crash.
    may_be_named: bool,
}

struct OpenRun {
    shard: u32,
    is_base: bool,
    segment: u32,
    offset: u64,
    records: u64,
    crc: u32,
    pages: u32,
}

impl<'a> Commit<'a> {
    pub(crate) fn new(store: &'a mut Store, now_ms: Ms) -> Self {
        Self {
            own: store.next_segment(),
            store,
            now_ms,
            runs: None,
            blocks: None,
            finished: Vec::new(),
            paths: Vec::new(),
            run: None,
            page: Vec::new(),
            page_records: 0,
            shards: BTreeMap::new(),
            map: None,
            bytes: 0,
            has_failed: false,
            may_be_named: false,
        }
    }

    /// Returns the store without this commit.
    pub fn store(&self) -> &Store {
        self.store
    }

    /// Returns the segments that a shard put in this commit may name, for threads that write blocks meanwhile. Places
    /// noted by an earlier, failed commit are not among them.
    pub fn alive(&self) -> Alive {
        Alive { catalog: self.store.catalog(), own: self.own }
    }

    /// Returns the bytes of runs and blocks so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a block and returns its place. It counts as [`crate::block_bytes`].
    ///
    /// # Errors
    /// Disk errors; the commit can then only be dropped.
    pub fn block(&mut self, bytes: &[u8]) -> Result<Place, StoreError> {
        self.attempt(|commit| commit.try_block(bytes))
    }

    fn try_block(&mut self, bytes: &[u8]) -> Result<Place, StoreError> {
        let mut writer = self.writer(SegmentKind::Blocks)?;
        check_length(bytes, &writer)?;
        let (segment, offset) = (writer.number, writer.bytes());
        let offset = u32::try_from(offset).expect("a segment is closed long before 4 GiB");
        let head = encode_block_head(segment, offset, bytes);
        let written = writer.put([&head, bytes, &[]], self.store.reserve_mut());
        self.bytes += (head.len() + bytes.len()) as u64;
        self.blocks = Some(writer);
        written.map(|()| Place::new(segment, offset).expect("segments count from 1"))
    }

    /// Begins a run of `shard`; only one at a time.
    ///
    /// # Errors
    /// Disk errors; the commit can then only be dropped.
    pub fn begin_run(&mut self, shard: u32, is_base: bool) -> Result<(), StoreError> {
        assert!(self.run.is_none(), "a run is ended before the next one begins");
        self.attempt(|commit| {
            let writer = commit.writer(SegmentKind::Runs)?;
            let (segment, offset) = (writer.number, writer.bytes());
            commit.runs = Some(writer);
            commit.run = Some(OpenRun { shard, is_base, segment, offset, records: 0, crc: 0, pages: 0 });
            Ok(())
        })
    }

    /// Adds a record to the run.
    ///
    /// # Errors
    /// Disk errors; the commit can then only be dropped.
    pub fn record(&mut self, record: &[u8]) -> Result<(), StoreError> {
        self.attempt(|commit| {
            let bytes = varint::encoded_bytes(record.len() as u64) + record.len();
            if commit.page.len() + bytes > PAGE_BYTES {
                commit.flush_page(&[])?;
            }
            commit.page_records += 1;
            if bytes > PAGE_BYTES {
                varint::put(&mut commit.page, record.len() as u64);
                return commit.flush_page(record);
            }
            varint::put_bytes(&mut commit.page, record);
            Ok(())
        })
    }

    /// Writes the current page, which ends with `long`.
    fn flush_page(&mut self, long: &[u8]) -> Result<(), StoreError> {
        let (Some(run), Some(writer)) = (&mut self.run, &mut self.runs) else {
            panic!("records are added to a run");
        };
        if self.page_records == 0 {
            return Ok(());
        }
        check_length(long, writer)?;
        let head = PageHead {
            payload_crc: checksum(checksum(0, &self.page), long),
            payload_bytes: (self.page.len() + long.len()) as u32,
            segment: run.segment,
            offset: writer.bytes(),
            records: self.page_records,
            shard: run.shard,
            index: run.pages,
        };
        let head_bytes = head.encode();
        run.records += u64::from(self.page_records);
        run.crc = chain_crc(run.crc, &head_bytes);
        run.pages += 1;
        writer.put([&head_bytes, &self.page, long], self.store.reserve_mut())?;
        self.bytes += (PAGE_HEAD_BYTES + self.page.len() + long.len()) as u64;
        self.page.clear();
        self.page_records = 0;
        Ok(())
    }

    /// Ends the run; it is stored once the commit is finished with a shard's record that names it.
    ///
    /// # Errors
    /// Disk errors; the commit can then only be dropped.
    pub fn end_run(&mut self) -> Result<Run, StoreError> {
        self.attempt(|commit| {
            commit.flush_page(&[])?;
            let (Some(run), Some(writer)) = (commit.run.take(), &commit.runs) else {
                panic!("a run is begun before it ends");
            };
            let OpenRun { segment, offset, records, crc, is_base, .. } = run;
            Ok(Run { segment, offset, bytes: writer.bytes() - offset, records, crc, is_base })
        })
    }

    /// Replaces a shard's record.
    pub fn put_shard(&mut self, record: ShardRecord) {
        self.shards.insert(record.shard, record);
    }

    /// Replaces the map of tables.
    pub fn put_map(&mut self, map: MapRecord) {
        self.map = Some(map);
    }

    /// Commits durably; on `Ok` everything is. Then removes segments that no shard names any more.
    ///
    /// # Errors
    /// Disk errors. The store is unchanged. If writing or syncing the manifest's record failed, a crash before the next
    /// commit may show either state, whole.
    ///
    /// # Panics
    /// If a run is not ended, a record names a dead segment, or a shard's position goes backwards.
    pub fn finish(mut self) -> Result<(), StoreError> {
        assert!(self.run.is_none(), "a run is ended before the commit");
        self.attempt(Self::try_finish)
    }

    fn try_finish(&mut self) -> Result<(), StoreError> {
        for writer in [self.runs.take(), self.blocks.take()].into_iter().flatten() {
            let record = writer.finish(self.store.reserve_mut())?;
            self.finished.push(record);
        }
        let change = self.change();
        self.store.commit(change, self.now_ms, &mut self.may_be_named)?;
        // The files belong to the store from now on.
        self.paths.clear();
        self.store.commit_ended(Some(self.bytes), self.now_ms);
        Ok(())
    }

    fn change(&mut self) -> Change {
        let state = self.store.state();
        let shards = std::mem::take(&mut self.shards).into_values().map(|record| {
            let before = state.shards.get(record.shard as usize).expect("a shard that there is");
            let is_moved = ShardRecord { position: record.position, ..before.clone() } == record;
            if is_moved { ShardChange::Moved(record.shard, record.position) } else { ShardChange::Put(record) }
        });
        Change {
            next_segment: self.store.next_segment(),
            shards: shards.collect(),
            segments: std::mem::take(&mut self.finished),
            map: self.map.take(),
        }
    }

    /// Returns the segment to write to: the open one, or a new one if there is none or it is full.
    fn writer(&mut self, kind: SegmentKind) -> Result<SegmentWriter, StoreError> {
        let slot = match kind {
            SegmentKind::Runs => &mut self.runs,
            SegmentKind::Blocks => &mut self.blocks,
        };
        let bytes_max = self.store.segment_bytes_max();
        if let Some(writer) = slot.take() {
            if writer.bytes() < bytes_max {
                return Ok(writer);
            }
            self.finished.push(writer.finish(self.store.reserve_mut())?);
        }
        let head = self.store.next_head(kind, self.now_ms).ok_or_else(|| StoreError::used_up(self.store.folder()))?;
        self.paths.push(self.store.folder().join(names::segment(head.number, kind)));
        self.create(&head)
    }

    fn create(&mut self, head: &SegmentHead) -> Result<SegmentWriter, StoreError> {
        let (disk, folder, reserve) = self.store.making();
        SegmentWriter::create(disk, folder, head, reserve)
    }

    fn attempt<T>(&mut self, what: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.has_failed {
            let error = io::Error::other("an earlier write of this commit failed");
            return Err(StoreError::Io { file: self.store.folder().to_owned(), error });
        }
        let done = what(self);
        self.has_failed = done.is_err();
        done
    }
}

/// Refuses lengths that no head can hold.
fn check_length(bytes: &[u8], writer: &SegmentWriter) -> Result<(), StoreError> {
    if bytes.len() as u64 <= PAYLOAD_BYTES_MAX {
        return Ok(());
    }
    let error = io::Error::new(io::ErrorKind::InvalidInput, "a record or block is longer than 4 GiB");
    Err(StoreError::Io { file: writer.path.clone(), error })
}

impl Drop for Commit<'_> {
    fn drop(&mut self) {
        if self.paths.is_empty() && !self.has_failed {
            return;
        }
        // Closed before they are removed, so that their space is freed.
        (self.runs, self.blocks) = (None, None);
        self.store.give_up(std::mem::take(&mut self.paths), self.may_be_named);
        self.store.commit_ended(None, self.now_ms);
    }
}
