//! Normal operation of a journal: order, admission, notifiers, stops, reading while open.

use crate::world::*;
use base::disk::{Disk, FakeDisk};
use journal::{Level, OpenError, PaceTag, Policy, Purpose, Reached, Refusal, Running, Step};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use sync::notifier::Notifier;

#[test]
fn a_clean_stop_keeps_all_frames_and_the_history() {
    for policy in [Policy::Always, Policy::EverySec, Policy::Never] {
        let mut disk = FakeDisk::new();
        let mut twin = Frames::new();
        let mut history = None;
        for round in 0..4 {
            let mut world = World::open(&disk, policy).unwrap();
            assert!(world.recovery.clean_stop);
            assert_eq!(world.recovery.torn, None);
            assert_eq!(world.frames, twin, "{policy:?}, round {round}");
            assert_eq!(world.recovery.frames, twin.len() as u64);
            assert_eq!(*history.get_or_insert(world.recovery.history), world.recovery.history);
            world.load(&mut random(round), 60);
            let end = world.journal.next();
            twin = world.stop();
            assert_eq!(frames_of(&disk, 0..end), twin);
            disk = disk.crash(round);
        }
    }
}

#[test]
fn an_unclean_stop_starts_a_new_history() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.load(&mut random(7), 30);
    world.run();
    let (first, end) = (world.recovery.history, world.journal.written());
    let again = World::open(&disk.copy(), Policy::Always).unwrap();
    assert!(!again.recovery.clean_stop);
    assert_eq!(again.recovery.end, end);
    assert_eq!(again.recovery.history.ordinal(), first.ordinal() + 1);
    assert_eq!(again.recovery.torn, None, "nothing was torn");
}

#[test]
fn frames_are_written_in_position_order_without_gaps() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    let claims: Vec<_> =
        (0..3).map(|log_buffer| world.log_buffers[log_buffer].try_admit(10, Purpose::Grow).unwrap()).collect();
    let mut tickets: Vec<_> = claims
        .into_iter()
        .enumerate()
        .map(|(log_buffer, claim)| (log_buffer, world.log_buffers[log_buffer].take(claim, 10)))
        .collect();
    let begin = tickets[0].1.position;
    while let Some((log_buffer, ticket)) = tickets.pop() {
        assert_eq!(world.journal.written(), begin, "nothing passes the gap");
        // Times handed over decrease along positions; they are raised.
        world.log_buffers[log_buffer].hand_over(ticket, 3 - log_buffer as u64, &mut vec![log_buffer as u8; 10]);
        world.run();
    }
    assert_eq!(world.journal.durable(), begin + 150);
    let mut seen = Vec::new();
    let mut replay = |frame: journal::Frame<'_>| {
        seen.push((frame.payload[0], frame.time_ms));
        Ok(())
    };
    world.journal.replay(0..world.journal.written(), &mut replay).unwrap();
    assert_eq!(seen, [(0, 3), (1, 3), (2, 3)]);
}

#[test]
fn a_dropped_claim_returns_its_room() {
    let disk = FakeDisk::new();
    let world = World::open(&disk, Policy::Never).unwrap();
    let all = |world: &World| {
        let mut claims = Vec::new();
        while let Ok(claim) = world.log_buffers[0].try_admit(100, Purpose::Shrink) {
            claims.push(claim);
        }
        claims.len()
    };
    let count = all(&world);
    assert!(count > 10);
    assert_eq!(all(&world), count);
    let mut claim = world.log_buffers[0].try_admit(1, Purpose::Grow).unwrap();
    world.log_buffers[0].extend(&mut claim, 99, Purpose::Grow).unwrap();
    assert_eq!(claim.payload_bytes(), 100);
    assert_eq!(world.log_buffers[0].extend(&mut claim, u64::MAX, Purpose::Grow), Err(Refusal::TooLong));
    assert!(all(&world) < count);
    drop(claim);
    assert_eq!(all(&world), count);
}

