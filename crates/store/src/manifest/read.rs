//! Reads a manifest: the whole state, then commit after commit, each following the one before.
//!
//! ```text
//!   | head | whole | commit | mark | commit | mark | commit | torn ...
//!                                                    ^ the state        ^ where the next commit would be written
//! ```
//!
//! A mark adds nothing beyond what the next commit proves, so a broken one between two commits is skipped.

use super::change;
use super::format::{HEAD_BYTES, Head, Kind, MARK_BYTES, RECORD_MAGIC, RECORD_MAGIC_AT, Record};
use crate::StoreError;
use crate::state::{Change, ShardChange, State};
use base::Ms;
use base::disk::Disk;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Maximum bytes of a manifest.
const BYTES_MAX: u64 = 4 << 30;
/// Maximum number of shards.
const SHARDS_MAX: u32 = 1 << 20;
/// Maximum number of commits.
const COMMITS_MAX: u64 = 1 << 56;

/// The contents of a manifest.
pub(crate) struct Walk {
    pub(crate) head: Head,
    pub(crate) state: State,
    /// End of the first valid record.
    pub(crate) snapshot_end: u64,
    /// End of the last valid record, its mark included.
    pub(crate) end: u64,
    /// Checksum of the last record, marks aside.
    pub(crate) crc: u32,
    pub(crate) time_ms: Ms,
    /// A description of invalid trailing bytes, if there are any.
    pub(crate) broken: Option<&'static str>,
}

/// Reads a manifest file.
pub(crate) fn load(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, StoreError> {
    let load = || {
        let file = disk.open(path)?;
        let bytes = file.bytes()?;
        if bytes > BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is longer than any manifest"));
        }
        let mut buffer = vec![0; bytes as usize];
        let count = file.read_at(&mut buffer, 0)?;
        buffer.truncate(count);
        Ok(buffer)
    };
    load().map_err(StoreError::io(path))
}

/// Reads bytes as a manifest, to test that no input does harm. Returns the number of the last commit and the end of its
/// record.
///
/// # Errors
/// The offset of the damage, and a description.
pub fn scan_bytes(bytes: &[u8]) -> Result<(u64, u64), (u64, String)> {
    let walk = walk(bytes)?;
    let salvage = salvage(bytes, walk.head.number, walk.head.shards);
    let beyond = mark_beyond(bytes, &walk);
    assert!(beyond.is_none_or(|(offset, commit)| offset >= walk.end && commit > walk.state.commit));
    assert!(salvage.state.commit >= walk.state.commit);
    Ok((walk.state.commit, walk.end))
}

/// Reads the records of a manifest up to the first invalid one.
///
/// # Errors
/// The offset and description, if the head or the whole state is unreadable, or a valid record contradicts the state.
/// No power cut explains that.
pub(crate) fn walk(bytes: &[u8]) -> Result<Walk, (u64, String)> {
    let head = Head::decode(bytes).map_err(|why| (0, why))?;
    if head.shards > SHARDS_MAX {
        return Err((20, format!("the manifest has {} shards, the maximum is {SHARDS_MAX}", head.shards)));
    }
    let mut walk = Walk {
        state: State::new(head.shards),
        snapshot_end: 0,
        end: HEAD_BYTES as u64,
        crc: head.crc(),
        time_ms: 0,
        broken: None,
        head,
    };
    while (walk.end as usize) < bytes.len() {
        match walk.next(bytes) {
            Ok((record, offset)) => walk.take(&record, offset)?,
            Err(why) => {
                walk.broken = Some(why);
                break;
            }
        }
    }
    if walk.snapshot_end == 0 {
        return Err((walk.end, walk.broken.unwrap_or("the manifest ends where the whole state should be").into()));
    }
    Ok(walk)
}

impl Walk {
    /// Returns the next record and its offset.
    fn next<'a>(&self, bytes: &'a [u8]) -> Result<(Record<'a>, u64), &'static str> {
        self.read(bytes, self.end).map(|record| (record, self.end)).or_else(|why| {
            let behind_mark = self.end + MARK_BYTES as u64;
            let beyond = self.read(bytes, behind_mark).ok().filter(|record| record.kind == Kind::Commit);
            beyond.filter(|_| self.snapshot_end != 0).map(|record| (record, behind_mark)).ok_or(why)
        })
    }

    fn read<'a>(&self, bytes: &'a [u8], offset: u64) -> Result<Record<'a>, &'static str> {
        let record = Record::decode(bytes.get(offset as usize..).unwrap_or_default())?;
        if record.manifest != self.head.number {
            return Err("the record is of another manifest");
        }
        if record.before != self.crc {
            return Err("the record does not follow the previous record");
        }
        let fits = match record.kind {
            Kind::Whole => self.snapshot_end == 0 && record.commit <= COMMITS_MAX,
            Kind::Commit => self.snapshot_end != 0 && Some(record.commit) == self.state.commit.checked_add(1),
            Kind::Mark => self.snapshot_end != 0 && record.commit == self.state.commit,
        };
        if fits { Ok(record) } else { Err("the record is out of sequence") }
    }

    fn take(&mut self, record: &Record<'_>, offset: u64) -> Result<(), (u64, String)> {
        self.end = offset + record.bytes() as u64;
        self.time_ms = self.time_ms.max(record.time_ms);
        if record.kind == Kind::Mark {
            return Ok(());
        }
        let wrong = |why: String| (offset, format!("a record with a valid checksum cannot be decoded: {why}"));
        let change = change::decode(record.payload).ok_or_else(|| wrong("its payload is malformed".into()))?;
        self.state.apply(change).map_err(wrong)?;
        self.state.commit = record.commit;
        self.crc = record.crc;
        if record.kind == Kind::Whole {
            self.snapshot_end = self.end;
        }
        Ok(())
    }
}

