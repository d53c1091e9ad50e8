//! Reads runs and blocks, from any thread, during commits.
//!
//! A reader knows the segments that were committed when it was created, and keeps them from being removed.

use crate::page::{PAGE_HEAD_BYTES, PageHead, block_bytes, check_payload, decode_block, visit_records};
use crate::state::{Place, Run, SegmentRecord};
use crate::window::Window;
use crate::{StoreError, names};
use base::checksum;
use base::disk::{Disk, DiskFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum open files.
const HANDLES_MAX: usize = 64;

/// A committed segment.
pub(crate) struct SegmentFile {
    pub(crate) record: SegmentRecord,
    pub(crate) path: PathBuf,
}

impl SegmentFile {
    pub(crate) fn new(folder: &Path, record: SegmentRecord) -> Arc<Self> {
        let path = folder.join(names::segment(record.number, record.kind));
        Arc::new(Self { record, path })
    }
}

/// The segments of one state.
pub(crate) type Catalog = BTreeMap<u32, Arc<SegmentFile>>;

/// The open files.
pub(crate) struct Handles {
    disk: Arc<dyn Disk>,
    /// Most recently used last.
    open: Mutex<Vec<(u32, Arc<dyn DiskFile>)>>,
}

impl Handles {
    pub(crate) fn new(disk: Arc<dyn Disk>) -> Arc<Self> {
        Arc::new(Self { disk, open: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u32, Arc<dyn DiskFile>)>> {
        // No call leaves it half changed.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, segment: &SegmentFile) -> Result<Arc<dyn DiskFile>, StoreError> {
        let number = segment.record.number;
        let mut open = self.lock();
        let kept = open.iter().position(|(of, _)| *of == number).map(|at| open.remove(at).1);
        drop(open);
        let file = match kept {
            Some(file) => file,
            None => Arc::from(self.disk.open(&segment.path).map_err(StoreError::io(&segment.path))?),
        };
        let mut open = self.lock();
        open.retain(|(of, _)| *of != number);
        if open.len() == HANDLES_MAX {
            open.remove(0);
        }
        open.push((number, file.clone()));
        Ok(file)
    }

    /// Closes a segment that will be removed.
    pub(crate) fn close(&self, number: u32) {
        self.lock().retain(|(of, _)| *of != number);
    }
}

/// The segments that a value may name in the commit in progress. Holds them like a [`Reader`].
#[derive(Clone)]
pub struct Alive {
    pub(crate) catalog: Arc<Catalog>,
    /// Numbers from here on belong to the commit itself.
    pub(crate) own: u32,
}

impl Alive {
    /// Returns true if `segment` is alive, or is being written by the commit.
    pub fn contains(&self, segment: u32) -> bool {
        segment >= self.own || self.catalog.contains_key(&segment)
    }
}

/// Reads what was committed when it was created. Clones share their state.
#[derive(Clone)]
pub struct Reader {
    handles: Arc<Handles>,
    catalog: Arc<Catalog>,
}

impl Reader {
    pub(crate) fn new(handles: Arc<Handles>, catalog: Arc<Catalog>) -> Self {
        Self { handles, catalog }
    }

    fn segment(&self, number: u32) -> Result<(&SegmentFile, Arc<dyn DiskFile>), StoreError> {
        let Some(segment) = self.catalog.get(&number) else {
            let why = format!("segment {number} is named but not committed");
            return Err(StoreError::damaged(&PathBuf::from(format!("segment {number}")), 0, why));
        };
        Ok((segment, self.handles.open(segment)?))
    }

    /// Passes the records of a run of `shard` to `visit`, in order. Memory: two pages, or the longest record.
    ///
    /// # Errors
    /// Disk errors, and damage, with file and offset: the run is then visited in part. Errors from `visit` are damage.
    pub fn visit(
        &self,
        shard: u32,
        run: &Run,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<(), StoreError> {
        let (segment, file) = self.segment(run.segment)?;
        let mut window = Window::new(&*file).map_err(StoreError::io(&segment.path))?;
        let end = run.offset.saturating_add(run.bytes);
        let (mut chain, mut offset) = (Chain::default(), run.offset);
        while offset < end {
            let damaged = |why: String| StoreError::damaged(&segment.path, offset, why);
            let bytes = window.at(offset, PAGE_HEAD_BYTES as u64).map_err(StoreError::io(&segment.path))?;
            let head = PageHead::decode(bytes, run.segment, offset).map_err(|why| damaged(why.into()))?;
            chain.follow(&head, bytes, shard, end).map_err(damaged)?;
            let at = offset + PAGE_HEAD_BYTES as u64;
            let payload = window.at(at, u64::from(head.payload_bytes)).map_err(StoreError::io(&segment.path))?;
            check_payload(&head, payload).map_err(|why| damaged(why.into()))?;
            visit_records(&head, payload, visit)
                .map_err(|why| damaged(format!("a record with a valid checksum cannot be decoded: {why}")))?;
            offset += head.bytes();
        }
        chain.end(run).map_err(|why| StoreError::damaged(&segment.path, run.offset, why))
    }

    /// Reads the block of `bytes` bytes at `place`.
    ///
    /// # Errors
    /// Disk errors, and damage, with file and offset.
    pub fn block(&self, place: Place, bytes: usize) -> Result<Vec<u8>, StoreError> {
        let (segment, file) = self.segment(place.segment())?;
        let offset = u64::from(place.offset());
        if block_bytes(bytes) > segment.record.bytes {
            return Err(StoreError::damaged(&segment.path, offset, "the block would be longer than its segment"));
        }
        let mut buffer = vec![0; block_bytes(bytes) as usize];
        let count = file.read_at(&mut buffer, offset).map_err(StoreError::io(&segment.path))?;
        buffer.truncate(count);
        let payload = decode_block(&buffer, place.segment(), offset)
            .and_then(|payload| if payload.len() == bytes { Ok(bytes) } else { Err("the block has another length") })
            .map_err(|why| StoreError::damaged(&segment.path, offset, why))?;
        buffer.drain(..count - payload);
        Ok(buffer)
    }
}

/// A walk over the pages of a run.
#[derive(Default)]
pub(crate) struct Chain {
    index: u32,
    records: u64,
    crc: u32,
}

impl Chain {
    /// Accepts the next page, whose head is at the start of `bytes`; else returns what is wrong.
    pub(crate) fn follow(&mut self, head: &PageHead, bytes: &[u8], shard: u32, end: u64) -> Result<(), String> {
        if head.shard != shard {
            return Err(format!("the page is of shard {}, expected {shard}", head.shard));
        }
        if head.index != self.index {
            return Err(format!("found page {}, expected page {}", head.index, self.index));
        }
        if head.offset.saturating_add(head.bytes()) > end {
            return Err("the page reaches beyond its run".into());
        }
        self.index = self.index.wrapping_add(1);
        self.records += u64::from(head.records);
        self.crc = chain_crc(self.crc, bytes);
        Ok(())
    }

    pub(crate) fn end(&self, run: &Run) -> Result<(), &'static str> {
        if self.records != run.records || self.crc != run.crc {
            return Err("the run differs from the committed run");
        }
        Ok(())
    }
}

/// Returns the checksum of a run extended by a page, whose head is at the start of `bytes`.
pub(crate) fn chain_crc(crc: u32, bytes: &[u8]) -> u32 {
    checksum(crc, &bytes[..8])
}
