//! Client values may contain forged journal records with valid checksums, for guessed or known segments, histories and
//! positions: they never decide what a break means.

use crate::world::*;
use base::checksum;
use base::disk::{Disk, FakeDisk};
use journal::{HEAD_BYTES, Kind, MARK_BYTES, Policy, Purpose, SEGMENT_HEAD_BYTES};

/// Returns a well-formed mark that claims everything below `synced` is synced; in version 2 if `seal` is given.
fn forged(segment: u32, history: u64, position: u64, synced: u64, seal: Option<u64>) -> Vec<u8> {
    let mut bytes = vec![0; MARK_BYTES];
    bytes[4] = 8;
    bytes[8..12].copy_from_slice(&[b'b', b'o', b'b', Kind::Mark as u8]);
    bytes[12..16].copy_from_slice(&segment.to_le_bytes());
    bytes[16..24].copy_from_slice(&seal.unwrap_or(history).to_le_bytes());
    bytes[24..32].copy_from_slice(&position.to_le_bytes());
    bytes[40..48].copy_from_slice(&synced.to_le_bytes());
    let crc = match seal {
        None => checksum(0, &bytes[4..]),
        Some(_) => checksum(checksum(0, &bytes[4..16]), &bytes[24..]),
    };
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Returns a value of marks for segments from `segment` on, in both versions.
fn value(segment: u32, history: u64, position: u64) -> Vec<u8> {
    let marks = (0..16).flat_map(|ahead| {
        let at = position + 4000 * u64::from(ahead);
        let plain = forged(segment + ahead, u64::MAX, 0, 1 << 63, None);
        [plain, forged(segment + ahead, history, at, at, Some(u64::from(ahead)))]
    });
    marks.flatten().collect()
}

/// Puts marks as a client can forge them from the fields of INFO.
fn put_forged(world: &mut World) {
    let last = segment_files(&world.disk).pop().unwrap();
    let number = last.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let value = value(number, world.recovery.history.0, world.journal.next() + 48);
    world.put(0, &value, Purpose::Grow).unwrap();
}

#[test]
fn forged_marks_in_recycled_segments_are_no_evidence() {
    for policy in [Policy::Always, Policy::EverySec, Policy::Never] {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, policy).unwrap();
        for _ in 0..12 {
            // Two to a segment, and one that begins a segment and leaves most of its stale bytes.
            for _ in 0..4 {
                put_forged(&mut world);
                world.run();
            }
            world.settle();
            world.from = world.journal.durable();
            world.journal.release_below(world.from);
            world.make();
            world.put(0, &[0; 1000], Purpose::Grow).unwrap();
            world.run();
            let written = since(&world.frames, world.from);
            let again = World::open_from(&disk.copy(), policy, world.from).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.frames, written);
            assert_eq!(again.recovery.torn, None);
        }
    }
}

#[test]
fn forged_marks_in_a_torn_frame_are_no_evidence() {
    for policy in [Policy::EverySec, Policy::Never] {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, policy).unwrap();
        put_forged(&mut world);
        world.write();
        let files = segment_files(&disk);
        let crashed = disk.copy();
        crashed.open(&files[0]).unwrap().write_at(&[0; HEAD_BYTES], (SEGMENT_HEAD_BYTES + MARK_BYTES) as u64).unwrap();
        let again = World::open(&crashed, policy).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.frames, Frames::new());
        assert!(again.recovery.torn.is_some());
    }
}
