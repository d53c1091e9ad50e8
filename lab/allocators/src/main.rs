//! One allocator under the work of a keyspace: two threads fill, replace and remove what the other one made.
//!
//! ```text
//! fill      a million texts of 8 to 200 bytes, and 20,000 lists
//! churn     every text replaced five times by one of another length, lists pushed and popped
//! thin      nine texts in ten removed, a second of rest
//! refill    as many bytes again, in texts of 500 bytes
//! ```
//!
//! Prints, for each phase, nanoseconds an operation and resident bytes for each byte that the keyspace counts. `./run`
//! builds it for each allocator and runs three turns of each in alternation.

use base::hash::KeyHasher;
use base::limits::SHARDS;
use blocks::End;
use keyspace::effect::{Items, ListChange};
use keyspace::{Effect, Keyspace, Record, shard_of};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
#[cfg(any(feature = "mimalloc2", feature = "mimalloc3"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const KEYS: u64 = 1_000_000;
const LISTS: u64 = 20_000;
const THREADS: usize = 2;

fn main() {
    let bench = Bench { keyspace: Keyspace::new(KeyHasher::new([7; 16]), 1), barrier: Barrier::new(THREADS) };
    // The threads live as long as the process, as a server's workers do.
    let row = thread::scope(|scope| {
        scope.spawn(|| bench.phases(1));
        bench.phases(0)
    });
    println!("{}", row.join(","));
}

struct Bench {
    keyspace: Keyspace,
    barrier: Barrier,
}

impl Bench {
    /// All phases, as thread `mine` lives them; a cell of the row for each.
    fn phases(&self, mine: usize) -> Vec<String> {
        let put = |round, key| self.put(key, text_bytes(round, key));
        let mut row = Vec::new();
        row.push(self.cell(self.round(mine, 0, 0, put)));
        let churn: f64 = (1..=5).map(|round| self.round(mine, round, 0, put)).sum();
        row.push(self.cell(churn / 5.0));
        let thin = self.round(mine, 6, 0, |_, key| {
            if !key.is_multiple_of(10) {
                self.apply(&name(key), Effect::Remove);
            }
        });
        thread::sleep(Duration::from_secs(1));
        row.push(self.cell(thin));
        let refill = self.round(mine, 7, KEYS, |_, key| {
            if key.is_multiple_of(5) {
                self.put(key, 500);
            }
        });
        row.push(self.cell(refill));
        row
    }

    /// Every key from `first_key` on once, each thread those of its shards; the shards change hands from round to
    /// round. Nanoseconds an operation of one thread.
    fn round(&self, mine: usize, round: u64, first_key: u64, operation: impl Fn(u64, u64)) -> f64 {
        self.barrier.wait();
        let began = Instant::now();
        for step in 0..KEYS {
            let key = first_key + (step * 2_654_435_761 + round) % KEYS;
            if (self.shard(&name(key)) + round as usize) % THREADS == mine {
                operation(round, key);
            }
            let list = list_name(step % LISTS);
            if step % 16 == 0 && (self.shard(&list) + round as usize) % THREADS == mine {
                self.turn_list(&list, round);
            }
        }
        self.barrier.wait();
        began.elapsed().as_nanos() as f64 * THREADS as f64 / KEYS as f64
    }

    fn cell(&self, ns: f64) -> String {
        let cell = format!("{ns:.0},{:.3}", self.overhead());
        self.barrier.wait();
        cell
    }

    fn turn_list(&self, list: &[u8], round: u64) {
        let item = [b'i'; 32];
        let items = [&item[..4 + round as usize * 3]; 8];
        self.apply(list, Effect::List(ListChange::Push { end: End::Tail, items: Items::Slices(&items) }));
        if round > 0 {
            self.apply(list, Effect::List(ListChange::Pop { end: End::Head, count: 7 }));
        }
    }

    fn put(&self, key: u64, bytes_count: usize) {
        self.apply(&name(key), Effect::StringPut { expires_at_ms: None, bytes: &[b'v'; 500][..bytes_count] });
    }

    fn apply(&self, key: &[u8], effect: Effect<'_>) {
        thread_local!(static BUFFER: std::cell::RefCell<Vec<u8>> = const { std::cell::RefCell::new(Vec::new()) });
        BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            Record { table: 0, key, effect }.encode(buffer);
            self.keyspace.replay(buffer).expect("what was just encoded");
        });
    }

    fn shard(&self, key: &[u8]) -> usize {
        shard_of(self.keyspace.hash(key))
    }

    /// Resident bytes for each byte counted.
    fn overhead(&self) -> f64 {
        let counted: u64 = (0..SHARDS).map(|at| self.keyspace.shard(at).try_read().expect("idle").heap_bytes()).sum();
        resident_bytes() as f64 / counted as f64
    }
}

/// 8 to 200 bytes, short ones more often, another length in each round.
fn text_bytes(round: u64, key: u64) -> usize {
    let mixed = (key * 31 + round * 17).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let short = mixed % 4 != 0;
    8 + (mixed / 4) as usize % if short { 56 } else { 192 }
}

fn name(key: u64) -> [u8; 16] {
    digits(*b"key:000000000000", key)
}

fn list_name(list: u64) -> [u8; 16] {
    digits(*b"list000000000000", list)
}

fn digits(mut name: [u8; 16], mut number: u64) -> [u8; 16] {
    for digit in name[4..].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    name
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells a process its size");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4096
}