#[test]
fn room_kept_from_a_turn_is_recalled_when_another_request_waits() {
    let claims_count = |world: &World| {
        let mut claims = Vec::new();
        while let Ok(claim) = world.log_buffers[1].try_admit(10, Purpose::Grow) {
            claims.push(claim);
        }
        claims.len()
    };
    let count = claims_count(&World::open_large(&FakeDisk::new(), Policy::Never).unwrap());
    let mut world = World::open_large(&FakeDisk::new(), Policy::Never).unwrap();
    let notifier = Arc::new(Notifier::new());
    world.journal.add_notifier(notifier.clone());
    let mut context = Context::from_waker(Waker::noop());
    let idle = &mut world.log_buffers[0];
    idle.keep_credit();
    drop(idle.try_admit(10, Purpose::Grow).unwrap());
    idle.end_turn();
    idle.return_recalled_credit();
    assert!(notifier.poll_notified(&mut context).is_pending());
    assert!(claims_count(&world) < count, "nothing was kept");
    assert!(notifier.poll_notified(&mut context).is_ready());
    world.log_buffers[0].return_recalled_credit();
    assert_eq!(claims_count(&world), count);
    // Nothing is kept until there is a new segment.
    drop(world.log_buffers[0].try_admit(10, Purpose::Grow).unwrap());
    world.log_buffers[0].end_turn();
    assert_eq!(claims_count(&world), count);
    for _ in 0..2 * LARGE_BYTES / 1000 {
        world.put(1, &[1; 1000], Purpose::Grow).unwrap();
        world.run();
    }
    drop(world.log_buffers[0].try_admit(10, Purpose::Grow).unwrap());
    world.log_buffers[0].end_turn();
    let fewer = claims_count(&world);
    drop(world.log_buffers.swap_remove(0));
    assert!(claims_count(&world) > fewer, "nothing was kept");
}

#[test]
fn everysec_syncs_every_second_and_when_a_notifier_waits() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::EverySec).unwrap();
    let notifier = Arc::new(Notifier::new());
    world.journal.add_notifier(notifier.clone());
    let mut context = Context::from_waker(Waker::noop());
    let end = world.put(0, b"one", Purpose::Grow).unwrap();
    world.write();
    assert_eq!((world.journal.written(), world.journal.durable()), (end, 0));
    world.pass_ms(1000);
    assert_eq!(world.journal.durable(), end);
    let end = world.put(0, b"two", Purpose::Grow).unwrap();
    world.write();
    assert_eq!(world.journal.want(&notifier, Level::Durable, end), Reached::Waiting);
    assert!(notifier.poll_notified(&mut context).is_pending());
    world.write();
    assert_eq!(world.journal.durable(), end);
    assert!(notifier.poll_notified(&mut context).is_ready());
    assert_eq!(world.journal.want(&notifier, Level::Durable, end), Reached::There);
}

#[test]
fn an_idle_journal_writes_a_mark() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.put(0, b"one", Purpose::Grow).unwrap();
    world.write();
    let mut steps = Vec::new();
    world.elapsed_us.fetch_add(900_000, Ordering::SeqCst);
    while steps.last() != Some(&"rest") {
        steps.push(match world.writer.step() {
            Step::Marked => "marked",
            Step::Rest { .. } => "rest",
            _ => "other",
        });
    }
    assert_eq!(steps, ["marked", "rest"]);
}

#[test]
fn frames_longer_than_a_segment_get_their_own_segments() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    for length in [10, 5000, 3000, 700_000, 4096, 300_000, 1] {
        world.put(0, &vec![length as u8; length], Purpose::Grow).unwrap();
    }
    world.run();
    let end = world.journal.next();
    assert_eq!(world.journal.durable(), end);
    let twin = world.stop();
    assert_eq!(frames_of(&disk, 0..end), twin);
}

