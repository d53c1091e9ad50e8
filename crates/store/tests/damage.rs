//! Bits are flipped, files are truncated and removed: harmless, reported, or refused with file and offset. Never a
//! wrong record, never a panic. A repair loses the records that the check reported and nothing else.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Report, Store, StoreError};

struct Kept {
    disk: FakeDisk,
    /// The states after each commit, the last one last.
    twins: Vec<Twin>,
}

/// A store of a few commits, closed or not.
fn kept(seed: u64) -> Kept {
    let (disk, mut random) = (FakeDisk::new(), random(seed));
    let mut store = open(&disk).unwrap();
    let mut twins = vec![Twin::new()];
    for _ in 0..3 + seed % 12 {
        twins.push(commit(&mut store, &twins[twins.len() - 1], &mut random).unwrap());
    }
    if seed.is_multiple_of(2) {
        store.close().unwrap();
    }
    Kept { disk, twins }
}

impl Kept {
    fn last(&self) -> &Twin {
        &self.twins[self.twins.len() - 1]
    }

    /// Returns all files except the reserve.
    fn files(&self) -> Vec<PathBuf> {
        files(&self.disk).into_iter().filter(|path| name_of(path) != "reserve").collect()
    }

    /// Returns a random byte of all files, each equally likely.
    fn byte(&self, random: &mut Random) -> (PathBuf, u64) {
        let files = self.files();
        let sizes: Vec<u64> = files.iter().map(|file| bytes_of(&self.disk, file).len() as u64).collect();
        let mut at = random.below(sizes.iter().sum());
        let mut index = 0;
        while at >= sizes[index] {
            at -= sizes[index];
            index += 1;
        }
        (files[index].clone(), at)
    }
}

/// The outcome of opening and reading a damaged store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Harmless,
    /// It opens with an older state, and reports that.
    CutBack,
    /// It does not open.
    Refused,
    /// It opens; reading the damaged part fails.
    Reported,
}

/// Opens the store, reads everything, and checks that nothing read is wrong.
fn outcome(kept: &Kept, disk: &FakeDisk, damaged: &Path, offset: u64, context: &str) -> Outcome {
    let store = match open(disk) {
        Ok(store) => store,
        Err(error) => {
            check_place(&error, damaged, offset, context);
            return Outcome::Refused;
        }
    };
    let records_are = |twin: &Twin| twin.compare_records(&store).is_ok();
    if !records_are(kept.last()) {
        let before = kept.twins.iter().rposition(records_are).unwrap_or_else(|| panic!("{context}: never was"));
        kept.twins[before].compare(&store).unwrap_or_else(|why| panic!("{context}: {why}"));
        let opening = store.opening();
        assert!(name_of(damaged).starts_with("manifest-"), "{context}");
        let is_reported = opening.torn.as_ref().is_some_and(|torn| torn.file == damaged && torn.offset <= offset);
        let is_reported = is_reported || !opening.unclaimed.is_empty();
        let next = &kept.twins[before + 1];
        assert!(is_reported || newest(next) == newest(&kept.twins[before]), "{context}: without a word");
        assert_eq!(newest(next), newest(kept.last()), "{context}: too old");
        return Outcome::CutBack;
    }
    read(&store, kept.last(), damaged, offset, context)
}

/// Returns the newest segment. Commits without segments leave no trace but their records; the journal has their data.
fn newest(twin: &Twin) -> Option<u32> {
    let of_runs = |shard: &TwinShard| shard.record.runs.iter().map(|run| run.segment).max();
    let of_blocks = |shard: &TwinShard| shard.record.blocks.iter().map(|share| share.segment).max();
    twin.shards.iter().map(|shard| of_runs(shard).max(of_blocks(shard))).max().flatten()
}

