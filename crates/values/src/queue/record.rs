//! What lies in a queue's list before its run: the head, segments and records.
//!
//! ```text
//! head      | form | 14 numbers | retries + 1 : varint | dead letter |          numbers are varints
//! segment   | first id | count | came : varints | dedup |                      some messages of the run, with ids in a row
//! record    | id | state | due | deliveries | came : varints | length of dedup : varint | dedup | message |
//! ```
//!
//! Ids are signed: what is pushed at the left end gets one below all others.

use base::{Ms, varint};

/// The form of the head, and of all behind it.
const FORM: u8 = 1;

/// What becomes of messages that are too many, too old, or have been tried too often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// So many messages may be there, if that is not 0.
    pub len_max: u64,
    /// So many bytes of messages may be there, if that is not 0.
    pub bytes_max: u64,
    /// What is ready goes so long after it came, if that is not 0.
    pub ttl_ms: u64,
    /// So often a message may be delivered anew.
    pub retries: Option<u64>,
    /// Where messages go that may not; empty: nowhere.
    pub dead_letter: Box<[u8]>,
}

impl QueueLimits {
    /// Appends them.
    pub fn encode(&self, out: &mut Vec<u8>) {
        [self.len_max, self.bytes_max, self.ttl_ms].into_iter().for_each(|number| varint::put(out, number));
        varint::put(out, self.retries.map_or(0, |retries| retries.saturating_add(1)));
        out.extend_from_slice(&self.dead_letter);
    }

    /// All of these bytes as [`QueueLimits::encode`] wrote them.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let mut take = || varint::take(&mut bytes);
        let (len_max, bytes_max, ttl_ms, retries) = (take()?, take()?, take()?, take()?.checked_sub(1));
        Some(Self { len_max, bytes_max, ttl_ms, retries, dead_letter: bytes.into() })
    }
}

/// What a queue knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueueHead {
    /// What is added to an id where it is told: when the queue came, so that no id is ever given twice.
    pub(super) base: u64,
    /// The least id that was given, and the next one at the right end.
    pub(super) low: i64,
    pub(super) next: i64,
    /// How many items there are of each sort.
    pub(super) segments: u64,
    pub(super) held: u64,
    pub(super) returned: u64,
    /// Of those that are held, by their states.
    pub(super) leased: u64,
    pub(super) delayed: u64,
    pub(super) buried: u64,
    pub(super) dead: u64,
    /// Bytes of all messages.
    pub(super) bytes: u64,
    pub(super) pushed: u64,
    pub(super) acked: u64,
    pub(super) limits: QueueLimits,
}

impl QueueHead {
    /// Of a queue that comes now.
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

    /// How many messages of a state are held.
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
    /// When the first of them came.
    pub(super) came_ms: Ms,
    /// Of one alone, or empty.
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

/// What a message is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for somebody to take it.
    Ready,
    /// Somebody has it, until then.
    Leased,
    /// It is to be ready then.
    Delayed,
    /// It waits to be kicked.
    Buried,
    /// It has been tried too often, and is about to be taken away.
    Dead,
}

impl State {
    /// Its frozen number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The state of that number.
    pub fn of_number(number: u8) -> Option<Self> {
        [Self::Ready, Self::Leased, Self::Delayed, Self::Buried, Self::Dead].get(usize::from(number)).copied()
    }

    /// Whether it ends by itself.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Leased | Self::Delayed)
    }
}

/// A message with all that is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number among the messages of the queue.
    pub id: i64,
    /// What it is doing.
    pub state: State,
    /// When that ends; 0 if it does not by itself.
    pub due_ms: Ms,
    /// How often it was leased.
    pub deliveries: u64,
    /// When it was pushed, to about a tenth of a second.
    pub came_ms: Ms,
    /// What tells it from others like it, or empty.
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

/// Takes the id that an item begins with.
pub(super) fn id_of(item: &mut &[u8]) -> Option<i64> {
    varint::take(item).map(unzigzag)
}

/// Small numbers on both sides of 0 as small ones above it.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// What [`zigzag`] was given.
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
