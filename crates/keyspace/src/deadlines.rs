//! Expiry times of one section's keys: a sorted set of hints, six bytes each, without names.
//!
//! ```text
//! hint    | due, in ticks of 32 ms since 1970, rounded up : 44 | bits that place the key in its table : 20 |
//!         | era : 16 | what its bucket keeps of it : 48                                                    |
//!
//! bucket  | first hint | hint hint hint ...   up to 128 of one era (99 days), soonest first
//! bucket  | first hint | hint hint ...
//! ```
//!
//! A hint stands for all keys of its section that share the 20 bits. Invariant: **each key that expires has a hint that
//! falls due no later than the key, to the tick.** So moving a deadline forward adds a hint; moving it back or removing
//! it does nothing. A hint that falls due before its keys is moved to the first of their deadlines, and one without
//! keys is dropped; moving onto an existing hint merges the two.
//!
//! A full bucket is halved and capacities match the allocator's size classes, so where deadlines are dense a key costs
//! at most 7.5 bytes. A section with few hints pays 32 bytes for its bucket, and hints years apart are in separate
//! buckets.

use base::Ms;
use table::{PREFIX_BITS, SHARED_BITS};

const TAG_BITS: u32 = PREFIX_BITS - SHARED_BITS;
const KEPT_BITS: u32 = 48;
/// Keys expire up to this many milliseconds after their deadline.
const TICK_MS: Ms = 32;
/// The last due time that a hint can hold is beyond the year 19,000.
const TICK_MAX: u64 = (1 << (u64::BITS - TAG_BITS)) - 1;
/// Bucket capacities in hints: they fit the allocator's sizes 32, 64, 96, ... 768.
const ROOMS: [usize; 14] = [5, 10, 16, 21, 26, 32, 37, 42, 53, 64, 74, 85, 106, HINTS_MAX];
/// Maximum hints per bucket.
const HINTS_MAX: usize = 128;

/// Expiry times of one section's keys.
#[derive(Default)]
pub(crate) struct Deadlines {
    /// No bucket is empty.
    buckets: Vec<Bucket>,
    hints_count: usize,
    /// Total capacity of the buckets, in hints.
    rooms_count: usize,
    /// The last hint swept.
    swept: u64,
}

struct Bucket {
    first: u64,
    /// The lower 48 bits of each hint.
    hints: Vec<PackedHint>,
}

type PackedHint = [u16; 3];

impl Deadlines {
    /// Adds a hint that the key of `hash` falls due at `at_ms`. O(log n).
    pub(crate) fn push(&mut self, at_ms: Ms, hash: u64) {
        self.insert(hint(at_ms, hash));
    }

    /// Takes the earliest hint due at `now`: the hash of its keys, without the bits shared by all keys of the section
    /// and those that their table ignores. Releases memory as hints go. O(1).
    pub(crate) fn pop_due(&mut self, now: Ms) -> Option<u64> {
        if self.next_due()? > now {
            return None;
        }
        let bucket = &mut self.buckets[0];
        let hint = bucket.first;
        if bucket.hints.len() == 1 {
            self.take(0);
            return Some(prefix(hint));
        }
        let room_before = bucket.hints.capacity();
        bucket.hints.remove(0);
        bucket.first = bucket.whole(bucket.hints[0]);
        give_back(&mut bucket.hints);
        self.rooms_count -= room_before - bucket.hints.capacity();
        self.hints_count -= 1;
        Some(prefix(hint))
    }

    /// Returns the earliest time at which a key may fall due.
    pub(crate) fn next_due(&self) -> Option<Ms> {
        self.buckets.first().map(|bucket| (bucket.first >> TAG_BITS) * TICK_MS)
    }

    /// Returns the approximate average due time of the keys, from the middle hint of each bucket. O(hints / 100).
    pub(crate) fn average_due(&self) -> Option<Ms> {
        let middle = |bucket: &Bucket| bucket.first / 2 + bucket.last() / 2;
        let sum: u128 =
            self.buckets.iter().map(|bucket| u128::from(middle(bucket) >> TAG_BITS) * bucket.hints.len() as u128).sum();
        let ticks = sum.checked_div(self.hints_count as u128)?;
        Some(ticks as u64 * TICK_MS)
    }

    /// Returns a time before which nothing falls due.
    pub(crate) fn none_before(&self) -> Ms {
        self.next_due().map_or(Ms::MAX, |due_ms| due_ms.saturating_sub(TICK_MS))
    }

    /// Returns the number of hints, outdated ones included.
    pub(crate) fn hints_count(&self) -> usize {
        self.hints_count
    }