/// A frame may be a third as long as its claim, so that its own segment has room for the next long frame, which then
/// needs none.
#[test]
fn a_long_frame_may_share_its_predecessors_own_segment() {
    let mut world = World::open(&FakeDisk::new(), Policy::EverySec).unwrap();
    let frame = |number: usize, segments: u64| vec![number as u8; (segments * SEGMENT_BYTES) as usize];
    for number in 0..8 {
        let payload = frame(number, 2);
        world.put_with_claim(number % 3, &payload, 3 * payload.len() as u64, Purpose::Grow).expect("admitted");
        // Other frames claim the rest of that segment, and the next long frame may waste it.
        for small in 0..number {
            world.put(small % 3, &frame(small, 1)[..900], Purpose::Grow).expect("admitted");
        }
    }
    world.settle();
    let frames = frames_of(&world.disk, 0..world.journal.durable());
    assert_eq!(frames, world.stop());
}

/// Frames and claims from zero to many segments in length fit, in any order.
#[test]
fn frames_of_any_admitted_length_are_written() {
    for seed in 0..cases(300) {
        let mut random = random(seed);
        let open = if random.below(2) == 0 { World::open } else { World::open_small };
        let mut world = open(&FakeDisk::new(), Policy::EverySec).unwrap();
        for _ in 0..60 {
            let bytes = match random.below(4) {
                0 => random.below(8 * SEGMENT_BYTES),
                1 => random.below(2 * SEGMENT_BYTES),
                _ => random.below(SEGMENT_BYTES / 4),
            };
            let payload = vec![random.next() as u8; bytes as usize];
            let claim_bytes = bytes + random.below(4 * bytes + 1);
            let log_buffer = random.below(3) as usize;
            world.put_with_claim(log_buffer, &payload, claim_bytes, Purpose::Grow).unwrap_or_else(|refusal| {
                panic!("seed {seed}: {refusal:?} to a frame of {bytes} bytes with a claim of {claim_bytes}")
            });
            match random.below(4) {
                0 => world.run(),
                1 => world.make(),
                _ => {}
            }
        }
        world.settle();
        assert_eq!(frames_of(&world.disk, 0..world.journal.durable()), world.stop(), "seed {seed}");
    }
}

/// Returns the size of each segment in order, then of each spare.
fn file_bytes(world: &World) -> Vec<u64> {
    let mut names = world.disk.list(&folder()).unwrap();
    names.retain(|name| name.ends_with(".log"));
    names.sort();
    names.iter().map(|name| world.disk.open(&folder().join(name)).unwrap().bytes().unwrap()).collect()
}

#[test]
fn segments_grow_with_use() {
    const FIRST_BYTES: u64 = SEGMENT_BYTES / 4;
    let disk = FakeDisk::new();
    let mut world = World::open_small(&disk, Policy::EverySec).unwrap();
    assert_eq!(file_bytes(&world), [FIRST_BYTES, SEGMENT_BYTES], "the current segment, and a spare");
    world.put(0, &[1; 10], Purpose::Grow).unwrap();
    world.run();
    world.pass_ms(60_000);
    assert_eq!(file_bytes(&world), [FIRST_BYTES, SEGMENT_BYTES], "a minute of little");
    for _ in 0..400 {
        world.put(0, &[2; 50], Purpose::Grow).unwrap();
        world.run();
    }
    let count = world.journal.statistics().segments as usize;
    let segments = file_bytes(&world)[..count].to_vec();
    assert!(segments.is_sorted(), "{segments:?}");
    assert_eq!(segments[0], FIRST_BYTES);
    assert_eq!(segments[1..3], [SEGMENT_BYTES, LARGEST_BYTES]);
    // A kill leaves the segments unchanged: the grown size is kept.
    disk.set_capacity(None);
    let after = World::open_small(&disk.copy(), Policy::EverySec).unwrap();
    assert_eq!(file_bytes(&after).last(), Some(&LARGEST_BYTES));
    assert_eq!(frames_of(&disk, 0..world.journal.next()), world.stop());
}

