//! Runs worlds, two at a time, and reports those that failed.

use sim::{Plan, Seen, World};
use std::thread;

/// Runs a world; a failure says how to see it again, if it is one that a seed stands for.
pub(crate) fn run(plan: Plan) -> Result<Seen, String> {
    let world = std::panic::catch_unwind(|| World::run(plan));
    world.map_err(|panic| {
        let literal = panic.downcast_ref::<&str>().copied();
        let why = panic.downcast_ref::<String>().map(String::as_str).or(literal).unwrap_or("it panicked");
        let is_of_seed = format!("{plan:?}") == format!("{:?}", Plan::of(plan.seed));
        let again = if is_of_seed { format!("\n    see it again: make sim SEED={}", plan.seed) } else { String::new() };
        format!("{plan:?}: {why}{again}")
    })
}

/// Runs worlds, two at a time. What was seen in all, or the lines of those that failed.
fn run_all(plans: &[Plan]) -> Result<Seen, Vec<String>> {
    let results: Vec<_> = thread::scope(|scope| {
        let half = |odd| scope.spawn(move || plans.iter().skip(odd).step_by(2).map(|plan| run(*plan)).collect());
        let halves: Vec<thread::ScopedJoinHandle<'_, Vec<_>>> = (0..2).map(half).collect();
        halves.into_iter().flat_map(|half| half.join().expect("worlds are caught one by one")).collect()
    });
    let (done, failed): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    if failed.is_empty() {
        Ok(done.into_iter().flatten().fold(Seen::default(), sum))
    } else {
        Err(failed.into_iter().filter_map(Result::err).collect())
    }
}

fn sum(one: Seen, other: Seen) -> Seen {
    Seen {
        replies: one.replies + other.replies,
        moves: one.moves + other.moves,
        commits: one.commits + other.commits,
        commits_failed: one.commits_failed + other.commits_failed,
        shards_wanted: one.shards_wanted + other.shards_wanted,
        hash: one.hash ^ other.hash,
    }
}

pub(crate) fn must_run(plans: &[Plan]) -> Seen {
    run_all(plans).unwrap_or_else(|failed| panic!("{} of {} worlds:\n{}", failed.len(), plans.len(), failed.join("\n")))
}
