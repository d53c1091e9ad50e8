//! A true store over a disk in memory, whose files a target changes.
//!
//! Checksums keep a fuzzer out, so a change may make those hold again that it broke. With these a lie cannot be told from
//! the truth; then nothing is asked but an orderly answer.

use base::checksum;
use base::disk::{Disk, FakeDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Options, Place, ShardRecord, Share, Store, StoreError, block_bytes};

const SHARDS: u32 = 3;

/// What one shard holds.
#[derive(Clone, Default)]
struct Shard {
    record: ShardRecord,
    runs: Vec<Vec<Vec<u8>>>,
    blocks: Vec<(Place, Vec<u8>)>,
}

/// A store and all states it went through.
pub struct World {
    disk: FakeDisk,
    states: Vec<Vec<Shard>>,
}

fn folder() -> PathBuf {
    PathBuf::from("/data/store")
}

fn options() -> Options {
    Options {
        shards: SHARDS,
        reserve_bytes: 0,
        segment_bytes_max: 8192,
        manifest_bytes_min: 1024,
        ..Options::new(5, 1)
    }
}

impl World {
    /// A store after commits, each made from one byte.
    pub fn new(commits: impl Iterator<Item = u8>) -> Self {
        let disk = FakeDisk::new();
        let mut store = open(&disk).expect("a new store");
        let shard = |shard| Shard { record: ShardRecord { shard, ..Default::default() }, ..Default::default() };
        let mut states = vec![(0..SHARDS).map(shard).collect::<Vec<_>>()];
        for seed in commits {
            let mut state = states.last().expect("the first").clone();
            commit(&mut store, &mut state[usize::from(seed % 3)], seed);
            states.push(state);
        }
        Self { disk, states }
    }

    /// The files whose names begin so, in order.
    pub fn files(&self, begin: &str) -> Vec<PathBuf> {
        let names = self.disk.list(&folder()).expect("the folder is there");
        names.into_iter().filter(|name| name.starts_with(begin)).map(|name| folder().join(name)).collect()
    }

    /// Changes one file; whether checksums can still tell.
    pub fn alter(&self, path: &Path, what: u8, offset: usize, value: u8, mend: fn(&mut [u8])) -> bool {
        crate::alter(&self.disk, path, what, offset, value, mend)
    }

    /// Opens, reads, checks and mends what was made of the store.
    pub fn judge(&self, is_honest: bool) {
        let opened = open(&self.disk.copy());
        let is_open = opened.is_ok();
        match opened {
            Ok(store) => self.read(&store, is_honest),
            Err(StoreError::Damaged { why, remedy, .. }) => assert!(!why.is_empty() && !remedy.is_empty()),
            Err(StoreError::Io { error, .. }) => panic!("the disk does all it is asked: {error}"),
        }
        let report = match store::check(&self.disk, &folder(), options(), &mut |_, _| {}) {
            Ok(report) => report,
            Err(StoreError::Damaged { .. }) => return assert!(!is_open, "a store that opens is checked"),
            Err(StoreError::Io { error, .. }) => panic!("the disk does all it is asked: {error}"),
        };
        assert!(is_open || !is_honest || !report.damages.is_empty(), "what does not open is damaged");
        let mended = store::repair(Arc::new(self.disk.clone()), &folder(), options(), &mut |_, _| {});
        if is_honest {
            assert_eq!(mended.expect("what was true once is mended").damages, report.damages);
            let store = open(&self.disk).expect("what was mended opens");
            let reader = store.reader();
            for shard in 0..SHARDS {
                for run in &store.shard(shard).runs {
                    reader.visit(shard, run, &mut |_| Ok(())).expect("what was mended is read");
                }
            }
        }
    }

