//! The log buffer through which a thread hands finished frames to the journal's thread: a lock-free byte ring with one
//! producer and one consumer.
//!
//! ```text
//!            tail (consumer)                  head (producer)
//!             v                                v
//!  | free     | record | record | ... | record | free          |
//!
//!  record:  | position 8 | time 8 | length and kind 8 | payload, padded to 8 |
//! ```
//!
//! A payload may wrap around the end of the ring; its reader then gets two pieces. A payload longer than
//! [`INLINE_BYTES_MAX`] is not copied into the ring: its buffer is moved, and the ring carries its three words; for a
//! payload built later ([`Late`]) it carries one word.
//!
//! Nothing here waits: the producer checks [`Producer::free_bytes`] first, which can only grow concurrently.

use crate::primitives::Arc;
use crate::primitives::Padded;
use crate::primitives::atomic::{AtomicBool, AtomicU64, Ordering};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// Maximum payload copied into the ring, in bytes. Moving a longer one costs less than the second copy, that out of the
/// ring.
pub const INLINE_BYTES_MAX: usize = 4 << 10;

const WORD_BYTES: usize = 8;
const HEAD_BYTES: usize = 3 * WORD_BYTES;
const OWNED_BYTES: usize = HEAD_BYTES + 3 * WORD_BYTES;
const OWNED: u64 = 1 << 63;
const LATE: u64 = 1 << 62;

/// Returns the ring bytes that a payload takes, at most; longer payloads are moved outside it.
pub const fn ring_bytes(payload_bytes: usize) -> usize {
    let inline_bytes = if payload_bytes > INLINE_BYTES_MAX { INLINE_BYTES_MAX } else { payload_bytes };
    let bytes = HEAD_BYTES + inline_bytes.next_multiple_of(WORD_BYTES);
    if bytes < OWNED_BYTES { OWNED_BYTES } else { bytes }
}

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Position of the frame in the journal.
    pub position: u64,
    /// The engine's time of the frame, in milliseconds.
    pub time_ms: u64,
    /// Bytes of the payload.
    pub payload_bytes: u64,
}

/// The payload of the current record.
#[derive(Debug)]
pub enum Payload<'a> {
    /// Bytes in the ring, in two pieces if they wrap around.
    Inline(&'a [u8], &'a [u8]),
    /// A moved buffer.
    Owned(Vec<u8>),
    /// A buffer built by the consumer.
    Late(Late),
}

/// A payload built where it is needed, without any lock: only its length is known before.
pub struct Late {
    bytes_count: u64,
    make: Box<Make>,
}

/// Boxed twice, so that it fits one word.
type Make = Box<dyn FnOnce() -> Vec<u8> + Send>;

impl Late {
    /// Creates a payload of exactly `bytes_count` bytes, built by `make`.
    pub fn new(bytes_count: u64, make: impl FnOnce() -> Vec<u8> + Send + 'static) -> Self {
        Self { bytes_count, make: Box::new(Box::new(make)) }
    }

    /// Returns its length.
    pub fn bytes_count(&self) -> u64 {
        self.bytes_count
    }

    /// Builds the bytes.
    ///
    /// # Panics
    /// If their number differs from the announced one: the next frame's position was computed from it.
    pub fn make(self) -> Vec<u8> {
        let bytes = (self.make)();
        assert_eq!(bytes.len() as u64, self.bytes_count, "the payload's length differs from the announced one");
        bytes
    }
}

impl std::fmt::Debug for Late {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Late({} bytes)", self.bytes_count)
    }
}

struct Ring {
    /// The bytes between `tail` and `head` are written.
    bytes: Box<[UnsafeCell<MaybeUninit<u8>>]>,
    head: Padded<AtomicU64>,
    tail: Padded<AtomicU64>,
    closed: AtomicBool,
}

