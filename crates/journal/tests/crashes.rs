//! The power is cut at every operation, and again during and after recovery: every durable frame that was not released
//! is recovered.

use crate::world;
use crate::world::*;
use base::disk::FakeDisk;
use journal::{Policy, Purpose};

/// The outcome of a run: every frame handed over, and the position below which all was durable.
#[derive(Clone)]
struct Past {
    frames: Frames,
    durable: u64,
    /// The position below which frames are released.
    from: u64,
    releases: bool,
}

const NOTHING: Past = Past { frames: Frames::new(), durable: 0, from: 0, releases: false };
const RELEASING: Past = Past { frames: Frames::new(), durable: 0, from: 0, releases: true };

/// Runs a small workload until the disk fails or it ends.
fn run(disk: &FakeDisk, policy: Policy, seed: u64, past: &Past) -> Past {
    let Ok(mut world) = World::open_from(disk, policy, past.from) else {
        return past.clone();
    };
    let releases = past.releases;
    match releases {
        true => world.load_and_release(&mut random(seed), 40),
        false => world.load(&mut random(seed), 25),
    }
    world.run();
    let (frames, from) = (world.frames, world.from);
    if seed.is_multiple_of(3) && !world.journal.is_poisoned() {
        let end = world.journal.next();
        let durable = if world.writer.stop().is_ok() { end } else { world.journal.durable() };
        return Past { frames, durable, from, releases };
    }
    Past { durable: world.journal.durable(), frames, from, releases }
}

/// Opens the disk after a crash and checks that everything durable is there. Returns the new state to check against.
fn recover(disk: &FakeDisk, policy: Policy, past: &Past, context: &str) -> Past {
    let world = World::open_from(disk, policy, past.from).unwrap_or_else(|error| panic!("{context}: {error}"));
    check_prefix(&world.frames, &since(&past.frames, past.from), past.durable, context);
    assert_eq!(world.recovery.end, world.journal.durable(), "{context}: recovery makes durable what it reports");
    Past { durable: world.recovery.end, frames: world.frames, ..*past }
}

fn crash_everywhere(policy: Policy, seed: u64, nothing: &Past) {
    let whole = FakeDisk::new();
    run(&whole, policy, seed, nothing);
    let operations = whole.operations();
    let mut random = random(seed ^ 77);
    for operation in 0..operations {
        let context = format!("{policy:?}, seed {seed}, power cut at operation {operation} of {operations}");
        let disk = FakeDisk::new();
        disk.halt_at(operation);
        let past = run(&disk, policy, seed, nothing);
        let crashed = disk.crash(seed ^ operation);
        // The power goes once more while it recovers, and once more at once after.
        let again = crashed.copy();
        again.halt_at(random.below(60));
        let _ = World::open_from(&again, policy, past.from);
        let past = recover(&again.crash(operation), policy, &past, &format!("{context}, again in recovery"));
        let settled = again.crash(operation);
        let second = recover(&settled, policy, &past, &format!("{context}, after recovery"));
        let past = recover(&settled.crash(operation), policy, &second, &format!("{context}, right after recovery"));
        // Frames written under the new history survive the next crash.
        let next = settled.crash(operation);
        next.halt_at(next.operations() + 30 + random.below(120));
        let past = run(&next, policy, seed + 1, &past);
        recover(&next.crash(seed), policy, &past, &format!("{context}, in the life after"));
    }
}

#[test]
fn durable_frames_survive_power_cuts_under_always() {
    for seed in 0..cases(8) {
        crash_everywhere(Policy::Always, seed, &NOTHING);
    }
}

#[test]
fn durable_frames_survive_power_cuts_under_everysec_and_never() {
    for seed in 0..cases(4) {
        crash_everywhere(Policy::EverySec, 1000 + seed, &NOTHING);
        crash_everywhere(Policy::Never, 2000 + seed, &NOTHING);
    }
}

#[test]
fn durable_frames_survive_power_cuts_during_releases() {
    for seed in 0..cases(2) {
        crash_everywhere(Policy::Always, 3000 + seed, &RELEASING);
        crash_everywhere(Policy::EverySec, 4000 + seed, &RELEASING);
        crash_everywhere(Policy::Never, 5000 + seed, &RELEASING);
    }
}

/// One operation fails and the others work: a full disk's or a broken sector's way.
#[test]
fn one_failing_operation_loses_nothing_durable() {
    for seed in 0..cases(6) {
        let nothing = if seed % 2 == 0 { NOTHING } else { RELEASING };
        let whole = FakeDisk::new();
        run(&whole, Policy::Always, seed, &nothing);
        for operation in 0..whole.operations() {
            let disk = FakeDisk::failing_at(operation);
            let past = run(&disk, Policy::Always, seed, &nothing);
            let context = format!("seed {seed}, operation {operation} fails");
            recover(&disk.copy(), Policy::Always, &past, &context);
            recover(&disk.crash(operation), Policy::Always, &past, &context);
        }
    }
}