    fn read(&self, store: &Store, is_honest: bool) {
        let held = |state: &&Vec<Shard>| state.iter().all(|shard| *store.shard(shard.record.shard) == shard.record);
        let state = self.states.iter().rfind(held);
        assert!(state.is_some() || !is_honest, "a state that never was");
        let reader = store.reader();
        for index in 0..SHARDS {
            for (at, run) in store.shard(index).runs.clone().iter().enumerate() {
                let (mut visited, twin) = (0, state.map(|state| &state[index as usize].runs[at]));
                let done = reader.visit(index, run, &mut |record| {
                    assert!(!is_honest || twin.is_some_and(|twin| twin[visited] == record), "a wrong record");
                    visited += 1;
                    Ok(())
                });
                assert!(
                    done.is_err() || !is_honest || twin.is_some_and(|twin| twin.len() == visited),
                    "records are gone"
                );
            }
        }
        for (place, bytes) in state.into_iter().flatten().flat_map(|shard| &shard.blocks).filter(|_| is_honest) {
            let found = reader.block(*place, bytes.len());
            assert!(found.is_err() || found.is_ok_and(|found| found == *bytes), "a wrong block");
        }
    }
}

fn open(disk: &FakeDisk) -> Result<Store, StoreError> {
    Store::open(Arc::new(disk.clone()), &folder(), options())
}

fn commit(store: &mut Store, shard: &mut Shard, seed: u8) {
    let mut commit = store.begin(u64::from(seed));
    shard.record.position += u64::from(seed);
    if seed % 7 != 0 {
        let is_base = shard.runs.is_empty() || seed % 5 == 0;
        if is_base {
            *shard = Shard {
                record: ShardRecord {
                    shard: shard.record.shard,
                    position: shard.record.position,
                    ..Default::default()
                },
                ..Shard::default()
            };
        }
        let records: Vec<Vec<u8>> = (0..seed % 11).map(|at| vec![seed ^ at; usize::from(seed) * 20]).collect();
        commit.begin_run(shard.record.shard, is_base).expect("a run");
        records.iter().for_each(|record| commit.record(record).expect("a record"));
        shard.record.runs.push(commit.end_run().expect("a run"));
        shard.runs.push(records);
        let leaf = vec![seed; usize::from(seed)];
        let place = commit.block(&leaf).expect("a block");
        shard.record.blocks.push(Share { segment: place.segment(), bytes: block_bytes(leaf.len()) });
        shard.blocks.push((place, leaf));
    }
    commit.put_shard(shard.record.clone());
    commit.finish().expect("a commit");
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put(bytes: &mut [u8], at: usize, crc: u32) {
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

fn mend_head(bytes: &mut [u8], head_bytes: usize) {
    if bytes.len() >= head_bytes {
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..head_bytes]);
        put(bytes, 12, crc);
    }
}

/// Makes the checksums of a manifest's head and of all records that can be found from it on hold.
pub fn mend_manifest(bytes: &mut [u8]) {
    mend_head(bytes, 48);
    let (mut at, mut before) = (48, bytes.get(12..16).map_or(0, |crc| u32_at(crc, 0)));
    while bytes.len() >= at + 40 {
        let end = at + 40 + u32_at(bytes, at + 4) as usize;
        let Some(record) = bytes.get_mut(at..end) else { break };
        put(record, 32, before);
        let crc = checksum(0, &record[4..]);
        put(record, 0, crc);
        before = if record[11] == 3 { before } else { crc };
        at = end;
    }
}

/// Makes the checksums of a segment's head and of all pages or blocks that can be found from it on hold.
pub fn mend_segment(bytes: &mut [u8]) {
    mend_head(bytes, 40);
    let is_runs = bytes.get(6) == Some(&b'R');
    let mut at = 40;
    while bytes.len() >= at + 40 {
        let length_at = if is_runs { 24 } else { 4 };
        let head_bytes = if is_runs { 40 } else { 16 };
        let end = at + head_bytes + u32_at(bytes, at + length_at) as usize;
        let Some(piece) = bytes.get_mut(at..end) else { break };
        if is_runs {
            let crc = checksum(0, &piece[40..]);
            put(piece, 4, crc);
            let crc = checksum(0, &piece[4..40]);
            put(piece, 0, crc);
        } else {
            let crc = checksum(0, &piece[4..]);
            put(piece, 0, crc);
        }
        at = end;
    }
}
