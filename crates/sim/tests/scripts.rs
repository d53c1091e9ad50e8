//! Scripts: the power goes at each operation of the disk, and the server is stopped or killed after any step.

use crate::worlds::must_run;
use journal::Policy;
use sim::{Fault, Plan, Script, Seen, Turns, Workload, World};

fn plan(seed: u64, workload: Workload, fault: Fault, steps_max: u64) -> Plan {
    Plan { seed, policy: Policy::Always, fault, workload, hasty: false, steps_max }
}

/// A world for each operation of the disk: from this one on all fail, and so again in the next life. Then worlds whose
/// lives have one step, two, three: stopped in order, or killed, or the power goes.
fn play(script: Script, turns: Turns) -> Seen {
    let workload = Workload::Script(script, turns);
    let whole = plan(0, workload, Fault::Nothing, u64::MAX);
    let operations = World::operations(whole);
    assert!((40..=200).contains(&operations), "{operations} operations are no small world");
    let mut plans: Vec<Plan> = (0..operations).map(|at| Plan { fault: Fault::HaltAt(at), ..whole }).collect();
    for steps in 1..=script.steps() as u64 {
        let faults = [Fault::CleanStop, Fault::Kill, Fault::Nothing];
        plans.extend(faults.map(|fault| plan(steps, workload, fault, steps)));
    }
    let seen = must_run(&plans);
    println!("{workload:?}: {operations} operations, {} worlds, {seen:?}", plans.len());
    seen
}

#[test]
fn large_lists_move_with_rounds_between_steps() {
    play(Script::Lists, Turns::Between);
}

#[test]
fn large_lists_move_during_rounds() {
    play(Script::Lists, Turns::Amid);
}

#[test]
fn databases_are_flushed_and_swapped_with_rounds_between_steps() {
    play(Script::Databases, Turns::Between);
}

#[test]
fn databases_are_flushed_and_swapped_during_rounds() {
    play(Script::Databases, Turns::Amid);
}