// SAFETY: the bytes between `tail` and `head` belong to the consumer and all others to the producer; each side alone
// moves its own count, and hands bytes over by a release store that the other side reads with acquire.
unsafe impl Sync for Ring {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Ring {}

/// The producing end, owned by one thread.
pub struct Producer {
    ring: Arc<Ring>,
    head: u64,
    /// The consumer's count as last read; the true one is at least this.
    tail_seen: u64,
}

/// The consuming end, owned by the journal's thread.
pub struct Consumer {
    ring: Arc<Ring>,
    tail: u64,
    /// The producer's count as last read; the true one is at least this.
    head_seen: u64,
}

/// Creates a log buffer whose ring holds `capacity_bytes`, record headers included: a power of two of at least 64.
pub fn ring(capacity_bytes: usize) -> (Producer, Consumer) {
    assert!(capacity_bytes.is_power_of_two());
    assert!(capacity_bytes >= 64);
    let bytes = Box::into_raw(Box::<[u8]>::new_uninit_slice(capacity_bytes));
    // SAFETY: `UnsafeCell` has the layout of its contents, and `into_raw` just above gave up the box.
    let bytes = unsafe { Box::from_raw(bytes as *mut [UnsafeCell<MaybeUninit<u8>>]) };
    let ring = Arc::new(Ring {
        bytes,
        head: Padded(AtomicU64::new(0)),
        tail: Padded(AtomicU64::new(0)),
        closed: AtomicBool::new(false),
    });
    (Producer { ring: ring.clone(), head: 0, tail_seen: 0 }, Consumer { ring, tail: 0, head_seen: 0 })
}

impl Producer {
    /// Returns the free bytes, as counted by [`ring_bytes`]. They only grow until the next push.
    pub fn free_bytes(&self) -> usize {
        let tail = self.ring.tail.0.load(Ordering::Acquire);
        self.ring.bytes.len() - (self.head - tail) as usize
    }

    /// Pushes a frame whose payload is copied into the ring.
    ///
    /// # Panics
    /// If the payload is longer than [`INLINE_BYTES_MAX`] or does not fit: the caller's bug.
    pub fn push(&mut self, position: u64, time_ms: u64, payload: &[u8]) {
        assert!(payload.len() <= INLINE_BYTES_MAX);
        let bytes = HEAD_BYTES + payload.len().next_multiple_of(WORD_BYTES);
        self.claim(bytes);
        self.put_words([position, time_ms, payload.len() as u64], 0);
        self.put(payload, HEAD_BYTES);
        self.publish(bytes);
    }

    /// Pushes a frame whose payload is moved.
    ///
    /// # Panics
    /// If its three words do not fit: the caller's bug.
    pub fn push_owned(&mut self, position: u64, time_ms: u64, payload: Vec<u8>) {
        self.claim(OWNED_BYTES);
        let mut payload = std::mem::ManuallyDrop::new(payload);
        self.put_words([position, time_ms, payload.len() as u64 | OWNED], 0);
        let words = [payload.as_mut_ptr().expose_provenance(), payload.len(), payload.capacity()];
        self.put_words(words.map(|word| word as u64), HEAD_BYTES);
        self.publish(OWNED_BYTES);
    }

    /// Pushes a frame whose payload the consumer builds.
    ///
    /// # Panics
    /// If its words do not fit: the caller's bug.
    pub fn push_late(&mut self, position: u64, time_ms: u64, payload: Late) {
        self.claim(OWNED_BYTES);
        self.put_words([position, time_ms, payload.bytes_count | LATE], 0);
        self.put_words([Box::into_raw(payload.make).expose_provenance() as u64], HEAD_BYTES);
        self.publish(OWNED_BYTES);
    }

    fn claim(&mut self, bytes: usize) {
        let capacity = self.ring.bytes.len();
        if (self.head - self.tail_seen) as usize + bytes > capacity {
            self.tail_seen = self.ring.tail.0.load(Ordering::Acquire);
        }
        assert!((self.head - self.tail_seen) as usize + bytes <= capacity, "a frame exceeds the free log buffer");
    }

    fn put_words<const N: usize>(&self, words: [u64; N], skip: usize) {
        for (index, word) in words.iter().enumerate() {
            self.put(&word.to_le_bytes(), skip + index * WORD_BYTES);
        }
    }

    fn put(&self, bytes: &[u8], skip: usize) {
        let capacity = self.ring.bytes.len();
        let from = (self.head as usize + skip) & (capacity - 1);
        let (first, second) = bytes.split_at(bytes.len().min(capacity - from));
        // From the whole ring, as in `slices`: a pointer made from one cell is valid for that cell alone.
        let ring = UnsafeCell::raw_get(self.ring.bytes.as_ptr()).cast::<u8>();
        // SAFETY: `claim` saw that these bytes are outside tail..head, so they are the producer's alone; both pieces
        // end within the ring.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), ring.add(from), first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), ring, second.len());
        }
    }

    fn publish(&mut self, bytes: usize) {
        self.head += bytes as u64;
        self.ring.head.0.store(self.head, Ordering::Release);
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.ring.closed.store(true, Ordering::Release);
    }
}

