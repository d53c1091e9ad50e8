//! Random commits compared with a naive twin; the store is reopened after each.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use std::collections::BTreeSet;
use store::{SegmentKind, ShardRecord, Store, StoreError};

#[test]
fn a_reopened_store_holds_exactly_the_committed_state() {
    for seed in 0..cases(40) {
        let (disk, mut random) = (FakeDisk::new(), random(seed));
        let mut twin = Twin::new();
        let mut store = open(&disk).unwrap();
        assert!(store.opening().is_new);
        for round in 0..25 {
            let context = format!("seed {seed}, round {round}");
            if random.below(5) == 0 {
                let before = store.commits();
                let mut dropped = store.begin(2000);
                fill(&mut dropped, &twin, &mut random).unwrap();
                drop(dropped);
                assert_eq!(store.commits(), before, "{context}");
            } else {
                twin = commit(&mut store, &twin, &mut random).unwrap();
            }
            twin.compare(&store).unwrap_or_else(|why| panic!("{context}: {why}"));
            check_files(&disk, &store, &context);
            if random.below(2) == 0 {
                store.close().unwrap();
            }
            assert_whole(&disk, &context);
            store = open(&disk).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(store.opening(), &store::Opening::default(), "{context}");
            twin.compare(&store).unwrap_or_else(|why| panic!("{context}, opened: {why}"));
        }
    }
}

/// Checks that only needed files exist, and that the counts match the files.
fn check_files(disk: &FakeDisk, store: &Store, context: &str) {
    let segments = store.segments();
    let files = files(disk);
    let on_disk = files.iter().filter(|path| is_segment(path)).count();
    assert_eq!(on_disk, segments.len(), "{context}: {files:?}");
    assert_eq!(files.len(), on_disk + 2, "{context}: one manifest and the reserve, {files:?}");
    assert_eq!(store.statistics().disk_bytes, disk.used_bytes(), "{context}");
    for segment in segments {
        assert!(segment.live_bytes > 0 || segment.kind == SegmentKind::Runs, "{context}: {segment:?}");
        assert!(segment.live_bytes < segment.file_bytes, "{context}: {segment:?}");
        assert!(store.is_alive(segment.number), "{context}");
    }
}

#[test]
fn segment_numbers_are_never_reused() {
    let (disk, mut random) = (FakeDisk::new(), random(5));
    let (mut store, twin) = grown(&disk, &mut random, 3);
    let mut numbers = BTreeSet::new();
    for _ in 0..10 {
        let mut dropped = store.begin(1);
        assert!(numbers.iter().all(|number| !dropped.alive().contains(*number)), "those of failed commits are dead");
        let place = dropped.block(b"leaf").unwrap();
        assert!(numbers.insert(place.segment()));
        drop(dropped);
        assert!(!store.is_alive(place.segment()));
    }
    commit(&mut store, &twin, &mut random).unwrap();
    let greatest = store.segments().iter().map(|segment| segment.number).max().unwrap();
    drop(store);
    let mut store = open(&disk).unwrap();
    let place = store.begin(1).block(b"leaf").unwrap();
    assert!(place.segment() > greatest);
}

/// A reader continues while commits release the segments that it reads.
#[test]
fn a_reader_keeps_reading_segments_that_commits_release() {
    for seed in 0..cases(20) {
        let (disk, mut random) = (FakeDisk::new(), random(seed));
        let (mut store, mut twin) = grown(&disk, &mut random, 6);
        let (reader, known) = (store.reader(), twin.clone());
        for _ in 0..12 {
            twin = commit(&mut store, &twin, &mut random).unwrap();
        }
        let other = std::thread::spawn(move || {
            for shard in &known.shards {
                for (run, records) in shard.record.runs.iter().zip(&shard.runs) {
                    assert_eq!(&records_of(&reader, shard.record.shard, run).unwrap(), records);
                }
                for (place, bytes) in &shard.blocks {
                    assert_eq!(&reader.block(*place, bytes.len()).unwrap(), bytes);
                }
            }
        });
        other.join().unwrap();
        twin = commit(&mut store, &twin, &mut random).unwrap();
        twin.compare(&store).unwrap();
        check_files(&disk, &store, &format!("seed {seed}"));
    }
}

