//! Shared by the benches of values: sizes, and times of operations.

use std::time::Instant;

/// Returns the sizes to run: the one given after `--`, else the usual ones; without `--bench`, as under
/// `cargo test --all-targets`, one small size.
pub(crate) fn sizes() -> Vec<u64> {
    let is_bench = std::env::args().any(|text| text == "--bench");
    let given = std::env::args().skip(1).find_map(|text| text.parse().ok());
    given.map_or(if is_bench { vec![100_000, 1_000_000, 10_000_000] } else { vec![1_000] }, |count| vec![count])
}

/// Prints nanoseconds of one operation: the best and the median of five turns.
pub(crate) fn time(name: &str, times: usize, mut run: impl FnMut()) {
    let mut turns_ns = [0; 5];
    for turn_ns in &mut turns_ns {
        let begun = Instant::now();
        (0..times).for_each(|_| run());
        *turn_ns = begun.elapsed().as_nanos() as u64 / times as u64;
    }
    turns_ns.sort_unstable();
    println!("{name:38} {:>9} ns, median {:>9} ns", turns_ns[0], turns_ns[2]);
}

/// Prints the time of work in steps, per member of `count`, and its longest step.
#[allow(dead_code, reason = "not every bench has such work")]
pub(crate) fn time_steps(name: &str, count: u64, mut step: impl FnMut() -> bool) {
    let begun = Instant::now();
    let (mut steps, mut longest_ns) = (0, 0);
    loop {
        let step_begun = Instant::now();
        let is_over = step();
        (steps, longest_ns) = (steps + 1, longest_ns.max(step_begun.elapsed().as_nanos()));
        if is_over {
            break;
        }
    }
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    println!("{name:38} {each_ns:>9} ns a member, {steps} steps of up to {longest_ns} ns");
}