/// A killed process leaves the page cache: everything written is there, durable or not.
#[test]
fn a_kill_keeps_everything_written() {
    for seed in 0..cases(20) {
        for policy in [Policy::Always, Policy::EverySec, Policy::Never] {
            let disk = FakeDisk::new();
            let mut world = World::open(&disk, policy).unwrap();
            match seed % 2 {
                0 => world.load(&mut random(seed), 60),
                _ => world.load_and_release(&mut random(seed), 120),
            }
            let written = world.journal.written();
            let context = format!("{policy:?}, seed {seed}");
            let again = World::open_from(&disk.copy(), policy, world.from).unwrap();
            check_prefix(&again.frames, &since(&world.frames, world.from), written, &context);
            assert_eq!(again.recovery.torn, None, "{context}");
        }
    }
}

/// After a kill, frames are in the page cache alone. Recovered frames must survive a power cut right after recovery,
/// and a power cut at any operation of recovery must leave a journal that opens.
#[test]
fn frames_recovered_after_a_kill_are_durable() {
    for seed in 0..cases(25) {
        for policy in [Policy::EverySec, Policy::Never, Policy::Always] {
            let kill = || {
                let disk = FakeDisk::new();
                let mut world = World::open(&disk, policy).unwrap();
                match seed % 2 {
                    0 => world.load(&mut random(seed), 20 + seed % 30),
                    _ => world.load_and_release(&mut random(seed), 20 + seed % 30),
                }
                world.write();
                let (frames, from) = (world.frames, world.from);
                (disk, Past { durable: world.journal.durable(), frames, from, releases: false })
            };
            let (disk, past) = kill();
            let begun = disk.operations();
            let recovered = recover(&disk, policy, &past, &format!("{policy:?}, seed {seed}, killed"));
            recover(&disk.crash(seed), policy, &recovered, &format!("{policy:?}, seed {seed}, killed, recovered, cut"));
            for operation in begun..disk.operations() {
                let (disk, past) = kill();
                disk.halt_at(operation);
                let _ = World::open_from(&disk, policy, past.from);
                let context = format!("{policy:?}, seed {seed}, killed, cut at operation {operation} of recovery");
                recover(&disk.crash(seed ^ operation), policy, &past, &context);
            }
        }
    }
}

/// The bytes cut off are saved, and survive a power cut right after.
#[test]
fn a_torn_tail_is_saved_and_survives_a_power_cut() {
    let mut torn_tails = 0;
    for seed in 0..cases(60) {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, Policy::EverySec).unwrap();
        world.load(&mut random(seed), 30);
        world.write();
        let crashed = disk.crash(seed);
        let segments = segment_files(&crashed).into_iter().map(|file| bytes_of(&crashed, &file)).collect::<Vec<_>>();
        let Some(torn) = World::open(&crashed, Policy::EverySec).unwrap().recovery.torn else {
            continue;
        };
        torn_tails += 1;
        let again = crashed.crash(seed);
        let mut kept_bytes = 0;
        for name in &torn.kept_as {
            let bytes = bytes_of(&again, &world::folder().join(name));
            kept_bytes += bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            let is_from_here = |segment: &Vec<u8>| segment.windows(bytes.len()).any(|window| window == bytes);
            assert!(segments.iter().any(is_from_here), "seed {seed}: {name} holds something else");
        }
        assert_eq!(kept_bytes as u64, torn.bytes, "seed {seed}");
    }
    assert!(torn_tails > 0);
}

/// After a restart that lost a tail, frames of the history before, at the same positions, are never accepted.
#[test]
fn frames_of_an_older_history_are_never_replayed() {
    for seed in 0..cases(100) {
        let disk = FakeDisk::new();
        let mut world = World::open(&disk, Policy::EverySec).unwrap();
        world.load(&mut random(seed), 20);
        let mut disk = disk.crash(seed);
        let mut frames = None::<Frames>;
        for round in 0..4 {
            let context = format!("seed {seed}, round {round}");
            let mut world = World::open(&disk, Policy::EverySec).unwrap_or_else(|error| panic!("{context}: {error}"));
            if let Some(twin) = &frames {
                check_prefix(&world.frames, twin, 0, &context);
            }
            let tag = [round as u8; 64];
            for _ in 0..random(seed + round).below(60) {
                if world.put(0, &tag, Purpose::Grow).is_err() {
                    break;
                }
                world.write();
            }
            frames = Some(world.frames);
            disk = disk.crash(seed + round);
        }
    }
}
