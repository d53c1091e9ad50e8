//! Times the block list: `cargo bench -p benches --bench list`, or with `-- ITEMS`.
//!
//! Prints nanoseconds per operation (the best and the median of five turns) and bytes per item, for items of mixed
//! lengths (4 to 19 bytes) and of 12 bytes, by content: noise stays raw, the others are packed.

use std::hint::black_box;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use blocks::{BlockList, Direction, End, LeafStore, Place, Storing, Visit};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Copies the visited items, as a reply would.
struct Copy(Vec<u8>);

impl Visit for Copy {
    fn item(&mut self, item: &[u8]) -> ControlFlow<()> {
        self.0.extend_from_slice(item);
        ControlFlow::Continue(())
    }

    fn run(&mut self, _width: usize, bytes: &[u8]) -> ControlFlow<()> {
        self.0.extend_from_slice(bytes);
        ControlFlow::Continue(())
    }
}

/// A cheap pseudo-random sequence.
struct Random(u64, u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 24
    }

    fn item(&mut self, content: Content, buffer: &mut [u8; 24]) -> usize {
        const SIGNS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        buffer[..8].copy_from_slice(&self.next().to_le_bytes());
        buffer[8..16].copy_from_slice(&self.next().to_le_bytes());
        match content {
            Content::Noise => 12,
            Content::Mixed => 4 + (self.next() % 16) as usize,
            Content::Signs => self.spell(SIGNS, buffer),
            Content::Hex => self.spell(&SIGNS_HEX, buffer),
            Content::Digits => self.spell(&SIGNS[..10], buffer),
            Content::Rising | Content::Consecutive => {
                self.1 += if content == Content::Rising { 1 + self.next() % 100 } else { 1 };
                write!(&mut buffer[..12], "{:012}", self.1).expect("twelve digits");
                12
            }
        }
    }

    fn spell(&mut self, signs: &[u8], buffer: &mut [u8; 24]) -> usize {
        let mut drawn = u128::from(self.next()) << 40 | u128::from(self.next());
        for sign in &mut buffer[..12] {
            *sign = signs[(drawn % signs.len() as u128) as usize];
            drawn /= signs.len() as u128;
        }
        12
    }
}

const SIGNS_HEX: [u8; 16] = *b"0123456789abcdef";

/// The content of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Noise,
    Mixed,
    Signs,
    Hex,
    Digits,
    Rising,
    Consecutive,
}

fn main() {
    // `cargo test --all-targets` runs this too, without `--bench`: then a few items show that it works.
    let usual = if std::env::args().any(|text| text == "--bench") { 10_000_000 } else { 20_000 };
    let items: u64 = std::env::args().skip(1).find_map(|text| text.parse().ok()).unwrap_or(usual);
    use Content::{Consecutive, Digits, Hex, Mixed, Noise, Rising, Signs};
    for content in [Noise, Mixed, Signs, Hex, Digits, Rising, Consecutive] {
        println!("{items} items, {content:?}");
        for end in [End::Head, End::Tail] {
            build(items, content, end);
        }
        let (mut list, ..) = built(items, content, End::Tail);
        reads(&list);
        stored(&list);
        writes(&mut list, content);
    }
}

/// Builds a list in twenty turns; returns the nanoseconds of a push in the best and in the median turn.
fn built(items: u64, content: Content, end: End) -> (BlockList, f64, f64) {
    let mut random = Random(1, 0);
    let mut buffer = [0; 24];
    let mut list = BlockList::new();
    let mut times = Vec::new();
    for _ in 0..20 {
        let begun = Instant::now();
        for _ in 0..items / 20 {
            let length = random.item(content, &mut buffer);
            list.push(end, &buffer[..length]);
        }
        times.push(begun.elapsed().as_nanos() as f64 / (items / 20) as f64);
    }
    times.sort_by(f64::total_cmp);
    (list, times[0], times[10])
}

fn build(items: u64, content: Content, end: End) {
    let before = resident_bytes();
    let (list, best, median) = built(items, content, end);
    let resident = resident_bytes().saturating_sub(before);
    let per_item = |bytes: u64| bytes as f64 / items as f64;
    println!("  push {end:?}: {best:.1} ns, median {median:.1}, new pages and making the item included");
    println!(
        "  bytes an item: {:.3} content, {:.3} asked, {:.3} resident, {:.3} encoded",
        per_item(list.content_bytes()),
        per_item(list.heap_bytes()),
        per_item(resident),
        per_item(list.encoded_bytes())
    );
    let begun = Instant::now();
    drop(list);
    println!("  drop: {:.2} ns an item", begun.elapsed().as_nanos() as f64 / items as f64);
}

