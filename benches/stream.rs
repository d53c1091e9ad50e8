//! Times the stream: `cargo bench -p benches --bench stream`, or `cargo bench -p benches --bench stream -- ENTRIES`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on streams of 100,000, of 1,000,000 and of
//! 10,000,000 entries of two short fields, in chunks of a hundred, 1 to 5 ms apart.

mod support;

use blocks::Direction;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use support::{sizes, time};
use values::Stream;
use values::stream::{Pending, StreamId};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const FIRST_MS: u64 = 1_700_000_000_000;

fn main() {
    sizes().into_iter().for_each(run);
}

/// Returns the id of an entry.
fn id(number: u64) -> StreamId {
    StreamId { ms: FIRST_MS + 3 * number + number * 7 % 3, seq: 0 }
}

fn add(stream: &mut Stream, number: u64) {
    let (sensor, temperature) = (format!("{:02}", number * 37 % 100), format!("{:02}", number * 53 % 100));
    let fields: [&[u8]; 4] = [b"sensor", sensor.as_bytes(), b"temperature", temperature.as_bytes()];
    let opens = stream.must_open(fields.iter().map(|field| field.len()).sum(), 100, 4096);
    stream.add(id(number), &fields, opens);
}

/// Walks the entries from one id to another, at most `most`; returns their number.
fn seen(stream: &Stream, from: StreamId, to: StreamId, direction: Direction, most: u64) -> u64 {
    let mut count = 0;
    let _ = stream.walk(from, to, direction, &mut |_, fields| {
        black_box(fields.bytes());
        count += 1;
        if count == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    count
}

fn run(count: u64) {
    println!("{count} entries");
    let begun = Instant::now();
    let mut stream = Stream::default();
    (0..count).for_each(|number| add(&mut stream, number));
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    let each_bytes = stream.heap_bytes() as f64 / stream.len() as f64;
    println!("{:38} {each_ns:>9} ns, {each_bytes:.2} bytes an entry", "add a new one");
    let times = (count as usize / 2).min(20_000);
    let mut at = 0;
    let mut next = || {
        at = (at + 7_654_321) % count;
        at
    };
    let (middle, hundred) = (id(count / 2), (count / 2).min(100));
    time("the entry of an id", times, || {
        let id = id(next());
        assert_eq!(seen(&stream, id, id, Direction::Forward, 2), 1);
    });
    time("100 entries from the middle on", times.min(2_000), || {
        assert_eq!(seen(&stream, middle, StreamId::MAX, Direction::Forward, hundred), hundred);
    });
    time("100 entries back from the middle", times.min(2_000), || {
        assert_eq!(seen(&stream, StreamId::MIN, middle, Direction::Backward, hundred), hundred);
    });
    time("100 entries from anywhere on", times.min(2_000), || {
        black_box(seen(&stream, id(next()), StreamId::MAX, Direction::Forward, 100));
    });
    time("how many a thousand ids in a row have", times.min(2_000), || {
        let from = next().min(count - count.min(1_000));
        let found = stream.count_up_to(id(from), id(from + count.min(1_000) - 1), u64::MAX, u64::MAX);
        assert_eq!(found, Some(count.min(1_000)));
    });
    time("add beside a clone", times.min(1_000), || {
        let clone = stream.clone();
        let number = stream.foot().added;
        add(&mut stream, number);
        drop(clone);
    });
    deliveries(&mut stream, count, times, &mut next);
    let mut number = 0;
    time("delete every third", times.div_ceil(10), || {
        number += 3;
        black_box(stream.delete(id(number)));
    });
}

/// Times the operations of a group with half of the entries pending.
fn deliveries(stream: &mut Stream, count: u64, times: usize, next: &mut impl FnMut() -> u64) {
    stream.put_group(b"readers", StreamId::MIN, Some(0));
    let group = stream.group(b"readers").expect("just made").number;
    let consumer = stream.put_consumer(group, b"one", FIRST_MS, Some(FIRST_MS));
    let pending = |number: u64| Pending { id: id(number), consumer, delivered_ms: FIRST_MS, deliveries: 1 };
    let begun = Instant::now();
    (0..count).step_by(2).for_each(|number| stream.put_pending(group, pending(number)));
    println!("{:38} {:>9} ns", "a delivery", begun.elapsed().as_nanos() as u64 / count.div_ceil(2));
    time("what is pending of an id", times, || {
        assert!(stream.pending(group, id(next() / 2 * 2)).is_some());
    });
    time("drop what is pending, and put it again", times, || {
        let number = next() / 2 * 2;
        assert!(stream.drop_pending(group, id(number)));
        stream.put_pending(group, pending(number));
    });
}
