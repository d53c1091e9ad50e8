//! Bits are flipped in journals that were stopped, idle or killed: harmless, a reported torn tail where no mark
//! follows, or refused with file and offset. Never a wrong frame, never a panic.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use journal::{Frame, HEAD_BYTES, MARK_BYTES, OpenError, Policy, Record, SEGMENT_HEAD_BYTES, Seal};
use std::path::Path;
use std::sync::Arc;

struct Journal {
    disk: FakeDisk,
    /// The frames from `from` on.
    twin: Frames,
    from: u64,
    /// The position up to which the last mark proves everything synced.
    marked: u64,
}

/// The state in which a journal was left.
#[derive(Clone, Copy, PartialEq)]
enum Left {
    Stopped,
    Idle,
    Killed,
}

fn journal(left: Left, policy: Policy, seed: u64) -> Journal {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, policy).unwrap();
    match seed % 3 {
        0 => world.load_and_release(&mut random(seed), 100 + seed % 40),
        _ => world.load(&mut random(seed), 40 + seed % 40),
    }
    if left != Left::Killed {
        world.run();
        world.pass_ms(1000);
        world.pass_ms(1000);
    }
    let (written, from) = (world.journal.written(), world.from);
    let twin = match left {
        Left::Stopped => world.stop(),
        Left::Idle => world.frames,
        // A frame handed over and not yet written was never acknowledged, whatever the policy says later.
        Left::Killed => world.frames.into_iter().filter(|(position, _)| *position < written).collect(),
    };
    let (marked, twin) = (marked(&disk), since(&twin, from));
    Journal { disk, twin, from, marked }
}

/// Walks the records of the segments and returns the synced position in the last mark.
fn marked(disk: &FakeDisk) -> u64 {
    let mut marked = 0;
    for path in segment_files(disk) {
        let bytes = bytes_of(disk, &path);
        let mut offset = SEGMENT_HEAD_BYTES;
        while let Some(record) = bytes.get(offset..).and_then(Record::glance) {
            marked = record.synced().unwrap_or(marked);
            offset += record.bytes();
        }
    }
    marked
}

fn flip(disk: &FakeDisk, path: &Path, bit: u64) {
    let mut file = disk.open(path).unwrap();
    let mut byte = [0];
    assert_eq!(file.read_at(&mut byte, bit / 8).unwrap(), 1);
    byte[0] ^= 1 << (bit % 8);
    file.write_at(&byte, bit / 8).unwrap();
}

fn check(journal: &Journal, left: Left, random: &mut Random, context: &str) {
    let mut files = segment_files(&journal.disk);
    files.push(folder().join("identity"));
    let sizes: Vec<u64> = files.iter().map(|file| bytes_of(&journal.disk, file).len() as u64).collect();
    let mut bit = random.below(sizes.iter().sum::<u64>() * 8);
    let mut index = 0;
    while bit >= sizes[index] * 8 {
        bit -= sizes[index] * 8;
        index += 1;
    }
    let (path, offset) = (&files[index], bit / 8);
    let context = format!("{context}, bit {bit} of {}", path.display());
    let disk = journal.disk.copy();
    flip(&disk, path, bit);
    match World::open_from(&disk, Policy::Always, journal.from) {
        Ok(world) if world.frames == journal.twin => {}
        Ok(world) => {
            assert!(left == Left::Killed, "{context}: frames are missing without a word");
            check_prefix(&world.frames, &journal.twin, journal.marked, &context);
            let torn = world.recovery.torn.expect("what is cut off is announced");
            assert_eq!(&torn.file, path, "{context}: {torn:?}");
            assert!(torn.offset <= offset, "{context}: {torn:?}");
            for name in &torn.kept_as {
                assert!(!bytes_of(&disk, &folder().join(name)).is_empty(), "{context}: {name}");
            }
        }
        Err(OpenError::Damaged { file, offset: found, why, remedy }) => {
            assert_eq!(&file, path, "{context}: {why}");
            assert!(found <= offset, "{context}: refused at {found}: {why}");
            assert!(!why.is_empty() && !remedy.is_empty());
        }
        Err(error) => panic!("{context}: {error}"),
    }
}

#[test]
fn a_flipped_bit_after_settling_is_harmless_or_refused() {
    let mut random = random(1);
    for round in 0..cases(100) {
        for (left, policy) in [
            (Left::Stopped, Policy::Always),
            (Left::Stopped, Policy::Never),
            (Left::Idle, Policy::Always),
            (Left::Idle, Policy::EverySec),
        ] {
            let journal = journal(left, policy, round);
            for _ in 0..5 {
                check(&journal, left, &mut random, &format!("round {round}"));
            }
        }
    }
}

#[test]
fn a_flipped_bit_after_a_kill_never_loses_frames_silently() {
    let mut random = random(2);
    for round in 0..cases(125) {
        for policy in [Policy::Always, Policy::EverySec] {
            let journal = journal(Left::Killed, policy, round);
            for _ in 0..2 {
                check(&journal, Left::Killed, &mut random, &format!("{policy:?}, round {round}"));
            }
        }
    }
}