#[test]
fn long_frames_need_no_own_segments_once_segments_have_grown() {
    const LONG_BYTES: usize = SEGMENT_BYTES as usize * 5 / 4;
    let mut world = World::open_small(&FakeDisk::new(), Policy::EverySec).unwrap();
    for _ in 0..8 {
        world.put(0, &[1; LONG_BYTES], Purpose::Grow).unwrap();
        world.run();
    }
    let segments = file_bytes(&world)[..world.journal.statistics().segments as usize].to_vec();
    let own = segments.iter().filter(|bytes| ![SEGMENT_BYTES / 4, SEGMENT_BYTES, LARGEST_BYTES].contains(bytes));
    assert!(own.count() <= 2, "{segments:?}");
    assert!(segments.ends_with(&[LARGEST_BYTES; 2]), "{segments:?}");
    world.settle();
    assert_eq!(frames_of(&world.disk, 0..world.journal.durable()), world.stop());
}

#[test]
fn starting_on_a_nearly_full_disk_uses_a_small_segment() {
    let disk = FakeDisk::new();
    let mut world = World::open_small(&disk, Policy::EverySec).unwrap();
    for _ in 0..400 {
        world.put(0, &[2; 50], Purpose::Grow).unwrap();
        world.run();
    }
    drop(world);
    let after_kill = disk.copy();
    let spares = disk.list(&folder()).unwrap().iter().filter(|name| name.starts_with("spare")).count() as u64;
    let used_bytes = after_kill.used_bytes() - spares * LARGEST_BYTES;
    after_kill.set_capacity(Some(used_bytes + SEGMENT_BYTES / 2));
    let mut world = World::open_small(&after_kill, Policy::EverySec).unwrap();
    assert!(file_bytes(&world).contains(&(SEGMENT_BYTES / 4)), "{:?}", file_bytes(&world));
    // A shrinking frame finds room in it.
    world.put(0, &[3; 10], Purpose::Shrink).unwrap();
    world.settle();
    assert_eq!(world.journal.durable(), world.journal.next());
}

#[test]
fn a_long_claim_may_be_used_by_a_short_frame() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    for round in 0..20 {
        let claim = loop {
            match world.log_buffers[0].try_admit(50_000, Purpose::Grow) {
                Ok(claim) => break claim,
                Err(refusal) => assert_eq!(refusal, Refusal::Wait),
            }
            world.run();
        };
        assert!(matches!(world.log_buffers[1].try_admit(50_000, Purpose::Grow), Err(Refusal::Wait)));
        let ticket = world.log_buffers[0].take(claim, round as u64);
        world.log_buffers[0].hand_over(ticket, 0, &mut vec![1; round]);
        world.run();
    }
    assert_eq!(world.journal.durable(), world.journal.next());
}

#[test]
fn a_full_disk_refuses_growth_before_anything_changes() {
    for policy in [Policy::Always, Policy::EverySec] {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, policy).unwrap();
        disk.set_capacity(Some(disk.used_bytes() + 3 * SEGMENT_BYTES));
        let refused = loop {
            match world.put(0, &[1; 100], Purpose::Grow) {
                Ok(_) => world.run(),
                Err(refusal) => break refusal,
            }
        };
        assert_eq!(refused, Refusal::Full);
        assert!(world.journal.statistics().full);
        let next = world.journal.next();
        assert!(matches!(world.put(1, &[1; 5000], Purpose::Grow), Err(Refusal::Full)));
        assert_eq!(world.journal.next(), next, "a refusal takes no position");
        for _ in 0..10 {
            world.put(2, &[2; 100], Purpose::Shrink).unwrap();
            world.pass_ms(300);
        }
        assert_eq!(world.put(0, &[1; 100], Purpose::Grow), Err(Refusal::Full));
        let taken = disk.used_bytes();
        disk.set_capacity(Some(taken + 10 * SEGMENT_BYTES));
        world.pass_ms(300);
        for _ in 0..100 {
            world.put(0, &[1; 100], Purpose::Grow).unwrap();
        }
        assert!(!world.journal.statistics().full);
        world.write();
        world.pass_ms(1000);
        assert_eq!(world.journal.durable(), world.journal.next());
        let end = world.journal.next();
        let twin = world.stop();
        assert_eq!(frames_of(&disk, 0..end), twin);
    }
}

