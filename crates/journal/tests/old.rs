//! Folders of format version 1, which had no seals, are opened and upgraded without loss.

use crate::world::*;
use base::checksum;
use base::disk::{Disk, FakeDisk};
use journal::{HEAD_BYTES, MARK_BYTES, OpenError, Policy, Purpose, Record, SEGMENT_HEAD_BYTES};
use std::path::Path;

fn write(disk: &FakeDisk, path: &Path, bytes: &[u8]) {
    let mut file = disk.open(path).unwrap();
    file.truncate(0).unwrap();
    file.write_at(bytes, 0).unwrap();
    file.sync().unwrap();
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn mend_head(bytes: &mut [u8]) {
    let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
    put_u32(bytes, 12, crc);
}

/// Returns the identity in the format of version 1.
fn identity(disk: &FakeDisk) -> Vec<u8> {
    let mut bytes = bytes_of(disk, &folder().join("identity"));
    bytes.truncate(56);
    put_u32(&mut bytes, 8, 1);
    mend_head(&mut bytes);
    bytes
}

/// Converts a segment to version 1: no seal in its head, and in each record the history in place of the seal.
fn segment(bytes: &mut [u8]) {
    put_u32(bytes, 8, 1);
    put_u32(bytes, 20, 0);
    mend_head(&mut bytes[..SEGMENT_HEAD_BYTES]);
    let history: [u8; 8] = bytes[24..32].try_into().unwrap();
    let number: [u8; 4] = bytes[16..20].try_into().unwrap();
    let mut at = SEGMENT_HEAD_BYTES;
    while let Some(record) = Record::glance(&bytes[at..]).filter(|record| record.head.segment.to_le_bytes() == number) {
        let end = at + record.bytes();
        bytes[at + 16..at + 24].copy_from_slice(&history);
        let crc = checksum(0, &bytes[at + 4..end]);
        put_u32(bytes, at, crc);
        at = end;
    }
    let Some(stop) = bytes.get_mut(at..at + HEAD_BYTES).filter(|stop| stop[8..12] == *b"bob\0") else { return };
    stop[16..24].copy_from_slice(&history);
    stop[11] = 1;
    let crc = checksum(0, &stop[4..]);
    put_u32(stop, 0, crc);
    stop[11] = 0;
}

/// Converts the folder to version 1.
fn as_version_1(disk: &FakeDisk) -> FakeDisk {
    let old = disk.copy();
    for path in segment_files(disk) {
        let mut bytes = bytes_of(disk, &path);
        segment(&mut bytes);
        write(&old, &path, &bytes);
    }
    write(&old, &folder().join("identity"), &identity(disk));
    old
}

struct Left {
    disk: FakeDisk,
    frames: Frames,
    from: u64,
}

fn left(seed: u64, policy: Policy) -> Left {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, policy).unwrap();
    world.load_and_release(&mut random(seed), 80);
    world.load(&mut random(seed), 20);
    world.settle();
    let from = world.from;
    let frames = if seed.is_multiple_of(2) { world.stop() } else { world.frames };
    Left { disk: as_version_1(&disk), frames: since(&frames, from), from }
}

fn version(disk: &FakeDisk, path: &Path) -> u8 {
    bytes_of(disk, path)[8]
}

#[test]
fn a_version_1_folder_is_upgraded_with_a_seal_key() {
    for seed in 0..cases(20) {
        for policy in [Policy::Always, Policy::Never] {
            let Left { disk, frames, from } = left(seed, policy);
            let mut world =
                World::open_from(&disk, policy, from).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            assert_eq!(world.frames, frames, "seed {seed}");
            assert_eq!(world.recovery.torn, None, "seed {seed}");
            let kept = bytes_of(&disk, &folder().join("identity"));
            assert_eq!((kept.len(), kept[8], &kept[56..]), (72, 2, &SEAL_KEY[..]));
            let versions: Vec<_> = segment_files(&disk).iter().map(|path| version(&disk, path)).collect();
            assert!(versions.is_sorted() && versions.last() == Some(&2), "{versions:?}");
            world.load(&mut random(seed + 1), 30);
            world.write();
            let frames = world.frames;
            let again = World::open_from(&disk.copy(), policy, from).unwrap();
            assert_eq!(again.frames, frames, "seed {seed}, again");
            assert_eq!(again.recovery.torn, None, "seed {seed}, again");
        }
    }
}

