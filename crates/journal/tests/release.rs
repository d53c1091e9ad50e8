//! Released segments: removed or recycled, and never read again.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use journal::{Frame, HEAD_BYTES, Level, OpenError, Policy, Purpose, Reached, Refusal, Running, SEGMENT_HEAD_BYTES};
use std::sync::Arc;
use std::task::{Context, Waker};
use sync::notifier::Notifier;

const POLICIES: [Policy; 3] = [Policy::Always, Policy::EverySec, Policy::Never];

/// Puts frames of `bytes` until `segments` more segments were begun, and syncs them.
fn fill(world: &mut World, segments: u64, bytes: usize) {
    let begun = |world: &World| {
        let statistics = world.journal.statistics();
        statistics.segments + statistics.recycled + statistics.removed
    };
    let target = begun(world) + segments;
    while begun(world) < target {
        world.put(0, &vec![begun(world) as u8; bytes], Purpose::Grow).unwrap();
        world.run();
    }
    world.settle();
}

/// Releases everything below `position`, and lets enough time pass that no segment is kept for reuse.
fn release(world: &mut World, position: u64) {
    world.from = position;
    world.journal.release_below(position);
    world.pass_ms(10_001);
}

/// Bytes of all files that are or were segments, or may become some.
fn log_bytes(disk: &FakeDisk) -> u64 {
    let names = disk.list(&folder()).unwrap().into_iter().filter(|name| name.ends_with(".log"));
    names.map(|name| bytes_of(disk, &folder().join(name)).len() as u64).sum()
}

fn damage(result: Result<World, OpenError>) -> (std::path::PathBuf, u64, String) {
    match result {
        Err(OpenError::Damaged { file, offset, why, remedy }) => {
            assert!(!remedy.is_empty());
            (file, offset, why)
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it goes unnoticed"),
    }
}

#[test]
fn released_segments_are_recycled_or_removed() {
    for policy in POLICIES {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, policy).unwrap();
        let mut used_bytes_max = 0;
        for _ in 0..20 {
            fill(&mut world, 12, 100);
            world.from = world.journal.durable();
            world.journal.release_below(world.from);
            world.make();
            let statistics = world.journal.statistics();
            assert_eq!((statistics.segments, statistics.tail_bytes), (9, 0), "eight wait to be used again");
            assert_eq!(statistics.file_bytes, log_bytes(&disk));
            used_bytes_max = used_bytes_max.max(disk.used_bytes());
        }
        let statistics = world.journal.statistics();
        assert_eq!(statistics.recycled, 19 * 8, "{statistics:?}");
        assert!(statistics.removed > 20, "{statistics:?}");
        assert!(used_bytes_max < 14 * SEGMENT_BYTES, "{used_bytes_max}");
        fill(&mut world, 3, 100);
        world.pass_ms(10_001);
        assert_eq!(world.journal.statistics().spares, 1);
        let (from, end) = (world.from, world.journal.next());
        let twin = since(&world.stop(), from);
        assert_eq!(frames_of(&disk, from..end), twin);
        let world = World::open_from(&disk, policy, from).unwrap();
        assert!(world.recovery.clean_stop);
        assert_eq!((world.recovery.torn, world.frames), (None, twin));
    }
}

#[test]
fn only_segments_below_the_release_position_are_removed() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    fill(&mut world, 8, 100);
    let end = world.journal.durable();
    let mut kept = usize::MAX;
    for (position, _) in world.frames.clone() {
        release(&mut world, position);
        let twin = since(&world.frames, position);
        assert_eq!(frames_of(&disk, position..end), twin, "from {position}");
        let copy = disk.copy();
        let again = World::open_from(&copy, Policy::Always, position).unwrap();
        assert_eq!(again.frames, twin);
        assert_eq!(again.recovery.frames, twin.len() as u64);
        kept = kept.min(segment_files(&disk).len());
    }
    assert!(kept <= 2, "segments go as soon as they may");
    world.journal.release_below(1);
    assert!(world.journal.released() > 1, "it never moves back");
}