/// Finds a mark beyond the end for a later commit: proof that synced bytes were lost. Returns its offset and the
/// commit.
pub(crate) fn mark_beyond(bytes: &[u8], walk: &Walk) -> Option<(u64, u64)> {
    candidates(bytes, walk.end as usize).find_map(|offset| {
        // Record lengths are not trusted here, so the search stays linear.
        let mark = Record::decode(&bytes[offset..bytes.len().min(offset + MARK_BYTES)]).ok()?;
        let counts = mark.kind == Kind::Mark && mark.manifest == walk.head.number && mark.commit > walk.state.commit;
        counts.then_some((offset as u64, mark.commit))
    })
}

/// Returns the offsets at which a record may begin, from `from` on.
fn candidates(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let mut at = from + RECORD_MAGIC_AT;
    std::iter::from_fn(move || {
        let found = bytes.get(at..)?.windows(3).position(|three| three == RECORD_MAGIC)?;
        at += found + 1;
        Some(at - 1 - RECORD_MAGIC_AT)
    })
}

/// The readable parts of a damaged manifest.
pub(crate) struct Salvage {
    pub(crate) state: State,
    pub(crate) time_ms: Ms,
    /// Offset and cause of each damage, and what it loses.
    pub(crate) damages: Vec<(u64, String, String)>,
    /// Shards for which a lost commit may have recorded more: a mere move of the position is meaningless for them until
    /// they are put.
    in_doubt: BTreeSet<u32>,
}

/// Reads all valid records of manifest `number`, wherever they are.
pub(crate) fn salvage(bytes: &[u8], number: u32, shards: u32) -> Salvage {
    let mut salvage = Salvage { state: State::new(shards), time_ms: 0, damages: Vec::new(), in_doubt: BTreeSet::new() };
    if let Err(why) = Head::decode(bytes) {
        salvage.damages.push((0, why, "no data by itself".into()));
    }
    let (mut offset, mut has_whole) = (HEAD_BYTES, false);
    while offset < bytes.len() {
        let record = match Record::decode(&bytes[offset..]).map(|record| salvage.fits(&record, number, has_whole)) {
            Ok(Ok(record)) => record,
            Ok(Err(why)) | Err(why) => {
                let next = candidates(bytes, offset + 1).find(|&at| {
                    Record::decode(&bytes[at..]).is_ok_and(|it| salvage.fits(&it, number, has_whole).is_ok())
                });
                let rest = &bytes[offset..next.unwrap_or(bytes.len())];
                if rest.iter().any(|&byte| byte != 0) && !is_mark_sized(rest, next) {
                    let loss = if has_whole { "the commits recorded here" } else { "the whole state recorded here" };
                    salvage.damages.push((offset as u64, why.into(), loss.into()));
                }
                offset = next.unwrap_or(bytes.len());
                continue;
            }
        };
        has_whole |= record.kind == Kind::Whole;
        salvage.take(&record, offset as u64);
        offset += record.bytes();
    }
    salvage
}

/// Returns true if only a mark is broken: between two commits that loses nothing.
fn is_mark_sized(rest: &[u8], next: Option<usize>) -> bool {
    next.is_some() && rest.len() == MARK_BYTES
}

impl Salvage {
    fn fits<'a>(&self, record: &Record<'a>, number: u32, has_whole: bool) -> Result<Record<'a>, &'static str> {
        let is_later = match record.kind {
            Kind::Whole => !has_whole && record.commit <= COMMITS_MAX,
            Kind::Commit => record.commit > self.state.commit && record.commit <= COMMITS_MAX,
            Kind::Mark => record.commit >= self.state.commit,
        };
        if record.manifest != number {
            return Err("the record is of another manifest");
        }
        if is_later { Ok(*record) } else { Err("the record is out of sequence") }
    }

    /// Applies the parts of a record that do not contradict the rest.
    fn take(&mut self, record: &Record<'_>, offset: u64) {
        self.time_ms = self.time_ms.max(record.time_ms);
        if record.kind == Kind::Mark {
            return;
        }
        let is_next = record.kind == Kind::Whole || Some(record.commit) == self.state.commit.checked_add(1);
        self.state.commit = record.commit;
        if !is_next {
            self.doubt_all();
        }
        let Some(Change { next_segment, segments, map, shards }) = change::decode(record.payload) else {
            let loss = "this commit".into();
            self.damages.push((offset, "the payload of the record is malformed".into(), loss));
            self.doubt_all();
            return;
        };
        self.state.next_segment = self.state.next_segment.max(next_segment);
        for segment in segments.into_iter().filter(|it| it.number != 0 && it.number < next_segment) {
            self.state.segments.entry(segment.number).or_insert(segment);
        }
        self.state.map = map.or(self.state.map.take());
        for change in shards {
            let (shard, is_put) = match &change {
                ShardChange::Put(record) => (record.shard, true),
                ShardChange::Moved(shard, _) => (*shard, false),
            };
            if !is_put && self.in_doubt.contains(&shard) {
                continue;
            }
            let next_segment = self.state.next_segment;
            let one = Change { next_segment, shards: vec![change], ..Change::default() };
            match self.state.apply(one) {
                Ok(()) => drop(self.in_doubt.remove(&shard)),
                Err(why) => {
                    self.in_doubt.insert(shard);
                    self.damages.push((offset, why, format!("this commit's changes to shard {shard}")));
                }
            }
        }
    }

    fn doubt_all(&mut self) {
        self.in_doubt.extend(0..self.state.shards.len() as u32);
    }
}