fn check_place(error: &StoreError, damaged: &Path, offset: u64, context: &str) {
    let StoreError::Damaged { file, offset: found, why, remedy } = error else { panic!("{context}: {error}") };
    // A truncated manifest is detected by files that it no longer names, or still names.
    let is_manifest = name_of(damaged).starts_with("manifest-");
    assert!(file == damaged || is_manifest, "{context}: {error}");
    assert!(*found <= offset || file != damaged, "{context}: {error}");
    assert!(!why.is_empty() && !remedy.is_empty());
}

fn read(store: &Store, twin: &Twin, damaged: &Path, offset: u64, context: &str) -> Outcome {
    let (reader, mut outcome) = (store.reader(), Outcome::Harmless);
    let mut report = |error: &StoreError| {
        check_place(error, damaged, offset, context);
        outcome = Outcome::Reported;
    };
    for shard in &twin.shards {
        for (run, records) in shard.record.runs.iter().zip(&shard.runs) {
            let mut visited = 0;
            let done = reader.visit(shard.record.shard, run, &mut |record| {
                assert_eq!(record, records[visited], "{context}: a wrong record");
                visited += 1;
                Ok(())
            });
            match done {
                Ok(()) => assert_eq!(visited, records.len(), "{context}"),
                Err(error) => report(&error),
            }
        }
        for (place, bytes) in &shard.blocks {
            match reader.block(*place, bytes.len()) {
                Ok(found) => assert_eq!(found, *bytes, "{context}: a wrong block"),
                Err(error) => report(&error),
            }
        }
    }
    outcome
}

fn check(disk: &FakeDisk) -> Report {
    store::check(disk, &folder(), options(), &mut |done, total| assert!(done <= total)).expect("a report")
}

/// The check reports damage iff there is any; a repair loses only what the check reported.
fn check_and_repair(kept: &Kept, disk: &FakeDisk, damaged: &Path, outcome: Outcome, context: &str) {
    let before = files(disk);
    let report = check(disk);
    assert_eq!(files(disk), before, "{context}: a check changes nothing");
    match outcome {
        Outcome::Harmless => assert!(report.damages.iter().all(|damage| damage.shard.is_none()), "{context}"),
        Outcome::CutBack => assert_eq!(report.damages, [], "{context}"),
        Outcome::Refused | Outcome::Reported => assert!(!report.damages.is_empty(), "{context}"),
    }
    let repaired = store::repair(Arc::new(disk.clone()), &folder(), options(), &mut |_, _| {});
    let repaired = repaired.unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(repaired.damages, report.damages, "{context}");
    let mut store = open(disk).unwrap_or_else(|error| panic!("{context}: after the repair: {error}"));
    if outcome == Outcome::CutBack {
        return;
    }
    let after = check(disk);
    assert!(after.damages.iter().all(|damage| damage.shard.is_none()), "{context}: {:?}", after.damages);
    // A truncated manifest loses commits, not records of runs.
    if name_of(damaged).starts_with("manifest-") {
        check_known(kept, &store, &report, context);
    } else {
        check_losses(kept.last(), &store, &report, context);
    }
    for name in &repaired.kept_as {
        assert!(!bytes_of(disk, name).is_empty() || name_of(name).contains("manifest"), "{context}: {name:?}");
    }
    let twin = twin_of(&store);
    commit(&mut store, &twin, &mut random(1)).unwrap_or_else(|error| panic!("{context}: {error}"));
}

/// Each shard equals its earlier state at its position, whichever commits are lost, unless losses were reported for it.
fn check_known(kept: &Kept, store: &Store, report: &Report, context: &str) {
    let left = twin_of(store);
    for (index, shard) in left.shards.iter().enumerate() {
        let was = |twin: &Twin| {
            let known = &twin.shards[index];
            known.record.position == shard.record.position && known.runs == shard.runs
        };
        let is_announced = report.damages.iter().any(|damage| damage.shard == Some(index as u32));
        assert!(is_announced || kept.twins.iter().any(was), "{context}: shard {index} never was like this");
    }
}