#[test]
fn a_journal_that_lacks_the_stores_position_is_refused() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    fill(&mut world, 8, 100);
    let end = world.journal.durable();
    let (early, _) = world.frames[3];
    let (late, _) = world.frames[world.frames.len() - 3];
    release(&mut world, late);
    let open = |from| World::open_from(&disk.copy(), Policy::Always, from);
    let files = segment_files(&disk);
    let (file, offset, why) = damage(open(early));
    assert_eq!((&file, offset), (&files[0], 0));
    assert!(why.contains(&format!("the store is at position {early}, the journal begins at ")), "{why}");
    let (_, _, why) = damage(open(0));
    assert!(why.contains("missing"), "{why}");
    let (file, _, why) = damage(open(end + 140));
    assert_eq!(Some(&file), files.last());
    assert!(why.contains(&format!("the store is at position {}, the journal ends at {end}", end + 140)), "{why}");
    let (_, offset, why) = damage(open(late + 1));
    assert!(offset >= SEGMENT_HEAD_BYTES as u64 && why.contains(&(late + 1).to_string()), "{why}");
    assert!(open(end).unwrap().frames.is_empty());
    let without = disk.copy();
    files.iter().for_each(|file| without.remove(file).unwrap());
    damage(World::open_from(&without, Policy::Always, late));
    damage(World::open_from(&FakeDisk::new(), Policy::Always, late));
    assert!(world.journal.replay(early..end, &mut |_: Frame<'_>| Ok(())).is_err());
    assert!(journal::read(&disk, &folder(), early..end, &mut |_: Frame<'_>| Ok(())).is_err());
}

/// Segments below the position may still exist, or exist again, with any contents.
#[test]
fn segments_below_the_stores_position_are_ignored_and_removed() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    fill(&mut world, 9, 100);
    let (from, _) = world.frames[world.frames.len() - 8];
    let twin = since(&world.stop(), from);
    let files = segment_files(&disk);
    let below = files.len() - 4;
    for seed in 0..cases(200) {
        let (disk, mut random) = (disk.copy(), random(seed));
        for file in &files[..below] {
            match random.below(4) {
                0 => disk.remove(file).unwrap(),
                1 => disk.open(file).unwrap().write_at(&bytes_of(&disk, &files[below + 1]), 0).unwrap(),
                2 => disk.open(file).unwrap().write_at(&[9; 200], random.below(2000)).unwrap(),
                _ => {}
            }
        }
        let world = World::open_from(&disk, Policy::Always, from).unwrap();
        assert_eq!(world.frames, twin, "seed {seed}");
        assert!(world.recovery.clean_stop);
        assert!(files[..below].iter().all(|file| disk.open(file).is_err()), "they are removed");
    }
}

/// Intact old records follow every point at which a recycled segment may be torn: never a frame, never damage.
#[test]
fn stale_records_after_torn_writes_are_neither_frames_nor_damage() {
    let (disk, history) = (FakeDisk::new(), Policy::EverySec);
    let mut world = World::open(&disk, history).unwrap();
    fill(&mut world, 6, 90);
    world.from = world.journal.durable();
    world.journal.release_below(world.from);
    fill(&mut world, 4, 61);
    let spares: Vec<Vec<u8>> = disk
        .list(&folder())
        .unwrap()
        .iter()
        .filter(|name| name.starts_with("spare"))
        .map(|name| bytes_of(&disk, &folder().join(name)))
        .filter(|bytes| bytes[..8] == *b"bobbinJ\n")
        .collect();
    assert!(!spares.is_empty());
    for _ in 0..8 {
        world.put(0, &[78; 61], Purpose::Grow).unwrap();
        world.write();
    }
    let path = segment_files(&disk).pop().unwrap();
    let new = bytes_of(&disk, &path);
    let twin = since(&world.frames, world.from);
    let mut torn = 0;
    for old in &spares {
        assert_eq!(old.len(), new.len());
        for end in (0..1500).step_by(if cases(100) < 100 { 7 } else { 2 }) {
            let copy = disk.copy();
            copy.open(&path).unwrap().write_at(&old[end..], end as u64).unwrap();
            let again = World::open_from(&copy, history, world.from);
            let again = again.unwrap_or_else(|error| panic!("cut at {end}: {error}"));
            check_prefix(&again.frames, &twin, 0, &format!("cut at {end}"));
            torn += u64::from(again.recovery.torn.is_some());
            let kept = again.recovery.torn.is_none_or(|torn| !torn.kept_as.is_empty());
            assert!(kept, "what is cut off is kept");
        }
    }
    assert!(torn > 0);
}

/// A write whose end alone reached a recycled segment is a torn tail, not stale bytes.
#[test]
fn a_write_missing_its_beginning_is_a_torn_tail() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::EverySec).unwrap();
    fill(&mut world, 6, 90);
    world.from = world.journal.durable();
    world.journal.release_below(world.from);
    // The spares made before come first.
    fill(&mut world, 7, 61);
    let path = segment_files(&disk).pop().unwrap();
    let before = bytes_of(&disk, &path);
    let (kept, end) = (since(&world.frames, world.from), world.journal.written());
    assert!(before.iter().rposition(|&byte| byte != 0) > Some(SEGMENT_BYTES as usize / 2), "old bytes lie behind");
    for index in 0..4 {
        world.put(0, &[index; 61], Purpose::Grow).unwrap();
    }
    world.write();
    let after = bytes_of(&disk, &path);
    let begin = (0..after.len()).find(|&at| after[at] != before[at]).unwrap();
    // The stop of the write before stays, and what follows it has come.
    let begin = begin - begin % 4;
    disk.open(&path).unwrap().write_at(&before[begin..begin + 60], begin as u64).unwrap();
    let again = World::open_from(&disk.copy(), Policy::EverySec, world.from).unwrap();
    assert_eq!((again.frames, again.recovery.end), (kept, end));
    assert!(again.recovery.torn.is_some(), "it is announced");
}