#[test]
fn reading_a_block_by_wrong_place_or_length_fails() {
    let disk = FakeDisk::new();
    let mut store = open(&disk).unwrap();
    let mut commit = store.begin(1);
    let (one, two) = (commit.block(b"leaf one").unwrap(), commit.block(b"leaf two!").unwrap());
    let share = store::Share { segment: one.segment(), bytes: store::block_bytes(8) + store::block_bytes(9) };
    commit.put_shard(ShardRecord { shard: 1, position: 5, blocks: vec![share], ..ShardRecord::default() });
    commit.finish().unwrap();
    let reader = store.reader();
    assert_eq!(reader.block(one, 8).unwrap(), b"leaf one");
    assert_eq!(reader.block(two, 9).unwrap(), b"leaf two!");
    for (place, bytes) in [(one, 7), (one, 9), (two, 8), (two, 4000)] {
        assert!(matches!(reader.block(place, bytes), Err(StoreError::Damaged { .. })), "{bytes}");
    }
    let beside = store::Place::new(one.segment(), one.offset() + 1).unwrap();
    assert!(matches!(reader.block(beside, 8), Err(StoreError::Damaged { .. })));
    let nowhere = store::Place::new(one.segment() + 9, one.offset()).unwrap();
    assert!(matches!(reader.block(nowhere, 8), Err(StoreError::Damaged { .. })));
    let run = store::Run { segment: one.segment(), offset: 40, bytes: 24, records: 1, crc: 0, is_base: true };
    assert!(matches!(records_of(&reader, 1, &run), Err(StoreError::Damaged { .. })));
}

#[test]
fn an_error_of_a_visitor_is_reported_with_its_file() {
    let (disk, mut random) = (FakeDisk::new(), random(3));
    let (store, twin) = grown(&disk, &mut random, 8);
    let shard = twin.shards.iter().find(|shard| shard.runs.iter().any(|run| !run.is_empty())).unwrap();
    let at = shard.runs.iter().position(|run| !run.is_empty()).unwrap();
    let error = store.reader().visit(shard.record.shard, &shard.record.runs[at], &mut |_| Err("no effect".into()));
    let Err(StoreError::Damaged { file, why, .. }) = error else { panic!("{error:?}") };
    assert!(is_segment(&file));
    assert!(why.contains("no effect"), "{why}");
}

#[test]
fn the_least_position_covers_all_shards_and_the_map() {
    let disk = FakeDisk::new();
    let mut store = open(&disk).unwrap();
    assert_eq!((store.least_position(), store.map()), (0, None));
    let mut commit = store.begin(1);
    for shard in 0..SHARDS {
        commit.put_shard(ShardRecord { shard, position: 70 + u64::from(shard), ..ShardRecord::default() });
    }
    commit.put_map(store::MapRecord { position: 90, tables: vec![(0, 0)], next_table: 16 });
    commit.finish().unwrap();
    assert_eq!(store.least_position(), 70);
    drop(store);
    let store = open(&disk).unwrap();
    assert_eq!(store.least_position(), 70);
    assert_eq!(store.shard(3).position, 73);
    assert_eq!(store.statistics().last_commit_ms, 1);
}

#[test]
fn another_identity_shard_count_or_blocks_format_is_refused() {
    let (disk, mut random) = (FakeDisk::new(), random(6));
    grown(&disk, &mut random, 1).0.close().unwrap();
    let other = |change: fn(&mut store::Options)| {
        let mut options = options();
        change(&mut options);
        Store::open(std::sync::Arc::new(disk.clone()), &folder(), options)
    };
    assert!(matches!(other(|options| options.identity = 78), Err(StoreError::Damaged { .. })));
    assert!(matches!(other(|options| options.shards = 7), Err(StoreError::Damaged { .. })));
    assert!(matches!(other(|options| options.blocks_format = 9), Err(StoreError::Damaged { .. })));
    assert!(other(|_| ()).is_ok());
}

#[test]
fn an_empty_store_accepts_any_identity_until_the_first_commit() {
    let disk = FakeDisk::new();
    open(&disk).unwrap().close().unwrap();
    let mut other = options();
    other.identity += 1;
    let open_other = || Store::open(std::sync::Arc::new(disk.clone()), &folder(), other);
    assert!(open_other().unwrap().map().is_none());
    // From the first commit on it accepts no other identity.
    let mut store = open_other().unwrap();
    commit(&mut store, &Twin::new(), &mut random(6)).unwrap();
    drop(store);
    assert!(open_other().is_ok());
    assert!(matches!(open(&disk), Err(StoreError::Damaged { .. })));
}

#[test]
fn unknown_files_are_kept_and_unfinished_ones_removed() {
    let (disk, mut random) = (FakeDisk::new(), random(8));
    let (store, twin) = grown(&disk, &mut random, 4);
    drop(store);
    disk.create(&folder().join("notes.txt")).unwrap().write_at(b"mine", 0).unwrap();
    disk.create(&folder().join("manifest-3.old")).unwrap();
    disk.create(&folder().join("manifest-0000000900.new")).unwrap();
    disk.create(&folder().join("0000000800.runs")).unwrap();
    let mut store = open(&disk).unwrap();
    let twin = commit(&mut store, &twin, &mut random).unwrap();
    twin.compare(&store).unwrap();
    let names: Vec<String> = files(&disk).iter().map(|path| name_of(path).to_owned()).collect();
    assert!(names.contains(&"notes.txt".into()));
    assert!(names.contains(&"manifest-3.old".into()));
    assert!(!names.contains(&"manifest-0000000900.new".into()));
    assert!(!names.contains(&"0000000800.runs".into()));
}