/// Growing frames leave room for releases: they wait for one, and are refused if it made no room.
#[test]
fn growing_frames_leave_disk_room_for_releases() {
    const KEPT_BYTES: u64 = 8 * SEGMENT_BYTES;
    for policy in [Policy::Always, Policy::EverySec, Policy::Never] {
        let disk = FakeDisk::new();
        let mut world = World::open_leaving(&disk, policy, KEPT_BYTES).unwrap();
        disk.set_capacity(Some(disk.used_bytes() + 40 * SEGMENT_BYTES));
        let fill = |world: &mut World| loop {
            match world.put(0, &[1; 100], Purpose::Grow) {
                Ok(_) => world.run(),
                Err(refusal) => break refusal,
            }
        };
        assert_eq!(fill(&mut world), Refusal::Wait);
        assert!(world.journal.is_pressed() && !world.journal.is_full());
        let free_bytes = disk.free_bytes(&folder());
        let tail_bytes = world.journal.next();
        assert!(free_bytes >= KEPT_BYTES + tail_bytes, "{free_bytes} of {tail_bytes}");
        // The store keeps everything, in as much room.
        let others = Path::new("others");
        disk.create_folder(others).unwrap();
        disk.create(&others.join("kept")).unwrap().allocate(tail_bytes).unwrap();
        world.release_all();
        world.make();
        assert!(!world.journal.is_pressed());
        // There is room again, until others take it.
        assert_eq!(fill(&mut world), Refusal::Wait);
        disk.set_capacity(Some(0));
        world.release_all();
        world.pass_ms(300);
        assert_eq!(fill(&mut world), Refusal::Full);
        let mut taken_away = 0;
        let refused = loop {
            match world.put(1, &[1; 100], Purpose::Shrink) {
                Ok(_) => taken_away += 1,
                Err(refusal) => break refusal,
            }
            world.pass_ms(300);
        };
        assert!(taken_away > 10 && refused != Refusal::Poisoned, "{taken_away}");
        world.release_all();
        world.pass_ms(300);
        if let Err(refusal) = world.put(1, &[1; 100], Purpose::Shrink) {
            assert_eq!(refusal, Refusal::Full, "a release has been tried, and brought nothing");
        }
        disk.set_capacity(None);
        world.pass_ms(300);
        world.put(0, &[1; 100], Purpose::Grow).unwrap();
        assert!(!world.journal.is_full());
    }
}

/// A long shrinking frame gets segments of last resort, or is refused.
#[test]
fn a_long_shrinking_frame_never_waits_forever() {
    const KEPT_BYTES: u64 = 8 * SEGMENT_BYTES;
    const LONG_BYTES: usize = SEGMENT_BYTES as usize * 9 / 10;
    let disk = FakeDisk::new();
    let mut world = World::open_leaving(&disk, Policy::Always, KEPT_BYTES).unwrap();
    // Room for spares of last resort, and no more.
    disk.set_capacity(Some(disk.used_bytes() + KEPT_BYTES));
    let go_on = |world: &mut World| {
        world.release_all();
        world.pass_ms(300);
    };
    for _ in 0..5 {
        let mut tries = 0;
        while let Err(refusal) = world.put(0, &[1; LONG_BYTES], Purpose::Shrink) {
            assert_eq!(refusal, Refusal::Wait);
            tries += 1;
            assert!(tries < 10, "it waits for ever");
            world.pass_ms(300);
        }
        go_on(&mut world);
    }
    disk.set_capacity(Some(0));
    let mut tries = 0;
    loop {
        match world.put(0, &[1; LONG_BYTES], Purpose::Shrink) {
            Ok(_) => {}
            Err(Refusal::Full) => break,
            Err(refusal) => assert_eq!(refusal, Refusal::Wait),
        }
        tries += 1;
        assert!(tries < 30, "the full disk is never reported");
        go_on(&mut world);
    }
}