/// A power cut may take a recycled segment's new head, and leave its old one.
#[test]
fn a_stale_head_under_a_new_name_is_no_segment() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    fill(&mut world, 4, 100);
    let first = bytes_of(&disk, &segment_files(&disk)[0]);
    let number = segment_files(&disk).len() + 1;
    let (twin, copy) = (world.frames.clone(), disk.copy());
    copy.create(&folder().join(format!("{number:010}.log"))).unwrap().write_at(&first, 0).unwrap();
    let again = World::open(&copy, Policy::Always).unwrap();
    assert_eq!((again.frames, again.recovery.torn), (twin, None));
}

#[test]
fn segments_held_by_a_reader_are_not_removed() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    fill(&mut world, 6, 100);
    let (end, twin) = (world.journal.durable(), world.frames.clone());
    let journal = world.journal.clone();
    let hold = journal.hold();
    journal.release_below(end);
    world.pass_make_only_ms(10_001);
    assert_eq!(frames_of(&disk, 0..end), twin);
    let mut seen = Frames::new();
    let mut replay = |frame: Frame<'_>| {
        if seen.is_empty() {
            world.pass_make_only_ms(10_001);
        }
        seen.push((frame.position, frame.payload.to_vec()));
        Ok(())
    };
    journal.replay(0..end, &mut replay).unwrap();
    assert_eq!(seen, twin);
    assert!(segment_files(&disk).len() > 5);
    drop(hold);
    world.pass_ms(10_001);
    assert_eq!(segment_files(&disk).len(), 1);
}

#[test]
fn a_failed_removal_is_retried() {
    let mut failed = 0;
    for operation in 0..60 {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, Policy::Never).unwrap();
        fill(&mut world, 14, 100);
        world.journal.release_below(world.journal.durable());
        disk.fail_at(disk.operations() + operation);
        world.make();
        world.pass_ms(300);
        match world.put(0, &[1; 3900], Purpose::Grow) {
            // The writer met it.
            Err(Refusal::Poisoned) => continue,
            // No spare could be made.
            Err(refusal) => assert_eq!(refusal, Refusal::Full),
            Ok(_) => {}
        }
        world.write();
        world.pass_ms(10_001);
        disk.fail_at(u64::MAX);
        world.pass_ms(10_001);
        if world.journal.is_poisoned() {
            continue;
        }
        failed += 1;
        let segments = segment_files(&disk).len() as u64;
        assert_eq!(world.journal.statistics().segments, segments, "operation {operation}");
        assert!(segments <= 2, "operation {operation}");
        world.put(0, b"more", Purpose::Grow).unwrap();
    }
    assert!(failed > 10);
}

#[test]
fn a_full_disk_has_room_again_after_a_release() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::EverySec).unwrap();
    disk.set_capacity(Some(disk.used_bytes() + 5 * SEGMENT_BYTES));
    for _ in 0..10 {
        while world.put(0, &[1; 100], Purpose::Grow).is_ok() {}
        assert!(world.journal.statistics().full);
        world.pass_ms(1000);
        world.journal.release_below(world.journal.durable());
        world.make();
        assert!(!world.journal.statistics().full);
        world.journal.set_release_failing(true);
        world.make();
        assert!(segment_files(&disk).len() <= 2, "whoever lacks room is given all");
        world.journal.set_release_failing(false);
        for _ in 0..50 {
            world.put(0, &[1; 100], Purpose::Grow).unwrap();
        }
    }
}

#[test]
fn admission_waits_for_a_release_when_the_tail_is_long() {
    const LIMIT: u64 = 20_000;
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.journal.set_tail_limit(LIMIT);
    let frame_bytes = (HEAD_BYTES + 100) as u64;
    for _ in 0..5 {
        let tail = |world: &World| world.journal.tail_bytes(world.journal.released());
        while world.put(0, &[1; 100], Purpose::Grow) != Err(Refusal::Wait) {}
        assert!((LIMIT..LIMIT + frame_bytes).contains(&tail(&world)));
        world.journal.set_release_failing(true);
        assert_eq!(world.put(0, &[1; 100], Purpose::Grow), Err(Refusal::Full));
        world.journal.set_release_failing(false);
        while world.put(1, &[2; 100], Purpose::Shrink) != Err(Refusal::Wait) {}
        assert!((LIMIT * 5 / 4..LIMIT * 5 / 4 + frame_bytes).contains(&tail(&world)));
        let woken = Arc::new(Flag::default());
        world.journal.wait_room(&Waker::from(woken.clone()));
        assert!(world.log_buffers[0].try_admit(100, Purpose::Shrink).is_err());
        world.journal.release_below(world.journal.durable() - LIMIT / 2);
        assert!(woken.0.load(std::sync::atomic::Ordering::SeqCst), "whoever waits is woken");
        world.put(0, &[3; 100], Purpose::Grow).unwrap();
    }
    world.journal.set_tail_limit(u64::MAX);
    for _ in 0..500 {
        world.put(0, &[1; 100], Purpose::Grow).unwrap();
    }
}

