//! Time and memory of 1,024 tables under jemalloc; arguments: keys (5,000,000), then a shape to run it here.
//!
//! Each shape runs in a process of its own, so that resident memory is that shape's alone.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use base::hash::KeyHasher;
use table::{Content, NewContent, SHARED_BITS, Table};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const SHAPES: [(&str, bool, bool); 4] = [
    ("text of 32 bytes", false, false),
    ("text of 32 bytes, expiring", false, true),
    ("counter of 8 digits", true, false),
    ("counter of 8 digits, expiring", true, true),
];

fn main() {
    let arguments: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let keys = arguments.first().copied().unwrap_or(5_000_000);
    if let Some(&shape) = arguments.get(1) {
        return run(keys, SHAPES[shape]);
    }
    println!("{keys} keys of 16 bytes in 1024 tables; ns an operation, hashing included");
    let program = std::env::current_exe().expect("a program knows where it is");
    for shape in 0..SHAPES.len() {
        let status = Command::new(&program).args([keys.to_string(), shape.to_string()]).status();
        assert!(status.expect("the bench can run itself").success());
    }
}

struct Bench {
    tables: Vec<Table<u64>>,
    hasher: KeyHasher,
    keys: usize,
}

fn run(keys: usize, (name, counter, expiring): (&str, bool, bool)) {
    let tables = (0..1 << SHARED_BITS).map(|_| Table::new()).collect();
    let mut bench = Bench { tables, hasher: KeyHasher::new([7; 16]), keys };
    let before_bytes = resident_bytes();
    let insert_ns = bench.time(|tables, hasher, index| {
        let key = key(index);
        let hash = hasher.hash(&key);
        let content = if counter { NewContent::Int(10_000_000 + index as i64) } else { NewContent::Bytes(&[b'v'; 32]) };
        table_of(tables, hash).insert(hash, &key, content, expiring.then_some(1_800_000_000_000 + index as u64));
    });
    let resident = (resident_bytes() - before_bytes) as f64 / keys as f64;
    let counted = bench.tables.iter().map(Table::heap_bytes).sum::<u64>() as f64 / keys as f64;
    let hit_ns = bench.time(|tables, hasher, index| {
        let key = key(index);
        let hash = hasher.hash(&key);
        match table_of(tables, hash).find(hash, &key).map(|entry| entry.content()) {
            Some(Content::Bytes(bytes)) => assert!(bytes[31] == b'v'),
            Some(Content::Int(int)) => assert!(int == 10_000_000 + index as i64),
            _ => panic!("a key is missing"),
        }
    });
    let miss_ns = bench.time(|tables, hasher, index| {
        let key = key(index + keys);
        let hash = hasher.hash(&key);
        assert!(table_of(tables, hash).find(hash, &key).is_none());
    });
    let hash_ns = bench.time(|_, hasher, index| {
        black_box(hasher.hash(&key(index)));
    });
    let remove_ns = bench.time(|tables, hasher, index| {
        let key = key(index);
        let hash = hasher.hash(&key);
        assert!(table_of(tables, hash).remove(hash, &key).is_some());
    });
    println!(
        "{name:30} insert {insert_ns:4.0}  hit {hit_ns:4.0}  miss {miss_ns:4.0}  remove {remove_ns:4.0}  (hash {hash_ns:3.0})  \
         resident {resident:5.1} B a key, counted {counted:5.1}"
    );
}

impl Bench {
    /// Returns the nanoseconds per key over all keys, in a scattered order.
    fn time(&mut self, mut operation: impl FnMut(&mut [Table<u64>], &KeyHasher, usize)) -> f64 {
        let start = Instant::now();
        for step in 0..self.keys {
            operation(&mut self.tables, &self.hasher, (step * 2_654_435_761) % self.keys);
        }
        start.elapsed().as_nanos() as f64 / self.keys as f64
    }
}

fn table_of(tables: &mut [Table<u64>], hash: u64) -> &mut Table<u64> {
    &mut tables[(hash >> (u64::BITS - SHARED_BITS)) as usize]
}

fn key(index: usize) -> [u8; 16] {
    let mut key = *b"key:000000000000";
    let (mut rest, mut at) = (index, key.len());
    while rest > 0 {
        at -= 1;
        key[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux tells a process its size");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4096
}