/// A release that began earlier proves nothing about frames since then.
#[test]
fn a_shrinking_frame_is_refused_only_after_a_fresh_release() {
    let disk = FakeDisk::new();
    let mut world = World::open_leaving(&disk, Policy::Always, 8 * SEGMENT_BYTES).unwrap();
    disk.set_capacity(Some(0));
    let spend = |world: &mut World| loop {
        match world.put(0, &[1; 100], Purpose::Shrink) {
            Ok(_) => world.run(),
            Err(refusal) => break refusal,
        }
    };
    assert!(!world.journal.begin_release());
    assert_eq!(spend(&mut world), Refusal::Wait);
    world.journal.end_release();
    world.pass_ms(300);
    assert_eq!(spend(&mut world), Refusal::Wait);
    assert!(world.journal.begin_release(), "it waits for another one");
    world.pass_ms(300);
    assert_eq!(spend(&mut world), Refusal::Wait);
    assert!(!world.journal.is_pressed(), "that one is under way");
    world.journal.set_release_failing(true);
    world.journal.end_release();
    world.pass_ms(300);
    assert_eq!(spend(&mut world), Refusal::Wait);
    assert!(world.journal.begin_release(), "frames that grow may have come between");
    world.journal.end_release();
    world.pass_ms(300);
    assert_eq!(spend(&mut world), Refusal::Full);
    // A release that makes room.
    world.release_all();
    world.pass_ms(300);
    world.put(0, &[1; 100], Purpose::Shrink).unwrap();
}

/// The journal notices freed room, and does not request releases on a full disk while no frame lacks room.
#[test]
fn freed_disk_room_is_noticed_without_a_release() {
    const KEPT_BYTES: u64 = 8 * SEGMENT_BYTES;
    let disk = FakeDisk::new();
    let mut world = World::open_leaving(&disk, Policy::Always, KEPT_BYTES).unwrap();
    disk.set_capacity(Some(disk.used_bytes() + KEPT_BYTES));
    for _ in 0..100 {
        if world.put(0, &[1; 100], Purpose::Grow) == Err(Refusal::Wait) {
            world.release_all();
        }
        world.pass_ms(300);
    }
    assert!(world.journal.is_full());
    disk.set_capacity(None);
    world.pass_ms(300);
    assert!(!world.journal.is_full());
    // The disk is full again, and no frame lacks room.
    disk.set_capacity(Some(disk.used_bytes() + KEPT_BYTES));
    world.pass_ms(10_001);
    assert!(!world.journal.is_full() && !world.journal.is_pressed());
}

#[test]
fn admission_waits_when_too_much_is_not_durable() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::EverySec).unwrap();
    let mut waits = 0;
    for _ in 0..40 {
        match world.log_buffers[0].try_admit(100_000, Purpose::Grow) {
            Ok(claim) => {
                let ticket = world.log_buffers[0].take(claim, 100_000);
                world.log_buffers[0].hand_over(ticket, 0, &mut vec![0; 100_000]);
            }
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Wait);
                waits += 1;
                world.run();
            }
        }
        assert!(world.journal.next() - world.journal.durable() <= (1 << 20) + 100_040);
    }
    assert!(waits > 0);
}

#[test]
fn surplus_spares_are_removed_after_ten_idle_seconds() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    for _ in 0..200 {
        world.put(0, &[0; 100], Purpose::Grow).unwrap();
        world.run();
    }
    assert_eq!(world.journal.statistics().spares, 4);
    world.pass_ms(10_001);
    assert_eq!(world.journal.statistics().spares, 1);
    world.put(0, &[0; 100], Purpose::Grow).unwrap();
}

