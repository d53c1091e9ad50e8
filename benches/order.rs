//! Measures the key index: the costs of building it, of maintaining it, and of its memory, and the time of a page of
//! 100 names. Argument: number of keys (10,000,000).

use base::hash::KeyHasher;
use base::random::Random;
use blocks::Direction;
use keyspace::{CatchUp, Expiry, IndexState, IndexStep, Keyspace, Log, OrderTurn, Page, Plan, Span, Tx, kind_of};
use std::hint::black_box;
use std::time::Instant;
use sync::lock::Want;
use values::sorted::Bound;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PAGES: u64 = 20_000;
const PAGE: usize = 100;
/// Requests between two steps of the background thread, as with 100,000 a second.
const BETWEEN: u64 = 1_000;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(10_000_000u64);
    let keyspace = Keyspace::new(KeyHasher::new([7; 16]), 1);
    let mut log = Log::default();
    let began = Instant::now();
    (0..count).for_each(|nth| set(&keyspace, &mut log, &name(nth)));
    println!("{count} names of 16 bytes; SET of a new one: {:.0} ns", each_ns(began, count));
    set_again("SET of one that is there, without an order", &keyspace, &mut log, count);

    let began = Instant::now();
    keyspace.order_at_once();
    let (names, bytes) = keyspace.order().figures();
    assert_eq!(names, count);
    let bytes_each = bytes as f64 / names as f64;
    println!(
        "built in {:.1} s; {bytes_each:.1} bytes a name, of which 12 are no prefix",
        began.elapsed().as_secs_f64()
    );
    for direction in [Direction::Forward, Direction::Backward] {
        pages(&keyspace, &mut log, count, direction);
    }
    set_again("SET of one that is there, with an order", &keyspace, &mut log, count);
    let (mut noted, mut kept, more) = (0, 0, count / 20);
    for nth in (count..count + more).step_by(BETWEEN as usize) {
        let began = Instant::now();
        (nth..nth + BETWEEN).for_each(|nth| set(&keyspace, &mut log, &name(nth)));
        noted += began.elapsed().as_nanos();
        let began = Instant::now();
        while !matches!(keyspace.step_order(), IndexStep::Idle) {}
        kept += began.elapsed().as_nanos();
    }
    let each = |ns: u128| ns as f64 / more as f64;
    println!("SET of a new one: {:.0} ns with its note; put into the order beside: {:.0} ns", each(noted), each(kept));
    println!("{:.1} bytes a name now", keyspace.order().figures().1 as f64 / keyspace.order().figures().0 as f64);
}

/// Returns the name of a number: all differ, and are in no order.
fn name(nth: u64) -> [u8; 16] {
    let mut name = *b"user:00000000000";
    let mut number = nth * 7_919_000_003 % 100_000_000_000;
    for digit in name[5..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    name
}

fn set(keyspace: &Keyspace, log: &mut Log, key: &[u8]) {
    let mut plan = Plan::default();
    plan.add_key(keyspace, key, Want::Write);
    let held = plan.try_hold(keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
    let mut tx = Tx::new(keyspace, held, 0, 1, log, u64::MAX);
    tx.put_string(key, b"some value of a user", Expiry::Clear);
    tx.end().clear();
}

fn set_again(what: &str, keyspace: &Keyspace, log: &mut Log, count: u64) {
    let began = Instant::now();
    let many = count / 5;
    (0..many).for_each(|nth| set(keyspace, log, &name(nth)));
    println!("{what}: {:.0} ns", each_ns(began, many));
}

/// Reads pages from random places, and looks each name up in its shard, as the server does.
fn pages(keyspace: &Keyspace, log: &mut Log, count: u64, direction: Direction) {
    let mut random = Random::new(1);
    let (mut met, mut found_ns) = (0, 0);
    let began = Instant::now();
    for _ in 0..PAGES {
        let from = Bound::Excluding(name(random.next_u64() % count).to_vec());
        let (least, most) = match direction {
            Direction::Forward => (from, Bound::None),
            Direction::Backward => (Bound::None, from),
        };
        let began = Instant::now();
        let page = page(keyspace, &Span { least, most, direction });
        found_ns += began.elapsed().as_nanos();
        let mut plan = Plan::default();
        page.iter().for_each(|name| plan.add_key(keyspace, name, Want::Read));
        plan.seal();
        let held = plan.try_hold(keyspace).unwrap_or_else(|_| panic!("nobody else is here"));
        let mut tx = Tx::new(keyspace, held, 0, 1, log, 0);
        for name in page.iter() {
            met += u64::from(tx.peek(name).map(kind_of).is_some());
        }
        tx.end();
    }
    let (all_us, found_us) = (each_ns(began, PAGES) / 1e3, found_ns as f64 / 1e3 / PAGES as f64);
    println!("a page of {PAGE}, {direction:?}: {all_us:.1} us, of which {found_us:.1} find the names");
    black_box(met);
}

fn page(keyspace: &Keyspace, span: &Span) -> Page {
    let mut reader = CatchUp::default();
    assert_eq!(keyspace.order().state(), IndexState::On);
    loop {
        if let OrderTurn::Page(page) = keyspace.order_page(0, span, PAGE, &mut reader) {
            return page;
        }
    }
}

fn each_ns(began: Instant, count: u64) -> f64 {
    began.elapsed().as_nanos() as f64 / count as f64
}