impl Consumer {
    /// Returns the header of the oldest record, if there is one.
    pub fn peek(&mut self) -> Option<Head> {
        self.refresh().then(|| {
            let [position, time_ms, length] = self.words(0);
            Head { position, time_ms, payload_bytes: length & !(OWNED | LATE) }
        })
    }

    /// Passes the oldest record to `read` and frees its place in the ring.
    ///
    /// # Panics
    /// If there is none: the caller has not peeked.
    pub fn take<R>(&mut self, read: impl FnOnce(Payload<'_>) -> R) -> R {
        assert!(self.refresh(), "take from an empty log buffer");
        let [_, _, length] = self.words(0);
        let (bytes, result) = if length & OWNED != 0 {
            let payload = self.owned((length & !OWNED) as usize);
            (OWNED_BYTES, (read)(Payload::Owned(payload)))
        } else if length & LATE != 0 {
            let payload = self.late(length & !LATE);
            (OWNED_BYTES, (read)(Payload::Late(payload)))
        } else {
            let (first, second) = self.pieces(length as usize);
            (HEAD_BYTES + (length as usize).next_multiple_of(WORD_BYTES), (read)(Payload::Inline(first, second)))
        };
        self.tail += bytes as u64;
        self.ring.tail.0.store(self.tail, Ordering::Release);
        result
    }

    /// Returns true if the producer is gone and everything it pushed was taken.
    pub fn is_finished(&mut self) -> bool {
        // In this order: the second check sees what was pushed before the producer went.
        self.ring.closed.load(Ordering::Acquire) && !self.refresh()
    }

    fn refresh(&mut self) -> bool {
        if self.tail == self.head_seen {
            self.head_seen = self.ring.head.0.load(Ordering::Acquire);
        }
        self.tail != self.head_seen
    }

    fn words<const N: usize>(&self, skip: usize) -> [u64; N] {
        std::array::from_fn(|index| {
            let mut word = [0; WORD_BYTES];
            let (first, _) = self.slices(skip + index * WORD_BYTES, WORD_BYTES);
            word.copy_from_slice(first);
            u64::from_le_bytes(word)
        })
    }

    fn pieces(&self, payload_bytes: usize) -> (&[u8], &[u8]) {
        self.slices(HEAD_BYTES, payload_bytes)
    }

    fn slices(&self, skip: usize, bytes: usize) -> (&[u8], &[u8]) {
        let capacity = self.ring.bytes.len();
        debug_assert!(skip + bytes <= (self.head_seen - self.tail) as usize);
        let from = (self.tail as usize + skip) & (capacity - 1);
        let first = bytes.min(capacity - from);
        // SAFETY: these bytes are in tail..head, which has been written and is the consumer's alone until it moves
        // `tail`; that needs `&mut self`, when no slice made here is left.
        unsafe {
            (
                std::slice::from_raw_parts(self.ring.bytes.as_ptr().cast::<u8>().add(from), first),
                std::slice::from_raw_parts(self.ring.bytes.as_ptr().cast::<u8>(), bytes - first),
            )
        }
    }

    fn owned(&self, payload_bytes: usize) -> Vec<u8> {
        let [pointer, length, capacity] = self.words(HEAD_BYTES);
        assert_eq!(length as usize, payload_bytes);
        let pointer = std::ptr::with_exposed_provenance_mut(pointer as usize);
        // SAFETY: `push_owned` took these three words from a vector that it did not drop, and each record is taken
        // once.
        unsafe { Vec::from_raw_parts(pointer, length as usize, capacity as usize) }
    }
}

impl Consumer {
    fn late(&self, bytes_count: u64) -> Late {
        let [pointer] = self.words(HEAD_BYTES);
        let pointer = std::ptr::with_exposed_provenance_mut(pointer as usize);
        // SAFETY: `push_late` took this word from a box that it gave up, and each record is taken once.
        let make = unsafe { Box::from_raw(pointer) };
        Late { bytes_count, make }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // Frees buffers not taken. Anything pushed after this is leaked: the journal's thread outlives its producers.
        while self.peek().is_some() {
            self.take(|payload| drop(payload));
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn bytes_of(payload: Payload<'_>) -> Vec<u8> {
        match payload {
            Payload::Inline(first, second) => [first, second].concat(),
            Payload::Owned(payload) => payload,
            Payload::Late(payload) => payload.make(),
        }
    }

    fn late(payload: Vec<u8>) -> Late {
        Late::new(payload.len() as u64, move || payload)
    }

    #[test]
    fn frames_keep_order_and_bytes_across_many_wraps() {
        let (mut producer, mut consumer) = ring(1 << 12);
        let mut twin = std::collections::VecDeque::new();
        let mut position = 0;
        for round in 0..20_000u64 {
            let length = (round * 37 % 700) as usize;
            let payload = vec![round as u8; length];
            if producer.free_bytes() < ring_bytes(length) {
                let (at, expected): (u64, Vec<u8>) = twin.pop_front().unwrap();
                assert_eq!(consumer.peek().unwrap().position, at);
                assert_eq!(consumer.take(bytes_of), expected);
                continue;
            }
            match round % 5 {
                0 => producer.push_owned(position, round, payload.clone()),
                1 => producer.push_late(position, round, late(payload.clone())),
                _ => producer.push(position, round, &payload),
            }
            twin.push_back((position, payload));
            position += length as u64;
        }
        for (at, expected) in twin {
            assert_eq!(consumer.peek().unwrap().position, at);
            assert_eq!(consumer.take(bytes_of), expected);
        }
        assert_eq!(consumer.peek(), None);
        assert_eq!(producer.free_bytes(), 1 << 12);
        assert!(!consumer.is_finished());
        drop(producer);
        assert!(consumer.is_finished());
    }

    #[test]
    fn a_consumer_thread_receives_all_frames_in_order() {
        let (mut producer, mut consumer) = ring(1 << 10);
        let frames = 50_000u64;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for index in 0..frames {
                    let payload = vec![index as u8; (index % 90) as usize];
                    while producer.free_bytes() < ring_bytes(payload.len()) {
                        std::thread::yield_now();
                    }
                    match index % 7 {
                        0 => producer.push_owned(index, 0, payload),
                        1 => producer.push_late(index, 0, late(payload)),
                        _ => producer.push(index, 0, &payload),
                    }
                }
            });
            for index in 0..frames {
                while consumer.peek().is_none() {
                    std::thread::yield_now();
                }
                assert_eq!(consumer.peek().unwrap().position, index);
                assert_eq!(consumer.take(bytes_of), vec![index as u8; (index % 90) as usize]);
            }
        });
    }

    #[test]
    fn dropping_the_consumer_frees_buffers_not_taken() {
        let (mut producer, consumer) = ring(1 << 10);
        producer.push_owned(0, 0, vec![1; 1 << 20]);
        let kept = std::sync::Arc::new(());
        let held = kept.clone();
        let make = move || vec![std::sync::Arc::strong_count(&held) as u8];
        producer.push_late(1, 0, Late::new(1, make));
        drop(consumer);
        assert_eq!(std::sync::Arc::strong_count(&kept), 1);
    }

    #[test]
    #[should_panic = "length differs"]
    fn a_late_payload_of_another_length_panics() {
        Late::new(3, || vec![0; 4]).make();
    }
}