/// The rest of each run is unchanged, without the records reported lost.
fn check_losses(twin: &Twin, store: &Store, report: &Report, context: &str) {
    let reader = store.reader();
    for shard in &twin.shards {
        let index = shard.record.shard;
        let announced: u64 =
            report.damages.iter().filter(|damage| damage.shard == Some(index)).map(|damage| damage.records_lost).sum();
        let record = store.shard(index);
        assert_eq!(record.position, shard.record.position, "{context}");
        let mut left = Vec::new();
        for run in &record.runs {
            left.extend(records_of(&reader, index, run).unwrap_or_else(|error| panic!("{context}: {error}")));
        }
        let all: Vec<Vec<u8>> = shard.runs.concat();
        assert_eq!(left.len() as u64 + announced, all.len() as u64, "{context}: shard {index}");
        let mut rest = all.iter();
        assert!(left.iter().all(|record| rest.any(|other| other == record)), "{context}: shard {index}");
    }
}

fn twin_of(store: &Store) -> Twin {
    let reader = store.reader();
    let shard = |index| {
        let record = store.shard(index).clone();
        let runs = record.runs.iter().map(|run| records_of(&reader, index, run).unwrap()).collect();
        TwinShard { record, runs, blocks: Vec::new() }
    };
    Twin { shards: (0..SHARDS).map(shard).collect(), map: store.map().cloned() }
}

#[test]
fn a_flipped_bit_is_harmless_refused_or_reported() {
    let mut random = random(1);
    let mut seen = std::collections::BTreeMap::<Outcome, u64>::new();
    for seed in 0..cases(100) {
        let kept = kept(seed);
        for _ in 0..20 {
            let (path, offset) = kept.byte(&mut random);
            let bit = random.below(8);
            let context = format!("seed {seed}, bit {bit} of byte {offset} of {}", path.display());
            let disk = kept.disk.copy();
            let mut file = disk.open(&path).unwrap();
            let mut byte = [0];
            file.read_at(&mut byte, offset).unwrap();
            file.write_at(&[byte[0] ^ 1 << bit], offset).unwrap();
            let outcome = outcome(&kept, &disk, &path, offset, &context);
            check_and_repair(&kept, &disk, &path, outcome, &context);
            *seen.entry(outcome).or_default() += 1;
        }
    }
    // A mark follows every commit, so a single flipped bit is never taken for a torn record.
    assert!(!seen.contains_key(&Outcome::CutBack), "{seen:?}");
    assert!(seen.contains_key(&Outcome::Refused) && seen.contains_key(&Outcome::Reported), "{seen:?}");
}

#[test]
fn a_truncated_file_never_yields_wrong_data() {
    let mut random = random(2);
    let mut seen = std::collections::BTreeMap::<Outcome, u64>::new();
    for seed in 0..cases(100) {
        let kept = kept(seed);
        for round in 0..4 {
            let (path, offset) = match round {
                // Half of them are manifests, which are short.
                0 | 1 => {
                    let files = kept.files();
                    let path = files.iter().find(|path| name_of(path).starts_with("manifest-")).unwrap().clone();
                    let bytes = bytes_of(&kept.disk, &path).len() as u64;
                    (path, random.below(bytes))
                }
                _ => kept.byte(&mut random),
            };
            let context = format!("seed {seed}, {} is cut to {offset} bytes", path.display());
            let disk = kept.disk.copy();
            disk.open(&path).unwrap().truncate(offset).unwrap();
            let outcome = outcome(&kept, &disk, &path, offset, &context);
            check_and_repair(&kept, &disk, &path, outcome, &context);
            *seen.entry(outcome).or_default() += 1;
        }
    }
    assert!(seen.contains_key(&Outcome::Refused) && seen.contains_key(&Outcome::CutBack), "{seen:?}");
}

