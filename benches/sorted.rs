//! Times the sorted set: `cargo bench -p benches --bench sorted`, or `cargo bench -p benches --bench sorted -- MEMBERS`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on sorted sets of 100,000, of 1,000,000 and of
//! 10,000,000 members of ten bytes with random doubles as scores, inserted in random order.

mod support;

use blocks::Direction;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use support::{sizes, time, time_steps};
use values::Sorted;
use values::set::SetOperation;
use values::sorted::{Aggregate, Asked, Bound, Members, SortedAlgebra, SortedLimits, Source};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    sizes().into_iter().for_each(run);
}

/// Returns a distinct number for each: multiplication by an odd factor and xor-shift are one-to-one.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number ^ number >> 31
}

fn member(number: u64) -> String {
    format!("{:010x}", mixed(number) & 0xff_ffff_ffff)
}

fn score(number: u64) -> f64 {
    (mixed(number ^ 0x5555) >> 11) as f64 / (1u64 << 53) as f64
}

fn sorted_of(numbers: std::ops::Range<u64>) -> Sorted {
    let mut sorted = Sorted::default();
    for number in numbers {
        sorted.put(score(number), member(number).as_bytes());
        if sorted.len() == 129 {
            sorted.grow();
        }
    }
    sorted
}

fn run(count: u64) {
    println!("{count} members");
    let begun = Instant::now();
    let mut sorted = sorted_of(0..count);
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    let each_bytes = sorted.heap_bytes() as f64 / sorted.len() as f64;
    println!("{:38} {each_ns:>9} ns, {each_bytes:.2} bytes a member", "add a new one");
    let times = (count as usize / 2).min(20_000);
    let mut at = 0;
    let mut next = || {
        at = (at + 7_654_321) % count;
        at
    };
    let len = sorted.len();
    time("the score of a member", times, || assert!(black_box(sorted.score(member(next()).as_bytes())).is_some()));
    time("the rank of a member", times, || assert!(black_box(sorted.rank(member(next()).as_bytes())).is_some()));
    time("the member at a rank", times, || drop(black_box(sorted.get(next() % len, |_, member| member.to_vec()))));
    time("100 members from the middle on", times.min(2_000), || {
        let mut bytes = 0;
        let _ = sorted.walk(len / 2, 100.min(len / 2), Direction::Forward, &mut |_, member| {
            bytes += member.len();
            ControlFlow::Continue(())
        });
        black_box(bytes);
    });
    time("how many have scores of a range", times, || {
        let least = score(next());
        black_box(sorted.score_range(Bound::Including(least), Bound::Excluding(least + 0.1)));
    });
    time("another score", times, || {
        let number = next();
        sorted.put(score(number + 1), member(number).as_bytes());
    });
    time("remove, and add again", times, || {
        let number = next();
        sorted.remove(member(number).as_bytes());
        sorted.put(score(number), member(number).as_bytes());
    });
    let of_one_score = {
        let mut equal = Sorted::default();
        (0..count).for_each(|number| equal.push(0.0, format!("{number:010}").as_bytes()));
        equal
    };
    time("where a member is among one score", times, || {
        let text = format!("{:010}", next());
        black_box(of_one_score.lex_range(Bound::Including(text.as_bytes()), Bound::None));
    });
    let other = sorted_of(count / 2..count + count / 2);
    for operation in [SetOperation::Intersection, SetOperation::Union, SetOperation::Difference] {
        let source = |sorted: &Sorted| Source { members: Members::Sorted(sorted.clone()), weight: 1.0 };
        let asked = Asked { operation, aggregate: Aggregate::Sum, count_max: u64::MAX, is_counted: false };
        let limits = SortedLimits { entries: 128, member_bytes: 64 };
        let mut algebra = SortedAlgebra::new(asked, vec![source(&sorted), source(&other)], limits);
        time_steps(&format!("{operation:?}"), 2 * count, || algebra.step());
    }
}