fn reads(list: &BlockList) {
    let len = list.len();
    let mut random = Random(2, 0);
    turns("get at random", 1_000_000, |_| {
        black_box(list.get(random.next() % len, |item| item.len()));
    });
    for (name, start) in [("head", 0), ("middle", len / 2), ("tail", len - 100)] {
        let mut copy = Copy(Vec::new());
        turns(&format!("range of 100 at the {name}"), 200_000, |_| {
            copy.0.clear();
            let _ = list.walk(start, 100, Direction::Forward, &mut copy);
            black_box(&copy.0);
        });
    }
    let mut copy = Copy(Vec::new());
    turns("range of 100 in the middle, backward", 200_000, |_| {
        copy.0.clear();
        let _ = list.walk(len / 2, 100, Direction::Backward, &mut copy);
        black_box(&copy.0);
    });
    turns("range of 100 at random", 200_000, |_| {
        copy.0.clear();
        let _ = list.walk(random.next() % (len - 100), 100, Direction::Forward, &mut copy);
        black_box(&copy.0);
    });
    let scanned = turns("find an absent item: the whole list", 3, |_| {
        black_box(list.find(b"absent item!", 0, Direction::Forward));
    });
    println!("    = {:.2} ns an item passed", scanned / len as f64);
    turns("clone and drop", 1_000_000, |_| drop(black_box(list.clone())));
}

/// A store in memory; a leaf's place is the offset of its end.
struct Shelf(Vec<u8>);

impl LeafStore for Shelf {
    type Error = std::convert::Infallible;

    fn keeps(&mut self, _: Place, _: u64) -> bool {
        true
    }

    fn write(&mut self, leaf: &[u8]) -> Result<Place, Self::Error> {
        self.0.extend_from_slice(leaf);
        Ok(Place::of_number(self.0.len() as u64).expect("no leaf is empty"))
    }
}

impl Shelf {
    fn store(&mut self, list: &BlockList) -> Vec<u8> {
        let mut form = Vec::new();
        let mut storing = Storing::new(list.clone(), &mut form);
        while !storing.step(64 << 10, self, &mut form).expect("it takes everything") {}
        form
    }
}

fn stored(list: &BlockList) {
    let mut shelf = Shelf(Vec::with_capacity(list.encoded_bytes() as usize));
    let begun = Instant::now();
    let mut form = shelf.store(list);
    println!("  store: {:.0} us", begun.elapsed().as_secs_f64() * 1e6);
    turns("store again, unchanged", 1, |_| form = shelf.store(list));
    let (mut leaves, mut bytes) = (0, 0);
    turns("visit all places", 1, |_| {
        (leaves, bytes) = (0, 0);
        list.visit_places(&mut |_, leaf_bytes| (leaves, bytes) = (leaves + 1, bytes + leaf_bytes));
    });
    println!("  stored form: {leaves} leaves, {:.2} bytes each, of {bytes} bytes", form.len() as f64 / leaves as f64);
    let mut read = |place: Place, bytes: usize| {
        let end = place.number() as usize;
        Ok::<_, std::convert::Infallible>(&shelf.0[end - bytes..end])
    };
    turns("read back", 1, |_| {
        black_box(BlockList::of_stored(&mut &form[..], &mut read).expect("what was stored"));
    });
}

fn writes(list: &mut BlockList, content: Content) {
    let mut random = Random(3, 0);
    let mut buffer = [0; 24];
    turns("set at random", 200_000, |_| {
        let length = random.item(content, &mut buffer);
        list.set(random.next() % list.len(), &buffer[..length]);
    });
    turns("insert at random", 100_000, |_| {
        let length = random.item(content, &mut buffer);
        list.insert(random.next() % list.len(), &buffer[..length]);
    });
    turns("insert in the middle", 100_000, |_| {
        let length = random.item(content, &mut buffer);
        list.insert(list.len() / 2, &buffer[..length]);
    });
    turns("remove at random", 100_000, |_| list.remove(random.next() % list.len()));
    turns("split in the middle and append", 10_000, |_| {
        let right = list.split_off(list.len() / 2);
        list.append(right);
    });
    turns("set beside a clone", 10_000, |_| {
        let clone = list.clone();
        list.set(random.next() % list.len(), b"twelve bytes");
        drop(clone);
    });
    for step in [3, 1_000] {
        let positions: Vec<u64> = (0..list.len()).step_by(step).collect();
        let begun = Instant::now();
        list.remove_many(&positions);
        let each_ns = begun.elapsed().as_nanos() as f64 / positions.len() as f64;
        println!(
            "  remove one item in {step}: {each_ns:.1} ns each, then {:.3} bytes an item",
            list.heap_bytes() as f64 / list.len() as f64
        );
    }
    for end in [End::Head, End::Tail] {
        turns(&format!("pop {end:?}"), 200_000, |_| {
            list.pop(end, |item| {
                black_box(item.len());
            });
        });
    }
    let mut small = BlockList::new();
    (0..20).for_each(|_| small.push(End::Tail, b"twelve bytes"));
    turns("small queue: push and pop", 1_000_000, |_| {
        small.push(End::Head, b"twelve bytes");
        small.pop(End::Tail, |_| ());
    });
    turns("small deque: push at both ends, pop at both", 1_000_000, |_| {
        small.push(End::Head, b"twelve bytes");
        small.push(End::Tail, b"twelve bytes");
        small.pop(End::Tail, |_| ());
        small.pop(End::Head, |_| ());
    });
}

/// Runs `operation` in five turns, prints nanoseconds per call and returns the best.
fn turns(name: &str, calls: u64, mut operation: impl FnMut(u64)) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let begun = Instant::now();
            (0..calls).for_each(&mut operation);
            begun.elapsed().as_nanos() as f64 / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("  {name}: {:.1} ns, median {:.1}", times[0], times[2]);
    times[0]
}

/// Resident bytes of this process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
