//! Worlds by the thousand. `make sim SEED=9187` runs one again; SEEDS sets how many are run, from SEEDS_FROM (0) on.

use crate::worlds::{must_run, run};
use journal::Policy;
use sim::{Fault, Plan, Workload, World};

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().filter(|text| !text.is_empty()).map(|text| text.parse().expect("a number"))
}

#[test]
fn no_acknowledged_write_is_lost_in_any_world() {
    if let Some(seed) = setting("SEED") {
        println!("{:?}", Plan::of(seed));
        World::run(Plan::of(seed));
        return;
    }
    let (from, seeds) = (setting("SEEDS_FROM").unwrap_or(0), setting("SEEDS").unwrap_or(1000));
    let plans: Vec<Plan> = (from..from + seeds).map(Plan::of).collect();
    let seen = must_run(&plans);
    println!("{seeds} worlds, {seen:?}\nseeds {from} to {} clean", from + seeds - 1);
    assert!(seen.replies > 20 * seeds, "the worlds do next to nothing");
    assert!(seen.moves > seeds, "connections move too rarely");
    assert!(seen.commits > 4 * seeds, "the worlds store next to nothing");
    assert!(seen.shards_wanted > 4 * seeds, "everything is loaded before anybody asks");
}

#[test]
fn the_same_seed_gives_the_same_world() {
    for seed in (0..128).step_by(9) {
        assert_eq!(World::run(Plan::of(seed)), World::run(Plan::of(seed)), "seed {seed}");
    }
}

/// A small world for each operation of the disk: from this one on all fail, or this one alone.
#[test]
fn any_disk_operation_may_fail_or_be_the_last() {
    let mut plans = Vec::new();
    for seed in 0..4 {
        for policy in [Policy::Always, Policy::EverySec] {
            let workload = [Workload::Values, Workload::Databases, Workload::Mixed, Workload::Values][seed as usize];
            let small = Plan { seed, policy, fault: Fault::Nothing, workload, hasty: false, steps_max: 150 };
            let operations = World::operations(small);
            assert!((20..=200).contains(&operations), "{operations} operations are no small world");
            for operation in 0..operations {
                plans.push(Plan { fault: Fault::HaltAt(operation), ..small });
                plans.push(Plan { fault: Fault::FailAt(operation), ..small });
            }
        }
    }
    let seen = must_run(&plans);
    println!("{} small worlds, {seen:?}", plans.len());
}

/// Worlds that found a bug.
#[test]
fn worlds_that_found_a_bug_pass() {
    let plan =
        |seed, policy, fault, workload, steps_max| Plan { seed, policy, fault, workload, hasty: false, steps_max };
    must_run(&[
        // Keys that DEBUG RELOAD had loaded had marks of other turns, and were missing in the next base.
        plan(2, Policy::EverySec, Fault::Nothing, Workload::Mixed, 1600),
        plan(32, Policy::Always, Fault::Nothing, Workload::Values, 1600),
        // The first start was interrupted after it had created the store and before the folder's identity.
        plan(0, Policy::Always, Fault::HaltAt(12), Workload::Values, 150),
        // Messages that became due were only partly undone when serving their waiters needed more shards.
        plan(9025, Policy::Always, Fault::HaltAt(394), Workload::Mixed, 1600),
    ]);
}

/// The canary: a server that lets replies leave before they are durable is found out.
#[test]
fn replies_that_leave_too_early_are_caught() {
    let plan = |seed| Plan { policy: Policy::Always, fault: Fault::Nothing, hasty: true, ..Plan::of(seed) };
    let caught = (0..20).filter(|seed| run(plan(*seed)).is_err()).count();
    assert_eq!(caught, 20, "of 20 worlds with hasty replies");
}

/// The canary among disks: a sync that does nothing is found out.
#[test]
fn a_disk_that_does_not_sync_is_caught() {
    let plan = |seed| Plan { policy: Policy::Always, fault: Fault::LyingDisk, ..Plan::of(seed) };
    let caught = (0..20).filter(|seed| run(plan(*seed)).is_err()).count();
    assert_eq!(caught, 20, "of 20 worlds with a disk that lies");
}
