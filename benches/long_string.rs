//! Times the long string: `cargo bench -p benches --bench long_string`, or with `-- BYTES`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on a string of 500 MB.

use std::hint::black_box;
use std::time::Instant;
use values::LongString;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    // `cargo test --all-targets` runs this too, without `--bench`: then on a short string.
    let usual = if std::env::args().any(|text| text == "--bench") { 500_000_000 } else { 1_000_000 };
    let bytes_count: usize = std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(usual);
    let times = (bytes_count / 5_000).clamp(100, 20_000);
    let content = vec![7; bytes_count];
    time("of, a MB", bytes_count.div_ceil(1_000_000), 1, || drop(LongString::of(&content)));
    time("zeros far beyond the end", 1, 100, || LongString::default().overwrite(bytes_count, b"x"));
    let mut text = LongString::of(&content);
    drop(content);
    let mut at = 0;
    let mut offset = || {
        at = (at + 7_654_321) % bytes_count;
        at
    };
    time("overwrite of 10 bytes", 1, times, || text.overwrite(offset(), b"0123456789"));
    time("overwrite of 10 bytes beside a clone", 1, times.min(1_000), || {
        let clone = text.clone();
        text.overwrite(offset(), b"0123456789");
        drop(clone);
    });
    time("append of 10 bytes", 1, times, || text.append(b"0123456789"));
    time("append of 4,080 bytes", 1, times, || text.append(&[1; 4080]));
    time("100 bytes read", 1, times, || {
        let at = offset();
        text.for_each_piece(at..at + 100, |piece| _ = black_box(piece));
    });
    let len = text.bytes_count();
    time("read as a reply is, a MB", len.div_ceil(1_000_000), 1, || {
        let (mut part, mut step) = (text.part(0..len), Vec::new());
        while part.bytes_count() > 0 {
            step.clear();
            part.take(32 << 10, |piece| step.extend_from_slice(piece));
            black_box(&step);
        }
    });
}

/// Calls `run` `times` times and prints the nanoseconds per part, with `parts` parts in each call.
fn time(name: &str, parts: usize, times: usize, mut run: impl FnMut()) {
    let mut turns_ns = [0; 5];
    for turn_ns in &mut turns_ns {
        let begun = Instant::now();
        (0..times).for_each(|_| run());
        *turn_ns = begun.elapsed().as_nanos() as u64 / (times * parts) as u64;
    }
    turns_ns.sort_unstable();
    println!("{name:38} {:>9} ns, median {:>9} ns", turns_ns[0], turns_ns[2]);
}
