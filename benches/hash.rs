//! Times the hash: `cargo bench -p benches --bench hash`, or `cargo bench -p benches --bench hash -- FIELDS`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on hashes of 100,000, of 1,000,000 and of
//! 10,000,000 fields of 13 bytes with values of 13 bytes, inserted in random order.

mod support;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use support::{sizes, time};
use values::Hash;
use values::hash::Pair;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    sizes().into_iter().for_each(run);
}

/// A field of thirteen bytes.
fn field(number: u64) -> String {
    format!("field:{:07}", number.wrapping_mul(7_368_787) % 10_000_000)
}

fn run(count: u64) {
    println!("{count} fields");
    let mut hash = Hash::default();
    let begun = Instant::now();
    for number in 0..count {
        hash.put(Pair { field: field(number).as_bytes(), value: b"value 1234567", expires_at_ms: None });
        hash.grow();
    }
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    println!("{:38} {each_ns:>9} ns, {:.2} bytes a field", "put of a new one", hash.heap_bytes() as f64 / count as f64);
    let times = (count as usize / 2).min(20_000);
    let mut at = 0;
    let mut next = || {
        at = (at + 7_654_321) % count;
        field(at)
    };
    time("get", times, || assert!(hash.get(next().as_bytes(), 0, |pair| _ = black_box(pair)).is_some()));
    time("put over another", times, || {
        hash.put(Pair { field: next().as_bytes(), value: b"value 7654321", expires_at_ms: None });
    });
    time("put beside a clone", times.min(1_000), || {
        let clone = hash.clone();
        hash.put(Pair { field: next().as_bytes(), value: b"value 1234567", expires_at_ms: None });
        drop(clone);
    });
    time("remove, and put again", times, || {
        let field = next();
        assert!(hash.remove(field.as_bytes()));
        hash.put(Pair { field: field.as_bytes(), value: b"value 1234567", expires_at_ms: None });
    });
    time("a step of a scan, of 10 fields", times, || {
        let mut left = 10;
        let _ = hash.walk_from(hash.place_of_order(base::hash::order(next().as_bytes())), &mut |pair| {
            black_box(pair);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    });
    time("a deadline, and none", times, || {
        let field = next();
        hash.set_expiry(field.as_bytes(), Some(1_700_000_000_000));
        hash.set_expiry(field.as_bytes(), None);
    });
}