/// The power is cut at every operation of a repair: the next repair reports the same damage, or none is left.
#[test]
fn an_interrupted_repair_can_be_repeated() {
    let repair = |disk: &FakeDisk| store::repair(Arc::new(disk.clone()), &folder(), options(), &mut |_, _| {});
    let mut cuts = 0;
    for seed in 0..cases(12) {
        let (kept, mut random) = (kept(seed), random(seed));
        let runs: Vec<PathBuf> = kept.files().into_iter().filter(|path| name_of(path).ends_with(".runs")).collect();
        let Some(path) = runs.first() else { continue };
        let damaged = kept.disk.copy();
        let offset = 40 + random.below(bytes_of(&damaged, path).len() as u64 - 40);
        damaged.open(path).unwrap().write_at(&[0x55; 3], offset).unwrap();
        let damaged = damaged.copy();
        let announced = check(&damaged);
        let whole = damaged.copy();
        repair(&whole).unwrap();
        for operation in 0..whole.operations() {
            let context = format!("seed {seed}, power cut at operation {operation} of the repair");
            let disk = damaged.copy();
            disk.halt_at(operation);
            let _ = repair(&disk);
            let crashed = disk.crash(operation);
            let repaired = repair(&crashed).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert!(
                repaired.damages == announced.damages || repaired.damages.is_empty(),
                "{context}: {:?}",
                repaired.damages
            );
            let store = open(&crashed).unwrap_or_else(|error| panic!("{context}: {error}"));
            check_losses(kept.last(), &store, &announced, &context);
            cuts += 1;
        }
    }
    assert!(cuts > 0);
}

#[test]
fn a_missing_file_is_refused_and_repairable() {
    for seed in 0..cases(20) {
        let kept = kept(seed);
        for path in kept.files() {
            let context = format!("seed {seed}, {} is missing", path.display());
            let disk = kept.disk.copy();
            disk.remove(&path).unwrap();
            let found = if disk.list(&folder()).unwrap().iter().all(|name| name == "reserve") {
                continue;
            } else {
                outcome(&kept, &disk, &path, 0, &context)
            };
            assert_eq!(found, Outcome::Refused, "{context}");
            check_and_repair(&kept, &disk, &path, found, &context);
        }
    }
}

#[test]
fn bytes_after_the_end_of_a_file_are_harmless() {
    let kept = kept(4);
    for path in kept.files() {
        let disk = kept.disk.copy();
        let bytes = bytes_of(&disk, &path).len() as u64;
        disk.open(&path).unwrap().write_at(&[7; 900], bytes).unwrap();
        assert_eq!(outcome(&kept, &disk, &path, bytes, "grown"), Outcome::Harmless);
        assert_eq!(check(&disk).damages, []);
    }
}

/// A page moved to the offset of another is not read as that one.
#[test]
fn a_page_moved_to_another_offset_is_reported() {
    let kept = kept(11);
    for path in kept.files().into_iter().filter(|path| name_of(path).ends_with(".runs")) {
        let bytes = bytes_of(&kept.disk, &path);
        let pages: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"bob\x01")).collect();
        for pair in pages.windows(2) {
            let (one, two) = (pair[0] - 8, pair[1] - 8);
            let disk = kept.disk.copy();
            let moved = bytes[two..(two + (two - one)).min(bytes.len() - 32)].to_vec();
            disk.open(&path).unwrap().write_at(&moved, one as u64).unwrap();
            assert_eq!(outcome(&kept, &disk, &path, bytes.len() as u64, "moved"), Outcome::Reported);
        }
    }
}

#[test]
fn scanning_corrupted_bytes_never_panics() {
    let kept = kept(9);
    let mut random = random(3);
    let files: Vec<Vec<u8>> = kept.files().iter().map(|path| bytes_of(&kept.disk, path)).collect();
    for bytes in &files {
        assert!(store::scan_manifest(bytes).is_ok() || store::scan_segment(bytes).is_ok());
    }
    for _ in 0..cases(4000) {
        let bytes = &files[random.below(files.len() as u64) as usize];
        let mut bytes = bytes[..random.below(bytes.len() as u64 + 1) as usize].to_vec();
        for _ in 0..random.below(4) {
            if !bytes.is_empty() {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
        }
        let _ = store::scan_manifest(&bytes);
        let _ = store::scan_segment(&bytes);
    }
}