#[test]
fn any_bit_flip_in_a_journal_is_harmless_or_refused() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    for index in 0..4 {
        world.put(0, &[index; 9], journal::Purpose::Grow).unwrap();
        world.run();
    }
    let twin = world.stop();
    for path in segment_files(&disk) {
        for bit in 0..bytes_of(&disk, &path).len() as u64 * 8 {
            let copy = disk.copy();
            flip(&copy, &path, bit);
            match World::open(&copy, Policy::Always) {
                Ok(world) => assert_eq!(world.frames, twin, "bit {bit}"),
                Err(OpenError::Damaged { file, .. }) => assert_eq!(file, path),
                Err(error) => panic!("bit {bit}: {error}"),
            }
        }
    }
}

#[test]
fn a_missing_segment_is_damage() {
    let journal = journal(Left::Stopped, Policy::Always, 43);
    let files = segment_files(&journal.disk);
    assert!(files.len() > 3);
    for missing in &files[..files.len() - 1] {
        let disk = journal.disk.copy();
        disk.remove(missing).unwrap();
        match World::open(&disk, Policy::Always) {
            Err(OpenError::Damaged { file, .. }) => assert_eq!(&file, missing),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{} is missed by nobody", missing.display()),
        }
    }
}

/// The remedy in the error text works.
#[test]
fn the_proposed_remedy_keeps_the_intact_prefix() {
    let journal = journal(Left::Stopped, Policy::Always, 5);
    let files = segment_files(&journal.disk);
    let disk = journal.disk.copy();
    flip(&disk, &files[1], (SEGMENT_HEAD_BYTES + MARK_BYTES + HEAD_BYTES) as u64 * 8);
    let Err(OpenError::Damaged { file, offset, .. }) = World::open(&disk, Policy::Always) else {
        panic!("damage goes unnoticed");
    };
    disk.open(&file).unwrap().truncate(offset).unwrap();
    files.iter().filter(|other| **other > file).for_each(|later| disk.remove(later).unwrap());
    let world = World::open(&disk, Policy::Always).unwrap();
    check_prefix(&world.frames, &journal.twin, 1, "after the remedy");
    assert!(!world.frames.is_empty());
}

/// A recycled segment contains stale bytes after every possible end of its new records.
#[test]
fn stale_bytes_of_a_recycled_segment_are_never_replayed() {
    let journal = journal(Left::Stopped, Policy::Always, 10);
    let files = segment_files(&journal.disk);
    let (old, new) = (bytes_of(&journal.disk, &files[0]), bytes_of(&journal.disk, &files[1]));
    let twin: Vec<_> = journal.twin.iter().map(|(_, payload)| payload.clone()).collect();
    let seal = Seal::new(SEAL_KEY);
    for end in SEGMENT_HEAD_BYTES..new.len().min(old.len()) {
        let mixed = [&new[..end], &old[end..]].concat();
        let mut first = None;
        let mut count = 0;
        let mut replay = |frame: journal::Frame<'_>| {
            let at = *first.get_or_insert_with(|| {
                journal.twin.iter().position(|(position, _)| *position == frame.position).expect("a known frame")
            });
            assert_eq!(frame.payload, twin[at + count], "end {end}");
            count += 1;
            Ok(())
        };
        let (position, _) = journal::scan_bytes(&mixed, &seal, &mut replay).unwrap();
        let (whole, _) = journal::scan_bytes(&new, &seal, &mut |_: journal::Frame<'_>| Ok(())).unwrap();
        assert!(position <= whole);
    }
}

#[test]
fn scanning_corrupted_bytes_never_panics() {
    let journal = journal(Left::Stopped, Policy::Always, 11);
    let mut random = random(3);
    let bytes = bytes_of(&journal.disk, &segment_files(&journal.disk)[0]);
    for _ in 0..cases(3000) {
        let mut bytes = bytes[..random.below(bytes.len() as u64 + 1) as usize].to_vec();
        for _ in 0..random.below(4) {
            if let Some(last) = bytes.len().checked_sub(1) {
                let at = SEGMENT_HEAD_BYTES.min(last) + random.below((last + 1) as u64) as usize;
                bytes[at.min(last)] = random.next() as u8;
            }
        }
        let _ = journal::scan_bytes(&bytes, &Seal::new(SEAL_KEY), &mut |_: journal::Frame<'_>| Ok(()));
    }
}

#[test]
fn a_journal_ending_before_the_required_position_is_damaged() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.load(&mut random(1), 20);
    world.settle();
    let end = world.journal.next();
    world.stop();
    let files: Vec<_> = segment_files(&disk).into_iter().map(|path| (bytes_of(&disk, &path), path)).collect();
    let open = |reach| {
        let prepared = journal::prepare(Arc::new(disk.clone()), &folder(), options(Policy::Always, &Arc::default()));
        prepared.unwrap().must_reach(reach).open(0, &mut |_: Frame<'_>| Ok(())).map(|opened| opened.recovery.end)
    };
    let error = open(end + 1).expect_err("refused");
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("the store is at position"), "{error}");
    files.iter().for_each(|(bytes, path)| assert!(bytes_of(&disk, path) == *bytes, "a refusal changes nothing"));
    assert_eq!(open(end).unwrap(), end);
}