#[test]
fn an_upgrade_survives_a_power_cut_at_every_operation() {
    for seed in 0..cases(6) {
        let Left { disk, frames, from } = left(seed, Policy::Always);
        for operation in 0.. {
            let halted = disk.copy();
            halted.halt_at(halted.operations() + operation);
            let is_over = World::open_from(&halted, Policy::Always, from).is_ok();
            let context = format!("seed {seed}, operation {operation}");
            let crashed = halted.crash(seed ^ operation);
            let mut world =
                World::open_from(&crashed, Policy::Always, from).unwrap_or_else(|error| panic!("{context}: {error}"));
            assert_eq!(world.frames, frames, "{context}");
            world.put(0, b"sealed", Purpose::Grow).unwrap();
            world.settle();
            let frames = world.frames;
            let again = World::open_from(&crashed.crash(seed), Policy::Always, from).unwrap();
            assert_eq!(again.frames, frames, "{context}, again");
            if is_over {
                break;
            }
        }
    }
}

/// A mark of version 1 still proves what was synced in a segment of version 1.
#[test]
fn damage_in_segments_of_version_1_is_refused() {
    for seed in 0..cases(20) {
        let Left { disk, from, .. } = left(2 * seed, Policy::Always);
        let files = segment_files(&disk);
        let path = &files[seed as usize % files.len()];
        let mut bytes = bytes_of(&disk, path);
        bytes[SEGMENT_HEAD_BYTES + 3] ^= 1;
        write(&disk, path, &bytes);
        match World::open_from(&disk, Policy::Always, from) {
            Err(OpenError::Damaged { file, .. }) => assert_eq!(&file, path),
            // Segments below are not read.
            Ok(world) => assert!(world.recovery.end >= from && files.last() != Some(path), "seed {seed}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Restoring the identity from before the upgrade loses the key of the segments sealed since.
#[test]
fn sealed_segments_with_a_version_1_identity_are_refused() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.put(0, b"one", Purpose::Grow).unwrap();
    world.stop();
    let path = folder().join("identity");
    write(&disk, &path, &identity(&disk));
    let before: Vec<_> = segment_files(&disk).iter().map(|path| bytes_of(&disk, path)).collect();
    match World::open(&disk, Policy::Always) {
        Err(OpenError::Damaged { file, why, remedy, .. }) => {
            assert!(file == path && why.contains("key") && remedy.contains("Restore"), "{why}: {remedy}");
        }
        _ => panic!("another key is taken for the folder's"),
    }
    let after: Vec<_> = segment_files(&disk).iter().map(|path| bytes_of(&disk, path)).collect();
    assert!(before == after, "a refusal changes nothing");
}

/// Returns a folder with a torn frame of version 1 that contains a mark of `history` at a plausible position.
fn torn_with_mark(history_of: impl Fn(u64) -> u64) -> FakeDisk {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Never).unwrap();
    let history = history_of(world.recovery.history.0);
    let mut mark = vec![0; 48];
    mark[4] = 8;
    mark[8..13].copy_from_slice(b"bob\x02\x01");
    mark[16..24].copy_from_slice(&history.to_le_bytes());
    (mark[24], mark[40]) = (20, 20);
    let crc = checksum(0, &mark[4..]);
    put_u32(&mut mark, 0, crc);
    world.put(0, &mark, Purpose::Grow).unwrap();
    world.write();
    let old = as_version_1(&disk);
    let path = &segment_files(&old)[0];
    let mut bytes = bytes_of(&old, path);
    bytes[SEGMENT_HEAD_BYTES + MARK_BYTES] ^= 1;
    write(&old, path, &bytes);
    old
}

/// A client that knows the history and guesses right can make the first start of this version fail; a repair succeeds.
#[test]
fn a_forged_version_1_mark_counts_only_for_its_history() {
    let disk = torn_with_mark(|_| u64::MAX);
    let world = World::open(&disk, Policy::Never).unwrap_or_else(|error| panic!("{error}"));
    assert!(world.frames.is_empty() && world.recovery.torn.is_some());

    let disk = torn_with_mark(|history| history);
    assert!(matches!(World::open(&disk, Policy::Never), Err(OpenError::Damaged { .. })));
    let options = options(Policy::Never, &Default::default());
    let prepared = journal::prepare(std::sync::Arc::new(disk.clone()), &folder(), options).unwrap();
    let opened =
        prepared.mending().open(0, &mut |_: journal::Frame<'_>| Ok(())).unwrap_or_else(|error| panic!("{error}"));
    assert!(opened.recovery.loss.is_some_and(|loss| !loss.has_gap) && opened.recovery.torn.is_some());
    assert_eq!(World::open(&disk, Policy::Never).unwrap().frames, Frames::new());
}
