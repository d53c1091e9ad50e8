//! The power is cut at every operation, and every operation fails once: the store holds the state of the last commit,
//! or of the commit in progress.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use store::{Store, StoreError};

/// The outcome of a run.
struct Past {
    /// The last committed state.
    finished: Twin,
    /// The states of failed commits since then.
    attempted: Vec<Twin>,
    failures: u64,
}

impl Past {
    fn new() -> Self {
        Self { finished: Twin::new(), attempted: Vec::new(), failures: 0 }
    }

    /// Returns the state that the store holds, and panics if it is none of the possible ones.
    fn check(&self, store: &Store, context: &str) -> Twin {
        let finished = self.finished.compare(store);
        if finished.is_ok() {
            return self.finished.clone();
        }
        let attempted = self.attempted.iter().find(|twin| twin.compare(store).is_ok());
        attempted.unwrap_or_else(|| panic!("{context}: {finished:?}")).clone()
    }
}

/// A small workload: commits, some dropped, some restarts. Goes on after failures.
fn run(disk: &FakeDisk, seed: u64, mut past: Past, commits: u64) -> Past {
    let mut random = random(seed);
    let Ok(mut store) = open(disk) else { return past };
    for _ in 0..commits {
        let fork = random.clone();
        match random.below(8) {
            0 => {
                let mut dropped = store.begin(2000);
                past.failures += u64::from(fill(&mut dropped, &past.finished, &mut random).is_err());
            }
            1 => {
                past.failures += u64::from(store.close().is_err());
                match open(disk) {
                    Ok(again) => {
                        // Checked on a copy, on which nothing fails.
                        past.finished = past.check(&open(&disk.copy()).expect("a store"), "opened again");
                        past.attempted.clear();
                        store = again;
                    }
                    Err(_) => return past,
                }
            }
            _ => match attempt(&mut store, &mut past, &mut random) {
                Ok(()) => {}
                Err(error) => {
                    assert!(matches!(error, StoreError::Io { .. }), "{error}");
                    past.failures += 1;
                    past.finished.compare_records(&store).expect("a failed commit leaves the store as it was");
                }
            },
        }
        random = fork;
        random.next();
    }
    past
}

fn attempt(store: &mut Store, past: &mut Past, random: &mut Random) -> Result<(), StoreError> {
    let mut commit = store.begin(2000);
    let twin = fill(&mut commit, &past.finished, random)?;
    past.attempted.push(twin.clone());
    commit.finish()?;
    past.finished = twin;
    past.attempted.clear();
    Ok(())
}

/// Opens the disk after a crash, and commits again.
fn recover(disk: &FakeDisk, past: &Past, context: &str) -> Past {
    let mut store = open(disk).unwrap_or_else(|error| panic!("{context}: {error}"));
    let twin = past.check(&store, context);
    let mut random = random(99);
    let next = commit(&mut store, &twin, &mut random).unwrap_or_else(|error| panic!("{context}: {error}"));
    next.compare(&store).unwrap_or_else(|why| panic!("{context}: {why}"));
    let expected = store.segments().len();
    let kept = files(disk).into_iter().filter(|path| is_segment(path)).count();
    assert_eq!(kept, expected, "{context}: nothing is left over");
    drop(store);
    assert_whole(disk, context);
    Past { finished: next, attempted: Vec::new(), failures: 0 }
}

#[test]
fn commits_survive_a_power_cut_at_every_operation() {
    for seed in 0..cases(12) {
        let whole = FakeDisk::new();
        run(&whole, seed, Past::new(), 7);
        let operations = whole.operations();
        assert!(operations <= 260, "{operations}");
        for operation in 0..operations {
            for coin in 0..3 {
                let context = format!("seed {seed}, power cut at operation {operation} of {operations}, coin {coin}");
                let disk = FakeDisk::new();
                disk.halt_at(operation);
                let past = run(&disk, seed, Past::new(), 7);
                let crashed = disk.crash(seed ^ operation << 8 ^ coin << 32);
                // Once more while it recovers, and once more right after.
                let again = crashed.copy();
                again.halt_at(random(operation).below(40));
                let _ = open(&again);
                let past = recover(&again.crash(coin), &past, &format!("{context}, again in recovery"));
                let settled = crashed.crash(operation);
                drop(past);
                let past = run(&disk_halted(&settled, 30 + operation % 50), seed + 1, known(&settled), 4);
                let next = settled.crash(coin);
                recover(&next, &past, &format!("{context}, in the life after"));
            }
        }
    }
}

fn disk_halted(disk: &FakeDisk, operations: u64) -> FakeDisk {
    disk.halt_at(disk.operations() + operations);
    disk.clone()
}

