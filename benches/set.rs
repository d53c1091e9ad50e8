//! Times the set: `cargo bench -p benches --bench set`, or `cargo bench -p benches --bench set -- MEMBERS`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on sets of 100,000, of 1,000,000 and of
//! 10,000,000 members of ten bytes, and of integers, inserted in random order.

mod support;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use support::{sizes, time, time_steps};
use values::Set;
use values::set::{SetAlgebra, SetForm, SetGoal, SetOperation};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    for count in sizes() {
        run("members of ten bytes", count, |number| format!("{:010x}", mixed(number)));
        run("integers", count, |number| (mixed(number) % 1_000_000_000_000).to_string());
    }
}

/// Returns a distinct number of forty bits for each: multiplication by an odd factor and xor-shift are one-to-one.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e_3779_b97f) & 0xff_ffff_ffff;
    number ^ number >> 19
}

fn run(what: &str, count: u64, member: impl Fn(u64) -> String) {
    println!("{count} {what}");
    let mut set = Set::new();
    let begun = Instant::now();
    (0..count).for_each(|number| assert!(set.add(member(number).as_bytes(), SetForm::Hashed) || count > 1_000));
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    println!(
        "{:38} {each_ns:>9} ns, {:.2} bytes a member",
        "add a new one",
        set.heap_bytes() as f64 / set.len() as f64
    );
    let times = (count as usize / 2).min(20_000);
    let mut at = 0;
    let mut next = || {
        at = (at + 7_654_321) % count;
        at
    };
    time("is a member", times, || assert!(set.contains(member(next()).as_bytes())));
    time("is none", times, || assert!(!set.contains(format!("none {}", next()).as_bytes())));
    let len = set.len();
    time("the one at a place", times, || drop(black_box(set.get(next() % len, <[u8]>::to_vec))));
    time("remove, and add again", times, || {
        let member = member(next());
        assert!(set.remove(member.as_bytes()));
        set.add(member.as_bytes(), SetForm::Hashed);
    });
    time("remove at a place, and add again", times, || {
        let place = next() % len;
        let member = set.get(place, <[u8]>::to_vec).expect("within");
        set.remove_runs([(place, 1)].into_iter());
        set.add(&member, SetForm::Hashed);
    });
    time("add and remove beside a clone", times.min(1_000), || {
        let clone = set.clone();
        set.add(b"another", SetForm::Hashed);
        set.remove(b"another");
        drop(clone);
    });
    time("a step of a scan, of 10 members", times, || {
        let mut left = 10;
        set.walk_hashed(set.index_of_hash(base::hash::order(&next().to_le_bytes())), |_, member| {
            black_box(member);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    });
    let other = set_of(count / 2..count + count / 2, &member);
    for operation in [SetOperation::Intersection, SetOperation::Union, SetOperation::Difference] {
        let mut algebra = SetAlgebra::new(operation, vec![set.clone(), other.clone()], SetGoal::Members);
        time_steps(&format!("{operation:?}"), 2 * count, || algebra.step());
    }
}

fn set_of(numbers: std::ops::Range<u64>, member: impl Fn(u64) -> String) -> Set {
    let mut set = Set::new();
    for number in numbers {
        set.add(member(number).as_bytes(), SetForm::Hashed);
    }
    set
}
