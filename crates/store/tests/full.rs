//! A full disk: a commit fails cleanly, and a commit that frees room succeeds.

use crate::world::*;
use base::disk::FakeDisk;
use store::{ShardRecord, Store};

/// A store whose disk has no room left but the reserve.
fn full(seed: u64) -> (FakeDisk, Store, Twin) {
    let disk = FakeDisk::new();
    let (store, twin) = grown(&disk, &mut random(seed), 10);
    disk.set_capacity(Some(disk.used_bytes()));
    (disk, store, twin)
}

fn has_reserve(disk: &FakeDisk) -> bool {
    files(disk).iter().any(|path| name_of(path) == "reserve")
}

#[test]
fn a_commit_without_room_fails_and_loses_nothing() {
    for seed in 0..cases(30) {
        let (disk, mut store, twin) = full(seed);
        for bytes in [9_000, 100_000, 400_000] {
            let mut commit = store.begin(2000);
            commit.begin_run(0, true).unwrap();
            let error = commit.record(&vec![1; bytes]).and_then(|()| commit.end_run()).err();
            drop(commit);
            // A short record is buffered first, and refused only at the end.
            let is_long = bytes > 256 << 10;
            assert_eq!(error.is_some_and(|error| error.is_full()), is_long, "seed {seed}");
            twin.compare(&store).unwrap();
            assert!(has_reserve(&disk), "seed {seed}: the reserve is made again");
        }
        let mut commit = store.begin(2000);
        commit.begin_run(0, true).unwrap();
        commit.record(&[1; 60_000]).unwrap();
        let run = commit.end_run().unwrap();
        commit.put_shard(ShardRecord { position: 1 << 40, runs: vec![run], ..ShardRecord::default() });
        assert!(commit.finish().is_err_and(|error| error.is_full()), "seed {seed}");
        twin.compare(&store).unwrap();
        drop(store);
        twin.compare(&open(&disk).unwrap()).unwrap();
        assert_whole(&disk, "after a full disk");
    }
}

#[test]
fn a_commit_that_frees_room_succeeds_on_a_full_disk() {
    for seed in 0..cases(30) {
        let (disk, mut store, mut twin) = full(seed);
        let used = disk.used_bytes();
        let mut commit = store.begin(2000);
        for shard in 1..SHARDS {
            let record = ShardRecord { shard, position: 1 << 40, ..ShardRecord::default() };
            twin.shards[shard as usize] = TwinShard { record: record.clone(), ..TwinShard::default() };
            commit.put_shard(record);
        }
        commit.begin_run(0, true).unwrap();
        commit.record(b"what is left").unwrap();
        let run = commit.end_run().unwrap();
        let record = ShardRecord { position: 1 << 40, runs: vec![run], ..ShardRecord::default() };
        twin.shards[0] =
            TwinShard { record: record.clone(), runs: vec![vec![b"what is left".to_vec()]], ..TwinShard::default() };
        commit.put_shard(record);
        commit.finish().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        twin.compare(&store).unwrap();
        assert!(disk.used_bytes() < used, "seed {seed}");
        assert!(has_reserve(&disk), "seed {seed}: the reserve is made again");
        drop(store);
        twin.compare(&open(&disk).unwrap()).unwrap();
    }
}