#[cfg(all(test, shuttle))]
mod schedules {
    use super::*;
    use crate::primitives::thread;

    #[test]
    fn frames_arrive_in_order_under_random_schedules() {
        shuttle::check_random(
            || {
                let (mut producer, mut consumer) = ring(64);
                let pusher = thread::spawn(move || {
                    for index in 0..6u64 {
                        let payload = [index as u8; 9];
                        while producer.free_bytes() < ring_bytes(payload.len()) {
                            thread::yield_now();
                        }
                        match index % 3 {
                            0 => producer.push_owned(index, 0, payload.to_vec()),
                            1 => producer.push_late(index, 0, Late::new(9, move || payload.to_vec())),
                            _ => producer.push(index, 0, &payload),
                        }
                    }
                });
                for index in 0..6u64 {
                    while consumer.peek().is_none() {
                        thread::yield_now();
                    }
                    assert_eq!(consumer.peek().unwrap().position, index);
                    consumer.take(|payload| match payload {
                        Payload::Inline(first, second) => assert_eq!([first, second].concat(), [index as u8; 9]),
                        Payload::Owned(payload) => assert_eq!(payload, [index as u8; 9]),
                        Payload::Late(payload) => assert_eq!(payload.make(), [index as u8; 9]),
                    });
                }
                pusher.join().unwrap();
                assert!(consumer.is_finished());
            },
            2_000,
        );
    }
}
