//! Worlds by the thousand. `make sim SEED=9187` runs one again; SEEDS sets how many are run, from 0 on.

use journal::Policy;
use sim::{Fault, Plan, World};

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().filter(|text| !text.is_empty()).map(|text| text.parse().expect("a number"))
}

/// Runs a world; a failure says how to see it again.
fn run(plan: Plan) -> Result<u64, String> {
    let world = std::panic::catch_unwind(|| World::run(plan));
    world.map_err(|_| format!("{plan:?} failed; see it again: make sim SEED={}", plan.seed))
}

#[test]
fn nothing_told_is_lost_in_any_world() {
    if let Some(seed) = setting("SEED") {
        World::run(Plan::of(seed));
        return;
    }
    let seeds = setting("SEEDS").unwrap_or(1000);
    let mut replies = 0;
    let failed: Vec<String> = (0..seeds)
        .filter_map(|seed| match run(Plan::of(seed)) {
            Ok(count) => {
                replies += count;
                None
            }
            Err(line) => Some(line),
        })
        .collect();
    assert!(failed.is_empty(), "{} of {seeds} worlds:\n{}", failed.len(), failed.join("\n"));
    println!("{seeds} worlds, {replies} replies");
    assert!(replies > 20 * seeds, "the worlds do next to nothing");
}

#[test]
fn one_seed_is_one_world() {
    for seed in [1, 6, 11] {
        let counts = [World::run(Plan::of(seed)), World::run(Plan::of(seed))];
        assert_eq!(counts[0], counts[1], "seed {seed}");
    }
}

/// The canary: a server that lets replies leave before they are durable is found out.
#[test]
fn replies_that_leave_too_early_are_caught() {
    let caught = (0..60).filter(|seed| {
        let plan = Plan { seed: *seed, policy: Policy::Always, fault: Fault::Nothing, hasty: true };
        run(plan).is_err()
    });
    let caught = caught.count();
    assert!(caught > 20, "only {caught} of 60 hasty worlds were caught");
}