#[test]
fn a_poisoned_journal_wakes_waiters_and_refuses_frames() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    let notifier = Arc::new(Notifier::new());
    world.journal.add_notifier(notifier.clone());
    let durable = world.put(0, b"kept", Purpose::Grow).unwrap();
    world.write();
    let end = world.put(0, b"in doubt", Purpose::Grow).unwrap();
    assert_eq!(world.writer.step(), Step::Wrote);
    assert_eq!(world.journal.want(&notifier, Level::Durable, end), Reached::Waiting);
    disk.fail_at(disk.operations());
    assert_eq!(world.writer.step(), Step::Poisoned);
    assert!(notifier.poll_notified(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(world.journal.want(&notifier, Level::Durable, end), Reached::Poisoned);
    assert_eq!(world.put(1, b"more", Purpose::Shrink), Err(Refusal::Poisoned));
    world.write();
    assert_eq!(world.journal.durable(), durable, "no later sync heals it");
    assert!(world.journal.statistics().poisoned.is_some());
    assert!(world.writer.stop().is_err());
}

#[test]
fn the_identity_is_created_once_and_bound_to_its_segments() {
    let disk = FakeDisk::new();
    let elapsed_us = Arc::default();
    let prepared = journal::prepare(Arc::new(disk.clone()), &folder(), options(Policy::Always, &elapsed_us)).unwrap();
    let identity = prepared.identity;
    assert_eq!((identity.hash_key, identity.shards, identity.created_ms), ([3; 16], 16, 1000));
    drop(prepared);
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.put(0, b"one", Purpose::Grow).unwrap();
    world.stop();
    let mut other = options(Policy::Always, &elapsed_us);
    (other.drawn, other.shards) = ([[9; 16]; 3], 32);
    let prepared = journal::prepare(Arc::new(disk.copy()), &folder(), other).unwrap();
    assert_eq!(prepared.identity, identity);
    let path = folder().join("identity");
    let without = disk.copy();
    without.remove(&path).unwrap();
    assert!(matches!(World::open(&without, Policy::Always), Err(OpenError::Damaged { file, .. }) if file == path));
    let alone = disk.copy();
    segment_files(&alone).iter().for_each(|file| alone.remove(file).unwrap());
    assert!(matches!(World::open(&alone, Policy::Always), Err(OpenError::Damaged { .. })));
}

#[test]
fn threads_submit_frames_and_wait_until_they_are_durable() {
    let disk = FakeDisk::new();
    let world = World::open(&disk, Policy::Always).unwrap();
    let World { journal, writer, preallocator, .. } = world;
    let running = Running::start(writer, preallocator);
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3).map(|_| scope.spawn(|| work(journal.log_buffer()))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(journal.durable(), journal.next());
    let end = journal.next();
    running.stop().unwrap();
    assert_eq!(frames_of(&disk.crash(1), 0..end).len() as u64, counts.iter().sum::<u64>());
}

/// Hands over frames in small batches and waits for each batch to be durable.
fn work(mut log_buffer: journal::LogBuffer) -> u64 {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let notifier = Arc::new(Notifier::new());
    let journal = log_buffer.journal().clone();
    journal.add_notifier(notifier.clone());
    let mut frames = 0;
    for batch in 0..200 {
        let mut end = 0;
        for index in 0..batch % 7 + 1 {
            let payload = vec![index as u8; (batch * 13 + index * 101) % 900];
            let claim = loop {
                journal.wait_room(&waker);
                match log_buffer.try_admit(payload.len() as u64, Purpose::Grow) {
                    Ok(claim) => break claim,
                    Err(refusal) => assert_eq!(refusal, Refusal::Wait),
                }
                std::thread::park();
            };
            let ticket = log_buffer.take(claim, payload.len() as u64);
            end = ticket.end;
            log_buffer.hand_over(ticket, 0, &mut payload.clone());
            frames += 1;
        }
        while journal.want(&notifier, Level::Durable, end) == Reached::Waiting {
            if notifier.poll_notified(&mut context).is_pending() {
                std::thread::park();
            }
        }
    }
    frames
}

#[test]
fn writers_are_paced_while_a_sync_is_under_way() {
    let mut world = World::open(&FakeDisk::new(), Policy::EverySec).unwrap();
    world.put(0, &[7; 1000], Purpose::Grow).unwrap();
    world.write();
    assert!(!world.journal.is_paced());
    world.elapsed_us.fetch_add(2_000_000, Ordering::SeqCst);
    assert_eq!(world.writer.step(), Step::Synced);
    assert!(world.journal.is_paced());
    let (mut heavy, light) = (PaceTag::default(), PaceTag::default());
    world.journal.note_paced(&mut heavy, 1 << 30);
    // It is taken to need a fourth of the time that it has taken.
    world.elapsed_us.fetch_add(1_000_000, Ordering::SeqCst);
    assert!(world.journal.pace_wait_ms(heavy).is_some());
    assert_eq!(world.journal.pace_wait_ms(light), None);
    world.write();
    assert!(!world.journal.is_paced());
    assert_eq!(world.journal.pace_wait_ms(heavy), None);
}

#[test]
fn pacing_ends_with_the_bound_it_is_for() {
    let begin_sync = |world: &mut World| {
        world.put(0, &[7; 1000], Purpose::Grow).unwrap();
        let notifier = Arc::new(Notifier::new());
        world.journal.add_notifier(notifier.clone());
        while world.writer.step() == Step::Wrote {}
        let _ = world.journal.want(&notifier, Level::Durable, world.journal.next());
        assert_eq!(world.writer.step(), Step::Synced);
    };
    // Under `never` bytes that are not durable have no bound.
    let mut world = World::open(&FakeDisk::new(), Policy::Never).unwrap();
    begin_sync(&mut world);
    assert!(!world.journal.is_paced());

    let mut world = World::open(&FakeDisk::new(), Policy::EverySec).unwrap();
    begin_sync(&mut world);
    assert!(world.journal.is_paced());
    world.journal.set_policy(Policy::Never);
    assert!(!world.journal.is_paced());

    // Nobody waits for a journal that never becomes durable again.
    let mut world = World::open(&FakeDisk::new(), Policy::EverySec).unwrap();
    begin_sync(&mut world);
    world.journal.pace_tail(Some((world.journal.next() + 1, 1_000_000)));
    world.disk.fail_at(world.disk.operations());
    world.write();
    assert!(world.journal.is_poisoned());
    assert!(!world.journal.is_paced());
    world.journal.pace_tail(Some((world.journal.next() + 1, 1_000_000)));
    assert!(!world.journal.is_paced());
}

#[test]
fn a_thread_that_waits_for_its_frames_makes_them_durable() {
    let disk = FakeDisk::new();
    let mut world = World::open(&disk, Policy::Always).unwrap();
    world.run();
    let before = world.journal.statistics();
    for round in 1..=3 {
        let end = world.put(0, &[round; 100], Purpose::Grow).unwrap();
        assert!(world.journal.durable() < end);
        world.writer.sync_short(end + 1);
        assert!(world.journal.durable() < end, "what is awaited is not all handed over");
        world.writer.sync_short(end);
        assert_eq!(world.journal.durable(), end);
        let statistics = world.journal.statistics();
        assert_eq!(statistics.worker_syncs, u64::from(round));
        assert_eq!(statistics.syncs - before.syncs, u64::from(round));
    }
    world.writer.sync_short(world.journal.next());
    assert_eq!(world.journal.statistics().worker_syncs, 3, "nothing is left to sync");
    let kept = World::open(&disk.crash(1), Policy::Always).unwrap();
    assert_eq!(kept.frames, world.frames);

    // What does not fit the segment is left to the journal's thread, and what was written before it too.
    let end = loop {
        let end = world.put(0, &[7; 1000], Purpose::Grow).unwrap();
        world.writer.sync_short(end);
        if world.journal.durable() < end {
            break end;
        }
    };
    world.run();
    assert_eq!(world.journal.durable(), end);

    let end = world.put(0, b"last", Purpose::Grow).unwrap();
    // The write, then the sync.
    disk.fail_at(disk.operations() + 1);
    world.writer.sync_short(end);
    assert!(world.journal.is_poisoned(), "a sync that failed makes nothing durable");
}