/// Returns the state on a disk, read from a copy.
fn known(disk: &FakeDisk) -> Past {
    let store = open(&disk.copy()).expect("a store");
    let reader = store.reader();
    let shard = |index| {
        let record = store.shard(index).clone();
        let runs = record.runs.iter().map(|run| records_of(&reader, index, run).unwrap()).collect();
        TwinShard { record: store::ShardRecord { ..record }, runs, blocks: Vec::new() }
    };
    // The blocks are not known here; a change of the shard replaces them.
    let finished = Twin { shards: (0..SHARDS).map(shard).collect(), map: store.map().cloned() };
    Past { finished, attempted: Vec::new(), failures: 0 }
}

#[test]
fn commits_survive_one_failure_of_every_operation() {
    for seed in 0..cases(15) {
        let whole = FakeDisk::new();
        run(&whole, seed, Past::new(), 7);
        let operations = whole.operations();
        let mut failures = 0;
        for operation in 0..operations {
            let context = format!("seed {seed}, operation {operation} of {operations} fails");
            let disk = FakeDisk::failing_at(operation);
            let mut past = run(&disk, seed, Past::new(), 7);
            failures += past.failures;
            recover(&disk.copy(), &past, &context);
            recover(&disk.crash(operation), &past, &context);
            // It recovers without a restart.
            if let Ok(mut store) = open(&disk) {
                past.finished = past.check(&store, &context);
                past.attempted.clear();
                disk.fail_at(disk.operations() + operation % 30);
                let _ = attempt(&mut store, &mut past, &mut random(operation));
                disk.fail_at(u64::MAX);
                let healed = commit(&mut store, &past.finished, &mut random(operation + 1));
                let twin = healed.unwrap_or_else(|error| panic!("{context}: {error}"));
                twin.compare(&store).unwrap_or_else(|why| panic!("{context}: {why}"));
                let past = Past { finished: twin, attempted: Vec::new(), failures: 0 };
                recover(&disk.crash(operation), &past, &format!("{context}, healed"));
            }
        }
        assert!(failures > 0);
    }
}

#[test]
fn a_kill_keeps_the_last_commit() {
    for seed in 0..cases(30) {
        let disk = FakeDisk::new();
        let past = run(&disk, seed, Past::new(), 10);
        let killed = disk.killed();
        let store = open(&killed).unwrap();
        let twin = past.check(&store, &format!("seed {seed}, killed"));
        drop(store);
        let past = Past { finished: twin, attempted: Vec::new(), failures: 0 };
        recover(&killed.crash(seed), &past, &format!("seed {seed}, killed, then cut"));
    }
}

/// A commit in progress at the crash may leave a torn record and intact segments: they are reported and kept.
#[test]
fn a_torn_record_is_reported_and_saved_to_a_file() {
    let (mut torn, mut unclaimed) = (0, 0);
    for seed in 0..cases(40) {
        let base = FakeDisk::new();
        let (store, twin) = grown(&base, &mut random(seed), 4);
        drop(store);
        for cut in 0..25 {
            let disk = base.copy();
            let mut store = open(&disk).unwrap();
            disk.halt_at(disk.operations() + cut);
            let mut past = Past { finished: twin.clone(), attempted: Vec::new(), failures: 0 };
            let _ = attempt(&mut store, &mut past, &mut random(seed + 1000));
            let crashed = disk.crash(seed ^ cut << 16);
            let manifest = files(&crashed).into_iter().rfind(|path| name_of(path).starts_with("manifest-"));
            let before = bytes_of(&crashed, &manifest.unwrap());
            let mut store = open(&crashed).unwrap();
            let twin = past.check(&store, "after the crash");
            let opening = store.opening().clone();
            unclaimed += opening.unclaimed.len();
            let Some(tail) = opening.torn else { continue };
            torn += 1;
            assert!(opening.unclaimed.iter().all(|path| crashed.open(path).is_ok()));
            let rest = &before[tail.offset as usize..];
            assert_eq!(rest.len() as u64, tail.bytes);
            let kept = files(&crashed);
            let kept = kept.iter().find(|path| name_of(path).starts_with("torn-")).expect("it is kept aside");
            assert_eq!(bytes_of(&crashed, kept), before);
            commit(&mut store, &twin, &mut random(seed)).unwrap();
            assert!(opening.unclaimed.iter().all(|path| crashed.open(path).is_err()));
            assert_eq!(open(&crashed).unwrap().opening(), &store::Opening::default());
        }
    }
    assert!(torn > 0, "no crash tore a record");
    assert!(unclaimed > 0, "no crash left whole segments");
}
