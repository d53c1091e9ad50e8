//! Files of version 1, kept for ever: they are read as what they are, and the same commits still write the same bytes.
//!
//! `BLESS=1` writes them; that is for a new version, beside the old one.

use crate::world::{bytes_of, files, folder, name_of, records_of};
use base::disk::{Disk, FakeDisk, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Keys, MapRecord, Options, ShardRecord, Share, Store, block_bytes};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1")
}

fn options() -> Options {
    Options { shards: 4, blocks_format: 1, reserve_bytes: 0, ..Options::new(0x1122_3344_5566_7788, 1_700_000_000_000) }
}

/// Two commits. The second leaves the first one's runs alive in part.
fn write(disk: &FakeDisk) {
    let mut store = Store::open(Arc::new(disk.clone()), &folder(), options()).unwrap();
    let mut commit = store.begin(1_700_000_001_000);
    let mut shards = Vec::new();
    for shard in 0..2 {
        commit.begin_run(shard, true).unwrap();
        for record in records(shard, true) {
            commit.record(&record).unwrap();
        }
        let runs = vec![commit.end_run().unwrap()];
        let place = commit.block(&leaf(shard)).unwrap();
        let share = Share { segment: place.segment(), bytes: block_bytes(leaf(shard).len()) };
        let tables = vec![Keys { table: 0, keys: 3, expiring: 1 }];
        shards.push(ShardRecord { shard, position: 1000, tables, runs, blocks: vec![share] });
    }
    shards.iter().for_each(|record| commit.put_shard(record.clone()));
    commit.put_map(MapRecord { position: 1000, tables: vec![(0, 0), (1, 17)], next_table: 18 });
    commit.finish().unwrap();
    let mut commit = store.begin(1_700_000_002_000);
    commit.begin_run(1, false).unwrap();
    for record in records(1, false) {
        commit.record(&record).unwrap();
    }
    let mut record = shards.remove(1);
    record.runs.push(commit.end_run().unwrap());
    commit.put_shard(ShardRecord { position: 2000, ..record });
    for shard in [0, 2, 3] {
        let before = commit.store().shard(shard).clone();
        commit.put_shard(ShardRecord { position: 1999, ..before });
    }
    commit.finish().unwrap();
    store.close().unwrap();
}

fn records(shard: u32, is_base: bool) -> Vec<Vec<u8>> {
    match (shard, is_base) {
        (0, _) => vec![b"one".to_vec(), vec![], vec![7; 300]],
        (_, true) => vec![b"two".to_vec(), vec![9; 17_000], b"three".to_vec()],
        (_, false) => vec![b"four".to_vec()],
    }
}

fn leaf(shard: u32) -> Vec<u8> {
    vec![b'a' + shard as u8; 50]
}

#[test]
fn the_bytes_of_version_1_are_frozen() {
    let disk = FakeDisk::new();
    write(&disk);
    let written = files(&disk);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(kept()).unwrap();
        written.iter().for_each(|path| std::fs::write(kept().join(name_of(path)), bytes_of(&disk, path)).unwrap());
    }
    assert_eq!(RealDisk.list(&kept()).unwrap().len(), written.len());
    for path in written {
        assert!(std::fs::read(kept().join(name_of(&path))).unwrap() == bytes_of(&disk, &path), "{}", path.display());
    }
}

#[test]
fn a_store_of_version_1_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in RealDisk.list(&kept()).unwrap() {
        std::fs::copy(kept().join(&name), folder.path().join(name)).unwrap();
    }
    let report = store::check(&RealDisk, folder.path(), options(), &mut |_, _| {}).unwrap();
    assert_eq!((report.commit, report.runs, report.records, report.blocks), (2, 3, 7, 2));
    assert_eq!((report.least_position, report.damages, report.notes), (1000, vec![], vec![]));
    let store = Store::open(Arc::new(RealDisk), folder.path(), options()).unwrap();
    assert_eq!(store.commits(), 2);
    assert_eq!(store.map().unwrap().tables, [(0, 0), (1, 17)]);
    assert_eq!([0, 1, 2, 3].map(|shard| store.shard(shard).position), [1999, 2000, 1999, 1999]);
    let reader = store.reader();
    for shard in 0..2 {
        let record = store.shard(shard);
        assert_eq!(record.tables, [Keys { table: 0, keys: 3, expiring: 1 }]);
        for run in &record.runs {
            assert_eq!(records_of(&reader, shard, run).unwrap(), records(shard, run.is_base));
        }
        let at = 40 + block_bytes(50) as u32 * shard;
        let place = store::Place::new(record.blocks[0].segment, at).unwrap();
        assert_eq!(reader.block(place, 50).unwrap(), leaf(shard));
    }
    // It goes on.
    drop(reader);
    let mut store = store;
    let mut commit = store.begin(1_700_000_003_000);
    commit.put_shard(ShardRecord { shard: 1, position: 3000, ..ShardRecord::default() });
    commit.finish().unwrap();
    assert_eq!(store.segments().len(), 2);
}

#[test]
fn an_unknown_format_version_is_named_in_the_error() {
    let disk = FakeDisk::new();
    write(&disk);
    let path = files(&disk).into_iter().find(|path| name_of(path).starts_with("manifest-")).unwrap();
    let mut head = bytes_of(&disk, &path)[..48].to_vec();
    head[8] = 2;
    let crc = base::checksum(base::checksum(0, &head[..12]), &head[16..]);
    head[12..16].copy_from_slice(&crc.to_le_bytes());
    disk.open(&path).unwrap().write_at(&head, 0).unwrap();
    let error = Store::open(Arc::new(disk.clone()), &folder(), options()).err().expect("refused");
    assert!(error.to_string().contains("format version 2, known is 1"), "{error}");
}
