//! Times the tagged list: `cargo bench -p benches --bench tagged`, or `cargo bench -p benches --bench tagged -- ITEMS`.
//!
//! Prints nanoseconds per operation, the best and the median of five turns, on lists of 100,000, of 1,000,000 and of
//! 10,000,000 items of twelve random bytes with attributes of 4, 3 and 1 bits; a tenth of the items is hidden.

mod support;

use blocks::Direction;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use support::{sizes, time};
use values::tagged::{Filter, LookLimits, Schema, Shown, Tagged, TaggedItem, Term, Test};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    for count in sizes() {
        run(count, false, random);
        run(count, true, random);
        run(count, true, id);
    }
}

/// Returns pseudo-random bytes, unique for each number.
fn random(number: u64) -> [u8; 12] {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mut value = [0; 12];
    value[..8].copy_from_slice(&mixed.to_le_bytes());
    value[8..].copy_from_slice(&(mixed >> 13).wrapping_mul(0x94d0_49bb_1331_11eb).to_le_bytes()[4..]);
    value
}

/// Returns unique ids of twelve digits, in ascending groups of ten thousand, scattered within each group.
fn id(number: u64) -> [u8; 12] {
    let mut digits = [0; 12];
    let id = number - number % 10_000 + number * 7_919 % 10_000;
    digits.copy_from_slice(format!("{id:012}").as_bytes());
    digits
}

/// Attributes of 4, 3 and 1 bits: the first is below 8 in half of the items, the second 5 in a thousandth, and so on.
fn tags(number: u64) -> (bool, [u32; 3]) {
    let dice = number.wrapping_mul(0xd129_0e13_2b4d_9bb5) >> 20;
    let rare = [1, 100, 10, 2].iter().position(|part| dice % 1000 < *part).map_or(0, |at| 5 - at as u32);
    ((dice / 1000).is_multiple_of(10), [(dice / 10_000 % 16) as u32, rare, (dice / 160_000 % 2) as u32])
}

fn schema(is_unique: bool) -> Arc<Schema> {
    let mut schema = Schema::new(Some(12)).expect("a length of values");
    assert!(schema.add(b"kind", 4) && schema.add(b"rare", 3) && schema.add(b"digest", 1));
    if is_unique {
        schema.set_unique();
    }
    Arc::new(schema)
}

fn page(list: &Tagged, filter: &Filter, skip: u64, from: u64) {
    let (mut left, limits) = (100, LookLimits { skip, chunks: u64::MAX });
    list.walk(from..list.len(), Direction::Forward, filter, limits, |found| {
        black_box(found.value);
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

fn filter(attribute: usize, test: Test) -> Filter {
    Filter { shown: Shown::Visible, terms: vec![Term { attribute, test }] }
}

fn run(count: u64, is_unique: bool, value: fn(u64) -> [u8; 12]) {
    println!("{count} items like {:02x?}{}", value(count / 2), if is_unique { ", unique" } else { "" });
    let begun = Instant::now();
    let mut list = Tagged::new(schema(is_unique));
    for from in (0..count).step_by(100) {
        let values: Vec<_> = (from..(from + 100).min(count)).map(|number| (value(number), tags(number))).collect();
        let items: Vec<TaggedItem<'_>> = values
            .iter()
            .map(|(value, (is_hidden, attributes))| TaggedItem { value, is_hidden: *is_hidden, attributes })
            .collect();
        list.insert(list.len(), &items);
    }
    let each_ns = begun.elapsed().as_nanos() as u64 / count;
    println!(
        "{:38} {each_ns:>9} ns, {:.2} bytes an item",
        "push a hundred, each",
        list.heap_bytes() as f64 / count as f64
    );
    let begun = Instant::now();
    black_box(list.counts());
    println!("{:38} {:>9} ns", "the first count of all", begun.elapsed().as_nanos());
    let visible = Filter::of(Shown::Visible);
    let times = (count as usize / 20).min(20_000);
    let shown = list.counts().0;
    for (name, skip) in [("head", 0), ("middle", shown / 2), ("tail", shown.saturating_sub(100))] {
        time(&format!("100 visible at the {name}"), times, || page(&list, &visible, skip, 0));
    }
    let half = filter(0, Test::Within(8, u32::MAX));
    let rare = [("50 %", half), ("10 %", filter(1, Test::Any(vec![4]))), ("1 %", filter(1, Test::Any(vec![3, 5])))];
    let rarest = filter(1, Test::Any(vec![5]));
    let mut from = 0;
    for (name, filter) in rare.iter().map(|(name, filter)| (*name, filter)).chain([("0.1 %", &rarest)]) {
        time(&format!("100 of {name}, from anywhere"), times.min(500), || {
            from = (from + 7_654_321) % (count / 2);
            page(&list, filter, 0, from);
        });
    }
    for (name, filter) in rare.iter().map(|(name, filter)| (*name, filter)).chain([("0.1 %", &rarest)]) {
        time(&format!("count {name} of all"), 3, || {
            black_box(list.count(0..list.len(), filter, u64::MAX));
        });
    }
    let mut number = 0;
    let mut next = || {
        number = (number + 7_654_321) % count;
        number
    };
    time("tags of one, and a page", times.min(2_000), || {
        let (at, (is_hidden, attributes)) = (next(), tags(next()));
        list.set_tags(at, &values::tagged::Tags { is_hidden, attributes: attributes.to_vec() });
        page(&list, &visible, 0, 0);
    });
    if is_unique {
        time("move one to the head", times.min(5_000), || {
            let at = list.find(&value(next())).expect("it is there");
            list.move_item(at, 0);
        });
    } else {
        time("find one", 20, || {
            black_box(list.find(&value(next())));
        });
    }
    println!("{:38} {:.2} bytes an item", "after that", list.heap_bytes() as f64 / count as f64);
}
