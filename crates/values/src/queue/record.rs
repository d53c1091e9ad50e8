//! The items of a queue's list before its run: the head, segments and records.
//!
//! ```text
//! head      | form | 14 numbers | retries + 1 : varint | dead letter |          numbers are varints
//! segment   | first id | count | came : varints | dedup |                      messages of the run, consecutive ids
//! record    | id | state | due | deliveries | came : varints | length of dedup : varint | dedup | message |
//! ```
//!
//! Ids are signed: a message pushed at the left end gets an id below all others.

use base::{Ms, varint};

/// The format of the head, and of everything after it.
const FORM: u8 = 1;

/// The limits on messages' number, age and deliveries, and the queue for rejected messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// The maximum number of messages, if not 0.
    pub len_max: u64,
    /// The maximum bytes of messages, if not 0.
    pub bytes_max: u64,
    /// The lifetime of a ready message after its arrival, in milliseconds, if not 0.
    pub ttl_ms: u64,
    /// The maximum number of redeliveries.
    pub retries: Option<u64>,
    /// The queue for rejected messages; empty: none.
    pub dead_letter: Box<[u8]>,
}

impl QueueLimits {
    /// Encodes the limits.
    pub fn encode(&self, out: &mut Vec<u8>) {
        [self.len_max, self.bytes_max, self.ttl_ms].into_iter().for_each(|number| varint::put(out, number));
        varint::put(out, self.retries.map_or(0, |retries| retries.saturating_add(1)));
        out.extend_from_slice(&self.dead_letter);
    }

    /// Decodes all of these bytes, as written by [`QueueLimits::encode`].
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut take = || varint::take(&mut bytes);
        let (len_max, bytes_max, ttl_ms, retries) = (take()?, take()?, take()?, take()?.checked_sub(1));
        Some(Self { len_max, bytes_max, ttl_ms, retries, dead_letter: bytes.into() })
    }
}

/// A queue's stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueHead {
    /// The offset of client-visible ids: the queue's creation time, so that no id is ever reused.
    pub(super) base: u64,
    /// The lowest id used, and the next one at the right end.
    pub(super) low: i64,
    pub(super) next: i64,
    /// The number of items of each kind.
    pub(super) segments: u64,
    pub(super) held: u64,
    pub(super) returned: u64,
    /// The number of held messages by state.
    pub(super) leased: u64,
    pub(super) delayed: u64,
    pub(super) buried: u64,
    pub(super) dead: u64,
    /// The bytes of all messages.
    pub(super) bytes: u64,
    pub(super) pushed: u64,
    pub(super) acked: u64,
    pub(super) limits: QueueLimits,
}

impl QueueHead {
    /// Creates the head of a new queue.
    pub(super) fn new(at_ms: Ms) -> Self {
        Self { base: at_ms << 20, low: 1, next: 1, ..Self::default() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.push(FORM);
        out.extend_from_slice(&self.base.to_le_bytes());
        varint::put(&mut out, zigzag(self.low));
        varint::put(&mut out, zigzag(self.next));
        let numbers = [self.segments, self.held, self.returned, self.leased, self.delayed, self.buried, self.dead];
        numbers.into_iter().for_each(|number| varint::put(&mut out, number));
        [self.bytes, self.pushed, self.acked].into_iter().for_each(|number| varint::put(&mut out, number));
        self.limits.encode(&mut out);
        out
    }

    pub(super) fn decode(item: &[u8]) -> Option<Self> {
        let (&FORM, rest) = item.split_first()? else { return None };
        let (base, mut rest) = rest.split_first_chunk::<8>()?;
        let mut take = || varint::take(&mut rest);
        let (low, next) = (unzigzag(take()?), unzigzag(take()?));
        let (segments, held, returned) = (take()?, take()?, take()?);
        let (leased, delayed, buried, dead) = (take()?, take()?, take()?, take()?);
        let (bytes, pushed, acked) = (take()?, take()?, take()?);
        let (base, limits) = (u64::from_le_bytes(*base), QueueLimits::decode(rest)?);
        let head = Self {
            base,
            low,
            next,
            segments,
            held,
            returned,
            leased,
            delayed,
            buried,
            dead,
            bytes,
            pushed,
            acked,
            limits,
        };
        Some(head)
    }

    /// Returns the counter of held messages in a state.
    pub(super) fn count_mut(&mut self, state: State) -> Option<&mut u64> {
        match state {
            State::Ready => None,
            State::Leased => Some(&mut self.leased),
            State::Delayed => Some(&mut self.delayed),
            State::Buried => Some(&mut self.buried),
            State::Dead => Some(&mut self.dead),
        }
    }
}

/// Some messages of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) first: i64,
    pub(super) count: u64,
    /// The arrival time of the first of them.
    pub(super) came_ms: Ms,
    /// The dedup id of a single message, or empty.
    pub(super) dedup: Vec<u8>,
}

impl Segment {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + self.dedup.len());
        varint::put(&mut out, zigzag(self.first));
        varint::put(&mut out, self.count);
        varint::put(&mut out, self.came_ms);
        out.extend_from_slice(&self.dedup);
        out
    }

    pub(super) fn decode(mut item: &[u8]) -> Option<Self> {
        let first = unzigzag(varint::take(&mut item)?);
        let (count, came_ms) = (varint::take(&mut item)?, varint::take(&mut item)?);
        Some(Self { first, count, came_ms, dedup: item.to_vec() })
    }
}

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Available.
    Ready,
    /// Leased until its due time.
    Leased,
    /// Becomes ready at its due time.
    Delayed,
    /// Waits for a kick.
    Buried,
    /// Delivered too often, about to be removed.
    Dead,
}

impl State {
    /// Returns its frozen number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the state with that number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Ready, Self::Leased, Self::Delayed, Self::Buried, Self::Dead].get(usize::from(number)).copied()
    }

    /// Returns true if it ends by itself.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Leased | Self::Delayed)
    }
}

/// A message with its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its id within the queue.
    pub id: i64,
    /// Its state.
    pub state: State,
    /// The time at which the state ends; 0 if it does not end by itself.
    pub due_ms: Ms,
    /// The number of leases.
    pub deliveries: u64,
    /// The arrival time, to about a tenth of a second.
    pub came_ms: Ms,
    /// Its dedup id, or empty.
    pub dedup: &'a [u8],
    /// The message.
    pub message: &'a [u8],
}

impl<'a> Record<'a> {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 + self.dedup.len() + self.message.len());
        varint::put(&mut out, zigzag(self.id));
        out.push(self.state.number());
        [self.due_ms, self.deliveries, self.came_ms].into_iter().for_each(|number| varint::put(&mut out, number));
        varint::put_bytes(&mut out, self.dedup);
        out.extend_from_slice(self.message);
        out
    }

    pub(super) fn decode(mut item: &'a [u8]) -> Option<Self> {
        let id = id_of(&mut item)?;
        let (&state, rest) = item.split_first()?;
        item = rest;
        let state = State::of_number(state)?;
        let mut take = || varint::take(&mut item);
        let (due_ms, deliveries, came_ms) = (take()?, take()?, take()?);
        let dedup = varint::take_bytes(&mut item)?;
        Some(Self { id, state, due_ms, deliveries, came_ms, dedup, message: item })
    }
}

/// Reads the id at the start of an item.
pub(super) fn id_of(item: &mut &[u8]) -> Option<i64> {
    varint::take(item).map(unzigzag)
}

/// Maps numbers near 0 of either sign to small unsigned numbers.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Reverses [`zigzag`].
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