    /// Updates the next bucket's hints to match their keys; `deadline` returns the first deadline among the keys of a
    /// hash. A full round of sweeps removes every hint that was outdated when the round began.
    pub(crate) fn sweep(&mut self, deadline: impl Fn(u64) -> Option<Ms>) {
        let next = self.buckets.partition_point(|bucket| bucket.last() <= self.swept);
        let bucket = self.take(if next < self.buckets.len() { next } else { 0 });
        self.swept = bucket.last();
        for old in bucket.hints.iter().map(|kept| bucket.whole(*kept)) {
            let new = deadline(prefix(old)).map(|at_ms| hint(at_ms, prefix(old)));
            // A hint later than its keys is accompanied by an earlier one.
            if let Some(new) = new.filter(|new| *new >= old) {
                self.insert(new);
            }
        }
    }

    /// Returns the heap bytes used.
    pub(crate) fn heap_bytes(&self) -> u64 {
        (self.rooms_count * size_of::<PackedHint>() + self.buckets.capacity() * size_of::<Bucket>()) as u64
    }

    fn insert(&mut self, hint: u64) {
        let mut index = self.bucket_for(hint);
        let Err(mut place) = self.buckets[index].place(hint) else { return };
        if self.buckets[index].hints.len() == HINTS_MAX {
            self.halve(index);
            if place > HINTS_MAX / 2 {
                (index, place) = (index + 1, place - HINTS_MAX / 2);
            }
        }
        let bucket = &mut self.buckets[index];
        let (count, room_before) = (bucket.hints.len(), bucket.hints.capacity());
        if count == room_before {
            let room = ROOMS.into_iter().find(|room| *room > count).expect("it is not full");
            bucket.hints.reserve_exact(room - count);
        }
        bucket.hints.insert(place, kept(hint));
        bucket.first = bucket.first.min(hint);
        self.rooms_count += bucket.hints.capacity() - room_before;
        self.hints_count += 1;
    }

    /// Returns the bucket of the hint's era that begins last before it, else first after it, else a new one.
    fn bucket_for(&mut self, hint: u64) -> usize {
        let after = self.buckets.partition_point(|bucket| bucket.first <= hint);
        let is_of_its_era = |bucket: &Bucket| bucket.first >> KEPT_BITS == hint >> KEPT_BITS;
        if after > 0 && is_of_its_era(&self.buckets[after - 1]) {
            return after - 1;
        }
        if !self.buckets.get(after).is_some_and(is_of_its_era) {
            self.insert_bucket(after, Bucket { first: hint, hints: Vec::new() });
        }
        after
    }

    fn halve(&mut self, index: usize) {
        let bucket = &mut self.buckets[index];
        let room_before = bucket.hints.capacity();
        let later = bucket.hints.split_off(HINTS_MAX / 2);
        bucket.hints.shrink_to_fit();
        self.rooms_count = self.rooms_count + bucket.hints.capacity() + later.capacity() - room_before;
        let later = Bucket { first: bucket.whole(later[0]), hints: later };
        self.insert_bucket(index + 1, later);
    }

    fn insert_bucket(&mut self, index: usize, bucket: Bucket) {
        if self.buckets.len() == self.buckets.capacity() {
            self.buckets.reserve_exact(self.buckets.len() / 8 + 1);
        }
        self.buckets.insert(index, bucket);
    }

    fn take(&mut self, index: usize) -> Bucket {
        let bucket = self.buckets.remove(index);
        give_back(&mut self.buckets);
        self.hints_count -= bucket.hints.len();
        self.rooms_count -= bucket.hints.capacity();
        bucket
    }
}

impl Bucket {
    fn whole(&self, kept: PackedHint) -> u64 {
        let [a, b, c] = kept.map(u64::from);
        self.first >> KEPT_BITS << KEPT_BITS | a << 32 | b << 16 | c
    }

    fn last(&self) -> u64 {
        self.whole(*self.hints.last().expect("no bucket is empty"))
    }

    /// Returns the position of the hint, or its insertion point.
    fn place(&self, hint: u64) -> Result<usize, usize> {
        match self.hints.last() {
            // Most deadlines are later than all earlier ones.
            Some(last) if *last < kept(hint) => Err(self.hints.len()),
            _ => self.hints.binary_search(&kept(hint)),
        }
    }
}

fn hint(at_ms: Ms, hash: u64) -> u64 {
    at_ms.div_ceil(TICK_MS).min(TICK_MAX) << TAG_BITS | hash << SHARED_BITS >> (u64::BITS - TAG_BITS)
}