#[derive(Default)]
struct Flag(std::sync::atomic::AtomicBool);

impl std::task::Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

/// A store must have everything below a position synced before its commit, under every policy.
#[test]
fn a_waiting_notifier_forces_a_sync_under_every_policy() {
    for policy in POLICIES {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, policy).unwrap();
        let notifier = Arc::new(Notifier::new());
        world.journal.add_notifier(notifier.clone());
        let mut context = Context::from_waker(Waker::noop());
        for round in 0..30 {
            for _ in 0..40 {
                world.put(round % 3, &[7; 50], Purpose::Grow).unwrap();
            }
            let position = world.journal.next();
            if world.journal.want(&notifier, Level::Durable, position) == Reached::Waiting {
                let _ = notifier.poll_notified(&mut context);
                world.write();
                assert!(notifier.poll_notified(&mut context).is_ready(), "{policy:?}");
            }
            assert_eq!(world.journal.want(&notifier, Level::Durable, position), Reached::There);
            world.journal.release_below(position);
            let crashed = disk.crash(round as u64);
            assert!(World::open_from(&crashed, policy, position).unwrap().recovery.end >= position);
        }
        world.put(0, b"in doubt", Purpose::Grow).unwrap();
        let position = world.journal.next();
        disk.halt_at(disk.operations());
        let _ = world.journal.want(&notifier, Level::Durable, position);
        world.write();
        assert_eq!(world.journal.want(&notifier, Level::Durable, position), Reached::Poisoned);
    }
}

/// The threads as they run: workers that wait for room, and one that releases.
#[test]
fn threads_proceed_as_releases_make_room() {
    let disk = FakeDisk::new();
    let World { journal, writer, preallocator, .. } = World::open(&disk, Policy::EverySec).unwrap();
    journal.set_tail_limit(3 * SEGMENT_BYTES);
    let running = Running::start(writer, preallocator);
    let worker = {
        let journal = journal.clone();
        move || {
            let mut log_buffer = journal.log_buffer();
            for index in 0..3000u32 {
                let claim = loop {
                    log_buffer.journal().wait_room(&Waker::from(Arc::new(Unpark(std::thread::current()))));
                    match log_buffer.try_admit(100, Purpose::Grow) {
                        Ok(claim) => break claim,
                        Err(refusal) => assert_eq!(refusal, Refusal::Wait),
                    }
                    log_buffer.end_turn();
                    std::thread::park();
                };
                let ticket = log_buffer.take(claim, 100);
                log_buffer.hand_over(ticket, 0, &mut vec![index as u8; 100]);
            }
            log_buffer.end_turn();
        }
    };
    let notifier = Arc::new(Notifier::new());
    journal.add_notifier(notifier.clone());
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().spawn_scoped(scope, worker).unwrap();
        while !worker.is_finished() {
            let position = journal.next();
            while journal.want(&notifier, Level::Durable, position) == Reached::Waiting {
                if notifier.poll_notified(&mut context).is_pending() {
                    std::thread::park();
                }
            }
            journal.release_below(position);
        }
    });
    let (from, end) = (journal.released(), journal.next());
    assert_eq!(end, 3000 * (HEAD_BYTES + 100) as u64);
    running.stop().unwrap();
    assert!(journal.statistics().recycled > 0);
    let frames = frames_of(&disk.crash(1), from..end);
    assert!(frames.iter().all(|(position, payload)| payload[0] == (position / 140) as u8));
}

struct Unpark(std::thread::Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The next segment must be durable before those below it are removed.
#[test]
fn the_next_segment_is_durable_before_released_ones_are_removed() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::EverySec).unwrap();
    for _ in 0..5 {
        // Durable to the end of a segment, and the next one begun.
        loop {
            world.settle();
            world.put(0, &[5; 400], Purpose::Grow).unwrap();
            if world.writer.step() == journal::Step::Rolled {
                break;
            }
        }
        let from = world.journal.durable();
        world.journal.release_below(from);
        world.pass_make_only_ms(10_001);
        for seed in 0..40 {
            let again = World::open_from(&disk.crash(seed), Policy::EverySec, from);
            assert_eq!(again.unwrap_or_else(|error| panic!("seed {seed}: {error}")).recovery.end, from);
        }
    }
}