/// A restart on a full disk works, and so does the commit after it.
#[test]
fn a_store_opens_and_commits_on_a_full_disk() {
    for seed in 0..cases(30) {
        let (disk, store, twin) = full(seed);
        drop(store);
        for capacity in [disk.used_bytes(), disk.used_bytes() - 1000] {
            disk.set_capacity(Some(capacity));
            let mut store = open(&disk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            twin.compare(&store).unwrap();
            let mut commit = store.begin(2000);
            commit.put_shard(twin.shards[0].record.clone());
            commit.finish().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        disk.set_capacity(None);
        let store = open(&disk).unwrap();
        twin.compare(&store).unwrap();
        assert!(has_reserve(&disk));
        drop(store);
        assert_whole(&disk, "after room came back");
    }
}

/// Commits continue on a nearly full disk: each takes effect whole, or not at all.
#[test]
fn commits_on_a_nearly_full_disk_are_all_or_nothing() {
    for seed in 0..cases(30) {
        let (disk, mut random) = (FakeDisk::new(), random(seed));
        let (mut store, mut twin) = grown(&disk, &mut random, 3);
        disk.set_capacity(Some(disk.used_bytes() + 20_000));
        let (mut done, mut refused) = (0, 0);
        for round in 0..40 {
            match commit(&mut store, &twin, &mut random) {
                Ok(next) => {
                    twin = next;
                    done += 1;
                }
                Err(error) => {
                    assert!(error.is_full(), "seed {seed}: {error}");
                    refused += 1;
                }
            }
            twin.compare(&store).unwrap_or_else(|why| panic!("seed {seed}, round {round}: {why}"));
            if round % 10 == 9 {
                drop(store);
                store = open(&disk).unwrap_or_else(|error| panic!("seed {seed}, round {round}: {error}"));
                twin.compare(&store).unwrap();
            }
        }
        assert!(done > 0 && refused + done == 40);
    }
}

/// A commit of one small run.
fn put_small(store: &mut Store) -> Result<(), store::StoreError> {
    let mut commit = store.begin(2000);
    commit.begin_run(0, true)?;
    commit.record(&[1; 100])?;
    let run = commit.end_run()?;
    commit.put_shard(ShardRecord { position: 1 << 40, runs: vec![run], ..ShardRecord::default() });
    commit.finish()
}

/// While a commit is in doubt for lack of room for a new manifest, it keeps its files; later failed commits do not.
#[test]
fn commits_failing_while_one_is_in_doubt_keep_no_files() {
    let mut in_doubt = 0;
    for operation in 0..12 {
        let (disk, mut store, _) = full(1);
        // Others take the reserve's room, so that no manifest can be written anew.
        disk.set_capacity(Some(disk.used_bytes() - 10_000));
        assert!(put_small(&mut store).is_err() && !has_reserve(&disk));
        let before = disk.used_bytes();
        disk.set_capacity(Some(before + 800));
        disk.fail_at(disk.operations() + operation);
        if put_small(&mut store).is_ok() {
            continue;
        }
        disk.fail_at(u64::MAX);
        let after = disk.used_bytes();
        if after == before {
            continue;
        }
        in_doubt += 1;
        // Enough for a segment.
        disk.set_capacity(Some(after + 300));
        for _ in 0..10 {
            assert!(put_small(&mut store).is_err());
            assert_eq!(disk.used_bytes(), after, "operation {operation}");
        }
        disk.set_capacity(Some(after + 20_000));
        put_small(&mut store).unwrap();
        drop(store);
        open(&disk).unwrap();
        assert_whole(&disk, "after a full disk");
    }
    assert!(in_doubt > 0);
}

/// A commit without room leaves no files, and the next commit needs no more room than its own.
#[test]
fn a_commit_that_found_no_room_leaves_no_files() {
    let (disk, mut store, _) = full(1);
    disk.set_capacity(Some(disk.used_bytes() - 10_000));
    assert!(put_small(&mut store).is_err() && !has_reserve(&disk));
    let before = disk.used_bytes();
    let mut refused = 0;
    for room_bytes in (0..2000).step_by(8) {
        disk.set_capacity(Some(before + room_bytes));
        if put_small(&mut store).is_ok() {
            break;
        }
        refused += 1;
        assert_eq!(disk.used_bytes(), before, "with room for {room_bytes} bytes");
    }
    assert!((20..200).contains(&refused), "{refused} were refused");
    drop(store);
    open(&disk).unwrap();
    assert_whole(&disk, "after commits without room");
}