fn prefix(hint: u64) -> u64 {
    hint << (u64::BITS - TAG_BITS) >> SHARED_BITS
}

fn kept(hint: u64) -> PackedHint {
    [(hint >> 32) as u16, (hint >> 16) as u16, hint as u16]
}

/// Shrinks the vector when it is three quarters empty.
fn give_back<T>(items: &mut Vec<T>) {
    if items.len() <= items.capacity() / 4 {
        items.shrink_to(2 * items.len());
    }
}

#[cfg(test)]
impl Deadlines {
    /// Returns all hints after checking sums and order.
    pub(crate) fn hints(&self) -> Vec<u64> {
        let hints: Vec<u64> = self.buckets.iter().flat_map(|it| it.hints.iter().map(|kept| it.whole(*kept))).collect();
        assert!(hints.is_sorted_by(|a, b| a < b), "a hint lies wrong or twice");
        assert!(self.buckets.iter().all(|it| it.first == it.whole(it.hints[0]) && it.hints.len() <= HINTS_MAX));
        assert_eq!(self.hints_count, hints.len());
        assert_eq!(self.rooms_count, self.buckets.iter().map(|it| it.hints.capacity()).sum::<usize>());
        hints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: Ms = 24 * 60 * 60 * 1000;

    #[test]
    fn each_hint_is_popped_once_when_due() {
        let mut deadlines = Deadlines::default();
        deadlines.push(5_000, 0xabcd_ef01_2345_6789);
        deadlines.push(Ms::MAX, 0);
        let due_ms = deadlines.next_due().unwrap();
        assert!((5_000..5_000 + TICK_MS).contains(&due_ms), "{due_ms}");
        assert_eq!(deadlines.pop_due(4_999), None);
        // Ten bits belong to the section; twenty follow.
        assert_eq!(deadlines.pop_due(due_ms), Some(0x000d_ef00_0000_0000));
        assert_eq!(deadlines.pop_due(Ms::MAX - 1), Some(0));
        assert_eq!(deadlines.pop_due(Ms::MAX), None);
    }

    #[test]
    fn popped_hints_free_their_memory() {
        let mut deadlines = Deadlines::default();
        (0..10_000).for_each(|at_ms| deadlines.push(at_ms, at_ms << 34));
        let full_bytes = deadlines.heap_bytes();
        (0..9_000).for_each(|_| assert!(deadlines.pop_due(11_000).is_some()));
        assert!(deadlines.heap_bytes() < full_bytes / 2);
        while deadlines.pop_due(11_000).is_some() {}
        assert_eq!(deadlines.heap_bytes(), 0);
    }

    /// Returns the bytes per hint after `count` pushes: the worst case on the way, and the final value.
    fn bytes_each(count: u64, from_count: u64, at_ms: impl Fn(u64) -> Ms) -> (f64, f64) {
        let mut deadlines = Deadlines::default();
        let mut worst: f64 = 0.0;
        for index in 0..count {
            deadlines.push(at_ms(index), mixed(index + 1));
            let each = deadlines.heap_bytes() as f64 / deadlines.hints_count() as f64;
            worst = worst.max(if index < from_count { 0.0 } else { each });
        }
        let each = deadlines.heap_bytes() as f64 / deadlines.hints().len() as f64;
        (worst, each)
    }

    fn mixed(index: u64) -> u64 {
        let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn a_key_costs_at_most_eight_bytes() {
        let orders: [(&str, &dyn Fn(u64) -> Ms); 5] = [
            ("one after the other", &|index| 7_000 + 500 * index),
            ("one before the other", &|index| 400 * DAY_MS - 500 * index),
            ("all at once", &|_| 20_000 * DAY_MS),
            ("anywhere in a day", &|index| 20_000 * DAY_MS + mixed(index) % DAY_MS),
            ("anywhere in a year", &|index| 20_000 * DAY_MS + mixed(index) % (365 * DAY_MS)),
        ];
        for (order, at_ms) in orders {
            for count in [1_000, 5_000, 10_000] {
                let (worst, each) = bytes_each(count, 500, at_ms);
                println!("{count:6} keys, {order:20} {each:.2} bytes each, {worst:.2} at the worst");
                assert!(worst <= 8.0, "{order}: {worst} bytes a key");
            }
        }
        for count in [1, 2, 5, 10, 20, 50, 100, 200, 500] {
            let (_, each) = bytes_each(count, 0, |index| 20_000 * DAY_MS + mixed(index) % DAY_MS);
            println!("{count:6} keys of one day: {each:.2} bytes each");
            assert!(each * count as f64 <= 8.0 * count as f64 + 64.0);
        }
    }
}
