//! Measures what a contended cache line costs: additions to an atomic number by one thread, and by two threads at once, to
//! numbers that lie in lines of their own, in one line, and to one number. The last figures are in
//! docs/internals/scaling.md.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Instant;

const ADDITIONS: u32 = 20_000_000;
const TURNS: usize = 5;

/// Numbers 128 bytes apart, so that a pair of lines that the processor fetches together holds one.
#[derive(Default)]
#[repr(align(128))]
struct Lines([AtomicU64; 32]);

/// Returns nanoseconds an addition of each thread, the median of some turns; each adds to the number at its place.
fn measured(places: &[usize]) -> f64 {
    let mut turns: Vec<f64> = (0..TURNS).map(|_| turn(places)).collect();
    turns.sort_by(f64::total_cmp);
    turns[TURNS / 2]
}

fn turn(places: &[usize]) -> f64 {
    let (lines, start) = (Lines::default(), Barrier::new(places.len()));
    let add = |place: usize| {
        start.wait();
        let began = Instant::now();
        (0..ADDITIONS).for_each(|_| {
            lines.0[place].fetch_add(1, SeqCst);
        });
        began.elapsed().as_nanos() as f64 / f64::from(ADDITIONS)
    };
    let add = &add;
    std::thread::scope(|scope| {
        let threads: Vec<_> = places.iter().map(|place| scope.spawn(move || add(*place))).collect();
        let took: Vec<f64> = threads.into_iter().map(|thread| thread.join().expect("it only adds")).collect();
        took.iter().sum::<f64>() / took.len() as f64
    })
}

fn main() {
    for (what, places) in [
        ("one thread", &[0][..]),
        ("two threads, lines of their own", &[0, 16]),
        ("two threads, one line", &[0, 1]),
        ("two threads, one number", &[0, 0]),
    ] {
        println!("{what:32} {:6.1} ns an addition", measured(places));
    }
}
